#!/bin/sh
# Model files: every one of models/ runs in both formulations, what the file says holds unless the
# command line says otherwise, and what is wrong with a file is named by its path.
tests=$(cd "$(dirname "$0")/.." && pwd)
models=$(cd "$tests/../models" && pwd)
. "$(dirname "$0")/cases.sh"

suspension=$models/five-link-suspension.json

# is_below LIMIT NUMBER, where NUMBER is 0 or more
is_below() {
    awk -v limit="$1" -v x="$2" 'BEGIN { exit !(x ~ /^[0-9]/ && x + 0 < limit) }'
}

for model in "$models"/*.json; do
    for formulation in joint cartesian; do
        name="$(basename "$model" .json), $formulation"
        expect "$name" 0 -- "$BOGIE" run "$model" --t-end 0.05 --formulation $formulation \
            --summary s.json --quiet
        holds "$name: done" [ "$(json s.json status) $(json s.json final t)" = "done 0.050000000000000003" ]
        holds "$name: in the summary" [ "$(json s.json formulation)" = $formulation ]
        if grep -q "by bdf from there on" s.json; then # which holds them to its tolerance
            holds "$name: constraints hold with bdf" is_below 1e-9 "$(json s.json certificate max_g)"
            "$BOGIE" run "$model" --t-end 0.05 --formulation $formulation --integrator mdop5 \
                --summary s.json --quiet
        fi
        holds "$name: constraints hold" is_below 1e-11 "$(json s.json certificate max_g)"
    done
done

expect "tree, loops and freedoms" 0 "7, total mass 52.772 kg" "15 coordinates q, 14 velocities v" \
    "trailing -> carrier    spherical: orientation" "carrier -> wheel       revolute: angle" \
    "tie-rod-outer      tie-rod - carrier, spherical: 3 constraints" "12 constraints g" \
    "2 degrees (14 velocities - 12 constraints)" -- "$BOGIE" check "$suspension"
expect "the same freedoms in Cartesian coordinates" 0 "cartesian formulation" \
    "2 degrees (49 velocities - 47 constraints)" -- "$BOGIE" check "$suspension" --formulation cartesian
expect "redundant constraint by name" 0 "1 redundant" "left out: hinge5" "what to do" -- \
    "$BOGIE" check "$models/iftomm-a04-bricard.json"

# a rod on a hinge, whose file says how to run it, and a body that hangs on nothing
cat >rod.json <<'END'
{
    "name": "rod",
    "parameters": {"length": 1, "colour": 3},
    "gravity": 9.81,
    "bodies": {
        "rod": {"mass": 2, "center": ["length/2", 0, 0], "inertia": [0.001, "length^2/6", "length^2/6"]},
        "loose": {"mass": 4, "center": [2, 0, 0], "inertia": [1, 1, 1]}
    },
    "joints": {"pivot": {"type": "revolute", "bodies": ["ground", "rod"], "at": [0, 0, 0], "axis": [0, 1, 0]}},
    "outputs": {"angle": {"joint": "pivot"}},
    "run": {"t_end": 1, "integrator": "hem5", "formulation": "cartesian", "rtol": 1e-7, "atol": 1e-5,
            "output_interval": 0.1}
}
END
expect "warnings and a free joint" 0 "2, total mass 6 kg, centre of mass (1.5, 0, 0) m" \
    "ground -> loose  free, given by Bogie: x, y, z, orientation" "pivot   ground -> rod    revolute: angle" \
    "warning          parameter 'colour'" "warning          body 'loose'" "7 degrees" -- "$BOGIE" check rod.json

# two gears of the same ratio between shafts of which one is driven, and a lid with hinges across
cat >shafts.json <<'END'
{
    "bodies": {
        "a": {"mass": 1, "center": [0, 0, 0], "inertia": [1, 1, 1]},
        "b": {"mass": 1, "center": [1, 0, 0], "inertia": [1, 1, 1]}
    },
    "joints": {
        "in": {"type": "revolute", "bodies": ["ground", "a"], "at": [0, 0, 0], "axis": [0, 1, 0], "prescribed": "turn"},
        "out": {"type": "revolute", "bodies": ["ground", "b"], "at": [1, 0, 0], "axis": [0, 1, 0]},
        "first": {"type": "gear", "joints": ["in", "out"], "ratio": 2},
        "spare": {"type": "gear", "joints": ["in", "out"], "ratio": 2}
    },
    "inputs": {"turn": "t"}
}
END
for formulation in joint cartesian; do
    expect "$formulation: gears and drives by name" 0 "in   ground -> a  revolute: angle (follows turn)" \
        "left out: spare" "the reactions of first, spare" "take a gear or a drive away" "0 degrees" -- \
        "$BOGIE" check shafts.json --formulation $formulation
done
holds "a driven mechanism moves" eval '! grep -q "nothing can move" "$out"'
cat >lid.json <<'END'
{
    "bodies": {"lid": {"mass": 1, "center": [0.5, 0, 0], "inertia": [1, 1, 1]}},
    "joints": {
        "hinge": {"type": "revolute", "bodies": ["ground", "lid"], "at": [0, 0, 0], "axis": [0, 1, 0]},
        "wrong": {"type": "revolute", "bodies": ["ground", "lid"], "at": [1, 0, 0], "axis": [1, 0, 0]}
    }
}
END
expect "nothing can move" 0 "1 coordinate q, 1 velocity v" "0 degrees (1 velocity - 5 constraints + 4 redundant)" \
    "nothing can move" -- "$BOGIE" check lid.json
expect "no start in Cartesian form" 2 "unreachable-long.json: joints.rope: " -- \
    "$BOGIE" check "$tests/broken-models/unreachable-long.json" --formulation cartesian
holds "what is known is still printed" grep -q "rope  .*distance: 1 constraint" "$out"

expect "the file's run" 0 "rod.json, cartesian formulation" "hem5, rtol 1e-07, atol 1e-05" "reached          t = 1 s" -- \
    "$BOGIE" run rod.json -o rows.csv
holds "the file's interval" [ "$(grep -vc '^[#t]' rows.csv)" -eq 11 ]
expect "the command line goes first" 0 "joint formulation" "mdop5, rtol 1e-08, atol 1e-09" "t = 0.5 s" -- \
    "$BOGIE" run rod.json --integrator mdop5 --formulation joint --rtol 1e-8 --atol 1e-9 --t-end 0.5 \
    -o rows.csv --output-interval 0.05
holds "its interval" [ "$(grep -vc '^[#t]' rows.csv)" -eq 11 ]
"$BOGIE" run rod.json --output-steps -o rows.csv --summary s.json --quiet
holds "rows at steps instead of the file's interval" \
    [ "$(grep -vc '^[#t]' rows.csv)" -eq $(($(json s.json steps accepted) + 1)) ]
expect "run by a path" 0 "joint formulation" "fixed step 0.01 s" -- \
    "$BOGIE" run rod.json --set run.step=0.01 --set run.formulation='"joint"'

# a rod four times as long swings at half the rate: the same angle after twice the time
angle() {
    "$BOGIE" run rod.json --rtol 1e-10 --atol 1e-10 --summary s.json --quiet "$@"
    printf '%.7f' "$(json s.json final outputs angle)"
}
short=$(angle --t-end 0.5)
long=$(angle --t-end 1 --set parameters.length=4)
holds "a parameter has its effect ($short, $long)" [ "$short" = "$long" ]
# a'' = 3 g/(2 l) cos(a) from rest at a = 0
holds "the angle itself" [ "$short" = 1.6611484 ]
turned=$(angle --t-end 0.5 --set "joints.pivot.axis=[0,-1,0]")
holds "a turned axis turns the angle ($turned)" [ "${turned#-}" = "${short#-}" ]
holds "and its sign" [ "$turned" != "$short" ]

expect "unknown parameter" 2 "parameters.lenght" "length" -- "$BOGIE" run rod.json --set parameters.lenght=2
expect "setting that breaks the model" 2 rod.json bodies.rod.mass negative -- \
    "$BOGIE" run rod.json --set bodies.rod.mass=-1

# the number of rods is a parameter, and a rod of them can be set
expect "forty rods" 0 "40 degrees" -- "$BOGIE" check "$models/n-pendulum.json" --set parameters.N=40
"$BOGIE" run "$models/n-pendulum.json" --set bodies.rod40.mass=2 --set parameters.N=40 --t-end 0.1 \
    --summary s.json --quiet
holds "forty coordinates" [ "$(json s.json dimensions nq)" = 40 ]
expect "a rod too many" 2 "no bodies.rod41" -- "$BOGIE" run "$models/n-pendulum.json" \
    --set bodies.rod41.mass=2 --set parameters.N=40

# cut and resumed, which needs the same formulation
for formulation in joint cartesian; do
    rm -f cut.checkpoint
    set -- "$suspension" --formulation $formulation --set road.from=0.5 --t-end 0.1 --quiet
    "$BOGIE" run "$@" --summary whole.json
    expect "$formulation: cut" 1 "--resume" -- "$BOGIE" run "$@" --max-steps 5 --checkpoint cut.checkpoint
    expect "$formulation: resumed" 0 -- "$BOGIE" run "$@" --resume cut.checkpoint --summary resumed.json
    holds "$formulation: same bits" [ "$(json resumed.json final)" = "$(json whole.json final)" ]
done
expect "resumed in other coordinates" 2 "the formulation 'cartesian'" "'joint'" -- \
    "$BOGIE" run "$suspension" --formulation joint --set road.from=0.5 --resume cut.checkpoint

while IFS='|' read -r file where _ message; do
    case $file in '#'* | '') continue ;; esac
    expect "broken: $file ($where)" 2 "$message" -- "$BOGIE" run "$tests/broken-models/$file" --t-end 0.01
    [ "$where" = run ] && expect "broken, checked: $file" 2 -- "$BOGIE" check "$tests/broken-models/$file"
done <"$tests/broken-models/expected.txt"

# every model is shown in docs/models.md, by a picture that scripts/make-pictures takes
docs=$(cd "$tests/../docs" && pwd)
for model in "$models"/*.json; do
    shown=$(basename "$model" .json)
    holds "$shown is shown" grep -qF "(pictures/model-$shown.png)" "$docs/models.md"
    holds "$shown is in the gallery" grep -qF "(models.md#$shown)" "$docs/README.md"
    holds "$shown has a picture" [ -s "$docs/pictures/model-$shown.png" ]
done
for page in "$docs"/*.md; do
    page=$(basename "$page")
    [ "$page" = README.md ] || holds "the front page leads to $page" grep -qF "($page)" "$docs/README.md"
done
holds "pictures are below 300 kB" [ -z "$(find "$docs/pictures" -size +300k)" ]

finish
