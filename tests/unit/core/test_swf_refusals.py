"""What is no log, or no choice of its rows, is refused by file and line."""

from __future__ import annotations

import gzip
import os
import zlib
from pathlib import Path

import pytest

from schedfarm.core import InputError, read_log, read_swf
from schedfarm.core.logs.packed import PART, unpacked_parts
from tests.support.swf_texts import HEADER, read, row

pytestmark = pytest.mark.usefixtures("swf_cache")


BAD = {
    "17 fields": (HEADER + row() + "\n" + row()[:-3], "line 3: the row has 17 fields"),
    "18 then 19": (HEADER + row() + "\n" + row() + " -1", "line 3: the row has 19 fields"),
    "17 then 19": (HEADER + row()[:-3] + "\n" + row() + " 1", "line 2: the row has 17 fields"),
    "split row": (HEADER + row().replace("10 2", "10\n2"), "line 2: the row has 4 fields"),
    "word": (HEADER + row(run="ten"), "line 2: 'ten' is not a number"),
    "underscore": (HEADER + row(run="1_0"), "line 2: '1_0' is not a number"),
    "nan": (HEADER + row(run="nan"), "line 2: 'nan' is not a number"),
    "lone minus": (HEADER + row(run="-"), "line 2: '-' is not a number"),
    "two points": (HEADER + row(run="1.2.3"), "line 2: '1.2.3' is not a number"),
    "65 bits": (HEADER + row(time=2**63), "9223372036854775808 does not fit 64 bits"),
    "huge": (HEADER + row(time="1e999"), "1e999 does not fit 64 bits"),
    "horizon": (HEADER + row(submit=2**62), "past the clock's"),
    "no machine": (row(), "no number as MaxProcs or MaxNodes"),
    "no job": (HEADER + row(run=-1), "no job is left to simulate; rows dropped: 1 no run"),
    "header only": (HEADER, "holds no data row"),
    "empty": ("", "holds no data row"),
    "binary": ("\0\1\2 rubbish", "holds binary data"),
    "text": ("<html>not found</html>", "line 1: the row has 2 fields"),
}


@pytest.mark.parametrize(("text", "said"), BAD.values(), ids=BAD)
def test_a_bad_log_is_refused_by_file_and_line(tmp_path: Path, text: str, said: str) -> None:
    """Each fault is one sentence with the file and, where there is one, the line."""
    path = tmp_path / "bad.swf"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        read_swf(path)
    assert str(path) in str(error.value)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_missing_file_and_folder_are_refused(tmp_path: Path) -> None:
    """What cannot be opened is named with the system's reason."""
    with pytest.raises(InputError, match=r"none\.swf: cannot read the log \(No such file"):
        read_swf(tmp_path / "none.swf")
    with pytest.raises(InputError, match=r"Is a directory"):
        read_swf(tmp_path)


def test_damaged_gzip_is_refused(tmp_path: Path) -> None:
    """A gzip that was cut, changed or followed by rubbish says so."""
    whole = gzip.compress((HEADER + row()).encode(), mtime=0)
    flipped = whole[:15] + bytes([whole[15] ^ 1]) + whole[16:]
    for content in (whole[:-9], whole[:5], flipped, whole + b"rubbish"):
        (tmp_path / "bad.swf.gz").write_bytes(content)
        with pytest.raises(InputError, match=r"bad\.swf\.gz: the gzip data is truncated or dam"):
            read_swf(tmp_path / "bad.swf.gz")


@pytest.mark.parametrize(
    "options",
    [
        {"rows": (0, 3)},
        {"rows": (1, 1)},
        {"rows": (2, 1)},
        {"rows": (-1, 1)},
        {"rows": (0, 1.5)},
        {"rows": (0, 1, 2)},
        {"rows": 5},
        {"jobs": 0},
        {"jobs": -1},
        {"jobs": 1.5},
        {"jobs": True},
        {"processors": 0},
        {"processors": "8"},
    ],
)
def test_bad_choices_are_refused(tmp_path: Path, options: dict[str, object]) -> None:
    """Rows beyond the file, an empty range, and numbers that are not whole are refused by name."""
    key, value = next(iter(options.items()))
    with pytest.raises(InputError, match=rf"log\.swf: {key}=") as error:
        read(tmp_path, row(1), row(2), **options)
    assert repr(value) in str(error.value)


def test_numbers_of_many_digits_are_refused_at_once(tmp_path: Path) -> None:
    """Python reads at most 4,300 digits; a million take it minutes."""
    for digits in (5_000, 10**6):
        with pytest.raises(InputError, match="line 2: 9{40} does not fit 64 bits"):
            read(tmp_path, row(time="9" * digits))
        with pytest.raises(InputError, match="line 2: '9{40}' is not a number"):
            read(tmp_path, row(time="9" * digits + "x"))


def test_a_packed_file_that_would_fill_the_memory_is_refused(tmp_path: Path) -> None:
    """A thousand times its size; what logs hold, a hundred times at most, is read."""
    path = tmp_path / "bomb.swf.gz"
    packer = zlib.compressobj(9, wbits=31)
    with path.open("wb") as file:
        for _ in range(100):
            file.write(packer.compress((b";" * 1023 + b"\n") * 2**10))
        file.write(packer.flush())
    with pytest.raises(InputError, match="bytes of gzip data hold more than 67,108,864 bytes"):
        read_swf(path)


def test_a_file_of_one_line_is_no_log(tmp_path: Path) -> None:
    """It is given up long before its end."""
    path = tmp_path / "line.swf"
    path.write_bytes(b"1 " * 2**24)
    with pytest.raises(InputError, match="holds a line of more than 16,777,216 bytes"):
        read_swf(path)


def test_a_log_that_grows_while_it_is_read__is_read_as_it_was(tmp_path: Path) -> None:
    """A writer that is faster than its reader would keep it for ever."""
    path = tmp_path / "grows.swf"
    lines = (HEADER + row() + "\n").encode()
    text = lines + b"; \n" * PART
    path.write_bytes(text)
    with path.open("rb") as file, path.open("ab") as writer:
        parts = []
        for part in unpacked_parts(file, str(path)):
            parts.append(part)
            writer.write(b"; more \n" * PART)
            writer.flush()
            assert len(parts) <= 4
    assert b"".join(parts) == text


@pytest.mark.parametrize("name", ["log.swf", "log.gwf", "log.sacct"])
def test_a_pipe_or_a_device__is_refused_and_not_waited_for(tmp_path: Path, name: str) -> None:
    """Nobody writes to the one, and the other has no end."""
    os.mkfifo(tmp_path / name)
    with pytest.raises(InputError, match=f"{name}: a pipe, which may have no end .* as a file"):
        read_log(tmp_path / name, processors=4)
    with pytest.raises(InputError, match="/dev/zero: a device"):
        read_log("/dev/zero", processors=4)
    with pytest.raises(InputError, match="/dev/full: a device"):
        read_swf("/dev/full", processors=4)
