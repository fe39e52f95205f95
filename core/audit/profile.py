"""Free processors over time, as the auditor keeps them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable


class Profile:
    """Hold the free processors by predicted ends and reservations, from `now` on.

    ``free[i]`` processors are free in [times[i], times[i + 1]). In the last step, which never ends,
    the whole machine is free.
    """

    def __init__(self, now: int, free: int, ends: Iterable[tuple[int, int]]) -> None:
        self.times = [now]
        self.free = [free]
        for end, procs in ends:
            if end > self.times[-1]:
                self.times.append(end)
                self.free.append(self.free[-1])
            self.free[-1] += procs

    def take(self, begin: int, end: int, procs: int) -> None:
        """Take processors in [begin, end); a negative number releases them."""
        begin = max(begin, self.times[0])
        if end <= begin:
            return
        first, last = self._edge(begin), self._edge(end)
        for step in range(first, last):
            self.free[step] -= procs

    def earliest(self, procs: int, length: int) -> int:
        """Return the first instant at which processors are free for a length of time, s.

        A length of 0 requires the processors at that instant only.
        """
        step = 0
        while True:
            short = self._shortage(step, procs, self.times[step] + max(length, 1))
            if short < 0:
                return self.times[step]
            step = short + 1

    def has_room(self, procs: int, length: int) -> bool:
        """Return whether processors are free from now on for a length of time, s."""
        return self._shortage(0, procs, self.times[0] + length) < 0

    def _shortage(self, step: int, procs: int, end: int) -> int:
        """Return the first step from `step` on, before `end`, with fewer free processors; or -1."""
        while step < len(self.times) and self.times[step] < end:
            if self.free[step] < procs:
                return step
            step += 1
        return -1

    def _edge(self, instant: int) -> int:
        step = bisect_left(self.times, instant)
        if step == len(self.times) or self.times[step] != instant:
            self.times.insert(step, instant)
            self.free.insert(step, self.free[step - 1])
        return step
