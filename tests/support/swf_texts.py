"""Texts of logs, and a workload, that the tests of the Standard Workload Format share."""

from __future__ import annotations

from pathlib import Path

from schedfarm.core import Workload, read_swf

HEADER = "; MaxProcs: 8\n"


def row(
    job: int = 1,
    submit: object = 0,
    run: object = 10,
    procs: object = 2,
    requested: object = -1,
    time: object = -1,
    user: object = 5,
    wait: object = -1,
) -> str:
    """One row; the fields that do not matter hold -1."""
    asked = f"-1 -1 {requested} {time} -1"
    return f"{job} {submit} {wait} {run} {procs} {asked} 1 {user} -1 -1 -1 -1 -1 -1"


def read(folder: Path, *rows: str, header: str = HEADER, **options: object) -> Workload:
    """Write rows as a log into a folder, and read it."""
    path = folder / "log.swf"
    path.write_text(header + "\n".join(rows) + "\n")
    return read_swf(path, **options)  # type: ignore[arg-type]


def big(rows: int) -> str:
    """A log of so many rows."""
    return HEADER + "".join(f"{row(j, submit=j, run=7.5)}\n" for j in range(rows))


def small(**changes: object) -> Workload:
    """Three jobs, of which the last was killed."""
    columns: dict[str, object] = {
        "submit": [0, 5, 5],
        "run": [10, 0, 20],
        "estimate": [60, 0, 20],
        "procs": [2, 4, 1],
        "user": [3, -1, 3],
        "job": [7, 7, 9],
        "killed": [False, False, True],
        "processors": 4,
        "name": "small",
    }
    return Workload.from_columns(**(columns | changes))  # type: ignore[arg-type]
