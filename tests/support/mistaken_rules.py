"""Rules that are called at each pass and make a mistake at one."""

from __future__ import annotations

import sys
import time

import numpy as np

from schedfarm.rule import State, earliest, fits, reserve, start
from tests.support import custom_rules


class Mistaken:
    """Be EASY, and make one mistake of a kind at a pass."""

    seconds = 0.02
    kind, at = "", 0

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, state: State) -> object:
        """Decide, or make the mistake."""
        self.calls += 1
        if self.calls <= self.at:
            custom_rules.easy(state)
            return None
        return {**QUICK, **SLOW}[self.kind](state)


def _all(state: State) -> None:
    for j in range(state.jobs.procs.size):
        start(state, j)


def _twice(state: State) -> None:
    for j in (*state.waiting, *state.waiting):
        if fits(state, state.waiting[0]) or state.book.started[j]:
            start(state, j)
    start(state, state.waiting[0])
    start(state, state.waiting[0])


def _raise(state: State) -> None:
    raise KeyError(f"on purpose\nat {state.now}")


def _loop(state: State) -> None:
    while True:
        fits(state, state.waiting[0])


def _stubborn(state: State) -> None:
    """Catch every exception; the remaining thread ends by itself, so that it does not slow other
    tests."""
    until = time.monotonic() + 5
    while time.monotonic() < until:
        try:
            while time.monotonic() < until:
                fits(state, state.waiting[0])
        except BaseException:  # noqa: BLE001  That is the mistake.
            continue


def _late(state: State) -> None:
    reserve(state, state.waiting[0], state.now - 1)


def _overbook(state: State) -> None:
    for _ in range(5):
        reserve(state, state.waiting[0], state.now)


def _scribble(state: State) -> None:
    for array in (state.waiting, state.running, state.ends, *state.jobs, *state.book):
        array[:] = -7
    start(state, state.now)


def _forge(state: State) -> None:
    state.book.tally[:] = 10**9
    state.book.decided[:] = np.arange(state.book.decided.size)


QUICK = {
    "all": _all,
    "twice": _twice,
    "nothing": lambda state: None,
    "raises": _raise,
    "no such job": lambda state: start(state, 10**6),
    "negative": lambda state: start(state, -1),
    "asks for no such job": lambda state: earliest(state, 10**6),
    "late": _late,
    "before the clock": lambda state: reserve(state, state.waiting[0], -1),
    "no instant": lambda state: reserve(state, state.waiting[0], float("nan")),  # type: ignore[arg-type]
    "overbooked": _overbook,
    "far": lambda state: reserve(state, state.waiting[0], 2**63 - 1),
    "endless reservations": lambda state: [
        reserve(state, state.waiting[0], state.now + 3 * k, 1) for k in range(10**6)
    ],
    "returns": lambda state: state.waiting,
    "exits": lambda state: sys.exit(3),
    "recursive": lambda state: QUICK["recursive"](state),
    "scribbles": _scribble,
    "forges": _forge,
    "stops": lambda state: next(iter(())),
    "writes outside": lambda state: state.book.started.__setitem__(10**6, 1),
    "wrong type": lambda state: start(state, "first"),  # type: ignore[arg-type]
}
"""Mistakes that cost little time."""

SLOW = {"loops": _loop, "loops and catches": _stubborn}
"""Mistakes that are detected by their CPU time."""
