"""Makes the causal language models of testdata/causal and writes them as exporters do.

    python tools/reference/causal.py

gpt2, gpt2-half and llama are tiny random networks of transformers with the inputs and outputs of
usual exports: input_ids, attention_mask, position_ids and past_key_values.N.key and .value, and
logits and present.N. losses.json has texts and the loss that transformers gives of each, in
float64. Needs torch, transformers, onnx and numpy. LLaMA's position_ids are of
32 positions and GPT-2's of 24, as config.json says.
"""
import json
import pathlib
import shutil

import onnx
import torch
from transformers import DynamicCache, GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

IDS = 387  # of ../tokenizers/gpt2.tokenizer.json
HERE = pathlib.Path(__file__).parents[2] / "testdata" / "causal"


class Export(torch.nn.Module):
    """A network with its cache as a list of tensors."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, input_ids, attention_mask, position_ids, *past):
        cache = DynamicCache()
        for i in range(0, len(past), 2):
            cache.update(past[i], past[i + 1], i // 2)
        out = self.net(input_ids=input_ids, attention_mask=attention_mask, position_ids=position_ids, past_key_values=cache, use_cache=True)
        present = [t for layer in out.past_key_values.layers for t in (layer.keys, layer.values)]
        return (out.logits, *present)


def names(prefix, layers):
    return [f"{prefix}.{i}.{what}" for i in range(layers) for what in ("key", "value")]


def write(name, net, layers, heads, size, sub, half=False):
    folder = HERE / name
    path = folder / sub / "model.onnx"
    path.parent.mkdir(parents=True, exist_ok=True)
    kind = torch.float16 if half else torch.float32
    past = tuple(torch.zeros(2, heads, 3, size, dtype=kind) for _ in range(2 * layers))
    ids = torch.randint(0, IDS, (2, 5))
    args = (ids, torch.ones(2, 8, dtype=torch.int64), torch.arange(3, 8).expand(2, 5).contiguous(), *past)
    inputs = ["input_ids", "attention_mask", "position_ids"] + names("past_key_values", layers)
    outputs = ["logits"] + names("present", layers)
    axes = {"input_ids": {0: "batch", 1: "sequence"}, "attention_mask": {0: "batch", 1: "total"}, "position_ids": {0: "batch", 1: "sequence"}, "logits": {0: "batch", 1: "sequence"}}
    axes |= {n: {0: "batch", 2: "past" if n.startswith("past") else "total"} for n in inputs[3:] + outputs[1:]}
    with torch.no_grad():
        torch.onnx.export(Export(net).eval(), args, path, input_names=inputs, output_names=outputs, dynamic_axes=axes, opset_version=17, dynamo=False)
    onnx.checker.check_model(path)
    (folder / "config.json").write_text(net.config.to_json_string())
    shutil.copy(HERE.parent / "tokenizers" / "gpt2.tokenizer.json", folder / "tokenizer.json")


def loss(net, text):
    ids = torch.tensor([text])
    with torch.no_grad():
        return net(ids, labels=ids).loss.item()


def main():
    torch.manual_seed(17)
    gpt2 = GPT2LMHeadModel(GPT2Config(vocab_size=IDS, n_positions=24, n_embd=16, n_layer=2, n_head=2, bos_token_id=376, eos_token_id=376, initializer_range=0.3, attn_implementation="eager")).eval()
    llama = LlamaForCausalLM(LlamaConfig(vocab_size=IDS, hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=32, bos_token_id=376, eos_token_id=376, initializer_range=0.3, attn_implementation="eager")).eval()
    texts = [torch.randint(0, IDS, (n,)).tolist() for n in (2, 7, 7, 16, 24)]
    write("gpt2", gpt2, 2, 2, 8, "onnx")
    write("llama", llama, 2, 2, 4, ".")
    golden = {"texts": texts, "gpt2": [loss(gpt2.double(), t) for t in texts], "llama": [loss(llama.double(), t) for t in texts]}
    (HERE / "losses.json").write_text(json.dumps(golden, indent=1) + "\n")
    write("gpt2-half", gpt2.half(), 2, 2, 8, "onnx", half=True)


if __name__ == "__main__":
    main()
