"""What a model answers."""

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray


class Answer:
    """An answer as JSON with its known fields; others that the program may have are left out, and so is null."""

    @classmethod
    def of(cls, found: dict[str, Any]) -> Self:
        known = {f.name for f in fields(cls)}  # type: ignore[arg-type]
        return cls(**{name: value for name, value in found.items() if name in known and value is not None})


@dataclass(frozen=True, slots=True)
class Sample(Answer):
    """A finished canvas.

    filled has the text of each gap, in order; continuation is that of a single gap that reaches to the end. Without a
    tokenizer there are ids alone. calls counts network calls.
    """

    index: int
    ids: list[int]
    calls: int
    text: str = ""
    filled: list[str] | None = None
    continuation: str | None = None
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Frame(Answer):
    """What a call of the network did to a sample.

    Call 0 is the canvas of length positions before the first call, with what is given. positions got tokens, whose
    texts are pieces, with log_probabilities in nats. masked_again lists positions that the call left masked, grown
    counts masks that were appended, and done marks the last frame of a sample. seconds count from the beginning.
    """

    sequence: int
    call: int
    theta: float
    positions: list[int]
    tokens: list[int]
    log_probabilities: list[float]
    seconds: float
    pieces: tuple[str, ...] | list[str] = ()
    masked_again: tuple[int, ...] | list[int] = ()
    grown: int = 0
    length: int = 0
    done: bool = False


@dataclass(frozen=True, slots=True)
class Score(Answer):
    """How probable a text is, in nats: nelbo is an upper bound on −log P of First-Hitting.

    It is an estimate with standard error se, or, where exact is true, a value beside −log P of First-Hitting (fhs)
    and of one token after the other (left_to_right).
    """

    nelbo: float
    se: float
    tokens: int
    exact: bool
    fhs: float | None = None
    left_to_right: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Gap:
    """What a canvas with gaps says of one of them, of m masks from the position start on.

    tokens and log_probabilities have shape [m, top], the most probable first, in nats; entropy has shape [m].
    candidates are log-probabilities of those that were asked for, in their order.
    """

    start: int
    tokens: NDArray[np.int64]
    texts: list[list[str]]
    log_probabilities: NDArray[np.float64]
    entropy: NDArray[np.float64]
    candidates: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """The gaps of a canvas. law is how the tokens of a candidate are put there one by one, "" where each has one."""

    gaps: list[Gap]
    law: str
    rows: int


def number(found: float | str | None) -> float:
    """A number of a record, which may be "inf", "-inf", or null."""
    return float("nan") if found is None else float(found)


def numbers(found: list[Any]) -> NDArray[np.float64]:
    return np.array([number(x) for x in found], dtype=np.float64)


def frame(found: dict[str, Any]) -> Frame:
    logs = [number(x) for x in found["log_probabilities"]]
    return Frame.of({**found, "theta": number(found["theta"]), "log_probabilities": logs})


def score(found: dict[str, Any]) -> Score:
    names = ("nelbo", "se", "fhs", "left_to_right")
    return Score.of({**found, **{name: number(found[name]) for name in names if found[name] is not None}})


def reading(found: dict[str, Any]) -> Reading:
    gaps = []
    for gap in found["gaps"]:
        positions = gap.get("positions", [])
        tops = [p["top"] for p in positions]
        gaps.append(
            Gap(
                start=gap["from"],
                tokens=np.array([[t["id"] for t in top] for top in tops], dtype=np.int64),
                texts=[[t.get("text", "") for t in top] for top in tops],
                log_probabilities=np.array([numbers([t["log_probability"] for t in top]) for top in tops]),
                entropy=numbers([p["entropy"] for p in positions]),
                candidates=numbers([c["log_probability"] for c in gap.get("candidates", [])]),
            )
        )
    return Reading(gaps, found.get("law", ""), found["rows"])
