#!/bin/sh
# What Tab offers in bash and in zsh.
. "$(dirname "$0")/cases.sh"

ln -s "$SOURCE/models" "$SOURCE/studies" .
touch 'my results.h5'
"$BOGIE" help --completion bash >bogie.bash
mkdir functions
"$BOGIE" help --completion zsh >functions/_bogie

# The words that bash would offer for a line, as it calls the function.
cat >ask.bash <<'END'
. ./bogie.bash
COMP_WORDBREAKS=$' \t\n"\'><=;|&(:'
COMP_LINE=$1 COMP_POINT=${#1}
_bogie
printf '%s\n' "${COMPREPLY[@]}"
END
offers() {
    bash ask.bash "$1" >"$out" 2>"$err"
    [ ! -s "$err" ] || fail "bash on '$1'"
    if [ "$(sort "$out" | tr '\n' ' ')" = "$2 " ]; then echo "PASS bash: $1"; else fail "bash: $1"; fi
}
offers "bogie st" "stability study"
offers "bogie --v" "--version"
offers "bogie run --form" "--formulation"
offers "bogie run --formulation " "cartesian joint"
offers "bogie run --formulation=c" "cartesian"
offers "bogie run --integrator hem" "hem4 hem5"
offers "bogie run models/four" "models/four-bar.json"
offers "bogie run equations:and" "andrews"
offers "bogie run equ" "equations:andrews equations:bouncing-ball equations:car-axle equations:chain \
equations:circular-track equations:fast-pendulum equations:pendulum equations:planar-vehicle \
equations:slider-crank equations:two-masses equations:wheelset"
offers "bogie run equations:pendulum --set l" "length="
offers "bogie run models/four-bar.json --set integrator.newton" "integrator.newton= integrator.newton_steps="
offers "bogie study studies/ift" "studies/iftomm.json"
offers "bogie design --pair prk2" "prk25 prk25-paper prk26 prk27 prk28"
offers "bogie report my" "my results.h5"
offers 'bogie report my\ re' "my results.h5"
offers "bogie run x.json -o my" "my results.h5"
offers "bogie help rat" "rates"
offers "bogie run --rtol " ""

# zsh in a terminal of its own: what stands on the line, or below it, after Tab.
cat >ask.zsh <<'END'
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1=; fpath=(./functions \$fpath); autoload -Uz compinit; compinit -u -D; bindkey '^I' complete-word; print REA''DY"
zpty -r -m shell seen '*READY*'
zpty -w -n shell "$1"$'\t'
seen=
for i in {1..100}; do
    while zpty -r -t shell part; do seen+=$part; done
    [[ $seen != *$~2* ]] || exit 0
    sleep 0.1
done
print -r -- "${(V)seen}"
exit 1
END
if command -v zsh >/dev/null; then
    holds "zsh: a verb" zsh -f ask.zsh "bogie linea" "linea*rise"
    holds "zsh: an integrator" zsh -f ask.zsh "bogie run --integrator=hem" "hem4*hem5"
    holds "zsh: a model" zsh -f ask.zsh "bogie run models/four" "models/four-bar.json"
    holds "zsh: equations" zsh -f ask.zsh "bogie run equations:and" "equations:andrews"
fi

finish
