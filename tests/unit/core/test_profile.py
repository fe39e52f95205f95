"""The availability profile against one number a second."""

from __future__ import annotations

import numpy as np

from schedfarm.core.engine.profile import (
    HEAD,
    TAIL,
    Profile,
    advance,
    clear,
    earlier_fit,
    earliest_fit,
    empty_profile,
    lift,
    move,
    reserve,
    step_at,
)

HORIZON = 60


def laid_out(profile: Profile) -> list[int]:
    """Return the processors free in each second."""
    times, free, mark = profile
    steps = range(mark[HEAD], mark[TAIL])
    return [free[max(i for i in steps if times[i] <= t)] for t in range(times[mark[0]], HORIZON)]


def is_free(profile: Profile, need: int, begin: int, end: int) -> bool:
    """Say whether so many processors are free at an instant and from there until another."""
    times, free, mark = profile
    return all(
        free[i] >= need
        for i in range(mark[HEAD], mark[TAIL])
        if times[i] < max(end, begin + 1) and (i + 1 == mark[TAIL] or begin < times[i + 1])
    )


def test_earliest_fit_looks_past_a_gap_that_is_too_short() -> None:
    """A reservation needs its processors for its whole duration."""
    profile = empty_profile(8)
    clear(profile, 0, 4)
    reserve(profile, 0, 2, 3)
    reserve(profile, 5, 4, 2)
    assert earliest_fit(profile, 1, 9, 0) == 0
    assert earliest_fit(profile, 3, 3, 0) == 2
    assert earliest_fit(profile, 3, 4, 0) == 9
    assert earliest_fit(profile, 4, 0, 1) == 2


def test_reservations_that_share_a_breakpoint_are_lifted_one_by_one() -> None:
    """One ends where the other begins, so the profile is level there; both come out whole."""
    profile = empty_profile(8)
    clear(profile, 0, 4)
    reserve(profile, 0, 5, 2)
    reserve(profile, 5, 5, 2)
    lift(profile, 0, 5, 2)
    assert laid_out(profile)[:12] == [4] * 5 + [2] * 5 + [4] * 2
    reserve(profile, 3, 2, 2)
    lift(profile, 5, 5, 2)
    assert laid_out(profile)[:12] == [4] * 3 + [2] * 2 + [4] * 7


def test_random_reservations_agree_with_one_number_a_second() -> None:
    """Every verb equals its plain meaning on an array of seconds."""
    rng = np.random.default_rng(7)
    for _ in range(60):
        profile, seconds, held, now = empty_profile(24), [6] * HORIZON, [], 0
        clear(profile, 0, 6)
        for _ in range(25):
            need, duration = int(rng.integers(1, 7)), int(rng.integers(0, 6))
            fits = [
                t
                for t in range(now, HORIZON)
                if all(seconds[u] >= need for u in range(t, min(t + max(duration, 1), HORIZON)))
            ]
            t = earliest_fit(profile, need, duration, now)
            assert t == fits[0]
            if rng.random() < 0.6 and len(held) < 8:
                reserve(profile, t, duration, need)
                held.append((t, duration, need))
                seconds[t : t + duration] = [s - need for s in seconds[t : t + duration]]
            elif held:
                t, duration, need = held.pop(int(rng.integers(len(held))))
                left = max(t + duration - max(t, now), 0)
                t = max(t, now)
                lift(profile, t, left, need)
                seconds[t : t + left] = [s + need for s in seconds[t : t + left]]
            now += int(rng.integers(0, 2))
            held = [h for h in held if h[0] + h[1] > now]
            advance(profile, now)
            assert laid_out(profile) == seconds[profile.times[profile.mark[HEAD]] :]


def test_fits_are_found_through_many_steps() -> None:
    """As among the instants at which something changes, one by one; before `stop` alone."""
    rng = np.random.default_rng(11)
    for _ in range(150):
        steps = int(rng.integers(2, 70))
        profile = empty_profile(80)
        profile.times[:steps] = np.cumsum(rng.integers(1, 9, steps))
        profile.free[:steps] = [*rng.integers(0, 5, steps - 1), 6]
        profile.mark[:] = int(rng.integers(0, steps)), steps
        begins = profile.times[profile.mark[HEAD] : steps].tolist()
        for _ in range(12):
            need, duration = map(int, rng.integers([1, 0], [7, 40]))
            after = begins[0] + int(rng.integers(0, 40))
            stop, at = map(int, after + np.cumsum(rng.integers(1, 60, 2)))
            instants = [after, *(t for t in begins if t > after)]
            fits = [t for t in instants if is_free(profile, need, t, t + duration)]
            assert earliest_fit(profile, need, duration, after) == fits[0]
            early = [
                t for t in instants if t < stop and is_free(profile, need, t, min(t + duration, at))
            ]
            t, step = earlier_fit(profile, need, duration, after, stop, at)
            assert t == (early[0] if early else at)
            assert not early or step == step_at(profile, t)


def test_a_move_is_a_lift_and_a_reservation_in_one_pass() -> None:
    """Wherever both lie and whatever else is reserved; the steps stay ascending."""
    rng = np.random.default_rng(5)
    for case in range(400):
        moved, anew = empty_profile(60), empty_profile(60)
        others = [tuple(map(int, rng.integers([0, 1, 1], [20, 10, 3]))) for _ in range(case % 6)]
        at, duration, need = map(int, rng.integers([1, 1, 1], [25, 10, 4]))
        t = int(rng.integers(0, at))
        for profile in (moved, anew):
            clear(profile, 0, 30)
            for begin, length, procs in others:
                reserve(profile, begin, length, procs)
            reserve(profile, at, duration, need)
            advance(profile, case % (t + 1))
        far = int(rng.integers(moved.mark[HEAD], step_at(moved, max(at, t + duration)) + 1))
        move(moved, step_at(moved, t), far, at, t, duration, need)
        lift(anew, at, duration, need)
        reserve(anew, t, duration, need)
        levels = [[int(p.free[step_at(p, s)]) for s in range(t, 60)] for p in (moved, anew)]
        assert levels[0] == levels[1], case
        assert (np.diff(moved.times[moved.mark[HEAD] : moved.mark[TAIL]]) > 0).all(), case
