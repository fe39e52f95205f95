"""Early completions: the reservations that they move, and the reservations that remain.

Without snapshots of the profile, an early completion invalidates all reservations
(`core.engine.plan`).
"""

from __future__ import annotations

from schedfarm.core.engine.jit import NEVER, routine, verb
from schedfarm.core.engine.lanes import ALL, WORD, first_places, lowest, up_to
from schedfarm.core.engine.plan import Plan, void
from schedfarm.core.engine.profile import (
    HEAD,
    TAIL,
    Profile,
    fit_before,
    reserve_at,
    step_at,
    step_from,
)
from schedfarm.core.engine.running import Jobs, Running
from schedfarm.core.engine.snapshots import (
    give_all,
    give_until,
    has_space,
    in_the_making,
    profile_of,
    replace,
    save,
)

PATIENCE = 8
"""Number of early completions with few reservations after which no snapshots are made.

With a value of 1, the KTH log at load 1.0 takes a seventh longer.
"""


@routine
def give_to_profiles(plan: Plan, running: Running, jobs: Jobs, now: int, one: bool) -> None:
    """Free the processors of the jobs that end early now, or of the first one, in all profiles."""
    p = running.count[0] - 1
    while p >= 0 and running.end[p] == now:
        j = running.job[p]
        end = jobs.start[j] + jobs.estimate[j]
        if end > now:
            give_all(plan.snapshots, now, end, jobs.procs[j])
            if plan.state[0].loaded == 1:
                give_until(plan.profile, now, end, jobs.procs[j])
        p = -1 if one else p - 1


@verb
def give_early(plan: Plan, running: Running, jobs: Jobs, now: int, one: bool) -> None:
    """Free the processors of early ends in all profiles, if there are snapshots."""
    if plan.snapshots.state[0].saved > 0:
        give_to_profiles(plan, running, jobs, now, one)


@verb
def may_move(plan: Plan, profile: Profile, i: int, now: int) -> bool:
    """Return whether the job at place i fits before its reservation, given earlier places.

    Only processors that were freed until state.freed can have made a gap: before that, the job had
    no gap before its reservation.

    Invariant: after checked[need] = (check, length, t), no job with this need and at least this
    length fits before t in the same check. From place to place, the profile of a check only loses
    processors.
    """
    checked, check, cell = plan.snapshots.checked, plan.snapshots.state[0].checks, plan.front[0] + i
    need, length = plan.need[cell], plan.length[cell]
    after, end = now, min(plan.snapshots.state[0].freed, plan.at[i])
    if checked[need, 0] == check and checked[need, 1] <= length:
        after = max(now, checked[need, 2])
    if after >= end:
        return False
    step = step_from(profile, profile.mark[HEAD], after)
    if fit_before(profile, step, need, length, after, end, plan.at[i])[0] < end:
        return True
    checked[need, 0], checked[need, 1], checked[need, 2] = check, length, end
    return False


@verb
def most_free_until(profile: Profile, end: int) -> int:
    """Return the largest number of free processors at any instant before `end`."""
    most, i = 0, profile.mark[HEAD]
    while i < profile.mark[TAIL] and profile.times[i] < end:
        most = max(most, profile.free[i])
        i += 1
    return int(most)


@verb
def first_to_move(plan: Plan, k: int, stop: int, now: int) -> int:
    """Return the first place from below[k] on with a reservation that may move, or `stop`.

    The profile in the making then has all reservations before this place.

    A job that fits nowhere earlier in snapshot k does not fit with further reservations either. For
    any other job, the reservations between the snapshot and the job, which do not move, are added
    to a copy of the snapshot. If the copy is full, the place of the next reservation is returned.
    """
    snapshots, front, placed = plan.snapshots, plan.front[0], plan.snapshots.below[k]
    first, saved, made, copied = placed, profile_of(snapshots, k), in_the_making(snapshots), False
    most = most_free_until(saved, snapshots.state[0].freed)
    for begin in range(first, stop, WORD):
        word = up_to(plan.need, front + begin, most) & first_places(stop - begin)
        word &= up_to(plan.at, begin, now) ^ ALL
        while word != 0:
            i = begin + lowest(word)
            word &= word - 1
            if not may_move(plan, made if copied else saved, i, now):
                continue
            if not copied:
                replace(made, saved)
                copied = True
            while placed < i:
                if not has_space(snapshots, made):
                    return int(placed)
                cell, t = front + placed, plan.at[placed]
                reserve_at(made, step_at(made, t), t, plan.length[cell], plan.need[cell])
                placed += 1
            if may_move(plan, made, i, now):
                return int(i)
    return stop


@routine
def resume(plan: Plan, profile: Profile, count: int) -> None:
    """Return to a profile with a number of reservations."""
    state = plan.state
    replace(plan.profile, profile)
    state[0].planned, state[0].loaded, state[0].due = count, 1, NEVER
    state[0].layout += 1
    for i in range(count):
        state[0].due = min(state[0].due, plan.at[i])


@verb
def resume_last(plan: Plan) -> None:
    """Return to the last snapshot with reservations, if there is one."""
    saved = plan.snapshots.state[0].saved
    if saved > 1:
        resume(plan, profile_of(plan.snapshots, saved - 1), plan.snapshots.below[saved - 1])


@routine
def check_all(plan: Plan, now: int) -> None:
    """Keep the reservations before the first one that can move to early freed processors.

    Invariant: the snapshots already have these processors. Let no reservation before place i move.
    Then the job at i is placed in the profile of the running jobs and of the reservations before i.
    Since the last check this profile has gained the freed processors. Jobs behind i that started
    have left room for the reservation. So the job still fits at its reservation, and moves exactly
    if the profile has an earlier gap. Such a gap begins before the last predicted end of the freed
    processors.
    """
    snapshots, state = plan.snapshots, plan.state
    saved, k = snapshots.state[0].saved, 0
    snapshots.state[0].checks += 1
    # The floors of the layout do not hold for a profile that has gained processors.
    state[0].layout += 1
    last = state[0].planned if state[0].loaded == 1 else state[0].kept
    stop = moved = 0
    while k < saved and moved == stop:
        stop = snapshots.below[k + 1] if k + 1 < saved else last
        moved = first_to_move(plan, k, stop, now)
        k += 1
    snapshots.state[0].freed = 0
    state[0].kept = moved
    if moved < stop:
        snapshots.state[0].saved = k
        resume(plan, in_the_making(snapshots), moved)
    elif state[0].loaded == 0:
        resume(plan, profile_of(snapshots, saved - 1), snapshots.below[saved - 1])


@verb
def reconsider(plan: Plan, now: int) -> None:
    """Invalidate the reservations from the first one that an early completion moves.

    Without snapshots, all are invalid. Snapshots pay only if many reservations are kept.
    """
    state, kept = plan.snapshots.state, plan.state[0].kept
    state[0].worth = PATIENCE if kept >= 2 * state[0].apart else max(0, state[0].worth - 1)
    if state[0].worth > 0 and state[0].saved > 0:
        check_all(plan, now)
    else:
        void(plan)


@verb
def keep(plan: Plan) -> None:
    """Save the profile if snapshots are in use and the last one has far fewer reservations."""
    snapshots, planned, saved = plan.snapshots, plan.state[0].planned, plan.snapshots.state[0].saved
    if saved == 0:
        if planned == 0 and snapshots.state[0].worth > 0:
            save(snapshots, plan.profile, 0)
    else:
        before = snapshots.below[saved - 1]
        if planned - before >= snapshots.state[0].apart + before // 2:
            save(snapshots, plan.profile, planned)
