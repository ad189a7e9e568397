#!/bin/sh
# What a run loads: HDF5 and OpenBLAS, with the forty libraries they bring along, only where it needs
# them, and nothing starts twice. The loader of the system tells (LD_DEBUG).
. "$(dirname "$0")/cases.sh"

# watch NAME ARGUMENT...: the libraries that are initialised, in NAME
watch() {
    log=$1
    shift
    LD_DEBUG=files LD_DEBUG_OUTPUT="$log" "$BOGIE" "$@" >/dev/null 2>&1 || return 1
    cat "$log".* | sed -n 's/.*calling init: //p' >"$log"
    ls "$log".* | wc -l >"$log-processes"
    rm -f "$log".*
}
has() { grep -q "$2" "$1"; }
lacks() { ! grep -q "$2" "$1"; }

for command in "run equations:slider-crank" "run equations:slider-crank -o rows.csv" "check equations:car-axle" \
    "run $SOURCE/models/four-bar.json --t-end 0.1" "list" "stability --integrator mdop5"; do
    # shellcheck disable=SC2086
    holds "$command" watch plain $command
    holds "$command: no HDF5" lacks plain hdf5
    holds "$command: no OpenBLAS" lacks plain openblas
    holds "$command: few libraries" [ "$(wc -l <plain)" -le 14 ]
    holds "$command: one start" [ "$(cat plain-processes)" = 1 ]
done

holds "results in HDF5" watch hdf5 run equations:pendulum -o rows.h5
holds "results in HDF5 load it" has hdf5 libhdf5
holds "a large dense matrix" watch dense run equations:chain --set N=40 --t-end 0.01 \
    --integrator linear-euler --step 1e-3
holds "a large dense matrix loads OpenBLAS" has dense openblas

# Another library under the name is noticed; one that is none is passed over.
library=$(sed -n 's|.*/\(libhdf5[^/]*\)$|\1|p' hdf5 | head -1)
mkdir -p wrong broken
cp "$PLUGINS/decay.so" "wrong/$library"
echo "no library" >"broken/$library"
expect "a library without the functions" 2 "results in HDF5, $library, has no H5" -- \
    env LD_LIBRARY_PATH="$PWD/wrong:${LD_LIBRARY_PATH:-}" "$BOGIE" run equations:pendulum -o wrong.h5
expect "a file that is no library" 0 -- \
    env LD_LIBRARY_PATH="$PWD/broken:${LD_LIBRARY_PATH:-}" "$BOGIE" run equations:pendulum -o broken.h5
holds "no half of a file is left" [ -z "$(ls ./*.partial wrong.h5 2>/dev/null)" ]

finish
