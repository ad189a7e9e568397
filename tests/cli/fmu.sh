#!/bin/sh
# bogie fmu: what it writes, what it refuses, what its object shows and needs. SOURCE is the repository.
. "$(dirname "$0")/cases.sh"

unpack() { # FILE FOLDER
    rm -rf "$2"
    mkdir -p "$2"
    (cd "$2" && cmake -E tar xf "../$1")
}

# A model with a part and a table, whose files are gone when the FMU is unpacked.
mkdir -p home
cat >home/arm.json <<'END'
{"parameters": {"long": 1}, "bodies": {"rod": {"mass": 1, "center": [0, 0, "-long/2"], "inertia": [0.1, 0.1, 0.01]}},
 "joints": {"pivot": {"type": "revolute", "bodies": ["ground", "rod"], "at": [0, 0, 0], "axis": [0, 1, 0]}},
 "outputs": {"angle": {"joint": "pivot"}}}
END
printf '0,0\n1,1\n2,0\n' >home/push.csv
cat >home/model.json <<'END'
{"parameters": {"comment": "A note", "long": 2}, "parts": {"arm": {"file": "arm.json"}}, "use": {"a": {"part": "arm", "parameters": {"long": "long"}}},
 "inputs": {"push": {"type": "table", "file": "push.csv", "interpolation": "linear"}, "more": 0},
 "forces": {"wind": {"type": "force", "at": "a.rod", "force": ["push + more", 0, 0]}},
 "run": {"t_end": 2}}
END

for version in 2 3; do
    expect "a model with files, FMI $version" 0 "FMI $version.0 co-simulation" "1 parameter, 1 input, 1 output" -- \
        "$BOGIE" fmu home/model.json --fmi $version -o arm$version.fmu
    holds "it unpacks" unpack arm$version.fmu arm$version
    object=$(ls arm$version/binaries/*/model.so)
    count=44
    [ $version = 2 ] || count=75
    [ "$(nm -D --defined-only "$object" | grep -c " T fmi$version")" = $count ] || fail "functions of FMI $version"
    [ "$(nm -D --defined-only "$object" | wc -l)" -le $count ] || fail "others are shown"
    holds "its licences" grep -q "Apache License" arm$version/documentation/licenses/license.txt
    holds "what it needs" grep -q "OpenBLAS" arm$version/documentation/externalDependencies.txt
    grep -q "arm.json\|push.csv" arm$version/resources/*.json && fail "files are referred to"
done
cp arm3.fmu before.fmu
holds "the same again" "$BOGIE" fmu home/model.json -o arm3.fmu --quiet
holds "is the same file" cmp before.fmu arm3.fmu
if command -v unzip >/dev/null; then
    holds "unzip finds no fault" unzip -tq arm2.fmu
fi
if command -v xmllint >/dev/null; then
    holds "well-formed" xmllint --noout arm2/modelDescription.xml arm3/modelDescription.xml
fi

# The object needs the C library alone, and the FMU no file of the model.
if command -v ldd >/dev/null && [ "$(nm -D arm3/binaries/*/model.so | grep -c asan)" = 0 ]; then
    ldd arm3/binaries/*/model.so >"$out"
    [ "$(grep -cv 'linux-vdso\|libc\.\|libm\.\|ld-linux' "$out")" = 0 ] || fail "other libraries are needed"
fi
rm -rf home
if [ -x "$IMPORTER" ]; then
    for version in 2 3; do
        (cd / && "$IMPORTER" "$scratch/arm$version" $version) >"$out" 2>"$err" || fail "FMI $version runs elsewhere"
    done
fi

expect "no model" 2 "nowhere.json" -- "$BOGIE" fmu nowhere.json -o x.fmu
expect "a plug-in" 2 "plug-in" -- "$BOGIE" fmu "$PLUGINS/spherical_pendulum.so" -o x.fmu
expect "another ending" 2 ".fmu" -- "$BOGIE" fmu equations:pendulum -o x.zip
expect "another input" 2 "no input 'steep'" -- "$BOGIE" fmu "$SOURCE/models/vehicle-trailer.json" --inputs steep -o x.fmu
expect "another version" 2 "2|3" -- "$BOGIE" fmu equations:pendulum --fmi 1 -o x.fmu
expect "an end before the start" 2 "before start time" -- "$BOGIE" fmu equations:pendulum --t-end -1 -o x.fmu
expect "a start behind the end" 2 "before start time" -- "$BOGIE" fmu equations:pendulum --t-start 1e3 -o x.fmu
expect "another method" 2 "mdop5" -- "$BOGIE" fmu equations:pendulum --integrator mdop6 -o x.fmu
[ ! -e x.fmu ] || fail "a file is left"
echo "a letter" >letter.fmu
expect "a file of somebody else" 2 "letter.fmu" -- "$BOGIE" fmu equations:pendulum -o letter.fmu
holds "stays" grep -q "a letter" letter.fmu
expect "a start that cannot be" 2 "parameters" -- "$BOGIE" fmu "$SOURCE/models/four-bar.json" --set parameters.nothing=0 -o x.fmu
finish
