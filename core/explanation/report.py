"""An explanation as plain values, and as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from schedfarm.core.explanation.causes import KINDS, CauseSet
from schedfarm.core.explanation.situation import AHEAD, LATER, PASSED, ROLES, RUNNING, Held
from schedfarm.core.numerals import counted, grouped, lasting, significant, timed
from schedfarm.core.policy.orders import find_order

if TYPE_CHECKING:
    from schedfarm.core.explanation.explain import Explanation, Other

NAMED = 12
"""Jobs of a set that the text names."""


def facts(found: Explanation) -> dict[str, Any]:
    """Return everything as plain values; jobs by their numbers."""
    jobs = found.schedule.workload
    order = find_order(found.policy.order)
    return {
        "trace": jobs.name,
        "policy": found.policy.name,
        "job": job_facts(found, found.job),
        "promised": found.promised,
        "fair": found.fair,
        "order": {"name": order.name, "first": order.meaning, "key": _key(found, found.job)},
        "held": [_held_facts(found, held) for held in found.held],
        "ended_at_start": [
            {**job_facts(found, job), "early": _early(found, job)} for job in found.ended
        ],
        "submitted_at_start": [int(jobs.job[job]) for job in found.arrived],
        "others": [
            {
                **job_facts(found, other.job),
                "roles": list(other.roles),
                "key": _key(found, other.job),
                "backfilled": bool(found.schedule.backfilled[other.job]),
                "gain": other.gain,
            }
            for other in found.others
        ],
        "cause": None if found.cause is None else _cause_facts(found, found.cause),
        "departure": found.departure,
    }


def job_facts(found: Explanation, job: int) -> dict[str, Any]:
    """Return the columns of a job by name."""
    schedule, jobs = found.schedule, found.schedule.workload
    columns = {
        "number": jobs.job,
        "user": jobs.user,
        "procs": jobs.procs,
        "estimate": jobs.estimate,
        "submit": jobs.submit,
        "start": schedule.start,
        "end": schedule.end,
        "wait": schedule.wait,
    }
    return {name: int(column[job]) for name, column in columns.items()}


def text(found: Explanation, top: int) -> str:
    """Return an explanation as lines to read."""
    return "\n".join([*_head(found), *_story(found, top)])


def _head(found: Explanation) -> Iterator[str]:
    schedule, jobs, job = found.schedule, found.schedule.workload, found.job
    user = f", user {jobs.user[job]}" if jobs.user[job] >= 0 else ""
    yield f"{jobs.name} on {jobs.machine} under {found.policy.name}"
    yield (
        f"job {jobs.job[job]}: {counted(int(jobs.procs[job]), 'processor')}, "
        f"estimate {lasting(int(jobs.estimate[job]))}, run {lasting(int(jobs.run[job]))}{user}"
    )
    if schedule.refused[job]:
        yield f"submitted at {_at(found.submit)} and refused: it never starts"
    elif found.wait <= 0:
        yield f"submitted at {_at(found.submit)} and started at once: it never waited"
    else:
        yield (
            f"submitted at {_at(found.submit)}, started at {_at(found.start)}: "
            f"waited {timed(found.wait)}"
        )


def _story(found: Explanation, top: int) -> Iterator[str]:
    if not found.held:
        return
    if found.departure is not None:
        yield found.departure
    else:
        yield from _expected(found)
    order = find_order(found.policy.order)
    yield ""
    for number, held in enumerate(found.held):
        when = "at its submission" if number == 0 else "in the last pass before its start"
        yield f"{when}, {_at(held.instant)}: {_usage(found, held)}"
        if number == 0:
            ahead = [other.job for other in found.others if AHEAD in other.roles]
            yield (
                f"  {counted(len(ahead), 'job')} ahead of it in the queue; order {order.name}: "
                f"{order.meaning}"
            )
        if held.why:
            yield f"  it did not start: {held.why}"
        if held.head is not None and held.shadow is not None:
            head = (
                "it is the head"
                if held.head == found.job
                else f"the head is {_job(found, held.head)}"
            )
            yield (
                f"  {head}; predicted ends free its processors at {_at(held.shadow)}, "
                f"the shadow time, with {held.extra} to spare"
            )
    yield f"at its start, {_at(found.start)}: {_trigger(found)}"
    yield ""
    yield from _others(found, top)
    if found.cause is not None:
        yield ""
        yield from _cause(found, found.cause)


def _expected(found: Explanation) -> Iterator[str]:
    if found.promised is not None:
        when = f"{_at(found.promised)}, {_against(found, found.promised)}"
        yield f"  promised at its submission: {when}"
    else:
        yield f"  promised at its submission: nothing; {found.policy.rule} reserves no start for it"
    if found.fair is not None:
        yield f"  fair, without later jobs: {_at(found.fair)}, {_against(found, found.fair)}"


def _against(found: Explanation, instant: int) -> str:
    if instant == found.start:
        return "its start"
    word = "earlier" if instant < found.start else "later"
    return f"{timed(abs(found.start - instant))} {word} than its start"


def _usage(found: Explanation, held: Held) -> str:
    return f"{held.used} of {found.schedule.workload.processors} processors in use"


def _trigger(found: Explanation) -> str:
    """Say what happened at the start."""
    if found.ended:
        said = []
        for job in found.ended[:3]:
            early = _early(found, job)
            when = f"{timed(early)} before its estimate" if early else "at its estimate"
            said.append(f"{_job(found, job)} ended {when}")
        more = len(found.ended) - 3
        return "; ".join(said) + (f"; and {more} more" if more > 0 else "")
    if found.arrived:
        return "no job ended; " + ", ".join(
            f"job {found.schedule.workload.job[job]} was submitted" for job in found.arrived[:3]
        )
    due = found.departure is None and found.policy.row.keeps_plan
    return "no job ended or was submitted" + ("; its reservation was due" if due else "")


def _others(found: Explanation, top: int) -> Iterator[str]:
    if not found.others:
        yield "no other job ran, was ahead of it, or passed it"
        return
    counts = {role: sum(role in other.roles for other in found.others) for role in ROLES}
    ran = counted(counts[RUNNING], "job")
    yield f"{ran} ran at its submission, {counts[AHEAD]} were ahead of it"
    yield f"{counts[LATER]} came later and went ahead of it{_delaying(found, LATER)}"
    yield f"{counts[PASSED]} passed it from behind{_delaying(found, PASSED)}"
    yield (f"  {'job':>9}{'procs':>8}{'estimate':>12}{'start':>12}{'end':>12}{'gain':>12}  role")
    shown = most_important(found, top)
    for other in shown:
        fact = job_facts(found, other.job)
        gain = "-" if other.gain is None else grouped(other.gain)
        yield (
            f"  {fact['number']:>9}{fact['procs']:>8}{grouped(fact['estimate']):>12}"
            f"{grouped(fact['start']):>12}{grouped(fact['end']):>12}{gain:>12}  "
            f"{', '.join(other.roles) or 'other'}"
        )
    if len(found.others) > len(shown):
        yield f"  and {len(found.others) - len(shown)} more; --top lists them, --json has all"
    yield "  times in s; gain: how much earlier it would start without that job alone"


def _delaying(found: Explanation, role: str) -> str:
    """Say how many of the jobs of a role delayed the job, where they were removed and tried."""
    if found.departure is not None:
        return ""
    count = sum(role in other.roles and bool(other.gain) for other in found.others)
    return f", {count} of which delayed it"


def most_important(found: Explanation, top: int) -> list[Other]:
    """Return some other jobs: those without which it starts earliest, then those that held most."""
    start, end, procs = found.schedule.start, found.schedule.end, found.schedule.taken

    def weight(other: Other) -> tuple[int, int]:
        held = min(int(end[other.job]), found.start) - max(int(start[other.job]), found.submit)
        return -(other.gain or 0), -max(held, 0) * int(procs[other.job])

    return sorted(found.others, key=weight)[:top]


def _cause(found: Explanation, cause: CauseSet) -> Iterator[str]:
    if cause.kind == "none":
        alone = cause.alone is not None and cause.alone >= found.start
        yield (
            "no set of jobs is found without which it starts earlier"
            + ("; without any other job it starts at the same instant" if alone else "")
        )
        yield f"  {_searched(cause)}"
        return
    assert cause.start is not None
    size = len(cause.jobs)
    yield (
        f"{cause.kind} set: without {counted(size, 'job')} it starts at {_at(cause.start)}, "
        f"{timed(found.start - cause.start)} earlier: {_listed(found, cause.jobs)}"
    )
    singles = sum(bool(other.gain) for other in found.others)
    if size == 1 and singles > 1:
        yield f"  each of {singles} jobs alone has such an effect; this one has the largest"
    elif size > 1:
        yield f"  {KINDS[cause.kind]}; {_searched(cause)}"


def _searched(cause: CauseSet) -> str:
    of = (
        f"the {cause.candidates} jobs"
        if cause.candidates == cause.of
        else (f"{cause.candidates} of the {cause.of} jobs")
    )
    if cause.tried == 0:
        return f"not all single jobs were tried ({cause.simulations} simulations); raise the effort"
    sizes = "all single jobs" if cause.tried == 1 else f"all sets of up to {cause.tried} jobs"
    return f"{sizes} among {of} that were submitted before its start were tried"


def _listed(found: Explanation, jobs: Iterable[int]) -> str:
    named = [_job(found, job) for job in jobs]
    more = f" and {len(named) - NAMED} more" if len(named) > NAMED else ""
    return ", ".join(named[:NAMED]) + more


def _job(found: Explanation, job: int) -> str:
    jobs = found.schedule.workload
    return f"job {jobs.job[job]} ({jobs.procs[job]} processors)"


def _at(instant: int) -> str:
    return f"{significant(instant)} s"


def _early(found: Explanation, job: int) -> int:
    """Return how long before its estimate a job ended, s."""
    schedule = found.schedule
    due = schedule.start[job] + schedule.workload.estimate[job]
    return max(int(due - schedule.end[job]), 0)


def _key(found: Explanation, job: int) -> float | None:
    """Return the number by which the order sorts a job, where it is fixed."""
    key = find_order(found.policy.order).fixed_key(found.schedule.workload)
    return None if key is None else float(key[job])


def _held_facts(found: Explanation, held: Held) -> dict[str, Any]:
    head = None if held.head is None else int(found.schedule.workload.job[held.head])
    return {
        "instant": held.instant,
        "used": held.used,
        "why": held.why,
        "head": head,
        "shadow": held.shadow,
        "extra": held.extra,
    }


def _cause_facts(found: Explanation, cause: CauseSet) -> dict[str, Any]:
    return {
        "kind": cause.kind,
        "meaning": KINDS[cause.kind],
        "jobs": [job_facts(found, job) for job in cause.jobs],
        "start": cause.start,
        "tried": cause.tried,
        "candidates": cause.candidates,
        "of": cause.of,
        "simulations": cause.simulations,
    }
