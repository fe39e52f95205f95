"""Orders by what users had: against slow functions, on a log, and their exact ratios."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from schedfarm.core.audit import audit
from schedfarm.core.engine.compiled_order import Orders
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.engine.user_ranking import rank_waiting
from schedfarm.core.policy.policy import Policy
from schedfarm.core.workload.workload import Workload
from tests.oracles.case import workload
from tests.oracles.programs import moved
from tests.support.golden import read_log
from tests.support.strategies import BACKFILLING, RULES, SHARING, crowd, policies, workloads

MODULE = f"{__name__}:"

KTH = "KTH-SP2-1996-2.1-cln.swf.gz"


def test_there_are_two() -> None:
    """What follows holds for both of them."""
    assert SHARING == ("fair-share", "fair-usage")


def test_work_is_halved_in_processors_not_in_units_of_them() -> None:
    """All widths are even: 6 processor-seconds are halved to 3, 4 to 2, which units do not tell."""
    rows = ((0, 1, 1, 6, 1), (0, 1, 1, 4, 2), (1, 1, 1, 8, 1), (1, 1, 1, 8, 2), (0, 2, 2, 8, 3))
    for rule in ("easy", "conservative", "planned,walk=queue"):
        policy = f"fair-usage+{rule},halflife=3s"
        verdict = audit(simulate(workload(10, rows), policy), policy)
        assert verdict.ok, verdict.why


def assert_audited(work: Workload, policy: str, nth: int) -> None:
    """The schedule passes; with the nth waiting job started a second later, that is blamed."""
    schedule = simulate(work, policy)
    verdict = audit(schedule, policy)
    assert verdict.ok, verdict.why
    job = int(np.flatnonzero(schedule.wait > 0)[nth])
    verdict = audit(moved(schedule, job, 1), policy)
    assert (verdict.job, verdict.instant) == (job, schedule.start[job])


def ranks(numbers: list[Fraction]) -> np.ndarray:
    return np.unique(np.array(numbers, object), return_inverse=True)[1]


def most(waited: np.ndarray, worked: np.ndarray) -> np.ndarray:
    """Order as fair-share does, by fractions."""
    pairs = zip(waited.tolist(), worked.tolist(), strict=True)
    return ranks([-Fraction(w, max(k, 1)) for w, k in pairs])


def fewest(worked: np.ndarray) -> np.ndarray:
    """Order as fair-usage does."""
    return worked


SLOW = {"fair-share": most, "fair-usage": fewest}
"""The same orders as functions of one's own."""


def slow(policy: Policy) -> Policy:
    """Return the policy with functions in place of the orders that share."""
    named = {order: MODULE + function.__name__ for order, function in SLOW.items()}
    order, backfill = (named.get(str(one), one) for one in (policy.order, policy.backfill))
    return replace(policy, order=order, backfill=backfill, refresh=None, halflife=None)


@pytest.mark.parametrize("rule", [rule for rule in RULES["pool"] if rule != "tabu"])
@given(work=workloads(max_jobs=30), data=st.data())
def test_a_function_of_the_sums_is_the_same_order(
    rule: str, work: Workload, data: st.DataObject
) -> None:
    """A user's own order is handed the same sums, by Python, as the kernels keep."""
    second = data.draw(st.none() | st.sampled_from(SHARING)) if rule in BACKFILLING else None
    for order in SHARING:
        drawn = data.draw(policies(order=order, rule=rule))
        policy = replace(drawn, backfill=second, refresh=None, halflife=None)
        schedule, expected = simulate(work, policy), simulate(work, slow(policy))
        assert schedule.start.tolist() == expected.start.tolist(), policy.name
        assert schedule.backfilled.tolist() == expected.backfilled.tolist(), policy.name
        mixed = simulate(work, replace(slow(policy), backfill=second))
        assert mixed.start.tolist() == expected.start.tolist(), policy.name


@pytest.mark.parametrize("order", SHARING)
def test_another_order_or_option_is_refuted(order: str) -> None:
    """No two of them, and no two values of their options, give this crowd one schedule."""
    work = crowd(3, 150)
    told = [f"{other}+easy" for other in SHARING]
    told += [f"{order}+easy,refresh=20s", f"{order}+easy,refresh=21s"]
    told += [f"{order}+easy,halflife=50s", f"{order}+easy,halflife=51s"]
    for policy in told:
        schedule = simulate(work, policy)
        kept = [other for other in told if audit(schedule, other).ok]
        assert kept == [policy]


@pytest.mark.parametrize("rule", ["aggressive", "easy", "conservative"])
def test_a_log_passes_and_a_second_does_not(traces: Path, rule: str) -> None:
    """Jobs of many users; the auditor names one of them that starts later."""
    work = read_log(traces, KTH, jobs=1000 if rule == "conservative" else 2000)
    for order in SHARING:
        assert_audited(work, f"{order}+{rule}", 50)


@given(
    sums=st.lists(
        st.tuples(
            *[st.integers(0, 3) | st.integers(2**53 - 2, 2**53 + 2) | st.integers(0, 2**62)] * 2
        ),
        min_size=1,
        max_size=8,
    ),
    order=st.sampled_from(SHARING),
)
def test_ratios_are_compared_exactly(sums: list[tuple[int, int]], order: str) -> None:
    """Sums whose products, and quotients, no machine number holds; nearly equal ones are made."""
    sums += [(a + 1, b) for a, b in sums] + [(3 * a // 2, 3 * b // 2) for a, b in sums[:2]]
    n = len(sums)
    work = workload(1, [(0, 1, 1, 1, user) for user in range(n)])
    orders = Orders(work, Policy(order, "easy"))
    assert orders.sharing is not None
    shares = orders.sharing.shares
    waited, worked = np.array(sums, np.int64).T.copy()
    shares.seen_waited[:], shares.seen_worked[:] = waited, worked
    exact = [a < 2**53 and b < 2**53 for a, b in sums]
    for u, (a, b) in enumerate(sums):
        shares.quotient[u] = a / max(b, 1) if exact[u] else np.nan
    rank_waiting(orders.sharing, orders.rankings, np.arange(n))
    told = {"worked": worked} if order == "fair-usage" else {"waited": waited, "worked": worked}
    expected = SLOW[order](**told)
    order_of = np.argsort(expected, kind="stable").tolist()
    assert np.argsort(orders.rankings.queue.key, kind="stable").tolist() == order_of
