"""An explanation as plain values, and as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from schedfarm.core.explanation.causes import KINDS, CauseSet
from schedfarm.core.explanation.situation import AHEAD, LATER, PASSED, ROLES, RUNNING, Held
from schedfarm.core.machines.hosts.platform import Hosts
from schedfarm.core.machines.partitions.platform import Partitions
from schedfarm.core.machines.resources.platform import Resources
from schedfarm.core.numerals import counted, grouped, lasting, significant, timed
from schedfarm.core.policy.orders import find_order

if TYPE_CHECKING:
    from schedfarm.core.explanation.explain import Explanation, Other

NAMED = 12
"""Largest number of jobs of a set that the text lists."""

MOST_USAGES = 8
"""Largest number of clusters, nodes or resources in the text; JSON lists all."""


UNITS = dict.fromkeys(
    ("estimate", "submit", "start", "end", "wait", "promised", "fair", "early", "gain"), "s"
)
"""Units of keys in JSON; instants count from the beginning of the log."""


def facts(found: Explanation) -> dict[str, Any]:
    """Return the explanation as plain values; job numbers identify jobs."""
    jobs = found.schedule.workload
    order = find_order(found.policy.order)
    return {
        "trace": jobs.name,
        "policy": found.policy.name,
        "units": UNITS,
        "job": {**job_facts(found, found.job), **_place_facts(found)},
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
    values: dict[str, Any] = {name: int(column[job]) for name, column in columns.items()}
    return {**values, "user_name": _user(found, job)} if "user" in jobs.names else values


def _user(found: Explanation, job: int) -> str:
    """Return the name of a job's user, or the user's number if the log has no name."""
    jobs = found.schedule.workload
    number = int(jobs.user[job])
    return jobs.names.get("user", {}).get(number, str(number))


def text(found: Explanation, top: int) -> str:
    """Return an explanation as lines of readable text."""
    return "\n".join([*_head(found), *_story(found, top)])


def _head(found: Explanation) -> Iterator[str]:
    schedule, jobs, job = found.schedule, found.schedule.workload, found.job
    user = f", user {_user(found, job)}" if jobs.user[job] >= 0 else ""
    yield f"{jobs.name} on {jobs.machine} under {found.policy.name}"
    origin = f", of {_origin(found)}" if jobs.platform.participants else ""
    yield (
        f"job {jobs.job[job]}: {_requested(found, job)}, "
        f"estimate {lasting(int(jobs.estimate[job]))}, run {lasting(int(jobs.run[job]))}"
        f"{user}{origin}"
    )
    where = _where(found)
    if schedule.refused[job]:
        yield f"submitted at {_at(found.submit)} and refused: it never starts"
    elif found.wait <= 0:
        yield f"submitted at {_at(found.submit)} and started at once{where}: it never waited"
    else:
        yield (
            f"submitted at {_at(found.submit)}, started at {_at(found.start)}{where}: "
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
        elif held.unknown:
            yield f"  the reason of the rule is not known: {held.unknown}"
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
    jobs = found.schedule.workload
    whole = f"{held.used} of {jobs.processors} processors in use"
    if not 0 < len(held.in_use) <= MOST_USAGES:
        return whole
    if isinstance(jobs.platform, Resources | Hosts):
        return ", ".join(
            (
                whole,
                *(f"{grouped(one.used)} of {grouped(one.of)} {one.unit}" for one in held.in_use),
            )
        )
    return f"{whole}: {', '.join(f'{one.name} {one.used} of {one.of}' for one in held.in_use)}"


def _requested(found: Explanation, job: int) -> str:
    """Return a clause with the requests of a job."""
    jobs = found.schedule.workload
    others = ((int(getattr(jobs, name)[job]), unit) for name, unit, _ in jobs.platform.stocks)
    procs = counted(int(jobs.procs[job]), "processor")
    said = [procs, *(f"{grouped(n)} {unit}" for n, unit in others if n > 0)]
    if isinstance(jobs.platform, Partitions):
        said.append(f"partition {jobs.platform.label(int(jobs.partition[job]))}")
    if isinstance(jobs.platform, Hosts):
        hosts, _ = jobs.platform.requests(jobs.take(slice(job, job + 1)))
        said.append(counted(int(hosts[0]), "host"))
        if jobs.platform.parts:
            said.append(f"partition {jobs.platform.label(int(jobs.partition[job]))}")
    return ", ".join(said)


def _origin(found: Explanation) -> str:
    jobs = found.schedule.workload
    return jobs.platform.participants[int(jobs.origin[found.job])]


def _places(found: Explanation) -> dict[str, int]:
    """Return the processors of the job on each cluster or node; empty on a pool."""
    names = found.schedule.workload.platform.places
    if len(names) < 2 or found.schedule.refused[found.job]:
        return {}
    # This module has kernels, and imports numba.
    from schedfarm.core.placement import parts_of

    job, place, procs = parts_of(found.schedule)
    of = job == found.job
    return {
        names[k]: count for k, count in zip(place[of].tolist(), procs[of].tolist(), strict=True)
    }


def _where(found: Explanation) -> str:
    """Name the clusters or nodes of the job."""
    places = _places(found)
    if not places:
        return ""
    if len(places) > MOST_USAGES:
        return f" on {len(places)} {found.schedule.workload.platform.part}s"
    if len(places) == 1:
        return f" on {next(iter(places))}"
    return " on " + ", ".join(f"{name} ({procs} processors)" for name, procs in places.items())


def _place_facts(found: Explanation) -> dict[str, Any]:
    """Return the values that depend on the kind of machine: places, other requests, origin."""
    jobs = found.schedule.workload
    facts: dict[str, Any] = {
        name: int(getattr(jobs, name)[found.job]) for name, _, _ in jobs.platform.stocks
    }
    if places := _places(found):
        facts["places"] = places
    if jobs.platform.participants:
        facts["origin"] = _origin(found)
    return facts


def _trigger(found: Explanation) -> str:
    """Describe the events at the start."""
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
    """Return a clause with the number of jobs in a role that delayed the explained job."""
    if found.departure is not None:
        return ""
    count = sum(role in other.roles and bool(other.gain) for other in found.others)
    return f", {count} of which delayed it"


def most_important(found: Explanation, top: int) -> list[Other]:
    """Return other jobs, sorted by their effect on the explained job's start, then by size."""
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
    return f"job {found.schedule.workload.job[job]} ({_requested(found, job)})"


def _at(instant: int) -> str:
    return f"{significant(instant)} s"


def _early(found: Explanation, job: int) -> int:
    """Return the time by which a job ended before its estimate, s."""
    schedule = found.schedule
    due = schedule.start[job] + schedule.workload.estimate[job]
    return max(int(due - schedule.end[job]), 0)


def _key(found: Explanation, job: int) -> float | None:
    """Return the key by which the order sorts a job, if the key is constant."""
    key = find_order(found.policy.order).fixed_key(found.schedule.workload)
    return None if key is None else float(key[job])


def _held_facts(found: Explanation, held: Held) -> dict[str, Any]:
    head = None if held.head is None else int(found.schedule.workload.job[held.head])
    return {
        "instant": held.instant,
        "used": held.used,
        "in_use": {one.name: {"used": one.used, "of": one.of} for one in held.in_use},
        "why": held.why,
        "unknown": held.unknown,
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
