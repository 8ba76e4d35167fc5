"""The program that the tests run: the one that MDMGEN names, else one that is built."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import mdmgen

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session", autouse=True)
def mdmgen_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if "MDMGEN" not in os.environ:
        if not shutil.which("go"):
            pytest.skip("neither MDMGEN nor go is there")
        path = tmp_path_factory.mktemp("bin") / "mdmgen"
        subprocess.run(["go", "build", "-o", path, "./cmd/mdmgen"], cwd=ROOT, check=True)
        os.environ["MDMGEN"] = str(path)
    return Path(os.environ["MDMGEN"])


@pytest.fixture(scope="session")
def model() -> Iterator[mdmgen.Model]:
    with mdmgen.load(offline=True) as m:
        yield m
