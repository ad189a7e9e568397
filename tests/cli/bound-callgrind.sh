#!/bin/sh
# No step takes more instructions than the numbers that `bogie check --integrator` prints before the
# first one allow: every model in both forms, and a wheel that falls down a stair. The first step,
# in which sparse matrices choose their pivots, has the number for that, all others the one for
# events. callgrind counts inside bg_realtime_step alone and writes its count after every call.
models=$(cd "$(dirname "$0")/../../models" && pwd)
. "$(dirname "$0")/cases.sh"

OPENBLAS_CORETYPE=Haswell # kernels that valgrind can follow
OPENBLAS_NUM_THREADS=1
export OPENBLAS_CORETYPE OPENBLAS_NUM_THREADS

# $1 model, $2 formulation, $3 duration in s, $4 a setting, $5 method
bound() {
    method=${5:-linear-euler}
    "$BOGIE" check "$models/$1.json" --formulation "$2" --integrator "$method" --step 5e-4 \
        --set integrator.certificate=off ${4:+--set "$4"} >plan
    times=$(sed -n 's/^ *at most \([0-9.]*\) times the work.*/\1/p' plan)
    pivots=$(sed -n 's/^ *and \([0-9.]*\) times if all matrices had to.*/\1/p' plan)
    holds "check of $1, $2, says how much a step can be" [ -n "$times" ]
    holds "no allocations in $1, $2" grep -q '^  allocations      0 in 200 steps' plan
    rm -f counts
    expect "steps of $1, $2" 0 -- valgrind -q --tool=callgrind --callgrind-out-file=counts \
        --combine-dumps=yes --dump-line=no --toggle-collect=bg_realtime_step \
        --dump-after=bg_realtime_step "$BOGIE" realtime "$models/$1.json" --formulation "$2" \
        --duration "$3" --overload slow --priority 0 --no-preparation --summary summary.json \
        --quiet ${4:+--set "$4"} ${5:+--integrator "$5" --rate 2000}
    grep '^totals:' counts >totals # the last one is what came after the last step: nothing
    awk '$2 > 0 { n++; if (n == 1) first = $2; else if ($2 > high) high = $2
                  if (!low || $2 < low) low = $2 }
         END { print n, low, high, first }' totals >range
    read -r steps low high first <range
    # the start has evaluated what the first step of euler begins with, and one after an event
    [ "$method" = linear-euler ] || low=$(awk '{ print $2 }' totals | sort -n | sed -n "$((steps / 2 + 2))p")
    events=$(json summary.json events)
    echo "$1, $2: $steps steps, $events events, $low to $high instructions, $times times allowed;" \
        "$first in the first, ${pivots:-$times} times"
    holds "steps of $1, $2, stay below $times times the least" \
        awk "BEGIN { exit !($steps >= 10 && $high <= $times * $low) }"
    holds "the first step of $1, $2, stays below ${pivots:-$times} times the least" \
        awk "BEGIN { exit !($first <= ${pivots:-$times} * $low) }"
}

stair='road={"type":"stair","at":0.5,"height":-0.05,"speed":"speed","base":"base"}'
for form in joint cartesian; do
    for model in "$models"/*.json; do
        name=$(basename "$model" .json)
        case $name in
        hmmwv10) bound $name $form 0.01 "" linear-euler ;; # its own is prk38: cli-rates-callgrind
        *) bound "$name" $form 0.01 ;;
        esac
    done
    [ $form = cartesian ] || bound five-link-suspension $form 0.06 "$stair" euler
    bound five-link-suspension $form 0.06 "$stair"
    holds "the wheel has left the road" [ "$events" -gt 0 ]
done

finish
