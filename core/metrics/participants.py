"""Processor time exchanged between the clusters of a network, and migrated jobs."""

from __future__ import annotations

import numpy as np

from schedfarm.core.arrays import Bool, Int64
from schedfarm.core.metrics.users import added
from schedfarm.core.metrics.window import Window
from schedfarm.core.schedule import Schedule


def node_time(schedule: Schedule, window: Window) -> Int64:
    """Return the time that each participant's jobs held on each cluster within a window.

    Returns
    -------
    int64[c, c]
        Times, processor s, by the jobs' origin and cluster; exact.

    Examples
    --------
    >>> from schedfarm.core import Workload
    >>> from schedfarm.core.metrics.window import window_of
    >>> from schedfarm.core.machines.network.platform import Network
    >>> from schedfarm.core.schedule import Segments
    >>> w = Workload.from_columns(submit=[0], run=[9], estimate=[9], procs=[4], origin=[1],
    ...                           platform=Network([3, 3], ["a", "b"]))
    >>> parts = Segments(np.array([0, 0]), np.array([0, 1]), np.array([3, 1]))
    >>> schedule = Schedule(w, "fcfs+ics", w.submit, w.killed, segments=parts)
    >>> node_time(schedule, window_of(schedule)).tolist()
    [[0, 0], [27, 9]]
    """
    jobs, parts = schedule.workload, schedule.segments
    count = len(jobs.platform.places)
    if parts is None:
        return np.zeros((count, count), np.int64)
    held = window.inside(schedule.start, schedule.end)[parts.job] * parts.procs
    pair = jobs.origin[parts.job] * count + parts.place
    return added(pair, count * count, held).reshape(count, count)


def given(times: Int64) -> Int64:
    """Return the time that other participants' jobs held on each cluster, from `node_time`.

    Examples
    --------
    >>> given(np.array([[5, 1], [27, 9]])).tolist()
    [27, 1]
    """
    others: Int64 = times.sum(axis=0) - times.diagonal()
    return others


def received(times: Int64) -> Int64:
    """Return the time that each participant's jobs held on other clusters, from `node_time`.

    Examples
    --------
    >>> received(np.array([[5, 1], [27, 9]])).tolist()
    [1, 27]
    """
    elsewhere: Int64 = times.sum(axis=1) - times.diagonal()
    return elsewhere


def coallocated(schedule: Schedule) -> Bool:
    """Return whether each job ran on several clusters at once, bool[n]."""
    return _parts(schedule) > 1


def migrated(schedule: Schedule) -> Bool:
    """Return whether each job ran on one cluster other than its origin, bool[n]."""
    jobs, parts = schedule.workload, schedule.segments
    away = np.zeros(len(jobs), np.bool_)
    if parts is not None:
        away[parts.job] = parts.place != jobs.origin[parts.job]
    moved: Bool = away & (_parts(schedule) == 1)
    return moved


def _parts(schedule: Schedule) -> Int64:
    """Return the number of clusters on which each job ran, int64[n]."""
    job = np.zeros(0, np.int64) if schedule.segments is None else schedule.segments.job
    return np.bincount(job, minlength=len(schedule.workload))
