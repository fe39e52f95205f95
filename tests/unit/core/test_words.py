"""Verbs of words: what they do to places, against numpy's comparisons and copies of slices."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings, strategies as st

from schedfarm.core.arrays import Float64, Int64
from schedfarm.core.engine.jit import NEVER, verb
from schedfarm.core.engine.lanes import (
    ALL,
    WORD,
    below,
    copy,
    elapsed_quotient,
    first_places,
    highest,
    least,
    less,
    lessen,
    lower_to,
    lowest,
    move_down,
    not_numbers,
    raise_to,
    room,
    slide,
    up_to,
    write_sortable,
)

POLICIES = ("fcfs+easy", "lxf+easy", "sxf+none", "lxf+conservative", "fcfs+planned,walk=queue")

EXTREMES = (-(2**63), -1, 0, 1, 2**63 - 1)
VALUES = st.one_of(st.sampled_from(EXTREMES), st.integers(-5, 5))
ARRAYS = st.lists(VALUES, min_size=3 * WORD, max_size=3 * WORD).map(lambda x: np.array(x, np.int64))
AMOUNTS = ARRAYS.map(lambda array: array // 2)
PLACES = st.integers(0, 2 * WORD)
WORDS = st.integers(0, ALL)


def bits(word: int) -> list[bool]:
    """Return of each place whether the word has it."""
    return [bool(word >> k & 1) for k in range(WORD)]


@verb
def _below(array: Int64, i: int, bound: int) -> int:
    return below(array, i, bound)


@verb
def _up_to(array: Int64, i: int, bound: int) -> int:
    return up_to(array, i, bound)


@verb
def _ends(word: int) -> tuple[int, int]:
    return lowest(word), highest(word)


@verb
def _lessen(array: Int64, i: int, by: int, word: int) -> None:
    lessen(array, i, by, word)


@verb
def _copy(array: Int64, source: int, target: int, word: int) -> None:
    copy(array, source, target, word)


@verb
def _slide(array: Int64, other: Int64, first: int, stop: int, by: int) -> None:
    slide((array, other), first, stop, by)


@verb
def _less(array: Int64, i: int, other: Int64, at: int) -> int:
    return less(array, i, other, at)


@verb
def _raise_to(array: Int64, i: int, bound: int, word: int) -> None:
    raise_to(array, i, bound, word)


@verb
def _least(array: Int64, i: int, word: int) -> int:
    return least(array, i, word)


@verb
def _lower_to(array: Int64, i: int, most: int, by: Int64) -> None:
    lower_to(array, i, most, by)


@verb
def _write_sortable(array: Int64, to: int, values: Float64, i: int) -> int:
    write_sortable(array, to, values, i)
    return not_numbers(array, to)


@verb
def _elapsed(array: Float64, to: int, one: int, other: int, sign: int, now: int) -> None:
    elapsed_quotient(array, to, one, other, sign, now)


@verb
def _move_down(array: Int64, i: int) -> None:
    move_down(array, i)


Compare = Callable[[Int64, int, int], int]


@pytest.mark.parametrize(("verb", "meant"), [(_below, np.less), (_up_to, np.less_equal)])
@settings(deadline=None)
@given(array=ARRAYS, i=PLACES, bound=VALUES)
def test_a_comparison_has_a_bit_for_each_place(
    verb: Compare, meant: np.ufunc, array: Int64, i: int, bound: int
) -> None:
    """The lowest bit is that of the first place, and no bit is set beyond the sixteenth."""
    word = verb(array, i, bound)
    assert word >> WORD == 0
    assert bits(word) == meant(array[i : i + WORD], bound).tolist()


@settings(deadline=None)
@given(ARRAYS, ARRAYS, PLACES, PLACES)
def test_two_arrays_are_compared_place_by_place(
    array: Int64, other: Int64, i: int, at: int
) -> None:
    """Equal places are not less."""
    word = _less(array, i, other, at)
    assert word >> WORD == 0
    assert bits(word) == (array[i : i + WORD] < other[at : at + WORD]).tolist()
    assert _less(array, i, array, i) == 0


@settings(deadline=None)
@given(st.integers(1, 2**62))
def test_the_ends_of_a_word_are_its_first_and_last_place(word: int) -> None:
    """A word may be the complement of another, and then has places beyond the sixteenth."""
    text = bin(word)[:1:-1]
    assert _ends(word) == (text.index("1"), text.rindex("1"))


def test_the_complement_of_all_places_begins_behind_them() -> None:
    """What is to be done where every place is meant ends there."""
    assert _ends(~ALL)[0] == WORD


@settings(deadline=None)
@given(st.integers(0, 3 * WORD))
def test_the_first_places_are_no_more_than_a_word(count: int) -> None:
    """All of them stand for more."""
    assert bits(first_places(count)) == [k < count for k in range(WORD)]


@settings(deadline=None)
@given(AMOUNTS, PLACES, st.integers(-9, 9), WORDS)
def test_an_amount_is_taken_from_the_places_of_a_word_alone(
    array: Int64, i: int, by: int, word: int
) -> None:
    """What the word does not name stays as it is, whatever it is."""
    wanted = array.copy()
    wanted[i : i + WORD][bits(word)] -= by
    _lessen(array, i, by, word)
    assert array.tolist() == wanted.tolist()


@settings(deadline=None)
@given(ARRAYS, PLACES, WORDS | st.just(0))
def test_the_least_is_that_of_the_places_of_a_word(array: Int64, i: int, word: int) -> None:
    """A word that names none has none that is less than all."""
    assert _least(array, i, word) == min(array[i : i + WORD][bits(word)], default=NEVER)


@settings(deadline=None)
@given(ARRAYS, PLACES, VALUES, WORDS)
def test_the_places_of_a_word_are_raised_to_a_bound(
    array: Int64, i: int, bound: int, word: int
) -> None:
    """Those that hold more keep it, and so do all that the word does not name."""
    wanted = array.copy()
    wanted[i : i + WORD][bits(word)] = np.maximum(wanted[i : i + WORD][bits(word)], bound)
    _raise_to(array, i, bound, word)
    assert array.tolist() == wanted.tolist()


@settings(deadline=None)
@given(ARRAYS, PLACES, st.integers(-9, 9), st.integers(0, 9))
def test_places_are_lowered_by_what_is_beside_them(
    array: Int64, i: int, most: int, longest: int
) -> None:
    """Sixteen of them; the bound is another one for each."""
    by = np.arange(array.size) % (longest + 1)
    wanted = array.copy()
    wanted[i : i + WORD] = np.minimum(array, most - by)[i : i + WORD]
    _lower_to(array, i, most, by)
    assert array.tolist() == wanted.tolist()


@settings(deadline=None)
@given(ARRAYS, PLACES, PLACES, WORDS)
def test_places_are_copied_as_they_were_where_both_ends_overlap(
    array: Int64, source: int, target: int, word: int
) -> None:
    """They are read before any is written."""
    wanted, found = array.copy(), array[source : source + WORD].copy()
    wanted[target : target + WORD][bits(word)] = found[bits(word)]
    _copy(array, source, target, word)
    assert array.tolist() == wanted.tolist()


@settings(deadline=None)
@given(st.data())
def test_what_slides_arrives_whole_and_touches_nothing_else(data: st.DataObject) -> None:
    """To either side, by any distance, however many words it takes."""
    size = room(100)
    array = np.arange(size)
    first = data.draw(st.integers(0, 60))
    stop = data.draw(st.integers(first, 80))
    by = data.draw(st.integers(-first, 100 - stop))
    wanted, other = array.copy(), -array
    wanted[first + by : stop + by] = array[first:stop]
    _slide(array, other, first, stop, by)
    assert array.tolist() == wanted.tolist()
    assert other.tolist() == (-wanted).tolist()


FLOATS = st.lists(
    st.floats() | st.sampled_from([0.0, -0.0]), min_size=3 * WORD, max_size=3 * WORD
).map(np.array)


@settings(deadline=None)
@given(ARRAYS, FLOATS, PLACES, PLACES)
def test_ordered_bits_sort_like_the_floats(
    array: Int64, floats: npt.NDArray[np.float64], to: int, i: int
) -> None:
    """They are equal where the floats are; a bit is set for what is not a number."""
    before = array.copy()
    missing = _write_sortable(array, to, floats, i)
    values, found = floats[i : i + WORD], array[to : to + WORD]
    assert bits(missing) == np.isnan(values).tolist()
    assert missing >> WORD == 0
    numbers = ~np.isnan(values)
    for meant in (np.greater, np.equal):
        expected = meant.outer(values[numbers], values[numbers])
        assert (meant.outer(found[numbers], found[numbers]) == expected).all()
    array[to : to + WORD] = before[to : to + WORD]
    assert array.tolist() == before.tolist()


@settings(deadline=None)
@given(FLOATS, PLACES, PLACES, st.sampled_from([0, 1, 90, 2**62]))
def test_an_elapsed_time_is_divided_as_by_numpy(
    floats: npt.NDArray[np.float64], one: int, other: int, now: int
) -> None:
    """To the bit, signs of zeros included."""
    a, b = floats[one : one + WORD], floats[other : other + WORD]
    for sign in (1, -1):
        array = np.concatenate((floats, np.zeros(WORD)))
        _elapsed(array, 3 * WORD, one, other, sign, now)
        with np.errstate(all="ignore"):
            expected = (now - a if sign == 1 else a - now) / b
        found = array[3 * WORD :]
        np.testing.assert_array_equal(found, expected)
        known = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(found[known]), np.signbit(expected[known]))
        assert array[: 3 * WORD].tobytes() == floats.tobytes()


@settings(deadline=None)
@given(ARRAYS, st.integers(0, 2 * WORD - 1))
def test_moved_places_take_the_values_behind_them(array: Int64, i: int) -> None:
    """Only a word of them is written, though the last value is read from behind it."""
    expected = np.concatenate((array[:i], array[i + 1 : i + WORD + 1], array[i + WORD :]))
    _move_down(array, i)
    assert array.tolist() == expected.tolist()
