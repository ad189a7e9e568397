#!/bin/sh
# Ctrl-C, SIGTERM and SIGKILL in the middle of a long run, and the progress bar.
. "$(dirname "$0")/cases.sh"

long="equations:chain --set N=20 --t-end 1e6 --quiet"

for signal in INT TERM; do
    rm -f cut.h5 cut.checkpoint cut.json
    # shellcheck disable=SC2086
    "$BOGIE" run $long -o cut.h5 --checkpoint cut.checkpoint --checkpoint-steps 20 \
        --summary cut.json >"$out" 2>"$err" &
    pid=$!
    holds "SIG$signal: the run is under way" wait_for_file cut.checkpoint
    kill -$signal $pid
    kill -$signal $pid # as timeout(1) does: to the process, then to its group
    wait $pid
    holds "SIG$signal: exit code 130" [ $? -eq 130 ]
    holds "SIG$signal: a sentence with the time" grep -q "^bogie: the run reached t = " "$err"
    holds "SIG$signal: results can be read" sh -c 'h5dump -H cut.h5 >dump.txt'
    holds "SIG$signal: summary" [ "$(json cut.json status)" = stopped ]
    steps=$(json cut.json steps accepted)
    rm -f rest.h5
    expect "SIG$signal: the checkpoint goes on" 1 -- "$BOGIE" run $long --resume cut.checkpoint -o rest.h5 \
        --max-steps $((steps + 10)) --summary on.json
    holds "SIG$signal: it goes on from there" [ "$(json on.json steps accepted)" -gt "$steps" ]
done

rm -f killed.csv killed.h5 killed.checkpoint
for ending in csv h5; do
    # shellcheck disable=SC2086
    "$BOGIE" run $long -o killed.$ending --checkpoint killed.checkpoint --checkpoint-steps 20 \
        >"$out" 2>"$err" &
    pid=$!
    holds "SIGKILL, $ending: rows reach the disk while it runs" wait_for_file killed.$ending
    sleep 0.3
    kill -KILL $pid
    wait $pid 2>/dev/null
done
holds "SIGKILL: HDF5 can be read" sh -c 'h5dump -H killed.h5 >dump.txt'
holds "SIGKILL: CSV ends with a whole line" [ "$(tail -c 1 killed.csv | wc -l)" -eq 1 ]
rm -f rest.h5
# the limit was passed long ago, so that the resumed run ends at once and says where it is
# shellcheck disable=SC2086
expect "SIGKILL: the checkpoint is whole" 1 "limit" -- "$BOGIE" run $long --resume killed.checkpoint \
    -o rest.h5 --max-steps 1 --summary on.json
holds "SIGKILL: it is where the run was" [ "$(json on.json steps accepted)" -ge 20 ]

# a terminal for stderr; the bar is drawn and erased, and is absent with --quiet
if script -qec true /dev/null >/dev/null 2>&1; then
    script -qec "'$BOGIE' run equations:chain --set N=30 --t-end 20" bar.txt >/dev/null
    holds "progress bar" grep -q "x real time" bar.txt
    holds "progress bar is erased" grep -q "$(printf '\r\033\\[K')equations:chain" bar.txt
    script -qec "'$BOGIE' run equations:chain --set N=30 --t-end 2 --quiet" quiet.txt >/dev/null
    holds "no progress bar with --quiet" sh -c '! grep -q "real time" quiet.txt'
else
    echo "SKIP progress bar: no pseudo-terminals here"
fi

finish
