"""Step functions of time with exact integrals: queue length and processors in use."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from schedfarm.core.arrays import HORIZON, Int64
from schedfarm.core.metrics.window import window_of
from schedfarm.core.schedule import Schedule


@dataclass(frozen=True, eq=False)
class Steps:
    """Hold a step function with `values[i]` in the interval [`times[i]`, `times[i + 1]`).

    Parameters
    ----------
    times : int64[k + 1]
        Ascending instants, s.
    values : int64[k]
        Nonnegative values; outside of the times, the function is 0.
    """

    times: Int64
    values: Int64

    def integral(self) -> int:
        """Return the exact integral, in units of the values times s."""
        return int(self.over(self.times[[0, -1]])[0]) if self.values.size else 0

    def over(self, edges: Int64) -> npt.NDArray[np.int64] | npt.NDArray[np.object_]:
        """Return the exact integral between neighbouring edges, which are ascending instants, s.

        Sums that may exceed int64 are Python integers.
        """
        if not self.values.size:
            return np.zeros(edges.size - 1, np.int64)
        lengths = np.diff(self.times)
        largest = int(self.values.max()) * int(self.times[-1] - self.times[0])
        values = self.values if largest < HORIZON else self.values.astype(object)
        until = np.concatenate(([0], np.cumsum(values * lengths)))
        inside = np.clip(edges, self.times[0], self.times[-1])
        step = np.minimum(np.searchsorted(self.times, inside, side="right"), values.size + 1) - 1
        after = np.concatenate((values, [0]))[step] * (inside - self.times[step])
        integrals: npt.NDArray[np.int64] = np.diff(until[step] + after)
        return integrals

    def between(self, begin: int, end: int) -> Steps:
        """Return the part from begin to end, s."""
        first = int(np.searchsorted(self.times, begin, side="right"))
        last = int(np.searchsorted(self.times, end, side="left"))
        times = np.concatenate(([begin], self.times[first:last], [end]))
        values = np.concatenate(([0], self.values, [0]))[first : first + times.size - 1]
        return Steps(times.astype(np.int64), values.astype(np.int64))

    def extremes(self, edges: Int64) -> tuple[Int64, Int64]:
        """Return the least and the largest value between neighbouring edges within the times."""
        first = np.searchsorted(self.times, edges[:-1], side="right") - 1
        last = np.searchsorted(self.times, edges[1:], side="left")
        bounds = np.stack((first, np.maximum(last, first + 1)), axis=1).ravel()
        # reduceat takes pairs of bounds, of which the last may not be the length.
        padded = np.append(self.values, self.values[-1])
        least, most = (one.reduceat(padded, bounds)[::2] for one in (np.minimum, np.maximum))
        return least, most


def queue_steps(schedule: Schedule) -> Steps:
    """Return the number of waiting jobs, from the first submission to the last end.

    The integral is the sum of the waits. Divided by the duration, it is the metric `queue_length`.

    Examples
    --------
    >>> from schedfarm.core import Workload, simulate
    >>> w = Workload.from_columns(submit=[0, 1], run=[4, 2], estimate=[4, 2], procs=[2, 2],
    ...                           processors=2)
    >>> queue = queue_steps(simulate(w, "fcfs+easy"))
    >>> queue.times.tolist(), queue.values.tolist(), queue.integral()
    ([0, 1, 4, 6], [0, 1, 0], 3)
    """
    ran = ~schedule.unstarted
    submit, start = schedule.workload.submit[ran], schedule.start[ran]
    return _steps(schedule, submit, start, np.ones(submit.size, np.int64))


def busy_steps(schedule: Schedule) -> Steps:
    """Return the number of processors in use, from the first submission to the last end.

    The integral divided by processors x duration is the metric `utilisation`.

    Examples
    --------
    >>> from schedfarm.core import Workload, simulate
    >>> w = Workload.from_columns(submit=[0, 1], run=[4, 2], estimate=[4, 2], procs=[2, 1],
    ...                           processors=2)
    >>> busy = busy_steps(simulate(w, "fcfs+easy"))
    >>> busy.times.tolist(), busy.values.tolist(), busy.integral()
    ([0, 4, 6], [2, 1], 10)
    """
    taken = schedule.taken
    ran = taken > 0
    return _steps(schedule, schedule.start[ran], schedule.end[ran], taken[ran])


def _steps(schedule: Schedule, first: Int64, last: Int64, weight: Int64) -> Steps:
    """Return, at each instant, the summed weights of intervals [first, last) that contain it."""
    window = window_of(schedule)
    instants = np.concatenate((first, last, [window.begin, window.end]))
    changes = np.concatenate((weight, -weight, [0, 0]))
    times, place = np.unique(instants, return_inverse=True)
    if times.size < 2:
        return Steps(np.array([window.begin, window.end]), np.zeros(1, np.int64))
    order = np.argsort(place, kind="stable")
    at = np.searchsorted(place[order], np.arange(times.size))
    values = np.cumsum(np.add.reduceat(changes[order], at))[:-1]
    changed = np.concatenate(([True], values[1:] != values[:-1]))
    return Steps(np.append(times[:-1][changed], times[-1]), values[changed])
