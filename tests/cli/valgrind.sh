#!/bin/sh
# No invalid access, no use of undefined values and no lost memory in whole runs of the program. The
# kernels of OpenBLAS are those that valgrind can follow.
models=$(cd "$(dirname "$0")/../../models" && pwd)
. "$(dirname "$0")/cases.sh"

OPENBLAS_CORETYPE=Haswell
OPENBLAS_NUM_THREADS=1
export OPENBLAS_CORETYPE OPENBLAS_NUM_THREADS

grind() {
    valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite "$@"
}

expect "run to HDF5" 0 -- grind "$BOGIE" run equations:car-axle --t-end 0.05 -o a.h5 --summary a.json \
    --checkpoint a.checkpoint
expect "run to CSV" 0 -- grind "$BOGIE" run equations:pendulum --t-end 0.5 -o a.csv
expect "sparse run" 0 -- grind "$BOGIE" run equations:chain --set N=30 --t-end 0.02
expect "check" 0 -- grind "$BOGIE" check equations:pendulum --derivatives
for formulation in joint cartesian; do
    expect "model, $formulation" 0 -- grind "$BOGIE" run "$models/five-link-suspension.json" --t-end 0.01 \
        --formulation $formulation -o b.csv
    expect "check of a model, $formulation" 0 -- grind "$BOGIE" check "$models/iftomm-a04-bricard.json" \
        --formulation $formulation
done
expect "model with repetitions" 0 -- grind "$BOGIE" run "$models/n-pendulum.json" --set parameters.N=5 \
    --set bodies.rod5.mass=2 --t-end 0.01
expect "repetition that cannot be" 2 -- grind "$BOGIE" run "$models/n-pendulum.json" --set parameters.N=2.5
expect "model that cannot be read" 2 -- grind "$BOGIE" run "$models/gyroscope.json" --set bodies.top.mass=-1
expect "real time" 0 -- grind "$BOGIE" realtime "$models/slider-crank-3d.json" --duration 0.02 --overload slow \
    --priority 0 --quiet --listen 0 --send 9 --summary real.json
expect "bad input" 2 -- grind "$BOGIE" run equations:pendulum --set lenght=2 --set length=2

finish
