#!/bin/sh
# Plug-ins that are wrong in one way each: the right exit code and a sentence that names the trouble.
. "$(dirname "$0")/cases.sh"

# try NAME CODE [WORD...]: runs the plug-in of that name over an earlier result file
try() {
    plugin=$1
    code=$2
    shift 2
    echo "t,h,q:earlier" >kept.csv
    expect "$plugin" "$code" "$@" -- "$BOGIE" run "$PLUGINS/$plugin.so" -o kept.csv
    if [ "$code" -eq 2 ]; then
        holds "$plugin: the earlier file is kept" grep -q "t,h,q:earlier" kept.csv
    fi
}

expect "no such file" 2 "nowhere.so" -- "$BOGIE" run nowhere.so
echo "not a shared object" >text.so
expect "not a shared object" 2 "text.so" -- "$BOGIE" run text.so
try no_entry 2 no_entry.so bogie_equations
try wrong_abi 2 wrong_abi.so version
try negative_dimension 2 ng -1
try missing_mass 2 M
try unreachable_start 2 rod_
try contradictory 2 wall_
try nan_late 1 "t = 0.5" "f" "reached t = "
holds "nan_late: results up to there are kept" grep -q '^0\.[34]' kept.csv
try failure_late 1 -7 "reached t = "
try retry_domain 0
expect "retry_domain: the edge is reached" 1 "t = 0.5" -- "$BOGIE" run "$PLUGINS/retry_domain.so" --set k=0
try redundant 0
expect "redundant, refused" 2 rod_again -- "$BOGIE" run "$PLUGINS/redundant.so" --redundant refuse
expect "redundant, allowed and reported" 0 rod_again "not unique" -- \
    "$BOGIE" run "$PLUGINS/redundant.so" --redundant=allow
expect "redundant, checked" 0 rod_again "not unique" "1 degree" -- "$BOGIE" check "$PLUGINS/redundant.so"

# allocations of a step are counted, also those of others (sanitizers have their own malloc)
if [ -z "${ASAN_OPTIONS:-}" ]; then
    expect "allocations of a plug-in" 0 -- "$BOGIE" check "$PLUGINS/allocates.so" --integrator euler
    holds "they are counted" grep -q '^  allocations      [1-9][0-9]* in 200 steps' "$out"
    expect "of one that needs none" 0 "allocations      0 in 200 steps" -- \
        "$BOGIE" check "$PLUGINS/decay.so" --integrator euler --step 1e-4
fi

finish
