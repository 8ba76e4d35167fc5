"""mdmgen as a model of lm-evaluation-harness.

    python -m mdmgen.lm_eval run --model mdmgen --tasks lambada_openai --limit 100 \\
        --model_args model=kuleshov-group/mdlm-owt,draws=64

In Python, import this module before lm_eval.simple_evaluate(model="mdmgen", …). Log-likelihoods are −NELBO, lower
bounds on log-probabilities under First-Hitting, in nats.
"""

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model

from ._model import load
from ._program import LOG, Error, Setting, UsageError, arguments, run


@register_model("mdmgen")
class Mdmgen(LM):
    """A model by mdmgen. Its arguments are flags of `mdmgen score`: draws, seed, length, protocol and others.

    A task's generation_kwargs, and --gen_kwargs, may have what /v1/completions takes: sampler, steps and others.
    batch_size is left to mdmgen, whose results do not depend on it; batch sets it.
    """

    tokenizer_name = "mdmgen"

    def __init__(
        self,
        model: str = "fairytale",
        *,
        seed: int = 1,
        max_gen_toks: int = 64,
        tokenizer: str | None = None,
        device: str | None = None,
        threads: int | None = None,
        batch: int | None = None,
        batch_size: object = None,
        max_batch_size: object = None,
        **scoring: Setting,
    ) -> None:
        super().__init__()
        if device == "cuda:0":  # What the harness says where nobody does: as its other models take it.
            device = "auto"
        flags: dict[str, Any] = {"tokenizer": tokenizer, "device": device, "threads": threads, "batch": batch}
        self._model, self._flags = model, flags
        self._scoring = arguments({"model": model, **flags, "seed": seed, **scoring}, {})
        self._seed, self._most = seed, max_gen_toks
        try:  # A wrong argument ends the run before a task is built or a model is opened: the built-in model checks it.
            run("score", "--as=jsonl", *arguments({"seed": seed, **scoring}, {}), "-", given='{"ids": [1]}\n')
        except UsageError as wrong:
            if "unknown flag" in str(wrong) or "must be one of" in str(wrong) or "whole number" in str(wrong):
                raise
        except Error:
            pass

    def loglikelihood(self, requests: list[Instance]) -> list[tuple[float, bool]]:
        """A diffusion model has no greedy continuation to compare with: is_greedy is false."""
        pairs = [request.args for request in requests]
        return [(x, False) for x in self._score([{"context": c, "text": t} if c else {"text": t} for c, t in pairs])]

    def loglikelihood_rolling(self, requests: list[Instance]) -> list[float]:
        """A text that is longer than the canvas is the sum of its windows."""
        return self._score([{"text": request.args[0]} for request in requests])

    def _score(self, documents: Sequence[dict[str, str]]) -> list[float]:
        """−NELBO of texts behind their contexts; 0 for an empty one."""
        asked = [i for i, document in enumerate(documents) if document["text"]]
        out = [0.0] * len(documents)
        if not asked:
            return out
        lines = "".join(json.dumps(documents[i]) + "\n" for i in asked)
        for line in run("score", "--as=jsonl", "--format=jsonl", "--set=cut-context", *self._scoring, "-", given=lines).splitlines():
            found = json.loads(line)
            if "window" in found:  # The last line sums up.
                out[asked[found["line"] - 1]] -= float(found["nats"]["mean"])
        return out

    def generate_until(self, requests: list[Instance]) -> list[str]:
        """The likeliest tokens, unless a task samples; the answer ends before the first of its stops."""

        def generate(request: Instance) -> str:
            prompt, task = request.args
            body = {"seed": self._seed, "temperature": 0, "max_tokens": self._most, **task}
            until = body.pop("until", [])
            if "max_gen_toks" in body:
                body["max_tokens"] = body.pop("max_gen_toks")
            if body.pop("do_sample", False) and "temperature" not in task:
                del body["temperature"]
            text, whole = "", prompt
            while True:
                try:
                    text = model.complete(prompt, **body)["choices"][0]["text"]
                except UsageError as wrong:
                    if "positions" not in str(wrong):
                        raise
                    if prompt:  # The canvas has no room for all of it.
                        prompt = prompt[len(prompt) // 8 + 1 :]
                        continue
                if prompt != whole:
                    LOG.warning("a prompt of %d characters was cut on the left to %d", len(whole), len(prompt))
                break
            stops = [until] if isinstance(until, str) else until
            return min((text.partition(stop)[0] for stop in stops if stop), key=len, default=text)

        with load(self._model, **self._flags) as model, ThreadPoolExecutor(16) as pool:
            return list(pool.map(generate, requests))


if __name__ == "__main__":
    from lm_eval.__main__ import cli_evaluate

    cli_evaluate()
