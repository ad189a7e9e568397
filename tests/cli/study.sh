#!/bin/sh
# Studies from outside: a killed study goes on where it was, crashes are rows, and what is wrong with a
# study is said in one sentence. Those that are shipped: studies.sh.
models=$(cd "$(dirname "$0")/../../models" && pwd)
. "$(dirname "$0")/cases.sh"

same() { cmp -s "$1" "$2" && [ -s "$1" ]; }
# A word stands, or does not stand, in the last output.
says() { grep -qF -e "$1" "$out" "$err"; }
lacks() { ! says "$1"; }

mpi=$(find_mpi)

# timing: a column of its own, alone on the machine
cat >timing.json <<'END'
{"model": "equations:pendulum", "base": {"t_end": 1}, "repetitions": 2,
 "variants": {"grid": {"tol": [1e-4, 1e-6]}},
 "metrics": ["steps.accepted", {"key": "cpu", "summary": "cpu_seconds", "unit": "s"}]}
END
expect "timing" 0 "cpu [s]" "tol=1e-06" "2 cases, 0 failed" -- "$BOGIE" study timing.json -j 2
expect "CSV on stdout" 0 "case,name,status,reason,tol,steps.accepted,cpu" -- "$BOGIE" study timing.json --csv -
expect "JSON on stdout" 0 '"timing":true' -- "$BOGIE" study timing.json --json -
expect "without timing" 0 "case,name,status,reason,tol,steps.accepted" -- "$BOGIE" study timing.json --no-timing --csv -
holds "no time in it" lacks cpu

# killed in the middle and repeated: finished cases are not run again
many=600 more=601
[ -z "${ASAN_OPTIONS:-}" ] || many=150 more=151 # each takes longer
cat >long.json <<END
{"model": "equations:andrews", "base": {"tol": 1e-6},
 "variants": {"random": {"count": $many, "seed": 5, "draws": {
     "set.torque": {"uniform": [0.02, 0.05]}, "set.c0": {"lognormal": [4530, 0.1]}}}},
 "metrics": ["steps.accepted", "final.q[0]", "certificate.energy_error"]}
END
expect "not killed" 0 -- "$BOGIE" study long.json --quiet --csv whole.csv
"$BOGIE" study long.json -j 2 --quiet --csv killed.csv &
process=$!
wait_for_file long.journal
tries=0
while [ "$(wc -l <long.journal)" -lt 40 ] && [ $tries -lt 1000 ]; do
    sleep 0.01
    tries=$((tries + 1))
done
kill -KILL $process
wait $process 2>/dev/null
cases=$(($(wc -l <long.journal) - 1))
holds "killed in the middle" [ "$cases" -ge 30 ]
holds "with work left" [ "$cases" -lt $many ]
holds "nothing written" [ ! -e killed.csv ]
cp long.journal kept.journal
expect "repeated" 0 "of $many cases are in the journal 'long.journal' already" -- \
    "$BOGIE" study long.json --csv killed.csv --json killed.json
holds "same table" same whole.csv killed.csv
cp kept.journal long.journal
printf '0badc0de {"case":1,' >>long.journal
expect "half a line at the end" 0 "cases are in the journal" -- "$BOGIE" study long.json --csv killed.csv
holds "same table again" same whole.csv killed.csv
cp kept.journal long.journal
sed "s/\"count\": $many/\"count\": $more/" long.json >changed && mv changed long.json
expect "a journal of another version" 0 "all cases run again" "long.journal.old" -- "$BOGIE" study long.json --csv x.csv
holds "it is kept" cmp -s kept.journal long.journal.old
rm -f ./*.journal ./*.old

# a signal stops it; the same command goes on
"$BOGIE" study long.json -j 1 --quiet --csv stopped.csv 2>"$err" &
process=$!
wait_for_file long.journal
kill -TERM $process
wait $process
holds "exit code of a stopped study" [ $? -eq 130 ]
holds "and what to do" says "the same command goes on"
expect "goes on" 0 -- "$BOGIE" study long.json --quiet --csv stopped.csv

# a journal in use
"$BOGIE" study long.json -j 1 --quiet --csv first.csv &
process=$!
wait_for_file long.journal
expect "twice at once" 2 "is in use" "--journal" -- "$BOGIE" study long.json --quiet
wait $process

# crashes are rows
cat >crash.json <<END
{"model": "$PLUGINS/fate.so", "variants": [{"name": "fine"}, {"name": "crash", "set.fate": 1},
  {"name": "exit", "set.fate": 2}, {"name": "endless", "set.fate": 3}, {"name": "last"}],
 "metrics": ["steps.accepted"]}
END
for jobs in 1 2; do
    expect "crashes with $jobs" 0 "case crashed" "exit code" "time limit of 0.5 s" "5 cases, 3 failed" -- \
        "$BOGIE" study crash.json --time-limit 0.5 -j $jobs
done
if [ -n "$mpi" ]; then
    expect "crashes of ranks' workers" 0 "case crashed" "5 cases, 3 failed" -- \
        $mpi "$BOGIE" study crash.json --time-limit 0.5
fi
cat >hopeless.json <<END
{"model": "$PLUGINS/fate.so", "base": {"set.fate": 1}, "metrics": ["steps.accepted"]}
END
expect "every case failed" 1 "every case failed" "crashed" -- "$BOGIE" study hopeless.json --quiet

# shards that are not complete
expect "no shards" 2 "run the shards first" -- "$BOGIE" study timing.json --merge
expect "one of two" 0 -- "$BOGIE" study timing.json --shard 1/2
expect "the other is missing" 2 "1 of 2 cases" "--shard 2/2" -- "$BOGIE" study timing.json --merge
expect "a stale shard" 2 "belongs to another version" -- "$BOGIE" study timing.json --merge --no-timing
expect "shard 0" 2 "I/N" -- "$BOGIE" study timing.json --shard 0/2
expect "shard 3/2" 2 "I/N" -- "$BOGIE" study timing.json --shard 3/2
expect "shard with a table" 2 "--merge" -- "$BOGIE" study timing.json --shard 1/2 --csv x.csv
expect "merge and shard" 2 "leave out --shard" -- "$BOGIE" study timing.json --merge --shard 1/2

# broken files and usage
expect "no study" 2 "needs a STUDY" -- "$BOGIE" study
expect "no such file" 2 "none.json" "No such file" -- "$BOGIE" study none.json
expect "not a study" 2 "parameters" "not a known key" -- "$BOGIE" study "$models/n-pendulum.json"
echo '{"model": "equations:pendulum", "metrics": ["cpu_second"]}' >broken.json
expect "unknown metric" 2 "broken.json: metrics[0]" "did you mean 'cpu_seconds'" -- "$BOGIE" study broken.json
expect "a page" 0 -- "$BOGIE" study timing.json --quiet --html timing.html
holds "the page holds the study" grep -q '"kind":"study"' timing.html
expect "one file for two" 2 "two files" -- "$BOGIE" study timing.json --csv x --json x
expect "a page and a table in one file" 2 "--csv and --html" "two files" -- \
    "$BOGIE" study timing.json --csv both.html --html both.html
holds "neither is written" [ ! -e both.html ]
expect "a page on stdout" 2 "--html needs the name of a file" -- "$BOGIE" study timing.json --html -
expect "no folder" 2 "'none' does not exist" -- "$BOGIE" study timing.json --csv none/x.csv
expect "unknown option" 2 "did you mean '--merge'" -- "$BOGIE" study timing.json --marge

said=$( (ulimit -f 0 && "$BOGIE" study timing.json --quiet --journal full.journal) 2>&1)
code=$?
holds "a journal that cannot be begun: code 2" [ $code = 2 ]
holds "a journal that cannot be begun is named" [ "${said#*full.journal}" != "$said" ]
holds "it leaves nothing behind" [ ! -e full.journal ]

finish
