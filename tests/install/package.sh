#!/bin/sh
# Makes the Debian packages of a build, unpacks them into a scratch root, and works from there: the
# program, Python, manual pages, completion, and the example in C by pkg-config and by find_package.
# Usage: package.sh BUILD SOURCE
set -eu
build=$1
source=$2
stage=$build/package-test
root=$stage/root
rm -rf "$stage"
mkdir -p "$root"
fail() { echo "FAIL $*"; exit 1; }

(cd "$build" && cpack -G DEB -B "$stage/made" -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip) >"$stage/cpack.log" 2>&1 ||
    { cat "$stage/cpack.log"; fail "no package was made"; }
deb=$(echo "$stage"/made/bogie_*.deb)
for field in Package Depends Recommends Description Version; do
    dpkg-deb -f "$deb" $field | grep -q . || fail "the package says no $field"
done
depends=$(dpkg-deb -f "$deb" Depends)
for needed in libc6 libjansson4 libamd libhdf5 libopenblas0; do
    echo "$depends" | grep -q "$needed" || fail "$needed is not among what it depends on: $depends"
done
! echo "$depends" | grep -q mpi || fail "MPI belongs to bogie-mpi: $depends"
for package in "$stage"/made/*.deb; do
    dpkg -x "$package" "$root"
done
usr=$root/usr
echo "PASS a package with what it depends on"

for page in "$source"/src/cli/*.c; do
    verb=$(sed -n 's/^const bg_verb bg_verb_\([a-z]*\) = {.*/\1/p' "$page")
    [ -z "$verb" ] || gzip -dc "$usr/share/man/man1/bogie-$verb.1.gz" | grep -q '^\.TH' || fail "no manual page of $verb"
done
for file in share/doc/bogie/copyright share/doc/bogie/python.md share/doc/bogie/examples/drive/drive.c \
    share/bogie/models/four-bar.json share/bogie/studies/iftomm.json share/bogie/model.schema.json share/zsh/site-functions/_bogie; do
    [ -s "$usr/$file" ] || fail "$file is missing"
done
[ "$(bash -c '. "$1"; COMP_LINE="bogie lineari" COMP_POINT=13; _bogie; echo "${COMPREPLY[*]}"' - \
    "$usr/share/bash-completion/completions/bogie")" = linearise ] || fail "completion does not work"
echo "PASS manual pages, documents, completion"

cd "$stage"
"$usr/bin/bogie" run "$usr/share/bogie/models/four-bar.json" --t-end 0.1 --quiet -o rows.h5
"$usr/bin/bogie" fmu "$usr/share/bogie/models/four-bar.json" -o four-bar.fmu >/dev/null
[ -s four-bar.fmu ] || fail "no FMU was made"
"$usr/bin/bogie" --version | grep -q '^HDF5 1' || fail "the program does not find HDF5"
PYTHONPATH=$usr/lib/python3/dist-packages /usr/bin/python3 -B -c '
import bogie, sys
assert bogie.__file__.startswith(sys.argv[1]) and sys.argv[1] in bogie._library.lib._name
r = bogie.Model(sys.argv[1] + "/usr/share/bogie/models/four-bar.json").run(t_end=0.1)
assert (r.q == bogie.open("rows.h5").q).all()' "$root"
echo "PASS program and Python from the scratch root"

example=$usr/share/doc/bogie/examples/drive/drive.c
libdir=$(dirname "$(find "$usr/lib" -name 'libbogie.so.0')")
PKG_CONFIG_PATH=$libdir/pkgconfig
export PKG_CONFIG_PATH
# as README says it, which shows the whole program
sed -n '/^<!-- file: examples\/drive\/drive.c -->$/,/^## /{s/^    //p;/^$/p}' "$source/README.md" | sed '1d;$d' >shown.c
sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' shown.c | cmp -s - "$source/examples/drive/drive.c" ||
    fail "README shows another program than examples/drive/drive.c"
# shellcheck disable=SC2046
cc -std=c17 -Wall -Wextra -Wpedantic -Werror -o drive "$example" $(pkg-config --cflags --libs bogie)
LD_LIBRARY_PATH=$libdir ./drive "$usr/share/bogie/models/four-bar.json" >said.txt
grep -q 'rows; crank is 12\.39' said.txt || fail "the example in C says: $(cat said.txt)"
if LD_LIBRARY_PATH=$libdir ./drive nowhere.json 2>error.txt; then fail "a missing model is no error"; fi
grep -q 'nowhere.json' error.txt || fail "a missing model is not named"
mkdir -p by-cmake
printf 'cmake_minimum_required(VERSION 3.25)\nproject(drive C)\nfind_package(bogie REQUIRED)\nadd_executable(drive %s)\ntarget_link_libraries(drive PRIVATE bogie::bogie)\n' "$example" >by-cmake/CMakeLists.txt
cmake -S by-cmake -B by-cmake/build -G Ninja -DCMAKE_PREFIX_PATH="$usr" >configure.log
cmake --build by-cmake/build >build.log
by-cmake/build/drive "$usr/share/bogie/models/four-bar.json" | cmp -s - said.txt || fail "by find_package it says otherwise"
echo "PASS the example by pkg-config and find_package"
