"""Rules that are called at each pass: copies of the built-in ones, and rules with mistakes."""

from __future__ import annotations

import pytest

from schedfarm.core.engine.fair_start import fair_start_times
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.errors import InputError
from schedfarm.core.machines.grid.platform import Grid
from schedfarm.core.policy.policy import Policy
from schedfarm.core.workload.workload import Workload
from tests.oracles.custom_rules import MODULE, RULES, SENTENCE, difference, mistake
from tests.support.golden import micro, policy_of
from tests.support.mistaken_rules import QUICK

JOBS = {"submit": [0, 0, 1, 4], "run": [9, 5, 8, 2], "estimate": [9, 5, 8, 3]}

WORK = Workload.from_columns(**JOBS, procs=[2, 3, 1, 2], processors=3)

EASY = f"fcfs+{MODULE}:easy_plain"


@pytest.mark.parametrize("rule", RULES)
def test_copies_equal_the_kernels_on_the_tiny_instances(rule: str) -> None:
    for work, run in micro("FCFS", "easy"):
        theta = "" if run["theta"] is None else f",threshold={run['theta']}s"
        assert difference(work, "fcfs", rule, theta, "_plain") is None


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
    with pytest.raises(InputError, match="does not know platforms of kind 'grid'"):
        simulate(two, EASY)
    with pytest.raises(InputError, match="has no reference simulation"):
        fair_start_times(WORK, EASY, kind="relaxed")


def test_strict_fair_starts_take_a_simulation_each() -> None:
    assert fair_start_times(WORK, EASY).tolist() == [0, 9, 1, 14]
