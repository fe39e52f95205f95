"""A format more is its reader and one row."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from schedfarm.core import Workload, read_log
from schedfarm.core.logs.formats import FORMATS, Format, file_ends
from schedfarm.core.logs.read import format_of
from schedfarm.core.logs.rows import log_name


def read_toy(path: str | os.PathLike[str], **options: object) -> Workload:
    """Read a log of which each row is a submission."""
    submit = [int(line) for line in Path(path).read_text().splitlines()[1:]]
    ones = [1] * len(submit)
    return Workload.from_columns(
        submit=submit, run=ones, estimate=ones, procs=ones, processors=1, name=log_name(str(path))
    )


def test_a_format_more_is_one_row_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is known by its first line and its name, and the name's end is no part of the log's."""
    toy = Format("a toy", (".toy",), lambda line: line == "TOY", None, f"{__name__}:read_toy")
    monkeypatch.setitem(FORMATS, "toy", toy)
    path = tmp_path / "small.toy"
    path.write_text("TOY\n5\n3\n")
    assert format_of(path) == "toy"
    log = read_log(path)
    assert (log.name, log.submit.tolist()) == ("small", [3, 5])
    assert file_ends()[-2:] == (".toy.gz", ".toy")


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_a_reader(name: str) -> None:
    """Its row names a function that is there."""
    assert callable(FORMATS[name].reader)
    assert FORMATS[name].meaning
