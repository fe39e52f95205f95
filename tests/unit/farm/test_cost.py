"""What is planned with: finite for every policy, and never less for more of the same."""

from __future__ import annotations

import math
from itertools import pairwise, product
from operator import le, lt

import pytest

from schedfarm.core.names import aliased
from schedfarm.core.policy import orders
from schedfarm.core.policy.orders import ORDERS
from schedfarm.core.policy.rules import ALIASES, RULES, find_rule
from schedfarm.farm.planning.cost import (
    cell_seconds,
    promise_seconds,
    relaxed_seconds,
    resource_seconds,
    strict_seconds,
)

JOBS = (0, 1, 50, 300, 3_300, 16_000, 80_000, 2_000_000)
LOADS = ("0.1", "0.5", "0.7", "0.9", "1.1", "2", "10", "1e300")
KINDS = (strict_seconds, relaxed_seconds, resource_seconds, promise_seconds)
OWN = "tests.support.strategies:by_share"


def goes_with(rule: str, order: str) -> bool:
    """Whether the rule's own row takes the order, without options."""
    check = find_rule(aliased(rule.replace("K", "4"), ALIASES)).check
    return check is None or check(aliased(order, orders.ALIASES), {}) is None


POLICIES = tuple(
    f"{order}+{rule.replace('K', '4')}"
    for order in (*ORDERS, "sjf", OWN)
    for rule in (*RULES, "bf")
    if goes_with(rule, order)
) + (
    "fcfs+depth(1)",
    "saf+depth(100000)",
    "fcfs+planned,walk=arrival,events=per-event",
    "spf+none,threshold=0s",
    "SJF+easy,threshold=72h,backfill=saf,events=per-event",
    f"fcfs+easy,backfill={OWN}",
    "laf+depth(16),threshold=3x,backfill=lxf",
    "laf+conservative,threshold=90s",
)


def numbers(value: object) -> list[float]:
    """Return the numbers in nested tuples."""
    if isinstance(value, tuple):
        return [number for one in value for number in numbers(one)]
    assert isinstance(value, float), value
    return [value]


def test_no_rate_is_negative() -> None:
    """A negative rate would hide behind the others in every sum that the tests below compare."""
    rows = {**ORDERS, **RULES, "scanned": orders.LOOKED_THROUGH}
    rates = {name: numbers(getattr(row, "cost", row)) for name, row in rows.items()}
    assert {name: row for name, row in rates.items() if min(row) < 0} == {}
    assert sum(map(len, rates.values())) == 6 * len(rates)


def fair(jobs: int, policy: str, load: str) -> list[float]:
    return [seconds(jobs, policy, load, jobs) for seconds in KINDS]


def costs(policy: str, jobs: int, load: str) -> list[float]:
    """Return the cost of a cell and of each kind of its fair start times."""
    return [cell_seconds(jobs, policy, load), *fair(jobs, policy, load)]


def test_every_policy_costs_a_positive_finite_time() -> None:
    """Whatever the grammar allows can be planned, from no jobs to millions, at any load."""
    cases = product(POLICIES, JOBS, ("original", *LOADS))
    offenders = [
        case
        for case in cases
        if not all(math.isfinite(value) and value > 0 for value in costs(*case))
    ]
    assert offenders == []


def test_more_jobs_cost_more() -> None:
    """From one job on, each kind of cost grows with them."""
    cases = product(POLICIES, pairwise(JOBS[1:]), ("original", "0.5", "1.1"))
    offenders = [
        (policy, few, many, load)
        for policy, (few, many), load in cases
        if not all(map(lt, costs(policy, few, load), costs(policy, many, load)))
    ]
    assert offenders == []


def test_higher_load_costs_no_less() -> None:
    """Longer queues take longer; those of many jobs under reservations by far."""
    cases = product(POLICIES, JOBS, pairwise(LOADS))
    offenders = [
        (policy, jobs, low, high)
        for policy, jobs, (low, high) in cases
        if not all(map(le, costs(policy, jobs, low), costs(policy, jobs, high)))
    ]
    assert offenders == []


def test_long_overloaded_cell_costs_more_a_job_than_a_short_one() -> None:
    """Above load 1 a queue grows as long as jobs come; at 0.5 it does not."""
    policy = "fcfs+conservative"
    many, few = 80_000, 3_300
    for load, least, most in (("0.5", 0.5, 1.5), ("1.1", 5, 30)):
        each = [cell_seconds(jobs, policy, load) / jobs for jobs in (few, many)]
        assert least < each[1] / each[0] < most


def test_a_log_as_it_is_counts_as_load_0_7() -> None:
    """The label of the original load has no number."""
    for policy in POLICIES:
        assert cell_seconds(5_000, policy, "original") == cell_seconds(5_000, policy, "0.7")
        assert fair(5_000, policy, "original") == fair(5_000, policy, "0.7")


@pytest.mark.parametrize("rule", ["none", "aggressive", "easy", "depth(4)", "conservative"])
@pytest.mark.parametrize("load", ["0.5", "0.9", "1.1"])
def test_moving_orders_cost_no_less_than_fixed_and_own_ones_most(rule: str, load: str) -> None:
    """A queue that is kept in order is quicker than one looked through, or handed to Python."""
    for jobs in JOBS:
        for cost in (cell_seconds, strict_seconds):
            fixed, moving, own = (
                cost(jobs, f"{o}+{rule}", load, jobs) for o in ("spf", "lxf", OWN)
            )
            assert fixed <= moving < own


def test_deeper_reservations_cost_more_up_to_all() -> None:
    """Conservative is the depth that nothing exceeds."""
    depths = [f"fcfs+depth({k})" for k in (1, 4, 16, 64, 1024)]
    for cost in (cell_seconds, strict_seconds):
        values = [cost(80_000, policy, "0.9", 80_000) for policy in depths]
        assert values == sorted(values)
        assert values[0] < values[1] < values[2]
        assert values[-1] <= cost(80_000, "fcfs+conservative", "0.9", 80_000)


@pytest.mark.parametrize("policy", ["saf+easy", "lxf+conservative", "fcfs+planned", f"{OWN}+easy"])
def test_pieces_of_a_cell_cost_about_the_whole(policy: str) -> None:
    """A piece meets the whole cell's queue: it costs its share, and the schedule beside it."""
    jobs, pieces = 16_000, 8
    whole = strict_seconds(jobs, policy, "0.9", jobs)
    piece = strict_seconds(jobs // pieces, policy, "0.9", jobs)
    assert whole / pieces <= piece <= whole / pieces + 2 * cell_seconds(jobs, policy, "0.9")


def test_fairness_without_kernels_grows_faster_than_its_jobs() -> None:
    """Where each job takes a simulation, a cell of ten times the jobs takes 100 times as long."""
    for seconds, least in ((strict_seconds, 90), (relaxed_seconds, 1000)):
        policy = f"{OWN}+planned,walk=queue"
        few, many = (seconds(n, policy, "0.7", n) for n in (20_000, 200_000))
        assert many / few > least
