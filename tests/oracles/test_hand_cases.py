"""Every program makes the schedules that were worked out by hand.

Python runs the kernels here: half of those that the cases need are compiled for nothing else, and
`exhaustive/test_hand_cases.py` has them compiled.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

import numba
import numpy as np
import pytest

from schedfarm.core.audit import audit
from schedfarm.core.audit.kinds import KINDS
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.schedule import Schedule
from tests.oracles import programs
from tests.oracles.case import Case, words
from tests.oracles.cases import CASES
from tests.support.guards import processes_allowed

NO_JIT = "NUMBA_DISABLE_JIT"

Check = Callable[[str], Mapping[str, object]]
"""Finds the cases of a kind of platform in which a program differs: by name, what it says."""


def said(case: Case, answers: programs.Answers) -> dict[str, object]:
    """Return what a program says of a case, by the names of what the case expects."""
    found = {name: answers.get(name) for name in case.expected}
    if case.on is not None:
        found["on"] = words(case.work, answers["place"], answers["segments"])  # type: ignore[arg-type]
    if case.backfilled is not None:
        found["backfilled"] = np.flatnonzero(answers["backfilled"]).tolist()  # type: ignore[arg-type]
    return found


def differing(program: str, platform: str, policy: str | None = None) -> dict[str, object]:
    """Return the answers of a program that differ from those expected, by case.

    policy: the one to try; by default all.
    """
    found = {}
    for case in CASES[platform]:
        if policy not in (None, case.parsed.name):
            continue
        answers = getattr(programs, program)(case.work, case.parsed)
        if answers is not None and said(case, answers) != case.expected:
            found[str(case)] = said(case, answers)
    return found


def placed(case: Case) -> Schedule:
    """Return the schedule that a case expects; what it is not about is the kernel's."""
    schedule = simulate(case.work, case.policy)
    answers = programs.answers(schedule, schedule.start)
    expected = {name: case.expected[name] for name in case.expected if name != "promises"}
    if isinstance(case.platform, int):
        start = np.array(case.starts, np.int64)
        return Schedule(case.work, "", start, np.zeros(start.size, np.bool_))
    assert {name: said(case, answers)[name] for name in expected} == expected
    return schedule


def unjudged(platform: str) -> dict[str, object]:
    """Return the cases whose schedule the auditor refuses, or passes with a job moved by 1 s."""
    found: dict[str, object] = {}
    for case in CASES[platform]:
        good, policy = placed(case), case.parsed
        verdict = audit(good, policy)
        if not verdict.ok:
            found[str(case)] = verdict.why
        for job, old in enumerate(case.starts if KINDS[platform]().judges(policy) else ()):
            for shift in (-1, 1):
                if old < 0 or old + shift < 0:
                    continue
                bad = audit(programs.moved(good, job, shift), policy)
                if (bad.ok, bad.job, bad.instant) != (False, job, min(old, old + shift)):
                    found[str(case)] = f"job {job} moved by {shift} s: {bad.why}"
    return found


@pytest.fixture(scope="session")
def interpreter() -> Iterator[ProcessPoolExecutor | None]:
    """Start a process in which Python runs the kernels, unless it does so in this one."""
    if numba.config.DISABLE_JIT:
        yield None
        return
    with pytest.MonkeyPatch.context() as patch, processes_allowed():
        patch.setenv(NO_JIT, "1")
        pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
        assert pool.submit(os.getenv, NO_JIT).result() == "1"
    yield pool
    pool.shutdown()


@pytest.fixture(params=["kernel without the JIT", "reference", "audit"])
def program(request: pytest.FixtureRequest) -> Check:
    """Return a check of each program in turn."""
    if request.param == "reference":
        return lambda platform: differing("reference", platform)
    # The auditor's schedules have what a case is not about from the kernels, too.
    check = unjudged if request.param == "audit" else partial(differing, "kernel")
    pool = request.getfixturevalue("interpreter")
    return check if pool is None else lambda platform: pool.submit(check, platform).result()


@pytest.mark.parametrize("platform", CASES)
def test_hand_cases(program: Check, platform: str) -> None:
    """Starts, and places, ends and promises where a case is about them, are those expected."""
    assert_none(program(platform))


def test_hand_cases_by_seconds() -> None:
    """The programs that look at every second make the schedules of their rules, too."""
    assert_none(differing("by_seconds", "pool"))
    asked = [case for case in CASES["pool"] if programs.by_seconds(case.work, case.parsed)]
    assert {case.parsed.rule for case in asked} >= {"planned", "conservative", "depth(1)"}


def assert_none(found: Mapping[str, object]) -> None:
    assert not found, "\n".join(f"{case}\n  {told}" for case, told in found.items())


def test_no_case_stands_in_the_table_twice() -> None:
    """Another name for the same jobs and policy is no other case."""
    for cases in CASES.values():
        seen: dict[object, str] = {}
        for case in cases:
            key = case.policy, str(case.platform), tuple(case.jobs), case.epoch
            assert key not in seen, (case.name, seen[key])
            seen[key] = case.name
