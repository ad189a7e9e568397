#!/bin/sh
# Pages that the program makes, opened in a real browser.
. "$(dirname "$0")/../cli/cases.sh"

stair='road={"type":"stair","at":6,"height":-0.05,"speed":"speed","base":"base"}'
expect "five-link on the stair" 0 -- "$BOGIE" run "$SOURCE/models/five-link-suspension.json" \
    --set "$stair" -o stair.h5 --quiet
expect "and more slowly" 0 -- "$BOGIE" run "$SOURCE/models/five-link-suspension.json" \
    --set "$stair" --set parameters.speed=15 -o slow.h5 --quiet
expect "equations" 0 -- "$BOGIE" run equations:car-axle -o axle.h5 --quiet
expect "Andrews' mechanism, Cartesian" 0 -- "$BOGIE" run "$SOURCE/models/iftomm-a03-andrews.json" \
    --formulation cartesian -o andrews.h5 --quiet
expect "no time at all" 0 -- "$BOGIE" run "$SOURCE/models/gyroscope.json" --t-end 0 -o still.h5 --quiet
expect "page of a mode" 0 -- "$BOGIE" modes "$SOURCE/models/double-wishbone.json" --equilibrium --mode 2 --html mode.html
cat >study.json <<'END'
{"format": 1, "kind": "study", "name": "tiny", "title": "A tiny study", "text": "", "source": "tiny.json",
 "columns": [{"key": "steps", "label": "steps", "unit": "", "timing": false}],
 "rows": [{"case": 0, "name": "a", "status": "ok", "reason": "", "settings": {}, "values": [4711]}],
 "paper": null, "plots": [], "cases": {"total": 1, "ok": 1, "failed": 0}}
END
for name in stair axle andrews still; do
    expect "page of $name" 0 -- "$BOGIE" report $name.h5 -o $name.html
done
expect "page of two results" 0 -- "$BOGIE" report stair.h5 slow.h5 -o two.html
expect "page of a study" 0 -- "$BOGIE" report study.json -o study.html
holds "pages in the browser" node "$SOURCE/tests/page/smoke.mjs" "$SOURCE/viewer" \
    stair.html "scene:joints that close loops" andrews.html "scene:iftomm-a03-andrews" axle.html "There is no animation" \
    still.html gyroscope study.html 4711 two.html "scene:Compare" mode.html "scene:Mode 2"
finish
