#!/bin/sh
# All that docs/cuda.md asks for of a machine with a GPU, in one go:
#
#	tools/gpu/run.sh OUT [MDMGEN]
#
# from the repository's root. OUT is a folder for results; MDMGEN the program, else ./mdmgen. MDMGEN_RUNTIME
# names a build of ONNX Runtime with CUDA where it is not installed by `mdmgen runtime install --cuda`. What
# compares with PyTorch is left out where python3 has no torch and safetensors. A step that fails or takes more
# than LIMIT seconds (600) is noted, the others run, and the exit status is then 1. DEVICE=cpu,
# SHAPE="--hidden 64 …" and TORCH="--no-compile …" try the script itself on a machine without a GPU.
set -u
out=$1 m=${2:-./mdmgen} failed=0
mkdir -p "$out"
step() {
	name=$1
	shift
	echo "== $name: $*"
	timeout -k 10 "${LIMIT:-600}" "$@" >"$out/$name" 2>"$out/$name.err" </dev/null && return
	status=$?
	failed=$((failed + 1))
	if [ $status = 124 ] || [ $status = 137 ]; then
		echo "-- $name: not done after ${LIMIT:-600} seconds"
	else
		echo "-- $name: exit status $status: $(tail -n 1 "$out/$name.err")"
	fi
}
device=${DEVICE:-cuda}
gpu="--device $device"
[ "$device" = cpu ] || step driver nvidia-smi --query-gpu=name,driver_version,compute_cap,memory.total,clocks.sm,clocks.mem,power.draw,power.limit --format=csv
step doctor.json $m doctor $gpu --model fairytale --json

# Parity: reference vectors of all families, then KL and NELBO from the CPU. Limits are absolute, of logits of some units.
for c in testdata/reference/checkpoints/*/golden.safetensors; do
	c=$(dirname "$c")
	n=$(basename "$c")
	step "golden-$n.json" $m verify "$c" $gpu --golden "$c/golden.safetensors" --tolerance 5e-5 --json
	step "golden-fp16-$n.json" $m verify "$c" $gpu --dtype fp16 --golden "$c/golden.safetensors" --tolerance 5e-2 --json
done
step against.json $m verify fairytale $gpu --against fairytale --against-device cpu --seed 1 --json
step against-fp16.json $m verify fairytale $gpu --dtype fp16 --against fairytale --against-device cpu --seed 1 --json
[ "$device" = cpu ] || step against-tf32.json $m verify fairytale $gpu --set tf32 --against fairytale --against-device cpu --seed 1 --json

# Speed: random weights of the shape of MDLM's 169 M parameters, 1024 positions.
big=$out/random-169m
step make python3 tools/gpu/compare.py make "$big" ${SHAPE:-}
step nodes-169m.json $m doctor $gpu --model "$big" --json
if python3 -c 'import torch, safetensors' 2>/dev/null; then
	step golden python3 tools/gpu/compare.py golden "$big"
	step golden-169m.json $m verify "$big" $gpu --golden "$big/golden.safetensors" --tolerance 5e-5 --json
	for dtype in bf16 fp16; do
		step "torch-$dtype.jsonl" python3 tools/gpu/compare.py time "$big" --device $device --dtype $dtype ${TORCH:-}
	done
else
	echo "== without torch and safetensors: no comparison with PyTorch"
fi
for dtype in fp32 fp16; do
	for batch in 1 8 64 256; do
		step "call-$dtype-$batch.json" $m generate --model "$big" $gpu --dtype $dtype --batch $batch -n $batch --format json --dry-run --seed 1
	done
done
step fhs-64.json $m bench --model "$big" $gpu --dtype fp16 --sampler fhs --batch 64 -n 64 -r 1 --seed 1 --format json
step lookahead.json $m bench --model "$big" $gpu --dtype fp16 --sampler fhs --set lookahead=1,2,4,8,16 -n 8 -r 1 --seed 1 --format json
rm -rf "$big"
[ $failed = 0 ] || { echo "$failed steps failed" >&2; exit 1; }
