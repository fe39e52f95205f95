"""Compilation of users' rules by numba's documented interface.

Each process that needs a rule compiles it, with checks of array indices, in 1 to 2 s of CPU. The
called functions of `core.policy.custom_rule` also have these checks, because the rule can write to
the arrays that these functions read. All helpers in the rule's module have the checks, whether or
not the author compiles the helpers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import CellType, CodeType, FunctionType
from typing import Any, NamedTuple, cast
from weakref import WeakKeyDictionary

import numba
from numba.core.dispatcher import Dispatcher

from schedfarm.core.engine.custom_pass import (
    ADDRESSES,
    ARRAYS,
    ARRIVALS,
    AT,
    MEMORY,
    ROOM,
    RUNS,
    SIZE,
    WAITS,
)
from schedfarm.core.engine.toolchain import PLAIN
from schedfarm.core.errors import InputError
from schedfarm.core.policy.custom_rule import (
    COMPILED,
    TALLY,
    Book,
    Columns,
    Profile,
    State,
)


class Code(NamedTuple):
    """Hold the code of a rule: its address, and a function of the desk.

    The address is 0 if kernels cannot call the code. If both are missing, `why` has the reason.
    """

    address: int
    call: Callable[[int], int] | None
    keep: object
    why: str


_known: WeakKeyDictionary[Any, Code] = WeakKeyDictionary()


def code_of(name: str, rule: Any) -> Code:
    """Return the code of a rule, or the reason why the rule runs in plain Python."""
    function = getattr(rule, "py_func", rule)
    if isinstance(function, type) or not hasattr(function, "__code__"):
        return Code(0, None, None, "it is a class or an object, not a function")
    if not getattr(rule, "compiled", True):
        return Code(0, None, None, "its attribute compiled is False")
    if numba.config.DISABLE_JIT:
        return Code(0, None, None, "numba is disabled")
    if function not in _known:
        _known[function] = _compiled(name, function)
    return _known[function]


def _compiled(name: str, function: Callable[..., Any]) -> Code:
    make_callable()
    try:
        inner = _copied(function, numba.njit(boundscheck=True))
        entry = _entry(inner)
        if PLAIN:
            called = numba.njit("int64(int64)", nogil=True)(entry)
            return Code(0, called, called, "")
        compiled = numba.cfunc("int64(int64)")(entry)
    except Exception as error:  # Numba raises many types of errors for an unsupported function.
        return Code(0, None, None, _reason(error))
    if (given := inner.overloads[next(iter(inner.overloads))].signature.return_type) != numba.none:
        # The name of a generator's type contains those of all its variables.
        kind = "a generator" if isinstance(given, numba.types.Generator) else given
        raise InputError(
            f"rule {name!r} returns {kind}; it must return nothing: it decides by start(state, j) "
            "and reserve(state, j, at)"
        )
    return Code(compiled.address, None, compiled, "")


def in_python(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a copy of a function that calls the Python versions of its module's helpers."""
    return cast(Callable[..., Any], _copied(function, lambda copy: copy))


def _copied(function: Callable[..., Any], made: Callable[[FunctionType], Any]) -> Any:
    """Return a copy of a function that calls copies of its module's helpers."""
    known: dict[Any, Any] = {}

    def copied(one: FunctionType) -> Any:
        if one not in known:
            scope = dict(one.__globals__)
            cells = tuple(CellType() for _ in one.__closure__ or ())
            copy = FunctionType(one.__code__, scope, one.__name__, one.__defaults__, cells)
            copy.__kwdefaults__ = one.__kwdefaults__
            known[one] = made(copy)
            for name in _names(one.__code__) & scope.keys():
                scope[name] = replaced(scope[name], one.__module__)
            for cell, given in zip(cells, one.__closure__ or (), strict=True):
                cell.cell_contents = replaced(given.cell_contents, one.__module__)
        return known[one]

    def replaced(value: Any, module: str) -> Any:
        # A helper compiled by its author has no checks unless the author requested them.
        other = value.py_func if isinstance(value, Dispatcher) else value
        own = isinstance(other, FunctionType) and other.__module__ == module
        return copied(other) if own else value

    return copied(cast(FunctionType, function))


def _names(code: CodeType) -> set[str]:
    """Return the names of globals in a function's code and in its inner functions."""
    inner = (_names(one) for one in code.co_consts if isinstance(one, CodeType))
    return set(code.co_names).union(*inner)


def _reason(error: Exception) -> str:
    """Return the most informative line of numba's message."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = [line for line in lines if "Failed in nopython mode" not in line]
    return (told or lines or [type(error).__name__])[0]


@cache
def make_callable() -> None:
    """Make the functions of `core.policy.custom_rule` callable from compiled code."""
    from numba.extending import overload

    for function in COMPILED:
        options = {"forceinline": True, "boundscheck": True}
        overload(function, strict=False, inline="never", jit_options=options)(_chosen(function))


def _chosen(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *kinds: function


def _entry(rule: Any) -> Callable[[int], int]:
    """Return a function that takes a desk's address and calls a rule with the desk's state."""
    at_address = _pointer()
    carray, int64, float64 = numba.carray, numba.int64, numba.float64

    def call(address: int) -> int:
        desk = carray(at_address(address), ADDRESSES + ARRAYS, int64)
        arrived, n, a = desk[ARRIVALS], desk[ROOM], ADDRESSES
        c = carray(at_address(desk[a]), (8, n), int64)[:, :arrived]
        state = State(
            desk[AT],
            desk[SIZE],
            carray(at_address(desk[a + 1]), desk[WAITS], int64),
            carray(at_address(desk[a + 2]), desk[RUNS], int64),
            carray(at_address(desk[a + 3]), desk[RUNS], int64),
            Columns(c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]),
            Profile(
                carray(at_address(desk[a + 4]), 4 * n + 16, int64),
                carray(at_address(desk[a + 5]), 4 * n + 16, int64),
                carray(at_address(desk[a + 6]), 1, int64),
            ),
            carray(at_address(desk[a + 7]), desk[MEMORY], float64),
            Book(
                carray(at_address(desk[a + 8]), TALLY, int64),
                carray(at_address(desk[a + 9]), n + 1, int64),
                carray(at_address(desk[a + 10]), arrived, int64),
                carray(at_address(desk[a + 11]), arrived, int64),
            ),
        )
        try:
            rule(state)
        except Exception:  # noqa: BLE001  Compiled code knows no other.
            return 1
        return 0

    return call


@cache
def _pointer() -> Any:
    """Return the function that converts an address to a pointer in compiled code."""
    from numba.extending import intrinsic

    def typed(typing: Any, address: Any) -> Any:
        def write(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            kind = context.get_value_type(numba.types.voidptr)
            return builder.inttoptr(values[0], kind)

        return numba.types.voidptr(numba.types.int64), write

    return intrinsic(typed)
