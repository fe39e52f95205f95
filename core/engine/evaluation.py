"""Programs of expressions: instructions on registers, executed for a block of jobs.

Instructions are data, so that the same compiled kernels serve all expressions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numba
import numpy as np

from schedfarm.core.arrays import Float64, Int64
from schedfarm.core.engine.instructions import (
    ABSOLUTE,
    ADD,
    AND,
    CHOICE,
    DIVIDE,
    ELAPSED_QUOTIENT,
    EQUAL,
    EXP,
    FILL,
    FLOOR,
    GREATEST,
    LEAST,
    LESS,
    LESS_EQUAL,
    LOG,
    LOG2,
    MULTIPLY,
    NOT,
    OR,
    POWER,
    REMAINDER,
    ROOT,
    SUBTRACT,
    UNEQUAL,
)
from schedfarm.core.engine.jit import verb
from schedfarm.core.engine.lanes import (
    WORD,
    add,
    divide,
    elapsed_quotient,
    fill,
    multiply,
    subtract,
    take_less,
    take_more,
    without_warnings,
    write_sortable,
)
from schedfarm.core.engine.record import Record


class ProgramState:
    """State of a program.

    failed_job, failed_at: the first job whose value was not a number, and the instant of this
    failure, s. passes: number of passes. span: duration of the last period of passes, s. mark: end
    of this period, s.
    """

    failed_job: int
    failed_at: int
    passes: int
    span: int
    mark: int


class Program(NamedTuple):
    """Hold the instructions of an expression; empty for other orders and for constants.

    steps: int64[5k], for each instruction its code, the register of its result, and up to three
    registers of values, or two registers and a sign. column: float64[n * c], the parts without the
    instant, job by job. columns: c.
    place: int64[r], begin of each register in `register`: the instant, the columns, then constants
    and results; the last result is the key. moves: int64[r], -1 for columns, which have a value for
    each cell of the queue, else 0. register: float64[(r - c) * BLOCK + c * STRIDE * blocks],
    columns last; bits: the same as int64. block: int64[FIELDS * blocks].
    trend: direction of the keys with time. follows: whether the columns belong to one queue from
    its beginning, and jobs are only appended to this queue, in order of their numbers.
    """

    steps: Int64
    column: Float64
    columns: int
    place: Int64
    moves: Int64
    register: Float64
    bits: Int64
    block: Int64
    state: Record[ProgramState]
    trend: int
    follows: bool


@verb
def place_of(program: Program, r: int, at: int) -> int:
    """Return the place of a register; the registers of columns have a place for each cell."""
    return int(program.place[r] + (at & program.moves[r]))


@verb
def compute(program: Program, s: int, now: int, at: int, m: int) -> None:
    """Execute the instruction at place s for m jobs, in the cells from `at` on."""
    steps, register = program.steps, program.register
    code, to = steps[s], program.place[steps[s + 1]]
    a, b = place_of(program, steps[s + 2], at), place_of(program, steps[s + 3], at)
    if code <= GREATEST:
        compute_arithmetic(code, register, to, a, b, m)
    elif code <= CHOICE:
        c = place_of(program, steps[s + 4], at)
        for p in range(m):
            register[to + p] = condition_value(
                code, register[a + p], register[b + p], register[c + p]
            )
    elif code < FILL:
        for p in range(m):
            register[to + p] = function_value(code, register[a + p], register[b + p])
    elif code == FILL:
        for k in range(0, m, WORD):
            fill(register, to + k, now)
    else:
        for k in range(0, m, WORD):
            elapsed_quotient(register, to + k, a + k, b + k, steps[s + 4], now)


@verb
def write_keys(program: Program, now: int, at: int, m: int, key: Int64, to: int) -> None:
    """Execute all instructions for m jobs, and write integers that sort like the results."""
    steps, register = program.steps, program.register
    s = steps.size - 5
    last = program.place[steps[s + 1]]
    for before in range(0, s, 5):
        compute(program, before, now, at, m)
    if steps[s] == ELAPSED_QUOTIENT:
        # One loop computes difference, quotient and key. With three loops, a simulation took 1.1
        # times as long.
        a, b = place_of(program, steps[s + 2], at), place_of(program, steps[s + 3], at)
        sign = steps[s + 4]
        for k in range(0, m, WORD):
            elapsed_quotient(register, last + k, a + k, b + k, sign, now)
            write_sortable(key, to + k, register, last + k)
    else:
        compute(program, s, now, at, m)
        for k in range(0, m, WORD):
            write_sortable(key, to + k, register, last + k)


@verb
def compute_arithmetic(code: int, register: Float64, to: int, a: int, b: int, m: int) -> None:
    """Execute an arithmetic instruction for m jobs."""
    if code == ADD:
        for k in range(0, m, WORD):
            add(register, to + k, a + k, b + k)
    elif code == SUBTRACT:
        for k in range(0, m, WORD):
            subtract(register, to + k, a + k, b + k)
    elif code == MULTIPLY:
        for k in range(0, m, WORD):
            multiply(register, to + k, a + k, b + k)
    elif code == DIVIDE:
        for k in range(0, m, WORD):
            divide(register, to + k, a + k, b + k)
    else:
        for k in range(0, m, WORD):
            take_extreme(code, register, to + k, a + k, b + k)


@verb
def take_extreme(code: int, register: Float64, to: int, a: int, b: int) -> None:
    """Write the lesser or the greater values of two words."""
    if code == LEAST:
        take_less(register, to, a, b)
    else:
        take_more(register, to, a, b)


@verb
def condition_value(code: int, a: float, b: float, c: float) -> float:
    """Return the value of a comparison, a logical operation or a conditional expression."""
    if code == LESS:
        value = 1.0 if a < b else 0.0
    elif code == LESS_EQUAL:
        value = 1.0 if a <= b else 0.0
    elif code == EQUAL:
        value = 1.0 if a == b else 0.0
    elif code == UNEQUAL:
        value = 1.0 if a != b else 0.0
    elif code == AND:
        value = a * b
    elif code == OR:
        value = max(a, b)
    elif code == NOT:
        value = 1.0 - a
    else:
        value = b if a != 0.0 else c
    return value


def by_ieee(function: Callable[..., float], ufunc: np.ufunc) -> Callable[..., float]:
    """Return a function of `math` with the inf and NaN of compiled code instead of errors.

    For other arguments the values are those of `math`: numpy may round the last digit differently.
    """
    if not numba.config.DISABLE_JIT:
        return function

    def value(*arguments: float) -> float:
        try:
            return function(*arguments)
        except (OverflowError, ValueError):
            with np.errstate(all="ignore"):
                return float(ufunc(*arguments))

    return value


exponential = by_ieee(math.exp, np.exp)
power = by_ieee(math.pow, np.power)


@verb
def function_value(code: int, a: float, b: float) -> float:
    """Return the value of a function."""
    if code == ABSOLUTE:
        value = abs(a)
    elif code == ROOT:
        value = math.sqrt(a) if a >= 0.0 else math.nan
    elif code == REMAINDER:
        value = remainder(a, b)
    elif code == POWER:
        value = power(a, b)
    elif code == EXP:
        value = exponential(a)
    elif code == FLOOR:
        value = np.floor(a)
    else:
        value = logarithm(code, a)
    return value


@verb
def logarithm(code: int, a: float) -> float:
    """Return a logarithm by IEEE 754."""
    if not a > 0.0:
        return -math.inf if a == 0.0 else math.nan
    if code == LOG:
        return math.log(a)
    return math.log2(a) if code == LOG2 else math.log10(a)


@verb
@without_warnings
def remainder(a: float, b: float) -> float:
    """Return the remainder with the sign of b, as in Python; NaN for b = 0."""
    if b == 0.0:
        return math.nan
    return a % b
