"""Orders that share by what users got: by hand, by the auditor, and against a slow function."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.audit import audit
from core.kernels.users_line import rank_waiting
from core.logs.swf import read_swf
from core.policy.orders import ORDERS
from core.policy.policy import Policy
from core.reference.fair_start import fair_start_reference
from core.simulation.compiled_order import Orders
from core.simulation.fair_start import KINDS, fair_start_times
from core.simulation.simulate import simulate
from core.workload.workload import Workload
from tests.strategies import BACKFILLING, RULES, THRESHOLDS, crowd, workloads

Row = tuple[int, int, int, int, int]

MODULE = f"{__name__}:"

SHARING = tuple(name for name, row in ORDERS.items() if row.shares)

ANY_RULE = (*RULES, "planned,walk=queue")

CLOCKS = ("", ",events=per-event")


def built(processors: int, *rows: Row) -> Workload:
    """Make a workload of rows of (submit, run, estimate, procs, user)."""
    submit, run, estimate, procs, user = zip(*rows, strict=True)
    return Workload.from_columns(
        submit=submit, run=run, estimate=estimate, procs=procs, user=user, processors=processors
    )


def starts(policy: str, processors: int, *rows: Row) -> list[int]:
    """Simulate rows, and have the auditor agree."""
    schedule = simulate(built(processors, *rows), policy)
    verdict = audit(schedule, policy)
    assert verdict.ok, verdict.why
    return [int(s) for s in schedule.start]


def test_there_are_three() -> None:
    """What follows holds for all of them."""
    assert SHARING == ("fair-share", "fair-wait", "fair-usage")


@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("other", [3, -1])
def test_who_has_no_completed_job_has_0(rule: str, clock: str, other: int) -> None:
    """At 6 user 2 has waited 4 s for 2 s of work; the other, known or not, has nothing."""
    rows = ((0, 4, 4, 1, 1), (0, 2, 2, 1, 2), (1, 1, 1, 1, 2), (2, 1, 1, 1, other))
    assert starts(f"fair-share+{rule}{clock}", 1, *rows) == [0, 4, 7, 6]
    assert starts(f"fair-usage+{rule}{clock}", 1, *rows) == [0, 4, 7, 6]
    assert starts(f"fair-wait+{rule}{clock}", 1, *rows) == [0, 4, 6, 7]


@pytest.mark.parametrize("rule", RULES)
def test_two_jobs_of_the_unknown_user_are_of_one(rule: str) -> None:
    """At 6 the unknown user has had 4 + 2 s of work, user 3 has had nothing."""
    rows = ((0, 4, 4, 1, -1), (0, 2, 2, 1, -1), (1, 1, 1, 1, -1), (5, 1, 1, 1, 3))
    assert starts(f"fair-usage+{rule}", 1, *rows) == [0, 4, 7, 6]


@pytest.mark.parametrize("rule", RULES)
def test_who_did_no_work_has_0(rule: str) -> None:
    """At 5 user 2's job of run 0 waited 4 s for no work: no more than user 1's 0 / 5."""
    rows = ((0, 5, 5, 1, 1), (1, 0, 3, 1, 2), (2, 1, 1, 1, 1), (3, 1, 1, 1, 2))
    assert starts(f"fair-wait+{rule}", 1, *rows) == [0, 5, 5, 6]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("first", [1, 2])
def test_equal_ratios_go_by_submission(rule: str, first: int) -> None:
    """At 12 user 1 has 2 / 4 and user 2 has 3 / 6, whoever came first."""
    rows = [(0, 2, 2, 1, 9), (0, 4, 4, 1, 1), (3, 6, 6, 1, 2)]
    rows += [(4, 1, 1, 1, first), (5, 1, 1, 1, 3 - first)]
    assert starts(f"fair-share+{rule}", 1, *rows) == [0, 2, 6, 12, 13]
    # A second more of wait, and user 2 has 4 / 6.
    rows[2] = (2, 6, 6, 1, 2)
    expected = [12, 13] if first == 1 else [13, 12]
    assert starts(f"fair-share+{rule}", 1, *rows) == [0, 2, 6, *expected]


@pytest.mark.parametrize("begin", [0, 7])
@pytest.mark.parametrize("rule", RULES)
def test_a_refresh_sees_the_completions_of_its_instant(rule: str, begin: int) -> None:
    """At 5 s after the first submission user 1's first job has just ended."""
    rows = ((0, 5, 5, 1, 1), (1, 3, 3, 1, 1), (2, 1, 1, 1, 2))
    later = [(begin + submit, *row) for submit, *row in rows]
    for refresh, expected in (("5s", [0, 6, 5]), ("6s", [0, 5, 8])):
        told = starts(f"fair-usage+{rule},refresh={refresh}", 1, *later)
        assert told == [begin + start for start in expected]


@pytest.mark.parametrize("rule", RULES)
def test_between_refreshes_nothing_is_seen(rule: str) -> None:
    """What ended at 6 and 8 is seen at 10."""
    rows = ((0, 6, 6, 1, 1), (1, 2, 2, 1, 1), (2, 3, 3, 1, 2), (3, 1, 1, 1, 1), (4, 1, 1, 1, 2))
    assert starts(f"fair-usage+{rule}", 1, *rows) == [0, 10, 6, 12, 9]
    assert starts(f"fair-usage+{rule},refresh=5s", 1, *rows) == [0, 6, 8, 12, 11]


@pytest.mark.parametrize("rule", RULES)
def test_sums_are_halved_before_the_completions_of_the_instant(rule: str) -> None:
    """At 8 user 1 has 4 / 2 = 2, and user 2 the 4 of a job that has just ended."""
    rows = ((0, 4, 4, 1, 1), (0, 4, 4, 1, 2), (1, 2, 2, 1, 2), (2, 3, 3, 1, 1))
    assert starts(f"fair-usage+{rule}", 1, *rows) == [0, 4, 8, 10]
    assert starts(f"fair-usage+{rule},halflife=4s", 1, *rows) == [0, 4, 11, 8]


@pytest.mark.parametrize("rule", RULES)
def test_halves_are_rounded_down(rule: str) -> None:
    """At 2 user 1's 1 is halved to 0, and nobody has less."""
    rows = ((0, 1, 1, 1, 1), (0, 1, 1, 1, 3), (1, 1, 1, 1, 1), (1, 1, 1, 1, 2))
    assert starts(f"fair-usage+{rule}", 1, *rows) == [0, 1, 3, 2]
    assert starts(f"fair-usage+{rule},halflife=2s", 1, *rows) == [0, 1, 2, 3]


@pytest.mark.parametrize("rule", RULES)
def test_both_sums_are_halved(rule: str) -> None:
    """At 9 user 2 has had 2 halved for 6 halved, 1 / 3; user 1 has 1 / 4, which is less."""
    rows = [(0, 3, 3, 1, 3), (1, 6, 6, 1, 2), (8, 1, 1, 1, 2), (8, 1, 1, 1, 1)]
    assert starts(f"fair-share+{rule},halflife=3s", 1, *rows) == [0, 3, 10, 9]


def test_work_is_halved_in_processors_not_in_units_of_them() -> None:
    """All widths are even: 6 processor-seconds are halved to 3, 4 to 2, which units do not tell."""
    rows = ((0, 1, 1, 6, 1), (0, 1, 1, 4, 2), (1, 1, 1, 8, 1), (1, 1, 1, 8, 2), (0, 2, 2, 8, 3))
    for rule in ("easy", "conservative", "planned,walk=queue"):
        policy = f"fair-usage+{rule},halflife=3s"
        verdict = audit(simulate(built(10, *rows), policy), policy)
        assert verdict.ok, verdict.why


@pytest.mark.parametrize("rule", RULES)
def test_a_starving_job_goes_first(rule: str) -> None:
    """At 5 user 1's second job has waited 4 s."""
    rows = ((0, 5, 5, 1, 1), (1, 3, 3, 1, 1), (2, 1, 1, 1, 2))
    assert starts(f"fair-usage+{rule},threshold=4s", 1, *rows) == [0, 6, 5]
    assert starts(f"fair-usage+{rule},threshold=3s", 1, *rows) == [0, 5, 8]


@pytest.mark.parametrize("rule", ["none", "easy", "conservative"])
def test_both_completions_of_an_instant_count_or_one_at_a_time(rule: str) -> None:
    """At 4 both have worked 4; event by event, user 1 has when user 2 has not yet."""
    rows = ((0, 4, 4, 1, 1), (0, 4, 4, 1, 2), (2, 3, 3, 2, 1), (2, 5, 5, 1, 2))
    assert starts(f"fair-usage+{rule}", 2, *rows) == [0, 0, 4, 7]
    assert starts(f"fair-usage+{rule},events=per-event", 2, *rows) == [0, 0, 9, 4]


@pytest.mark.parametrize("queue", ["fcfs", f"{MODULE}by_submission"])
def test_a_backfill_order_may_share_too(queue: str) -> None:
    """At 4 one processor is free beside the head: user 1's job, who has worked nothing, gets it."""
    rows = ((0, 10, 10, 2, 3), (0, 4, 4, 1, 2), (1, 5, 5, 3, 3), (2, 3, 3, 1, 2), (3, 3, 3, 1, 1))
    assert starts(f"{queue}+easy", 3, *rows) == [0, 0, 10, 4, 7]
    assert starts(f"{queue}+easy,backfill=fair-usage", 3, *rows) == [0, 0, 10, 7, 4]
    assert starts(f"{queue}+easy,backfill=fair-usage,refresh=5s", 3, *rows) == [0, 0, 10, 4, 7]


def by_submission(submit: np.ndarray, now: int) -> np.ndarray:
    """Order as fcfs does, and be asked at each pass."""
    return submit


def ranks(numbers: list[Fraction]) -> np.ndarray:
    return np.unique(np.array(numbers, object), return_inverse=True)[1]


def least(waited: np.ndarray, worked: np.ndarray) -> np.ndarray:
    """Order as fair-share does, by fractions."""
    pairs = zip(waited.tolist(), worked.tolist(), strict=True)
    return ranks([Fraction(w, k) if k else Fraction(0) for w, k in pairs])


def most(waited: np.ndarray, worked: np.ndarray) -> np.ndarray:
    """Order as fair-wait does."""
    return -least(waited, worked)


def fewest(worked: np.ndarray) -> np.ndarray:
    """Order as fair-usage does."""
    return worked


SLOW = {"fair-share": least, "fair-wait": most, "fair-usage": fewest}
"""The same orders as functions of one's own."""


def slowly(order: str) -> str:
    return MODULE + SLOW[order].__name__


@pytest.mark.parametrize("order", SHARING)
@pytest.mark.parametrize("rule", ANY_RULE)
@given(work=workloads(max_jobs=30), data=st.data())
def test_they_are_what_a_function_of_the_sums_is(
    rule: str, order: str, work: Workload, data: st.DataObject
) -> None:
    """A user's own order is told the same sums, by Python, as the kernels keep."""
    second = data.draw(st.none() | st.sampled_from(SHARING)) if rule in BACKFILLING else None
    options = {
        "threshold": data.draw(st.none() | st.sampled_from(THRESHOLDS)),
        "events": data.draw(st.sampled_from(("instant", "per-event"))),
        "walk": "queue" if "walk" in rule else "start",
    }
    rule = rule.partition(",")[0]
    schedule = simulate(work, Policy(order, rule, backfill=second, **options))
    behind = second and slowly(second)
    expected = simulate(work, Policy(slowly(order), rule, backfill=behind, **options))
    assert schedule.start.tolist() == expected.start.tolist()
    assert schedule.backfilled.tolist() == expected.backfilled.tolist()
    if second:
        mixed = simulate(work, Policy(slowly(order), rule, backfill=second, **options))
        assert mixed.start.tolist() == expected.start.tolist()


@pytest.mark.parametrize("order", SHARING)
@pytest.mark.parametrize("rule", ANY_RULE)
@given(
    work=workloads(max_jobs=30),
    refresh=st.none() | st.sampled_from(("1s", "3s", "7s", "2h")),
    halflife=st.none() | st.sampled_from(("1s", "4s", "9s", "3h")),
    clock=st.sampled_from(CLOCKS),
)
def test_the_auditor_agrees(
    rule: str, order: str, work: Workload, refresh: str | None, halflife: str | None, clock: str
) -> None:
    """It halves and looks at what ended by then in its own way, in fractions."""
    policy = f"{order}+{rule}{clock}"
    policy += f",refresh={refresh}" if refresh else ""
    policy += f",halflife={halflife}" if halflife else ""
    verdict = audit(simulate(work, policy), policy)
    assert verdict.ok, verdict.why


@pytest.mark.parametrize("order", SHARING)
@pytest.mark.parametrize("rule", ANY_RULE)
def test_it_agrees_in_a_crowd(rule: str, order: str) -> None:
    """Many wait, of many users."""
    work = crowd(3, 150)
    for options in ("", ",refresh=20s", ",halflife=50s", ",refresh=9s,halflife=40s"):
        policy = f"{order}+{rule}{options}"
        verdict = audit(simulate(work, policy), policy)
        assert verdict.ok, verdict.why


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


@pytest.mark.parametrize("order", SHARING)
@pytest.mark.parametrize("rule", ["aggressive", "easy", "conservative"])
def test_a_whole_log_passes_and_a_second_does_not(traces: Path, rule: str, order: str) -> None:
    """A log whose 28,475 jobs are of 214 users; of a job that starts later the auditor says so."""
    work = read_swf(traces / "KTH-SP2-1996-2.1-cln.swf.gz")
    policy = f"{order}+{rule}"
    schedule = simulate(work, policy)
    verdict = audit(schedule, policy)
    assert verdict.ok, verdict.why
    late = schedule.start.copy()
    job = int(np.flatnonzero(schedule.wait > 0)[500])
    late[job] += 1
    verdict = audit(replace(schedule, start=late), policy)
    assert (verdict.job, verdict.instant) == (job, schedule.start[job])


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
    work = built(1, *((0, 1, 1, 1, user) for user in range(n)))
    orders = Orders(work, Policy(order, "easy"))
    assert orders.sharing is not None
    shares = orders.sharing.shares
    waited, worked = np.array(sums, np.int64).T.copy()
    shares.seen_waited[:], shares.seen_worked[:] = waited, worked
    exact = [a < 2**53 and b < 2**53 for a, b in sums]
    for u, (a, b) in enumerate(sums):
        shares.quotient[u] = 0 if b == 0 else a / b if exact[u] else np.nan
    rank_waiting(orders.sharing, orders.rankings, np.arange(n))
    told = {"worked": worked} if order == "fair-usage" else {"waited": waited, "worked": worked}
    expected = SLOW[order](**told)
    order_of = np.argsort(expected, kind="stable").tolist()
    assert np.argsort(orders.rankings.queue.key, kind="stable").tolist() == order_of


FAIR_RULES = ("none", "aggressive", "easy", "depth(2)", "conservative", "planned,walk=queue")


@pytest.mark.parametrize("order", SHARING)
@pytest.mark.parametrize("rule", FAIR_RULES)
@given(
    work=workloads(max_jobs=12),
    options=st.sampled_from(("", ",refresh=3s,halflife=4s", ",halflife=2s,threshold=3s")),
    clock=st.sampled_from(CLOCKS),
)
def test_strict_fair_starts_are_those_of_the_trace_cut_short(
    rule: str, order: str, work: Workload, options: str, clock: str
) -> None:
    """Without those after it, what users have got at a job's arrival is the same."""
    policy = f"{order}+{rule}{clock}{options}"
    cut = [simulate(work.take(slice(j + 1)), policy).start[j] for j in range(len(work))]
    assert fair_start_times(work, policy).tolist() == cut


@pytest.mark.parametrize("order", SHARING)
@pytest.mark.parametrize("rule", FAIR_RULES)
@given(
    work=workloads(max_jobs=12),
    threshold=st.none() | st.sampled_from(THRESHOLDS),
    kind=st.sampled_from(KINDS),
)
def test_fair_starts_are_those_of_the_reference(
    rule: str, order: str, work: Workload, threshold: str | None, kind: str
) -> None:
    """Which is told the same sums by Python, and asked for all jobs."""
    walk, rule = "queue" if "walk" in rule else "start", rule.partition(",")[0]
    everyone = np.arange(len(work))
    slow = Policy(slowly(order), rule, threshold=threshold, walk=walk)
    expected = fair_start_reference(work, slow, kind == "relaxed", everyone, everyone)
    policy = Policy(order, rule, threshold=threshold, walk=walk)
    assert fair_start_times(work, policy, kind).tolist() == expected


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="this is the run without the JIT")
def test_the_same_without_the_jit() -> None:
    """The same source gives the same integers when Python runs it, and oversteps no array."""
    root = Path(__file__).resolve().parents[2]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "HYPOTHESIS_PROFILE": "few"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__]
    command += ["-k", "not whole_log and not crowd"]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:]
