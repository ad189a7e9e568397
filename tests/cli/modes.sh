#!/bin/sh
# Modes, linearisation and equilibria from outside: tables, files of all kinds, refusals.
. "$(dirname "$0")/cases.sh"

models=$SOURCE/models
says() { grep -qF -e "$1" "$out"; }

expect "modes at rest" 0 "modes in equilibrium" "free  hub.angle: wheel turns about y" \
    "2 eigenvalues are zero" -- "$BOGIE" modes "$models/double-wishbone.json" --equilibrium --json modes.json
holds "the body's mode" says "1.1925"
holds "JSON" grep -q '"kind": "modes"' modes.json
holds "participation" grep -q '"heave.slide": 0.8' modes.json
expect "Cartesian form" 0 "1.1925" -- \
    "$BOGIE" modes "$models/double-wishbone.json" --equilibrium --formulation cartesian
expect "on the way" 0 "modes at t = 0.2 s" "no equilibrium: its eigenvalues are those of the instant" -- "$BOGIE" modes "$models/four-bar.json" --at 0.2
expect "equations" 0 "modes at the start" -- "$BOGIE" modes equations:wheelset
expect "an equilibrium of equations without inputs" 0 "modes in equilibrium" -- "$BOGIE" modes equations:pendulum --equilibrium
expect "a mode as a result" 0 -- "$BOGIE" modes "$models/four-bar.json" --equilibrium -o mode.h5
if "$BOGIE" modes "$models/four-bar.json" --equilibrium --html page.html >/dev/null 2>page.err; then
    holds "page of a mode" grep -q 'Mode 1: 0.6951 Hz' page.html
    expect "report of it" 0 -- "$BOGIE" report mode.h5 -o other.html
else
    holds "page refused without the viewer" grep -q viewer page.err
fi

cat >driven.json <<'END'
{"inputs": {"drive": "2*t"}, "gravity": 9.81,
 "bodies": {"crank": {"mass": 1, "center": [0.2, 0, 0], "inertia": [1, 1, 1]},
            "bob": {"mass": 1, "center": [0.4, 0, -0.5], "inertia": [0.1, 0.1, 0.1]}},
 "joints": {"drive": {"type": "revolute", "bodies": ["ground", "crank"], "at": [0, 0, 0], "axis": [0, 1, 0], "prescribed": "drive"},
            "swing": {"type": "revolute", "bodies": ["crank", "bob"], "at": [0.4, 0, 0], "axis": [0, 1, 0]}}}
END
for kind in json csv mat h5; do
    expect "matrices, $kind" 0 "6 states, 0 inputs, 15 outputs" -- \
        "$BOGIE" linearise "$models/double-wishbone.json" --equilibrium -o matrices.$kind
    holds "file, $kind" test -s matrices.$kind
    expect "again, $kind" 0 -- "$BOGIE" linearise "$models/double-wishbone.json" -o matrices.$kind
done
holds "names in the table" grep -qF '"d/dt heave.slide [m]"' matrices.csv
expect "matrices on stdout" 0 '"kind": "linearised"' '"unit": "rad/s"' -- \
    "$BOGIE" linearise "$models/double-wishbone.json"
expect "units of inputs" 0 '"name": "drive rate"' '"unit": "rad/s²"' -- "$BOGIE" linearise driven.json
expect "inputs" 0 '"name": "steer"' -- "$BOGIE" linearise "$models/vehicle-trailer.json" --equilibrium

expect "a run from the equilibrium" 0 "starts in steady motion" "free, and left where they are" -- \
    "$BOGIE" run "$models/vehicle-trailer.json" --equilibrium --t-end 0.05
cat >falls.json <<'END'
{"bodies": {"stone": {"mass": 1, "center": [0, 0, 1], "inertia": [1, 1, 1]}},
 "joints": {"flight": {"type": "free", "bodies": ["ground", "stone"]}}, "gravity": 9.81,
 "initial": {"equilibrium": true}}
END
expect "what falls has none" 1 "no equilibrium" "flight.z" "falls, slides or rolls away" -- "$BOGIE" run falls.json
expect "modes neither" 1 "no equilibrium" -- "$BOGIE" modes falls.json

expect "both places" 2 "exclude each other" -- "$BOGIE" modes falls.json --equilibrium --at 1
expect "no such mode" 2 "there is no mode 7" -- \
    "$BOGIE" modes "$models/four-bar.json" --equilibrium --mode 7 -o mode.h5
expect "kind of a mode" 2 "FILE.h5" -- "$BOGIE" modes "$models/four-bar.json" -o mode.csv
expect "kind of matrices" 2 "FILE.json, FILE.csv, FILE.mat or FILE.h5" -- \
    "$BOGIE" linearise "$models/four-bar.json" -o matrices.txt
echo mine >mine.json
expect "a file that is not ours" 2 "mine.json" -- "$BOGIE" linearise "$models/four-bar.json" -o mine.json
expect "no folder" 2 "'none' does not exist" -- "$BOGIE" modes "$models/four-bar.json" --json none/x.json
holds "no half of a file is left" [ -z "$(ls ./*.partial 2>/dev/null)" ]

finish
