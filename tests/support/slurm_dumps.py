"""Small dumps of a Slurm site, for the tests of `farm site`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from schedfarm.core.schedule import Schedule
from schedfarm.farm.site.example import Truth, site_jobs, write_files

SMALL = Truth(jobs=300, weeks=6, nodes=8, users=7)


def write_small_dump(folder: Path) -> None:
    """Write a dump whose jobs started at once."""
    jobs = site_jobs(SMALL)
    never = np.zeros(len(jobs), np.bool_)
    write_files(folder, SMALL, Schedule(jobs, "fcfs+none", jobs.submit, never))


@pytest.fixture(scope="session")
def dump_texts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the files of a small dump by name."""
    folder = tmp_path_factory.mktemp("dump")
    write_small_dump(folder)
    return {path.name: path.read_text() for path in folder.iterdir()}


@pytest.fixture
def dump(dump_texts: dict[str, str], tmp_path: Path) -> Path:
    """Write these files to a folder that a test may change."""
    folder = tmp_path / "dump"
    folder.mkdir()
    for name, text in dump_texts.items():
        (folder / name).write_text(text)
    return folder


def change(path: Path, old: str, new: str) -> None:
    """Replace a text of a file, which has it."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def edit(dump: Path, row: int, **fields: str) -> None:
    """Change fields of one job of the log."""
    rows = (dump / "sacct.txt").read_text().splitlines()
    names = rows[0].split("|")
    found = dict(zip(names, rows[row].split("|"), strict=True)) | fields
    rows[row] = "|".join(found[name] for name in names)
    (dump / "sacct.txt").write_text("\n".join(rows) + "\n")


def clear(dump: Path, begin: str, end: str) -> None:
    """Remove the jobs that ran between two instants."""
    head, *rows = (dump / "sacct.txt").read_text().splitlines()
    first, last = head.split("|").index("Start"), head.split("|").index("End")
    kept = [row for row in rows if row.split("|")[last] <= begin or row.split("|")[first] >= end]
    assert len(kept) > 100
    (dump / "sacct.txt").write_text("\n".join([head, *kept]) + "\n")


def reserve(dump: Path, *rows: str) -> None:
    """Write the table of sacctmgr with rows."""
    head = "Name|TimeStart|TimeEnd|Flags|NodeName"
    (dump / "reservations.txt").write_text("\n".join([head, *rows]) + "\n")


def nested(dump: Path, *nodes: str) -> None:
    """Let debug have some of the 8 nodes of batch."""
    rows = (dump / "sinfo.txt").read_text().splitlines()
    kept = [row for row in rows if "|debug|" not in row or row[:4] in nodes]
    (dump / "sinfo.txt").write_text("\n".join(kept) + "\n")
