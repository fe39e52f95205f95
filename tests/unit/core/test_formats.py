"""A format more is its reader and one row."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from schedfarm.core import InputError, Platform, read_log
from schedfarm.core.logs.field_map import FieldMap
from schedfarm.core.logs.formats import FORMATS, Format, file_ends
from schedfarm.core.logs.read import format_of
from schedfarm.core.logs.rows import Parsed


def parse_toy(path: str | os.PathLike[str], _: Platform | None, __: FieldMap | None) -> Parsed:
    """Read the rows of a log in which each row is a submission."""
    submit = np.array([int(line) for line in Path(path).read_text().splitlines()[1:]])
    ones = np.ones(submit.size, np.int64)
    names = ("run", "allocated", "requested", "request_time", "user")
    columns = {"job": np.arange(1, submit.size + 1), "submit": submit, **dict.fromkeys(names, ones)}
    return Parsed(columns, processors=1)


def test_a_format_more_is_one_row_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is known by its first line and its name, and the name's end is no part of the log's."""
    toy = Format("a toy", (".toy",), lambda line: line == "TOY", None, parse_toy)
    monkeypatch.setitem(FORMATS, "toy", toy)
    path = tmp_path / "small.toy"
    path.write_text("TOY\n5\n3\n")
    assert format_of(path) == "toy"
    log = read_log(path)
    assert (log.name, log.submit.tolist()) == ("small", [3, 5])
    assert read_log(path, rows=(1, 2)).submit.tolist() == [3]
    assert file_ends()[-2:] == (".toy.gz", ".toy")


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_refuses_a_file_that_is_not_there(name: str, tmp_path: Path) -> None:
    """The functions of a row import what they call."""
    with pytest.raises(InputError, match=r"none\."):
        FORMATS[name].parse(tmp_path / "none.log", None, None)
    assert FORMATS[name].meaning
