#!/bin/sh
# Instructions of a step of bdf in proportion to the length of a chain: from 64 to 1024 rods of
# equations:chain and from 64 to 512 bodies of n-pendulum with an exponent of at most 1.15, whatever
# share of the steps has a new matrix.
models=$(cd "$(dirname "$0")/../../models" && pwd)
. "$(dirname "$0")/cases.sh"

OPENBLAS_CORETYPE=Haswell # kernels that valgrind can follow
OPENBLAS_NUM_THREADS=1
export OPENBLAS_CORETYPE OPENBLAS_NUM_THREADS

# $1 what runs, $2 parameter, $3 links, $4 time: instructions per step into `per_step`
count() {
    rm -f counts summary
    expect "$1 with $3 links" 0 -- valgrind -q --tool=callgrind --callgrind-out-file=counts \
        --dump-line=no --toggle-collect=bg_integrator_step "$BOGIE" run "$1" --integrator bdf \
        --set "$2=$3" --set integrator.matrix=expansion --t-end "$4" --summary summary --quiet
    steps=$(json summary steps accepted)
    per_step=$(awk -v n="$steps" '/^totals:/ { print int($2 / n) }' counts)
    echo "$1 with $3 links: $steps steps, $per_step instructions each"
    holds "steps of $1 were made and counted" [ "${steps:-0}" -ge 20 ] && [ "${per_step:-0}" -gt 1000 ]
}

# $1, $2 as above, $3 time of 64 links, $4 links, $5 their time, $6 ten times ($4/64)^1.15
compare() {
    count "$1" "$2" 64 "$3"
    short=$per_step
    count "$1" "$2" "$4" "$5"
    holds "$1: a step grows like its length" [ $((10 * per_step)) -le $(($6 * short)) ]
}

compare equations:chain N 2 1024 5 242
compare "$models/n-pendulum.json" parameters.N 0.004 512 0.0008 109

finish
