# Runs a fuzzer: PROGRAM SOURCES FOLDER, where FOLDER takes the corpus and what is found. The seed is
# fixed, so that two runs try the same; look further, and go on from what was tried already, with
#   FUZZ_SECONDS=3600 FUZZ_SEED=7 sh tests/fuzz/fuzz.sh build/fuzz_model . build/fuzz/model
set -eu
mkdir -p "$3"
program=$(realpath "$1") sources=$(realpath "$2") folder=$(realpath "$3")
name=$(basename "$program") length=8192 growth=100
name=${name#fuzz_}

rm -rf "$folder/seeds" "$folder/studies" "$folder/models"
[ -n "${FUZZ_SECONDS:-}" ] || rm -rf "$folder/corpus" "$folder/found" # the same start each time
mkdir -p "$folder/seeds" "$folder/corpus" "$folder/found"
cd "$folder"

# Every key and word of a schema, and what JSON is made of.
collect_words() {
    grep -o '"[A-Za-z_-]*"' "$1" | sort -u
    for word in 1e308 1e-308 1e9 -1 0 true false null '{}' '[]' '\"\"' '\":' '\",'; do
        echo "\"$word\""
    done
}

echo '"0"' > words
case $name in
model)
    cp "$sources"/models/*.json "$sources"/tests/broken-models/*.json \
        "$sources"/tests/fuzz/seeds/*.json seeds
    rm seeds/repeat-values.json # twenty million values: seconds for every one like it
    collect_words "$sources/docs/model.schema.json" > words
    for word in sin cos tan asin acos atan atan2 exp log sqrt abs min max step smooth pi mm deg \
        kN rad t ground '[0,0,0]' '[1,0,0]' '[0,0,1]' '^' '*' '/' '('; do
        echo "\"$word\""
    done >> words
    ;;
study)
    mkdir studies models
    cp "$sources"/models/*.json models
    cp "$sources"/studies/*.json seeds
    cp "$sources"/tests/fuzz/seeds/studies/* seeds
    cp "$sources"/tests/fuzz/seeds/tables/reference.csv studies
    collect_words "$sources/docs/study.schema.json" > words
    ;;
tableaus)
    cp "$sources"/tests/fuzz/seeds/tableaus/* seeds
    grep -oh '"[A-Za-z_]*"' seeds/* | sort -u > words
    length=2048
    ;;
table)
    cp "$sources"/tests/fuzz/seeds/tables/* seeds
    length=2048
    ;;
*)
    length=512 growth=0 # a list of changes
    [ ! -d "$sources/tests/fuzz/seeds/$name" ] || cp "$sources/tests/fuzz/seeds/$name"/* seeds
    ;;
esac

# The timeout counts wall time: generous, so that a busy machine is no finding.
exec "$program" -seed="${FUZZ_SEED:-1}" -max_total_time="${FUZZ_SECONDS:-${FUZZ_SHARE:-60}}" \
    -timeout=240 -rss_limit_mb=2048 -max_len=$length -len_control=$growth -dict=words -print_final_stats=1 -verbosity=1 \
    -artifact_prefix=found/ corpus seeds
