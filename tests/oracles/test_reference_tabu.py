"""The reference of searched plans: by hand, and by what must hold whatever the jobs."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings, strategies as st

from schedfarm.core.policy.policy import Policy
from schedfarm.core.reference import rules
from schedfarm.core.reference.criteria import (
    ROUNDING,
    Stay,
    is_better,
    response,
    slowdown,
    unfairness,
    wait,
)
from schedfarm.core.reference.draws import M1, MRG32k3a
from schedfarm.core.reference.loop import simulate_reference, simulation_of
from schedfarm.core.reference.plan import Plan
from schedfarm.core.reference.processors import Claim, Processors
from schedfarm.core.reference.tabu import Tabu
from schedfarm.core.workload.workload import Workload
from tests.support.strategies import simulations

Rows = list[tuple[int, int, int, int]]
"""Jobs as (submit, run, estimate, procs)."""


def workload(rows: Rows, processors: int, users: list[int] | None = None) -> Workload:
    submit, run, estimate, procs = zip(*rows, strict=True)
    return Workload.from_columns(
        submit=submit, run=run, estimate=estimate, procs=procs, user=users, processors=processors
    )


def test_the_stream() -> None:
    """The first numbers of MRG32k3a with all seeds 12345, as everywhere."""
    draws = MRG32k3a(12_345)
    found = [draws.next() / (M1 + 1) for _ in range(6)]
    printed = [0.12701112, 0.31852757, 0.30918602, 0.82584686, 0.22162992, 0.53339539]
    assert found == pytest.approx(printed, abs=5e-9)


def test_a_place_is_drawn_by_whole_numbers() -> None:
    """The fourth number is the first that is above a half."""
    draws = MRG32k3a(12_345)
    assert [draws.place(2) for _ in range(4)] == [0, 0, 0, 1]


def drawn(rows: Rows, processors: int, policy: str) -> int:
    """Count how many numbers a whole simulation draws."""
    simulation = simulation_of(workload(rows, processors), policy)
    assert isinstance(simulation, Tabu)
    simulation.run()
    draws, count = MRG32k3a(12_345), 0
    while draws.x != simulation.draws.x:
        draws.next()
        count += 1
    return count


@pytest.mark.parametrize(
    ("options", "count"),
    [
        # One waits at 5: drawn, then alone in the list, which is emptied; drawn again.
        ("iterations=3", 2),
        ("iterations=3x", 2),
        ("iterations=3,tenure=1", 2),
        ("iterations=3,tenure=0", 3),
        ("iterations=3,search=random", 6),
        ("iterations=3,search=gap", 0),
    ],
)
def test_what_is_drawn(options: str, count: int) -> None:
    """Numbers of a search of one waiting job, at 5; at 9 it starts."""
    rows: Rows = [(0, 9, 9, 1), (1, 10, 10, 1)]
    assert drawn(rows, 1, f"fcfs+tabu,every=5s,{options}") == count


def test_an_instant_has_one_search() -> None:
    """At 5 the job of run 0 starts and ends, and another pass is made."""
    rows: Rows = [(0, 7, 7, 1), (1, 2, 2, 2), (5, 0, 0, 1)]
    assert drawn(rows, 2, "fcfs+tabu,every=5s,iterations=1") == 1


def test_a_tabu_job_is_drawn_again() -> None:
    """Of two jobs the first move takes one; the second draws until it has the other."""
    rows: Rows = [(0, 6, 6, 1), (1, 1, 1, 1), (1, 1, 1, 1)]
    # 0, then 0 and 0 again, then 1: both are in the list.
    assert drawn(rows, 1, "fcfs+tabu,every=5s,iterations=2") == 4
    assert drawn(rows, 1, "fcfs+tabu,every=5s,iterations=2,tenure=0") == 2
    # With room for one, the first is free again after the other: .22 is the first place.
    assert drawn(rows, 1, "fcfs+tabu,every=5s,iterations=3,tenure=1") == 5
    assert drawn(rows, 1, "fcfs+tabu,every=5s,iterations=3,tenure=2") == 4


# Whatever the jobs.


def over(processors: Processors, claims: list[Claim]) -> bool:
    """Whether claims that last take more processors than exist at the start of one of them."""
    lasting = [claim for claim in claims if claim.end > claim.begin]
    return any(processors.free_at(claim.begin, claims) < 0 for claim in lasting)


def test_no_searched_plan_takes_more_than_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every plan that is compared, with the running jobs, in every cluster, has every job."""
    better, seen = Tabu.better, 0

    def watched(self: Tabu, best: Plan, other: Plan) -> Plan:
        nonlocal seen
        seen += 1
        assert set(best) == set(other) == set(self.waiting)
        claims = [*self.running_claims(), *other.values()]
        assert isinstance(self, rules.Clusters)
        for place, cluster in enumerate(self.clusters):
            assert not over(cluster, [claim for claim in claims if claim.place == place])
        return better(self, best, other)

    monkeypatch.setattr(Tabu, "better", watched)

    @settings(max_examples=4 * settings.default.max_examples)
    @given(simulations("pool", "tabu") | simulations("grid", "tabu"))
    def search(drawn: tuple[Workload, Policy]) -> None:
        found = simulate_reference(*drawn)
        assert (found.start >= found.workload.submit).all()

    search()
    assert seen > 5


# Which plan is better.

JOBS = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 6), st.integers(1, 4), st.integers(-1, 3)),
    min_size=1,
    max_size=6,
)
"""Wait, length, processors and user of each job."""

WEIGHTS = st.lists(
    st.sampled_from(["0", "1", "0.5", "10", "0.000001"]).map(Fraction), min_size=4, max_size=4
)

Plain = list[tuple[int, int, int, int]]


def stays(jobs: Plain) -> list[Stay]:
    return [Stay(*job) for job in jobs]


def values(jobs: Plain) -> list[Fraction]:
    found = stays(jobs)
    return [slowdown(found), wait(found), response(found), unfairness(found)]


def plain(jobs: Plain) -> list[Fraction]:
    """Return the criteria of a whole plan by other formulas: F as the sum of squares less that of
    the mean."""
    waits = responses = 0
    slowed = Fraction(0)
    of_users: dict[int, list[int]] = {}
    for waited, length, procs, user in jobs:
        waits += waited
        responses += waited + length
        # With a length of 0 s a wait of up to 1 s is none to speak of.
        slowed += 1 + Fraction(waited, length) if length else max(waited, 1)
        had = of_users.setdefault(user, [0, 0])
        had[0] += waited
        had[1] += length * procs
    normal = [Fraction(waited, area or 1) for waited, area in of_users.values()]
    squares = sum((one * one for one in normal), Fraction(0))
    return [
        slowed,
        Fraction(waits),
        Fraction(responses),
        squares - sum(normal) ** 2 / Fraction(len(normal)),
    ]


def plainly_better(best: list[Fraction], other: list[Fraction], weights: list[Fraction]) -> bool:
    """Decide by the ratio of each criterion to what it was."""
    total = Fraction(0)
    for was, becomes, weight in zip(best, other, weights, strict=True):
        if was:
            total += weight * (1 - becomes / was)
        elif becomes:
            total -= weight
    return total * 10**12 > 1


@given(best=JOBS, moved=st.lists(st.integers(0, 9), min_size=6, max_size=6), weights=WEIGHTS)
def test_better_is_what_whole_plans_say(
    best: Plain, moved: list[int], weights: list[Fraction]
) -> None:
    """Two plans of the same jobs with other waits, evaluated from nothing by other formulas."""
    other = [(waited, *job[1:]) for waited, job in zip(moved, best, strict=False)]
    assert values(best) == plain(best)
    expected = plainly_better(plain(best), plain(other), weights)
    assert is_better(values(best), values(other), weights) == expected


VALUES = st.lists(st.fractions(0, 5, max_denominator=6), min_size=4, max_size=4)


@given(one=VALUES, other=VALUES, weights=WEIGHTS)
def test_no_two_plans_are_better_than_each_other(
    one: list[Fraction], other: list[Fraction], weights: list[Fraction]
) -> None:
    """A ratio and its reciprocal add up to 2 or more; and no plan is better than itself."""
    assert not (is_better(one, other, weights) and is_better(other, one, weights))
    assert not is_better(one, one, weights)


@given(one=VALUES, other=VALUES, weights=WEIGHTS)
def test_less_of_all_is_better(
    one: list[Fraction], other: list[Fraction], weights: list[Fraction]
) -> None:
    """Where nothing is more and something that weighs is less, by more than rounding."""
    less = [min(a, b) for a, b in zip(one, other, strict=True)]
    assume(any(w and a > b for w, a, b in zip(weights, one, less, strict=True)))
    assert is_better(one, less, weights)


@pytest.mark.parametrize(("gain", "expected"), [(ROUNDING, False), (ROUNDING * 2, True)])
def test_what_is_below_rounding_is_no_gain(gain: Fraction, expected: bool) -> None:
    """Exactly 10^-12 is not above it."""
    one = [Fraction(1)] * 4
    other = [1 - gain, *one[1:]]
    assert is_better(one, other, [Fraction(1)] * 4) is expected


@given(jobs=JOBS)
def test_raised_fairness_adds_the_users(jobs: Plain) -> None:
    """The distances from a mean add up to 0, so F grows by 1 a user."""
    users = len({user for *_, user in jobs})
    assert unfairness(stays(jobs), raised=True) == users + unfairness(stays(jobs))


def counted(policy: str, pick: Callable[[list[Fraction]], Fraction]) -> Fraction:
    """Return a criterion at 10, when one job has completed, one runs and two wait.

    In the plan the third job, of user 1, starts at 24, the fourth, of user 2, at 28.
    """
    rows: Rows = [(0, 4, 6, 1), (2, 16, 20, 1), (5, 4, 4, 1), (6, 2, 2, 1)]
    simulation = simulation_of(workload(rows, 1, [1, 2, 1, 2]), policy)
    assert isinstance(simulation, Tabu)
    while simulation.now < 10:
        simulation.step(*simulation.next_event())
    assert [job.number for job in simulation.completed] == [1]
    assert [job.number for job in simulation.running] == [2]
    return pick(simulation.values(simulation.plan))


def test_which_jobs_count() -> None:
    """Completed ones with what they ran, running ones with their estimate; alone, or not."""
    policy = "fcfs+tabu,every=10s,iterations=0"
    assert counted(policy, lambda v: v[1]) == 19 + 22
    assert counted(policy, lambda v: v[2]) == 19 + 4 + 22 + 2
    assert counted(f"{policy},jobs=all", lambda v: v[1]) == 0 + 2 + 19 + 22
    assert counted(f"{policy},jobs=all", lambda v: v[2]) == 4 + 22 + 23 + 24
    slowdowns = 1 + Fraction(22, 20) + Fraction(23, 4) + 12
    assert counted(f"{policy},jobs=all", lambda v: v[0]) == slowdowns
    # Of two users F is half the squared difference.
    everyone = (Fraction(19, 4 + 4) - Fraction(2 + 22, 20 + 2)) ** 2 / 2
    alone = (Fraction(19, 4) - Fraction(22, 2)) ** 2 / 2
    assert counted(policy, lambda v: v[3]) == everyone
    assert counted(f"{policy},users=plan", lambda v: v[3]) == alone
    assert counted(f"{policy},users=plan,fairness=raised", lambda v: v[3]) == 2 + alone
