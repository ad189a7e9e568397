#!/bin/sh
# The same work in every step: instructions of each of the steps 10 to 300 differ by less than 1 %.
# callgrind counts inside bg_realtime_step alone and writes its count after every call.
models=$(cd "$(dirname "$0")/../../models" && pwd)
. "$(dirname "$0")/cases.sh"

OPENBLAS_CORETYPE=Haswell # kernels that valgrind can follow
OPENBLAS_NUM_THREADS=1
export OPENBLAS_CORETYPE OPENBLAS_NUM_THREADS

# $1 model, $2 the least a step can be
count() {
    rm -f counts
    expect "steps of $1" 0 -- valgrind -q --tool=callgrind --callgrind-out-file=counts \
        --combine-dumps=yes --dump-line=no --toggle-collect=bg_realtime_step \
        --dump-after=bg_realtime_step "$BOGIE" realtime "$models/$1.json" --duration 0.3 \
        --overload slow --priority 0 --no-preparation --quiet
    grep '^totals:' counts >totals # the last one is what came after the last step: nothing
    awk '$2 > 0 && ++n >= 10 { if (!low || $2 < low) low = $2; if ($2 > high) high = $2 }
         END { print n, low, high }' totals >range
    read -r steps low high <range
    echo "$1: $steps steps, $low to $high instructions"
    holds "every step of $1 was counted" [ "$steps" -eq 300 ]
    holds "a step of $1 is more than nothing" [ "$low" -gt "$2" ]
    holds "all steps of $1 within 1 %" [ $((100 * (high - low))) -lt "$low" ]
}

count four-bar 20000
count vehicle-trailer 200000

finish
