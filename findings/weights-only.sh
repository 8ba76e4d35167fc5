#!/usr/bin/env bash
# Expected: a graph that stores weights in 8 bits, and has DequantizeLinear before its MatMul, multiplies in float32: nothing
# in it quantises an activation.
# Happens: onnxruntime fuses the two into MatMulNBits with its default accuracy level, which quantises the activations to
# 8 bits, too. The option session.qdq_matmulnbits_accuracy_level, 0, keeps them in float32.
# Why it matters here: logits of other tools' graphs were 0.04 to 0.06 off those of the same graph run by the book.
# Versions: onnxruntime 1.32.0, onnx 1.23.2, numpy 2.3.5; onnxruntime_session_options_config_keys.h names the option.
set -euo pipefail
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT; cd "$dir"
python3 -m venv env
env/bin/python -m pip install --quiet onnxruntime==1.32.0 onnx==1.23.2 numpy==2.3.5
cat >seen.py <<'PY'
import numpy as np, onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

rng = np.random.default_rng(1)
rows, columns, block = 256, 64, 32
weights = rng.integers(-127, 128, (rows, columns), dtype=np.int8)
scales = rng.uniform(0.001, 0.002, (rows // block, columns)).astype(np.float32)
value = lambda name, width: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["rows", width])
nodes = [
    helper.make_node("DequantizeLinear", ["w", "s"], ["f"], axis=0, block_size=block),
    helper.make_node("MatMul", ["x", "f"], ["y"]),
]
inits = [numpy_helper.from_array(weights, "w"), numpy_helper.from_array(scales, "s")]
graph = helper.make_graph(nodes, "g", [value("x", rows)], [value("y", columns)], inits)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10).SerializeToString()
x = rng.standard_normal((4, rows)).astype(np.float32)
want = x.astype(np.float64) @ (weights * np.repeat(scales, block, axis=0).astype(np.float64))
for level in None, "0":
    options = ort.SessionOptions()
    if level:
        options.add_session_config_entry("session.qdq_matmulnbits_accuracy_level", level)
    y = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]
    error = np.abs(y - want).max() / np.abs(want).max()
    print("level", level or "by default:", "float32" if error < 1e-5 else "8 bits" if error > 1e-4 else error)
PY
seen=$(env/bin/python seen.py)
echo "$seen"
[ "$seen" = "level by default: 8 bits
level 0 float32" ]
