#!/bin/sh
# Steps of two rates in real time: the same work in every step, and a step of prk38, five to six times as
# long as one of rk2, has at most 2.2 times its instructions.
models=$(cd "$(dirname "$0")/../../models" && pwd)
. "$(dirname "$0")/cases.sh"

OPENBLAS_CORETYPE=Haswell # kernels that valgrind can follow
OPENBLAS_NUM_THREADS=1
export OPENBLAS_CORETYPE OPENBLAS_NUM_THREADS

# $1 method, $2 rate, $3 seconds, $4 steps
count() {
    rm -f counts
    expect "steps of $1" 0 -- valgrind -q --tool=callgrind --callgrind-out-file=counts \
        --combine-dumps=yes --dump-line=no --toggle-collect=bg_realtime_step \
        --dump-after=bg_realtime_step "$BOGIE" realtime "$models/hmmwv10.json" --integrator "$1" \
        --set 'road={"type": "flat"}' --rate "$2" --duration "$3" --overload slow --priority 0 --quiet
    grep '^totals:' counts >totals # the last one is what came after the last step: nothing
    awk '$2 > 0 && ++n >= 4 { if (!low || $2 < low) low = $2; if ($2 > high) high = $2 }
         END { print n, low, high }' totals >range
    read -r steps low high <range
    echo "$1: $steps steps, $low to $high instructions"
    holds "every step of $1 was counted" [ "$steps" -eq "$4" ]
    holds "all steps of $1 within 1 %" [ $((100 * (high - low))) -lt "$low" ]
}

count rk2 1000 0.04 40
one=$high
count prk38 200 0.1 20
holds "a step of prk38 has more than one of rk2" [ "$low" -gt "$one" ]
holds "and at most 2.2 times as much" [ $((10 * high)) -le $((22 * one)) ]

finish
