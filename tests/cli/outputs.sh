#!/bin/sh
# No output replaces an input, or anything that Bogie did not write, by whatever name or link.
. "$(dirname "$0")/cases.sh"

# Inputs of every kind, and files of the user's that merely have the ending of an output.
keep=$scratch/keep
mkdir "$keep" links
cat >"$keep/model.json" <<'END'
{"bodies": {"a": {"mass": 1, "center": [0, 0, 0], "inertia": [1, 1, 1]}},
 "inputs": {"u": {"type": "table", "file": "road.csv"}},
 "joints": {"s": {"type": "prismatic", "bodies": ["ground", "a"], "at": [0, 0, 0], "axis": [1, 0, 0]}},
 "forces": {"k": {"type": "spring-damper", "from": {"body": "ground", "at": [-1, 0, 0]}, "to": {"body": "a", "at": [0, 0, 0]},
  "stiffness": 100, "free_length": 1}},
 "run": {"t_end": 0.1}}
END
printf '0,1\n1,2\n' >"$keep/road.csv"
cat >"$keep/study.json" <<'END'
{"model": "equations:pendulum", "base": {"t_end": 0.1}, "references": {"r": {"file": "reference.csv"}},
 "metrics": [{"key": "e", "error": {"reference": "r"}}]}
END
printf 't,q:x\n0,1\n1,1\n' >"$keep/reference.csv"
cp "$PLUGINS/decay.so" "$keep/plugin.so"
"$BOGIE" run "$keep/model.json" -o "$keep/result.h5" --quiet
printf 'h5 of another program' >"$keep/other.h5"
printf 't,height\n0,1\n' >"$keep/own.csv"
echo '<svg xmlns="http://www.w3.org/2000/svg"/>' >"$keep/own.svg"
echo '<!doctype html><p>my page' >"$keep/own.html"
printf 'glTF\2\0\0\0' >"$keep/own.glb"
printf 'MATLAB 5.0 MAT-file, Platform: GLNXA64' >"$keep/own.mat"
echo 'my notes' >"$keep/notes.txt"
cp -r "$keep" "$scratch/before"

unchanged() {
    diff -r "$scratch/before" "$keep" && [ -z "$(find "$scratch" -name '*.partial')" ] &&
        [ -z "$(find "$keep" -type l)" ]
}

# Where the program was built without the viewer, pages are refused for that reason.
pages=1
"$BOGIE" stability -o probe.html >/dev/null 2>&1 || pages=0
rm -f probe.html

# write OPTION FILE: the command that would write FILE
write() {
    option=$1 file=$2
    case $option in
    run-o) set -- run "$keep/model.json" -o "$file" ;;
    run-summary) set -- run "$keep/model.json" --summary "$file" ;;
    run-checkpoint) set -- run "$keep/plugin.so" --t-end 0.1 --checkpoint "$file" ;;
    realtime-summary) set -- realtime "$keep/model.json" --duration 0.01 --summary "$file" ;;
    study-csv) set -- study "$keep/study.json" --csv "$file" ;;
    study-json) set -- study "$keep/study.json" --json "$file" ;;
    study-html) set -- study "$keep/study.json" --html "$file" ;;
    study-journal) set -- study "$keep/study.json" --journal "$file" ;;
    report-o) set -- report "$keep/result.h5" -o "$file" ;;
    report-gltf) set -- report "$keep/result.h5" --gltf "$file" ;;
    stability-o) set -- stability -o "$file" ;;
    modes-json) set -- modes "$keep/model.json" --json "$file" ;;
    modes-html) set -- modes "$keep/model.json" --html "$file" ;;
    modes-o) set -- modes "$keep/model.json" -o "$file" ;;
    linearise-o) set -- linearise "$keep/model.json" -o "$file" ;;
    rates-o) set -- rates "$keep/model.json" -o "$file" ;;
    design-o) set -- design --order 2 --fast 5 -o "$file" ;;
    check-pattern) set -- check "$keep/model.json" --pattern "$file" ;;
    esac
    "$BOGIE" "$@"
}

# Every output at every file, by the ways to it in turn.
number=0
for option in run-o run-summary run-checkpoint realtime-summary study-csv study-json study-html \
    study-journal report-o report-gltf stability-o modes-json modes-html modes-o linearise-o \
    check-pattern design-o rates-o; do
    [ $pages = 1 ] || case $option in study-html | report-o | modes-html) continue ;; esac
    for path in "$keep"/*; do
        base=$(basename "$path")
        case $option:$base in
        run-o:result.h5 | modes-o:result.h5) continue ;; # its own
        run-o:*.csv | run-o:*.h5 | stability-o:*.svg | modes-o:*.h5 | check-pattern:*.svg | rates-o:*.svg) ;;
        linearise-o:*.csv | linearise-o:*.h5 | linearise-o:*.json | linearise-o:*.mat) ;;
        stability-o:*.html) [ $pages = 1 ] || continue ;;
        run-o:* | stability-o:* | modes-o:* | linearise-o:* | check-pattern:* | rates-o:*)
            continue # refused for their ending already
            ;;
        esac
        number=$((number + 1))
        ln -sf "$path" "links/symbolic-$base"
        ln -f "$path" "links/hard-$base"
        case $((number % 5)) in
        0) way=$path ;;
        1) way=keep/$base ;;
        2) way=./keep/../keep/$base ;;
        3) way=links/symbolic-$base ;;
        4) way=links/hard-$base ;;
        esac
        expect "$option at $way" 2 "$base" -- write "$option" "$way"
        rm -f links/*
    done
done
holds "everything is as it was ($number files)" unchanged

# What Bogie wrote itself is replaced, and an empty file; a link is written through.
for option in run-o run-summary run-checkpoint realtime-summary study-csv study-json study-html \
    report-o report-gltf modes-json modes-html modes-o linearise-o check-pattern stability-o rates-o; do
    [ $pages = 1 ] || case $option in study-html | report-o | modes-html) continue ;; esac
    case $option in
    run-o) ending=csv ;;
    stability-o | check-pattern | rates-o) ending=svg ;;
    modes-o | linearise-o) ending=h5 ;;
    *) ending=out ;;
    esac
    [ $option = stability-o ] && write() { "$BOGIE" stability --integrator euler -o "$2"; }
    mkdir "$option"
    ln -s "$scratch/$option/target.$ending" "$option/link.$ending"
    : >"$option/empty.$ending"
    expect "$option through a link to nothing" 0 -- write "$option" "$option/link.$ending"
    expect "$option over its own" 0 -- write "$option" "$option/target.$ending"
    expect "$option over an empty file" 0 -- write "$option" "$option/empty.$ending"
    holds "$option: the link is still one" [ -L "$option/link.$ending" ]
    holds "$option: its target is there" [ -s "$option/target.$ending" ]
    holds "$option: nothing else" [ "$(ls "$option" | wc -l)" = 3 ]

    # a working file that somebody else made, or that leads elsewhere
    echo precious >"$option/victim"
    echo precious >"$option/new.$ending.partial"
    expect "$option with a foreign working file" 2 "new.$ending.partial" -- write "$option" "$option/new.$ending"
    holds "$option: it is kept" grep -q precious "$option/new.$ending.partial"
    rm "$option/new.$ending.partial"
    for kind in -s ""; do
        # shellcheck disable=SC2086
        ln $kind "$scratch/$option/victim" "$option/new.$ending.partial"
        expect "$option with a linked working file ($kind)" 2 "new.$ending.partial" -- \
            write "$option" "$option/new.$ending"
        holds "$option: what it leads to is kept" [ "$(cat "$option/victim")" = precious ]
        rm "$option/new.$ending.partial"
    done
done

# Devices and pipes take what comes. /dev/stdout itself only as a pipe: a program that is wrong here,
# and run by root, would put a file in its place.
for device in /dev/null /dev/fd/1; do
    expect "rows to $device" 0 -- "$BOGIE" run equations:pendulum --t-end 0.1 -o $device --quiet
    expect "summary to $device" 0 -- "$BOGIE" run equations:pendulum --t-end 0.1 --summary $device --quiet
    expect "table to $device" 0 -- "$BOGIE" study "$keep/study.json" --csv $device --quiet
done
holds "stdout got the table" grep -q '^case,name,status' "$out"
"$BOGIE" run equations:pendulum --t-end 0.1 -o /dev/stdout --quiet | cat >piped.csv
holds "a pipe got the rows" grep -q '^t,h,q:' piped.csv
"$BOGIE" study "$keep/study.json" --csv /dev/stdout --quiet | cat >piped.csv
holds "a pipe got the table" grep -q '^case,name,status' piped.csv

# An open descriptor is written where it was opened for that, and not over what is there.
cp "$keep/model.json" open.json
for number in 3 4 5; do
    expect "summary at descriptor $number of a model" 2 "/dev/fd/$number" -- "$BOGIE" run "$keep/model.json" \
        --summary /dev/fd/$number --quiet 3<open.json 4<>open.json 5<&-
    expect "rows at descriptor $number of a model" 2 "/dev/fd/$number" -- "$BOGIE" run "$keep/model.json" \
        -o /dev/fd/$number --quiet 3<open.json 4<>open.json 5<&-
    expect "table at descriptor $number of a model" 2 "/dev/fd/$number" -- "$BOGIE" study "$keep/study.json" \
        --csv /dev/fd/$number --quiet 3<open.json 4<>open.json 5<&-
done
holds "the model is as it was" cmp -s "$keep/model.json" open.json
echo '# my log' >log.txt
expect "summary added to a log" 0 -- "$BOGIE" run equations:pendulum --t-end 0.1 --summary /dev/fd/3 --quiet 3>>log.txt
holds "the log goes on" sh -c "head -1 log.txt | grep -q 'my log' && grep -q '\"steps\"' log.txt"

# One name for two outputs, also one that does not exist yet.
mkdir pair
ln -s "$scratch/pair/both.csv" pair/alias.csv
for other in pair/both.csv ./pair/both.csv "$scratch/pair/both.csv" pair/alias.csv pair/../pair/both.csv; do
    expect "results and summary are both $other" 2 "give two files" -- \
        "$BOGIE" run equations:pendulum -o pair/both.csv --summary "$other"
    expect "table and study are both $other" 2 "give two files" -- \
        "$BOGIE" study "$keep/study.json" --csv pair/both.csv --json "$other"
    [ $pages = 0 ] || expect "modes and their page are both $other" 2 "give two files" -- \
        "$BOGIE" modes "$keep/model.json" --json pair/both.csv --html "$other"
done
holds "nothing was written" [ ! -e pair/both.csv ]

# What cannot be written is refused before anything is.
expect "a mode at a foreign file" 2 other.h5 -- "$BOGIE" modes "$keep/model.json" --json pair/m.json -o "$keep/other.h5"
expect "a mode that is not there" 2 "no mode 99" -- "$BOGIE" modes "$keep/model.json" --json pair/m.json --mode 99 -o pair/m.h5
expect "a mode without a file" 2 "--mode is for" -- "$BOGIE" modes "$keep/model.json" --mode 1
expect "a picture at a foreign file" 2 own.svg -- "$BOGIE" check "$keep/model.json" --pattern "$keep/own.svg"
holds "before anything is said" [ ! -s "$out" ]
expect "a folder that takes no files" 2 "takes no new files" -- "$BOGIE" linearise "$keep/model.json" -o /proc/x.json
holds "no output is left" [ "$(ls pair)" = alias.csv ]
# A page of a mode needs a file on the way, which is nobody else's.
if [ $pages = 1 ]; then
    echo precious >pair/page.html.mode.h5
    mkdir way
    TMPDIR=$scratch/way expect "the page of a mode" 0 -- "$BOGIE" modes "$keep/model.json" --html pair/page.html
    holds "a file of a similar name is kept" grep -q precious pair/page.html.mode.h5
    TMPDIR=$scratch/nowhere expect "no place for the file on the way" 2 TMPDIR -- \
        "$BOGIE" modes "$keep/model.json" --html pair/page.html
    holds "and none is left" [ -z "$(ls way)" ]
fi
# A table that found no place is not lost: its cases stay in the journal.
expect "a study on a full terminal" 2 "No space left" "same command makes the table" -- \
    sh -c "\"$BOGIE\" study \"$keep/study.json\" --journal pair/j >/dev/full"
expect "whose cases are kept" 0 -- "$BOGIE" study "$keep/study.json" --journal pair/j
holds "and not run again" grep -q "1 of 1 cases are in the journal" "$err"

# Two runs with one checkpoint: the second is refused, the first goes on and can be resumed.
mkdir shared
"$BOGIE" run equations:pendulum --t-end 1e7 --checkpoint shared/c --checkpoint-steps 500 --quiet >/dev/null 2>&1 &
first=$!
for _ in $(seq 100); do
    [ -s shared/c ] && break
    sleep 0.1
done
ln -s c shared/link
for name in shared/c ./shared/c shared/link; do
    expect "the same checkpoint ($name)" 2 "$name" "another run" -- \
        "$BOGIE" run equations:pendulum --t-end 1 --checkpoint $name --quiet
done
holds "the first run goes on" kill -0 $first
kill -TERM $first
wait $first
holds "it stopped as it should" [ $? = 130 ]
expect "and is resumed with its own checkpoint" 1 "limit" -- sh -c "\"\$BOGIE\" run equations:pendulum \
    --t-end 1e7 --resume shared/c --checkpoint shared/c --max-steps 100 --quiet"
holds "no working file is left" [ ! -e shared/c.partial ]

# The same with results.
for ending in h5 csv; do
    "$BOGIE" run equations:pendulum --t-end 1e7 -o shared/r.$ending --output-interval 1 --quiet >/dev/null 2>shared.err &
    first=$!
    for _ in $(seq 100); do
        [ -s shared/r.$ending ] && break
        sleep 0.1
    done
    expect "the same results ($ending)" 2 "another run" -- "$BOGIE" run equations:pendulum --t-end 1 -o shared/r.$ending --quiet
    # rows go to the end of what is there: where that is another file now, it is left alone
    if [ $ending = csv ]; then
        "$BOGIE" run equations:pendulum --t-end 1 -o shared/other.csv --quiet
        cp shared/other.csv kept.csv
        mv shared/other.csv shared/r.csv
    fi
    kill -TERM $first
    wait $first
done
holds "results that were replaced are not said to be there" sh -c '! grep -q "so far are in\|are safe" shared.err'
holds "what has replaced them stays" cmp -s kept.csv shared/r.csv

# A folder that is gone, a disk that is full: what is said at the end is true.
mkdir gone
"$BOGIE" run equations:pendulum --t-end 1e7 -o gone/r.csv --checkpoint gone/c --quiet >/dev/null 2>gone.err &
first=$!
for _ in $(seq 100); do
    [ -s gone/r.csv ] && break
    sleep 0.1
done
rm -rf gone
for _ in $(seq 150); do
    kill -TERM $first 2>/dev/null || break
    sleep 0.1
done
wait $first
holds "a folder that is gone: an error" [ $? = 2 ]
holds "the results are not said to be safe" sh -c '! grep -q "so far are in\|are safe\|go on with" gone.err'
holds "it is said that nothing is left" grep -q "none of its results are saved; there is no checkpoint" gone.err
expect "full from the start" 2 "No space left" "none of its results are saved" -- \
    "$BOGIE" run equations:pendulum --t-end 5 -o /dev/full --quiet

# Control characters never reach a terminal.
escape=$(printf '\033[2J')
for command in "run $escape.json" "modes $escape.json" "run equations:pendulum -o $escape.csv" "$escape" "report $escape.h5 -o p.html"; do
    # shellcheck disable=SC2086
    expect "control characters in an argument" 2 'x1b[2J' -- "$BOGIE" $command
    holds "they are escaped" sh -c "! grep -qF '$escape' '$err'"
done
expect "a name that runs backwards" 2 'u202e' -- "$BOGIE" run "$(printf 'a\342\200\256nosj.json')"
printf '{"model": "equations:pendulum", "title": "\\u001b[2J", "metrics": ["steps.accepted"]}' >title.json
expect "control characters in a study" 2 title "control character" -- "$BOGIE" study title.json

finish
