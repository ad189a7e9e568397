#!/bin/sh
# What a good run prints and writes.
. "$(dirname "$0")/cases.sh"

pendulum=equations:pendulum

expect "certificate" 0 mdop5 "rtol 1e-06" "accepted" "largest |g|" "|G v + g_t|" "|G a + gamma|" \
    "energy error" "unconverged" "real-time factor" -- "$BOGIE" run $pendulum
expect "quiet" 0 -- "$BOGIE" run $pendulum --quiet
holds "quiet prints nothing" [ ! -s "$out" ]
expect "verdict" 0 "verdict          good" -- "$BOGIE" run $pendulum --strict
printf '{"parameters": {"spare": 1}, "bodies": {"a": {"mass": 1, "center": [0, 0, 0], "inertia": [1, 1, 1]}}, "joints":
  {"j": {"type": "revolute", "bodies": ["ground", "a"], "at": [1, 0, 0], "axis": [0, 1, 0]}}}' >spare.json
expect "a doubtful result" 0 "verdict          doubtful: parameter 'spare' is not used" -- \
    "$BOGIE" run spare.json
expect "a setting that replaces what used a parameter leaves no doubt" 0 "verdict          good" \
    "parameter 'spare' is not used" -- "$BOGIE" run spare.json --set gravity=0
expect "a doubtful result is refused" 1 "the result is doubtful: parameter 'spare'" -- \
    "$BOGIE" run spare.json --strict --quiet
here=$(dirname "$0")/../..
expect "degrees of freedom by name" 0 "A.angle moves, and with it B.angle, D.angle: crank moves along x and turns about y; 2 more bodies move" -- \
    "$BOGIE" check "$here/models/four-bar.json"
expect "tolerances in the certificate" 0 "rtol 1e-09, atol 1e-08" -- \
    "$BOGIE" run $pendulum --rtol=1e-9 --atol 1e-8
expect "events in the certificate" 0 events ground -- "$BOGIE" run equations:bouncing-ball

"$BOGIE" run $pendulum --t-end 1 --summary - >s.json 2>"$err"
holds "summary on stdout is JSON alone" [ "$(json s.json status)" = "done" ]
holds "summary ends at t-end" [ "$(json s.json final t)" = 1.0 ]
"$BOGIE" run $pendulum --t-end 1 --summary t.json >"$out" 2>"$err"
holds "summary in a file: same final state" [ "$(json s.json final)" = "$(json t.json final)" ]
holds "summary in a file leaves the certificate" grep -q "largest" "$out"
holds "no remains of the summary" [ ! -e t.json.partial ]

# rows: one per step and the start; every 0.1 s from 0 to 1
"$BOGIE" run $pendulum --t-end 1 -o steps.csv --summary s.json --quiet
accepted=$(json s.json steps accepted)
rows=$(grep -vc '^[#t]' steps.csv)
holds "a row for the start, every step ($accepted) and every event ($rows)" [ "$rows" -gt "$accepted" ]
"$BOGIE" run $pendulum --t-end 1 -o interval.csv --output-interval 0.1 --quiet
holds "rows at the interval" [ "$(grep -vc '^[#t]' interval.csv)" -eq 11 ]
"$BOGIE" run $pendulum --t-end 1 -o interval.h5 --output-interval 0.1 --quiet
holds "HDF5 can be read" sh -c 'h5dump -H interval.h5 >dump.txt'

# a parameter changes the result: period of a pendulum four times as long is twice as long
"$BOGIE" run $pendulum --t-end 1 --set length=4 --summary long.json --quiet
holds "parameter has an effect" [ "$(json long.json final)" != "$(json s.json final)" ]
"$BOGIE" run $pendulum --t-end 1 --set integrator.projection=every-step --summary p.json --quiet
holds "method option has an effect" [ "$(json p.json evaluations projections)" -ge \
    "$(json s.json evaluations projections)" ]
"$BOGIE" run $pendulum --t-end 1 --step 0.01 --summary fixed.json --quiet
holds "fixed steps" [ "$(json fixed.json steps accepted)" -ge 100 ]
"$BOGIE" run $pendulum --t-end 1 --summary again.json --quiet
holds "the same run gives the same bits" [ "$(json again.json final)" = "$(json s.json final)" ]

expect "step limit" 1 "t = " "limit of 3 steps" -- "$BOGIE" run $pendulum --max-steps 3 --summary few.json
holds "step limit: summary of what was reached" [ "$(json few.json status)" = too-many-steps ]
holds "step limit: steps" [ "$(json few.json steps accepted)" -eq 3 ]

# fixed steps of first order: what keeps the constraints, in words
expect "certified drift" 0 "stays below" "as long as it does not exceed C0" "|G a + gamma|    not known" -- \
    "$BOGIE" run equations:car-axle --integrator linear-euler --step 1e-3 --t-end 0.1
expect "a step too large to certify" 0 "not bounded: the step is too large" "C1" -- \
    "$BOGIE" run equations:circular-track --integrator linear-euler --step 0.5 --t-end 10
expect "what Baumgarte's parameters are" 0 "alpha = 500/s (0.5/h), beta = 250000/s^2 (0.25/h^2)" -- \
    "$BOGIE" check equations:car-axle --integrator linear-euler --set integrator.stabilisation=baumgarte
expect "too much feedback" 2 "let errors of the constraints grow" "2/h = 2000/s" -- \
    "$BOGIE" run equations:car-axle --integrator linear-euler --step 1e-3 \
    --set integrator.stabilisation=baumgarte --set integrator.alpha=2001
expect "what a partition keeps" 0 "the partition keeps 2 of 5 non-zero entries of the Jacobian, of yl_dot, yr_dot" -- \
    "$BOGIE" run equations:car-axle --integrator linear-euler --step 1e-2 --set integrator.partition=auto

finish
