"""An open model gives what the commands give."""

import json
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import mdmgen

TIME = "Once upon a time"
WORLD = Path(__file__).parents[2] / "testdata" / "reference" / "laws" / "xor3-mixed.json"


def generated(program: Path, *flags: str) -> list[list[int]]:
    """The ids that `mdmgen generate` prints."""
    done = subprocess.run(
        [program, "generate", "--format", "jsonl", *flags], check=True, capture_output=True, text=True
    )
    return [json.loads(line)["ids"] for line in done.stdout.splitlines()]


def test_samples_are_those_of_generate(model: mdmgen.Model, mdmgen_program: Path) -> None:
    got = sorted(model.generate(TIME, length=24, n=3, seed=7, sampler="tweedie", steps=8), key=lambda s: s.index)
    flags = "--length 24 -n 3 --seed 7 --sampler tweedie --steps 8".split()
    assert [s.ids for s in got] == generated(mdmgen_program, "--prefix", TIME, *flags)
    for sample in got:
        assert sample.text == TIME + (sample.continuation or "") and sample.filled == [sample.continuation]
        assert 0 < sample.calls <= 8


def test_frames_lead_to_the_sample(model: mdmgen.Model) -> None:
    canvas: list[int | None] = []
    for x in model.generate(TIME, length=12, seed=1, frames=True):
        if isinstance(x, mdmgen.Sample):
            break
        canvas += [None] * (x.length + x.grown)
        for l, token in zip(x.positions, x.tokens, strict=True):
            canvas[l] = token
        for l in x.masked_again:
            canvas[l] = None
        assert len(x.pieces) == len(x.tokens) and all(log <= 0 for log in x.log_probabilities)
        done = x.done
    assert done and isinstance(x, mdmgen.Sample) and canvas == x.ids
    plain = next(model.generate(TIME, length=12, seed=1))
    assert plain.ids == x.ids


def test_an_iterator_that_is_left_cancels(model: mdmgen.Model) -> None:
    """128 samples of 128 calls would take minutes, and the next request waits for none of them."""
    many = model.generate(length=128, n=128, seed=1, frames=True)
    assert isinstance(next(many), mdmgen.Frame)
    many.close()
    assert next(model.generate(length=8, seed=1)).calls == 8


def test_threads_share_a_model(model: mdmgen.Model) -> None:
    def ids(seed: int) -> list[int]:
        return next(model.generate(length=16, seed=seed)).ids

    alone = [ids(seed) for seed in range(12)]
    with ThreadPoolExecutor(12) as pool:
        assert list(pool.map(ids, range(12))) == alone


def test_scores_are_those_of_score(model: mdmgen.Model, mdmgen_program: Path) -> None:
    line = {"context": TIME, "text": " there was a king and a queen"}
    command = "score --as jsonl --format jsonl --seed 5 --draws 8".split()
    done = subprocess.run(
        [mdmgen_program, *command], input=json.dumps(line), check=True, capture_output=True, text=True
    )
    want = json.loads(done.stdout.splitlines()[0])["nats"]
    got = model.score(line["text"], line["context"], draws=8, seed=5)
    # The command asks the network for log-probabilities and the server for rows, which round apart.
    assert got.nelbo == pytest.approx(want["mean"], rel=1e-6) and got.se == pytest.approx(want["se"], rel=1e-6)
    assert not got.exact and got.fhs is None

    few = model.score(" there was", TIME)
    assert few.exact and few.fhs is not None and few.fhs <= few.nelbo and few.se == 0
    chain = model.score(model.tokenize(" there was"), model.tokenize(TIME)).left_to_right
    assert few.left_to_right == chain


def test_readings_are_arrays(model: mdmgen.Model) -> None:
    found = model.read("Once upon a{{2}} there was a{{1}}", top=3, candidates=[" king"])
    first, last = found.gaps
    assert first.tokens.shape == first.log_probabilities.shape == (2, 3) and first.entropy.shape == (2,)
    assert last.tokens.shape == (1, 3) and last.log_probabilities.dtype == np.float64
    assert (np.diff(first.log_probabilities, axis=1) <= 0).all() and (first.entropy > 0).all()
    assert first.texts[0][0] == " time" and first.start == 4
    # One token in one position: the candidate's probability is the row's.
    king = model.read("Once upon a{{2}} there was a{{1}}", top=1000).gaps[1]
    at = king.texts[0].index(" king")
    assert last.candidates == pytest.approx([king.log_probabilities[0, at]], abs=1e-6)
    assert 0.99 < np.exp(king.log_probabilities).sum() < 1


def test_ids_may_be_an_array(model: mdmgen.Model) -> None:
    ids = np.array(model.tokenize(TIME))
    assert model.score(" there was", ids) == model.score(" there was", TIME)


def test_a_world_has_ids_alone() -> None:
    with mdmgen.load(WORLD) as m:
        sample = next(m.generate(seed=1))
        assert len(sample.ids) == 3 and sample.text == "" and sample.continuation is None
        (gap,) = m.read(ids=[1, None, None], candidate_ids=[[0, 1], [1, 1], [0, 0], [1, 0]]).gaps
        assert gap.texts == [["", ""], ["", ""]] and np.exp(gap.candidates).sum() == pytest.approx(1)
        assert m.score([1, 0, 1]).exact
        with pytest.raises(mdmgen.UsageError, match="needs a tokenizer"):
            next(m.generate("Once"))


def test_errors_carry_the_programs_line(model: mdmgen.Model) -> None:
    with pytest.raises(mdmgen.UsageError, match="^unknown key \"lenght\"; did you mean length\\?$") as caught:
        next(model.generate(lenght=3))
    assert caught.value.status == 400
    with pytest.raises(mdmgen.MissingError, match="^model /nowhere: no such folder or file") as missing:
        mdmgen.load("/nowhere")
    assert missing.value.status == 4
    with pytest.raises(mdmgen.UsageError, match="unknown flag --lenght") as usage:
        mdmgen.load(lenght=3)
    assert usage.value.status == 2
    with pytest.raises(mdmgen.Error, match="^the model is closed$"):
        closed = mdmgen.load()
        closed.close()
        closed.close()
        next(closed.generate())


def test_a_setting_of_the_program(mdmgen_program: Path) -> None:
    with mdmgen.load(batch=2, offline=True, set={"cache-memory": "1GB"}) as m:
        assert len(next(m.generate(length=4, seed=1)).ids) == 4


def test_records_of_bench_and_bound(tmp_path: Path) -> None:
    rare = {"temperature": [0.7, 1]}
    found = mdmgen.bench(model=WORLD, sampler=["fhs", "tweedie"], steps=[2, 4], n=2, repetitions=1, seed=1, set=rare)
    assert found["schema"] == "mdmgen.bench/1" and len(found["cells"]) == 6
    assert mdmgen.bound(WORLD, steps=2)["mode"] == "world"
    with pytest.raises(mdmgen.Error, match="nothing.txt"):
        mdmgen.bound(tmp_path / "nothing.txt")


def test_no_program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A wrong MDMGEN is one line, and leaves nothing."""
    monkeypatch.setenv("MDMGEN", str(tmp_path / "none"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    with pytest.raises(mdmgen.MissingError, match="^MDMGEN names .*none, which is no program$"):
        mdmgen.load()
    assert not list(tmp_path.iterdir())
