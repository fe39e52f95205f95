"""What is said of a cluster when it is opened, beside which one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


def _silent(text: str) -> None:
    """Leave what is said unsaid."""


@dataclass(frozen=True)
class Opening:
    """Say for what, and for whom, a cluster is opened.

    Parameters
    ----------
    watched : bool
        Whether somebody will look at Dask's dashboard or report.
    folder : Path
        Where jobs write what they say; made where it is missing.
    title : str
        Name that jobs get in the list of their batch system.
    say : callable
        Told in a sentence what happens to jobs.
    note : callable
        Told the id of each job that is submitted.
    """

    watched: bool = False
    folder: Path = Path("farm.jobs")
    title: str = "farm"
    say: Callable[[str], None] = _silent
    note: Callable[[str], None] = _silent
