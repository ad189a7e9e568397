#!/bin/sh
# The first hour of somebody new: build with `make run`, walk the tutorial, write a model of one's own with a limit and
# friction, study two of its parameters, and compare two designs.
#
#   newcomer.sh FOLDER                  with the program that is built (build/bogie, or BOGIE)
#   newcomer.sh --clone FOLDER          clones Bogie into FOLDER first, and builds it there by `make run`
#   newcomer.sh --chroot FOLDER         the same in a clean Debian 12 that debootstrap makes there (as root); MIRROR,
#                                       APT_CONF (a file for /etc/apt/apt.conf.d) as this network wants it
set -eu
source=$(cd "$(dirname "$0")/../.." && pwd)
say() { printf '\n== %s\n' "$*"; }

if [ "$1" = --chroot ]; then
    mkdir -p "$2"
    root=$(cd "$2" && pwd)
    say "a clean Debian 12 in $root"
    [ -e "$root/etc/debian_version" ] ||
        debootstrap --variant=minbase --include=git,ca-certificates bookworm "$root" "${MIRROR:-http://deb.debian.org/debian}" >"$root.log"
    [ -z "${APT_CONF:-}" ] || cp "$APT_CONF" "$root/etc/apt/apt.conf.d/"
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    rm -rf "$root/root/bogie.git" "$root/root/newcomer"
    git clone -q --bare "$source" "$root/root/bogie.git"
    [ -e "$root/proc/self" ] || mount -t proc proc "$root/proc"
    trap 'umount "$root/proc"' EXIT
    chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb sh -euc '
        command -v git make >/dev/null || apt-get -q -y install --no-install-recommends git make ca-certificates
        git clone -q /root/bogie.git /root/bogie-for-tests
        sh /root/bogie-for-tests/tests/tutorial/newcomer.sh --clone /root/newcomer
        rm -rf /root/bogie-for-tests'
    exit
fi

if [ "$1" = --clone ]; then
    mkdir -p "$2"
    say "git clone, make run"
    rm -rf "$2/bogie"
    git clone -q "$source" "$2/bogie"
    source=$2/bogie
    BOGIE=$source/build/bogie
    make -C "$source" run >"$2/make.log" 2>&1 || { tail -30 "$2/make.log"; exit 1; }
    tail -3 "$2/make.log"
    grep -q 'verdict          good' "$2/make.log"
    ! grep -E "^-- .*(not found|NOTFOUND)|^Package |^No package|[Ww]arning:|CMake Warning|Policy CMP|error:|fatal:" "$2/make.log" || { echo "FAIL lines that frighten"; exit 1; }
    shift
fi

bogie=${BOGIE:-$source/build/bogie}
mkdir -p "$1"
cd "$1"
html= # option of run for a page; none where the program was built without
! "$bogie" run equations:pendulum --t-end 0.01 --quiet --html try.html 2>/dev/null || html="--html gate.html"

if command -v node >/dev/null; then
    say "the tutorial"
    node "$source/tests/tutorial/tutorial.js" "$source/docs/tutorial.md" "$bogie" "$PWD/tutorial"
fi

say "a model of one's own: a gate with a limit and friction"
rm -f gate.json
"$bogie" new pendulum -o gate.json
cat >gate.json <<'END'
{
  "parameters": {"push": 40, "grip": 2},
  "bodies": {"gate": {"mass": 30, "center": [0.5, 0, 0.6], "inertia": [3, 5, 3]}},
  "joints": {"hinge": {"type": "revolute", "bodies": ["ground", "gate"], "at": [0, 0, 0.6], "axis": [0, 0, 1], "limits": [0, 90]}},
  "run": {"t_end": 5}
}
END
! "$bogie" check gate.json 2>refusal
cat refusal
grep -q "'limit'.*docs/how-to.md" refusal # says where to look
cat >gate.json <<'END'
{
  "parameters": {"push": 40, "grip": 2},
  "bodies": {"gate": {"mass": 30, "center": [0.5, 0, 0.6], "inertia": [3, 5, 3],
                      "shapes": [{"type": "box", "size": [1, 0.04, 1.2], "at": [0.5, 0, 0.6]}]}},
  "joints": {"hinge": {"type": "revolute", "bodies": ["ground", "gate"], "at": [0, 0, 0.6], "axis": [0, 0, 1]}},
  "forces": {
    "push": {"type": "torsion", "joint": "hinge", "torque": "push*(1 - step(t, 0.4, 0.5))"},
    "stop": {"type": "limit", "joint": "hinge", "lower": 0, "upper": "90*deg", "stiffness": "3*kN", "damping": 60},
    "bearing": {"type": "friction", "joint": "hinge", "coulomb": "grip", "deflection": "0.1*deg"}
  },
  "outputs": {"angle": {"joint": "hinge", "unit": "deg"}, "speed": {"joint": "hinge", "derivative": 1, "unit": "deg/s"}},
  "run": {"t_end": 5, "output_interval": "10*ms"}
}
END
# shellcheck disable=SC2086
"$bogie" run gate.json $html >gate.txt
sed -n '/events/,$p' gate.txt
grep -q 'reaches its upper limit' gate.txt && grep -q 'sticks' gate.txt && grep -q 'verdict  *good' gate.txt
"$bogie" run gate.json --formulation cartesian | grep -q 'verdict  *good'

say "a study of two parameters"
cat >gates.json <<'END'
{
  "title": "How hard a gate is to be pushed",
  "model": "gate.json",
  "variants": {"grid": {"set.parameters.push": [20, 40, 80], "set.parameters.grip": [1, 2, 4]}},
  "metrics": [{"key": "widest", "unit": "deg", "output": {"name": "angle", "take": "max"}},
              {"key": "end", "unit": "deg", "output": {"name": "angle", "take": "end"}}]
}
END
"$bogie" study gates.json --csv gates.csv
[ "$(wc -l <gates.csv)" -eq 10 ]

say "two designs side by side"
"$bogie" run gate.json --quiet -o light.h5
"$bogie" run gate.json --quiet --set parameters.grip=6 -o heavy.h5
if [ -n "$html" ]; then
    "$bogie" report light.h5 heavy.h5 -o gates.html
    [ -s gate.html ] && [ -s gates.html ]
fi
say "PASS the newcomer's path"
