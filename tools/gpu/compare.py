"""The PyTorch side of the comparison in docs/cuda.md, for a machine with a GPU.

    compare.py make DIR [shape]      writes an MDLM checkpoint of random weights, without PyTorch
    compare.py golden DIR            writes reference logits beside it
    compare.py time DIR [options]    times the network of that checkpoint in PyTorch

The network is MDLM's transformer without time conditioning, with scaled_dot_product_attention,
compiled. A row is a canvas of a call; it is timed with the logits of all positions, as
upstream computes them, and with those of one position a canvas, as First-Hitting wants them.
"""
import argparse, json, math, os, random, sys, time

if sys.argv[1:2] != ["make"]:
    import torch
    import torch.nn.functional as F
    from safetensors.torch import load_file, save_file


def shapes(a):
    h, c, v = a.hidden, a.cond, a.vocab
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
    header, size = {"__metadata__": {"format": "pt"}}, 0
    for name, shape in shapes(a):
        header["backbone." + name] = {"dtype": "BF16", "shape": shape, "data_offsets": [size, size + 2 * math.prod(shape)]}
        size += 2 * math.prod(shape)
    config = {"architectures": ["MDLM"], "model_type": "mdlm", "hidden_dim": a.hidden, "cond_dim": a.cond, "n_blocks": a.blocks, "n_heads": a.heads,
              "model_length": a.length, "vocab_size": a.vocab, "time_conditioning": False, "torch_dtype": "bfloat16"}
    os.makedirs(a.dir, exist_ok=True)
    with open(os.path.join(a.dir, "config.json"), "w") as f:
        json.dump(config, f)
    source, text = random.Random(a.seed), json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(os.path.join(a.dir, "model.safetensors"), "wb") as f:
        f.write(len(text).to_bytes(8, "little") + text)
        for name, shape in shapes(a):
            left = math.prod(shape)
            while left > 0:
                n = min(left, 1 << 18)
                left -= n
                if "norm" in name:
                    f.write(b"\x80\x3f" * n)  # 1
                else:  # either sign, 1/64 to 1/32
                    bits = int.from_bytes(source.randbytes(2 * n), "little")
                    bits = bits & int.from_bytes(b"\x7f\x80" * n, "little") | int.from_bytes(b"\x80\x3c" * n, "little")
                    f.write(bits.to_bytes(2 * n, "little"))


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


def timed(a):
    torch.backends.cuda.matmul.allow_tf32 = a.tf32
    config, net = load(a, {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}[a.dtype], a.device)
    wait = torch.cuda.synchronize if a.device.startswith("cuda") else lambda: None
    with torch.no_grad():
        run = torch.compile(net.__call__, dynamic=False) if a.compile else net
        for batch in map(int, a.batches.split(",")):
            ids = torch.randint(config["vocab_size"], (batch, config["model_length"]), device=a.device)
            for rows, positions in [("all positions", None), ("one position", ids[:, :1] * 0)]:
                try:
                    for _ in range(3):
                        run(ids, positions)
                    wait()
                    begin, calls = time.perf_counter(), 0
                    while time.perf_counter() - begin < a.seconds or calls < 3:
                        run(ids, positions)
                        wait()
                        calls += 1
                    each = (time.perf_counter() - begin) / calls
                    print(json.dumps({"torch": torch.__version__, "dtype": a.dtype, "compiled": a.compile, "logits": rows, "batch": batch,
                                      "seconds_per_call": each, "rows_per_second": batch / each}), flush=True)
                except torch.OutOfMemoryError:
                    print(json.dumps({"dtype": a.dtype, "logits": rows, "batch": batch, "error": "out of memory"}), flush=True)


p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("what", choices=["make", "golden", "time"])
p.add_argument("dir")
for name, default in [("hidden", 768), ("cond", 128), ("blocks", 12), ("heads", 12), ("length", 1024), ("vocab", 50258), ("seed", 1)]:
    p.add_argument("--" + name, type=int, default=default)
p.add_argument("--dtype", default="bf16", choices=["fp32", "fp16", "bf16"])
p.add_argument("--batches", default="1,8,64,256")
p.add_argument("--seconds", type=float, default=5)
p.add_argument("--device", default="cuda")
p.add_argument("--tf32", action="store_true")
p.add_argument("--no-compile", dest="compile", action="store_false")
a = p.parse_args()
if a.what == "make":
    make(a)
else:
    with torch.no_grad():
        golden(a) if a.what == "golden" else timed(a)
