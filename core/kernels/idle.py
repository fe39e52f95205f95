"""Processors that stand idle while jobs wait for them, added up over spans of time."""

from __future__ import annotations

import numpy as np

from core.arrays import Float64, Int64
from core.kernels.jit import kernel


def idle_while_asked(
    submit: Int64,
    asks: Int64,
    start: Int64,
    takes: Int64,
    end: Int64,
    gives: Int64,
    processors: int,
    bounds: Int64,
) -> Float64:
    """Return min(idle processors, processors asked for) x time between bounds, float64[b - 1].

    submit, start, end: int64[n], each ascending, s; asks, takes, gives: int64[n], of each of
    these the processors; bounds: int64[b], ascending, s.
    """
    lost = np.zeros(bounds.size - 1)
    add_idle(submit, asks, start, takes, end, gives, processors, bounds, lost)
    return lost


@kernel
def add_idle(
    submit: Int64,
    asks: Int64,
    start: Int64,
    takes: Int64,
    end: Int64,
    gives: Int64,
    processors: int,
    bounds: Int64,
    lost: Float64,
) -> None:
    """Add to each span what was lost in it, processor-seconds."""
    n, spans = submit.size, lost.size
    i = j = k = span = 0
    asked, idle, now = 0, processors, bounds[0]
    while span < spans:
        until = bounds[span + 1]
        if k < n:
            # Every job is submitted before it starts, and starts before it ends.
            until = min(until, end[k])
            if j < n:
                until = min(until, start[j])
            if i < n:
                until = min(until, submit[i])
        if until > now:
            lost[span] += float(min(idle, asked)) * float(until - now)
            now = until
        while i < n and submit[i] <= now:
            asked += asks[i]
            i += 1
        while j < n and start[j] <= now:
            asked -= takes[j]
            idle -= takes[j]
            j += 1
        while k < n and end[k] <= now:
            idle += gives[k]
            k += 1
        while span < spans and bounds[span + 1] <= now:
            span += 1
