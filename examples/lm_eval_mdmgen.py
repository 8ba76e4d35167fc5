"""mdmgen as a model of lm-evaluation-harness (0.4): log-likelihood bounds of masked diffusion models.

    python examples/lm_eval_mdmgen.py --model mdmgen --tasks lambada_openai --limit 100 \\
        --model_args model=kuleshov-group/mdlm-owt,draws=64

Requests go as JSON lines to one `mdmgen score`. It returns −NELBO, a lower bound on the
log-probability of the text under First-Hitting, in nats. docs/lm-eval.md explains the
consequences for tasks.
"""

import json
import os
import subprocess

try:
    from lm_eval.api.model import LM
    from lm_eval.api.registry import register_model
except ImportError:  # score() needs nothing of the harness

    class LM:
        pass

    def register_model(*names):
        return lambda cls: cls


def score(documents, *flags, program="mdmgen"):
    """Lower bounds on log P of {"text": …, "context": …}, in nats, one each; 0 for an empty text."""
    asked = [i for i, d in enumerate(documents) if d["text"]]
    out = [0.0] * len(documents)
    if not asked:
        return out
    lines = "".join(json.dumps(documents[i]) + "\n" for i in asked)
    command = [program, "score", "-", "--as", "jsonl", "--format", "jsonl", *flags]
    done = subprocess.run(command, input=lines, stdout=subprocess.PIPE, text=True, encoding="utf-8", check=True)
    for line in done.stdout.splitlines():
        window = json.loads(line)
        if "window" in window:  # the last line sums up; a long text is several windows
            out[asked[window["line"] - 1]] -= window["nats"]["mean"]
    return out


@register_model("mdmgen")
class Mdmgen(LM):
    def __init__(self, model="fairytale", draws=16, seed=1, **more):
        super().__init__()
        program = os.environ.get("MDMGEN", "mdmgen")
        flags = ["--model", str(model), "--draws", str(int(draws)), "--seed", str(int(seed))]
        for key in ("length", "tokenizer", "protocol", "threads"):
            if key in more:
                flags += [f"--{key}", str(more[key])]
        self.score = lambda documents: score(documents, *flags, program=program)

    tokenizer_name = "mdmgen"

    def loglikelihood(self, requests):
        pairs = [r.args for r in requests]
        documents = [{"text": text, **({"context": context} if context else {})} for context, text in pairs]
        # A diffusion model has no greedy continuation to compare with.
        return [(x, False) for x in self.score(documents)]

    def loglikelihood_rolling(self, requests):
        return self.score([{"text": r.args[0]} for r in requests])

    def generate_until(self, requests):
        raise NotImplementedError("mdmgen fills canvases of a given length: use `mdmgen generate --input`")


if __name__ == "__main__":
    from lm_eval.__main__ import cli_evaluate

    cli_evaluate()
