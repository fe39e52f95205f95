"""Explanations of jobs: the smallest sets, by exhaustive search, and what rules say of a pass."""

from __future__ import annotations

import math
from dataclasses import replace

import numba
import numpy as np
import pytest
from hypothesis import given, settings

from schedfarm.core.engine.simulate import simulate
from schedfarm.core.errors import InputError
from schedfarm.core.explanation import Explanation, causes, explain, situation
from schedfarm.core.explanation.causes import Trials, cause_of
from schedfarm.core.explanation.window import cuts_of
from schedfarm.core.machines.network.platform import Network
from schedfarm.core.machines.platform import Platform
from schedfarm.core.machines.resources.platform import Resources
from schedfarm.core.policy.policy import Policy
from schedfarm.core.workload.workload import Workload
from tests.oracles.case import Rows, workload
from tests.oracles.explained import check, start_without
from tests.support.strategies import crowd, simulations, workloads

FEW = 5
"""Cases of each test here: one may take a thousand simulations."""


def explained(rows: Rows, machine: int, policy: str, job: int) -> Explanation:
    return explain(simulate(workload(machine, rows), policy), job, effort=math.inf)


@pytest.mark.parametrize("rule", ["none", "aggressive", "easy", "conservative"])
def test_sets(rule: str) -> None:
    try_with(rule)


def try_with(rule: str, platform: str = "pool") -> None:
    """Check the sets of a few random cases."""

    @settings(max_examples=min(FEW, settings().max_examples))
    @given(case=simulations(platform, rule))
    def try_one(case: tuple[Workload, Policy]) -> None:
        check(*case)

    try_one()


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="hundreds of jobs take minutes without it")
@pytest.mark.parametrize("rule", ["easy", "conservative", "planned", "depth(2)"])
def test_windows_give_what_whole_simulations_do(rule: str) -> None:
    """In several hundred jobs, a start without some of them is that of the whole workload."""
    work = crowd(5, 300)
    try_windows(replace(work, submit=work.submit * 15), rule)


def try_windows(work: Workload, rule: str) -> None:
    """Compare starts without some jobs in windows and in the whole workload."""
    policy = Policy.parse(f"fcfs+{rule}")
    schedule = simulate(work, policy)
    assert cuts_of(work.submit, schedule.start).size > 10
    random, shorter = np.random.default_rng(1), 0
    for job in np.flatnonzero(schedule.wait > 0)[::9].tolist():
        trials = Trials(schedule, policy, job, math.inf)
        for count in (1, 2, 3):
            some = random.choice(trials.others[-25:], count, replace=False).tolist()
            found, whole = trials.start_without(some), start_without(work, policy, job, some)
            assert found is not None
            assert min(found, trials.start) == min(whole, trials.start)
        shorter += all(one is None or one.cut > 0 for one in trials.windows.values())
        for other in random.choice(trials.others, 5).tolist():
            if trials.is_forgotten(other):
                assert start_without(work, policy, job, [other]) >= trials.start
    assert shorter > 5


def test_every_fourth_set_is_of_more_than_one_job() -> None:
    """A wide job that waits for two narrow ones starts earlier only without both."""
    found = explained([(0, 9, 9, 1), (0, 9, 9, 1), (1, 5, 5, 2)], 2, "fcfs+easy", 2)
    assert found.cause is not None
    assert (found.cause.kind, found.cause.jobs, found.cause.start) == ("smallest", (0, 1), 1)
    rows = [*[(0, 9, 9, 1)] * 6, (1, 5, 5, 6)]
    found = explained(rows, 6, "fcfs+easy", 6)
    assert found.cause is not None
    assert (found.cause.kind, found.cause.jobs) == ("minimal", tuple(range(6)))
    assert (found.cause.tried, found.cause.candidates, found.cause.of) == (3, 6, 6)


NETWORK = Network([4, 2], ["north", "south"], [1_000_000, 1_000_000])


def on_network(rows: Rows, origin: list[int], platform: Platform = NETWORK) -> Workload:
    work = workload(6, rows)
    asked = {"communication": 0, "bandwidth": 0, "alltoall": 0, "origin": np.array(origin)}
    given = {name: np.broadcast_to(value, len(rows)).copy() for name, value in asked.items()}
    return replace(work, platform=platform, **given)


def test_a_cluster_alone_is_explained_by_its_own_jobs() -> None:
    """Under isolation the jobs of other clusters neither run, wait nor pass in its queue."""
    rows = [(0, 9, 9, 4), (0, 9, 9, 2), (1, 5, 5, 4), (1, 5, 5, 2), (2, 3, 3, 1)]
    schedule = simulate(on_network(rows, [0, 1, 0, 1, 1]), "fcfs+isolated(10)")
    found = explain(schedule, 3, effort=math.inf)
    assert {one.job: one.roles for one in found.others} == {1: ("running",)}
    assert found.cause is not None
    assert (found.cause.kind, found.cause.jobs, found.cause.of) == ("smallest", (1,), 2)
    text = found.text()
    assert "run 5 s, of south" in text
    assert "started at 9 s on south: waited" in text
    assert "6 of 6 processors in use: north 4 of 4, south 2 of 2" in text
    assert "it did not start: its reservation on south" in text
    assert found.facts()["job"]["places"] == {"south": 2}
    assert found.facts()["job"]["origin"] == "south"


def test_other_resources_are_part_of_an_explanation() -> None:
    work = workload(4, [(0, 9, 9, 1), (1, 5, 5, 1)])
    work = replace(work, platform=Resources(4, {"gpus": 2}), gpus=np.array([2, 1]))
    text = explain(simulate(work, "fcfs+easy"), 1, effort=math.inf).text()
    assert "job 2: 1 processor, 1 GPUs" in text
    assert "1 of 4 processors in use, 2 of 2 GPUs" in text
    assert "it did not start: only 0 GPUs are free" in text
    assert "job 1 (1 processor, 2 GPUs)" in text


def test_a_replay_that_would_take_long_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The report says that the reason is missing; everything else is there."""
    monkeypatch.setattr(situation, "FOLLOWED", 1)
    work = on_network([(0, 9, 9, 4), (1, 5, 5, 4)], [0, 0])
    found = explain(simulate(work, "fcfs+isolated(10)"), 1)
    assert {held.why for held in found.held} == {None}
    assert "not known: a replay of 2 jobs would take seconds; the limit is 1" in found.text()


def test_a_search_that_is_cut_short_says_so() -> None:
    work = workload(6, [*[(0, 9, 9, 1)] * 6, (1, 5, 5, 6)])
    schedule = simulate(work, "fcfs+easy")
    cause = cause_of(Trials(schedule, Policy.parse("fcfs+easy"), 6, 0))
    assert (cause.kind, cause.jobs, cause.tried) == ("minimal", tuple(range(6)), 0)
    found = explain(schedule, 6, effort=0)
    assert "not all single jobs were tried" in found.text()


def test_a_reduction_that_is_cut_short_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(causes, "REDUCTION", 0.0)
    schedule = simulate(workload(6, [*[(0, 9, 9, 1)] * 6, (1, 5, 5, 6)]), "fcfs+easy")
    cause = cause_of(Trials(schedule, Policy.parse("fcfs+easy"), 6, 0))
    assert (cause.kind, cause.jobs, cause.start) == ("sufficient", tuple(range(6)), 1)


def test_the_reasons_are_those_of_the_rule() -> None:
    """At its submission the job waits for a reservation, at its start a job ended early."""
    rows = [(0, 7, 10, 3), (1, 5, 5, 4), (2, 20, 20, 1)]
    found = explained(rows, 4, "fcfs+easy", 2)
    at_first, at_last = found.held
    assert (at_first.instant, at_first.head, at_first.shadow, at_first.extra) == (2, 1, 10, 0)
    assert at_first.why is not None
    assert at_first.why.startswith("by its estimate it ends at 22, past the shadow time 10")
    assert (at_last.instant, at_last.why) == (7, "it needs 1 processors, 0 are free")
    assert (found.start, found.ended, found.arrived) == (12, (1,), ())
    assert {other.job: (other.roles, other.gain) for other in found.others} == {
        0: (("running",), 6),
        1: (("ahead",), 10),
    }
    text = found.text()
    assert "1 job ahead of it in the queue; order fcfs" in text
    assert "smallest set: without 1 job it starts at 2 s, 10 s earlier: job 2" in text


def test_jobs_that_pass_are_named_and_those_that_delay() -> None:
    """The third starts from behind the second, and holds what that needs when the first ends."""
    rows = [(0, 10, 30, 3), (1, 5, 5, 4), (2, 20, 20, 1)]
    found = explained(rows, 4, "fcfs+easy", 1)
    assert [(one.job, one.roles, one.gain) for one in found.others] == [
        (0, ("running",), 21),
        (2, ("passed",), 12),
    ]
    assert (found.fair, found.start) == (10, 22)
    assert "1 passed it from behind, 1 of which delayed it" in found.text()


def test_jobs_that_come_later_and_go_ahead_are_named() -> None:
    found = explained([(0, 10, 10, 4), (1, 9, 9, 4), (2, 5, 5, 4)], 4, "spf+easy", 1)
    assert [(one.job, one.roles, one.gain) for one in found.others] == [
        (0, ("running",), 14),
        (2, ("later",), 5),
    ]
    assert "1 came later and went ahead of it, 1 of which delayed it" in found.text()


@pytest.mark.parametrize(
    ("policy", "promised"), [("fcfs+conservative", 9), ("fcfs+planned", 9), ("fcfs+easy", None)]
)
def test_promised_starts(policy: str, promised: int | None) -> None:
    found = explained([(0, 4, 9, 2), (1, 2, 2, 2)], 2, policy, 1)
    assert (found.promised, found.fair, found.start) == (promised, 4, 4)
    assert found.facts()["ended_at_start"][0]["early"] == 5


@given(work=workloads(max_jobs=8))
def test_every_job_has_facts_and_a_text(work: Workload) -> None:
    for policy in ("spf+easy", "lxf+conservative", "fair-share+aggressive", "fcfs+planned"):
        schedule = simulate(work, policy)
        for job in range(len(work)):
            found = explain(schedule, job)
            assert found.facts()["job"]["wait"] == schedule.wait[job]
            assert str(found).count("never waited") == (schedule.wait[job] == 0)


def test_a_schedule_of_another_policy_is_named() -> None:
    work = workload(4, [(0, 10, 10, 3), (1, 10, 10, 4), (2, 5, 5, 1)])
    found = explain(simulate(work, "fcfs+easy"), 1, "fcfs+none")
    assert found.cause is None
    assert found.departure is not None
    assert found.departure.startswith("the schedule is not that of fcfs+none: job 3, submitted at")
    assert found.departure in found.text()


def test_what_cannot_be_explained_is_refused() -> None:
    schedule = simulate(workload(4, [(0, 10, 10, 3)]), "fcfs+easy")
    for job, policy, said in (
        (1, None, "job=1: the workload has jobs 0 to 0"),
        (-1, None, "job=-1: give a whole number, at least 0"),
        (0, "fcfs+logged", "decides nothing"),
        (0, "fcfs+eazy", "unknown rule 'eazy'"),
    ):
        with pytest.raises(InputError, match=said):
            explain(schedule, job, policy)
    with pytest.raises(InputError, match="does not name its policy"):
        explain(replace(schedule, policy=""), 0)


def limited(policy: str, job: int) -> Explanation:
    """Explain a job of four on 4 processors, two of which are of one user."""
    work = Workload.from_columns(
        submit=[0, 1, 2, 3], run=[10, 10, 5, 5], estimate=[10, 10, 5, 5], procs=[1, 1, 4, 1],
        user=[1, 1, 2, 3], group=[1] * 4, queue=[1] * 4, processors=4,
    )  # fmt: skip
    return explain(simulate(work, policy), job)


@pytest.mark.parametrize("rule", ["easy", "conservative"])
def test_a_job_outside_of_the_queue_is_explained_by_its_limit(rule: str) -> None:
    """The second waits outside while the first runs, and is not ahead of the third."""
    policy = f"fcfs+{rule},limits=(root.MaxSubmitJobs=1)"
    (held,) = {one.why for one in limited(policy, 1).held}
    assert held == "root.MaxSubmitJobs=1 keeps it out of the queue"
    third = limited(policy, 2)
    assert not any("ahead" in other.roles for other in third.others)
    assert (third.held[0].head, third.held[0].shadow) == (2, 10)


def test_a_held_job_is_not_the_head() -> None:
    policy = "fcfs+easy,limits=(root.MaxJobs=1)"
    second = limited(policy, 1)
    assert second.held[0].why == "with 1 in use and 1 more it would exceed root.MaxJobs=1"
    assert (second.held[0].head, second.held[0].shadow) == (None, None)
    assert "the head" not in second.text().partition("in the last pass")[0]
    assert (second.held[1].head, second.held[1].shadow) == (2, 10)
