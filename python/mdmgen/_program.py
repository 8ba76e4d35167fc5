"""The program: where it is, its flags, its errors, and its commands that end."""

import json
import logging
import os
import subprocess
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from pathlib import Path
from shutil import which
from typing import Any, TypeAlias

# The value of a flag. A sequence is a list, such as steps=[8, 32]; None leaves the flag out.
Setting: TypeAlias = str | int | float | os.PathLike[str] | Sequence[str | int | float] | None


LOG = logging.getLogger("mdmgen")


class Error(RuntimeError):
    """A line of the program on what is wrong.

    status is the program's exit status, or the status of its HTTP answer, 0 where it gave none.
    """

    def __init__(self, line: str, status: int = 0) -> None:
        super().__init__(line)
        self.status = status


class UsageError(Error, ValueError):
    """A setting or a request is wrong."""


class MissingError(Error, FileNotFoundError):
    """A model, a tokenizer or ONNX Runtime is missing."""

    def __str__(self) -> str:
        return str(self.args[0])


def failure(lines: Sequence[str], status: int) -> Error:
    """The error of a program that ended, by the last line that it wrote."""
    last = next((line for line in reversed(lines) if line.strip()), f"mdmgen: exit status {status}")
    kind = {2: UsageError, 4: MissingError}.get(status, Error)
    return kind(last.strip().removeprefix("mdmgen: "), status)


def program() -> Path:
    """The path of the program: the one that MDMGEN names, else that of this package, else on the search path."""
    if named := os.environ.get("MDMGEN"):
        if found := which(named):
            return Path(found)
        raise MissingError(f"MDMGEN names {named}, which is no program", 4)
    name = "mdmgen.exe" if sys.platform == "win32" else "mdmgen"
    # What pip installs for an environment, for a user, and by --target.
    folders: list[str | Path] = [
        sysconfig.get_path("scripts"),
        sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user")),
        Path(__file__).parents[1] / "bin",
    ]
    for folder in folders:
        if (path := Path(folder, name)).is_file():
            return path
    if found := which("mdmgen"):
        return Path(found)
    raise MissingError("the program mdmgen is not there: install the wheel again, or name it with MDMGEN", 4)


def arguments(settings: Mapping[str, Setting], rare: Mapping[str, Setting]) -> list[str]:
    """Settings as flags, and rarer ones as --set KEY=VALUE."""
    out = []
    for name, value in settings.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            out.append(flag)
        elif value is not None and value is not False:
            out.append(f"{flag}={plain(value)}")
    for name, value in rare.items():
        out += ["--set", f"{name.replace('_', '-')}={plain(value)}"]
    return out


def plain(value: Setting) -> str:
    """A value as it is typed."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ",".join(map(str, value))
    return str(value)


def run(command: str, *flags: str, given: str = "") -> str:
    """What a command prints. One whose validation fails (exit status 3) prints what it found too."""
    done = subprocess.run([program(), command, *flags], input=given, capture_output=True, encoding="utf-8")
    if done.returncode not in (0, 3):
        raise failure(done.stderr.splitlines(), done.returncode)
    for line in done.stderr.splitlines():
        if " cut on the left" in line:
            LOG.warning(line.removeprefix("mdmgen: "))
    return done.stdout


def bench(*, set: Mapping[str, Setting] = {}, **settings: Setting) -> dict[str, Any]:
    """What samplers cost: the record of `mdmgen bench`, whose flags the settings are.

    set has what is written --set KEY=VALUE there.
    """
    record: dict[str, Any] = json.loads(run("bench", "--format=json", *arguments(settings, set)))
    return record


def bound(file: str | os.PathLike[str], *, set: Mapping[str, Setting] = {}, **settings: Setting) -> dict[str, Any]:
    """Both sides of the bounds on a text or a world: the record of `mdmgen bound FILE`.

    A violated statement is no exception: the record has it.
    """
    flags = arguments(settings, set)
    record: dict[str, Any] = json.loads(run("bound", "--format=json", *flags, "--", os.fspath(file)))
    return record
