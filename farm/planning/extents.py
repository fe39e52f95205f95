"""How far a trace's cells reach: jobs, weeks and users.

Weeks and users are a matter of the trace, the seed and the load alone, so that a store which has
grown holds what one that was made at once holds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from schedfarm.core.durations import seconds_of
from schedfarm.core.errors import InputError
from schedfarm.core.format.geometry import Weeks
from schedfarm.core.metrics.users import known_users
from schedfarm.core.models import MODELS
from schedfarm.core.workload.workload import Workload
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.loads import LOAD_BY, ORIGINAL, LoadBy
from schedfarm.farm.campaign.samples import most_jobs, sample
from schedfarm.farm.campaign.trace import Trace, span_weeks
from schedfarm.farm.store.store import Store

DRAWN = 16
"""Samples from which the weeks of all others are taken where they differ."""

DRAWN_JOBS = 1_000_000
"""About so many jobs are drawn for that at most: 0.1 to 1 s."""


@dataclass(frozen=True, eq=False)
class Extent:
    """Hold what a campaign's trace is, whatever store is to hold it.

    Parameters
    ----------
    log : Workload or None
        The trace's log; None for a model.
    jobs : int
        Jobs of its largest cell.
    weeks : Weeks
        Weeks that its submissions take.
    users : tuple of int
        Numbers of its users, ascending; empty where none is known.
    """

    log: Workload | None
    jobs: int
    weeks: Weeks
    users: tuple[int, ...]


def extent_of(trace: Trace, campaign: Campaign) -> Extent:
    """Read a trace's log, and draw as many samples as it takes to know how far they reach.

    Raises
    ------
    InputError
        If the trace cannot be read or sampled, or the warm-up is longer than it.
    """
    log = trace.read()
    _check_warmup(trace, log, campaign)
    return Extent(
        log,
        most_jobs(trace, log, campaign),
        weeks_by_load(trace, log, campaign),
        _users_of(trace, log),
    )


def _check_warmup(trace: Trace, log: Workload | None, campaign: Campaign) -> None:
    """Refuse a warm-up as long as a trace's submissions: no job, or none that is usual, is left.

    Where the campaign has resamples, the first stands for all.
    """
    begin = seconds_of(campaign.warmup) if isinstance(campaign.warmup, str) else None
    if begin is None:
        return
    number = campaign.resample_axis[-1] and 1
    one = sample(trace, log, seed=campaign.seed, resample=number, draw=campaign.draw)
    for load in campaign.loads:
        for jobs in _spread([one], load, LOAD_BY[campaign.load_by]):
            lasts = int(jobs.submit[-1] - jobs.submit[0]) if len(jobs) else begin + 1
            if begin >= lasts:
                raise InputError(
                    f"warmup is {campaign.warmup!r}; the submissions of trace {trace.name!r} at "
                    f"load {load} last {lasts} s, so that it leaves no job: give a shorter one"
                )


def _users_of(trace: Trace, log: Workload | None) -> tuple[int, ...]:
    if log is not None:
        return tuple(known_users(log).tolist())
    assert trace.machine is not None, "a trace of a model has a machine"
    return tuple(MODELS[trace.model or ""].users(trace.machine, trace.parameters))


def weeks_by_load(trace: Trace, log: Workload | None, campaign: Campaign) -> Weeks:
    """Return, for each load, the weeks that hold the submissions of the log and of its samples.

    Where samples differ in weeks, the longest of the first `DRAWN` ones counts, whether the
    campaign has them or not: drawing a million only to plan them would take too long.

    Parameters
    ----------
    trace, log
        As for `sample`.
    campaign : Campaign
        Its seed, loads, and what draws samples and reaches loads.

    Returns
    -------
    dict of str to (int, int)
        At least 1 each.

    Raises
    ------
    InputError
        If a model cannot be drawn.
    """
    by = LOAD_BY[campaign.load_by]
    spread = by.stretches
    known = trace.weeks or (_span([log]) if log is not None else 0)
    asked = log is None or campaign.resamples
    drawn = _first_samples(trace, log, campaign) if asked and (spread or not known) else []
    logs = drawn if log is None else [log]
    known = known or _span(drawn)
    own = known if log is None else _span(logs)
    return {
        load: (_span(_spread(logs, load, by)), _span(_spread(drawn, load, by)))
        if spread and load != ORIGINAL
        else (own, known)
        for load in campaign.loads
    }


def longer_logs(store: Store, campaign: Campaign) -> list[str]:
    """Return a sentence on each log that is longer than the weeks asked of its samples."""
    said = []
    for trace in campaign.traces:
        of_log, of_samples = next(iter(store.weeks[trace.name].values()))
        if 0 in store.axes["resample"] and trace.weeks and of_log > of_samples:
            said.append(
                f"{trace.name}: resample 0 is all {of_log} weeks of the log, its samples have "
                f"{trace.weeks}; select.weeks = [0, {trace.weeks}] would shorten the log, of "
                "which samples are drawn, too"
            )
    return said


def _first_samples(trace: Trace, log: Workload | None, campaign: Campaign) -> list[Workload]:
    found: list[Workload] = []
    jobs = 0
    while len(found) < DRAWN and jobs < DRAWN_JOBS:
        index = len(found) + 1
        one = sample(trace, log, seed=campaign.seed, resample=index, draw=campaign.draw)
        jobs += len(one)
        found.append(one)
    return found


def _spread(drawn: Iterable[Workload], load: str, by: LoadBy) -> list[Workload]:
    scaled = []
    for one in drawn:
        try:
            scaled.append(by.bring(one, load))
        except InputError:
            # A sample that cannot be scaled is a cell that fails, with this error recorded.
            continue
    return scaled


def _span(workloads: Iterable[Workload]) -> int:
    return max((span_weeks(one) for one in workloads if len(one)), default=1)
