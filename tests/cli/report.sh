#!/bin/sh
# `bogie report`: pages of results, and input that cannot be used: code 2, a sentence that names the
# thing, and every earlier file as it was.
. "$(dirname "$0")/cases.sh"

model=$SOURCE/models/five-link-suspension.json
expect "a result" 0 -- "$BOGIE" run "$model" --t-end 0.2 -o good.h5 --quiet
expect "a result of equations" 0 -- "$BOGIE" run equations:pendulum --t-end 1 -o plain.h5 --quiet

if "$BOGIE" report good.h5 -o page.html 2>"$err"; then
    pages=yes
else # built without the viewer: glTF only
    pages=no
    holds "a program without the viewer says so" grep -q "without the viewer" "$err"
fi

page='<!doctype html><script id="bogie-data">' motion='glTF {"generator":"Bogie"}'

# refuse NAME [WORD...] -- ARGUMENT...: `bogie report` where a page and a glTF file exist already
refuse() {
    name=$1
    shift
    echo "$page" >kept.html
    echo "$motion" >kept.glb
    expect "$name" 2 "$@"
    holds "$name: earlier files are kept" kept
}

kept() {
    [ "$(cat kept.html)" = "$page" ] && [ "$(cat kept.glb)" = "$motion" ] &&
        [ -z "$(ls ./*.partial 2>/dev/null)" ]
}

# Where there are no pages, glTF meets the same files.
if [ $pages = yes ]; then target="-o kept.html"; else target="--gltf kept.glb"; fi
head -c 4000 good.h5 >cut.h5
head -c 100000 good.h5 >half.h5
echo "t,h,q" >table.csv
: >empty.h5
echo '{"kind": "study", "format": 99, "columns": [], "rows": []}' >newer.json
echo '{"kind": "study", "format": 1, "colu' >cut.json
# shellcheck disable=SC2086
{
    refuse "no file" "needs a FILE" -- "$BOGIE" report $target
    refuse "nothing to write" "-o PAGE.html" -- "$BOGIE" report good.h5
    refuse "unknown option" "--titel" "--title" -- "$BOGIE" report good.h5 $target --titel x
    refuse "option without value" "--title" -- "$BOGIE" report good.h5 $target --title
    refuse "missing file" nowhere.h5 "No such file" -- "$BOGIE" report nowhere.h5 $target
    refuse "folder" "'.'" "directory" -- "$BOGIE" report . $target
    refuse "truncated result" cut.h5 "cut off or damaged" -- "$BOGIE" report cut.h5 $target
    refuse "half a result" half.h5 "cut off or damaged" -- "$BOGIE" report half.h5 $target
    refuse "empty result" empty.h5 empty -- "$BOGIE" report empty.h5 $target
    refuse "CSV" table.csv "no HDF5 file" -- "$BOGIE" report table.csv $target
    refuse "model instead of a study" five-link "not the output of a study" -- "$BOGIE" report "$model" $target
    refuse "study of a newer version" newer.json "newer version" -- "$BOGIE" report newer.json $target
    refuse "truncated study" cut.json "line 1" -- "$BOGIE" report cut.json $target
    refuse "the second file is bad" cut.h5 -- "$BOGIE" report good.h5 cut.h5 $target
    refuse "equations have no glTF" plain "no motion" -- "$BOGIE" report plain.h5 --gltf kept.glb
    refuse "glTF of two results" "one result" -- "$BOGIE" report good.h5 plain.h5 --gltf kept.glb
    refuse "written over its own source" good.h5 -- "$BOGIE" report good.h5 --gltf good.h5
    refuse "glTF over something else" plain.h5 "no binary glTF" -- "$BOGIE" report good.h5 --gltf plain.h5
    refuse "folder missing" nowhere/x.glb "'nowhere'" -- "$BOGIE" report good.h5 --gltf nowhere/x.glb
}
holds "sources are as they were" sh -c 'head -c 4 plain.h5 | grep -q HDF && head -c 4 good.h5 | grep -q HDF'

# Bytes changed anywhere: a file or a sentence, and never a signal or half a file. HDF5 itself reads
# beyond its memory in some of these files, which ends the process that reads for the program; a
# sanitizer that notices does the same, as long as the mistake is not made in Bogie.
in_hdf5() { # every report there is reaches the frames of HDF5 before ours
    for report in sanitizer.*; do
        [ ! -e "$report" ] ||
            awk '/libsanitizer/ { next } /libhdf5/ { found = 1; exit } /\/src\// { exit } END { exit !found }' \
                "$report" || return 1
    done
}
size=$(wc -c <good.h5)
seed=7
outcomes=
for _ in $(seq 25); do
    cp good.h5 damaged.h5
    for _ in 1 2 3 4; do
        seed=$(((seed * 1103515245 + 12345) % 2147483648))
        # most of what HDF5 keeps for itself stands at the beginning
        place=$((seed % (seed % 3 ? 16384 : size)))
        printf '\377\001\200' | dd of=damaged.h5 bs=1 seek=$place conv=notrunc 2>/dev/null
    done
    rm -f damaged.glb
    ASAN_OPTIONS=${ASAN_OPTIONS-}:abort_on_error=1:log_path=sanitizer \
        "$BOGIE" report damaged.h5 --gltf damaged.glb >"$out" 2>"$err"
    code=$?
    outcomes=$outcomes$code
    case $code in
    0) [ -s damaged.glb ] || outcomes=wrong ;;
    2) { [ ! -e damaged.glb ] && [ "$(grep -vc "^AddressSanitizer:" "$err")" = 1 ]; } || outcomes=wrong ;;
    *) outcomes=wrong ;;
    esac
    in_hdf5 || outcomes=wrong
    [ "$outcomes" = wrong ] && break
done
holds "damaged results: $outcomes" [ "$outcomes" != wrong ]
holds "nothing half-written is left" [ -z "$(ls ./*.partial 2>/dev/null)" ]

expect "glTF" 0 -- "$BOGIE" report good.h5 --gltf motion.glb
expect "glTF again" 0 -- "$BOGIE" report good.h5 --gltf motion.glb
holds "glTF starts as such" sh -c '[ "$(head -c 4 motion.glb)" = glTF ]'
[ $pages = yes ] || finish

page() { # the data of page $1, a member of it by path
    sed -n 's/.*<script id="bogie-data" type="application\/json">\(.*\)<\/script>.*/\1/p' "$1" >data.json
    shift
    json "$scratch/data.json" "$@"
}
holds "the page names its result" [ "$(page page.html results 0 name)" = good ]
holds "the page has a scene" [ "$(page page.html results 0 scene bodies 7 name)" = wheel ]
expect "title, and two results" 0 -- "$BOGIE" report good.h5 plain.h5 -o two.html --title "Two <runs> & more"
holds "the title" [ "$(page two.html title)" = "Two <runs> & more" ]
holds "equations have no scene" [ -z "$(page two.html results 1 scene)" ]
expect "the page is replaced" 0 -- "$BOGIE" report plain.h5 -o two.html
holds "by the new one" [ "$(page two.html title)" = plain ]
expect "a result is not replaced by a page" 2 plain.h5 "no HTML page" -- "$BOGIE" report good.h5 -o plain.h5
expect "disk full" 2 /dev/full "No space left" -- "$BOGIE" report good.h5 -o /dev/full
holds "a page to stdout" sh -c '"$BOGIE" report good.h5 -o /dev/stdout | grep -q bogie-data'
holds "no remains" [ -z "$(ls ./*.partial 2>/dev/null)" ]
finish
