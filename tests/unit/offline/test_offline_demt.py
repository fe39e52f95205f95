"""The 3/2 dual approximation, and the shelves and batches of DEMT that rest on it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings

from schedfarm.core import InputError
from schedfarm.offline import dual as dual_module
from schedfarm.offline.algorithms import ALGORITHMS, Case
from schedfarm.offline.batches import batches, selected
from schedfarm.offline.bounds import makespan_bound
from schedfarm.offline.draws import draw_instance
from schedfarm.offline.dual import approximate, dual
from schedfarm.offline.instance import Instance
from schedfarm.offline.shelves import lengths, shelves
from tests.support.moldable import (
    first_guesses_taken,
    hold_every_guess,
    hold_feasible_guesses,
    instances,
    random_instances,
)

MOVES = ("_shave", "_stack", "_ride", "_raise")
"""From shelf to shelf; the proof needs each."""


def test_accepted_guesses_give_schedules_of_three_halves(monkeypatch: pytest.MonkeyPatch) -> None:
    """On 1,000 random instances, the first guesses from the bound on; every move is made.

    Without the move that stacks two jobs 5 of them fail, without the one that raises a job 81.
    """
    made = set()
    for name in MOVES:
        move = getattr(dual_module._Shelves, name)

        def watched(self: object, move: Callable[..., bool] = move, name: str = name) -> bool:
            moved = move(self)
            made.update([name] if moved else [])
            return moved

        monkeypatch.setattr(dual_module._Shelves, name, watched)
    assert first_guesses_taken(1000) > 4500
    assert made == set(MOVES)


@settings(max_examples=60)
@given(jobs=instances())
def test_every_guess_of_any_instance(jobs: Instance) -> None:
    """From 0 on to that of all jobs one after the other, which is taken."""
    hold_every_guess(jobs)


def test_rejected_guesses_are_infeasible() -> None:
    """On 500 tiny instances: without the move that raises a job, 35 of them fail."""
    hold_feasible_guesses(500)


@pytest.mark.parametrize("precision", [0, 0.01, 0.5])
def test_bisection_ends_within_its_precision(precision: float) -> None:
    """Guess and bound are so close, and the plan is at most 3/2 of the guess."""
    for jobs in random_instances(4, 200):
        found = approximate(jobs, precision=precision)
        assert found.bound <= found.guess <= (1 + precision) * found.bound
        assert 2 * found.plan.makespan <= 3 * found.guess
        assert dual(jobs, found.bound - 1) is None or found.bound == makespan_bound(jobs)


@pytest.mark.parametrize("precision", [-0.1, float("nan"), float("inf")])
def test_what_is_no_precision(precision: float) -> None:
    """It is named."""
    with pytest.raises(InputError, match="precision="):
        approximate(Instance([[5]]), precision=precision)


def test_lengths_double_up_to_the_estimate() -> None:
    """The first is the last that holds a shortest job, before it is halved once more."""
    jobs = Instance([[40, 20], [3, 3]])
    assert lengths(jobs, 40) == [5, 10, 20, 40]
    assert lengths(jobs, 48) == [3, 6, 12, 24, 48]
    for estimate in (19, 87):
        with pytest.raises(InputError, match=f"estimate={estimate}: give a whole number, at least"):
            lengths(jobs, estimate)


def test_shelves_by_hand() -> None:
    """On 2 processors, shelves of 2, 4 and 8 s.

    In the first stand the two heaviest jobs of 2 s, in the second the jobs of 4 s, which weigh
    more than a stack of two others, in the third the long job beside a stack of all others. The
    list then begins two of these at once, and the long one, of least weight over area, after them.
    """
    times = np.repeat([[8], [4], [4], [2], [2], [2], [2], [2]], 2, axis=1)
    plan = shelves(Instance(times, [1, 9, 9, 5, 4, 3, 2, 1]), 8, shuffles=0)
    assert plan.procs.tolist() == [1] * 8
    assert plan.start.tolist() == [8, 2, 2, 0, 0, 6, 6, 8]


def test_every_algorithm_is_sound() -> None:
    """Each plan of 200 instances is checked; batches keep within 3 guesses."""
    for jobs in random_instances(6, 200):
        found = approximate(jobs)
        for row in ALGORITHMS.values():
            plan = row.plan(Case(found, shuffles=2))
            plan.check()
        assert batches(jobs, found.guess).makespan <= 3 * found.guess


def test_shelves_are_never_worse_for_more_shuffles() -> None:
    """The orders that are tried are the first of more, and the best is kept."""
    for jobs in random_instances(7, 40):
        guess = approximate(jobs).guess
        sums = [shelves(jobs, guess, seed=3, shuffles=k).minsum for k in (0, 3, 9)]
        assert sums == sorted(sums, reverse=True)


def test_the_same_seed_gives_the_same_plan() -> None:
    """Of every algorithm; another seed another order of shelves, in some instance."""
    jobs = [draw_instance(25, 64, index=index) for index in range(3)]

    def starts(seed: int) -> list[list[int]]:
        cases = [Case(approximate(one), seed) for one in jobs]
        return [row.plan(case).start.tolist() for case in cases for row in ALGORITHMS.values()]

    assert starts(0) == starts(0)
    assert starts(0) != starts(1)


def test_selection_of_a_batch_is_what_the_approximation_takes() -> None:
    """It takes the selected, and would not with any other job besides."""
    for jobs in random_instances(9, 300, jobs=10, processors=6):
        guess = makespan_bound(jobs) // 2 + 1
        chosen = selected(jobs, guess)
        assert not chosen.size or dual(jobs.only(chosen), guess) is not None
        for other in np.setdiff1d(np.arange(jobs.jobs), chosen).tolist():
            more = np.sort(np.append(chosen, other))
            assert dual(jobs.only(more), guess) is None


def test_batches_refuse_an_estimate_that_is_too_short() -> None:
    """A guess that is turned away would leave jobs out."""
    jobs = Instance([[12, 7, 5], [4, 4, 4]])
    with pytest.raises(InputError, match="estimate=6: the dual approximation rejects it"):
        batches(jobs, 6)
