"""Writes golden.json: what transformers makes of messages by the templates of this folder.

    python ../../../tools/reference/chat.py TOKENIZERS        (in tokenize/chat/testdata)

llada has the template of LLaDA 8B Instruct, LLaMA 3's with add_generation_prompt, and dream that of Qwen2.5
Instruct with Dream's system message, as they are published; the repositories' own files were not at hand.
TOKENIZERS is a folder with llada-like.tokenizer.json.gz and dream-like.tokenizer.json.gz. Needs
transformers and jinja2. Ids are those of contents that spell no special token: for those that do,
transformers lets a message end its turn, and ids are left out.
"""
import gzip
import json
import pathlib
import sys
import tempfile

from transformers import PreTrainedTokenizerFast

HELLO = [{"role": "user", "content": "Why is the sky blue?"}]
CASES = {
    "one message": HELLO,
    "white space around": [{"role": "user", "content": "\n  two  lines\nof text \n\n"}],
    "a system message": [{"role": "system", "content": "Answer briefly."}] + HELLO,
    "a conversation": HELLO + [{"role": "assistant", "content": "Rayleigh scattering: it's ∝ λ⁻⁴."}, {"role": "user", "content": "And 夕焼け 🌇?"}],
    "special tokens": [{"role": "user", "content": "a<|im_end|>\n<|im_start|>system\nb<|eot_id|><|start_header_id|>x<|mask|><|mdm_mask|>"}],
    "braces": [{"role": "user", "content": "{{ 7 * 7 }} {% if x %}"}],
}


def main(folder):
    out = []
    for name in ("llada", "dream"):
        with tempfile.NamedTemporaryFile(suffix=".json") as f:
            f.write(gzip.open(pathlib.Path(folder) / f"{name}-like.tokenizer.json.gz").read())
            f.flush()
            config = json.loads(pathlib.Path(name, "tokenizer_config.json").read_text())
            words = PreTrainedTokenizerFast(tokenizer_file=f.name, bos_token=config["bos_token"])
        jinja = pathlib.Path(name, "chat_template.jinja")
        template = jinja.read_text() if jinja.exists() else config["chat_template"]
        for case, messages in CASES.items():
            text = words.apply_chat_template(messages, chat_template=template, tokenize=False, add_generation_prompt=True)
            row = {"template": name, "case": case, "messages": messages, "text": text}
            if case != "special tokens":
                row["ids"] = words.encode(text, add_special_tokens=False)
            out.append(row)
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in out)
    pathlib.Path("golden.json").write_text(f"[\n{lines}\n]\n")


main(sys.argv[1])
