"""The rule that takes the starts of a log, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedfarm.core import InputError, Policy, Workload, read_swf, simulate, summarise, write_swf
from schedfarm.core.engine.promises import promises
from tests.support.strategies import crowd


def test_a_written_schedule_comes_back_as_it_was(tmp_path: Path) -> None:
    """Starts, and every metric of them but who was backfilled, which a log does not say."""
    work = crowd(seed=3, count=300)
    easy = simulate(work, "spf+easy")
    write_swf(work, tmp_path / "easy.swf", easy)
    was = simulate(read_swf(tmp_path / "easy.swf"), "fcfs+logged")
    assert was.start.tolist() == easy.start.tolist()
    found, expected = summarise(was), summarise(easy)
    found.pop("backfilled")
    expected.pop("backfilled")
    assert found == pytest.approx(expected, nan_ok=True)


def test_nobody_holds_it_to_the_machine() -> None:
    """The real one may have been larger; the run time is the one that is simulated."""
    work = Workload.from_columns(
        submit=[0, 0], run=[5, 5], estimate=[5, 5], procs=[2, 2], logged_wait=[1, 1], processors=2
    )
    assert simulate(work, "fcfs+logged").start.tolist() == [1, 1]
    assert summarise(simulate(work, "fcfs+logged"))["utilisation"] == pytest.approx(20 / 12)


@pytest.mark.parametrize(
    ("waits", "said"),
    [
        ([1, -1], 'of 1 of the 2 jobs .* leave them out with no_wait = "drop"'),
        (None, "of 2 of the 2 jobs .* it takes a log as it is, no sample, model or other load"),
    ],
)
def test_unknown_waits_are_refused(waits: list[int] | None, said: str) -> None:
    """Nothing is made up."""
    work = Workload.from_columns(
        submit=[0, 0], run=[5, 5], estimate=[5, 5], procs=[2, 2], logged_wait=waits, processors=2
    )
    with pytest.raises(InputError, match=said):
        simulate(work, "fcfs+logged")


@pytest.mark.parametrize("policy", ["spf+logged", "fcfs+logged,threshold=3d"])
def test_it_has_neither_order_nor_options(policy: str) -> None:
    """They would change nothing."""
    with pytest.raises(InputError, match="it needs fcfs, without options"):
        Policy.parse(policy)


def test_it_promises_nothing() -> None:
    """As any rule without reservations."""
    work = Workload.from_columns(
        submit=[0], run=[5], estimate=[5], procs=[2], logged_wait=[1], processors=2
    )
    assert promises(work, "fcfs+logged").tolist() == [-1]
