"""docs/python.md: its cells run in order and print what follows them. UPDATE_DOCS=1 writes that."""

import contextlib
import io
import os
import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "python.md"
CELL = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.DOTALL)


def test_cells_print_what_follows_them() -> None:
    names: dict[str, Any] = {}

    def run(cell: re.Match[str]) -> str:
        out = io.StringIO()
        line = page[: cell.start(1)].count("\n")
        code = compile("\n" * line + cell[1], PAGE, "exec")
        with contextlib.redirect_stdout(out):
            exec(code, names)
        text = f"\n```text\n{out.getvalue()}```\n" if out.getvalue() else ""
        return f"```python\n{cell[1]}```\n{text}"

    page = PAGE.read_text()
    renewed = CELL.sub(run, page)
    if os.environ.get("UPDATE_DOCS"):
        PAGE.write_text(renewed)
    assert renewed == PAGE.read_text()
