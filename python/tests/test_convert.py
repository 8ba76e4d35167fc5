"""Converted checkpoints are graphs that ONNX's own checker takes, and so other tools."""

import subprocess
from pathlib import Path

import pytest

onnx = pytest.importorskip("onnx", reason="onnx, which checks graphs, is not installed")
CHECKPOINTS = Path(__file__).parents[2] / "testdata" / "reference" / "checkpoints"
NAMES = sorted(path.parent.name for path in CHECKPOINTS.glob("*/config.json"))
# Linear layers of other types are the same in all families.
OTHERS = [("mdlm", "fp16"), ("mdlm", "int4"), ("qwen3", "int8"), ("qwen3", "int4")]


@pytest.mark.parametrize(("name", "dtype"), [(name, "fp32") for name in NAMES] + OTHERS)
def test_converted_graphs_are_valid(mdmgen_program: Path, tmp_path: Path, name: str, dtype: str) -> None:
    command = [str(mdmgen_program), "convert", str(CHECKPOINTS / name), "-o", str(tmp_path / "to"), "--dtype", dtype]
    subprocess.run(command, check=True, capture_output=True)
    graphs = list((tmp_path / "to").glob("*.onnx"))
    assert graphs
    for graph in graphs:
        onnx.checker.check_model(graph)
