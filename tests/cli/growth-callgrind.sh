#!/bin/sh
# How work grows with the size of a mechanism, in instructions, which are the same whatever else the
# machine does: exponents of the number of links between two sizes.
models=$(cd "$(dirname "$0")/../../models" && pwd)
. "$(dirname "$0")/cases.sh"

OPENBLAS_CORETYPE=Haswell # kernels that valgrind can follow
OPENBLAS_NUM_THREADS=1
export OPENBLAS_CORETYPE OPENBLAS_NUM_THREADS

# $1 what is counted in (all: everything), the rest: a command
count() {
    only=
    [ "$1" = all ] || only=--toggle-collect=$1
    shift
    rm -f counts
    # shellcheck disable=SC2086
    valgrind -q --tool=callgrind --callgrind-out-file=counts --dump-line=no $only "$@" >/dev/null 2>log || cat log >&2
    sed -n 's/^\(summary\|totals\): //p' counts | head -1
}

# $1 name, $2 largest exponent, $3 $4 sizes, $5 what is counted in, the rest: a command with @ for N
grows() {
    name=$1 most=$2 small=$3 large=$4 inside=$5
    shift 5
    first=$(count "$inside" $(echo "$@" | sed "s/@/$small/g"))
    second=$(count "$inside" $(echo "$@" | sed "s/@/$large/g"))
    echo "$name: $first instructions with $small, $second with $large"
    holds "$name grows with an exponent of at most $most" awk "BEGIN {
        exit !($first > 100000 && log($second / $first) <= $most * log($large / $small)) }"
}

# rods between two supports, along half a circle: one loop
cat >arch.json <<'JSON'
{
    "name": "arch",
    "parameters": {"N": 4, "turn": "180*deg/parameters.N", "rod": "2*sin(turn/2)", "across": "rod^2/12"},
    "gravity": 9.81,
    "bodies": {
        "rod[i=1..N]": {"mass": 1, "center": ["-cos(({i} - 0.5)*turn)*cos(turn/2)", 0, "sin(({i} - 0.5)*turn)*cos(turn/2)"],
            "inertia": ["across", "across", "across"], "points": {"end": ["-cos({i}*turn)", 0, "sin({i}*turn)"]}}
    },
    "joints": {
        "hinge1": {"type": "revolute", "bodies": ["ground", "rod1"], "at": [-1, 0, 0], "axis": [0, 1, 0]},
        "hinge[i=2..N]": {"type": "revolute", "bodies": ["rod{i-1}", "rod{i}"], "at": "rod{i-1}.end", "axis": [0, 1, 0]},
        "last": {"type": "point-on-line", "bodies": ["rod{parameters.N}", "ground"], "at": [1, 0, 0], "axis": [0, 1, 0], "cut": true}
    },
    "run": {"t_end": 1e-3, "step": 1e-4, "integrator": "rk4"}
}
JSON

grows "check of a chain" 1.15 500 2000 all "$BOGIE" check "$models/n-pendulum.json" --set parameters.N=@
grows "steps of a chain" 1.1 100 400 bg_integrator_step "$BOGIE" run "$models/n-pendulum.json" --set parameters.N=@ \
    --t-end 1e-3 --integrator rk4 --step 1e-4
grows "steps of a chain with one loop" 1.1 100 400 bg_integrator_step "$BOGIE" run arch.json --set parameters.N=@
grows "factorisations of a chain with one loop" 1.1 100 400 bg_dynamics_factor "$BOGIE" run arch.json --set parameters.N=@
# a start that asks for more than the loop allows
for given in position velocity; do
    sed "s/\"axis\": \[0, 1, 0\]}/\"axis\": [0, 1, 0], \"initial\": {\"$given\": 0.001}}/" arch.json >"$given.json"
    grows "check of a chain with one loop, every $given given" 1.15 100 400 all "$BOGIE" check "$given.json" --set parameters.N=@
done
for form in joint cartesian; do
    grows "check of four-bars, $form" 1.2 40 160 all "$BOGIE" check "$models/iftomm-a02-four-bars.json" \
        --set parameters.N=@ --formulation $form
done
# of hinges, three rows of each redundant
cat >redundant.json <<'JSON'
{
    "name": "four-bars side by side",
    "parameters": {"N": 2},
    "gravity": 9.81,
    "bodies": {
        "crank[i=1..N]": {"mass": 1, "center": ["2*{i}", 0, 0.5], "inertia": [0.1, 0.1, 0.1]},
        "coupler[i=1..N]": {"mass": 1, "center": ["2*{i} + 0.5", 0, 1], "inertia": [0.1, 0.1, 0.1]},
        "rocker[i=1..N]": {"mass": 1, "center": ["2*{i} + 1.2", 0, 0.5], "inertia": [0.1, 0.1, 0.1]}
    },
    "joints": {
        "a[i=1..N]": {"type": "revolute", "bodies": ["ground", "crank{i}"], "at": ["2*{i}", 0, 0], "axis": [0, 1, 0]},
        "b[i=1..N]": {"type": "revolute", "bodies": ["crank{i}", "coupler{i}"], "at": ["2*{i}", 0, 1], "axis": [0, 1, 0]},
        "c[i=1..N]": {"type": "revolute", "bodies": ["coupler{i}", "rocker{i}"], "at": ["2*{i} + 1", 0, 1], "axis": [0, 1, 0]},
        "d[i=1..N]": {"type": "revolute", "bodies": ["rocker{i}", "ground"], "at": ["2*{i} + 1.4", 0, 0], "axis": [0, 1, 0]}
    }
}
JSON
grows "assembly of redundant four-bars" 1.15 160 640 bg_state_assemble_with "$BOGIE" check redundant.json --set parameters.N=@
# with what auto may go over to, whose matrix through unknowns of the links would fill up
grows "the first step of four-bars" 1.6 40 160 all "$BOGIE" run "$models/iftomm-a02-four-bars.json" --set parameters.N=@ --t-end 1e-3

finish
