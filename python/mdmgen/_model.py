"""A model that is open."""

import os
from collections.abc import Generator, Mapping, Sequence
from typing import Any, Literal, Self, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from ._answers import Frame, Reading, Sample, Score, frame, reading, score
from ._program import Setting, arguments
from ._server import Server

# A text, or its ids.
Text: TypeAlias = str | Sequence[int] | NDArray[np.integer[Any]]


class Model:
    """A model that is open until close, the end of its with block, or the end of this process.

    Threads and forks may use it at once; requests that are under way share network calls, and their answers do not
    depend on each other.
    """

    def __init__(self, server: Server) -> None:
        self._server = server

    @overload
    def generate(
        self, prefix: str | None = None, *, frames: Literal[False] = False, **line: Any
    ) -> Generator[Sample, None, None]: ...

    @overload
    def generate(
        self, prefix: str | None = None, *, frames: bool, **line: Any
    ) -> Generator[Frame | Sample, None, None]: ...

    def generate(
        self, prefix: str | None = None, *, frames: bool = False, **line: Any
    ) -> Generator[Frame | Sample, None, None]:
        """Samples, each as soon as it is finished; with frames also what every network call did.

        What is not finished is cancelled where the iterator is closed or forgotten.

        The arguments are the keys of a line of `mdmgen generate --input`: what is given (prefix, suffix, length,
        infill, ids, messages), n, seed, and the settings of samplers (sampler, steps, temperature, …). The samples
        of a seed are those of `mdmgen generate`.
        """
        body = {"prefix": prefix, **line, "stream": True, "diffusing": frames}
        for event in self._server.stream("/v1/generate", given(body)):
            if "frame" in event:
                yield frame(event["frame"])
            elif "sample" in event:
                yield Sample.of(event["sample"])

    def score(self, text: Text, context: Text | None = None, **request: Any) -> Score:
        """How probable a text is behind a context, which is not scored.

        exact has the values worked out (the default for a few tokens), draws is the number of draws of an estimate,
        which seed determines.
        """
        return score(self._post("/v1/score", text=text, context=context, **request))

    def read(self, infill: str | None = None, **request: Any) -> Reading:
        """Log-probabilities at the gaps of a canvas, which stays as it is.

        infill is a text with {{N}} for N masks, or a canvas is given as for generate. top is the number of tokens
        for each position. candidates are texts, and candidate_ids lists of ids, whose joint log-probabilities are
        wanted in every gap, or in the one that gap counts from 1; the gap becomes as long as the candidate. law is
        first-hitting or left-to-right.
        """
        return reading(self._post("/v1/read", infill=infill, **request))

    def tokenize(self, text: str) -> list[int]:
        """The ids of a text."""
        ids: list[int] = self._post("/tokenize", content=text)["tokens"]
        return ids

    def complete(self, prompt: str, **request: Any) -> dict[str, Any]:
        """The answer of /v1/completions, as OpenAI's clients know it."""
        answer: dict[str, Any] = self._post("/v1/completions", prompt=prompt, **request)
        return answer

    def _post(self, path: str, **body: Any) -> Any:
        return self._server.post(path, given(body))

    def close(self) -> None:
        """Ends what is under way. A second call does nothing, nor does one in a fork."""
        self._server.end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def given(body: dict[str, Any]) -> dict[str, Any]:
    """A body without what is left out, whose sequences may be arrays of NumPy."""
    plain = {name: value.tolist() if hasattr(value, "tolist") else value for name, value in body.items()}
    return {name: value for name, value in plain.items() if value is not None}


def load(
    model: str | os.PathLike[str] = "fairytale", *, set: Mapping[str, Setting] = {}, **settings: Setting
) -> Model:
    """Opens a model: a name, a folder, or a file, as --model of `mdmgen serve` takes it.

    The settings are the other flags of that command, such as tokenizer, device, threads and batch; set has what is
    written --set KEY=VALUE there.
    """
    return Model(Server(arguments({"model": model, **settings}, set)))
