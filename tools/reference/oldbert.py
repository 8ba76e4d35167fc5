"""Makes the small checkpoints bert-letters, bert-smiles and bert-words of
testdata/reference/checkpoints, in the forms in which BERT was published before 2020, with the outputs of
transformers and the ids of its tokenizer.

    python3 -m venv venv && venv/bin/pip install torch transformers safetensors
    venv/bin/python tools/reference/oldbert.py

bert-letters is as AntiBERTy: another class, more heads, buffers, letters, vocab.txt in the folder above;
bert-smiles as rxnfp: neither class nor model_type, a torch file of before 1.6, LayerNorm's old names, the parts
of a SMILES; bert-words: no prefix "bert.", a head of its own, pieces of words in lower case. All weights are
random. golden.safetensors is as that of checkpoints.py, in float64; tokens.json has texts with their ids,
without [CLS] and [SEP].

    venv/bin/python tools/reference/oldbert.py FOLDER FILE

writes transformers' float64 rows of a published folder instead, for `mdmgen verify FOLDER --golden FILE`.
"""

import json
import pathlib
import re
import sys

import torch
import transformers
from safetensors.torch import save_file

OUT = pathlib.Path(__file__).parents[2] / "testdata" / "reference" / "checkpoints"
SIZES = dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24, max_position_embeddings=14,
             type_vocab_size=2, layer_norm_eps=1e-12, hidden_act="gelu")

SMILES = re.compile(  # rxnfp's
    r"(\%\([0-9]{3}\)|\[[^\]]+]|Br?|Cl?|N|O|S|P|F|I|b|c|n|o|s|p|\||\(|\)|\.|=|#|-|\+|\\|\/|:|~|@|\?|>>?|\*|\$|\%[0-9]{2}|[0-9])")
SPECIAL = ["[UNK]", "[CLS]", "[SEP]", "[MASK]"]
LETTERS = ["[PAD]", *SPECIAL, *"ACDEFGHIKLMNPQRSTVWY"]
PARTS = ["[PAD]", "[unused1]", "[unused2]", *SPECIAL, *"cC()O12=Nn.FSo#+-", "Cl", "Br", ">>", "[nH]", "[C@@H]", "%10", "/", "\\"]
WORDS = ["[PAD]", "[unused1]", *SPECIAL, *"abcdefgnorsuxy.,'", *("##" + c for c in "abdefginorsty"), "the", "fox", "ran", "##ing"]


def spaced(split):
    return lambda tokenizer, text: tokenizer.convert_tokens_to_ids(split(text))


MODELS = {
    # name: folder, vocabulary, changes of the config, texts, and how the authors cut them into tokens
    "bert-letters": ("model", LETTERS, dict(architectures=["Tiny"], model_type="bert", position_embedding_type="absolute"),
                     ["EVQLVESGG", "ACDEFGHIKLMNPQRSTVWY", "WXB"], spaced(list)),
    "bert-smiles": ("", PARTS, dict(pruned_heads={}, output_past=True),
                    ["CC(=O)Cl.Nc1ccc(Br)cc1>>CC", "C[C@@H](N)C%10c1c[nH]cc1", "F/C=C\\Sc#[Xe]", "BI"], spaced(SMILES.findall)),
    "bert-words": ("", WORDS, dict(architectures=["BertForPreTraining"], model_type="bert", tie_word_embeddings=False),
                   ["The FOX ran, running.", "sayin' so", "z"],
                   lambda tokenizer, text: tokenizer(text, add_special_tokens=False)["input_ids"]),
}


def main():
    torch.set_num_threads(1)
    for name, (folder, vocab, keys, texts, cut) in MODELS.items():
        tied = keys.get("tie_word_embeddings", True)
        config = transformers.BertConfig(**SIZES, vocab_size=len(vocab), tie_word_embeddings=tied, attn_implementation="eager")
        model = transformers.BertForMaskedLM(config).double().eval()
        g = torch.Generator().manual_seed(7)
        with torch.no_grad():
            for key, p in model.named_parameters():
                one = 1.0 if "LayerNorm.weight" in key else 0.0
                p.copy_((one + 0.3 * torch.randn(p.shape, generator=g)).float())
            model.cls.predictions.decoder.bias.copy_(model.cls.predictions.bias)  # one parameter then
        state = {k: v.detach().float().clone() for k, v in model.state_dict().items()}
        mask = vocab.index("[MASK]")
        tensors, floor, single = {}, 0.0, transformers.BertForMaskedLM(config).eval()
        single.load_state_dict(state)
        for i, (rows, n, masked) in enumerate([(3, 14, 0.5), (2, 9, 0.5), (1, 14, 1.0), (1, 14, 0.0), (2, 1, 0.5)]):
            ids = torch.randint(0, len(vocab), (rows, n), generator=g)
            ids[torch.rand(rows, n, generator=g) < masked] = mask
            with torch.no_grad():
                want, got = (m(input_ids=ids, attention_mask=torch.ones_like(ids)).logits for m in (model, single))
            floor = max(floor, (want - got.double()).abs().max().item())
            tensors[f"input_ids.{i}"], tensors[f"logits.{i}"] = ids, want.float().contiguous()
        heads = {"bert.pooler.dense.weight": torch.randn(16, 16, generator=g), "bert.pooler.dense.bias": torch.randn(16, generator=g)}
        for head in ("species", "graft") if name == "bert-letters" else ("seq_relationship",):
            heads[f"cls.{head}.weight"], heads[f"cls.{head}.bias"] = torch.randn(2, 16, generator=g), torch.randn(2, generator=g)
        stored = {**state, **heads}
        if name == "bert-letters":
            stored["bert.embeddings.position_ids"] = torch.arange(14)[None]
        if name == "bert-smiles":
            del stored["cls.predictions.decoder.bias"]
            stored = {k.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): v for k, v in stored.items()}
        if name == "bert-words":
            stored = {k.removeprefix("bert."): v for k, v in stored.items()}
        out = OUT / name / folder
        out.mkdir(parents=True, exist_ok=True)
        torch.save(stored, out / "pytorch_model.bin", _use_new_zipfile_serialization=name != "bert-smiles")
        (out / "config.json").write_text(json.dumps({**SIZES, "vocab_size": len(vocab), **keys}, indent=2, sort_keys=True) + "\n")
        (OUT / name / "vocab.txt").write_text("\n".join(vocab) + ("" if folder else "\n"))
        if name == "bert-words":
            (out / "tokenizer_config.json").write_text('{"do_lower_case": true}\n')
        tokenizer = transformers.BertTokenizer(str(OUT / name / "vocab.txt"), do_lower_case=name == "bert-words")
        told = [{"text": text, "ids": cut(tokenizer, text)} for text in texts]
        (out / "tokens.json").write_text(json.dumps(told) + "\n")
        save_file(tensors, out / "golden.safetensors", {
            "source": f"transformers {transformers.__version__} BertForMaskedLM in float64", "family": "bert",
            "mask_token_id": str(mask), "cases": "5", "floor": repr(floor), "dtype": "float64"})
        print(name, f"floor {floor:.2g}, deviation {tensors['logits.0'].std().item():.2f}", told)


def published(folder, file):
    keys = json.loads((folder / "config.json").read_text())
    config = transformers.BertConfig(**{k: v for k, v in keys.items() if k != "architectures"}, attn_implementation="eager")
    model = transformers.BertForMaskedLM(config).eval()
    lacks = model.load_state_dict(torch.load(folder / "pytorch_model.bin", map_location="cpu", weights_only=True), strict=False)
    assert set(lacks.missing_keys) <= {"cls.predictions.decoder.bias"}, lacks.missing_keys  # cls.predictions.bias by another name
    model.tie_weights()
    model, g, tensors = model.double(), torch.Generator().manual_seed(1), {}
    for i, n in enumerate([3, 12, 120, config.max_position_embeddings]):
        ids = torch.randint(config.vocab_size, (1, n), generator=g)
        with torch.no_grad():
            tensors[f"logits.{i}"] = model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits.float().contiguous()
        tensors[f"input_ids.{i}"] = ids
    save_file(tensors, file)


if len(sys.argv) == 3:
    published(pathlib.Path(sys.argv[1]), sys.argv[2])
else:
    main()
