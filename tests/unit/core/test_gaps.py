"""The gaps of a plan: as long as possible, and around all that has been freed."""

from __future__ import annotations

import numpy as np

from schedfarm.core.engine.jit import NEVER
from schedfarm.core.engine.profile import Profile, change, clear, empty_profile, reserve, step_at
from schedfarm.core.engine.search.gaps import (
    Gaps,
    close_gap,
    lay_levels,
    no_gaps,
    open_gap,
)

SIZE, END = 3, 60


def free_at(profile: Profile) -> list[int]:
    """Free processors in each second; the machine is idle from END on."""
    return [int(profile.free[step_at(profile, s)]) for s in range(END)]


def run_around(free: list[int], s: int) -> tuple[int, int]:
    """First second, and end, of the seconds around s with a free processor."""
    begin = next((t + 1 for t in range(s, -1, -1) if free[t] == 0), 0)
    end = next((t for t in range(s, END) if free[t] == 0), NEVER)
    return begin, end


def check(gaps: Gaps, profile: Profile, freed: set[int]) -> None:
    """Compare the gaps with the runs around freed seconds in which a processor is still free."""
    free = free_at(profile)
    found = {}
    for k in range(gaps.state[0].count):
        gap = (int(gaps.begin[k]), int(gaps.end[k]))
        assert gap == run_around(free, gap[0])
        assert gap not in found
        assert gaps.length[k] == (NEVER if gap[1] == NEVER else gap[1] - gap[0])
        found[gap] = k
    for s in freed:
        if free[s] > 0:
            k = found[run_around(free, s)]
            assert gaps.first[k] <= s < gaps.last[k]
            assert gaps.widest[k] >= free[s]
    for (begin, _), k in found.items():
        levels = zip(gaps.since, gaps.long, range(gaps.state[0].levels), strict=False)
        assert any(since <= begin and long >= gaps.length[k] for since, long, _ in levels)


def test_gaps_are_the_runs_around_freed_processors() -> None:
    """Whatever is freed and taken, in one step or many; part of a window may be taken again."""
    rng = np.random.default_rng(11)
    opened = joined = 0
    for _ in range(150):
        profile, gaps, freed = empty_profile(4 * END), no_gaps(2 * END), set[int]()
        clear(profile, 0, SIZE)
        for _ in range(rng.integers(2, 12)):
            begin, length = int(rng.integers(0, END - 1)), int(rng.integers(1, 25))
            length = min(length, END - begin)
            if min(free_at(profile)[begin : begin + length]) > 0:
                reserve(profile, begin, length, 1)
        for _ in range(30):
            begin, length = int(rng.integers(0, END - 1)), int(rng.integers(1, 12))
            end = min(begin + length, END)
            free, before = free_at(profile)[begin:end], int(gaps.state[0].count)
            step = int(rng.integers(0, step_at(profile, begin) + 1))
            if max(free) < SIZE and rng.random() < 0.5:
                change(profile, step_at(profile, begin), begin, end, -1)
                open_gap(gaps, profile, 0, min(step, step_at(profile, begin)), begin, end, 0)
                freed |= set(range(begin, end))
                opened += 1
                joined += gaps.state[0].count < before
            elif min(free) > 0:
                change(profile, step_at(profile, begin), begin, end, 1)
                close_gap(gaps, profile, 0, min(step, step_at(profile, begin)), begin, end)
                freed -= set(range(begin, end))
            if rng.random() < 0.2:
                lay_levels(gaps)
            check(gaps, profile, freed)
    assert opened > 1000
    assert joined > 50
