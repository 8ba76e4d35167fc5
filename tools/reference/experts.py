"""Makes folders of mixtures of experts with random shapes and weights, and the rows of the public code, for
`mdmgen verify FOLDER --golden FOLDER/moe-golden.safetensors`; the first of SDAR's is testdata/reference/moe/sdar-moe.

    python3 -m venv venv && venv/bin/pip install torch transformers==4.57.1 safetensors
    venv/bin/python tools/reference/experts.py DLLM SDAR OUT [COUNT]

DLLM is a checkout of ZHZisZZ/dllm at ca17675 and SDAR one of PKU-SEC-Lab/TEAM-MoE-dLLM at e9c502e, whose
modeling_sdar_moe.py is that of JetLM/SDAR-30B-A3B-Chat with arguments that are not used here. It needs a config class,
which is Qwen3-MoE's, and a norm of flash-attn, which is written out below.

Folder i has shape i of its family. Weights are rounded to bfloat16 and then computed in float32. A shape whose rows in
float64 differ by more than 2e-5 has two experts with nearly equal scores, and gets other weights.
"""

import importlib
import json
import pathlib
import random
import sys
import types

import torch
import transformers
from safetensors.torch import save_file

FAMILIES = ("llada2", "llada-moe", "sdar-moe")
CANVASES = ((2, 1.0, 0.5), (2, 0.45, 0.5), (1, 1.0, 1.0), (1, 0.7, 0.0), (1, 0.0, 1.0))  # rows, part of the length, part masked
VOCABULARY, LENGTH, MASK = 67, 24, 61


def public(folder, name, config=None):
    """Imports folder/modeling_NAME.py and the config beside it, which is config if there is none."""
    package = types.ModuleType(name)
    package.__path__ = [str(folder)]
    sys.modules[name] = package
    if config:
        beside = types.ModuleType(f"{name}.configuration_{name}")
        setattr(beside, config.__name__, config)
        sys.modules[beside.__name__] = beside
    return importlib.import_module(f"{name}.modeling_{name}")


def rms_norm(x, weight, bias, eps):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight


def classes(dllm, sdar):
    transformers.utils.LossKwargs = transformers.utils.TransformersKwargs  # its name in the version that SDAR was written for
    config = type("SDARMoeConfig", (transformers.Qwen3MoeConfig,), {"model_type": "sdar_moe"})
    two = public(dllm / "dllm/pipelines/llada2/models", "llada2_moe")
    one = public(dllm / "dllm/pipelines/llada/models", "lladamoe")
    for name in ("flash_attn", "flash_attn.ops", "flash_attn.ops.triton", "flash_attn.ops.triton.layer_norm"):
        sys.modules[name] = types.ModuleType(name)
    sys.modules["flash_attn.ops.triton.layer_norm"].rms_norm_fn = rms_norm
    three = public(sdar, "sdar_moe", config)
    return {"llada2": (two.LLaDA2MoeConfig, two.LLaDA2MoeModelLM), "llada-moe": (one.LLaDAMoEConfig, one.LLaDAMoEModelLM),
            "sdar-moe": (config, three.SDARMoeForCausalLM)}


def shape(family, i, r):
    """Keys of shape i of a family."""
    heads, layers = r.choice([2, 4, 6]), r.choice([2, 3])
    keys_heads = r.choice([h for h in (1, 2, 3, 6) if heads % h == 0])
    group, groups = r.choice([2, 3, 4]), r.choice([1, 2, 4]) if family == "llada2" else r.choice([2, 3])
    size = r.choice([8, 12, 16])
    c = dict(hidden_size=heads * size, num_hidden_layers=layers, num_attention_heads=heads, num_key_value_heads=keys_heads, vocab_size=VOCABULARY,
             max_position_embeddings=LENGTH, rope_theta=r.choice([10000, 600000]), rms_norm_eps=r.choice([1e-6, 1e-5]), hidden_act="silu",
             tie_word_embeddings=r.random() < 0.3, num_experts=group * groups, pad_token_id=MASK - 1, eos_token_id=MASK - 1,
             mask_token_id=MASK, attention_dropout=0.0, torch_dtype="bfloat16")
    c["num_experts_per_tok"] = chosen = (1, r.randint(2, group * groups - 1), group * groups)[i % 3]
    inner = r.choice([8, 16, 20])
    if family != "llada-moe":
        c["head_dim"] = r.choice([8, 12, 16, 20])
        c["block_size"] = r.choice([1, 3, 4, 8, 24])
    if family == "llada2":
        c.update(intermediate_size=40, moe_intermediate_size=inner, n_group=groups, num_shared_experts=(1, 2, 0, None)[i % 4],
                 topk_group=r.randint(-(-chosen // group), groups), first_k_dense_replace=i % layers, partial_rotary_factor=(0.25, 0.5, 1)[i % 3],
                 routed_scaling_factor=r.choice([1.0, 2.5]), use_bias=r.random() < 0.5, use_qkv_bias=r.random() < 0.5, use_qk_norm=True, norm_topk_prob=True,
                 score_function="sigmoid", moe_router_enable_expert_bias=True)
        if i % 4 == 3:  # as the class has them
            for key in ("partial_rotary_factor", "routed_scaling_factor", "rms_norm_eps", "num_shared_experts", "use_qkv_bias", "tie_word_embeddings"):
                del c[key]
        c["head_dim"] += -c["head_dim"] % 8  # a quarter must be even
    elif family == "llada-moe":
        c.update(dense_intermediate_size=40, expert_intermediate_size=inner, shared_expert_intermediate_size=None, moe_layer_freq=[(j + i) % 3 and 1 for j in range(layers)], partial_rotary_factor=1,
                 qk_layernorm=True, norm_topk_prob=r.choice([None, False, True]), moe_router_enable_expert_bias=False)
        if i % 4 == 3:
            del c["rms_norm_eps"]
    else:
        c.update(intermediate_size=40, moe_intermediate_size=inner, decoder_sparse_step=r.choice([1, 1, 2]), mlp_only_layers=r.choice([[], [0], [layers - 1]]),
                 norm_topk_prob=i % 2 == 0, attention_bias=r.random() < 0.4, use_sliding_window=False)
        if i == 0:
            c.update(hidden_size=32, num_attention_heads=4, num_key_value_heads=2, head_dim=12, num_hidden_layers=3, num_experts=8, num_experts_per_tok=3,
                     mlp_only_layers=[1], decoder_sparse_step=1, tie_word_embeddings=False, block_size=4, attention_bias=False)
    return c


def randomise(model, generator):
    with torch.no_grad():
        for name, p in [*model.named_parameters(), *model.named_buffers()]:
            if "inv_freq" in name or not p.numel():
                continue
            width = 0.2 if p.dim() == 1 else 0.3 if "embed" in name else 1.3 / p.shape[1] ** 0.5
            x = (1.0 if "norm" in name and name.endswith("weight") else 0.0) + width * torch.randn(p.shape, generator=generator)
            p.copy_(x if name.endswith("expert_bias") else x.bfloat16().float())


def rows(model, ids, block, copies=1):
    """The rows of canvases [B, L], or of the first of two copies [B, 2L], which are noisy and then clean."""
    length, mask = ids.shape[1] // copies, None
    at = torch.arange(length).repeat(copies)
    if block:
        clean, b = torch.arange(copies * length) >= (copies - 1) * length, at // block
        before, same = b[:, None] > b[None, :], b[:, None] == b[None, :]
        mask = (same & (clean[:, None] == clean[None, :]) | before & clean[None, :]).expand(len(ids), 1, len(b), len(b))
    with torch.no_grad():
        out = model(input_ids=ids, attention_mask=mask, position_ids=at[None], use_cache=False)
    return (out[0] if type(out) is tuple else out).logits[:, :length]  # SDAR's copy returns states too


def make(folder, family, index, config_class, model_class):
    keys = shape(family, index, random.Random(1000 * FAMILIES.index(family) + index))
    block = keys.get("block_size", 0)
    for seed in range(100):
        generator = torch.Generator().manual_seed(100 * index + seed)
        model = model_class(config_class(**keys, attn_implementation="sdpa")).eval()
        randomise(model, generator)
        canvases = []
        for count, part, masked in CANVASES:
            ids = torch.randint(0, MASK, (count, max(1, int(part * LENGTH))), generator=generator)
            ids[torch.rand(ids.shape, generator=generator) < masked] = MASK
            canvases.append((ids, block))
        if block:  # the 2L form: the masked canvases of the first case, then clean ones
            noisy = canvases[0][0]
            clean = torch.where(noisy == MASK, torch.randint(0, MASK, noisy.shape, generator=generator), noisy)
            canvases.append((torch.cat([noisy, clean], 1), block, 2))
        want = [rows(model, *c) for c in canvases]
        state = {k: v.clone() for k, v in model.state_dict().items()}
        double = model.double()
        floor = max((rows(double, *c) - w).abs().max().item() for c, w in zip(canvases, want))
        if floor < 2e-5:
            break
    else:
        sys.exit(f"{folder}: no weights without nearly equal scores")
    if keys.get("tie_word_embeddings"):
        del state["lm_head.weight"]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({"architectures": [model_class.__name__], "model_type": config_class.model_type, **keys}, indent=1) + "\n")
    save_file({k: (v if k.endswith("expert_bias") else v.bfloat16()).contiguous() for k, v in state.items()}, folder / "model.safetensors", {"format": "pt"})
    golden = {f"input_ids.{n}": ids for n, (ids, *_) in enumerate(canvases)} | {f"logits.{n}": w.float().contiguous() for n, w in enumerate(want)}
    save_file(golden, folder / "moe-golden.safetensors", {"source": f"{model_class.__name__}, transformers {transformers.__version__}", "floor": repr(floor)})
    print(folder.name, f"floor {floor:.2g}, deviation {want[0].std():.2f}", json.dumps({k: v for k, v in keys.items() if k not in ("vocab_size", "hidden_act", "torch_dtype")}))


def main():
    torch.set_num_threads(1)
    found = classes(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
    for n in range(int(sys.argv[4]) if len(sys.argv) > 4 else 20):
        family = FAMILIES[n % 3]
        make(pathlib.Path(sys.argv[3]) / (family if n < 3 else f"{family}-{n // 3}"), family, n // 3, *found[family])


main()
