"""Windows of high activity: by rule, and in the order of their load."""

from __future__ import annotations

import numpy as np
import pytest

from schedfarm.core import InputError, Workload
from schedfarm.core.durations import DAY
from schedfarm.core.models.lublin import lublin
from schedfarm.core.workload.select import select_dates
from schedfarm.core.workload.windows import busiest, busy_windows


@pytest.fixture(scope="module")
def log() -> Workload:
    """A model's jobs, the first of which comes in the afternoon."""
    drawn = lublin(64, jobs=1500, seed=5, index=0)
    return drawn.take(slice(None), epoch=900_000_000)


def test_each_window_is_what_its_dates_select(log: Workload) -> None:
    """Jobs and load counted anew, job by job."""
    found = busy_windows(log, days=3, jobs=(50, 400))
    assert len(found) > 5
    for window in found:
        part = select_dates(log, window.first, window.last)
        assert len(part) == window.jobs
        assert 50 <= window.jobs <= 400
        asked = sum(r * p for r, p in zip(part.run.tolist(), part.procs.tolist(), strict=True))
        assert window.load == asked / (64 * 3 * DAY)
    loads = [window.load for window in found]
    assert loads == sorted(loads, reverse=True)


def test_all_whole_windows_are_looked_at(log: Workload) -> None:
    """One for each midnight after which so many days of submissions follow."""
    at = log.submit + log.epoch
    first, last = -(-int(at[0]) // DAY), (int(at[-1]) - 3 * DAY) // DAY
    assert len(busy_windows(log, days=3, jobs=(0, 10**6))) == last - first + 1
    assert busy_windows(log, days=36_000) == []


def test_one_of_each_log_and_then_the_next_largest(log: Workload) -> None:
    """The last of them overlap no other of their log."""
    other = log.take(log.procs <= 16, name="other")
    found = busiest([log, other], 5, days=3, jobs=(10, 400))
    assert [window.log for window in found[:2]] == [log.name, "other"]
    assert found[0] == busy_windows(log, days=3, jobs=(10, 400))[0]
    for place, window in enumerate(found):
        assert not any(window.overlaps(before) for before in found[:place])
    rest = [window.load for window in found[2:]]
    assert rest == sorted(rest, reverse=True)
    assert len(busiest([log], 10**6, days=3, jobs=(0, 10**6))) <= np.ptp(log.submit) // (3 * DAY)


def test_a_log_without_dates_has_no_windows(log: Workload) -> None:
    """It is said which log that is."""
    with pytest.raises(InputError, match="dates of workload .* are unknown"):
        busy_windows(log.take(slice(None), epoch=-1))
