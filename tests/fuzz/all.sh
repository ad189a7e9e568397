# Runs every fuzzer of a build in turn, one at a time: BUILD SOURCES SECONDS, the whole time that is
# divided among them. Ends with the first that finds something. An hour:
#   cmake -B build-fuzz -DBOGIE_TESTS=ON -DBOGIE_FUZZ=ON && cmake --build build-fuzz
#   FUZZ_SEED=7 nice sh tests/fuzz/all.sh build-fuzz . 3600
set -eu
count=$(find "$1" -maxdepth 1 -name 'fuzz_*' | wc -l)
for program in "$1"/fuzz_*; do
    name=$(basename "$program")
    FUZZ_SECONDS=$(($3 / count)) sh "$2/tests/fuzz/fuzz.sh" "$program" "$2" "$1/fuzz/${name#fuzz_}" \
        2>"$1/fuzz/$name.log" || { echo "$name: found something, see $1/fuzz/$name.log"; exit 1; }
    echo "$name: nothing in $(($3 / count)) s, $(sed -n 's/stat::number_of_executed_units: *//p' "$1/fuzz/$name.log") inputs"
done
