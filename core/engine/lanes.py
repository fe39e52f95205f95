"""Steps that compare several neighbours of an array at once, as lane masks (words of bits).

A loop along an array until a comparison fails is not vectorised, and mispredicts a branch at its
end. A step of this module compares WORD places at once, with a bit for each place; the kernel then
only searches for the first or last bit. With 16 places per word, the search for the first place
below a bound took 2 ns instead of 14, on random values of which a tenth is below. A plain loop that
builds the same mask took 15 ns, since LLVM folds its bits one by one. So this module, and no other,
has vector code. Each step is written twice: as Python code, which runs with the JIT off, and as
operations on lanes.

An array that is read by lanes has room for one more word after its last valid place (`room`). The
values there are arbitrary; their bits are masked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np
from llvmlite import ir

from schedfarm.core.arrays import Float64, Int64
from schedfarm.core.engine import plain
from schedfarm.core.engine.jit import NEVER, verb
from schedfarm.core.engine.toolchain import PLAIN

if not PLAIN:
    from numba.core import cgutils, types

    from schedfarm.core.engine.bounds import CHECKED, check
    from schedfarm.core.engine.contexts import lowered, target_features

WORD = 16 if not PLAIN and "+avx512f" in target_features() else 8
"""Number of places that are compared together: two vectors of the processor, of 4 or 8 numbers
each. On a processor with vectors of 4, plans on six logs took 1.0 to 1.2 times as long with 16
places."""

ALL = (1 << WORD) - 1
"""Lane mask of all places."""

F = TypeVar("F", bound=Callable[..., object])

_BIT, _SHORT, _LONG = ir.IntType(1), ir.IntType(WORD), ir.IntType(64)
_LANES, _BITS = ir.VectorType(_LONG, WORD), ir.VectorType(_BIT, WORD)
_FLOATS = ir.VectorType(ir.DoubleType(), WORD)


def room(places: int) -> int:
    """Return the length of an array for `places` places and one more word."""
    return places + WORD


class Lanes:
    """Generate code for a word of places; `values` are the arguments of a step."""

    def __init__(self, context: Any, builder: Any, kinds: Any, values: Any) -> None:
        self.builder, self.values = builder, values
        self._context, self._kinds = context, kinds

    def place(self, array: int, i: int) -> Any:
        """Return the address of a word in the array of one argument, at the index of another."""
        array_at = self._context.make_array(self._kinds[array])
        places = array_at(self._context, self.builder, self.values[array])
        if CHECKED:
            check(self._context, self.builder, places, self.values[i], WORD)
        first = self.builder.gep(places.data, [self.values[i]])
        return self.builder.bitcast(first, _LANES.as_pointer())

    def read(self, place: Any) -> Any:
        """Return the values of a word of places."""
        return self.builder.load(place, align=8)

    def write(self, place: Any, lanes: Any, word: int) -> None:
        """Write the places in the mask of argument `word`; others keep their values."""
        kept = self.builder.select(self.bits(word), lanes, self.read(place))
        self.builder.store(kept, place, align=8)

    def spread(self, value: int) -> Any:
        """Return a vector with an argument in each place."""
        anything = ir.Constant(ir.VectorType(self.values[value].type, WORD), ir.Undefined)
        first = self.builder.insert_element(anything, self.values[value], ir.IntType(32)(0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), WORD), [0] * WORD)
        return self.builder.shuffle_vector(first, anything, zeros)

    def all_of(self, number: int) -> Any:
        """Return a vector with a number in each place."""
        return ir.Constant(_LANES, [number] * WORD)

    def product(self, one: Any, other: Any) -> Any:
        """Return products of values below 2**32; of larger values, only the lower halves count."""
        low = self.all_of(2**32 - 1)
        return self.builder.mul(self.builder.and_(one, low), self.builder.and_(other, low))

    def bits(self, word: int) -> Any:
        """Return the bits of the lane mask of argument `word`."""
        return self.builder.bitcast(self.builder.trunc(self.values[word], _SHORT), _BITS)

    def word(self, bits: Any) -> Any:
        """Return bits as one number."""
        return self.builder.zext(self.builder.bitcast(bits, _SHORT), _LONG)


def without_warnings(meaning: F) -> F:
    """Suppress numpy's warnings of inf and NaN in a step that runs without the JIT."""
    if not numba.config.DISABLE_JIT:
        return meaning
    return np.errstate(all="ignore")(meaning)


def in_lanes(write: Callable[[Lanes], Any]) -> Callable[[F], F]:
    """Compile a step as operations on lanes; without the JIT, its Python code runs."""

    def chosen(meaning: F) -> F:
        if numba.config.DISABLE_JIT:
            return meaning
        if PLAIN:
            return plain.step(meaning)
        returned = types.int64 if meaning.__annotations__["return"] == "int" else types.none

        def typed(*kinds: Any) -> Any:
            asked = (k if isinstance(k, types.Array) else types.int64 for k in kinds)
            return returned(*asked)

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            made = write(Lanes(context, builder, signature.args, values))
            return made if returned == types.int64 else context.get_dummy_value()

        lowered(meaning, typed, generate)
        return meaning

    return chosen


def _compare(sign: str) -> Callable[[Lanes], Any]:
    def write(lanes: Lanes) -> Any:
        found = lanes.read(lanes.place(0, 1))
        return lanes.word(lanes.builder.icmp_signed(sign, found, lanes.spread(2)))

    return write


@in_lanes(_compare("<"))
def below(array: Int64, i: int, bound: int) -> int:
    """Return the lane mask of the places from i on with values below a bound."""
    word = 0
    for k in range(WORD):
        word |= int(array[i + k] < bound) << k
    return word


@in_lanes(_compare("<="))
def up_to(array: Int64, i: int, bound: int) -> int:
    """Return the lane mask of the places from i on with values up to a bound."""
    word = 0
    for k in range(WORD):
        word |= int(array[i + k] <= bound) << k
    return word


def _find_least(lanes: Lanes) -> Any:
    builder, never = lanes.builder, ir.Constant(_LANES, [NEVER] * WORD)
    left = builder.select(lanes.bits(2), lanes.read(lanes.place(0, 1)), never)
    kind, name = ir.FunctionType(_LONG, [_LANES]), f"llvm.vector.reduce.smin.v{WORD}i64"
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [left])


@in_lanes(_find_least)
def least(array: Int64, i: int, word: int) -> int:
    """Return the least value from i on in a lane mask, NEVER if the mask is empty."""
    found = NEVER
    for k in range(WORD):
        if word >> k & 1:
            found = min(found, int(array[i + k]))
    return found


def _find_most(lanes: Lanes) -> Any:
    builder, nothing = lanes.builder, ir.Constant(_LANES, [-(2**63)] * WORD)
    left = builder.select(lanes.bits(2), lanes.read(lanes.place(0, 1)), nothing)
    kind, name = ir.FunctionType(_LONG, [_LANES]), f"llvm.vector.reduce.smax.v{WORD}i64"
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [left])


@in_lanes(_find_most)
def most(array: Int64, i: int, word: int) -> int:
    """Return the greatest value from i on in a lane mask, -2**63 if the mask is empty."""
    found = -(2**63)
    for k in range(WORD):
        if word >> k & 1:
            found = max(found, int(array[i + k]))
    return found


def _compare_arrays(relation: str) -> Callable[[Lanes], Any]:
    """Return the code of the lane mask of the places at which a relation of two arrays holds."""

    def write(lanes: Lanes) -> Any:
        found, other = lanes.read(lanes.place(0, 1)), lanes.read(lanes.place(2, 3))
        return lanes.word(lanes.builder.icmp_signed(relation, found, other))

    return write


@in_lanes(_compare_arrays("<"))
def less(array: Int64, i: int, other: Int64, at: int) -> int:
    """Return the lane mask of array[i:i+WORD] < other[at:at+WORD]."""
    word = 0
    for k in range(WORD):
        word |= int(array[i + k] < other[at + k]) << k
    return word


@in_lanes(_compare_arrays("!="))
def unequal(array: Int64, i: int, other: Int64, at: int) -> int:
    """Return the lane mask of array[i:i+WORD] != other[at:at+WORD]."""
    word = 0
    for k in range(WORD):
        word |= int(array[i + k] != other[at + k]) << k
    return word


@in_lanes(lambda lanes: lanes.builder.cttz(lanes.values[0], _BIT(1)))
def lowest(word: int) -> int:
    """Return the first place of a lane mask that is not empty."""
    return highest(word & -word)


@in_lanes(lambda lanes: lanes.builder.sub(_LONG(63), lanes.builder.ctlz(lanes.values[0], _BIT(1))))
def highest(word: int) -> int:
    """Return the last place of a lane mask that is not empty."""
    place = -1
    while word > 0:
        word >>= 1
        place += 1
    return place


@verb
def without(word: int, place: int) -> int:
    """Return a lane mask without one place; the place may lie outside the word."""
    return word & ~(1 << place) if 0 <= place < WORD else word


@verb
def first_places(count: int) -> int:
    """Return the lane mask of the first `count` places, at most all."""
    return (1 << min(count, WORD)) - 1


def _write_less(lanes: Lanes) -> None:
    # All lanes are stored: after a masked store, reads of the same places wait longer.
    place, builder = lanes.place(0, 1), lanes.builder
    taken = builder.and_(lanes.spread(2), builder.sext(lanes.bits(3), _LANES))
    builder.store(builder.sub(lanes.read(place), taken), place, align=8)


@in_lanes(_write_less)
def lessen(array: Int64, i: int, by: int, word: int) -> None:
    """Subtract an amount from the places of a lane mask, from i on."""
    for k in range(WORD):
        if word >> k & 1:
            array[i + k] -= by


def _write_most(lanes: Lanes) -> None:
    place, nothing = lanes.place(0, 1), ir.Constant(_LANES, [-(2**63)] * WORD)
    least = lanes.builder.select(lanes.bits(3), lanes.spread(2), nothing)
    found = lanes.read(place)
    more = lanes.builder.icmp_signed("<", found, least)
    lanes.builder.store(lanes.builder.select(more, least, found), place, align=8)


@in_lanes(_write_most)
def raise_to(array: Int64, i: int, least: int, word: int) -> None:
    """Raise the places of a lane mask, from i on, to at least a bound."""
    for k in range(WORD):
        if word >> k & 1:
            array[i + k] = max(array[i + k], least)


def _write_least(lanes: Lanes) -> None:
    place = lanes.place(0, 1)
    found, by = lanes.read(place), lanes.read(lanes.place(3, 1))
    most = lanes.builder.sub(lanes.spread(2), by)
    fewer = lanes.builder.icmp_signed("<", most, found)
    lanes.builder.store(lanes.builder.select(fewer, most, found), place, align=8)


@in_lanes(_write_least)
def lower_to(array: Int64, i: int, most: int, by: Int64) -> None:
    """Lower the places from i on to at most a bound minus the values of another array."""
    for k in range(WORD):
        array[i + k] = min(array[i + k], most - by[i + k])


def in_float_lanes(compute: Callable[[ir.IRBuilder, Any, Any], Any]) -> Callable[[F], F]:
    """Compile a step as IEEE 754 arithmetic on lanes; without the JIT, suppress warnings."""

    def write(lanes: Lanes) -> None:
        builder = lanes.builder
        one, other = (
            builder.bitcast(lanes.read(lanes.place(0, argument)), _FLOATS) for argument in (2, 3)
        )
        found = builder.bitcast(compute(builder, one, other), _LANES)
        builder.store(found, lanes.place(0, 1), align=8)

    def chosen(meaning: F) -> F:
        return in_lanes(write)(without_warnings(meaning))

    return chosen


def _write_number(lanes: Lanes) -> None:
    number = lanes.builder.sitofp(lanes.spread(2), _FLOATS)
    lanes.builder.store(lanes.builder.bitcast(number, _LANES), lanes.place(0, 1), align=8)


@in_lanes(_write_number)
def fill(array: Float64, i: int, number: int) -> None:
    """Set the places from i on to a number."""
    array[i : i + WORD] = number


@in_float_lanes(lambda builder, one, other: builder.fadd(one, other))
def add(array: Float64, to: int, one: int, other: int) -> None:
    """Write the sums of the floats from two places on."""
    for k in range(WORD):
        array[to + k] = array[one + k] + array[other + k]


@in_float_lanes(lambda builder, one, other: builder.fsub(one, other))
def subtract(array: Float64, to: int, one: int, other: int) -> None:
    """Write the differences of the floats from two places on."""
    for k in range(WORD):
        array[to + k] = array[one + k] - array[other + k]


@in_float_lanes(lambda builder, one, other: builder.fmul(one, other))
def multiply(array: Float64, to: int, one: int, other: int) -> None:
    """Write the products of the floats from two places on."""
    for k in range(WORD):
        array[to + k] = array[one + k] * array[other + k]


@in_float_lanes(lambda builder, one, other: builder.fdiv(one, other))
def divide(array: Float64, to: int, one: int, other: int) -> None:
    """Write the quotients of the floats from two places on, by IEEE 754."""
    for k in range(WORD):
        array[to + k] = np.divide(array[one + k], array[other + k])


def _first_if(relation: str) -> Callable[[ir.IRBuilder, Any, Any], Any]:
    """Return the code of min or max: the first float if it is NaN or the comparison holds."""

    def write(builder: ir.IRBuilder, one: Any, other: Any) -> Any:
        # NaN remains, as in numpy.
        kept = builder.or_(
            builder.fcmp_unordered("uno", one, one), builder.fcmp_ordered(relation, one, other)
        )
        return builder.select(kept, one, other)

    return write


@in_float_lanes(_first_if("<="))
def take_less(array: Float64, to: int, one: int, other: int) -> None:
    """Write the lesser floats from two places on; of equal floats the first, of any NaN a NaN."""
    for k in range(WORD):
        a, b = array[one + k], array[other + k]
        array[to + k] = a if a <= b or np.isnan(a) else b


@in_float_lanes(_first_if(">="))
def take_more(array: Float64, to: int, one: int, other: int) -> None:
    """Write the greater floats from two places on; of equal floats the first, of any NaN a NaN."""
    for k in range(WORD):
        a, b = array[one + k], array[other + k]
        array[to + k] = a if a >= b or np.isnan(a) else b


def _write_elapsed(lanes: Lanes) -> None:
    builder = lanes.builder
    one, other = (
        builder.bitcast(lanes.read(lanes.place(0, argument)), _FLOATS) for argument in (2, 3)
    )
    # A product with 1 or -1 is exact, so that it does not change the rounding of the difference.
    # The product is of floats, since -1 x 0 is -0.
    sign, now = (builder.sitofp(lanes.spread(argument), _FLOATS) for argument in (4, 5))
    elapsed = builder.fsub(builder.fmul(sign, now), builder.fmul(sign, one))
    found = builder.bitcast(builder.fdiv(elapsed, other), _LANES)
    builder.store(found, lanes.place(0, 1), align=8)


@in_lanes(_write_elapsed)
@without_warnings
def elapsed_quotient(array: Float64, to: int, one: int, other: int, sign: int, now: int) -> None:
    """Write (now - a) / b, or (a - now) / b if the sign is -1, of the floats from two places on."""
    for k in range(WORD):
        elapsed = float(sign) * now - float(sign) * array[one + k]
        array[to + k] = np.divide(elapsed, array[other + k])


def _write_ordered(lanes: Lanes) -> None:
    builder, found = lanes.builder, lanes.read(lanes.place(2, 3))
    negative_zero = builder.icmp_signed("==", found, lanes.all_of(-(2**63)))
    value = builder.select(negative_zero, lanes.all_of(0), found)
    sign = builder.ashr(value, lanes.all_of(63))
    ordered = builder.xor(value, builder.and_(sign, lanes.all_of(2**63 - 1)))
    builder.store(ordered, lanes.place(0, 1), align=8)


@in_lanes(_write_ordered)
def write_sortable(array: Int64, to: int, values: Float64, i: int) -> None:
    """Write integers that sort like the floats from i on, from place `to` on.

    The bits of floats sort like integers, but those of negative numbers in reverse; -0 counts as 0.
    """
    found = values[i : i + WORD].copy().view(np.int64)
    for k in range(WORD):
        value = 0 if found[k] == -(2**63) else int(found[k])
        array[to + k] = value ^ ((value >> 63) & 2**63 - 1)


INFINITE = 0x7FF0000000000000
"""The integer that `write_sortable` writes for infinity: its bits."""


@verb
def not_numbers(array: Int64, i: int) -> int:
    """Return the lane mask of the integers from i on that `write_sortable` wrote for NaN."""
    return (ALL & ~up_to(array, i, INFINITE)) | below(array, i, ~INFINITE)


def _write_down(lanes: Lanes) -> None:
    builder, place = lanes.builder, lanes.place(0, 1)
    following = builder.gep(builder.bitcast(place, _LONG.as_pointer()), [_LONG(1)])
    found = lanes.read(builder.bitcast(following, _LANES.as_pointer()))
    builder.store(found, place, align=8)


@in_lanes(_write_down)
def move_down(array: Int64, i: int) -> None:
    """Move each of the places from i + 1 on by one place to the front."""
    array[i : i + WORD] = array[i + 1 : i + WORD + 1].copy()


def _write_copy(lanes: Lanes) -> None:
    lanes.write(lanes.place(0, 2), lanes.read(lanes.place(0, 1)), word=3)


@in_lanes(_write_copy)
def copy(array: Int64, source: int, target: int, word: int) -> None:
    """Copy the places of a lane mask, from `source` on, to those from `target` on."""
    found = array[source : source + WORD].copy()
    for k in range(WORD):
        if word >> k & 1:
            array[target + k] = found[k]


def _write_other(lanes: Lanes) -> None:
    lanes.builder.store(lanes.read(lanes.place(2, 1)), lanes.place(0, 1), align=8)


@in_lanes(_write_other)
def copy_from(array: Int64, i: int, other: Int64) -> None:
    """Copy a word of another array, from index i on, to the same place."""
    for k in range(WORD):
        array[i + k] = other[i + k]


@verb
def carry(columns: tuple[Int64, ...], source: int, target: int, count: int) -> None:
    """Copy `count` places of arrays; the target must not overlap later places of the source."""
    for k in range(0, count, WORD):
        word = first_places(count - k)
        for column in columns:
            copy(column, source + k, target + k, word)


@verb
def slide(columns: tuple[Int64, ...], first: int, stop: int, by: int) -> None:
    """Move the places first..stop - 1 of arrays, to the right if `by` is positive."""
    if by < 0:
        carry(columns, first, first + by, stop - first)
        return
    while stop - WORD > first:
        stop -= WORD
        for column in columns:
            copy(column, stop, stop + by, ALL)
    if stop > first:
        word = first_places(stop - first)
        for column in columns:
            copy(column, first, first + by, word)
