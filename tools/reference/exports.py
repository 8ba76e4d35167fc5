"""Exports a small MDLM network to ONNX as other tools do.

    python exports.py CHECKPOINT OUT

CHECKPOINT is a folder with config.json, model.safetensors and golden.safetensors, such as
testdata/reference/checkpoints/mdlm. OUT receives ts-FORM.onnx and dynamo-FORM.onnx, by either
exporter of torch, for the forms below, and golden32.safetensors, the cases of full length. Both
need torch, onnx, onnxscript, onnxruntime and safetensors. The network is checked against
golden.safetensors first. TestExports of cmd/mdmgen/app reads OUT.
"""
import json
import math
import pathlib
import sys

import onnx
import torch
import torch.nn.functional as F
from onnxruntime.quantization import QuantType, quantize_dynamic
from safetensors.torch import load_file, save_file


class MDLM(torch.nn.Module):
    """The diffusion transformer of MDLM (arXiv 2406.07524) with the tensors of a checkpoint.

    sigma is the network's own input, [B]. Where a checkpoint has no time conditioning its
    sampler passes zeros, and so does forward where sigma is None.
    """

    def __init__(self, folder):
        super().__init__()
        config = json.loads((folder / "config.json").read_text())
        self.heads, self.blocks = config["n_heads"], config["n_blocks"]
        self.hidden = config["hidden_dim"]
        for name, value in load_file(folder / "model.safetensors").items():
            self.register_buffer(self.key(name.removeprefix("backbone.")), value)

    @staticmethod
    def key(name):
        return name.replace(".", "__")

    def w(self, name):
        return getattr(self, self.key(name))

    def linear(self, name, x, bias=True):
        return F.linear(x, self.w(name + ".weight"), self.w(name + ".bias") if bias else None)

    def norm(self, name, x, shift, scale):
        y = F.layer_norm(x, [self.hidden], self.w(name + ".weight"))
        return y * (1 + scale) + shift

    def rotate(self, x, cos, sin):
        a, b = x.chunk(2, dim=-1)
        return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)

    def forward(self, ids, sigma=None, mask=None):
        x = F.embedding(ids, self.w("vocab_embed.embedding"))
        batch, length = ids.shape
        if sigma is None:
            sigma = torch.zeros(1, dtype=x.dtype)
        half = self.w("sigma_map.mlp.0.weight").shape[1] // 2
        omega = torch.exp(-math.log(10000) * torch.arange(half, dtype=torch.float32) / half).to(x.dtype)
        angle = sigma[:, None].to(x.dtype) * omega
        c = self.linear("sigma_map.mlp.0", torch.cat((torch.cos(angle), torch.sin(angle)), dim=-1))
        c = F.silu(self.linear("sigma_map.mlp.2", F.silu(c)))
        turn = torch.outer(torch.arange(length).to(x.dtype), self.w("rotary_emb.inv_freq"))
        cos, sin = torch.cos(turn), torch.sin(turn)
        seen = None if mask is None else mask[:, None, None, :].bool()
        for i in range(self.blocks):
            name = f"blocks.{i}."
            shift1, scale1, gate1, shift2, scale2, gate2 = self.linear(name + "adaLN_modulation", c)[:, None].chunk(6, dim=2)
            y = self.linear(name + "attn_qkv", self.norm(name + "norm1", x, shift1, scale1), bias=False)
            q, k, v = y.reshape(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
            o = F.scaled_dot_product_attention(self.rotate(q, cos, sin), self.rotate(k, cos, sin), v, attn_mask=seen)
            o = o.transpose(1, 2).reshape(batch, length, self.hidden)
            x = x + gate1 * self.linear(name + "attn_out", o, bias=False)
            y = F.gelu(self.linear(name + "mlp.0", self.norm(name + "norm2", x, shift2, scale2)), approximate="tanh")
            x = x + gate2 * self.linear(name + "mlp.2", y)
        shift, scale = self.linear("output_layer.adaLN_modulation", c)[:, None].chunk(2, dim=2)
        return self.linear("output_layer.linear", self.norm("output_layer.norm_final", x, shift, scale))


class With(torch.nn.Module):
    """The network with one more input, by its name, or none."""

    def __init__(self, net, name=None):
        super().__init__()
        self.net, self.name = net, name

    def forward(self, ids, more=None):
        return self.net(ids, **({self.name: more} if self.name else {}))


def check(net, golden):
    """The greatest difference of the network's logits from the golden ones."""
    worst = 0.0
    for name, want in golden.items():
        if name.startswith("logits."):
            got = net(golden["input_ids." + name.partition(".")[2]])
            worst = max(worst, (got - want).abs().max().item())
    return worst


def export(dynamo, path, net, args, names, output, open_dims):
    """open_dims names the open dimensions of the canvas, by their index."""
    options = dict(input_names=names, output_names=[output], dynamo=dynamo)
    if dynamo:
        dims = {i: torch.export.Dim(name, min=1, max=1 << 16) for i, name in open_dims.items()}
        # One for each argument: of two dimensions, or of the batch alone.
        shapes = tuple({i: d for i, d in dims.items() if i < arg.dim()} for arg in args)
        torch.onnx.export(net, args, path, dynamic_shapes=shapes if open_dims else None, external_data=False, verbose=False, **options)
    else:
        axes = {name: {i: d for i, d in open_dims.items() if i < arg.dim()} for name, arg in zip(names, args)}
        axes[output] = open_dims
        torch.onnx.export(net, args, path, dynamic_axes=axes if open_dims else None, opset_version=17, **options)


def main(folder, out):
    folder, out = pathlib.Path(folder), pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    net = MDLM(folder).eval()
    golden = load_file(folder / "golden.safetensors")
    worst = check(net, golden)
    print(f"torch beside golden.safetensors: {worst:.2g}")
    if worst > 2e-5:
        sys.exit("the network of this script is not the checkpoint's")
    full = [n.partition(".")[2] for n, t in golden.items() if n.startswith("input_ids.") and t.shape[1] == 32]
    save_file({n: t.contiguous() for n, t in golden.items() if n.partition(".")[2] in full}, out / "golden32.safetensors")

    both = {0: "batch", 1: "length"}
    ids = torch.randint(0, 131, (2, 32))
    sigma, mask = torch.rand(2), torch.ones(2, 32, dtype=torch.int64)
    half = MDLM(folder).eval().half()
    # Form: network, arguments, their names, the output's name, open dimensions.
    forms = {
        "dynamic": (With(net), (ids,), ["input_ids"], "logits", both),
        "batch1": (With(net), (ids[:1],), ["input_ids"], "logits", {1: "length"}),
        "batch4": (With(net), (torch.cat((ids, ids)),), ["input_ids"], "logits", {1: "length"}),
        "static": (With(net), (ids[:1],), ["input_ids"], "logits", {}),
        "mask": (With(net, "mask"), (ids, mask), ["input_ids", "attention_mask"], "logits", both),
        "sigma": (With(net, "sigma"), (ids, sigma), ["indices", "sigma"], "logits", both),
        "float16": (With(half), (ids,), ["input_ids"], "logits", both),
        "names": (With(net), (ids.int(),), ["noisy_tokens"], "scores", both),
    }
    failed = []
    for tool, dynamo in (("ts", False), ("dynamo", True)):
        for form, args in forms.items():
            path = out / f"{tool}-{form}.onnx"
            try:
                with torch.no_grad():
                    export(dynamo, path, *args)
                onnx.checker.check_model(path)
            except Exception as error:
                failed.append(f"{path.name}: {type(error).__name__}: {str(error)[-600:]}")
        if (plain := out / f"{tool}-dynamic.onnx").exists():
            # The shapes of inner values that the newer exporter writes are no longer true of
            # transposed weights, and the quantizer refuses them.
            model = onnx.load(plain)
            del model.graph.value_info[:]
            quantize_dynamic(model, out / f"{tool}-int8.onnx", weight_type=QuantType.QInt8)
    print(f"{len(list(out.glob('*.onnx')))} files in {out}")
    if failed:
        sys.exit("\n".join(failed))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
