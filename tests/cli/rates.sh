#!/bin/sh
# Slow and fast parts from outside: eigenvalues, stable steps, what is chosen as fast, refusals.
models=$(cd "$(dirname "$0")/../../models" && pwd)
. "$(dirname "$0")/cases.sh"

# rk2's largest stable step of a quarter car, ms: |1 + z + z^2/2| = 1 for its eigenvalues
rest="--set parameters.lift=0"
step() { # TITLE EXPECTED MODEL [OPTION]...
    title=$1 expected=$2 model=$3
    shift 3
    "$BOGIE" rates "$models/$model.json" $rest "$@" >out.txt
    holds "$title" awk -v x="$(awk '$1 == "rk2" { print $2 }' out.txt)" -v y="$expected" \
        'BEGIN { exit !(x > 0.999 * y && x < 1.001 * y) }'
}
step "quarter car A" 221.5 quarter-car-a
step "quarter car B" 21.55 quarter-car-b
step "quarter car C" 1.965 quarter-car-c
step "quarter car C without damping of the tread" 1.517 quarter-car-c --set parameters.tread_damping=0
step "A of Table 7" 99.52 quarter-car-a --set parameters.mass=320 --set parameters.stiffness=32000 \
    --set parameters.damping=560
step "B of Table 7" 9.994 quarter-car-b --set parameters.sprung=320 --set parameters.unsprung=32 \
    --set parameters.stiffness=32000 --set parameters.damping=560 --set parameters.tyre=290000
step "C of Table 7" 0.9924 quarter-car-c --set parameters.sprung=320 --set parameters.rim=26 --set parameters.ring=6 \
    --set parameters.stiffness=32000 --set parameters.damping=560 --set parameters.sidewall=2137756.313275955 \
    --set parameters.sidewall_damping=214.8849375055418 --set parameters.tread=335514.65980429854 \
    --set parameters.tread_damping=0

expect "parts of a vehicle" 0 "slow  part       14 states, eigenvalues -18+-364.73i" \
    "fast  part       14 states, eigenvalues -71.65+-750.8i" "prk38                 7.6" -- \
    "$BOGIE" rates equations:planar-vehicle --set torque=0
expect "an instant of wheels that spin" 0 "the motion is steady, but not in these coordinates" -- \
    "$BOGIE" rates "$models/hmmwv10.json" --formulation cartesian --equilibrium --pair prk38 \
    --set parameters.torque=0 --set 'road={"type": "flat"}'
expect "the choice of a fast part" 0 "chosen           x_R1_t, y_R1_t, th_R1_t, x_R2_t, y_R2_t, th_R2_t" -- \
    "$BOGIE" rates equations:planar-vehicle --set torque=0 --set driven=1 --choose
"$BOGIE" run "$models/tilting-table.json" --integrator prk38 --step 5e-4 --t-end 0.01 \
    --set integrator.partition=auto >out.txt
holds "what is chosen as fast is what is fast: bodies as a whole" \
    awk '/ chose as fast: ball / { sub(/^[^(]*\(/, ""); chosen = $1 } /^  note/ { fast = $5 }
        END { exit !(fast > 0 && fast == chosen) }' out.txt
expect "nothing to choose" 0 "chosen           nothing: masses, joints or constraints couple everything" -- \
    "$BOGIE" rates "$models/four-bar.json" --choose
expect "eigenvalues along a motion" 0 "fast cloud       Re from -" "Im up to 7" -- \
    "$BOGIE" rates equations:planar-vehicle --until 2 --count 10 -o clouds.svg
holds "as a picture" grep -q "</svg>" clouds.svg
expect "a pair of a file" 0 "pair, of a file" -- sh -c "'$BOGIE' design --order 2 --fast 5 -o pair.json >/dev/null &&
    sed -i 's/\"name\": \"prk25\"/\"name\": \"pair, of a file\"/' pair.json &&
    '$BOGIE' rates equations:two-masses --set d=50 --pair pair.json"

expect "what is chosen for a run" 0 "partition=auto chose as fast: ring (1 of 3 velocities)" \
    "1 of 3 velocities and 0 of 0 constraints are fast" -- \
    "$BOGIE" run "$models/quarter-car-c.json" --integrator prk38 --step 1e-3 --set integrator.partition=auto
expect "the same in Cartesian form" 0 "partition=auto chose as fast: ring" -- \
    "$BOGIE" run "$models/quarter-car-c.json" --integrator prk38 --step 1e-3 --set integrator.partition=auto \
    --formulation cartesian
expect "a step that is too long" 0 "warning          partition=auto chose as fast: axle, ring" "none is stable in steps of 0.1 s" -- \
    "$BOGIE" run "$models/quarter-car-c.json" --integrator prk38 --step 0.1 --t-end 0.2 --set integrator.partition=auto
expect "nothing that can be fast" 0 "partition=auto chose no fast part: masses, joints or constraints couple" -- \
    "$BOGIE" run "$models/four-bar.json" --integrator prk38 --step 1e-3 --set integrator.partition=auto --t-end 0.1

expect "another kind of picture" 2 "FILE.svg" -- "$BOGIE" rates equations:two-masses -o x.png
expect "a time without a picture" 2 "--until is for the picture" -- "$BOGIE" rates equations:two-masses --until 1
expect "a time before the start" 2 "must lie after the start" -- \
    "$BOGIE" rates equations:two-masses --until -1 -o x.svg
expect "two times" 2 "leave out --at" -- "$BOGIE" rates equations:two-masses --until 1 --at 1 -o x.svg
expect "an unknown pair" 2 "did you mean 'prk38'" -- "$BOGIE" rates equations:two-masses --pair prk338
expect "a picture that is none" 2 "is no SVG picture of Bogie" -- sh -c "cp pair.json x.svg && '$BOGIE' rates equations:two-masses -o x.svg"
expect "an empty fast part" 2 "run.fast: is empty" -- "$BOGIE" run "$models/quarter-car-c.json" --set 'run.fast=[]'
expect "a force without states" 2 "run.fast[0]: is a force element without states" -- \
    "$BOGIE" run "$models/quarter-car-c.json" --set 'run.fast=["wall"]'

finish
