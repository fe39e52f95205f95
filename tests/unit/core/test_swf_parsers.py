"""The fast parser of SWF text reads what the careful one reads, or leaves it to that one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from schedfarm.core import InputError
from schedfarm.core.logs.swf_text import CHUNK, _careful_rows, _fast_rows, parse
from tests.support.swf_texts import big, row


def agree(text: bytes) -> bool:
    """Whether the fast parser takes the text; if so it must read it as the careful one does."""
    fast = _fast_rows(text)
    assert fast is None or np.array_equal(fast, _careful_rows(text, "log", 1))
    return fast is not None


@settings(max_examples=400, deadline=None)
@given(
    word=st.text("0123456789-. +e;\t\r\n", min_size=1, max_size=6),
    words=st.integers(0, 2),
    at=st.sampled_from([0, 9, 17, 18, 35]),
)
def test_the_fast_parser_never_differs_from_the_careful_one(word: str, words: int, at: int) -> None:
    """What the fast parser accepts, the careful one reads to the same numbers."""
    fields = f"{row(1, run=3.5)} {row(2)}".split()
    fields[at : at + words] = [word]
    lines = [" ".join(fields[:18]), " ".join(fields[18:]), row(3)]
    agree("\n".join(lines).encode())


@pytest.mark.parametrize(
    "word", [".5", "-.5", "-", "--1", "1-2", "1.2.3", "1.-5", "..", "1..", ";"]
)
@pytest.mark.parametrize("fields", [17, 18, 19])
def test_the_fast_parser_leaves_odd_words_to_the_careful_one(word: str, fields: int) -> None:
    """A word that is no plain number, in a row of any width, is not read fast."""
    for at in (0, 9, fields - 1):
        words = ["-1"] * fields
        words[at] = word
        assert not agree("\n".join([row(), " ".join(words), row()]).encode())


def test_the_fast_parser_takes_plain_rows() -> None:
    """Rows of whole and decimal numbers, the archive's form, need no careful reading."""
    assert agree(f"{row(1, run=3.5, procs='2.')}\r\n  {row(2, time='007')}\t\n{row(3)}".encode())


def test_lines_count_across_chunks() -> None:
    """A fault beyond the first chunk of text is named by its line in the file."""
    text = big(3 * CHUNK // 100)
    lines = text.count("\n")
    assert len(text) > CHUNK
    assert parse(text.encode(), "log").columns["submit"].tolist() == list(range(lines - 1))
    with pytest.raises(InputError, match=f"log, line {lines + 1}: the row has 1 fields"):
        parse((text + "7\n").encode(), "log")
