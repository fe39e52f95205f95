"""Words of a text as arrays, split and converted without a Python loop over rows.

Every function of this module is exact or declines. A word of an unusual form is left to a converter
of single words, so that values and errors are those of a careful reader.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from schedfarm.core.arrays import Bool, Int64
from schedfarm.core.logs.rows import LONGEST_INT64

Bytes = npt.NDArray[np.uint8]

Values = tuple[Int64, Bool]
"""Value of each word, and the mask of certain values."""

_BLANK, _NEWLINE, _MINUS, _DOT, _ZERO = b" \n-.0"
_LIMB = 8
_MIX = np.uint64(0x9E3779B97F4A7C15)
_TIME = b"0000-00-00T00:00:00"
_CLOCK = b"00:00:00"


@dataclass(frozen=True, eq=False)
class Words:
    """Hold the words of a column: word i is text[first[i] : end[i]].

    Parameters
    ----------
    text : uint8[m]
        ASCII text without NUL.
    first, end : int64[n]
        Ascending bounds of the words; an empty word has first == end.
    """

    text: Bytes
    first: Int64
    end: Int64

    def __len__(self) -> int:
        return int(self.first.size)

    @property
    def length(self) -> Int64:
        """Length of each word, bytes, int64[n]."""
        return self.end - self.first

    @property
    def longest(self) -> int:
        """Length of the longest word, bytes."""
        return int(self.length.max(initial=0))

    def only(self, rows: npt.NDArray[Any]) -> Words:
        """Return the words of some rows."""
        return Words(self.text, self.first[rows], self.end[rows])

    def byte(self, i: int) -> Bytes:
        """Return byte `i` of each word, uint8[n]; 0 beyond the end of the word."""
        at = self.first + i
        return np.where(at < self.end, self.text[np.minimum(at, self.text.size - 1)], 0)

    def distinct(self) -> tuple[list[str], Int64]:
        """Return the distinct words in order of appearance, and each row's index of its word."""
        limbs = [self._limb(at) for at in range(0, max(self.longest, 1), _LIMB)]
        mixed = limbs[0]
        for limb in limbs[1:]:
            mixed = (mixed ^ (mixed >> np.uint64(29))) * _MIX + limb
        _, place, which = np.unique(mixed, return_index=True, return_inverse=True)
        if len(limbs) > 1 and any((limb[place][which] != limb).any() for limb in limbs):
            # If two words have the same hash, the words themselves are sorted.
            table = np.stack(limbs, axis=1)
            _, place, which = np.unique(table, axis=0, return_index=True, return_inverse=True)
        order = np.argsort(place)
        rank = np.empty_like(order)
        rank[order] = np.arange(order.size)
        content = self.text.data
        bounds = zip(self.first[place[order]], self.end[place[order]], strict=True)
        return [bytes(content[a:b]).decode() for a, b in bounds], rank[which.reshape(-1)]

    def holding(self, at: Int64) -> Int64:
        """Return the rows of the words at some positions of the text."""
        after = np.searchsorted(self.first, at, side="right")
        at, row = at[after > 0], after[after > 0] - 1
        return row[at < self.end[row]]

    def _limb(self, at: int) -> npt.NDArray[np.uint64]:
        limb = np.zeros(len(self), np.uint64)
        for i in range(_LIMB):
            limb |= self.byte(at + i).astype(np.uint64) << np.uint64(8 * i)
        return limb


def split_at(chunk: bytes, separator: bytes, fields: Sequence[str]) -> Mapping[str, Words] | None:
    r"""Split lines at a separator, and strip blanks; return None if a line lacks fields.

    Examples
    --------
    >>> found = split_at(b"7|ann\n8| bob\n", b"|", ["job", "user"])
    >>> found["user"].distinct()[0]
    ['ann', 'bob']
    """
    text = np.frombuffer(chunk, np.uint8)
    ends = np.flatnonzero((text == separator[0]) | (text == _NEWLINE))
    closed = text[ends] == _NEWLINE
    if ends.size % len(fields) or np.count_nonzero(closed) * len(fields) != ends.size:
        return None
    if not closed[len(fields) - 1 :: len(fields)].all():
        return None
    first, end = np.concatenate(([0], ends[:-1] + 1)), ends
    while (blank := (first < end) & (text[first] <= _BLANK)).any():
        first = first + blank
    while (blank := (first < end) & (text[end - 1] <= _BLANK)).any():
        end = end - blank
    return _table(text, first, end, fields)


def split_blanks(chunk: bytes, fields: Sequence[str]) -> Mapping[str, Words] | None:
    r"""Split lines at blanks and tabs; return None if a line lacks fields.

    Examples
    --------
    >>> split_blanks(b"7 ann\n8  bob\n", ["job", "user"])["user"].distinct()[0]
    ['ann', 'bob']
    >>> split_blanks(b"7 ann 8\nbob\n", ["job", "user"]) is None
    True
    """
    text = np.frombuffer(chunk, np.uint8)
    ink = np.concatenate(([False], text > _BLANK, [False]))
    edges = np.flatnonzero(ink[1:] != ink[:-1])
    first, end = edges[::2], edges[1::2]
    lines = np.flatnonzero(text == _NEWLINE)
    width = len(fields)
    if not lines.size or first.size != width * lines.size:
        return None
    if (first[width - 1 :: width] > lines).any() or (first[width::width] < lines[:-1]).any():
        return None
    return _table(text, first, end, fields)


def _table(text: Bytes, first: Int64, end: Int64, fields: Sequence[str]) -> Mapping[str, Words]:
    width = len(fields)
    return {name: Words(text, first[k::width], end[k::width]) for k, name in enumerate(fields)}


def whole_numbers(words: Words) -> Values:
    """Return words such as 12, -1 and 12.9 as whole numbers, without decimals."""
    digits, length = np.zeros(len(words), np.int64), words.length
    negative = words.byte(0) == _MINUS
    sure = length <= LONGEST_INT64
    begun, fraction = np.zeros(len(words), np.bool_), np.zeros(len(words), np.bool_)
    for i in range(min(words.longest, LONGEST_INT64)):
        byte = words.byte(i)
        digit = byte - np.uint8(_ZERO)
        is_digit, dot = digit <= 9, (byte == _DOT) & begun & ~fraction
        sure &= is_digit | dot | (byte == 0) | (negative if i == 0 else False)
        digits = np.where(is_digit & ~fraction, 10 * digits + digit, digits)
        begun |= is_digit
        fraction |= dot
    return np.where(negative, -digits, digits), sure & begun


def leading_numbers(words: Words) -> tuple[Int64, Int64]:
    """Return the number at the beginning of each word, and its number of digits, at most 18."""
    value, count = np.zeros((2, len(words)), np.int64)
    going = np.ones(len(words), np.bool_)
    for i in range(min(words.longest, LONGEST_INT64)):
        digit = words.byte(i) - np.uint8(_ZERO)
        going &= digit <= 9
        value = np.where(going, 10 * value + digit, value)
        count += going
    return value, count


def instants(words: Words) -> Values:
    """Return words such as 2024-01-02T03:04:05 as seconds since 1970."""
    part, sure = _shaped(words, _TIME, words.first, words.length == len(_TIME))
    year, month, day = part[0:4], part[5:7], part[8:10]
    months = (_number(year) - 1970) * 12 + _number(month) - 1
    since = months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    after = (months + 1).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    sure &= (_number(year) >= 1) & (_number(month) >= 1) & (_number(month) <= 12)
    sure &= (_number(day) >= 1) & (_number(day) <= after - since)
    hour, minute, second = (_number(part[k : k + 2]) for k in (11, 14, 17))
    sure &= (hour < 24) & (minute < 60) & (second < 60)
    days = since + _number(day) - 1
    return ((days * 24 + hour) * 60 + minute) * 60 + second, sure


def spans(words: Words) -> Values:
    """Return words such as 03:04:05 and 1-03:04:05 as seconds."""
    days, count = leading_numbers(words)
    short, long = words.length == len(_CLOCK), words.length == count + 1 + len(_CLOCK)
    tail = np.maximum(words.end - len(_CLOCK), 0)
    part, sure = _shaped(words, _CLOCK, tail, short | (long & (count > 0) & (count <= 9)))
    sure &= short | (words.text[np.maximum(tail - 1, 0)] == _MINUS)
    hours, minutes, seconds = (_number(part[k : k + 2]) for k in (0, 3, 6))
    return ((np.where(short, 0, days) * 24 + hours) * 60 + minutes) * 60 + seconds, sure


def with_byte(words: Words, byte: bytes) -> Bool:
    """Return the mask of words that contain a byte."""
    found = np.zeros(len(words), np.bool_)
    found[words.holding(np.flatnonzero(words.text == byte[0]))] = True
    return found


def _shaped(words: Words, shape: bytes, first: Int64, sure: Bool) -> tuple[Any, Bool]:
    """Return the digits of words with a shape, 0 for any digit, and the mask of such words."""
    at = first[None, :] + np.arange(len(shape))[:, None]
    text = words.text[np.minimum(at, words.text.size - 1)]
    digit = text - np.uint8(_ZERO)
    for k, byte in enumerate(shape):
        sure = sure & (digit[k] <= 9 if byte == _ZERO else text[k] == byte)
    return np.where(sure, digit, 0), sure


def _number(digits: Any) -> Int64:
    value = np.zeros(digits.shape[1], np.int64)
    for digit in digits:
        value = 10 * value + digit
    return value


@dataclass(frozen=True)
class Converter:
    """Declare the conversion of a column's words to whole numbers.

    Parameters
    ----------
    word : callable
        Function from a word and its position to the word's number or `UNKNOWN`; it raises
        `InputError` for other words.
    fast : callable, optional
        Function from words to numbers and the mask of certain numbers.
    """

    word: Callable[[str, str], int]
    fast: Callable[[Words], Values] | None = None

    def __call__(self, words: Words) -> Int64:
        """Return the number of each word; each distinct uncertain word is converted once."""
        if self.fast is None:
            values, odd = np.zeros(len(words), np.int64), np.arange(len(words))
        else:
            values, sure = self.fast(words)
            odd = np.flatnonzero(~sure)
        if odd.size:
            different, which = words.only(odd).distinct()
            values[odd] = np.array([self.word(word, "") for word in different], np.int64)[which]
        return values
