# shellcheck shell=sh
# Shared by the scripts of this folder. Wants BOGIE (the program), PLUGINS (folder of the test
# plug-ins) and SCRATCH (a folder to work in) in the environment.
#
#   expect NAME CODE [WORD...] -- COMMAND...   the command ends with CODE and its stderr, or its stdout
#                                              where stderr is empty, contains every WORD
#   holds NAME COMMAND...                      the command succeeds
#   finish                                     exit code of the script
# Output of the last command is in $out and $err.

set -u
LC_ALL=C
export LC_ALL
scratch=$SCRATCH/$(basename "$0" .sh)
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch" || exit 1
out=$scratch/.stdout
err=$scratch/.stderr
failures=0

fail() {
    failures=$((failures + 1))
    echo "FAIL $*"
    sed 's/^/     stdout: /' "$out" | head -5
    sed 's/^/     stderr: /' "$err" | head -5
}

expect() {
    name=$1
    code=$2
    shift 2
    words=
    while [ "$1" != -- ]; do
        words="$words$1
"
        shift
    done
    shift
    "$@" >"$out" 2>"$err"
    seen=$?
    if [ "$seen" -ne "$code" ]; then
        fail "$name: exit code $seen instead of $code"
        return
    fi
    if [ "$code" -ne 0 ] && ! grep -q '^bogie: ' "$err"; then
        fail "$name: no message"
        return
    fi
    text=$err
    [ -s "$err" ] || text=$out
    missing=$(printf '%s' "$words" | while IFS= read -r word; do
        grep -qF -e "$word" "$text" || echo "'$word' "
    done)
    if [ -n "$missing" ]; then
        fail "$name: the output lacks $missing"
    else
        echo "PASS $name"
    fi
}

holds() {
    name=$1
    shift
    if "$@"; then echo "PASS $name"; else fail "$name"; fi
}

# The text of one member of a JSON file, e.g. json summary.json steps accepted
json() {
    file=$1
    shift
    cat >.json.cmake <<END
file(READ "$file" text)
string(JSON value GET "\${text}" $*)
file(WRITE .json.value "\${value}")
END
    if cmake -P .json.cmake; then cat .json.value; else echo "unreadable: $file"; fi
}

# Waits up to ten seconds for a file that is not empty.
wait_for_file() {
    tries=0
    while [ ! -s "$1" ] && [ $tries -lt 100 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    [ -s "$1" ]
}

# The words before a command that start it under MPI, three times; none where there is no MPI.
find_mpi() {
    if command -v mpirun >/dev/null && [ -e "$(dirname "$BOGIE")/bogie-mpi.so" ]; then
        # leaks inside MPI are not ours
        echo "env ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 mpirun --allow-run-as-root --oversubscribe -n 3"
    fi
}

finish() {
    if [ "$failures" -gt 0 ]; then
        echo "$failures failed"
        exit 1
    fi
    exit 0
}
