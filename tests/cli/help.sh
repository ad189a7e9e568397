#!/bin/sh
# Help, manual pages and completion say what the tables of options say, and examples work.
. "$(dirname "$0")/cases.sh"

verbs=$("$BOGIE" help | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p')
holds "verbs are listed" test "$(echo "$verbs" | wc -l)" -ge 12
expect "help of an unknown verb" 2 "'rnu'" "'run'" -- "$BOGIE" help rnu
expect "help of two verbs" 2 run check -- "$BOGIE" help run check
expect "completion of another shell" 2 "bash|zsh" fish -- "$BOGIE" help --completion fish
expect "the program's manual" 0 "EXIT STATUS" 'bogie\-study' -- "$BOGIE" help --man

# The same text twice, lines of a terminal's width, and every option in help and manual.
for verb in $verbs; do
    "$BOGIE" help "$verb" >help.txt
    "$BOGIE" "$verb" --help | cmp -s - help.txt || fail "help $verb differs from $verb --help"
    # examples are lines to be copied, whatever their length
    sed '1d; /^Examples:/,$d' help.txt | grep -n '.\{82\}' && fail "help of $verb is too wide"
    "$BOGIE" help "$verb" --man >man.txt
    for option in $(sed -n '/^Options:/,/^Examples:/s/^  \(-., \)\{0,1\}\(--[a-z-]*\).*/\2/p' help.txt); do
        grep -qF -e "$(echo "$option" | sed 's/-/\\-/g')" man.txt || fail "the manual of $verb lacks $option"
    done
    if command -v groff >/dev/null; then
        groff -man -Tutf8 -ww man.txt 2>groff.txt >/dev/null
        [ ! -s groff.txt ] || fail "groff on the manual of $verb: $(cat groff.txt)"
    fi
done

# Examples are commands that work beside models/ and studies/; those for a terminal and the longest do not run here.
ln -s "$SOURCE/models" "$SOURCE/studies" .
mkdir bin
ln -s "$BOGIE" bin/bogie
PATH=$PWD/bin:$PATH
for verb in $verbs; do
    bogie help "$verb" | sed -n '/^Examples:/,$s/^  //p' | grep -v 'completion\|man -l\|iftomm.json' >"examples-$verb"
    [ -s "examples-$verb" ] || fail "$verb has no example"
    while IFS= read -r line; do
        sh -c "$line" >"$out" 2>"$err" </dev/null || fail "example: $line"
    done <"examples-$verb"
done
[ "$failures" -gt 0 ] || echo "PASS help, manuals and examples of $(echo "$verbs" | wc -l) verbs"

finish
