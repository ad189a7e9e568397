#!/bin/sh
# Verbs, options and what they print when nothing is wrong, and when the command line is.
. "$(dirname "$0")/cases.sh"

expect "version" 0 "bogie 0." "commit " "HDF5 1." "OpenBLAS 0." "jansson 2." -- "$BOGIE" --version
expect "help" 0 run check realtime list "Exit codes" -- "$BOGIE" --help
expect "help of run" 0 --integrator --t-end --checkpoint-steps "NAME=VALUE" -- "$BOGIE" run --help
expect "help of check" 0 --derivatives -- "$BOGIE" check --help
expect "list" 0 mdop5 equations:pendulum equations:car-axle "length=1 m" \
    revolute point-on-plane rack-pinion spring-damper point-follower -- "$BOGIE" list

expect "no verb" 2 verb --help -- "$BOGIE"
expect "unknown verb" 2 "'rnu'" "'run'" -- "$BOGIE" rnu equations:pendulum
expect "unknown option" 2 "'--rtoll'" "'--rtol'" -- "$BOGIE" run equations:pendulum --rtoll 1e-3
expect "option of another verb" 2 "'--derivatives'" -- "$BOGIE" run equations:pendulum --derivatives
expect "missing value" 2 --rtol "R" -- "$BOGIE" run equations:pendulum --rtol
expect "option as value" 2 -o FILE -- "$BOGIE" run equations:pendulum -o --quiet
expect "value for a flag" 2 --quiet yes -- "$BOGIE" run equations:pendulum --quiet=yes
expect "missing model" 2 MODEL "bogie list" -- "$BOGIE" run --rtol 1e-6
expect "two models" 2 equations:pendulum equations:chain -- "$BOGIE" run equations:pendulum equations:chain
expect "operand of list" 2 everything -- "$BOGIE" list everything
expect "setting without a value" 2 NAME=VALUE length -- "$BOGIE" run equations:pendulum --set length
expect "unknown choice" 2 "allow|refuse" maybe -- "$BOGIE" run equations:pendulum --redundant maybe
expect "unknown formulation" 2 "joint|cartesian" polar -- "$BOGIE" check car.json --formulation polar
expect "half a count" 2 --max-steps 1.5 -- "$BOGIE" run equations:pendulum --max-steps 1.5
expect "negative count" 2 --max-steps -3 -- "$BOGIE" run equations:pendulum --max-steps -3
expect "rows without a file" 2 --output-interval -o -- "$BOGIE" run equations:pendulum --output-interval 0.1
expect "checkpoint steps alone" 2 --checkpoint -- "$BOGIE" run equations:pendulum --checkpoint-steps 5

expect "check" 0 "1 degree" gamma rod -- "$BOGIE" check equations:pendulum --derivatives
expect "check draws a pattern" 0 "26 unknowns" "20 columns" -- "$BOGIE" check equations:andrews --pattern pattern.svg
expect "a picture is an SVG file" 2 "pattern.png" "FILE.svg" -- "$BOGIE" check equations:andrews --pattern pattern.png
expect "until without pattern" 2 "--pattern" -- "$BOGIE" check equations:andrews --until 1
expect "check of a parameter" 2 "'lenght'" "'length'" -- "$BOGIE" check equations:pendulum --set lenght=2

finish
