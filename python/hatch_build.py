"""Puts the program into the wheel.

The program is built by Go for GOOS and GOARCH, or is the file that MDMGEN_PROGRAM names. The wheel's version,
platform and dependencies are read from it and from model/ort/library.
"""

import functools
import os
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

ROOT = Path(__file__).resolve().parent.parent
# The oldest macOS of the pinned ONNX Runtime's wheels.
MACOS = "macosx_14_0"
MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}


class Program:
    """An executable of mdmgen, and what its Go build says of it."""

    def __init__(self, path: Path) -> None:
        said = subprocess.run(["go", "version", "-m", path], check=True, capture_output=True, text=True).stdout
        self.path = path
        self.settings = dict(re.findall(r"^\tbuild\t(\w+)=(.*)$", said, re.MULTILINE))
        module = re.search(r"^\tmod\t\S+\tv(\S+)", said, re.MULTILINE)
        self.version = pep440(module[1]) if module else "0+devel"

    def tag(self) -> str:
        """The wheel's tag: any Python 3, and the platforms that run the program."""
        system, machine = self.settings["GOOS"], self.settings["GOARCH"]
        if system == "windows":
            platform = f"win_{machine}"
        elif system == "darwin":
            platform = f"{MACOS}_{machine.replace('amd64', 'x86_64')}"
        else:
            # The newest version of glibc whose symbols the program needs, at least that of the pinned
            # ONNX Runtime.
            needed = re.findall(rb"\0GLIBC_2\.(\d+)", self.path.read_bytes())
            platform = f"manylinux_2_{max(28, *map(int, needed))}_{MACHINES[machine]}"
        return f"py3-none-{platform}"


def pep440(version: str) -> str:
    """A version of Go as one of Python: that of a commit has its time and name, and may end in +dirty."""
    commit = re.fullmatch(r"(\d+\.\d+\.\d+)-(?:.*\.)?(\d{14})-(\w+)(?:\+(dirty))?", version)
    if not commit:
        return version
    number, time, name, dirty = commit.groups()
    return f"{number}.dev{time}+{name}" + (".dirty" if dirty else "")


# What is built is needed until the wheel is made.
FOLDER = tempfile.TemporaryDirectory(prefix="mdmgen-wheel-")


@functools.cache
def program() -> Program:
    """The program that MDMGEN_PROGRAM names, else one that is built."""
    if named := os.environ.get("MDMGEN_PROGRAM"):
        return Program(Path(named).resolve())
    out = Path(FOLDER.name, "mdmgen")
    command = ["go", "build", "-trimpath", "-ldflags=-s", "-o", str(out), "./cmd/mdmgen"]
    subprocess.run(command, cwd=ROOT, check=True)
    return Program(out)


class Metadata(MetadataHookInterface):
    """The version is the program's, and the runtime is the version that the program pins."""

    def update(self, metadata: dict[str, Any]) -> None:
        pinned = re.search(r'Version = "(.+)"', (ROOT / "model/ort/library/platform.go").read_text())
        assert pinned
        metadata["version"] = program().version
        metadata["dependencies"] = [f"onnxruntime=={pinned[1]}", "numpy"]


class Build(BuildHookInterface[Any]):
    """The wheel has the program among its scripts, which pip puts on the path."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        name = "mdmgen.exe" if program().settings["GOOS"] == "windows" else "mdmgen"
        build_data["tag"] = program().tag()
        build_data["pure_python"] = False
        build_data["shared_scripts"] = {str(program().path): name}
        build_data["extra_metadata"] = {str(ROOT / "LICENSE"): "LICENSE"}
        licenses = program().path.parents[1] / "share/doc/mdmgen/licenses"
        if licenses.is_dir():  # Those of all modules, which an archive has.
            build_data["extra_metadata"][str(licenses)] = "licenses"
