"""Orders as expressions that change over time, evaluated for the waiting jobs before each pass.

A tree is lowered to instructions on registers, each with a value for every job of a block of the
queue. All parts without the instant are columns, which numpy computes once. The cells of the queue
hold the columns of their jobs: read by job at each pass, they took half of the time of CTC's keys.
The instructions are data, so that the kernels are compiled once for all expressions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np

from schedfarm.core.arrays import Float64, Int64
from schedfarm.core.engine import rank
from schedfarm.core.engine.jit import verb
from schedfarm.core.engine.lanes import (
    WORD,
    add,
    divide,
    fill,
    first_places,
    lowest,
    multiply,
    order_bits,
    slide,
    subtract,
    take_less,
    take_more,
    unequal,
    without_warnings,
)
from schedfarm.core.engine.machine import Machine
from schedfarm.core.engine.queue import BLOCK, Queue, cells_of
from schedfarm.core.engine.ranking import Ranking, Rankings
from schedfarm.core.engine.running import Jobs
from schedfarm.core.errors import InputError
from schedfarm.core.policy.expression import (
    MINUS,
    Applied,
    Constant,
    Expression,
    Tree,
    evaluate,
    repeated_factors,
)
from schedfarm.core.workload.workload import Workload

ADD, SUBTRACT, MULTIPLY, DIVIDE, LEAST, GREATEST = range(6)
LESS, LESS_EQUAL, EQUAL, UNEQUAL, AND, OR, NOT, CHOICE = range(6, 14)
ABSOLUTE, ROOT, REMAINDER, POWER, LOG, LOG2, LOG10, EXP, FLOOR = range(14, 23)
"""Codes of instructions, of arithmetic, conditions and functions. Conditions are 1 and 0."""

CODES = {
    "+": ADD,
    "-": SUBTRACT,
    "*": MULTIPLY,
    "/": DIVIDE,
    "%": REMAINDER,
    "**": POWER,
    "<": LESS,
    "<=": LESS_EQUAL,
    "==": EQUAL,
    "!=": UNEQUAL,
    "and": AND,
    "or": OR,
    "not": NOT,
    "if": CHOICE,
    "min": LEAST,
    "max": GREATEST,
    "abs": ABSOLUTE,
    "sqrt": ROOT,
    "log": LOG,
    "log2": LOG2,
    "log10": LOG10,
    "exp": EXP,
    "floor": FLOOR,
}
"""Code of each operation; the two others are these with their values exchanged."""

EXCHANGED = {">": LESS, ">=": LESS_EQUAL}

NO_JOB = -1

INSTANT, FAILED_JOB, FAILED_AT, REACHED = 0, 0, 1, 2
"""The field of `now`; the fields of a program's `state`."""


class Program(NamedTuple):
    """Instructions for an expression; empty for other orders and for orders that tie all jobs.

    steps: int64[k, 5], code, register of the result, and up to three of values. column:
    float64[c, n], the parts without the instant. place: int64[r], begin of each register in
    `register`: the instant, the columns, then constants and results, the last of which is the key.
    register: float64[(r - c) * BLOCK + c * cells], a block of each register, except that columns
    have a value for each cell of the queue and come last; bits: the same as int64. job:
    int64[cells], the job whose columns a cell holds. state: int64[3], the first job whose value was
    not a number, and when; the number of cells that the queue has reached.
    """

    steps: Int64
    column: Float64
    place: Int64
    register: Float64
    bits: Int64
    job: Int64
    state: Int64


class ExpressionRankings(NamedTuple):
    """`Rankings` of which at least one is an expression of the instant.

    now: int64[1], the instant of the pass, s.
    """

    queue: Ranking
    backfill: Ranking
    moves: bool
    differ: bool
    first: Program
    second: Program
    now: Int64


class _Lowering:
    """Assign registers to the parts of a tree, each part once."""

    def __init__(self) -> None:
        self.steps: list[tuple[int, int, int, int, int]] = []
        self.columns: list[Tree] = []
        self.places: dict[Any, int] = {"now": 0}
        self.constants: dict[int, float] = {}
        self.count = 0

    def load(self, tree: Tree) -> None:
        """Assign registers, after that of the instant, to the parts of a tree without it."""
        if "now" in tree.names:
            if isinstance(tree, Applied):
                tree = sign_moved(tree)
                for value in tree.values[: 1 if repeated_factors(tree) else None]:
                    self.load(value)
        elif tree.names and tree not in self.places:
            self.columns.append(tree)
            self.places[tree] = len(self.columns)

    def place(self, tree: Tree) -> int:
        """Return the register of a part, with the steps that compute it."""
        if tree in self.places:
            return self.places[tree]
        if not tree.names:
            with np.errstate(all="ignore"):
                value = float(evaluate(tree, {}))
            self.places[tree] = place = self._fresh()
            self.constants[place] = value
            return place
        if not isinstance(tree, Applied):
            return 0
        self.places[tree] = place = self._applied(sign_moved(tree))
        return place

    def _applied(self, tree: Applied) -> int:
        first = self.place(tree.values[0])
        if factors := repeated_factors(tree):
            place = first
            for _ in range(factors - 1):
                place = self._step(MULTIPLY, place, first)
            return place
        if tree.operation.name == MINUS:
            # A product with -1 has the same bits as -x.
            return self._step(MULTIPLY, first, self.place(Constant(-1.0)))
        name, places = tree.operation.name, [first, *map(self.place, tree.values[1:])]
        if name in EXCHANGED:
            return self._step(EXCHANGED[name], *reversed(places))
        taken = len(tree.operation.takes)
        place = self._step(CODES[name], *places[:taken])
        for other in places[taken:]:
            place = self._step(CODES[name], place, other)
        return place

    def _step(self, code: int, *values: int) -> int:
        place = self._fresh()
        a, b, c = (*values, 0, 0)[:3]
        self.steps.append((code, place, a, b, c))
        return place

    def _fresh(self) -> int:
        self.count += 1
        return len(self.columns) + self.count


def sign_moved(tree: Applied) -> Applied:
    """Return (-x) / c, -(x / c) and their products as x / (-c), which has the same bits.

    c has no instant, so that its sign needs no step.
    """
    outer: Tree = tree
    inner = tree.values[0]
    if tree.operation.name == MINUS:
        outer, inner = inner, tree
    if (
        isinstance(outer, Applied)
        and outer.operation.name in ("*", "/")
        and "now" not in outer.values[1].names
        and isinstance(inner, Applied)
        and inner.operation.name == MINUS
    ):
        first = outer.values[0] if inner is tree else inner.values[0]
        return Applied(outer.operation, (first, Applied(inner.operation, outer.values[1:])))
    return tree


def program_of(workload: Workload, expression: Expression | None) -> Program:
    """Return the instructions of an expression for the jobs of a workload; none for None.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 1], run=[9, 7], estimate=[9, 7], procs=[1, 2],
    ...                           processors=2)
    >>> program = program_of(w, Expression.parse("-(now - submit) / (2 * procs)", ("now", "submit",
    ...                                                                            "procs")))
    >>> program.steps[:, 0].tolist() == [SUBTRACT, DIVIDE]
    True
    >>> program.column.tolist()
    [[0.0, 1.0], [-2.0, -4.0]]
    """
    lowering = _Lowering()
    if expression is not None:
        lowering.load(expression.tree)
        lowering.place(expression.tree)
    steps = np.array(lowering.steps, np.int64).reshape(-1, 5)
    columns, job = len(lowering.columns), cells_of(len(workload))
    column = np.empty((columns, len(workload)))
    for row, tree in zip(column, lowering.columns, strict=True):
        with np.errstate(all="ignore"):
            row[:] = evaluate(tree, {name: getattr(workload, name) for name in tree.names})
    place = BLOCK * (np.arange(1 + columns + lowering.count) - columns)
    place[0] = 0
    register = np.empty((1 + lowering.count) * BLOCK + columns * job.size)
    for constant, value in lowering.constants.items():
        register[place[constant] : place[constant] + BLOCK] = value
    state = np.array([NO_JOB, 0, 0])
    return Program(steps, column, place, register, register.view(np.int64), job, state)


@verb
def compute(register: Float64, place: Int64, step: Int64, m: int) -> None:
    """Execute an instruction for the first m jobs of a block."""
    code, to, a, b, c = step[0], place[step[1]], place[step[2]], place[step[3]], place[step[4]]
    if code <= GREATEST:
        for k in range(0, m, WORD):
            compute_arithmetic(code, register, to + k, a + k, b + k)
    elif code <= CHOICE:
        for p in range(m):
            register[to + p] = condition_value(
                code, register[a + p], register[b + p], register[c + p]
            )
    else:
        for p in range(m):
            register[to + p] = function_value(code, register[a + p], register[b + p])


@verb
def compute_arithmetic(code: int, register: Float64, to: int, a: int, b: int) -> None:
    """Execute an arithmetic instruction for a word of jobs."""
    if code == ADD:
        add(register, to, a, b)
    elif code == SUBTRACT:
        subtract(register, to, a, b)
    elif code == MULTIPLY:
        multiply(register, to, a, b)
    elif code == DIVIDE:
        divide(register, to, a, b)
    elif code == LEAST:
        take_less(register, to, a, b)
    else:
        take_more(register, to, a, b)


@verb
def condition_value(code: int, a: float, b: float, c: float) -> float:
    """Return the value of an operation that gives or takes a condition."""
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
    """Return a function of `math` that gives inf or NaN, like compiled code, where Python raises.

    Other arguments keep the values of `math`: numpy may round the last digit differently.
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
    """Return the remainder with the sign of b, as Python's; not a number for b = 0."""
    if b == 0.0:
        return math.nan
    return a % b


@verb
def begin_of(program: Program, k: int) -> int:
    """Return the begin of column k in the registers."""
    return int(program.register.size - (program.column.shape[0] - k) * program.job.size)


@verb
def hold(program: Program, jobs: Int64, i: int, at: int, word: int) -> None:
    """Write the columns of jobs, from place i on under a lane mask, into the cells from `at` on."""
    while word != 0:
        p = lowest(word)
        j = program.job[at + p] = jobs[i + p]
        for k in range(program.column.shape[0]):
            program.register[begin_of(program, k) + at + p] = program.column[k, j]
        word &= word - 1


@verb
def rank_cells(program: Program, now: int, at: int, m: int, key: Int64, to: int) -> None:
    """Write the keys of the jobs of m cells from `at` on, at most BLOCK, from place `to` on."""
    steps, column, place, register, bits, job, state = program
    for k in range(0, m, WORD):
        fill(register, k, now)
    for k in range(column.shape[0]):
        place[k + 1] = begin_of(program, k) + at
    for s in range(steps.shape[0]):
        compute(register, place, steps[s], m)
    last = place[place.size - 1]
    for k in range(0, m, WORD):
        missing = order_bits(key, to + k, bits, last + k, first_places(m - k))
        if missing != 0 and state[FAILED_JOB] == NO_JOB:
            state[FAILED_JOB], state[FAILED_AT] = job[at + k + lowest(missing)], now


@verb
def rank_in_queue(program: Program, now: int, queue: Queue, key: Int64) -> None:
    """Write the keys of the jobs of a queue into a column of its cells."""
    if program.steps.shape[0] == 0:
        return
    job, state = program.job, program.state
    for place in range(queue.size[0]):
        first = queue.first[queue.order[place]]
        m = queue.length[queue.order[place]]
        while state[REACHED] < first + m:
            job[state[REACHED]] = NO_JOB
            state[REACHED] += 1
        for k in range(first, first + m, WORD):
            word = unequal(job, k, queue.job, k) & first_places(first + m - k)
            if word != 0:
                hold(program, queue.job, k, k, word)
        rank_cells(program, now, first, m, key, first)


@verb
def rank_in_list(program: Program, now: int, waiting: Int64, count: int, key: Int64) -> None:
    """Set the keys of the first `count` of the waiting jobs to the values of an expression."""
    if program.steps.shape[0] == 0:
        return
    # Lists have no cells: one block takes the columns, and keys replace the values.
    last = program.place[program.place.size - 1]
    begin = 0
    while begin < count:
        m = min(BLOCK, count - begin)
        for k in range(0, m, WORD):
            hold(program, waiting, begin + k, k, first_places(m - k))
        rank_cells(program, now, 0, m, program.bits, last)
        for p in range(m):
            key[waiting[begin + p]] = program.bits[last + p]
        begin += BLOCK


@verb
def close_up(program: Program, key: Int64, queue: Queue, cell: int) -> None:
    """Move the columns and keys of the cells after a removed one, as the queue did its jobs."""
    first, length = queue.first[cell // BLOCK], queue.length[cell // BLOCK]
    if program.steps.shape[0] == 0 or cell < first:
        return
    slide((key, program.job), cell + 1, first + length + 1, -1)
    for k in range(program.column.shape[0]):
        begin = begin_of(program, k)
        slide((program.bits,), begin + cell + 1, begin + first + length + 1, -1)


@rank.begun_by.of(ExpressionRankings)
def begun_by(rankings: ExpressionRankings, machine: Machine) -> int:
    """Return 0: completions are not tracked."""
    return 0


@rank.follow_up.of(ExpressionRankings)
def follow_up(
    rankings: ExpressionRankings, machine: Machine, jobs: Jobs, begun: int, now: int
) -> None:
    """Record the instant of the next pass."""
    rankings.now[INSTANT] = now


@rank.rank_queue.of(ExpressionRankings)
def rank_queue(rankings: ExpressionRankings, queue: Queue) -> None:
    """Set the keys of the jobs of a queue."""
    # A single waiting job, as in half of the passes on the KTH log, needs no key.
    if queue.size[0] == 1 and queue.length[queue.order[0]] == 1:
        return
    now = rankings.now[INSTANT]
    rank_in_queue(rankings.first, now, queue, rankings.queue.cell)
    rank_in_queue(rankings.second, now, queue, rankings.backfill.cell)


@rank.follow_removal.of(ExpressionRankings)
def follow_removal(rankings: ExpressionRankings, queue: Queue, cell: int, blocks: int) -> bool:
    """Move the keys of the removed cell's block; return False if blocks were joined."""
    if queue.size[0] != blocks:
        return False
    close_up(rankings.first, rankings.queue.cell, queue, cell)
    close_up(rankings.second, rankings.backfill.cell, queue, cell)
    return True


@rank.rank_list.of(ExpressionRankings)
def rank_list(rankings: ExpressionRankings, waiting: Int64, count: int) -> None:
    """Set the keys of some waiting jobs."""
    if count == 1:
        return
    now = rankings.now[INSTANT]
    rank_in_list(rankings.first, now, waiting, count, rankings.queue.key)
    rank_in_list(rankings.second, now, waiting, count, rankings.backfill.key)


@rank.settled_until.of(ExpressionRankings)
def settled_until(rankings: ExpressionRankings, now: int) -> int:
    """Return now: values change with the instant."""
    return now


@rank.copy_usage.of(ExpressionRankings)
def copy_instant(rankings: ExpressionRankings, other: ExpressionRankings) -> None:
    """Copy the instant; keys are made before each pass, and shared."""
    other.now[INSTANT] = rankings.now[INSTANT]


def ranked_by_expression(
    workload: Workload, rankings: Rankings, first: Expression | None, second: Expression | None
) -> ExpressionRankings:
    """Return rankings with the programs of expressions, None for other orders."""
    queue, backfill, moves, differ = rankings
    if first is not None:
        queue = queue._replace(cell=cells_of(len(workload)))
    if second is not None:
        backfill = backfill._replace(cell=cells_of(len(workload)))
    return ExpressionRankings(
        queue,
        backfill if differ else queue,
        moves,
        differ,
        program_of(workload, first),
        program_of(workload, second),
        np.zeros(1, np.int64),
    )


def check_numbers(workload: Workload, program: Program, order: str) -> None:
    """Refuse a simulation in which an expression had no value for a waiting job."""
    job, now, _ = program.state.tolist()
    if job != NO_JOB:
        raise InputError(
            f"order {order!r} gave NaN for job {workload.job[job]} at {now} s; it must give a "
            "number for each job, so keep 0 from denominators and logarithms, as by max(..., 1)"
        )
