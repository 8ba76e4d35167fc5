"""The wheel carries the program, for the platform that it was built for, and is the same bytes every time."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("hatchling", reason="hatchling, which builds the wheel, is not installed")
if sys.platform != "linux":
    pytest.skip("the tag is Linux's here", allow_module_level=True)

FOLDER = Path(__file__).parents[1]
sys.path.insert(0, str(FOLDER))

from hatch_build import Program, pep440  # noqa: E402


def built(program: Path, to: Path) -> Path:
    env = {**os.environ, "MDMGEN_PROGRAM": str(program)}
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(to)]
    subprocess.run(command, cwd=FOLDER, env=env, check=True, capture_output=True)
    (wheel,) = to.iterdir()
    return wheel


def test_wheel(mdmgen_program: Path, tmp_path: Path) -> None:
    first, second = (built(mdmgen_program, tmp_path / name) for name in ("a", "b"))
    assert first.name == second.name and first.read_bytes() == second.read_bytes()
    assert first.stat().st_size < 45e6
    with zipfile.ZipFile(first) as z:
        info = next(n for n in z.namelist() if n.endswith(".dist-info/METADATA")).removesuffix("METADATA")
        data = info.replace(".dist-info", ".data")
        package = {f"mdmgen/{path.name}" for path in (FOLDER / "mdmgen").iterdir() if path.is_file()}
        rest = {f"{info}{name}" for name in ("METADATA", "WHEEL", "RECORD", "extra_metadata/LICENSE")}
        assert set(z.namelist()) == package | rest | {f"{data}scripts/mdmgen"}
        assert z.read(f"{data}scripts/mdmgen") == mdmgen_program.read_bytes()
        metadata = z.read(f"{info}METADATA").decode()
    assert "\nRequires-Dist: onnxruntime==" in metadata and "\nRequires-Python: >=3.11\n" in metadata


def test_tag_and_version(mdmgen_program: Path) -> None:
    python, abi, platform = Program(mdmgen_program).tag().split("-")
    assert (python, abi) == ("py3", "none") and platform.startswith("manylinux_2_")
    other = object.__new__(Program)
    for system, machine, tag in [("windows", "amd64", "win_amd64"), ("darwin", "arm64", "macosx_14_0_arm64")]:
        other.settings = {"GOOS": system, "GOARCH": machine}
        assert other.tag() == f"py3-none-{tag}"
    for go, want in {
        "1.2.3": "1.2.3",
        "1.2.3-rc.1": "1.2.3-rc.1",
        "0.0.0-20260102030405-0123456789ab": "0.0.0.dev20260102030405+0123456789ab",
        "1.2.4-0.20260102030405-0123456789ab+dirty": "1.2.4.dev20260102030405+0123456789ab.dirty",
        "1.2.3-rc.1.0.20260102030405-0123456789ab": "1.2.3.dev20260102030405+0123456789ab",
    }.items():
        assert pep440(go) == want
