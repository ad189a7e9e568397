#!/bin/sh
# Studies that are shipped: no case fails, and table and plots are the same however the cases are shared
# out: over workers, shards, and ranks of MPI.
studies=$(cd "$(dirname "$0")/../../studies" && pwd)
. "$(dirname "$0")/cases.sh"

same() { cmp -s "$1" "$2" && [ -s "$1" ]; }
mpi=$(find_mpi)

# The test `docs` runs what the documents show, and wants no case of it to fail.
in_documents() {
    command -v node >/dev/null && grep -q "<!-- source: .* bogie study studies/$1\.json " "$SOURCE"/README.md "$SOURCE"/docs/*.md
}

# in four ways, or, where it takes many steps, once; sanitizers, which multiply the time, see only the
# quick ones, and one of them in four ways
for study in "$studies"/*.json; do
    title=$(basename "$study" .json) # expect has a name of its own
    long=no
    case $title in arnold-* | car-axle-* | circular-track | hmmwv-* | shome-* | vehicle-trailer* | train-carriage | work-precision-stiff) long=yes ;; esac
    if [ $long = yes ] && { [ -n "${ASAN_OPTIONS:-}" ] || in_documents "$title"; }; then
        continue
    fi
    if [ "$title" = iftomm ] && [ -n "${ASAN_OPTIONS:-}" ]; then
        continue
    fi
    # their own limits are for idle machines
    run="$BOGIE study $study --time-limit 1800"
    expect "$title, two workers" 0 -- $run --no-timing -j 2 --quiet --csv two.csv --json two.json
    holds "$title: no case failed" [ "$(json two.json cases failed)" = 0 ]
    [ $long = no ] || continue
    [ -z "${ASAN_OPTIONS:-}" ] || [ "$title" = simeon-stair-events ] || continue
    expect "$title, one worker" 0 -- $run --no-timing -j 1 --quiet --csv one.csv --json one.json
    holds "$title: same table" same one.csv two.csv
    holds "$title: same plots" same one.json two.json
    for shard in 1 2 3; do
        expect "$title, shard $shard" 0 "shard $shard/3" -- $run --no-timing --shard $shard/3
    done
    expect "$title, merged" 0 -- $run --no-timing --merge --quiet --csv merged.csv
    holds "$title: same table from shards" same one.csv merged.csv
    rm -f ./*.journal
    if [ -n "$mpi" ]; then
        expect "$title, three ranks" 0 -- $mpi $run --no-timing --quiet --csv ranks.csv
        holds "$title: same table from ranks" same one.csv ranks.csv
    fi
    holds "$title: no journal is left" [ -z "$(ls ./*.journal 2>/dev/null)" ]
done

finish
