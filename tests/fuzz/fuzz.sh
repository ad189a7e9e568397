# Fuzzes the reading and running of model files: PROGRAM SOURCES FOLDER, where FOLDER takes the
# corpus and what is found. The seed is fixed, so that two runs try the same; look further, and go on
# from what was tried already, with
#   FUZZ_SECONDS=3600 FUZZ_SEED=7 sh tests/fuzz/fuzz.sh build/fuzz_model . build/fuzz
set -eu
program=$(realpath "$1") sources=$(realpath "$2") folder=$(realpath "$3")

rm -rf "$folder/seeds"
[ -n "${FUZZ_SECONDS:-}" ] || rm -rf "$folder/corpus" "$folder/found" # the same start each time
mkdir -p "$folder/seeds" "$folder/corpus" "$folder/found"
cp "$sources"/models/*.json "$sources"/tests/broken-models/*.json "$sources"/tests/fuzz/seeds/*.json \
    "$folder/seeds"
rm "$folder/seeds/repeat-values.json" # twenty million values: seconds for every one like it

# Every key and word of the schema, and what expressions and JSON are made of.
{
    grep -o '"[A-Za-z_-]*"' "$sources/docs/model.schema.json" | sort -u
    for word in sin cos tan asin acos atan atan2 exp log sqrt abs min max step smooth pi mm deg \
        kN rad t ground 1e308 1e-308 1e9 -1 0 true false null; do
        echo "\"$word\""
    done
    for word in '{}' '[]' '\"\"' '[0,0,0]' '[1,0,0]' '[0,0,1]' '\":' '\",' '^' '*' '/' '('; do
        echo "\"$word\""
    done
} > "$folder/words"

# The timeout counts wall time: generous, so that a busy machine is no finding.
cd "$folder"
exec "$program" -seed="${FUZZ_SEED:-1}" -max_total_time="${FUZZ_SECONDS:-60}" -timeout=30 \
    -rss_limit_mb=2048 -max_len=8192 -dict=words -print_final_stats=1 -verbosity=1 \
    -artifact_prefix=found/ corpus seeds
