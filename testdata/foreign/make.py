"""Writes the ONNX files of this folder: graphs as other tools export them.

Each returns row id of a fixed table at every position, so that a test knows
every logit. Needs the Python packages onnx and numpy; run in this folder.
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
