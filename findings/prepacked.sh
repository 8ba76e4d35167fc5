#!/usr/bin/env bash
# Expected: a network saved with session.save_external_prepacked_constant_initializers is opened without packing its matrices
# anew, so that they are mapped from the file and no copies of them are in memory.
# Happens: the file has each matrix twice. Opening it maps the packed ones and reads them, and makes most copies in
# memory all the same: eight matrices take 1.7 times the resident memory that they take without the option.
# Why it matters here: a large network in 4 bits is held mostly as packed copies, which processes on one machine could share.
# By this option they would take more, of the disk as well, so converted models are not saved with it.
# Versions: onnxruntime 1.32.0, onnx 1.23.2, numpy 2.3.5; pull requests 22256 and 23069 of onnxruntime describe the option.
set -euo pipefail
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT; cd "$dir"
python3 -m venv env
env/bin/python -m pip install --quiet onnxruntime==1.32.0 onnx==1.23.2 numpy==2.3.5
cat >seen.py <<'PY'
import os, subprocess, sys
import numpy as np, onnx, onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

rng, size, names = np.random.default_rng(1), 2048, [f"w{i}" for i in range(8)]
weights = [numpy_helper.from_array(rng.standard_normal((size, size)).astype(np.float32), w) for w in names]
nodes = [helper.make_node("MatMul", [f"x{i}", w], [f"x{i + 1}"]) for i, w in enumerate(names)]
value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["rows", size])
graph = helper.make_graph(nodes, "g", [value("x0")], [value(f"x{len(names)}")], weights)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
onnx.save(model, "plain.onnx", save_as_external_data=True, location="plain.data")
options = ort.SessionOptions()
options.log_severity_level, options.optimized_model_filepath = 3, "packed.onnx"
options.add_session_config_entry("session.optimized_model_external_initializers_file_name", "packed.data")
options.add_session_config_entry("session.optimized_model_external_initializers_min_size_in_bytes", "1024")
options.add_session_config_entry("session.save_external_prepacked_constant_initializers", "1")
ort.InferenceSession("plain.onnx", options, providers=["CPUExecutionProvider"])

opened = """
import sys, onnxruntime as ort
def resident():
    return sum(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(("RssAnon", "RssFile"))) / 1024
before = resident()
session = ort.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
print(resident() - before)
"""
memory = {m: float(subprocess.check_output([sys.executable, "-c", opened, m + ".onnx"])) for m in ("plain", "packed")}
disk = os.path.getsize("packed.data") / os.path.getsize("plain.data")
more = memory["packed"] / memory["plain"]
print("resident, in MiB:", *(f"{m} {x:.0f}" for m, x in memory.items()), file=sys.stderr)
print("file:", "twice as large" if 1.9 < disk < 2.1 else f"{disk:.2f} times as large")
print("memory:", "more" if more > 1.3 else "as much" if more > 0.8 else "less")
PY
seen=$(env/bin/python seen.py)
echo "$seen"
[ "$seen" = "file: twice as large
memory: more" ]
