#!/bin/sh
# The account of drives that have no coordinate (src/run/drive_work.c) costs a part of the steps that
# it accounts for: on the train carriage, which seven frames take along, and where a rack is held, it
# finds that they miss nothing. Instructions, which are the same whatever else the machine does.
models=$(cd "$(dirname "$0")/../../models" && pwd)
. "$(dirname "$0")/cases.sh"

OPENBLAS_CORETYPE=Haswell # kernels that valgrind can follow
OPENBLAS_NUM_THREADS=1
export OPENBLAS_CORETYPE OPENBLAS_NUM_THREADS

# $1 function: instructions inside it into `inside`
count() { # function, model, end
    rm -f counts
    expect "$2, counted in $1" 0 -- valgrind -q --tool=callgrind --callgrind-out-file=counts --dump-line=no \
        --toggle-collect="$1" "$BOGIE" run "$models/$2.json" --integrator bdf --rtol 1e-4 --atol 1e-4 \
        --t-end "$3" --quiet
    inside=$(sed -n 's/^totals: //p' counts)
    echo "$inside instructions in $1"
    holds "$1 was counted" [ "${inside:-0}" -gt 0 ]
}

check() { # model, end, most tenths of the steps
    count bg_integrator_step "$1" "$2"
    steps=$inside
    count bg_drive_work_look "$1" "$2"
    look=$inside
    count bg_runner_update_certificate "$1" "$2"
    holds "$1: accounts take less than $3 tenths of the steps" [ $((10 * (look + inside))) -lt $(($3 * steps)) ]
}

check train-carriage 3 3
check hmmwv14 1 1       # a rack that is held
check rear-axle-stamp 1 10 # where most steps are looked into
check front-axle 4 5

finish
