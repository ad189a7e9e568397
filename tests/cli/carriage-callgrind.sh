#!/bin/sh
# The account of drives that have no coordinate (src/run/drive_work.c) costs a part of the steps that
# it accounts for: on the train carriage, which seven frames take along, it finds that they miss
# nothing. Instructions, which are the same whatever else the machine does.
models=$(cd "$(dirname "$0")/../../models" && pwd)
. "$(dirname "$0")/cases.sh"

OPENBLAS_CORETYPE=Haswell # kernels that valgrind can follow
OPENBLAS_NUM_THREADS=1
export OPENBLAS_CORETYPE OPENBLAS_NUM_THREADS

# $1 function: instructions inside it into `inside`
count() {
    rm -f counts
    expect "a run, counted in $1" 0 -- valgrind -q --tool=callgrind --callgrind-out-file=counts --dump-line=no \
        --toggle-collect="$1" "$BOGIE" run "$models/train-carriage.json" --integrator bdf --rtol 1e-4 --atol 1e-4 \
        --t-end 3 --quiet
    inside=$(sed -n 's/^totals: //p' counts)
    echo "$inside instructions in $1"
    holds "$1 was counted" [ "${inside:-0}" -gt 1000000 ]
}

count bg_integrator_step
steps=$inside
count bg_drive_work_look
look=$inside
count bg_runner_update_certificate
holds "accounts take less than three tenths of the steps" [ $((10 * (look + inside))) -lt $((3 * steps)) ]

finish
