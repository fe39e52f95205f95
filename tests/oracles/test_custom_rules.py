"""Rules that are called at each pass: copies of the built-in ones, and rules with mistakes."""

from __future__ import annotations

import ctypes
import threading
from functools import partial

import numpy as np
import pytest

from schedfarm.core.engine.fair_start import fair_start_times
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.engine.time_limit import Overrun, Pace, within_limit
from schedfarm.core.errors import InputError
from schedfarm.core.machines.grid.platform import Grid
from schedfarm.core.policy.policy import Policy
from schedfarm.core.workload.workload import Workload
from tests.oracles.custom_rules import MODULE, SENTENCE, mistake
from tests.support.golden import micro, policy_of
from tests.support.mistaken_rules import QUICK, Mistaken

JOBS = {"submit": [0, 0, 1, 4], "run": [9, 5, 8, 2], "estimate": [9, 5, 8, 3]}

WORK = Workload.from_columns(**JOBS, procs=[2, 3, 1, 2], processors=3)

OBJECT = Mistaken()

EASY = f"fcfs+{MODULE}:easy_plain"


def test_starts_are_those_of_the_independent_program() -> None:
    for work, run in micro("FCFS", "easy"):
        policy = policy_of(run).name.replace("+easy", f"+{MODULE}:easy_plain")
        assert simulate(work, policy).start.tolist() == run["start"]


@pytest.mark.parametrize("kind", [*QUICK, "loops"])
def test_a_mistake_ends_in_one_sentence_with_the_job_and_the_second(kind: str) -> None:
    for at in (0, 1):
        said = mistake(WORK, kind, at)
        assert SENTENCE.match(said), said
        assert "job" in said


def test_sentences_of_decisions() -> None:
    assert mistake(WORK, "all", 0) == (
        "rule 'tests.support.mistaken_rules:Mistaken' starts job 2 (3 processors) at 0 s, when "
        "only 1 are free; ask fits(state, j) first"
    )
    assert mistake(WORK, "before the clock", 1) == (
        "rule 'tests.support.mistaken_rules:Mistaken' reserves processors for job 2 from -1 s on, "
        "which is before 1 s; take earliest(state, j), for example"
    )
    assert "ValueError: reserve: the clock has no such instant" in mistake(WORK, "no instant", 0)
    assert "starts no job at 0 s, although the machine is idle and job 1" in mistake(
        WORK, "nothing", 0
    )
    assert "raised KeyError: 'on purpose\\nat 0' (at 0 s, with 2 jobs in the queue" in mistake(
        WORK, "raises", 0
    )


def test_what_a_rule_of_passes_cannot_do_is_refused() -> None:
    with pytest.raises(InputError, match="leave out events=per-event"):
        Policy.parse(f"{EASY},events=per-event")
    with pytest.raises(InputError, match="backfill=spf is an option of rules"):
        Policy.parse(f"{EASY},backfill=spf")
    two = Workload.from_columns(**JOBS, procs=[2, 3, 1, 2], platform=Grid([3, 2], ["a", "b"]))
    with pytest.raises(InputError, match="does not support platforms of kind 'grid'"):
        simulate(two, EASY)
    with pytest.raises(InputError, match="has no reference simulation"):
        fair_start_times(WORK, EASY, kind="relaxed")


def test_an_object_is_refused_as_a_rule() -> None:
    """Its state would stay from one simulation of a worker to the next."""
    with pytest.raises(InputError, match=r"object of class Mistaken, which.*; name the class"):
        simulate(WORK, f"fcfs+{__name__}:OBJECT")


@pytest.mark.parametrize(
    ("attribute", "value", "sentence"),
    [
        ("seconds", "abc", "seconds is 'abc'; it must be a number above 0, and up to 10^6"),
        ("seconds", float("nan"), "seconds is nan; it must be a number"),
        ("seconds", True, "seconds is True; it must be a number"),
        ("seconds", 0, "seconds is 0; it must be a number"),
        ("memory", True, "memory is True; it must be a whole number from 0 to 10^6"),
        ("memory", 1.5, "memory is 1.5; it must be a whole number"),
    ],
)
def test_attributes_of_a_rule_are_checked(
    monkeypatch: pytest.MonkeyPatch, attribute: str, value: object, sentence: str
) -> None:
    monkeypatch.setattr(Mistaken, attribute, value, raising=False)
    said = mistake(WORK, "nothing", 0)
    assert said.startswith(f"rule '{Mistaken.__module__}:Mistaken': its attribute {sentence}")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_interrupt_after_the_work_ends_the_wait() -> None:
    """It comes in the last steps of the thread, so that none of them is reached for certain."""

    ended = []

    def work() -> None:
        interrupt = partial(
            ctypes.pythonapi.PyThreadState_SetAsyncExc,
            ctypes.c_ulong(threading.get_ident()),
            ctypes.py_object(Overrun),
        )
        # Called when the function's names are dropped, after its last step.
        last = type("Last", (), {"__del__": staticmethod(interrupt)})()
        ended.append(last is not None)

    assert within_limit(work, Pace(np.zeros(10, np.int64), 1.0))
    assert ended == [True]


def test_strict_fair_starts_take_a_simulation_each() -> None:
    assert fair_start_times(WORK, EASY).tolist() == [0, 9, 1, 14]
