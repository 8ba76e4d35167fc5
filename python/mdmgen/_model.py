"""A model that is open."""

import os
from collections.abc import Generator, Mapping, Sequence
from typing import Any, Literal, Self, overload

from ._answers import Frame, Reading, Sample, frame, reading
from ._program import Setting, arguments
from ._server import Server


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
        self, prefix: str | None = None, *, frames: Literal[True], **line: Any
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
        for event in self._server.stream("/v1/generate", {k: v for k, v in body.items() if v is not None}):
            if "frame" in event:
                yield frame(event["frame"])
            elif "sample" in event:
                yield Sample.of(event["sample"])

    def read(self, infill: str | None = None, **request: Any) -> Reading:
        """Log-probabilities at the gaps of a canvas, which stays as it is.

        infill is a text with {{N}} for N masks, or a canvas is given as for generate. top is the number of tokens
        for each position, candidates are texts or lists of ids whose joint log-probabilities are wanted in every
        gap, fit makes each gap as long as the candidate, and law is first-hitting or left-to-right.
        """
        body = {"infill": infill, **request}
        return reading(self._server.post("/v1/read", {k: v for k, v in body.items() if v is not None}))

    def tokenize(self, text: str) -> list[int]:
        """The ids of a text."""
        ids: list[int] = self._server.post("/tokenize", {"content": text})["tokens"]
        return ids

    def close(self) -> None:
        """Ends what is under way. A second call does nothing, nor does one in a fork."""
        self._server.end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def load(
    model: str | os.PathLike[str] = "fairytale", *, set: Mapping[str, Setting] = {}, **settings: Setting
) -> Model:
    """Opens a model: a name, a folder, or a file, as --model of `mdmgen serve` takes it.

    The settings are the other flags of that command, such as tokenizer, device, threads and batch; set has what is
    written --set KEY=VALUE there.
    """
    return Model(Server(arguments({"model": model, **settings}, set)))
