#!/bin/sh
# Design of pairs from outside: what is printed, a tableau file that runs, refusals.
. "$(dirname "$0")/cases.sh"

expect "a pair" 0 "along the imaginary axis up to 4;" "prk25, order 2" "equal: momentum is kept" \
    "imaginary 4.0000" -- "$BOGIE" design --order 2 --fast 5
expect "six stages" 0 "imaginary 4.8990" -- "$BOGIE" design --order 2 --fast 6
expect "the default" 0 "slow stages 1 5 8 of 8" "imaginary 6.9282" -- "$BOGIE" design -o pair.json
expect "it runs" 0 "prk38, order 3" "good" -- "$BOGIE" run equations:fast-pendulum --integrator prk \
    --set integrator.pair=pair.json --step 1e-3
holds "slow and fast evaluations apart" grep -q "6000 of the slow part, 16000 of the fast part" "$out"
expect "a file that is ours is replaced" 0 -- "$BOGIE" design --fast 6 --order 2 -o pair.json
expect "verified" 0 "order 2" "met to" -- "$BOGIE" design --pair pair.json
expect "the pair of 004" 0 "different: momentum is lost" -- "$BOGIE" design --pair prk25-paper
expect "the real axis" 0 "negative real axis down to -12.04" "prk24-designed" -- \
    "$BOGIE" design --target real --order 2 --fast 4
expect "another pair than prk36 has a name of its own" 0 "prk36-designed, order 3" -- \
    "$BOGIE" design --fast 6
expect "eigenvalues of a system" 0 "1 eigenvalues of the fast part up to 141.4" "for steps up to" -- \
    "$BOGIE" design --eigenvalues equations:two-masses --set d=50 --order 2 --fast 5
expect "different abscissae and weights" 0 "different: momentum is lost" -- \
    "$BOGIE" design --order 2 --fast 5 --free-abscissae --free-weights

expect "an order above the slow stages" 2 "order s at most" -- "$BOGIE" design --order 3 --slow 2
expect "fewer fast stages than slow ones" 2 "fewer than" -- "$BOGIE" design --slow 4 --fast 3 --order 2
expect "an order that is not designed" 2 "give 2, 3 or 4" -- "$BOGIE" design --order 5
expect "another kind of file" 2 "FILE.json" -- "$BOGIE" design -o pair.txt
expect "an unknown pair" 2 "did you mean 'prk38'" -- "$BOGIE" design --pair prk338
echo '{"order": 2, "b_slow": [1], "b_fast": [1], "A_slow": [[0]], "A_fast": [[0]]}' >wrong.json
expect "a file that is wrong" 2 "order s at most" -- "$BOGIE" design --pair wrong.json
expect "a file that Bogie did not write" 2 "wrong.json" -- "$BOGIE" design -o wrong.json
expect "a pair for a run" 2 "wrong.json" -- "$BOGIE" run equations:two-masses --integrator prk \
    --set integrator.pair=wrong.json --step 1e-3
expect "nothing that limits a step" 2 "no eigenvalue" -- \
    "$BOGIE" design --eigenvalues equations:two-masses --set k=0

finish
