#!/bin/sh
# Packs what tools/gpu/run.sh needs into pieces, for a machine with a GPU that can fetch nothing: the program
# as it is released, and the runtime's build with CUDA.
#
#	tools/gpu/pack.sh [OUT [N]]
#
# from the repository's root, on Linux on x86-64. OUT (dist/gpu, which git ignores) gets N (6) pieces of equal
# size, piece.aa and so on, and sum, the SHA-256 of the pieces put together.
set -eu
out=${1:-dist/gpu} work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rm -rf "$out"
mkdir -p "$out"
go build -trimpath -ldflags='-s -w -buildid=' -o "$work/mdmgen" ./cmd/mdmgen
MDMGEN_CACHE=$work/cache "$work/mdmgen" runtime install --cuda
tar -C "$work" -cf - mdmgen cache | xz -3 -T0 >"$work/all"
split -n "${2:-6}" "$work/all" "$out/piece."
(cd "$work" && sha256sum all) >"$out/sum"
ls -l "$out"
