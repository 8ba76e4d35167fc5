"""Writes the causal language models of testdata/foreign, as common tools export them.

Each is a bigram model over the 387 ids of ../tokenizers/gpt2.tokenizer.json: the
logits after id a are A[a]·B, so that a test knows every probability. What else
the graphs take changes the logits unless it is what a text without a past has.
Needs the Python packages onnx and numpy; run in testdata/foreign.
"""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

V = 387
a, v = np.arange(V), np.arange(V)
A = np.stack([(a * 7 % 13 - 6) / 4, (a * 5 % 11 - 5) / 4], axis=1).astype(np.float32)
B = np.stack([(v * 3 % 17 - 8) / 8, (v * 11 % 19 - 9) / 8]).astype(np.float32)
C = ((v % 5 - 2) / 8).astype(np.float32)
ids = ["batch", "sequence"]


def port(name, elem, shape):
    return helper.make_tensor_value_info(name, elem, shape)


def number(name, value, kind=np.float32):
    return numpy_helper.from_array(np.array(value, dtype=kind), name)


def write(name, inputs, nodes, outputs, inits=(), kind=np.float32):
    tables = [numpy_helper.from_array(A.astype(kind), "a"), numpy_helper.from_array(B.astype(kind), "b"), numpy_helper.from_array(C.astype(kind), "c")]
    graph = helper.make_graph(nodes, name, inputs, outputs, tables + list(inits))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, name + ".onnx")


def bigram(out):
    return [helper.make_node("Gather", ["a", "input_ids"], ["rows"]), helper.make_node("MatMul", ["rows", "b"], [out])]


FLOAT, HALF, INT64, INT32, BOOL = TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.INT64, TensorProto.INT32, TensorProto.BOOL

write("causal", [port("input_ids", INT64, ids)], bigram("logits"), [port("logits", FLOAT, ids + [V])])
write("causal-static", [port("input_ids", INT64, [2, 8])], bigram("scores"), [port("scores", FLOAT, [2, 8, V])])
# Quantised with one scale for the whole call.
write("causal-scaled", [port("input_ids", INT64, ids)], [
    helper.make_node("Gather", ["a", "input_ids"], ["exact"]),
    helper.make_node("DynamicQuantizeLinear", ["exact"], ["q", "scale", "zero"]),
    helper.make_node("DequantizeLinear", ["q", "scale", "zero"], ["rows"]),
    helper.make_node("MatMul", ["rows", "b"], ["logits"]),
], [port("logits", FLOAT, ids + [V])])

# GPT-2 with a cache. position·C is added to the logits, (mask−1)·C too, and the past's sum times C.
past = ["batch", 2, "past_sequence_length", 4]
present = ["batch", 2, "total_sequence_length", 4]


def cached(kind, elem, whole, name, more_inputs=(), more=(), last="p"):
    nodes = bigram("plain") + [
        helper.make_node("Cast", ["attention_mask"], ["m"], to=elem),
        helper.make_node("Cast", ["position_ids"], ["l"], to=elem),
        helper.make_node("Sub", ["m", "one"], ["m1"]),
        helper.make_node("Add", ["m1", "l"], ["s"]),
        helper.make_node("Unsqueeze", ["s", "two"], ["s3"]),
        helper.make_node("ReduceSum", ["past_key_values.0.key", "axes"], ["k"], keepdims=1),
        helper.make_node("Squeeze", ["k", "squeezed"], ["k3"]),
        helper.make_node("Add", ["s3", "k3"], ["p"]),
        *more,
        helper.make_node("Mul", [last, "c"], ["extra"]),
        helper.make_node("Add", ["plain", "extra"], ["logits"]),
        helper.make_node("Identity", ["past_key_values.0.key"], ["present.0.key"]),
        helper.make_node("Identity", ["past_key_values.0.value"], ["present.0.value"]),
    ]
    write(name, [
        port("input_ids", whole, ids), port("attention_mask", whole, ["batch", "total"]), port("position_ids", whole, ids),
        port("past_key_values.0.key", elem, past), port("past_key_values.0.value", elem, past), *more_inputs,
    ], nodes, [port("present.0.key", elem, present), port("present.0.value", elem, present), port("logits", elem, ids + [V])], [
        number("one", [1], kind), number("two", [2], np.int64), number("axes", [1, 2, 3], np.int64), number("squeezed", [3], np.int64), number("many", [100], kind),
    ], kind)


cached(np.float32, FLOAT, INT64, "causal-cached")
# Half precision, int32, and a switch between a first call and later ones.
cached(np.float16, HALF, INT32, "causal-merged", [port("use_cache_branch", BOOL, [1])], [
    helper.make_node("Cast", ["use_cache_branch"], ["u"], to=HALF),
    helper.make_node("Mul", ["u", "many"], ["u100"]),
    helper.make_node("Add", ["p", "u100"], ["q"]),
], "q")

# What is refused: an input of another kind of network, logits of one position, an unknown vocabulary.
write("causal-encoder", [port("input_ids", INT64, ids), port("encoder_hidden_states", FLOAT, ids + [4])],
      bigram("logits") + [helper.make_node("Identity", ["encoder_hidden_states"], ["unused"])], [port("logits", FLOAT, ids + [V])])
write("causal-last", [port("input_ids", INT64, ids)], bigram("all") + [helper.make_node("ReduceMax", ["all"], ["logits"], axes=[1], keepdims=0)],
      [port("logits", FLOAT, ["batch", V])])
write("causal-unknown", [port("input_ids", INT64, ids)], bigram("logits"), [port("logits", FLOAT, ids + ["vocabulary"])])

# What is refused at the first call: rows that look at the whole text.
write("causal-both-ways", [port("input_ids", INT64, ids)], [
    helper.make_node("Gather", ["a", "input_ids"], ["one"]),
    helper.make_node("ReduceMean", ["one"], ["whole"], axes=[1], keepdims=1),
    helper.make_node("Add", ["one", "whole"], ["rows"]),
    helper.make_node("MatMul", ["rows", "b"], ["logits"]),
], [port("logits", FLOAT, ids + [V])])
# Positions are rows of a table of 12, as GPT-2's are: a longer text fails inside.
write("causal-twelve", [port("input_ids", INT64, ids), port("position_ids", INT64, ids)], bigram("plain") + [
    helper.make_node("Gather", ["places", "position_ids"], ["place"]),
    helper.make_node("Add", ["plain", "place"], ["logits"]),
], [port("logits", FLOAT, ids + [V])], [numpy_helper.from_array(np.zeros((12, 1), dtype=np.float32), "places")])
