#!/bin/sh
# What README and docs print of the program is what it prints; and the check that says so notices what is
# not, and mends it. Usage: docs.sh PROGRAM
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
program=$1
trial=$(mktemp -d)
trap 'rm -rf "$trial"' EXIT
update() { node "$root/scripts/update-docs" --program "$program" "$@"; }

# a page with every kind of mark, wrong everywhere
mkdir "$trial/docs"
for folder in models studies equations examples; do ln -s "$root/$folder" "$trial/$folder"; done
cp "$root/tests/docs/wrong.md" "$trial/docs/page.md"
if update --check --root "$trial" docs/page.md >"$trial/wrong"; then
    echo "FAIL a page of wrong numbers passes"
    exit 1
fi
cat "$trial/wrong"
grep -q 'docs/page.md: 9 marked, 9 wrong' "$trial/wrong" || { echo "FAIL not all of them are seen"; exit 1; }
update --root "$trial" docs/page.md >/dev/null
update --check --root "$trial" docs/page.md || { echo "FAIL it is wrong after an update, too"; exit 1; }
grep -q '= 1 s, done' "$trial/docs/page.md" || { echo "FAIL the block was not brought up to date"; exit 1; }
grep -q '^| `rk4` | 4 | 3 | fixed | classical' "$trial/docs/page.md" || { echo "FAIL a method has no row"; exit 1; }
grep -q '^The table ends here' "$trial/docs/page.md" || { echo "FAIL the table took more than itself"; exit 1; }

update --check
