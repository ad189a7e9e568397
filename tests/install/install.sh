#!/bin/sh
# Installs into a folder of the build tree, moves that folder (an installed tree does not depend on its
# place), and builds and runs a consumer by find_package and by pkg-config, and the installed program.
# Usage: install.sh BUILD CONSUMER LIBDIR
set -eu
build=$1
consumer=$2
libdir=$3
stage=$build/install-test
rm -rf "$stage"
mkdir -p "$stage"

cmake --install "$build" --prefix "$stage/first" >"$stage/install.log"
mv "$stage/first" "$stage/moved"
prefix=$stage/moved
for file in bin/bogie include/bogie/bogie.h include/bogie/version.h "$libdir/libbogie.so.0" \
    "$libdir/pkgconfig/bogie.pc" "$libdir/cmake/bogie/bogieConfig.cmake" share/man/man1/bogie.1 share/man/man1/bogie-run.1 \
    share/bash-completion/completions/bogie share/zsh/site-functions/_bogie \
    share/bogie/models/four-bar.json share/bogie/models/profiles/s1002.csv share/bogie/studies/iftomm.json \
    share/bogie/model.schema.json share/bogie/study.schema.json; do
    [ -e "$prefix/$file" ] || { echo "FAIL $file was not installed"; exit 1; }
done

cmake -S "$consumer" -B "$stage/by-cmake" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_C_FLAGS="-Wall -Wextra -Wpedantic -Werror" >"$stage/configure.log"
cmake --build "$stage/by-cmake" >"$stage/build.log"
"$stage/by-cmake/consumer"
echo "PASS find_package"

PKG_CONFIG_PATH=$prefix/$libdir/pkgconfig
export PKG_CONFIG_PATH
# shellcheck disable=SC2046
cc -std=c17 -Wall -Wextra -Wpedantic -Werror "$consumer/consumer.c" -o "$stage/by-pkg-config" \
    $(pkg-config --cflags --libs bogie)
LD_LIBRARY_PATH=$prefix/$libdir "$stage/by-pkg-config"
[ "$(pkg-config --modversion bogie)" = "$("$prefix/bin/bogie" --version | head -n 1 | cut -d' ' -f2)" ]
echo "PASS pkg-config"

"$prefix/bin/bogie" run equations:pendulum --t-end 0.1 --quiet
"$prefix/bin/bogie" run equations:pendulum --t-end 0.1 --quiet -o "$stage/rows.h5"
"$prefix/bin/bogie" run "$prefix/share/bogie/models/four-bar.json" --t-end 0.1 --quiet
echo "PASS installed program"

"$prefix/bin/bogie" fmu equations:pendulum -o "$stage/pendulum.fmu" --quiet
[ -s "$stage/pendulum.fmu" ]
echo "PASS installed FMU"

if /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
    PYTHONPATH=$(echo "$prefix"/lib/python3*/dist-packages) /usr/bin/python3 -B -c '
import bogie
r = bogie.Model("equations:pendulum").run(t_end=0.1)
assert r.verdict == "good" and len(r.t) > 1'
    echo "PASS installed package of Python"
fi
