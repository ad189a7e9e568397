#!/bin/sh
# Where npm is missing, or fails, scripts/build-viewer --optional costs the pages alone: an empty template, exit code 0
# and one line with the reason; without --optional it is an error. What is bundled already needs no npm.
# Usage: build-viewer.sh SOURCE SCRATCH
set -eu
source=$1
rm -rf "$2"
mkdir -p "$2/scripts" "$2/viewer/src" "$2/npm" "$2/tools"
cd "$2"
cp "$source/scripts/build-viewer" scripts
for file in package.json package-lock.json build.mjs tsconfig.json src/main.ts; do cp "$source/viewer/$file" viewer/$file; done
for tool in sh cat cp dirname find flock mkdir rm touch; do ln -s "$(command -v $tool)" tools; done
printf '#!/bin/sh\necho "npm was called with $*" >>%s/calls\nexit 1\n' "$PWD" >npm/npm
chmod +x npm/npm

# expect NAME CODE WORD PATH OPTION...
expect() {
    name=$1 code=$2 word=$3 path=$4
    shift 4
    rm -f template.html
    seen=0
    PATH=$path sh scripts/build-viewer "$@" "$PWD/template.html" >out 2>err || seen=$?
    if [ $seen -ne "$code" ] || { [ "$word" != none ] && ! grep -q "$word" err; }; then
        echo "FAIL $name: exit code $seen"
        cat out err
        exit 1
    fi
    echo "PASS $name"
}
empty() { [ -e template.html ] && [ ! -s template.html ]; }

expect "no npm" 0 "npm, which bundles the viewer, is not installed" "$PWD/tools" --optional
empty || { echo "FAIL the template is not empty"; exit 1; }
[ "$(wc -l <err)" -eq 1 ] || { echo "FAIL more than a line"; exit 1; }
expect "no npm, which is needed" 1 "is not installed" "$PWD/tools"
[ ! -e template.html ] || { echo "FAIL there is a template"; exit 1; }
expect "npm fails" 0 "npm could not fetch" "$PWD/npm:$PWD/tools" --optional
empty && grep -q "fetching" out && [ "$(wc -l <err)" -eq 1 ] || { echo "FAIL npm fails: template and sentences"; exit 1; }
[ "$(wc -l <calls)" -eq 1 ] || { echo "FAIL npm was asked twice"; exit 1; }
expect "npm, which is needed, fails" 1 "npm could not fetch" "$PWD/npm:$PWD/tools"
echo page >viewer/dist/template.html
expect "what is bundled needs no npm" 0 none "$PWD/tools" --optional
[ "$(cat template.html)" = page ] || { echo "FAIL the bundle was not copied"; exit 1; }
