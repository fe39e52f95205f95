"""Orders as expressions: a small, typed language of numbers and columns of jobs.

A parser in this module converts a text into a tree of the operations below. An expression cannot
contain anything else, such as functions that are not in `OPERATIONS`, attributes or strings. numpy
evaluates the tree in this module, and `core.engine.expressions` at each pass.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from schedfarm.core.arrays import Float64
from schedfarm.core.errors import InputError
from schedfarm.core.names import nearest
from schedfarm.core.numerals import counted

NUMBER, TRUTH = "number", "condition"
"""Types of values: a float64, or true or false."""

LONGEST = 2000
"""Largest number of characters in an expression."""

DEEPEST = 100
"""Largest depth of nested operations; deeper trees would exhaust Python's stack."""

EXACT = 2**53
"""Bound of integers written without an exponent, which float64 represents exactly."""

SHOWN = 60
"""Number of characters in an error message on either side of a mistake."""

EXAMPLE = "an order is a formula such as (estimate * procs) or (-(now - submit) / estimate)"

MINUS = "negative"
"""Name of the operation for a minus sign before a value."""

REPEATED = 8
"""Largest integer exponent of powers that are computed as products, which round equally
everywhere."""

NAMED_TWICE = {"qos": "queue", "account": "group"}
"""Other names of columns: for logs with qualities of service instead of queues, or accounts instead
of groups."""


@dataclass(frozen=True)
class Operation:
    """Declare an operation: its spelling, the types of its values, and its function in numpy.

    `binds` is the binding strength of an operator, 0 for a function.
    """

    name: str
    takes: tuple[str, ...]
    gives: str
    function: Callable[..., Any]
    binds: int = 0
    several: bool = False
    """Whether the operation applies to more than two values, from left to right."""


def _infix(
    name: str, takes: str, gives: str, function: Callable[..., Any], binds: int
) -> Operation:
    return Operation(name, (takes, takes), gives, function, binds)


def _function(name: str, function: Callable[..., Any], arity: int = 1) -> Operation:
    return Operation(name, (NUMBER,) * arity, NUMBER, function, several=arity > 1)


def _lesser(one: Any, other: Any) -> Any:
    # Of equal zeros the first is the result, as in kernels; numpy does not specify which zero is
    # the result. NaN remains.
    return np.where((one <= other) | np.isnan(one), one, other)


def _greater(one: Any, other: Any) -> Any:
    return np.where((one >= other) | np.isnan(one), one, other)


CONDITIONAL, OR, AND, NOT, COMPARISON, SUM, PRODUCT, NEGATION, POWER = range(1, 10)
"""Binding strengths of operators; powers group from the right, all other operators from the
left."""

OPERATIONS: dict[str, Operation] = {
    row.name: row
    for row in (
        Operation("if", (TRUTH, NUMBER, NUMBER), NUMBER, np.where, CONDITIONAL),
        _infix("or", TRUTH, TRUTH, np.logical_or, OR),
        _infix("and", TRUTH, TRUTH, np.logical_and, AND),
        Operation("not", (TRUTH,), TRUTH, np.logical_not, NOT),
        _infix("<", NUMBER, TRUTH, np.less, COMPARISON),
        _infix("<=", NUMBER, TRUTH, np.less_equal, COMPARISON),
        _infix(">", NUMBER, TRUTH, np.greater, COMPARISON),
        _infix(">=", NUMBER, TRUTH, np.greater_equal, COMPARISON),
        _infix("==", NUMBER, TRUTH, np.equal, COMPARISON),
        _infix("!=", NUMBER, TRUTH, np.not_equal, COMPARISON),
        _infix("+", NUMBER, NUMBER, np.add, SUM),
        _infix("-", NUMBER, NUMBER, np.subtract, SUM),
        _infix("*", NUMBER, NUMBER, np.multiply, PRODUCT),
        _infix("/", NUMBER, NUMBER, np.divide, PRODUCT),
        _infix("%", NUMBER, NUMBER, np.remainder, PRODUCT),
        Operation(MINUS, (NUMBER,), NUMBER, np.negative, NEGATION),
        _infix("**", NUMBER, NUMBER, np.power, POWER),
        _function("min", _lesser, 2),
        _function("max", _greater, 2),
        _function("abs", np.abs),
        _function("sqrt", np.sqrt),
        _function("log", np.log),
        _function("log2", np.log2),
        _function("log10", np.log10),
        _function("exp", np.exp),
        _function("floor", np.floor),
    )
}
"""All operations of expressions, by name."""

INFIX = {n: row.binds for n, row in OPERATIONS.items() if len(row.takes) == 2 and row.binds}
FUNCTIONS = tuple(name for name, row in OPERATIONS.items() if not row.binds)

_TOKEN = re.compile(
    r"(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<word>[A-Za-z_][A-Za-z_0-9]*)"
    r"|(?P<sign>\*\*|<=|>=|==|!=|[-+*/%<>(),])",
    re.ASCII,
)
_LIKELY = {
    "=": "write == to compare",
    "^": "write ** for a power",
    "&": "write and",
    "|": "write or",
    "!": "write not",
    "~": "write not",
    "[": "write (",
    "]": "write )",
}


@dataclass(frozen=True)
class Constant:
    """Represent a number."""

    value: float
    depth = 1
    gives = NUMBER

    @property
    def names(self) -> frozenset[str]:
        """Always empty, because a number has no input."""
        return frozenset()


@dataclass(frozen=True)
class Input:
    """Represent a column of jobs, or the instant."""

    name: str
    depth = 1
    gives = NUMBER

    @property
    def names(self) -> frozenset[str]:
        """The name of this input."""
        return frozenset((self.name,))


@dataclass(frozen=True)
class Applied:
    """Represent an operation on values."""

    operation: Operation
    values: tuple[Tree, ...]
    depth: int = field(init=False, compare=False)
    names: frozenset[str] = field(init=False, compare=False)
    """Inputs of the whole subtree."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "depth", 1 + max(value.depth for value in self.values))
        names = frozenset[str]().union(*(value.names for value in self.values))
        object.__setattr__(self, "names", names)

    @property
    def gives(self) -> str:
        """Type of the operation's value."""
        return self.operation.gives


Tree = Constant | Input | Applied


def repeated_factors(tree: Applied) -> int:
    """Return the whole exponent of a power that is computed as a product; else 0."""
    if tree.operation.name != "**" or not isinstance(tree.values[1], Constant):
        return 0
    exponent = tree.values[1].value
    return int(exponent) if exponent in range(1, REPEATED + 1) else 0


def evaluate(tree: Tree, given: Mapping[str, npt.ArrayLike]) -> Any:
    """Return the value of a tree for each job of some columns, in float64."""
    if isinstance(tree, Constant):
        return np.float64(tree.value)
    if isinstance(tree, Input):
        return np.asarray(given[tree.name], np.float64)
    if factors := repeated_factors(tree):
        base = product = evaluate(tree.values[0], given)
        for _ in range(factors - 1):
            product = product * base
        return product
    values = [evaluate(value, given) for value in tree.values]
    found = tree.operation.function(*values[: len(tree.operation.takes)])
    for value in values[len(tree.operation.takes) :]:
        found = tree.operation.function(found, value)
    return found


def text_of(tree: Tree, binds: int = 0) -> str:
    """Return the canonical text of a tree, in parentheses if it binds weaker than `binds`."""
    if isinstance(tree, Constant):
        whole = tree.value.is_integer() and tree.value < EXACT
        return str(int(tree.value)) if whole else repr(tree.value)
    if isinstance(tree, Input):
        return tree.name
    own, name, values = tree.operation.binds, tree.operation.name, tree.values
    if not own:
        return f"{name}({', '.join(map(text_of, values))})"
    if name == "if":
        condition, first, second = values
        text = f"{text_of(first, own + 1)} if {text_of(condition, own + 1)} else "
        text += text_of(second, own)
    elif len(values) == 1:
        text = ("-" if name == MINUS else f"{name} ") + text_of(values[0], own)
    elif own == POWER:
        text = f"{text_of(values[0], own + 1)}**{text_of(values[1], NEGATION)}"
    else:
        text = f"{text_of(values[0], own)} {name} {text_of(values[1], own + 1)}"
    return f"({text})" if own < binds else text


class _Token(NamedTuple):
    kind: str
    text: str
    at: int


class _Parser:
    """Read an expression by the strengths of its operators (Pratt's method)."""

    def __init__(self, text: str, inputs: tuple[str, ...]) -> None:
        self.text, self.inputs = text, inputs
        if len(text) > LONGEST:
            raise self.error(LONGEST, f"it has {len(text)} characters; at most {LONGEST} are read")
        self.tokens = list(self._tokens())
        self.place = self.nested = 0

    def error(self, at: int, why: str) -> InputError:
        """Return an error that points at a character."""
        first = max(0, at - SHOWN)
        shown = "".join(c if c.isprintable() else " " for c in self.text[first : at + SHOWN])
        pointer = f"  {shown}\n  {' ' * (at - first)}^"
        return InputError(f"character {at + 1} of the order's expression: {why}\n{pointer}")

    def parse(self) -> Tree:
        """Return the tree of the whole text."""
        tree = self._number(self._value(CONDITIONAL), self.tokens[0].at, "the expression")
        if (token := self.tokens[self.place]).kind != "end":
            raise self.error(token.at, f"{token.text!r} follows a complete expression; {EXAMPLE}")
        return tree

    def _tokens(self) -> Iterator[_Token]:
        at = 0
        while at < len(self.text):
            if self.text[at].isspace():
                at += 1
                continue
            found = _TOKEN.match(self.text, at)
            if found is None:
                hint = _LIKELY.get(self.text[at], EXAMPLE)
                raise self.error(at, f"{self.text[at]!r} is not part of the language; {hint}")
            yield _Token(str(found.lastgroup), found[0], at)
            at = found.end()
        yield _Token("end", "", len(self.text))

    def _next(self) -> _Token:
        token = self.tokens[self.place]
        self.place += token.kind != "end"
        return token

    def _take(self, text: str) -> _Token | None:
        """Return the next token if it has a given text, else None."""
        token = self.tokens[self.place]
        return self._next() if token.text == text and token.kind != "end" else None

    def _expect(self, text: str, why: str) -> None:
        if self._take(text) is None:
            token = self.tokens[self.place]
            found = f"found {token.text!r}" if token.text else "the expression ends"
            raise self.error(token.at, f"{found}, but {text!r} {why}")

    def _value(self, binds: int) -> Tree:
        """Read a value, and the following operators that bind at least as strongly as `binds`."""
        self.nested += 1
        at = self.tokens[self.place].at
        if self.nested > DEEPEST:
            raise self.error(at, f"more than {DEEPEST} nested values; shorten it")
        tree = self._first()
        while True:
            token = self.tokens[self.place]
            strength = CONDITIONAL if token.text == "if" else INFIX.get(token.text, 0)
            if strength == 0 or strength < binds:
                break
            self._next()
            if token.text == "if":
                condition = self._value(CONDITIONAL + 1)
                self._expect("else", "comes after a condition, as in A if C else B")
                tree = self._applied(token, [condition, tree, self._value(CONDITIONAL)])
            else:
                right = NEGATION if strength == POWER else strength + 1
                tree = self._applied(token, [tree, self._value(right)])
        self.nested -= 1
        return tree

    def _first(self) -> Tree:
        """Read a number, an input, a call, a value in parentheses, or a value after a sign."""
        token = self._next()
        if token.kind == "number":
            if math.isinf(value := float(token.text)):
                raise self.error(token.at, f"{token.text} is too large; the largest is 1.8e308")
            return Constant(value)
        if token.text == "(":
            tree = self._value(CONDITIONAL)
            self._expect(")", f"closes the '(' of character {token.at + 1}")
            return tree
        if token.text == "-":
            return self._applied(token._replace(text=MINUS), [self._value(NEGATION)])
        if token.text == "+":
            return self._number(self._value(NEGATION), token.at, "the value after '+'")
        if token.text == "not":
            return self._applied(token, [self._value(NOT)])
        if token.kind == "word" and token.text not in {*INFIX, "if", "else"}:
            return self._named(token)
        found = f"{token.text!r}" if token.text else "the end"
        raise self.error(token.at, f"{found} where a value is needed; {EXAMPLE}")

    def _named(self, token: _Token) -> Tree:
        name = NAMED_TWICE.get(token.text, token.text)
        called = self.tokens[self.place].text == "("
        if name in self.inputs and not called:
            return Input(name)
        if name in FUNCTIONS and called:
            self._next()
            values = [self._value(CONDITIONAL)]
            while self._take(","):
                values.append(self._value(CONDITIONAL))
            self._expect(")", f"closes the call of {name}")
            return self._applied(token, values)
        if name in FUNCTIONS:
            raise self.error(token.at, f"{name} is a function; write {name}(...)")
        known = FUNCTIONS if called else self.inputs
        near = nearest(name, known)
        guess = f"did you mean {near!r}? " if near else ""
        what = "function" if called else "name"
        listed = ", ".join(known)
        raise self.error(token.at, f"{name!r} is not a known {what}; {guess}known: {listed}")

    def _applied(self, token: _Token, values: list[Tree]) -> Tree:
        """Return an operation on values; raise an error for wrong types."""
        row = OPERATIONS[token.text]
        takes = [*row.takes, *row.takes[-1:] * (len(values) - len(row.takes)) * row.several]
        if len(takes) != len(values):
            least = "at least " * row.several + str(len(row.takes))
            given = counted(len(values), "value")
            raise self.error(token.at, f"{row.name} takes {least}, but has {given}")
        for kind, value in zip(takes, values, strict=True):
            if kind == TRUTH and value.gives != TRUTH:
                raise self.error(
                    token.at,
                    f"{token.text!r} needs a condition such as procs > 4, not {text_of(value)}",
                )
            if kind == NUMBER:
                self._number(value, token.at, f"a value of {token.text!r}")
        tree = Applied(row, tuple(values))
        if tree.depth > DEEPEST:
            raise self.error(token.at, f"more than {DEEPEST} nested operations")
        return tree

    def _number(self, value: Tree, at: int, what: str) -> Tree:
        if value.gives != NUMBER:
            raise self.error(
                at,
                f"{what} must be a number, but {text_of(value)} is a condition; join conditions "
                "with and, or write 1 if CONDITION else 0",
            )
        return value


class Expression:
    """Hold a queue order as an expression; a call with its inputs by name returns the keys.

    Examples
    --------
    >>> area = Expression.parse("procs*estimate", ("procs", "estimate", "now"))
    >>> area.text, area(submit=np.array([7]), procs=np.array([2]), estimate=np.array([30]))
    ('procs * estimate', array([60.]))
    """

    def __init__(self, tree: Tree) -> None:
        self.tree, self.text = tree, text_of(tree)
        kind = inspect.Parameter.KEYWORD_ONLY
        # The submissions give the number of jobs, even for a constant.
        asked = [inspect.Parameter(name, kind) for name in sorted({"submit", *tree.names})]
        self.__signature__ = inspect.Signature(asked)

    @classmethod
    def parse(cls, text: str, inputs: tuple[str, ...]) -> Expression:
        """Read an expression of some inputs; an InputError points at the first mistake."""
        return cls(_Parser(text, inputs).parse())

    def __call__(self, **given: npt.ArrayLike) -> Float64:
        """Return a number for each job, float64[k], by IEEE 754: x / 0 is infinite or NaN."""
        with np.errstate(all="ignore"):
            found = evaluate(self.tree, given)
        return cast(Float64, np.broadcast_to(found, np.shape(given["submit"])).copy())
