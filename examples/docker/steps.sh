#!/usr/bin/env bash
# Runs the steps of the Dockerfile without Docker, in a temporary folder: builds the program,
# brings ONNX Runtime, and samples as a user without rights where that can be.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
chmod 755 "$out"
# The version and the command lines are the Dockerfile's own.
version=$(sed -n 's/.*onnxruntime==\([0-9.]*\).*/\1/p' Dockerfile)
grep -q "\"$version\"" model/ort/*.go || { echo "Dockerfile: onnxruntime $version is not the pinned one"; exit 1; }
CGO_ENABLED=1 go build -trimpath -ldflags=-s -o "$out/mdmgen" ./cmd/mdmgen
python3 -m pip download --quiet --no-cache-dir --no-deps --only-binary=:all: --dest "$out/wheel" "onnxruntime==$version"
python3 -m zipfile -e "$out"/wheel/onnxruntime-*.whl "$out/files"
cp "$out"/files/onnxruntime/capi/libonnxruntime.so.* "$out/libonnxruntime.so"
as=()
if [ "$(id -u)" = 0 ]; then as=(setpriv --reuid 65532 --regid 65532 --clear-groups); fi
"${as[@]}" env -i HOME=/nonexistent PATH="$out:/usr/bin:/bin" MDMGEN_RUNTIME="$out/libonnxruntime.so" MDMGEN_CACHE=/tmp/mdmgen-steps \
	mdmgen generate --length 8 --seed 1
