"""Writes the ONNX files of testdata/foreign: graphs as other tools export them.

Each returns row id of a fixed table at every position, so that a test knows
every logit. Needs the Python packages onnx and numpy; run in testdata/foreign.
"""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

V, L = 7, 5
TABLE = (np.arange(V * V, dtype=np.float32).reshape(V, V) * 37 % 11 - 5) / 4


def write(name, inputs, nodes, output, table=TABLE, out_type=TensorProto.FLOAT):
    graph = helper.make_graph(
        nodes, name, inputs, [helper.make_tensor_value_info(output[0], out_type, output[1])],
        [numpy_helper.from_array(table, "table")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, name + ".onnx")


def ids(shape, name="input_ids"):
    return helper.make_tensor_value_info(name, TensorProto.INT64, shape)


dynamic = ["batch", "length"]
gather = helper.make_node("Gather", ["table", "input_ids"], ["logits"])
write("plain", [ids(dynamic)], [gather], ("logits", dynamic + [V]))
write("static", [ids(["batch", L])], [gather], ("logits", ["batch", L, V]))
write("half", [ids(dynamic)], [gather], ("logits", dynamic + [V]), TABLE.astype(np.float16), TensorProto.FLOAT16)
# The inputs of a masked language model, and an output under another name.
write("bert", [ids(dynamic), ids(dynamic, "attention_mask"), ids(dynamic, "position_ids"), ids(dynamic, "token_type_ids")], [
    helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
    helper.make_node("Add", ["attention_mask", "position_ids"], ["a"]),
    helper.make_node("Add", ["a", "token_type_ids"], ["b"]),
    helper.make_node("Cast", ["b"], ["c"], to=TensorProto.FLOAT),
    helper.make_node("Constant", [], ["axes"], value=numpy_helper.from_array(np.array([2], dtype=np.int64))),
    helper.make_node("Unsqueeze", ["c", "axes"], ["d"]),
    helper.make_node("Add", ["rows", "d"], ["scores"]),
], ("scores", dynamic + [V]))
# σ is added to every logit.
write("timed", [ids(dynamic), helper.make_tensor_value_info("timesteps", TensorProto.FLOAT, ["batch"])], [
    helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
    helper.make_node("Constant", [], ["axes"], value=numpy_helper.from_array(np.array([1, 2], dtype=np.int64))),
    helper.make_node("Unsqueeze", ["timesteps", "axes"], ["t"]),
    helper.make_node("Add", ["rows", "t"], ["logits"]),
], ("logits", dynamic + [V]))
# An input that no masked language model has.
write("strange", [ids(dynamic), ids(dynamic, "past")], [
    gather, helper.make_node("Identity", ["past"], ["unused"])], ("logits", dynamic + [V]))
# A second output, which nobody asked for.
both = helper.make_graph(
    [gather, helper.make_node("Identity", ["logits"], ["hidden"])], "two", [ids(dynamic)],
    [helper.make_tensor_value_info("hidden", TensorProto.FLOAT, dynamic + [V]), helper.make_tensor_value_info("logits", TensorProto.FLOAT, dynamic + [V])],
    [numpy_helper.from_array(TABLE, "table")])
onnx.save(helper.make_model(both, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "two.onnx")
# Like ours, but its output does not even tell its rank.
vague = helper.make_graph(
    [gather], "vague", [ids(dynamic), ids(dynamic, "positions")], [onnx.ValueInfoProto(
        name="logits", type=helper.make_tensor_type_proto(TensorProto.FLOAT, None))],
    [numpy_helper.from_array(TABLE, "table")])
onnx.save(helper.make_model(vague, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "vague.onnx")
# Logits in a type that is not read.
write("double", [ids(dynamic)], [gather], ("logits", dynamic + [V]), TABLE.astype(np.float64), TensorProto.DOUBLE)
# A batch of one, and a batch of three with σ as a column and ids of 32 bits under another name.
write("one", [ids([1, "length"])], [gather], ("logits", [1, "length", V]))
write("three", [helper.make_tensor_value_info("canvas", TensorProto.INT32, [3, "length"]), helper.make_tensor_value_info("sigma", TensorProto.FLOAT16, [3, 1]),
                helper.make_tensor_value_info("attention_mask", TensorProto.BOOL, [1, "length"])], [
    helper.make_node("Gather", ["table", "canvas"], ["rows"]),
    helper.make_node("Constant", [], ["axes"], value=numpy_helper.from_array(np.array([2], dtype=np.int64))),
    helper.make_node("Cast", ["sigma"], ["t"], to=TensorProto.FLOAT),
    helper.make_node("Unsqueeze", ["t", "axes"], ["u"]),
    helper.make_node("Cast", ["attention_mask"], ["m"], to=TensorProto.FLOAT),
    helper.make_node("Unsqueeze", ["m", "axes"], ["n"]),
    helper.make_node("Mul", ["rows", "n"], ["seen"]),
    helper.make_node("Add", ["seen", "u"], ["logits"]),
], ("logits", [3, "length", V]))
# Quantised with one scale for the whole call.
write("scaled", [ids(dynamic)], [
    helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
    helper.make_node("DynamicQuantizeLinear", ["rows"], ["q", "scale", "zero"]),
    helper.make_node("DequantizeLinear", ["q", "scale", "zero"], ["logits"]),
], ("logits", dynamic + [V]))
# A product with weights of 8 bits, which are the identity.
write("weights8", [ids(dynamic)], [
    helper.make_node("Constant", [], ["eye"], value=numpy_helper.from_array(np.eye(16, V, dtype=np.int8))),
    helper.make_node("Constant", [], ["one"], value=numpy_helper.from_array(np.float32(1))),
    helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
    helper.make_node("DequantizeLinear", ["eye", "one"], ["weights"]),
    helper.make_node("MatMul", ["rows", "weights"], ["logits"]),
], ("logits", dynamic + [V]), np.pad(TABLE, ((0, 0), (0, 9))))
# Two inputs that may be the canvas.
write("either", [ids(dynamic, "a"), ids(dynamic, "b")], [
    helper.make_node("Add", ["a", "b"], ["sum"]), helper.make_node("Gather", ["table", "sum"], ["logits"])], ("logits", dynamic + [V]))
# A time that is counted in steps.
write("steps", [ids(dynamic), helper.make_tensor_value_info("timesteps", TensorProto.INT64, ["batch"])], [
    helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
    helper.make_node("Cast", ["timesteps"], ["s"], to=TensorProto.FLOAT),
    helper.make_node("Constant", [], ["axes"], value=numpy_helper.from_array(np.array([1, 2], dtype=np.int64))),
    helper.make_node("Unsqueeze", ["s", "axes"], ["t"]),
    helper.make_node("Add", ["rows", "t"], ["logits"]),
], ("logits", dynamic + [V]))
# Weights in bfloat16, in which the CPU has no product of matrices.
brain = helper.make_graph(
    [helper.make_node("Gather", ["table", "input_ids"], ["rows"]), helper.make_node("MatMul", ["rows", "unit"], ["logits"])], "brain", [ids(dynamic)],
    [helper.make_tensor_value_info("logits", TensorProto.BFLOAT16, dynamic + [V])],
    [helper.make_tensor(name, TensorProto.BFLOAT16, [V, V], table.flatten().tolist()) for name, table in (("table", TABLE), ("unit", np.eye(V)))])
onnx.save(helper.make_model(brain, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "brain.onnx")
