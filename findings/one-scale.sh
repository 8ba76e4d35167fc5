#!/usr/bin/env bash
# Expected: a network whose rows do not look at each other gives a row the same result alone and beside others, also after
# onnxruntime's quantize_dynamic.
# Happens: DynamicQuantizeLinear takes one scale from the whole tensor, so from every row of the batch. A row of small
# numbers beside a row of large ones loses its digits: here it is off by a tenth of itself and more.
# Why it matters here: the same seed drew other texts in another batch. Such a graph is asked one text at a time.
# Versions: onnxruntime 1.32.0, onnx 1.23.2, numpy 2.3.5; the operator's definition in onnx says so in a formula.
set -euo pipefail
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT; cd "$dir"
python3 -m venv env
env/bin/python -m pip install --quiet onnxruntime==1.32.0 onnx==1.23.2 numpy==2.3.5
cat >seen.py <<'PY'
import numpy as np, onnx, onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import quantize_dynamic

rng = np.random.default_rng(1)
weights = numpy_helper.from_array(rng.standard_normal((64, 64)).astype(np.float32), "w")
value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["rows", 64])
graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "g", [value("x")], [value("y")], [weights])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), "plain.onnx")
quantize_dynamic("plain.onnx", "quantised.onnx")
small = rng.standard_normal((1, 64)).astype(np.float32)
both = np.concatenate([small, 100 * small])
for name in "plain", "quantised":
    run = ort.InferenceSession(name + ".onnx", providers=["CPUExecutionProvider"]).run
    alone, beside = run(None, {"x": small})[0][0], run(None, {"x": both})[0][0]
    changed = np.abs(alone - beside).max() / np.abs(alone).max()
    print(name, "moves" if changed > 0.1 else "stays" if changed < 1e-5 else "moves a little")
PY
seen=$(env/bin/python seen.py)
echo "$seen"
[ "$seen" = "plain stays
quantised moves" ]
