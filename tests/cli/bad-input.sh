#!/bin/sh
# Bad input ends with code 2, a sentence that names the thing, and every earlier file as it was.
. "$(dirname "$0")/cases.sh"

pendulum=equations:pendulum

# refuse NAME [WORD...] -- ARGUMENT...: `bogie run` with results, summary and checkpoint that exist
refuse() {
    name=$1
    shift
    for ending in csv h5 json checkpoint; do
        cp earlier.$ending kept.$ending
    done
    for ending in csv h5; do
        expect "$name ($ending)" 2 "$@" -o "kept.$ending" --summary kept.json --checkpoint kept.checkpoint
        holds "$name: earlier files are kept ($ending)" kept
    done
}

kept() {
    cmp -s earlier.csv kept.csv && cmp -s earlier.h5 kept.h5 && cmp -s earlier.json kept.json &&
        cmp -s earlier.checkpoint kept.checkpoint && [ -z "$(ls ./*.partial 2>/dev/null)" ]
}

for ending in csv h5; do
    expect "earlier $ending" 0 -- "$BOGIE" run $pendulum --t-end 0.1 -o earlier.$ending \
        --summary earlier.json --checkpoint earlier.checkpoint --quiet
done

refuse "unknown system" "equations:pendulm" "equations:pendulum" -- "$BOGIE" run equations:pendulm
refuse "neither equations nor plug-in" "'pendulum'" equations:NAME -- "$BOGIE" run pendulum
refuse "missing model file" "car.json" "No such file" -- "$BOGIE" run car.json
echo '{"bodies": {"bob": {"mass": -1, "center": [0, 0, 0]}}}' >broken.json
refuse "broken model file" "broken.json" "bodies.bob.mass" "negative" -- "$BOGIE" run broken.json
refuse "formulation of equations" "formulation is for model files" "$pendulum" -- "$BOGIE" run $pendulum --formulation joint
refuse "unknown integrator" "mdop6" "mdop5" -- "$BOGIE" run $pendulum --integrator mdop6
refuse "unknown parameter" "lenght" "length" -- "$BOGIE" run $pendulum --set lenght=2
refuse "parameter not a number" "length" "long" -- "$BOGIE" run $pendulum --set length=long
refuse "parameter out of range" "length" -- "$BOGIE" run $pendulum --set length=-1
refuse "nothing left to Newton" "newton" "between 0 and 1" -- "$BOGIE" run $pendulum --integrator bdf --set integrator.newton=0
refuse "unknown method option" "projektion" "projection" -- "$BOGIE" run $pendulum --set integrator.projektion=control
refuse "unknown value of a method option" "projection" "sometimes" -- "$BOGIE" run $pendulum --set integrator.projection=sometimes
refuse "rtol zero" --rtol 0 -- "$BOGIE" run $pendulum --rtol 0
refuse "rtol negative" --rtol -1e-6 -- "$BOGIE" run $pendulum --rtol -1e-6
refuse "rtol NaN" --rtol nan -- "$BOGIE" run $pendulum --rtol nan
refuse "atol infinite" --atol inf -- "$BOGIE" run $pendulum --atol=inf
refuse "atol not a number" --atol tight -- "$BOGIE" run $pendulum --atol tight
refuse "atol with a unit" --atol 1mm -- "$BOGIE" run $pendulum --atol 1mm
refuse "step zero" --step 0 -- "$BOGIE" run $pendulum --step 0
refuse "h-min above h-max" h_min h_max -- "$BOGIE" run $pendulum --h-min 1 --h-max 0.1
for pair in "--step 0.1 --h-max 0.01" "--step 0.1 --h-min 0.2" "--h-initial 1 --h-max 0.1" \
    "--h-initial 0.01 --h-min 0.1" "--step 0.1 --h-initial 0.2"; do
    # shellcheck disable=SC2086
    refuse "contradictory steps $pair" "leave out" -- "$BOGIE" run $pendulum $pair
done
for number in 0x10 " 1" "1 " 1e 1,5 1f nan inf 1e999 ""; do
    refuse "not a number: '$number'" --t-end -- "$BOGIE" run $pendulum "--t-end=$number"
    refuse "parameter not a number: '$number'" length -- "$BOGIE" run $pendulum "--set=length=$number"
done
for number in 0 -1 1.5 0x10 1e3 "" 99999999999999999999; do
    refuse "not a number of steps: '$number'" --max-steps -- "$BOGIE" run $pendulum "--max-steps=$number"
    refuse "not a number of steps: '$number'" --checkpoint-steps -- \
        "$BOGIE" run $pendulum --checkpoint c "--checkpoint-steps=$number"
    expect "not a number of workers: '$number'" 2 --jobs -- "$BOGIE" study study.json "--jobs=$number"
done
for shard in 0/3 4/3 1/0 1 /3 1/ +1/3 "1/3 " 0x1/3 1/99999999999; do
    expect "shard $shard" 2 --shard "$shard" -- "$BOGIE" study study.json "--shard=$shard"
done
for option in --overload=stop:0 --overload=stop:+1 "--overload=stop: 1" --spin=0x10us --spin=nanus \
    "--spin= 5us" --inject-delay=5ms:0x10 --inject-delay=5ms:+1 --listen=0x50 --listen=:-1 --rate=0x10; do
    expect "realtime $option" 2 "${option%%=*}" -- "$BOGIE" realtime $pendulum --duration 0.01 "$option"
done
refuse "t-end before t-start" --t-end --t-start " 1 s" " 2 s" -- "$BOGIE" run $pendulum --t-start 2 --t-end 1
refuse "t-end before the system's start" --t-end "-5 s" -- "$BOGIE" run $pendulum --t-end -5
refuse "resume into earlier results" "kept" "another name" -- "$BOGIE" run $pendulum --resume kept.checkpoint
expect "missing checkpoint" 2 nowhere.checkpoint -- "$BOGIE" run $pendulum --resume nowhere.checkpoint
echo "no checkpoint" >text.checkpoint
expect "not a checkpoint" 2 text.checkpoint -- "$BOGIE" run $pendulum --resume text.checkpoint
expect "one file for rows and summary" 2 "-o" "--summary" -- "$BOGIE" run $pendulum -o same.csv --summary same.csv
expect "one file for rows and checkpoint" 2 "-o" "--checkpoint" -- "$BOGIE" run $pendulum -o same.csv --checkpoint same.csv
mkfifo pipe
expect "checkpoint that is not a file" 2 pipe regular -- "$BOGIE" run $pendulum --checkpoint pipe

expect "folder missing" 2 "nowhere/out.h5" "'nowhere'" -- "$BOGIE" run $pendulum -o nowhere/out.h5
expect "folder missing for the summary" 2 nowhere/s.json -- "$BOGIE" run $pendulum --summary nowhere/s.json
expect "folder missing for the checkpoint" 2 nowhere/c -- "$BOGIE" run $pendulum --checkpoint nowhere/c
mkdir folder.csv
expect "output is a folder" 2 folder.csv -- "$BOGIE" run $pendulum -o folder.csv
expect "output nobody can write" 2 /proc/bogie.h5 -- "$BOGIE" run $pendulum -o /proc/bogie.h5
expect "unknown ending" 2 out.txt .h5 .csv -- "$BOGIE" run $pendulum -o out.txt
holds "no file with an unknown ending" [ ! -e out.txt ]

ln -s /dev/full full.csv
expect "disk full, CSV" 2 full.csv "No space left" -- "$BOGIE" run $pendulum -o full.csv
expect "disk full, summary" 2 /dev/full -- "$BOGIE" run $pendulum --summary /dev/full
expect "disk full, stdout" 2 "standard output" -- sh -c '"$BOGIE" run equations:pendulum --summary - >/dev/full'

# ulimit counts blocks of 512 bytes
for ending in csv h5; do
    cp earlier.$ending small.$ending
    expect "file size limit, $ending" 2 "small.$ending" "ulimit -f" -- \
        sh -c 'ulimit -f 20; "$BOGIE" run equations:pendulum --t-end 50 --h-max 0.001 -o small.'$ending
    holds "file size limit, $ending: no remains" [ ! -e small.$ending.partial ]
done
holds "earlier CSV or rows that are safe" grep -q "^t,h," small.csv

# A start that cannot be is told in the summary, in both forms alike. Input that is refused keeps an
# earlier summary.
rod() {
    cat <<END
{"bodies": {
    "crank": {"mass": 2, "center": [0, 0, 0.5], "inertia": [0.2, 0.2, 0.01]},
    "rocker": {"mass": 4, "center": [2.75, 0, 1], "inertia": [1.4, 1.4, 0.1]}},
 "joints": {
    "A": {"type": "revolute", "bodies": ["ground", "crank"], "at": [0, 0, 0], "axis": [0, 1, 0]$2},
    "D": {"type": "revolute", "bodies": ["ground", "rocker"], "at": [3, 0, 0], "axis": [0, 1, 0]},
    "rod": {"type": "distance", "length": $1, "points": [
        {"body": "crank", "at": [0, 0, 1]}, {"body": "rocker", "at": [2.5, 0, 2]}]}},
 "run": {"t_end": 1}}
END
}
rod 10 "" >long.json
rod 0.3 ', "initial": {"position": 0, "fixed": true}' >short.json
for model in long short; do
    for form in joint cartesian; do
        rm -f $model-$form
        expect "$model rod, $form" 2 "joints.rod" -- "$BOGIE" run $model.json --formulation $form \
            --summary $model-$form
        holds "$model rod, $form: status" [ "$(json $model-$form status)" = not-assembled ]
        holds "$model rod, $form: form" [ "$(json $model-$form formulation)" = $form ]
        "$BOGIE" run $model.json --formulation $form --summary - >$model-stdout 2>/dev/null
        holds "$model rod, $form: on stdout" cmp -s $model-$form $model-stdout
        expect "$model rod, $form, realtime" 2 "joints.rod" -- "$BOGIE" realtime $model.json \
            --formulation $form --duration 0.1 --priority 0 --summary live-$model-$form
        holds "$model rod, $form, realtime: status" [ "$(json live-$model-$form status)" = failed ]
        holds "$model rod, $form, realtime: form" [ "$(json live-$model-$form formulation)" = $form ]
        holds "$model rod, $form, realtime: the same reason" \
            [ "$(json live-$model-$form message)" = "$(json $model-$form message)" ]
        "$BOGIE" realtime $model.json --formulation $form --duration 0.1 --priority 0 --summary - \
            >$model-stdout 2>/dev/null
        holds "$model rod, $form, realtime: on stdout" cmp -s live-$model-$form $model-stdout
    done
    holds "$model rod: both forms alike" [ "$(json $model-joint message)" = "$(json $model-cartesian message)" ]
done
cp live-long-joint earlier.json
expect "realtime, no such model" 2 "missing.json" -- "$BOGIE" realtime missing.json --summary fresh.json
holds "realtime, no such model: told" [ "$(json fresh.json steps)" = 0 ]
expect "realtime, refused" 2 "out of range" -- "$BOGIE" realtime equations:pendulum --rate 1e9 \
    --summary earlier.json
holds "realtime, refused: keeps an earlier summary" cmp -s live-long-joint earlier.json

finish
