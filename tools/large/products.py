"""Measures the products with 4-bit weights of a converted network alone, and those of attention with 512 kept
rows, in processor seconds.

    python products.py FOLDER THREADS

Each product of the graph is computed once a run, on random rows, in the order of the graph and with the settings of
mdmgen's sessions. FOLDER is what `mdmgen convert --dtype int4` wrote. Needs onnx and onnxruntime.
"""

import os
import sys
import tempfile
import time

import numpy as np
import onnx
import onnxruntime as ort

SETTINGS = {"session.intra_op.allow_spinning": "1", "session.intra_op.spin_duration_us": "20", "session.force_spinning_stop": "1"}


def products(folder: str) -> onnx.ModelProto:
    """Returns the graph of the products of a network: an input for each width, an output for each product."""
    model = onnx.load(os.path.join(folder, "model.onnx"), load_external_data=False)
    nodes = [n for n in model.graph.node if n.op_type == "MatMulNBits"]
    weights = {name for n in nodes for name in n.input[1:]}
    size = lambda n, key: next(a.i for a in n.attribute if a.name == key)
    value = lambda name, width: onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["rows", width])
    for n in nodes:
        n.input[0] = f"x{size(n, 'K')}"
    inputs = [value(f"x{k}", k) for k in sorted({size(n, "K") for n in nodes})]
    outputs = [value(n.output[0], size(n, "N")) for n in nodes]
    graph = onnx.helper.make_graph(nodes, "products", inputs, outputs, [t for t in model.graph.initializer if t.name in weights])
    return onnx.helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)


def attention(folder: str, rows: int) -> onnx.ModelProto:
    """Returns the graph of all layers' products with kept keys and values, which it holds."""
    model = onnx.load(os.path.join(folder, "model.onnx"), load_external_data=False)
    kept = {i.name: [d.dim_value for d in i.type.tensor_type.shape.dim] for i in model.graph.input if i.name.startswith("kept_")}
    heads, size = next((shape[1], shape[3]) for shape in kept.values())
    queries = next(a.i for n in model.graph.node if n.op_type == "RotaryEmbedding" for a in n.attribute if a.name == "num_heads")
    rng, name = np.random.default_rng(1), lambda k: k.replace(".", "_")
    held = [onnx.numpy_helper.from_array(rng.standard_normal((1, heads, 512, size), dtype=np.float32), name(k)) for k in kept]
    keys = lambda k: k.startswith("kept_keys")
    nodes = [onnx.helper.make_node("FusedMatMul", ["q" if keys(k) else "p", name(k)], ["y" + name(k)], domain="com.microsoft", transB=int(keys(k))) for k in kept]
    value = lambda name, *shape: onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
    group = rows * queries // heads
    inputs = [value("q", 1, heads, group, size), value("p", 1, heads, group, 512)]
    outputs = [value("y" + name(k), 1, heads, group, 512 if keys(k) else size) for k in kept]
    return onnx.helper.make_model(onnx.helper.make_graph(nodes, "attention", inputs, outputs, held), opset_imports=model.opset_import, ir_version=model.ir_version)


def spent(run) -> str:
    """Returns the processor seconds of a run."""
    took = []
    for _ in range(21):
        before = time.process_time()
        run()
        took.append(time.process_time() - before)
    return f"{np.median(took):.4f} s of processors, least {min(took):.4f}"


def main(folder: str, threads: int) -> None:
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    for key, text in SETTINGS.items():
        options.add_session_config_entry(key, text)
    with tempfile.NamedTemporaryFile(suffix=".onnx", dir=folder) as file: # beside the weights
        file.write(products(folder).SerializeToString())
        file.flush()
        session = ort.InferenceSession(file.name, options, providers=["CPUExecutionProvider"])
    rng = np.random.default_rng(1)
    # The head's rows are large: results stay in memory that is bound once.
    for rows in 1, 4, 8, 32:
        binding = session.io_binding()
        for x in session.get_inputs():
            binding.bind_cpu_input(x.name, rng.standard_normal((rows, x.shape[1]), dtype=np.float32))
        for y in session.get_outputs():
            out = ort.OrtValue.ortvalue_from_numpy(np.zeros((rows, y.shape[1]), np.float32))
            binding.bind_ortvalue_output(y.name, out)
        alone = ort.InferenceSession(attention(folder, rows).SerializeToString(), options, providers=["CPUExecutionProvider"])
        random = {x.name: rng.standard_normal(x.shape, dtype=np.float32) for x in alone.get_inputs()}
        print(f"{rows} rows: weights {spent(lambda: session.run_with_iobinding(binding))}; attention {spent(lambda: alone.run(None, random))}", flush=True)


main(sys.argv[1], int(sys.argv[2]))
