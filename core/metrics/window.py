"""Warm-up and cool-down: the counted jobs of a schedule, and the interval of its metrics."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from schedfarm.core.arrays import HORIZON, Bool, Int64
from schedfarm.core.durations import duration, seconds_of
from schedfarm.core.errors import InputError
from schedfarm.core.schedule import Schedule

NO_WARMUP = 0.0
"""Excluded share of a metric over all jobs."""


@dataclass(frozen=True, eq=False)
class Window:
    """Hold the counted jobs, and the interval for metrics of the machine.

    Refused and withdrawn jobs, which never start, are not counted: they have neither a wait nor an
    end. A job that could have left the queue, but started before, is not counted either, because
    the log has no run time of this job. So the counted jobs are the same under every policy.

    Parameters
    ----------
    begin, end : int
        Times, s; `end` is not before `begin`.
    counts : bool[n] or None
        Whether each job is counted; None if all jobs are counted.
    """

    begin: int
    end: int
    counts: Bool | None = None

    def inside(self, first: Int64, last: Int64) -> Int64:
        """Return the length of the part of each interval that lies in the window, s."""
        length: Int64 = np.minimum(last, self.end) - np.maximum(first, self.begin)
        return np.maximum(length, 0, out=length)


def window_of(
    schedule: Schedule, warmup: float | str = NO_WARMUP, cooldown: bool = False
) -> Window:
    """Return the window without warm-up and cool-down.

    If `warmup` is a share, the first floor(share x k) of the k started jobs by (end, position) are
    excluded. The window then begins at the last end of an excluded job. If `warmup` is a duration
    such as ``2w`` or ``12h``, the jobs that end within this time after the first submission are
    excluded. With `cooldown`, jobs that end after the last submission are excluded, and the window
    ends at the last submission.

    Examples
    --------
    >>> from schedfarm.core import Workload, simulate
    >>> w = Workload.from_columns(submit=[0, 0, 9], run=[4, 6, 5], estimate=[4, 6, 5],
    ...                           procs=[1, 1, 1], processors=2)
    >>> whole = window_of(simulate(w, "fcfs+easy"), 0.34, cooldown=True)
    >>> whole.begin, whole.end, whole.counts.tolist()
    (4, 9, [False, True, False])
    """
    warmup, jobs = check_warmup(warmup), schedule.workload
    if not len(jobs):
        return Window(0, 0)
    end, last = schedule.end, int(jobs.submit[-1])
    begin = int(jobs.submit[0])
    # If no job started, no job has an end.
    final = max(begin, int(end.max()))
    without = schedule.unstarted
    if jobs.has_leaving:
        without |= jobs.leave >= 0
    if not warmup and not cooldown and not without.any():
        return Window(begin, final)
    counts = ~without
    if isinstance(warmup, str):
        # The horizon replaces a later time: it also excludes all jobs, and sums fit int64.
        begin += min(seconds_of(warmup) or 0, HORIZON)
        counts &= end >= begin
    elif warmup:
        # The share is an exact fraction: in binary, 0.29 x 100 jobs is 28.999999999999996.
        ended = np.flatnonzero(counts)
        ended = ended[np.argsort(end[ended], kind="stable")]
        first = ended[: int(Fraction(str(warmup)) * ended.size)]
        counts[first] = False
        begin = int(end[first[-1]]) if first.size else begin
    if cooldown:
        counts &= end <= last
        final = last
    return Window(begin, max(begin, final), counts)


def check_warmup(warmup: object) -> float | str:
    """Return a warm-up in canonical form: a share as a float, or a duration; 0.0 for none.

    Examples
    --------
    >>> check_warmup(0), check_warmup("14d"), check_warmup("0s")
    (0.0, '2w', 0.0)
    """
    if isinstance(warmup, str) and (seconds := seconds_of(warmup)) is not None:
        return duration(seconds) if seconds else NO_WARMUP
    if isinstance(warmup, (int, float)) and not isinstance(warmup, bool) and 0 <= warmup < 1:
        return float(warmup)
    raise InputError(
        f"warmup is {warmup!r}; it must be a share of the jobs, at least 0 and below 1, such as "
        "0.01, or a duration such as '2w', '3d' or '12h'"
    )
