"""Searches of plans: draws, comparisons, and the value of what they find."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numba
import numpy as np
import pytest
from hypothesis import given, strategies as st

from schedfarm.core.audit import audit
from schedfarm.core.engine.search.draws import M1, SIZE, draw
from schedfarm.core.engine.search.score import CRITERIA, is_better
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.workload.workload import Workload


def test_draws_are_those_of_the_published_generator() -> None:
    """Of the seeds 12345 it gives 0.127011122, 0.318527565, 0.309186015, ... (RngStreams)."""
    stream = np.full(SIZE, 12345, np.int64)
    drawn = [draw(stream, M1) / (M1 + 1) for _ in range(3)]
    assert drawn == pytest.approx([0.1270111225, 0.3185275653, 0.3091860155], abs=1e-9)


def test_the_audit_of_a_searched_schedule_finds_who_is_too_much() -> None:
    """Though nobody can tell what a search drew."""
    work = Workload.from_columns(
        submit=[0, 0, 1], run=[9, 9, 4], estimate=[9, 9, 4], procs=[2, 2, 1], processors=3
    )
    good = simulate(work, "fcfs+tabu")
    bad = replace(good, start=np.minimum(good.start, 8))
    assert audit(good, "fcfs+tabu").ok
    assert (audit(bad, "fcfs+tabu").rule, audit(bad, "fcfs+tabu").instant) == ("capacity", 8)


def plainly_better(one: list[int], other: list[int], weights: list[int]) -> bool:
    """Algorithm 1, in fractions."""
    total = Fraction(0)
    for a, b, weight in zip(one, other, weights, strict=True):
        total += weight * (Fraction(a - b, a) if a else Fraction(-1 if b else 0))
    return total > Fraction(1, 10**12)


@given(st.data())
def test_select_better_is_the_sum_of_relative_gains(data: st.DataObject) -> None:
    """Of values that whole plans may have, also of criteria that are 0 in either."""
    values = st.lists(
        st.sampled_from((0, 1, 2, 3, 5, 40, 10**6)), min_size=CRITERIA, max_size=CRITERIA
    )
    one, other, weights = (data.draw(values) for _ in range(3))
    change = np.array(other, np.float64) - np.array(one, np.float64)
    answer = is_better(np.array(one, np.float64), change, np.array(weights, np.float64))
    assert answer == plainly_better(one, other, weights)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="its three searches take minutes without it")
def test_the_search_is_no_worse_than_the_plan_by_its_own_measure() -> None:
    """A search keeps what it began with unless it has found better; so another seed may differ."""
    random = np.random.default_rng(4)
    estimate = random.integers(1, 60, 80)
    work = Workload.from_columns(
        submit=np.sort(random.integers(0, 200, 80)),
        run=estimate,
        estimate=estimate,
        procs=random.integers(1, 9, 80),
        user=random.integers(0, 5, 80),
        processors=8,
    )
    waits = {
        policy: int(simulate(work, policy).wait.sum())
        for policy in ("fcfs+planned", "fcfs+tabu,every=5s", "fcfs+tabu,every=5s,seed=1")
    }
    plain, *searched = waits.values()
    assert max(searched) < plain
    assert searched[0] == int(simulate(work, "fcfs+tabu,every=5s").wait.sum())
