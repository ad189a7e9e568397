#!/bin/sh
# auto takes at most twice the instructions of the better of its two methods, whole runs with their
# starts: on the models where it comes nearest to that, short enough to be counted.
models=$(cd "$(dirname "$0")/../../models" && pwd)
. "$(dirname "$0")/cases.sh"

OPENBLAS_CORETYPE=Haswell # kernels that valgrind can follow
OPENBLAS_NUM_THREADS=1
export OPENBLAS_CORETYPE OPENBLAS_NUM_THREADS

# $1 model, $2 formulation
compare() {
    for method in auto mdop5 bdf; do
        rm -f counts
        expect "$1 by $method" 0 -- valgrind -q --tool=callgrind --callgrind-out-file=counts \
            "$BOGIE" run "$models/$1.json" --formulation "$2" --integrator $method --quiet
        sed -n 's/^summary: //p' counts >$method
    done
    echo "$1, $2: $(cat auto) instructions, mdop5 $(cat mdop5), bdf $(cat bdf)"
    holds "auto on $1, $2" awk "BEGIN { best = $(cat mdop5); if ($(cat bdf) < best) best = $(cat bdf)
        exit !($(cat auto) > 1e6 && $(cat auto) <= 2 * best) }"
}

compare double-wishbone joint
compare quarter-car-b cartesian
compare quarter-car-c cartesian
compare gyroscope joint

finish
