"""Makes the small checkpoints qwen2, qwen3 and bert of testdata/reference/checkpoints, with the
outputs of transformers.

    python3 -m venv venv && venv/bin/pip install torch transformers safetensors
    venv/bin/python tools/reference/checkpoints.py

All weights are random, those of norms and biases too. Qwen's classes are causal; here they get a
mask of zeros [B, 1, L, L], with which every position sees all others, as the diffusion models
have it that keep their weights. The script ends with an error where a late token does not move
an early row. golden.safetensors has input_ids.N int64 [B, L] and logits.N float32 [B, L, V] of
five cases, as the folders beside it; its metadata the floor: the largest difference between
float32 and float64.
"""

import json
import pathlib

import torch
import transformers
from safetensors.torch import save_file

OUT = pathlib.Path(__file__).parents[2] / "testdata" / "reference" / "checkpoints"

QWEN = dict(
    hidden_act="silu", hidden_size=64, intermediate_size=96, max_position_embeddings=32, max_window_layers=2,
    num_attention_heads=4, num_hidden_layers=2, num_key_value_heads=2, rope_scaling=None, rope_theta=1000000.0,
    rms_norm_eps=1e-6, sliding_window=None, use_sliding_window=False, attention_dropout=0.0, vocab_size=122,
)
MODELS = {
    # name: class, config, architectures and model_type as published, mask id, the file that tells it
    "qwen2": (transformers.Qwen2ForCausalLM, transformers.Qwen2Config, dict(QWEN, tie_word_embeddings=True),
              ("A2DQwen2LMHeadModel", "a2d-qwen2"), 119, ("added_tokens.json", {"<|im_end|>": 118, "<|mask|>": 119})),
    "qwen3": (transformers.Qwen3ForCausalLM, transformers.Qwen3Config,
              dict(QWEN, hidden_size=48, num_attention_heads=6, num_key_value_heads=3, head_dim=16, attention_bias=False,
                   tie_word_embeddings=False, num_hidden_layers=3),
              ("A2DQwen3LMHeadModel", "a2d-qwen3"), 117, ("tokenizer_config.json", {
                  "added_tokens_decoder": {"117": {"content": "<M>", "special": True}}, "mask_token": "<M>"})),
    "bert": (transformers.BertForMaskedLM, transformers.BertConfig,
             dict(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96, max_position_embeddings=24,
                  type_vocab_size=2, vocab_size=109, layer_norm_eps=1e-12, hidden_act="gelu"),
             ("BertForMaskedLM", "bert"), 4, ("generation_config.json", {"mask_token_id": 4})),
}


def randomise(model, seed):
    g = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, p in model.named_parameters():
            if p.dim() == 1:
                one = 1.0 if "norm" in name.lower() and name.endswith("weight") else 0.0
                p.copy_(one + 0.2 * torch.randn(p.shape, generator=g))
            elif "embed" in name:
                p.copy_(0.28 * torch.randn(p.shape, generator=g))
            else:
                p.copy_(1.2 * torch.randn(p.shape, generator=g) / p.shape[1] ** 0.5)


def run(model, ids):
    b, n = ids.shape
    mask = torch.zeros(b, 1, n, n, dtype=next(model.parameters()).dtype)
    if isinstance(model, transformers.BertForMaskedLM):
        mask = torch.ones(b, n, dtype=torch.int64)
    with torch.no_grad():
        return model(input_ids=ids, attention_mask=mask).logits


def main():
    torch.set_num_threads(1)
    for name, (cls, cfg, keys, (architecture, model_type), mask_id, (beside, told)) in MODELS.items():
        config = cfg(**keys, attn_implementation="eager")
        model = cls(config).eval()
        randomise(model, 7)
        length, vocab = keys["max_position_embeddings"], keys["vocab_size"]
        g = torch.Generator().manual_seed(11)
        cases = []
        for rows, n, masked in ((3, length, 0.5), (2, 13, 0.5), (1, length, 1.0), (1, length, 0.0), (2, 1, 0.5)):
            ids = torch.randint(5, 100, (rows, n), generator=g)
            ids[torch.rand(rows, n, generator=g) < masked] = mask_id
            cases.append(ids)
        cases[4] = torch.tensor([[mask_id], [17]])
        single = [run(model, ids) for ids in cases]
        late = cases[0].clone()
        late[:, -1] = (late[:, -1] + 1) % 100
        moved = (run(model, late)[:, 0] - single[0][:, 0]).abs().max().item()
        assert moved > 1e-3, f"{name}: the last token moves the first row by {moved} only"
        state = {k: v.detach().clone() for k, v in model.state_dict().items()}
        double = cls(config).double().eval()
        double.load_state_dict({k: v.double() if v.is_floating_point() else v for k, v in state.items()})
        floor = max((run(double, ids) - s.double()).abs().max().item() for ids, s in zip(cases, single))
        if keys.get("tie_word_embeddings"):
            del state["lm_head.weight"]
        if name == "bert":  # As bert-base-uncased's file has them.
            state = {k.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): v
                     for k, v in state.items() if v.is_floating_point() and "decoder" not in k}
        out = OUT / name
        out.mkdir(exist_ok=True)
        save_file({k: v.contiguous() for k, v in state.items()}, out / "model.safetensors", {"format": "pt"})
        text = {"architectures": [architecture], "model_type": model_type, **keys, "torch_dtype": "float32"}
        (out / "config.json").write_text(json.dumps(text, indent=2, sort_keys=True) + "\n")
        (out / beside).write_text(json.dumps(told, indent=2) + "\n")
        tensors = {}
        for i, (ids, s) in enumerate(zip(cases, single)):
            tensors[f"input_ids.{i}"], tensors[f"logits.{i}"] = ids, s.contiguous()
        save_file(tensors, out / "golden.safetensors", {
            "source": f"transformers {transformers.__version__} {cls.__name__}, every position seeing all", "family": name,
            "mask_token_id": str(mask_id), "cases": "5", "floor": repr(floor), "dtype": "float32"})
        print(f"{name}: deviation of logits {single[0].std().item():.2f}, floor {floor:.2g}, late tokens move row 0 by {moved:.2g}")


main()
