#!/bin/sh
# All that docs/cuda.md asks for of a machine with a GPU, in nine minutes, the most useful first:
#
#	tools/gpu/run.sh OUT [MDMGEN]
#
# from the repository's root. OUT/results.txt gets each step's seconds, command and output as soon as it is done.
# MDMGEN is the program, else ./mdmgen, or the folder of its pieces (tools/gpu/pack.sh). MDMGEN_RUNTIME names a
# build of ONNX Runtime with CUDA where `mdmgen runtime install --cuda` installed none. python3 needs torch and
# safetensors. A stage ends at its limit, PERCENT of the one below; steps that fail or are cut are noted, the
# others run, and the exit status is then 1. DEVICE=cpu, SHAPE="--hidden 64 …", LLADA and TORCH="--seconds 1 …"
# try the script itself on a machine without a GPU.
set -u
mkdir -p "$1"
results=$1/results.txt begin=$(date +%s) work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >"$results"

since() { echo $(($(date +%s) - begin)); }

# stage SECONDS WHAT
stage() {
	limit=$(($1 * ${PERCENT:-100} / 100))
	ends=$(($(since) + limit))
	printf '%4d s  %s (%d s at most)\n' "$(since)" "$2" "$limit"
}

# step NAME COMMAND…
step() {
	name=$1 from=$(since) status=124
	shift
	if [ "$ends" -gt "$from" ]; then
		timeout -k 5 $((ends - from)) "$@" >"$work/$name" 2>&1 </dev/null
		status=$?
	else
		: >"$work/$name"
	fi
	case $status in
	0) said=done ;;
	124 | 137) said=CUT ;;
	*) said="FAILED with $status: $(tail -n 1 "$work/$name")" ;;
	esac
	said=$(printf '%4d s  %4d s  %s: %s' "$(since)" $(($(since) - from)) "$name" "$said")
	echo "$said"
	# In one write, since other steps may run beside this one.
	{ echo "== $said: $*" && cat "$work/$name"; } >"$work/$name.block"
	cat "$work/$name.block" >>"$results"
	return $status
}

m=${2:-./mdmgen} device=${DEVICE:-cuda} compare=tools/gpu/compare.py big=$work/mdlm-169m large=$work/llada-8b pids=
gpu="--device $device"
# The libraries of CUDA and cuDNN are those of PyTorch.
LD_LIBRARY_PATH=$(python3 -c 'import glob, nvidia; print(*glob.glob(list(nvidia.__path__)[0] + "/*/lib"), sep=":")' 2>/dev/null):${LD_LIBRARY_PATH:-}
export LD_LIBRARY_PATH

# Meanwhile PyTorch makes networks and compiles, and ours is converted. What is compiled waits for the file go.
stage 240 'beside the first stages: networks of random weights, PyTorch compiled'
(
	step make python3 $compare make "$big" $gpu ${SHAPE:-}
	step golden python3 $compare golden "$big"
	step torch-compiled python3 $compare time "$big" $gpu --dtype fp16 --compile --after "$work/go" ${TORCH:-}
) &
compiled=$!
if [ -d "$m" ]; then
	export MDMGEN_CACHE="$work/cache"
	step join sh -c "cat '$m'/piece.* >'$work/all' && cp '$m/sum' '$work' && cd '$work' && sha256sum -c sum && python3 -m tarfile -e all . && rm all"
	m=$work/mdmgen
fi
(
	step make-llada python3 $compare make "$large" --family llada $gpu ${LLADA:-}
	step convert-llada "$m" generate --model "$large" $gpu --dtype fp16 --dry-run --seed 1
) &
made=$!

stage 90 'a: where nodes run, and parity'
if [ "$device" != cpu ]; then
	step driver nvidia-smi --query-gpu=name,driver_version,compute_cap,memory.total,clocks.sm,clocks.mem,power.draw,power.limit --format=csv
	step doctor "$m" doctor $gpu --model fairytale --json || {
		# If the files of Python's packages are not trusted, the loader finds them: another environment has none.
		mkdir -p "$work/lib/python3/site-packages/nvidia"
		export VIRTUAL_ENV="$work"
		step doctor-2 "$m" doctor $gpu --model fairytale --json
	}
fi
# Limits are absolute, of logits of some units. Then KL and NELBO from the CPU.
for dtype in fp32 fp16; do
	for c in testdata/reference/checkpoints/*/golden.safetensors; do
		c=$(dirname "$c") limit=5e-5
		[ $dtype = fp32 ] || limit=5e-2
		step "golden-$dtype-$(basename "$c")" "$m" verify "$c" $gpu --dtype $dtype --golden "$c/golden.safetensors" --tolerance $limit &
		pids="$pids $!"
		step "nodes-$dtype-$(basename "$c")" "$m" doctor $gpu --dtype $dtype --model "$c" &
		pids="$pids $!"
	done
	step "against-$dtype" "$m" verify fairytale $gpu --dtype $dtype --against fairytale --against-device cpu --limit 32 --seed 1 --json &
	wait $pids $!
done
[ "$device" = cpu ] || step against-tf32 "$m" verify fairytale $gpu --set tf32 --against fairytale --against-device cpu --limit 32 --seed 1 --json

stage 150 'b: calls of 169 M parameters and 1024 positions, 16 for a text, beside PyTorch'
while { kill -0 $made || { kill -0 $compiled && [ ! -e "$work/go.ready" ]; }; } 2>/dev/null && [ $((ends - $(since))) -gt 90 ]; do sleep 1; done
calls="--sampler parallel-fhs --steps 16 -r 1 --seed 1 --format csv"
step calls-fp16 "$m" bench --model "$big" $gpu --dtype fp16 $calls --batch 1,8,64 -n 64
touch "$work/go"
wait $compiled
step torch-eager python3 $compare time "$big" $gpu --dtype fp16 ${TORCH:-}
step calls-fp32 "$m" bench --model "$big" $gpu $calls --batch 1,8,64 -n 64
step golden-fp32-169m "$m" verify "$big" $gpu --golden "$big/golden.safetensors" --tolerance 5e-5
step nodes-fp16-169m "$m" doctor $gpu --dtype fp16 --model "$big"

stage 90 'c: First-Hitting, look-ahead, a cache, 16 calls'
texts="bench --model $big $gpu --dtype fp16 -r 1 --seed 1 --format csv"
step fhs "$m" $texts --batch 1 -n 1 --case fhs --case 'fhs lookahead=4' --case 'fhs lookahead=16' --case 'fhs cache=window:64/32' --case 'spread steps=16'

stage 40 'd: kept keys and values over the bus'
step bus python3 $compare bus "$big" $gpu
step kept "$m" $texts --batch 8 -n 8 --case 'parallel-fhs steps=64' --case 'parallel-fhs steps=64 cache=window:64/32'

stage 100 'e: LLaDA of 8 B parameters, 512 positions'
wait $made
step llada "$m" bench --model "$large" $gpu --dtype fp16 $calls --batch 1,8 -n 8

stage 50 'f: a server with 64 clients for 30 s'
step serve python3 tools/gpu/load.py 64 "${SERVE:-30}" '{"length": 64, "sampler": "parallel-fhs", "steps": 16}' "$m" serve "$big" $gpu --dtype fp16 --batch 64

failed=$(grep -c '^== .*: \(CUT\|FAILED\)' "$results")
printf '%4d s  %d steps failed or were cut\n' "$(since)" "$failed"
[ "$failed" = 0 ]
