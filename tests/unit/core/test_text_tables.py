"""The fast reading of text tables gives what the careful one does, or leaves it to that one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from schedfarm.core import InputError, read_log
from schedfarm.core.logs import gwf, sacct
from schedfarm.core.logs.text_table import (
    CHUNK,
    Layout,
    Source,
    _careful,
    _fast,
    log_text,
    numbering,
)
from schedfarm.core.logs.tokens import Words, instants, spans, split_at, whole_numbers

HEADER = [
    *("jobid", "jobidraw", "user", "submit", "start", "end", "elapsed", "elapsedraw"),
    *("timelimit", "timelimitraw", "reqcpus", "alloctres", "reqtres", "state", "priority"),
]
TIME = "2024-02-29T23:59:58"
SACCT_ROW = [
    *("12_3", "12", "ann", TIME, TIME, "Unknown", "1-02:03:04", "7"),
    *("00:10", "10", "4", "cpu=1,gres/gpu:a100=2", "", "CANCELLED by 12", "9.5"),
]
GWF_ROW = [str(k) for k in range(29)]


def named(layout: Layout) -> Mapping[str, tuple[Source, ...]]:
    return {name: (Source(field, numbering({})),) for name, field in layout.words.items()}


def agree(text: bytes, layout: Layout) -> bool:
    """Whether the fast reader takes a text; if so it must read it as the careful one does."""
    found = _fast(text, 5, layout, named(layout))
    if found is None:
        return False
    careful = _careful(text, "log", 5, layout, named(layout))
    assert found.keys() == careful.keys()
    for name, column in careful.items():
        if name != "task":
            assert found[name].tolist() == column.tolist(), name
    # Tasks have other numbers where they are no plain number; equal rows stay equal.
    if "task" in careful:
        pairs = set(zip(found["task"].tolist(), careful["task"].tolist(), strict=True))
        assert len(pairs) == np.unique(careful["task"]).size == np.unique(found["task"]).size
    return True


def texts(row: list[str], separator: str, at: int, word: str, gap: str) -> bytes:
    changed = [*row]
    changed[at] = word
    return ("\n".join(separator.join(one) for one in (row, changed, row)) + gap).encode()


WORDS = st.one_of(
    st.text("0123456789-.:T|_+# \t\r\x0bxeé", max_size=8),
    st.from_regex(r"[0-9]{1,3}-?[0-9]{1,2}:[0-9]{2}:[0-9]{2}(\.[0-9])?", fullmatch=True),
    st.from_regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}", fullmatch=True),
    st.from_regex(r"-?[0-9]{0,20}\.?[0-9]{0,3}", fullmatch=True),
    st.sampled_from(
        ["Unknown", "UNLIMITED", "None", "INVALID", "7.batch", "gres/gpu=0", "RUNNING"]
    ),
)


@settings(max_examples=200, deadline=None)
@given(word=WORDS, at=st.integers(0, len(HEADER) - 1), gap=st.sampled_from(["", "\n", "\n\n"]))
def test_sacct_is_read_fast_as_it_is_read_carefully(word: str, at: int, gap: str) -> None:
    """Words of every shape, in every column."""
    agree(texts(SACCT_ROW, "|", at, word, gap), sacct._layout(HEADER))


@settings(max_examples=150, deadline=None)
@given(word=WORDS, at=st.integers(0, 28), gap=st.sampled_from(["", "\n", "\n#x\n"]))
def test_gwf_is_read_fast_as_it_is_read_carefully(word: str, at: int, gap: str) -> None:
    """Words of every shape, in every column."""
    agree(texts(GWF_ROW, "\t", at, word, gap), gwf.LAYOUT)


def test_usual_rows_are_read_fast() -> None:
    """Without a careful reading of any chunk; comments and blank lines count as lines."""
    layout = sacct._layout(HEADER)
    assert agree(texts(SACCT_ROW, "|", 0, "13.batch", "\n\n"), layout)
    assert agree(texts(SACCT_ROW, " | ", 3, "Unknown", ""), layout)
    assert agree(b"# head\n\n" + texts(GWF_ROW, " ", 11, "user#1", "\n"), gwf.LAYOUT)
    found = _fast(b"# a\n\n" + " ".join(GWF_ROW).encode(), 5, gwf.LAYOUT, named(gwf.LAYOUT))
    assert found is not None
    assert found["line"].tolist() == [7]


@pytest.mark.parametrize(
    ("convert", "word", "value"),
    [
        (whole_numbers, "-12.9", -12),
        (whole_numbers, "007", 7),
        (whole_numbers, "1e3", None),
        (whole_numbers, "1.2.3", None),
        (whole_numbers, "", None),
        (whole_numbers, "-", None),
        (instants, "1970-01-02T00:00:01", 86_401),
        (instants, "1969-12-31T23:59:59", -1),
        (instants, "2023-02-29T00:00:00", None),
        (instants, "2024-02-29T24:00:00", None),
        (instants, "0000-01-01T00:00:00", None),
        (instants, "2024-13-01T00:00:00", None),
        (spans, "01:02:03", 3_723),
        (spans, "10-00:00:01", 864_001),
        (spans, "-1-00:00:01", None),
        (spans, "1:00", None),
    ],
)
def test_words_are_certain_or_left(convert: object, word: str, value: int | None) -> None:
    """A value is certain only for words of the usual shape."""
    found = split_at(f"x,{word}\n".encode(), b",", ["a", "b"])
    assert found is not None
    values, sure = convert(found["b"])  # type: ignore[operator]
    assert sure.tolist() == [value is not None]
    assert value is None or values.tolist() == [value]


def test_long_words_are_told_apart() -> None:
    """In order of appearance, whatever their length."""
    words = ["b" * 20, "a", "b" * 21, "", "a", "b" * 20]
    found = split_at(("\n".join(f"x|{word}" for word in words) + "\n").encode(), b"|", ["x", "y"])
    assert found is not None
    different, which = found["y"].distinct()
    assert different == ["b" * 20, "a", "b" * 21, ""]
    assert which.tolist() == [0, 1, 2, 3, 1, 0]


def test_words_of_one_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """The words themselves decide."""
    monkeypatch.setattr("schedfarm.core.logs.tokens._MIX", np.uint64(0))
    text = np.frombuffer(b"12345678a12345679a", np.uint8)
    words = Words(text, np.array([0, 9]), np.array([9, 18]))
    assert words.distinct()[0] == ["12345678a", "12345679a"]


def test_lines_count_across_chunks(tmp_path: Path) -> None:
    """A fault beyond the first chunk is named by its line, and names are numbered over all."""
    path = tmp_path / "long.gwf"
    row = "{0} {0} 1 5 1 -1 -1 1 9 -1 1 u{1} -1 -1" + 15 * " -1" + "\n"
    count = 2 * CHUNK // len(row)
    text = "#\n" + "".join(row.format(k, "longername" * (k > count / 2)) for k in range(count))
    path.write_text(text)
    log = read_log(path, processors=1)
    assert log.submit.tolist() == list(range(count))
    assert log.names["user"] == {1: "u", 2: "ulongername"}
    path.write_text(text + "7\n")
    with pytest.raises(InputError, match=rf"long.gwf, line {count + 2}: the row has 1 fields"):
        read_log(path, processors=1)


def test_every_end_of_a_line_counts(tmp_path: Path) -> None:
    """As Python's `splitlines` has it, after a byte-order mark."""
    path = tmp_path / "ends.txt"
    path.write_bytes(b"\xef\xbb\xbfa\r\nb\rc\x0bd\xe2\x80\xa8e\xff")
    assert log_text(path) == "a\nb\nc\nd\ne\ufffd".encode()
