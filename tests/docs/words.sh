#!/bin/sh
# The words of docs/notation.md are in the files that the glossary names for them, and no two structs,
# unions, enums or classes bear one name, in whichever files they are.
# Usage: words.sh SOURCE
set -eu
cd "$1"
rows=$(sed -n '/^## Words/,$p' docs/notation.md | grep '^| ' | grep -v '^| word')
[ "$(echo "$rows" | wc -l)" -ge 20 ] || { echo "FAIL the glossary was not found"; exit 1; }
missing=$(echo "$rows" | while IFS='|' read -r _ words meaning _; do
    either=$(echo "$words" | sed 's/^ *//; s/ *$//; s/, */|/g')
    for file in $(echo "$meaning" | grep -o '`[a-z_]*/[a-z_]*\.[ch]`' | tr -d '`'); do
        grep -qisE "$either" "src/$file" "include/$file" || echo "$either: $file"
    done
done)
if [ -n "$missing" ]; then
    echo "FAIL words that are not in their files:"
    echo "$missing"
    exit 1
fi
names=$(find bench equations examples include src tests -name '*.[ch]' -o -name '*.cpp' | xargs cat |
    tr '\n' ' ' | grep -oE '\b(struct|union|enum|class) +\w+ +(final +)?(: [^;{}()]*)?\{' | awk '{ print $2 }')
same=$(echo "$names" | sort | uniq -d)
[ "$(echo "$names" | wc -l)" -ge 800 ] || { echo "FAIL the structs were not found"; exit 1; }
if [ -n "$same" ]; then
    echo "FAIL names of two structs:"
    echo "$same"
    exit 1
fi
echo "PASS $(echo "$rows" | wc -l) words"
