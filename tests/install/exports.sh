#!/bin/sh
# The shared library shows what the public headers declare, and nothing else.
# Usage: exports.sh LIBRARY HEADERS
set -eu
shown=$(nm -D --defined-only "$1" | awk '$2 != "A" {print $3}' | sort -u)
# a declaration begins in the first column and has a parenthesis behind its name
declared=$(sed -e 's|/\*.*\*/||' "$2"/*.h "$2"/*.h.in | grep -v '^typedef' |
    sed -nE 's/^[a-z].*[ *](bg_[a-z0-9_]+)\(.*/\1/p' | sort -u)
[ "$(echo "$declared" | wc -l)" -gt 60 ] || { echo "FAIL the headers were not understood"; exit 1; }
if [ "$shown" != "$declared" ]; then
    echo "FAIL shown and declared differ:"
    echo "$shown" >shown.txt
    echo "$declared" | diff shown.txt - || true
    exit 1
fi
echo "PASS $(echo "$shown" | wc -l) functions are shown, all of them declared"
