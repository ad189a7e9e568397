#!/bin/sh
# `bogie report --gltf`: files of several models pass the validator of Khronos.
. "$(dirname "$0")/../cli/cases.sh"

cp "$SOURCE/tests/gltf/package.json" "$SOURCE/tests/gltf/package-lock.json" \
    "$SOURCE/tests/gltf/validate.mjs" .
holds "the validator can be installed" sh -c 'npm ci --no-fund --no-audit >npm.log 2>&1 || { cat npm.log; false; }'
for model in five-link-suspension double-wishbone iftomm-a03-andrews iftomm-a04-bricard gyroscope; do
    expect "$model runs" 0 -- "$BOGIE" run "$SOURCE/models/$model.json" -o "$model.h5" --quiet
    expect "$model becomes glTF" 0 -- "$BOGIE" report "$model.h5" --gltf "$model.glb"
done
expect "Cartesian coordinates" 0 -- "$BOGIE" run "$SOURCE/models/five-link-suspension.json" \
    --formulation cartesian -o cartesian.h5 --quiet
expect "its glTF" 0 -- "$BOGIE" report cartesian.h5 --gltf cartesian.glb
holds "the validator has nothing to remark" node validate.mjs ./*.glb
finish
