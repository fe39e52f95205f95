"""The rules none, aggressive and easy, the clock and starvation, on timelines worked by hand."""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from core.arrays import NO_PROMISE
from core.errors import InputError
from core.policy.orders import ORDERS
from core.simulation.promises import promises
from core.simulation.simulate import simulate
from core.workload.workload import Workload
from tests.strategies import workloads

Job = tuple[int, int, int, int]


def jobs(processors: int, *rows: Job) -> Workload:
    """Build a workload from rows of (submit, run, estimate, procs)."""
    submit, run, estimate, procs = zip(*rows, strict=True)
    return Workload.from_columns(
        submit=submit, run=run, estimate=estimate, procs=procs, processors=processors
    )


def starts(policy: str, processors: int, *rows: Job) -> list[int]:
    return [int(s) for s in simulate(jobs(processors, *rows), policy).start]


BLOCKED = ((0, 10, 10, 3), (1, 10, 10, 4), (2, 5, 5, 1), (3, 20, 20, 1))
"""One runs on 3 of 4, the next needs all 4, then a short and a long one that fit beside."""


@pytest.mark.parametrize(
    ("policy", "expected", "backfilled"),
    [
        ("fcfs+none", [0, 10, 20, 20], []),
        ("fcfs+aggressive", [0, 27, 2, 7], [2, 3]),
        ("fcfs+easy", [0, 10, 2, 20], [2]),
        ("spf+easy", [0, 10, 2, 20], []),
        ("sqf+easy", [0, 27, 2, 7], []),
    ],
)
def test_rules_differ_on_who_passes_a_blocked_head(
    policy: str, expected: list[int], backfilled: list[int]
) -> None:
    """None lets no one pass, aggressive anyone who fits, easy who leaves the head alone."""
    schedule = simulate(jobs(4, *BLOCKED), policy)
    assert schedule.start.tolist() == expected
    assert np.flatnonzero(schedule.backfilled).tolist() == backfilled
    assert (promises(jobs(4, *BLOCKED), policy) == NO_PROMISE).all()
    assert schedule.policy == policy


def test_backfill_may_end_at_the_shadow() -> None:
    """A backfill that ends at the shadow time itself is legal; one second more is not."""
    head = ((0, 10, 10, 3), (1, 10, 10, 4))
    assert starts("fcfs+easy", 4, *head, (2, 8, 8, 1))[2] == 2
    assert starts("fcfs+easy", 4, *head, (2, 9, 9, 1))[2] == 20


def test_extra_counts_every_completion_at_the_shadow() -> None:
    """All jobs predicted to end at the shadow add to extra, not only the first that suffices."""
    two_ends = ((0, 10, 10, 2), (0, 10, 10, 2), (1, 10, 10, 3))
    assert starts("fcfs+easy", 5, *two_ends, (2, 50, 50, 1))[3] == 2
    assert starts("fcfs+easy", 4, (0, 10, 10, 1), (0, 10, 10, 2), (1, 9, 9, 3), (2, 50, 50, 1)) == [
        0,
        0,
        10,
        2,
    ]


def test_short_backfill_takes_nothing_from_extra() -> None:
    """A job over by the shadow leaves extra to a long one behind it."""
    rows = ((0, 10, 10, 3), (1, 10, 10, 4), (2, 4, 4, 1), (2, 50, 50, 1))
    assert starts("fcfs+easy", 5, *rows) == [0, 10, 2, 2]


def test_long_backfill_uses_extra_up() -> None:
    """Two long jobs do not both fit into an extra of one."""
    rows = ((0, 10, 10, 2), (1, 10, 10, 4), (2, 50, 50, 1), (3, 50, 50, 1))
    assert starts("fcfs+easy", 5, *rows) == [0, 10, 2, 20]


def test_shadow_moves_when_the_head_changes() -> None:
    """A shorter job that arrives becomes the head, and what it leaves free may start."""
    rows = ((0, 10, 10, 3), (1, 9, 9, 4), (2, 12, 12, 1), (3, 5, 5, 2))
    assert starts("spf+easy", 4, *rows[:3]) == [0, 10, 19]
    assert starts("spf+easy", 4, *rows) == [0, 15, 3, 10]


def test_early_completion_brings_the_head_forward() -> None:
    """The shadow is a prediction: the head starts as soon as its processors are free."""
    assert starts("fcfs+easy", 4, (0, 3, 100, 4), (1, 5, 5, 4)) == [0, 3]


def test_run_zero_frees_its_processors_at_once() -> None:
    """A job of run 0 completes in its instant, and another pass follows there."""
    assert starts("fcfs+none", 4, (0, 0, 10, 4), (0, 0, 0, 4), (0, 5, 5, 4), (0, 5, 5, 1)) == [
        0,
        0,
        0,
        5,
    ]


def test_completions_come_before_arrivals() -> None:
    """What completes when a job arrives is free for it."""
    assert starts("spf+none", 2, (0, 5, 5, 2), (1, 9, 9, 2), (5, 3, 3, 2)) == [0, 8, 5]


def test_per_event_submissions_come_first() -> None:
    """One event, one pass: a submission finds nothing free, then the completion decides."""
    rows = ((0, 5, 5, 2), (1, 9, 9, 2), (5, 3, 3, 2))
    assert starts("spf+none,events=per-event", 2, *rows) == [0, 8, 5]
    burst = ((0, 9, 9, 2), (0, 3, 3, 2))
    assert starts("spf+none", 2, *burst) == [3, 0]
    assert starts("spf+none,events=per-event", 2, *burst) == [0, 9]


def test_per_event_completions_follow_one_by_one() -> None:
    """After the first of two early completions a pass runs: the narrow job starts before."""
    rows = ((0, 5, 6, 1), (0, 5, 6, 1), (1, 9, 9, 2), (2, 9, 9, 1))
    assert starts("fcfs+aggressive", 2, *rows) == [0, 0, 5, 14]
    assert starts("fcfs+aggressive,events=per-event", 2, *rows) == [0, 0, 14, 5]


def test_per_event_who_is_predicted_to_end_has_gone() -> None:
    """At 5 both of the first are known to end: the first completion makes room for the wide."""
    rows = ((0, 5, 5, 1), (0, 5, 5, 1), (1, 9, 9, 2), (2, 9, 9, 1))
    assert starts("fcfs+aggressive,events=per-event", 2, *rows) == [0, 0, 5, 14]


@pytest.mark.parametrize("rule", ["aggressive", "easy,backfill=lxf", "depth(2)", "conservative"])
def test_per_event_a_submission_finds_free_what_was_predicted(rule: str) -> None:
    """At 10 the machine counts as free when the third job comes, and the second starts first."""
    rows = ((0, 10, 10, 3), (1, 5, 5, 4), (10, 3, 3, 1))
    assert starts(f"fcfs+{rule},events=per-event", 4, *rows) == [0, 10, 15]


def test_per_event_a_submission_comes_before_an_early_end() -> None:
    """At 10 nobody knows yet that the first ends: the third fits beside it, and delays the wide."""
    rows = ((0, 10, 12, 3), (1, 5, 5, 4), (10, 3, 3, 1))
    assert starts("fcfs+aggressive", 4, *rows) == [0, 10, 15]
    assert starts("fcfs+aggressive,events=per-event", 4, *rows) == [0, 13, 10]


@pytest.mark.parametrize(
    "rule", ["aggressive", "aggressive,threshold=9d", "aggressive,backfill=saf"]
)
def test_per_event_completions_go_by_start(rule: str) -> None:
    """At 4 the third starts before the second; at 9 its 3 processors are back first, for 2."""
    rows = ((0, 4, 4, 4), (1, 5, 9, 1), (1, 5, 8, 3), (2, 3, 21, 2), (2, 3, 20, 4))
    assert starts(f"spf+{rule}", 4, *rows) == [0, 4, 4, 12, 9]
    assert starts(f"spf+{rule},events=per-event", 4, *rows) == [0, 4, 4, 9, 12]


def test_per_event_a_job_with_estimate_0_takes_nothing() -> None:
    """It is predicted to end as it starts: the next submission of that instant fits beside it."""
    rows = ((0, 0, 0, 2), (0, 5, 5, 2), (0, 3, 3, 2))
    for rule in ("none", "easy", "conservative"):
        assert starts(f"spf+{rule},events=per-event", 2, *rows) == [0, 0, 5]


def test_starving_job_goes_first() -> None:
    """A job that waited longer than the threshold, strictly, is the head at the next pass."""
    rows = ((0, 10, 10, 2), (1, 50, 50, 2), (2, 5, 5, 2))
    assert starts("spf+easy", 2, *rows) == [0, 15, 10]
    assert starts("spf+easy,threshold=9s", 2, *rows) == [0, 15, 10]
    assert starts("spf+easy,threshold=8s", 2, *rows) == [0, 10, 60]
    assert starts("lxf+easy,threshold=8s", 2, *rows) == [0, 10, 60]


def test_starving_jobs_are_first_come_first_served() -> None:
    """Among the starving the estimate does not count; and one of them holds the reservation."""
    rows = ((0, 10, 10, 2), (1, 50, 50, 2), (2, 40, 40, 2), (3, 5, 5, 1))
    assert starts("spf+easy,threshold=3s", 2, *rows) == [0, 10, 60, 100]


def test_crossing_the_threshold_is_no_event() -> None:
    """A job starves from second 4 on, but no pass happens before the completion at 10."""
    rows = ((0, 10, 10, 1), (0, 20, 20, 2), (3, 100, 100, 1))
    assert starts("spf+aggressive,threshold=3s", 2, *rows) == [0, 103, 3]


def test_threshold_beyond_the_clock_never_bites() -> None:
    """A threshold of more than 2^63 s is no threshold."""
    assert starts("spf+easy,threshold=99999999999999999999w", 2, *BLOCKED[2:]) == [2, 3]


@pytest.mark.parametrize("base", [1, 2**20, 2**34])
def test_expansion_factors_are_compared_exactly(base: int) -> None:
    """LXF takes the larger of two ratios, even of two that no float64 tells apart."""
    big = 2**20 * base + 1
    first, second = (1, 5, 3 * big), (2, 5, 3 * big - 2)
    end = 4 * big
    ratios = [Fraction(end - submit, estimate) for submit, _, estimate in (first, second)]
    assert ratios[1] > ratios[0]
    rows = ((0, end, end, 1), (*first, 1), (*second, 1))
    assert starts("lxf+none", 1, *rows) == [0, end + 5, end]
    assert starts("sxf+none", 1, *rows) == [0, end, end + 5]


def test_a_moving_order_is_evaluated_at_each_pass() -> None:
    """The longer job has the larger expansion factor at first, the shorter one later."""
    early = ((0, 5, 5, 1), (0, 20, 20, 1), (4, 10, 10, 1))
    late = ((0, 50, 50, 1), (0, 60, 60, 1), (4, 10, 10, 1))
    assert starts("lxf+none", 1, *early) == [0, 5, 25]
    assert starts("lxf+none", 1, *late) == [0, 60, 50]


def test_backfill_order_decides_between_two() -> None:
    """EASY-SJBF: the queue is first come first served, the shortest is backfilled first."""
    rows = ((0, 10, 10, 3), (1, 10, 10, 4), (2, 7, 7, 1), (2, 3, 3, 1))
    assert starts("fcfs+easy", 4, *rows) == [0, 10, 2, 20]
    schedule = simulate(jobs(4, *rows), "fcfs+easy,backfill=spf")
    assert schedule.start.tolist() == [0, 10, 20, 2]
    assert schedule.backfilled.tolist() == [False, False, False, True]


def by_width(submit, estimate, procs, user, now):  # type: ignore[no-untyped-def]
    return procs


def by_age(submit, estimate, procs, user, now):  # type: ignore[no-untyped-def]
    return submit - now + 0.5


def as_fixed(submit, estimate, procs, user, now):  # type: ignore[no-untyped-def]
    return estimate * procs


as_fixed.static = True  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("own", "ours"),
    [("by_width", "sqf"), ("by_age", "fcfs"), ("as_fixed", "saf")],
)
@pytest.mark.parametrize("rule", ["none", "aggressive", "easy"])
@given(work=workloads())
def test_own_order_equals_ours(own: str, ours: str, rule: str, work: Workload) -> None:
    """A function that returns our key, at each pass or once, gives our schedule."""
    sys.modules.setdefault("own_orders", sys.modules[__name__])
    mine = simulate(work, f"own_orders:{own}+{rule},threshold=5s")
    known = simulate(work, f"{ours}+{rule},threshold=5s")
    assert mine.start.tolist() == known.start.tolist()
    assert mine.backfilled.tolist() == known.backfilled.tolist()


@pytest.mark.parametrize("name", ["wfp3", "unicef", "f1", "f2", "f3", "f4"])
@given(work=workloads())
def test_compiled_order_equals_its_function(name: str, work: Workload) -> None:
    """The kernel's copy of a published formula sorts as the plain function does."""
    compiled = simulate(work, f"{name}+easy")
    plain = simulate(work, f"core.policy.functions:{name}+easy")
    assert compiled.start.tolist() == plain.start.tolist()


@given(work=workloads(max_jobs=30))
def test_smallest_first_never_backfills(work: Workload) -> None:
    """Proposition 1 of the SAF paper: behind a blocked narrowest job no one fits."""
    schedule = simulate(work, "sqf+easy")
    assert not schedule.backfilled.any()
    assert schedule.start.tolist() == simulate(work, "sqf+none").start.tolist()


@pytest.mark.parametrize("order", ["fcfs", "saf", "lxf"])
@pytest.mark.parametrize("rule", ["none", "aggressive", "easy", "conservative"])
def test_no_jobs_no_starts(order: str, rule: str) -> None:
    """An empty workload has an empty schedule."""
    empty = Workload.from_columns(submit=[], run=[], estimate=[], procs=[], processors=4)
    assert simulate(empty, f"{order}+{rule}").start.shape == (0,)


@pytest.mark.parametrize("policy", ["fcfs+conservative", "fcfs+planned", "spf+depth(2)"])
def test_rules_with_a_profile_are_dispatched(policy: str) -> None:
    """Conservative, planned and depth(K) run behind the same door."""
    schedule = simulate(jobs(4, *BLOCKED), policy)
    assert schedule.start[:3].tolist() == [0, 10, 2]
    assert schedule.policy == policy


def test_unknown_function_is_refused() -> None:
    """An order that cannot be imported is refused by its name."""
    with pytest.raises(InputError, match=r"'core\.policy\.functions:absent' cannot be imported"):
        simulate(jobs(4, *BLOCKED), "core.policy.functions:absent+easy")


LONG_QUEUES = """
import numpy as np
from core.simulation.simulate import simulate
from core.workload.workload import Workload
rng = np.random.default_rng(7)
n = 260
work = Workload.from_columns(
    submit=np.sort(rng.integers(0, 40, n)), run=rng.integers(0, 5, n),
    estimate=rng.integers(5, 9, n), procs=rng.integers(1, 9, n), processors=8)
for order in {orders}:
    print(simulate(work, order + "+easy,threshold=200s").digest())
"""


def test_same_integers_without_the_compiler() -> None:
    """With NUMBA_DISABLE_JIT=1 the same source gives the same starts, over several blocks."""
    source = LONG_QUEUES.format(orders=("fcfs", "saf", "lxf", "unicef"))
    told = [
        subprocess.run(
            [sys.executable, "-c", source],
            env={**os.environ, "NUMBA_DISABLE_JIT": off, "PYTHONPATH": os.getcwd()},
            check=True,
            capture_output=True,
            text=True,
        ).stdout.split()
        for off in ("0", "1")
    ]
    assert told[0] == told[1]
    assert len(set(told[0])) == 4


def test_every_known_order_simulates() -> None:
    """No name in the table of orders is without an implementation."""
    for order in ORDERS:
        assert min(starts(f"{order}+easy", 4, *BLOCKED)) == 0
