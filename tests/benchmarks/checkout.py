"""A checkout of this project with its environment: whatever is measured beside this one."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[2]
"""The checkout that this file is of."""

FARM = (
    "-c",
    """
try:
    from schedfarm.farm.cli import main
except ModuleNotFoundError:  # A checkout of before the four packages were one.
    from farm.cli import main
main()
""",
)
"""What makes Python the command `farm`."""

STAND = Path(__file__).with_name("stand.py")


@dataclass(frozen=True)
class Checkout:
    """Name a folder with the project in it, and the Python of its environment.

    Parameters
    ----------
    root : Path
        The folder.

    Raises
    ------
    ValueError
        If it does not hold the project, or no environment.
    """

    root: Path

    def __post_init__(self) -> None:
        for wanted in (self.root / "core" / "__init__.py", self.python):
            if not wanted.is_file():
                raise ValueError(
                    f"{self.root} is no checkout with an environment: there is no {wanted}"
                )

    @property
    def python(self) -> Path:
        return self.root / ".venv" / "bin" / "python"

    @property
    def commit(self) -> str:
        """Short name of the commit, with a + where files differ from it; "?" without git."""
        words = ["git", "-C", str(self.root), "describe", "--always", "--dirty=+", "--exclude=*"]
        done = subprocess.run(words, capture_output=True, text=True)
        return done.stdout.strip() or "?"

    def command(self, *words: str) -> list[str]:
        """Return what runs its Python with these words and no other folder's modules."""
        return [str(self.python), "-P", *words]

    def environment(self, kernels: Path | None = None) -> dict[str, str]:
        """Return variables with which its own code is imported, kernels being kept in a folder."""
        kept = {"NUMBA_CACHE_DIR": str(kernels)} if kernels else {}
        return {**os.environ, "PYTHONPATH": f"{self.root / 'src'}:{self.root}", **kept}


class Stand:
    """Ask a process of a checkout to measure tasks."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def measure(self, task: dict[str, Any]) -> dict[str, Any]:
        """Return what it answers to a task.

        Raises
        ------
        RuntimeError
            If it ended instead; what it said of that is on standard error.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(task) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{self._process.args} ended at the task {task}")
        return dict(json.loads(answer))


@contextmanager
def stand(checkout: Checkout) -> Iterator[Stand]:
    """Start a process of a checkout that measures, and end it."""
    with subprocess.Popen(
        checkout.command(str(STAND)),
        cwd=checkout.root,
        env=checkout.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield Stand(process)
        assert process.stdin is not None
        process.stdin.close()
