"""The 3/2 dual approximation on more random instances."""

from __future__ import annotations

from hypothesis import given, settings

from schedfarm.offline.instance import Instance
from tests.support.moldable import (
    first_guesses_taken,
    hold_every_guess,
    hold_feasible_guesses,
    instances,
)


def test_accepted_guesses_give_schedules_of_three_halves() -> None:
    """On 3,000 random instances, the first guesses from the bound on."""
    assert first_guesses_taken(3000) > 13_500


def test_rejected_guesses_are_infeasible() -> None:
    """On 1,500 tiny instances, each guess that some schedule meets is taken."""
    hold_feasible_guesses(1500)


@settings(max_examples=200)
@given(jobs=instances())
def test_every_guess_of_any_instance(jobs: Instance) -> None:
    """From 0 on to that of all jobs one after the other, which is taken."""
    hold_every_guess(jobs)
