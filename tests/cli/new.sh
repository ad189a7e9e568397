#!/bin/sh
# `bogie new`: every template runs, in both forms to the same end, without a doubt or a redundant constraint, and is
# one that an editor would accept.
. "$(dirname "$0")/cases.sh"

expect "unknown template" 2 "'car'" suspension -- "$BOGIE" new car -o car.json
echo mine >mine.json
expect "a file that is there" 2 mine.json "another name" -- "$BOGIE" new pendulum -o mine.json
holds "it is kept" test "$(cat mine.json)" = mine
expect "no folder" 2 nowhere/x.json "No such file" -- "$BOGIE" new -o nowhere/x.json
expect "what comes next" 0 "bogie run x.json --html x.html" -- "$BOGIE" new -o x.json
"$BOGIE" new >list.txt
holds "completion knows all of them" grep -q "operands='$(sed 's/ .*//' list.txt | paste -s -d ' ')'" <<END
$("$BOGIE" help --completion bash)
END

# The last row of the outputs: "NAME VALUE" a line, in the file's order.
end_of() {
    awk -F, 'NR == 1 { split($0, title) } { split($0, last) } END { for (i in title) if (title[i] ~ /^"?y:/) print title[i] "\t" last[i] }' "$1" | sort
}

for template in $(sed 's/ .*//' list.txt); do
    "$BOGIE" new "$template" -o "$template.json" >"$out" 2>"$err" || fail "bogie new $template"
    holds "$template is what models/templates has" cmp -s "$template.json" "$SOURCE/models/templates/$template.json"
    "$BOGIE" check "$template.json" >"$out" 2>"$err" || fail "check of $template"
    grep -q 'redundant  *[1-9]' "$out" && fail "$template has redundant constraints"
    for form in joint cartesian; do
        expect "$template, $form" 0 "verdict          good" -- "$BOGIE" run "$template.json" --formulation $form \
            --rtol 1e-9 --atol 1e-9 --strict -o $form.csv
        end_of $form.csv >$form.txt
    done
    holds "$template ends alike in both forms" awk -F '\t' '
        { if (NR == FNR) y[$1] = $2; else { d = $2 - y[$1]; s = $2 < 0 ? -$2 : $2
          if (d > 1e-4 * (1 + s) || -d > 1e-4 * (1 + s)) { print $0, y[$1]; bad = 1 } n++ } } END { exit bad || n < 4 }' joint.txt cartesian.txt
    if "$BOGIE" run "$template.json" --html "$template.html" >"$out" 2>"$err"; then
        holds "the page of $template" grep -q "page             $template.html" "$out"
        holds "nothing is left on the way" test ! -e "$template.h5"
    else
        holds "no page without the viewer" grep -q "without the viewer" "$err"
    fi
done

finish
