"""The blocks of a page, in order, as its reader runs them.

    python tests/support/pages.py PAGE.md

runs a page in the current folder; this needs Python and bash alone.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

BLOCK = re.compile(r"(?:`(?P<file>[\w.]+)`:\n\n)?```(?P<language>\w+)\n(?P<text>.*?)```", re.S)

ENDING = "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT"
"""Ends what a block of commands leaves in the background."""


def commands(page: Path, folder: Path) -> Iterator[list[str]]:
    """Write the files that a page names before a block, and yield the commands of its programs."""
    for block in BLOCK.finditer(page.read_text(encoding="utf-8")):
        if block["file"]:
            (folder / block["file"]).write_text(block["text"], encoding="utf-8")
        elif block["language"] == "sh":
            yield ["bash", "-ec", f"{ENDING}\n{block['text']}"]
        elif block["language"] == "python":
            yield ["python", "-W", "error", "-c", block["text"]]


def main() -> None:
    for command in commands(Path(sys.argv[1]).resolve(), Path.cwd()):
        sys.stdout.write(f"\n$ {command[-1].removeprefix(ENDING).strip()}\n")
        sys.stdout.flush()
        subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
