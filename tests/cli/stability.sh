#!/bin/sh
# Limits and regions of stability from outside: what is printed, pictures of both kinds, refusals.
. "$(dirname "$0")/cases.sh"

says() { grep -qF -e "$1" "$out"; }
starts_with() { [ "$(head -c "$2" "$1" | tail -c "$3")" = "$4" ]; }

expect "all methods" 0 "closed form" "J1: h^2 a <= 2 h b + 4" "J3: h b <= 2" "semi: always" \
    "largest difference at 25 pairs" -- "$BOGIE" stability -o all.svg
holds "six methods in the picture" [ "$(grep -c '>h Re<' all.svg)" = 6 ]
holds "a picture" starts_with all.svg 4 4 "<svg"
expect "one method" 0 "linear-euler J1" -- \
    "$BOGIE" stability --set integrator.jacobian=J1 -o one.svg
holds "one method in the picture" [ "$(grep -c '>h Re<' one.svg)" = 1 ]
# (b + sqrt(b^2 + 4 a))/a with a = 10 and b = 13.32
expect "limit of J1" 0 "100" -- "$BOGIE" stability --integrator linear-euler --set integrator.jacobian=J1
holds "the number" says "2.80653"
expect "both tableaus of a pair" 0 "2 of 5 stages are slow" "4.0000" "2.5912" -- \
    "$BOGIE" stability --integrator prk25 -o pair.svg
holds "two regions" [ "$(grep -c '>h Re<' pair.svg)" = 2 ]
expect "a pair by option" 0 "prk38, order 3" "6.9282" -- "$BOGIE" stability --integrator prk
expect "a pair that is not there" 2 "pair" -- "$BOGIE" stability --integrator prk --set integrator.pair=x
expect "a page of a pair" 2 "svg" -- "$BOGIE" stability --integrator prk -o pair.html
expect "a method without closed form" 0 "no closed form" -- "$BOGIE" stability --integrator mdop5
if "$BOGIE" report --help | grep -q html && "$BOGIE" stability -o page.html >/dev/null 2>page.err; then
    holds "page" grep -q '"kind":"stability"' page.html
else
    holds "page refused without the viewer" grep -q viewer page.err
fi

expect "unknown integrator" 2 "there is no integrator 'eulr'" "euler" -- "$BOGIE" stability --integrator eulr
expect "unknown Jacobian" 2 "jacobian" -- "$BOGIE" stability --set integrator.jacobian=J4
expect "a parameter" 2 "no model" -- "$BOGIE" stability --set mass=3
expect "an operand" 2 -- "$BOGIE" stability models/x.json
for kind in pdf png; do
    expect "unknown kind of file, $kind" 2 "FILE.svg or FILE.html" -- "$BOGIE" stability -o picture.$kind
done
expect "no folder" 2 "'none' does not exist" -- "$BOGIE" stability -o none/picture.svg
holds "no half of a file is left" [ -z "$(ls ./*.partial 2>/dev/null)" ]

finish
