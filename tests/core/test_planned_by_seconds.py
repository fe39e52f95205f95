"""The second-by-second reference of `planned` on timelines worked out by hand.

In a comment `[a, b) n` says that from a to before b a job holds, or has reserved, n processors.
"""

from __future__ import annotations

import pytest

from core.errors import InputError
from core.workload.workload import Workload
from tests.core import planned_by_seconds as planned
from tests.core.planned_by_seconds import fair_starts_planned, promises_planned, simulate_planned


def workload(processors: int, *rows: tuple[int, int, int, int]) -> Workload:
    """Jobs as (submit, run, estimate, procs)."""
    submit, run, estimate, procs = zip(*rows, strict=True)
    return Workload.from_columns(
        submit=submit, run=run, estimate=estimate, procs=procs, processors=processors
    )


def starts(jobs: Workload, policy: str) -> list[int]:
    return simulate_planned(jobs, policy).start.tolist()


def promised(jobs: Workload, policy: str) -> list[int]:
    return promises_planned(jobs, policy).tolist()


def backfilled(jobs: Workload, policy: str) -> list[bool]:
    return simulate_planned(jobs, policy).backfilled.tolist()


# Job 1: [1, 6) 3, but over at 4. Job 2: [6, 9) 2. Job 3: [9, 11) 4. Job 4: [6, 8) 2.
FOUR = workload(4, (1, 3, 5, 3), (2, 3, 3, 2), (3, 2, 2, 4), (3, 2, 2, 2))

# The same, but job 4 arrives when job 1 ends.
FOUR_TIED = workload(4, (1, 3, 5, 3), (2, 3, 3, 2), (3, 2, 2, 4), (4, 2, 2, 2))

# Job 1: [0, 10) 2, but over at 4. Job 2, long: [10, 15) 2. Job 3, short: [15, 17) 2.
SHORT_BEHIND_LONG = workload(2, (0, 4, 10, 2), (1, 5, 5, 2), (2, 2, 2, 2))

# Job 1: [0, 5) 2. Job 2, of estimate 0, finds 5. Job 3: [5, 8) 2, over it.
ZERO = workload(2, (0, 5, 5, 2), (1, 0, 0, 2), (2, 3, 3, 2))


@pytest.mark.parametrize("policy", ["fcfs+planned,walk=arrival", "fcfs+planned,walk=queue"])
def test_a_reservation_that_begins_where_nothing_ends_or_arrives_is_an_event(policy: str) -> None:
    # At 4 job 2 goes to [4, 7); job 3 finds job 4 still at [6, 8) and goes to [8, 10); job 4
    # goes to [4, 6). At 6 and 7 they end as estimated, which compresses nothing.
    assert starts(FOUR, policy) == [1, 4, 8, 4]
    assert promised(FOUR, policy) == [1, 6, 9, 6]


def test_a_walk_by_start_lifts_the_earlier_reservation_first() -> None:
    # At 4: job 2 to [4, 7), job 4 to [4, 6), and only then job 3, to 7.
    assert starts(FOUR, "fcfs+planned") == [1, 4, 7, 4]


def test_backfilled_is_who_starts_while_one_before_it_stays() -> None:
    # At 4 job 4 starts, and job 3 before it stays.
    assert backfilled(FOUR, "fcfs+planned,walk=arrival") == [False, False, False, True]


def test_per_event_compresses_where_a_job_ends_at_its_estimate() -> None:
    # At 4 job 4 comes first: [6, 8). Then job 1 ends, and as above job 3 goes to 8. At 6 job 4
    # ends at its estimate: now job 3 finds 7, where job 2 is predicted to end.
    assert starts(FOUR_TIED, "fcfs+planned,walk=arrival,events=per-event") == [1, 4, 7, 4]
    assert promised(FOUR_TIED, "fcfs+planned,walk=arrival,events=per-event") == [1, 6, 9, 6]


def test_at_an_instant_completions_and_their_compression_come_before_arrivals() -> None:
    # At 4 job 1 ends: job 2 to [4, 7), job 3 to [7, 9). Then job 4 finds [4, 6).
    assert starts(FOUR_TIED, "fcfs+planned,walk=arrival") == [1, 4, 7, 4]
    assert promised(FOUR_TIED, "fcfs+planned,walk=arrival") == [1, 6, 9, 4]


def test_per_event_submissions_come_before_completions() -> None:
    early = workload(1, (0, 5, 9, 1), (5, 2, 2, 1))
    assert promised(early, "fcfs+planned,events=per-event") == [0, 9]
    assert starts(early, "fcfs+planned,events=per-event") == [0, 5]
    assert promised(early, "fcfs+planned") == [0, 5]


def test_per_event_a_job_whose_predicted_end_is_now_counts_as_free() -> None:
    # Job 2 is promised 5 while job 1 still holds its processor; it starts when job 1 ends.
    exact = workload(1, (0, 5, 5, 1), (5, 2, 2, 1))
    assert promised(exact, "fcfs+planned,events=per-event") == [0, 5]
    assert starts(exact, "fcfs+planned,events=per-event") == [0, 5]


def test_per_event_each_completion_has_a_pass_of_its_own() -> None:
    # Jobs 1 and 2: [0, 10) 1 each, both over at 5. Job 3, wide: [10, 12) 2. Job 4: [12, 14) 1.
    jobs = workload(2, (0, 5, 10, 1), (0, 5, 10, 1), (1, 2, 2, 2), (2, 2, 2, 1))
    # Both ended: job 3 to 5, job 4 behind it.
    assert starts(jobs, "fcfs+planned") == [0, 0, 5, 7]
    # Job 1 ended: job 4 starts beside job 2. Job 2 ended: job 3 to 7, where job 4 ends.
    assert starts(jobs, "fcfs+planned,events=per-event") == [0, 0, 7, 5]


def test_per_event_completions_of_one_instant_go_by_start() -> None:
    # Job 1: [0, 2) 2. Job 2: [2, 12) 2 and job 3: [0, 12) 1, both over at 6.
    # Job 4, wide: [12, 13) 3. Job 5: [13, 17) 2.
    jobs = workload(3, (0, 2, 2, 2), (0, 4, 10, 2), (0, 6, 12, 1), (1, 1, 1, 3), (1, 4, 4, 2))
    # Job 3 started first and ends first: 1 processor serves neither job 4 nor job 5.
    # Job 2 ended: job 4 to [6, 7), job 5 behind it.
    assert starts(jobs, "fcfs+planned,events=per-event") == [0, 2, 0, 6, 7]
    assert backfilled(jobs, "fcfs+planned,events=per-event") == [False, False, True, False, False]


def test_the_queue_order_decides_who_is_lifted_first() -> None:
    # At 4, FCFS: job 2 to [4, 9), job 3 to 9. SPF: job 3 to [4, 6), job 2 to 6.
    assert starts(SHORT_BEHIND_LONG, "fcfs+planned,walk=queue") == [0, 4, 9]
    assert starts(SHORT_BEHIND_LONG, "spf+planned,walk=queue") == [0, 6, 4]
    assert promised(SHORT_BEHIND_LONG, "spf+planned,walk=queue") == [0, 10, 15]


def test_who_waited_longer_than_the_threshold_is_lifted_first() -> None:
    # At 4 job 2 has waited 3 s and job 3 has waited 2 s.
    assert starts(SHORT_BEHIND_LONG, "spf+planned,walk=queue,threshold=2s") == [0, 4, 9]
    assert starts(SHORT_BEHIND_LONG, "spf+planned,walk=queue,threshold=3s") == [0, 6, 4]


@pytest.mark.parametrize("clock", ["instant", "per-event"])
def test_run_0_ends_early_in_the_instant_of_its_start(clock: str) -> None:
    # Job 1: [0, 5), over at 0; job 2 is lifted from 5 to 0 and starts in the next pass.
    jobs = workload(1, (0, 0, 5, 1), (0, 3, 3, 1))
    assert promised(jobs, f"fcfs+planned,events={clock}") == [0, 5]
    assert starts(jobs, f"fcfs+planned,events={clock}") == [0, 0]


@pytest.mark.parametrize("clock", ["instant", "per-event"])
def test_estimate_0_reserves_nothing(clock: str) -> None:
    assert promised(ZERO, f"fcfs+planned,events={clock}") == [0, 5, 5]
    # At 5 job 2 takes the processors and returns them; another pass starts job 3.
    assert starts(ZERO, f"fcfs+planned,events={clock}") == [0, 5, 5]


def test_estimate_0_behind_another_in_the_queue_finds_its_processors_taken() -> None:
    # LPF: at 5 job 3 goes first; job 2, which is due, waits until it ends.
    assert starts(ZERO, "lpf+planned,walk=queue") == [0, 8, 5]


def test_estimate_0_is_not_moved_later_by_a_compression() -> None:
    # Job 1: [0, 5) 2. Job 2: [0, 9) 1, over at 4. Job 3 of estimate 0 finds 5; job 4: [5, 8) 2.
    # At 4 job 3 would next find 8, when job 4 ends; it keeps 5.
    jobs = workload(3, (0, 5, 5, 2), (0, 4, 9, 1), (1, 0, 0, 2), (2, 3, 3, 2))
    assert starts(jobs, "fcfs+planned") == [0, 0, 5, 5]


def test_estimate_0_that_is_due_starts_in_the_first_pass_that_finds_its_processors() -> None:
    # SQF. Job 1: [0, 5) 2. Job 2 of estimate 0 finds 5; job 3, narrower: [5, 8) 1; job 4: [8, 11).
    jobs = workload(2, (0, 5, 5, 2), (1, 0, 0, 2), (2, 3, 3, 1), (3, 3, 3, 2))
    # At 5 job 3 goes first. At 8 job 2, as wide as job 4 and before it, takes and returns all.
    assert starts(jobs, "sqf+planned,walk=queue") == [0, 8, 5, 8]


def test_fair_start_is_that_without_later_arrivals() -> None:
    policy = "spf+planned,walk=queue"
    # Job 2, without job 3, starts at 4. Job 3 may go before it; relaxed, it joins when job 2 has
    # started at 4, and follows it.
    assert fair_starts_planned(SHORT_BEHIND_LONG, policy, "strict").tolist() == [0, 4, 4]
    assert fair_starts_planned(SHORT_BEHIND_LONG, policy, "relaxed").tolist() == [0, 4, 9]


def test_relaxed_with_an_empty_queue_is_a_first_fit() -> None:
    jobs = workload(2, (0, 4, 10, 2), (0, 2, 2, 1))
    assert fair_starts_planned(jobs, "fcfs+planned", "relaxed").tolist() == [0, 4]


def test_relaxed_joins_in_the_instant_in_which_the_last_starts() -> None:
    # Job 1: [0, 3) 2. Job 2: [3, 5) 1. Job 3 joins at 3 and finds the other processor free.
    jobs = workload(2, (0, 3, 3, 2), (1, 2, 2, 1), (2, 1, 1, 1))
    assert fair_starts_planned(jobs, "fcfs+planned", "relaxed").tolist() == [0, 3, 3]


def test_an_unknown_kind_of_fair_start_is_refused() -> None:
    with pytest.raises(InputError, match="'lenient' is unknown; known: strict, relaxed"):
        fair_starts_planned(ZERO, "fcfs+planned", "lenient")


def test_a_job_that_never_starts_is_an_error_that_names_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(planned._Scheduler, "physically_free", lambda _: 1)
    with pytest.raises(RuntimeError, match="job 1 never starts"):
        simulate_planned(workload(2, (0, 0, 0, 2)), "fcfs+planned")


def test_a_reservation_that_is_not_kept_is_an_error_that_names_its_job(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(planned._Scheduler, "physically_free", lambda _: 1)
    with pytest.raises(RuntimeError, match="job 1, reserved for 0, waits after 0"):
        simulate_planned(workload(2, (0, 3, 3, 2)), "fcfs+planned")


def test_no_jobs_give_no_starts() -> None:
    empty = Workload.from_columns(submit=[], run=[], estimate=[], procs=[], processors=1)
    assert starts(empty, "fcfs+planned") == []
