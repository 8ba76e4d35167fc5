#!/usr/bin/env bash
# Expected: MatMulNBits with weights of 4 bits in blocks of 16 takes 0.75 bytes a weight: half a byte, and a float32 scale for 16.
# Happens: at accuracy level 4 on x86-64, onnxruntime holds three float32 numbers for each scale: the scale as given, a packed copy,
# and a sum of its block. So the weights take 1.25 bytes each in blocks of 16, more than weights of 8 bits with a scale a row.
# Why it matters here: a network of 3.8 billion weights peaked at 4.4 GiB in blocks of 16, and at 3.1 GiB in blocks of 32; large
# ones have blocks of 32 now.
# Versions: onnxruntime 1.32.0, onnx 1.23.2, numpy 2.3.5.
set -euo pipefail
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT; cd "$dir"
python3 -m venv env
env/bin/python -m pip install --quiet onnxruntime==1.32.0 onnx==1.23.2 numpy==2.3.5
cat >seen.py <<'PY'
import sys, numpy as np, onnxruntime as ort
from onnx import TensorProto, helper, save_model

n, block, layers = 4096, int(sys.argv[1]), 8
rng = np.random.default_rng(1)
def raw(name, kind, array):
    return helper.make_tensor(name, kind, array.shape, array.tobytes(), raw=True)
nodes, inits = [], []
for i in range(layers):
    inits.append(raw(f"w{i}", TensorProto.UINT8, rng.integers(0, 256, (n, n // block, block // 2), dtype=np.uint8)))
    inits.append(raw(f"s{i}", TensorProto.FLOAT, rng.random(n * n // block, dtype=np.float32)))
    nodes.append(helper.make_node("MatMulNBits", [f"x{i}", f"w{i}", f"s{i}"], [f"x{i + 1}"], domain="com.microsoft",
                                  K=n, N=n, bits=4, block_size=block, accuracy_level=4))
value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["rows", n])
graph = helper.make_graph(nodes, "g", [value("x0")], [value(f"x{layers}")], inits)
opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
save_model(helper.make_model(graph, opset_imports=opsets, ir_version=10), "g.onnx", save_as_external_data=True, location="g.data")
del inits, graph
PY
cat >open.py <<'PY'
import onnxruntime as ort
def resident():
    return sum(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(("RssAnon", "RssFile"))) * 1024
before = resident()
session = ort.InferenceSession("g.onnx", providers=["CPUExecutionProvider"])
print(round((resident() - before) / (8 * 4096 * 4096), 2))
PY
bytes() { rm -f g.*; env/bin/python seen.py "$1"; env/bin/python open.py; }
# The runtime's own memory is the same for both.
small=$(bytes 16); large=$(bytes 32)
echo "bytes a weight: $small in blocks of 16, $large in blocks of 32"
seen=$(awk "BEGIN { printf \"%.0f\", ($small - $large) / (1/16. - 1/32.) / 4 }")
echo "numbers held for each scale: $seen"
[ "$seen" = 3 ]
