#!/bin/sh
# A run that was cut and resumed ends with the same bits as one that was not.
models=$(cd "$(dirname "$0")/../../models" && pwd)
. "$(dirname "$0")/cases.sh"

# compare MODEL INTEGRATOR STEPS [OPTION...]
compare() {
    model=$1
    method=$2
    steps=$3
    shift 3
    "$BOGIE" run "$model" --integrator "$method" "$@" --summary whole.json --quiet
    rm -f cut.checkpoint
    expect "$model, $method: cut after $steps steps" 1 "t = " "--resume 'cut.checkpoint'" -- "$BOGIE" run "$model" \
        --integrator "$method" "$@" --max-steps "$steps" --checkpoint cut.checkpoint --summary cut.json
    expect "$model, $method: resumed" 0 -- "$BOGIE" run "$model" --integrator "$method" "$@" \
        --resume cut.checkpoint --summary resumed.json --quiet
    holds "$model, $method: was cut before the end" [ "$(json cut.json final)" != "$(json whole.json final)" ]
    holds "$model, $method: same bits" [ "$(json resumed.json final)" = "$(json whole.json final)" ]
    holds "$model, $method: same steps" [ "$(json resumed.json steps)" = "$(json whole.json steps)" ]
}

compare equations:pendulum mdop5 7 --t-end 2
compare equations:car-axle mdop5 100
compare equations:slider-crank hem5 20 --t-end 3 --rtol 1e-9 --atol 1e-9
compare equations:chain mdop5 11 --t-end 1 --set N=30
compare equations:circular-track linear-euler 103 --step 1e-3 --t-end 0.5 --set integrator.refresh=7
# stiff enough that some entries are kept and some left out
compare "$models/five-link-suspension.json" linear-euler 53 --step 1e-3 --t-end 0.1 --set integrator.partition=auto \
    --set integrator.refresh=7
holds "what the partition kept is known after it, too" \
    [ "$(json resumed.json certificate note)" = "$(json whole.json certificate note)" ]
holds "the partition left something out" grep -q "keeps 18 of 51 non-zero entries" whole.json
compare equations:bouncing-ball mdop5 9 --t-end 2

expect "checkpoint of another model" 2 equations:bouncing-ball equations:pendulum -- \
    "$BOGIE" run equations:pendulum --resume cut.checkpoint
head -c 100 cut.checkpoint >short.checkpoint
expect "truncated checkpoint" 2 short.checkpoint -- \
    "$BOGIE" run equations:bouncing-ball --resume short.checkpoint

# Everything a summary says but times: all models, in both forms, by all methods.
facts() { grep -v "cpu_seconds\|real_time_factor" "$1"; }
all_facts() {
    name=$1
    steps=$2
    shift 2
    rm -f cut.checkpoint
    "$BOGIE" run "$@" --summary whole.json --quiet 2>whole.err &&
        { "$BOGIE" run "$@" --max-steps "$steps" --checkpoint cut.checkpoint --quiet 2>cut.err || [ $? = 1 ]; } &&
        "$BOGIE" run "$@" --resume cut.checkpoint --summary resumed.json --quiet 2>resumed.err &&
        [ "$(facts resumed.json)" = "$(facts whole.json)" ] || echo "$name: $*" >>different
}
: >different
number=0
# Sanitizers, which multiply the time, see one of the four ways in turn.
chosen() { [ -z "${ASAN_OPTIONS:-}" ] || [ $((number % 4)) = "$1" ]; }
for model in "$models"/*.json; do
    case $model in
    *andrews* | *stamp* | *hmmwv*) step=1e-5 end=2e-4 ;;
    *governor*) step=1e-4 end=2e-3 ;;
    *four-bar*) step=1e-3 end=5e-2 ;; # more than one step of hem5
    *) step=1e-3 end=2e-2 ;;
    esac
    for form in joint cartesian; do
        name="$(basename "$model" .json) $form"
        fixed="--formulation $form --step $step --t-end $end --integrator"
        # shellcheck disable=SC2086
        {
            ! chosen 0 || all_facts "$name" 7 "$model" $fixed linear-euler
            ! chosen 1 || all_facts "$name" 7 "$model" $fixed linear-euler --set integrator.jacobian=J3
            ! chosen 2 || all_facts "$name" 7 "$model" $fixed euler
        }
        ! chosen 3 || all_facts "$name" 1 "$model" --formulation $form --t-end $end --integrator \
            $([ $form = joint ] && echo hem4 || echo hem5)
        number=$((number + 1))
    done
    number=$((number + 1)) # each way meets both forms
done
holds "resumed runs say what whole ones do: $(head -3 different)" [ ! -s different ]

# what is not unique is told of joints, as by a whole run
bricard=$models/iftomm-a04-bricard.json
expect "redundant, whole" 0 -- "$BOGIE" run "$bricard" --t-end 0.02
grep "not unique" "$out" >whole.told
rm -f told.checkpoint
expect "redundant, cut" 1 -- "$BOGIE" run "$bricard" --t-end 0.02 --max-steps 2 --checkpoint told.checkpoint
expect "redundant, resumed" 0 -- "$BOGIE" run "$bricard" --t-end 0.02 --resume told.checkpoint
grep "not unique" "$out" >resumed.told
holds "reactions are named" [ -s whole.told ]
holds "the same ones after a resume" cmp -s whole.told resumed.told

# A run goes on only with the model that it began with: its parts and tables belong to it, its
# comments and what it says under "run" do not.
pieces() {
    cat >pieces.json <<END
{"comment": "$4", "parts": {"arm": {"file": "arm.json"}}, "use": {"x": {"part": "arm"}},
 "inputs": {"u": {"type": "table", "file": "way.csv"}},
 "bodies": {"a": {"mass": $1, "center": [0, 0, 0], "inertia": [1, 1, 1]}},
 "joints": {"s": {"type": "prismatic", "bodies": ["ground", "a"], "at": [0, 0, 0], "axis": [1, 0, 0], "prescribed": "u"}},
 "run": {"t_end": $5}}
END
    cat >arm.json <<END
{"bodies": {"rod": {"mass": $2, "center": [1, 0, 0], "inertia": [1, 1, 1]}},
 "joints": {"h": {"type": "revolute", "bodies": ["ground", "rod"], "at": [0, 0, 0], "axis": [0, 0, 1]}}}
END
    printf '0,1\n1,2\n9,%s\n' "$3" >way.csv
}
for form in joint cartesian; do
    pieces 1 1 1 old 0.5
    "$BOGIE" run pieces.json --formulation $form --checkpoint pieces.checkpoint --quiet
    for change in "2 1 1 old 0.5" "1 2 1 old 0.5" "1 1 2 old 0.5"; do
        # shellcheck disable=SC2086
        pieces $change
        expect "changed, $form: $change" 2 "not what it was" -- "$BOGIE" run pieces.json \
            --formulation $form --t-end 0.6 --resume pieces.checkpoint
    done
    pieces 1 1 1 new 0.6
    expect "said differently, $form" 0 "reached          t = 0.6 s" -- "$BOGIE" run pieces.json \
        --formulation $form --resume pieces.checkpoint
done

# A pipe without a writer is no checkpoint, and nothing is waited for.
mkfifo pipe
expect "a pipe" 2 "not a complete checkpoint" -- timeout -s KILL 60 "$BOGIE" run equations:pendulum --resume pipe

# A run that starts in equilibrium is another one than a run that does not.
model=$models/double-wishbone.json
for first in "" --equilibrium; do
    for second in "" --equilibrium; do
        rm -f rest.checkpoint
        # shellcheck disable=SC2086
        "$BOGIE" run "$model" $first --t-end 0.02 --checkpoint rest.checkpoint --quiet
        code=2
        [ "$first" = "$second" ] && code=0
        # shellcheck disable=SC2086
        expect "resumed '$first' with '$second'" $code -- "$BOGIE" run "$model" $second --t-end 0.03 \
            --resume rest.checkpoint
    done
done

finish
