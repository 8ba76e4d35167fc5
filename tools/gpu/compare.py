"""The PyTorch side of the comparison in docs/cuda.md, for a machine with a GPU.

    compare.py make DIR [shape]      writes a checkpoint of random weights, of MDLM or LLaDA
    compare.py golden DIR            writes reference logits beside MDLM's
    compare.py time DIR [options]    times the network of MDLM's checkpoint in PyTorch
    compare.py bus DIR               times copies of the keys and values of a canvas of it

The network is MDLM's transformer without time conditioning, with scaled_dot_product_attention,
compiled if asked. A row is a canvas of a call; it is timed with the logits of all positions, as
upstream computes them, and with those of some positions a canvas, as samplers want them.
"""
import argparse, json, os, pathlib, time

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file

LLADA = pathlib.Path(__file__).parents[2] / "testdata/reference/checkpoints/llada-gqa-bf16/config.json"
SHAPES = {
    "mdlm": {"hidden": 768, "cond": 128, "blocks": 12, "heads": 12, "vocab": 50258, "length": 1024},
    "llada": {"hidden": 4096, "cond": 0, "blocks": 32, "heads": 32, "vocab": 126464, "length": 512},
}


def shapes(a):
    h, c, v = a.hidden, a.cond, a.vocab
    if a.family == "llada":
        yield "transformer.wte.weight", (v, h)
        for i in range(a.blocks):
            for name, shape in [("attn_norm", (h,)), ("ff_norm", (h,)), ("q_proj", (h, h)), ("k_proj", (h, h)), ("v_proj", (h, h)), ("attn_out", (h, h)),
                                ("ff_proj", (3 * h, h)), ("up_proj", (3 * h, h)), ("ff_out", (h, 3 * h))]:
                yield f"transformer.blocks.{i}.{name}.weight", shape
        yield "transformer.ln_f.weight", (h,)
        yield "transformer.ff_out.weight", (v, h)
        return
    yield "vocab_embed.embedding", (v, h)
    yield "sigma_map.mlp.0.weight", (c, 256)
    yield "sigma_map.mlp.0.bias", (c,)
    yield "sigma_map.mlp.2.weight", (c, c)
    yield "sigma_map.mlp.2.bias", (c,)
    for i in range(a.blocks):
        for name, shape in [("norm1.weight", (h,)), ("norm2.weight", (h,)), ("attn_qkv.weight", (3 * h, h)), ("attn_out.weight", (h, h)),
                            ("mlp.0.weight", (4 * h, h)), ("mlp.0.bias", (4 * h,)), ("mlp.2.weight", (h, 4 * h)), ("mlp.2.bias", (h,)),
                            ("adaLN_modulation.weight", (6 * h, c)), ("adaLN_modulation.bias", (6 * h,))]:
            yield f"blocks.{i}.{name}", shape
    for name, shape in [("norm_final.weight", (h,)), ("linear.weight", (v, h)), ("linear.bias", (v,)),
                        ("adaLN_modulation.weight", (2 * h, c)), ("adaLN_modulation.bias", (2 * h,))]:
        yield f"output_layer.{name}", shape


class Network:
    """The weights by their names, and what follows from them and σ = 0 once."""

    def __init__(self, weights, config):
        self.w = {k.removeprefix("backbone."): v for k, v in weights.items()}
        self.heads, self.blocks = config["n_heads"], config["n_blocks"]
        w = self.w
        zero = torch.cat([torch.ones(128), torch.zeros(128)]).to(w["sigma_map.mlp.0.weight"])
        cond = F.silu(F.linear(zero, w["sigma_map.mlp.0.weight"], w["sigma_map.mlp.0.bias"]))
        cond = F.silu(F.linear(cond, w["sigma_map.mlp.2.weight"], w["sigma_map.mlp.2.bias"]))
        each = lambda name, n: F.linear(cond, w[name + ".weight"], w[name + ".bias"]).chunk(n)
        self.modulations = [each(f"blocks.{i}.adaLN_modulation", 6) for i in range(self.blocks)]
        self.last = each("output_layer.adaLN_modulation", 2)
        size = w["vocab_embed.embedding"].shape[1] // self.heads
        omega = 1 / 10000 ** (torch.arange(0, size, 2, device=cond.device).float() / size)
        angle = torch.outer(torch.arange(config["model_length"], device=cond.device).float(), omega)
        self.cos, self.sin = angle.cos().to(cond.dtype), angle.sin().to(cond.dtype)

    def norm(self, name, x, shift, scale):
        w = self.w[name]
        y = F.layer_norm(x.float(), x.shape[-1:]).to(x.dtype) * w  # in float32, as upstream
        return y * (1 + scale) + shift

    def rotate(self, x):
        n, half = x.shape[2], x.shape[3] // 2
        a, b, cos, sin = x[..., :half], x[..., half:], self.cos[:n], self.sin[:n]
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)

    def __call__(self, ids, positions=None):
        w = self.w
        x = w["vocab_embed.embedding"][ids]
        b, n, h = x.shape
        for i in range(self.blocks):
            shift, scale, gate, shift2, scale2, gate2 = self.modulations[i]
            at = f"blocks.{i}."
            qkv = F.linear(self.norm(at + "norm1.weight", x, shift, scale), w[at + "attn_qkv.weight"])
            q, k, v = qkv.view(b, n, 3, self.heads, h // self.heads).permute(2, 0, 3, 1, 4)
            o = F.scaled_dot_product_attention(self.rotate(q), self.rotate(k), v)
            x = x + gate * F.linear(o.transpose(1, 2).reshape(b, n, h), w[at + "attn_out.weight"])
            y = F.linear(self.norm(at + "norm2.weight", x, shift2, scale2), w[at + "mlp.0.weight"], w[at + "mlp.0.bias"])
            x = x + gate2 * F.linear(F.gelu(y, approximate="tanh"), w[at + "mlp.2.weight"], w[at + "mlp.2.bias"])
        if positions is not None:
            x = x.gather(1, positions[..., None].expand(-1, -1, h))
        x = self.norm("output_layer.norm_final.weight", x, *self.last)
        return F.linear(x, w["output_layer.linear.weight"], w["output_layer.linear.bias"])


def make(a):
    config = {"architectures": ["MDLM"], "model_type": "mdlm", "hidden_dim": a.hidden, "cond_dim": a.cond, "n_blocks": a.blocks, "n_heads": a.heads,
              "model_length": a.length, "vocab_size": a.vocab, "time_conditioning": False, "torch_dtype": "bfloat16"}
    if a.family == "llada":
        config = json.loads(LLADA.read_text()) | {
            "d_model": a.hidden, "n_layers": a.blocks, "n_heads": a.heads, "n_kv_heads": a.heads, "mlp_hidden_size": 3 * a.hidden, "embedding_size": a.vocab,
            "vocab_size": a.vocab, "max_sequence_length": a.length, "mask_token_id": a.vocab - 2, "eos_token_id": a.vocab - 1, "pad_token_id": a.vocab - 1}
    torch.manual_seed(a.seed)
    os.makedirs(a.dir, exist_ok=True)
    with open(os.path.join(a.dir, "config.json"), "w") as f:
        json.dump(config, f)
    prefix = "model." if a.family == "llada" else "backbone."
    kind = dict(dtype=torch.float16 if a.family == "llada" else torch.bfloat16, device=a.device)  # as float16 is used without a conversion
    save_file({prefix + name: (torch.ones(shape, **kind) if len(shape) == 1 and ("norm" in name or "ln_f" in name) else torch.randn(shape, **kind) / 50).cpu()
               for name, shape in shapes(a)}, os.path.join(a.dir, "model.safetensors"), {"format": "pt"})


def load(a, dtype, device="cpu"):
    with open(os.path.join(a.dir, "config.json")) as f:
        config = json.load(f)
    weights = load_file(os.path.join(a.dir, "model.safetensors"))
    return config, Network({k: v.to(device, dtype) for k, v in weights.items()}, config)


def golden(a):
    torch.manual_seed(a.seed)
    config, net = load(a, torch.float32)
    out = {}
    for n, length in enumerate([1, 7, min(64, config["model_length"])]):
        ids = torch.randint(config["vocab_size"], (2, length))
        out[f"input_ids.{n}"], out[f"logits.{n}"] = ids, net(ids)
    save_file(out, os.path.join(a.dir, "golden.safetensors"))


def waiter(a):
    return torch.cuda.synchronize if a.device.startswith("cuda") else lambda: None


def timed(a):
    config, net = load(a, {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}[a.dtype], a.device)
    wait = waiter(a)
    run = torch.compile(net.__call__, dynamic=False) if a.compile else net

    ready = []  # What is compiled waits until the machine is free, when the file a.after exists.

    def finish():
        while ready:
            batch, positions, ids, at = ready.pop(0)
            begin, calls = time.perf_counter(), 0
            while time.perf_counter() - begin < a.seconds or calls < 3:
                run(ids, at)
                wait()
                calls += 1
            each = (time.perf_counter() - begin) / calls
            print(json.dumps({"torch": torch.__version__, "dtype": a.dtype, "compiled": a.compile, "positions": positions, "batch": batch,
                              "seconds_per_call": each, "rows_per_second": batch / each}), flush=True)

    for positions in map(int, a.positions.split(",")):
        for batch in map(int, a.batches.split(",")):
            ids = torch.randint(config["vocab_size"], (batch, config["model_length"]), device=a.device)
            at = ids[:, :positions] * 0 if positions < config["model_length"] else None
            try:
                for _ in range(3):
                    run(ids, at)
                wait()
                ready.append((batch, positions, ids, at))
            except torch.OutOfMemoryError:
                print(json.dumps({"dtype": a.dtype, "positions": positions, "batch": batch, "error": "out of memory"}), flush=True)
            if not a.after or os.path.exists(a.after):
                finish()
    if a.after:
        pathlib.Path(a.after + ".ready").touch()
        while not os.path.exists(a.after):
            time.sleep(0.1)
    finish()


def bus(a):
    with open(os.path.join(a.dir, "config.json")) as f:
        config = json.load(f)
    shape, wait = (config["n_blocks"], 2, config["model_length"], config["hidden_dim"]), waiter(a)
    for pinned in [False, True] if a.device != "cpu" else [False]:
        here, there = torch.ones(shape, pin_memory=pinned), torch.ones(shape, device=a.device)
        for to, source, target in [("device", here, there), ("host", there, here)]:
            times = []
            for _ in range(20):
                wait()
                begin = time.perf_counter()
                target.copy_(source)
                wait()
                times.append(time.perf_counter() - begin)
            each = sorted(times)[10]
            print(json.dumps({"to": to, "pinned": pinned, "bytes": here.nbytes, "seconds": each, "bytes_per_second": here.nbytes / each}), flush=True)


p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("command", choices=["make", "golden", "time", "bus"])
p.add_argument("dir")
p.add_argument("--family", choices=["mdlm", "llada"], default="mdlm")
for name in SHAPES["mdlm"]:
    p.add_argument("--" + name, type=int, help=f"{SHAPES['mdlm'][name]}, or {SHAPES['llada'][name]} with --family llada")
p.add_argument("--seed", type=int, default=1)
p.add_argument("--device", default="cuda")
p.add_argument("--dtype", choices=["fp32", "fp16", "bf16"], default="bf16")
p.add_argument("--batches", default="1,8,64")
p.add_argument("--positions", default="64,1024", help="positions of a canvas whose logits are computed, such as 64,1024")
p.add_argument("--seconds", type=float, default=2, help="least time of each measurement")
p.add_argument("--compile", action="store_true")
p.add_argument("--after", help="compile first, and measure when this file exists")
a = p.parse_args()
for name, size in SHAPES[a.family].items():
    setattr(a, name, getattr(a, name) or size)
with torch.no_grad():
    {"make": make, "golden": golden, "time": timed, "bus": bus}[a.command](a)
