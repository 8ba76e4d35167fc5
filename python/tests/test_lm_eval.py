"""The harness's model class gives what `mdmgen score` prints, in the harness itself where that is installed."""

import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import mdmgen

HARNESS = importlib.util.find_spec("lm_eval") is not None

DOCUMENTS: list[dict[str, Any]] = [
    {"context": "Once upon a time", "choices": [" there was a king", " the the the"], "answer": 0},
    {"context": "The king had a", "choices": [" spoon of", " daughter"], "answer": 1},
    {"context": "She went into the", "choices": [" forest", " and"], "answer": 0},
]
# The second is longer than a canvas of 16.
TEXTS = ["a queen and her child", " a king and a queen who had no child, and the king went out into the wood"]


@pytest.fixture
def mdmgen_class(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The class, with a stand-in for the harness where it is not installed."""
    if not HARNESS:
        names = ["lm_eval", "lm_eval.api", "lm_eval.api.instance", "lm_eval.api.model", "lm_eval.api.registry"]
        for name in names:
            monkeypatch.setitem(sys.modules, name, ModuleType(name))
        stub: Any = sys.modules
        stub["lm_eval.api.instance"].Instance = object
        stub["lm_eval.api.model"].LM = type("LM", (), {})
        stub["lm_eval.api.registry"].register_model = lambda name: lambda cls: cls
    import mdmgen.lm_eval

    yield mdmgen.lm_eval.Mdmgen
    if not HARNESS:
        del sys.modules["mdmgen.lm_eval"]


def printed(program: Path, lines: list[dict[str, str]], *flags: str) -> list[float]:
    """−NELBO of each line, as `mdmgen score` prints it."""
    given = "".join(json.dumps(line) + "\n" for line in lines)
    command = [str(program), "score", "--as", "jsonl", "--format", "jsonl", *flags]
    done = subprocess.run(command, input=given, check=True, capture_output=True, text=True)
    out = [0.0] * len(lines)
    for line in map(json.loads, done.stdout.splitlines()):
        if "window" in line:
            out[line["line"] - 1] -= line["nats"]["mean"]
    return out


def test_likelihoods_are_those_of_score(mdmgen_class: Any, mdmgen_program: Path) -> None:
    lm = mdmgen_class(draws=4, seed=3, batch_size=1)
    pairs = [("Once upon a time", " there was a king"), ("x", ""), ("", "a queen and her child")]
    got = lm.loglikelihood([SimpleNamespace(args=pair) for pair in pairs])
    lines = [{"context": "Once upon a time", "text": " there was a king"}, {"text": "a queen and her child"}]
    first, second = printed(mdmgen_program, lines, "--draws", "4", "--seed", "3")
    assert got == [(first, False), (0.0, False), (second, False)]

    lm = mdmgen_class(draws=4, length=16)
    rolling = lm.loglikelihood_rolling([SimpleNamespace(args=(text,)) for text in TEXTS])
    want = printed(mdmgen_program, [{"text": text} for text in TEXTS], "--draws", "4", "--seed", "1", "--length", "16")
    assert rolling == want and want[1] < want[0] < 0


def test_generation_ends_before_a_stop(mdmgen_class: Any) -> None:
    lm = mdmgen_class(max_gen_toks=12)
    kwargs: list[dict[str, Any]] = [
        {},
        {"until": ["q", " w", "", "y", "z", " a"]},
        {"until": ["\n"], "do_sample": True, "temperature": 1.0, "max_gen_toks": 8, "sampler": "tweedie", "steps": 4},
    ]
    whole, cut, drawn = lm.generate_until([SimpleNamespace(args=("Once upon a time", k)) for k in kwargs])
    assert len(whole.split()) > 4 and whole.startswith(cut) and not any(s in cut for s in ("q", " w", "y", "z", " a"))
    with mdmgen.load() as model:
        line = next(model.generate("Once upon a time", length=13, seed=1, sampler="tweedie", steps=4))
    assert drawn == (line.continuation or "").partition("\n")[0]


@pytest.mark.skipif(not HARNESS, reason="lm_eval is not installed")
def test_two_tasks_in_the_harness(mdmgen_program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    import lm_eval

    import mdmgen.lm_eval  # noqa: F401

    def task(name: str, documents: list[dict[str, Any]], **config: Any) -> dict[str, Any]:
        data = tmp_path / f"{name}.jsonl"
        data.write_text("".join(json.dumps(d) + "\n" for d in documents))
        files = {"data_files": {"test": str(data)}}
        return {"task": name, "dataset_path": "json", "dataset_kwargs": files, "test_split": "test", **config}

    choices = task(
        "choices",
        DOCUMENTS,
        output_type="multiple_choice",
        doc_to_text="{{context}}",
        doc_to_choice="{{choices}}",
        doc_to_target="{{answer}}",
        target_delimiter="",
        metric_list=[{"metric": "acc"}],
    )
    perplexity = task(
        "perplexity",
        [{"text": text} for text in TEXTS],
        output_type="loglikelihood_rolling",
        doc_to_text="",
        doc_to_target="{{text}}",
        metric_list=[{"metric": "bits_per_byte"}],
    )
    found = lm_eval.simple_evaluate(
        model="mdmgen",
        model_args="draws=32,seed=3,length=24",
        tasks=[choices, perplexity],
        device="cuda:0",  # The default of its command line.
        batch_size=1,
        bootstrap_iters=0,
    )
    assert found is not None
    flags = ["--draws", "32", "--seed", "3", "--length", "24"]

    lines = [{"context": d["context"], "text": text} for d in DOCUMENTS for text in d["choices"]]
    want = printed(mdmgen_program, lines, *flags)
    samples = sorted(found["samples"]["choices"], key=lambda s: s["doc_id"])
    assert [r[0] for s in samples for r in s["filtered_resps"]] == want
    right = [(want[2 * i] < want[2 * i + 1]) == bool(d["answer"]) for i, d in enumerate(DOCUMENTS)]
    assert found["results"]["choices"]["acc,none"] == sum(right) / len(right)

    want = printed(mdmgen_program, [{"text": text} for text in TEXTS], *flags)
    samples = sorted(found["samples"]["perplexity"], key=lambda s: s["doc_id"])
    assert [s["filtered_resps"][0] for s in samples] == want


def test_long_examples_are_cut_and_arguments_checked(mdmgen_class: Any, caplog: pytest.LogCaptureFixture) -> None:
    lm = mdmgen_class(draws=2, max_gen_toks=8)
    long = "Once upon a time there was a king who had a daughter. " * 12
    (long_value, _), (short, _) = lm.loglikelihood([SimpleNamespace(args=(c, " and a queen")) for c in (long, "the king")])
    assert long_value < 0 and short < 0 and "1 context was cut on the left" in caplog.text
    text, nothing = lm.generate_until([SimpleNamespace(args=(long, {})), SimpleNamespace(args=("x", {"max_gen_toks": 999}))])
    assert text and nothing == "" and "characters was cut on the left" in caplog.text
    with pytest.raises(mdmgen.UsageError, match="unknown flag --drawz"):
        mdmgen_class(drawz=2)
