"""Fair starts and errors of the second-by-second program of `planned`, by hand.

In a comment `[a, b) n` says that from a to before b a job holds, or has reserved, n processors.
"""

from __future__ import annotations

import pytest

from schedfarm.core.errors import InputError
from schedfarm.core.workload.workload import Workload
from tests.oracles import planned_by_seconds as planned
from tests.oracles.planned_by_seconds import fair_starts_planned, simulate_planned


def workload(processors: int, *rows: tuple[int, int, int, int]) -> Workload:
    """Jobs as (submit, run, estimate, procs)."""
    submit, run, estimate, procs = zip(*rows, strict=True)
    return Workload.from_columns(
        submit=submit, run=run, estimate=estimate, procs=procs, processors=processors
    )


# Job 1: [0, 10) 2, but over at 4. Job 2, long: [10, 15) 2. Job 3, short: [15, 17) 2.
SHORT_BEHIND_LONG = workload(2, (0, 4, 10, 2), (1, 5, 5, 2), (2, 2, 2, 2))

# Job 1: [0, 5) 2. Job 2, of estimate 0, finds 5. Job 3: [5, 8) 2, over it.
ZERO = workload(2, (0, 5, 5, 2), (1, 0, 0, 2), (2, 3, 3, 2))


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
    monkeypatch.setattr(planned._Scheduler, "physically_free", lambda *_: 1)
    with pytest.raises(RuntimeError, match="job 1 never starts"):
        simulate_planned(workload(2, (0, 0, 0, 2)), "fcfs+planned")


def test_a_reservation_that_is_not_kept_is_an_error_that_names_its_job(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(planned._Scheduler, "physically_free", lambda *_: 1)
    with pytest.raises(RuntimeError, match="job 1, reserved for 0, waits after 0"):
        simulate_planned(workload(2, (0, 3, 3, 2)), "fcfs+planned")


def test_no_jobs_give_no_starts() -> None:
    empty = Workload.from_columns(submit=[], run=[], estimate=[], procs=[], processors=1)
    assert simulate_planned(empty, "fcfs+planned").start.tolist() == []
