#!/bin/sh
# Makes libraries with the names of CUDA's and cuDNN's that compute nothing. With them the runtime's build with
# CUDA opens and runs networks on a machine without a GPU, and its profile shows where their nodes run:
#
#	tools/gpu/nothing.sh DIR RUNTIME
#	PATH=DIR:$PATH LD_LIBRARY_PATH=DIR mdmgen doctor --device cuda --set runtime=RUNTIME --model X
#
# RUNTIME is the folder that `mdmgen runtime install --cuda` names. Memory is the processor's and holds what was
# copied or left there, so all numbers are meaningless, and a call whose sizes depend on them fails. It needs nm
# and a C compiler.
set -eu
dir=$1 source=$(dirname "$0")/nothing.c
mkdir -p "$dir"
provider=$2/libonnxruntime_providers_cuda.so
{ nm -D --undefined-only "$provider" | sed -n 's/^ *U \(\(__cuda\|cu\)[A-Za-z0-9_]*\).*/\1/p'; strings "$provider" | grep -x 'cudnn[A-Z][A-Za-z0-9_]*'; } | sort -u | while read -r name; do
	grep -q "[ *]$name(" "$source" || echo "int $name(void) { return 0; }"
done >"$dir/rest.c"
${CC:-cc} -shared -fPIC -w -o "$dir/libcudart.so.13" "$source" "$dir/rest.c"
for name in libcublas.so.13 libcublasLt.so.13 libcurand.so.10 libcuda.so.1 libcudnn.so.9; do
	ln -sf libcudart.so.13 "$dir/$name"
done
printf '#!/bin/sh\necho "0, nothing, 8.0, 16384, 580.0, 0, 0, 0"\n' >"$dir/nvidia-smi"
chmod +x "$dir/nvidia-smi"
