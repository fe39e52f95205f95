"""Cautions: where an answer from a trace is unsafe, one row each, with what can be done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from schedfarm.core.logs.sacct import IGNORED
from schedfarm.core.numerals import grouped
from schedfarm.core.workload.load import most_in_use, offered_load
from schedfarm.core.workload.resample_weeks import WEEK
from schedfarm.core.workload.workload import Workload
from schedfarm.farm.campaign.draws import DRAWS, find_draw
from schedfarm.farm.campaign.loads import ORIGINAL

UNASKED = 0.01
"""Share of jobs without a request from which on it is worth a word: CTC-SP2-1996-3.1-cln and
SDSC-SP2-1998-4.2-cln have 0.01 % and 0.1 %, OSC-Clust-2000-3.1-cln has all."""

LONGEST_ESTIMATE = 366 * 86_400
"""Largest estimate that a user may mean, s: HPC2N-2002-2.2-cln allows 100 days."""

CONSIDERABLE = 0.01
"""Share of jobs from which on what no simulation considers is worth a word."""

KILLED = 1 / 3
"""Share of killed jobs from which on estimates decide the answer; six logs of the archive have
0.02 to 0.1."""

SHORT = 3 * WEEK
"""Time that submissions have to last for weeks to be drawn from them, s."""

FEW_JOBS = 20
"""Jobs below which a log is an example, whose own load says nothing."""

TOO_WIDE = ("too wide", "not admitted")
"""Reasons for which jobs are dropped that the machine cannot hold."""

Numbers = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Case:
    """Say what is asked of a trace.

    Parameters
    ----------
    log : Workload or None
        The log as read; None for a model.
    loads : tuple of str
        Labels of the loads.
    draw : str
        How it is resampled: what `find_draw` takes; empty where it is not.
    sized : bool
        Whether the machine is the user's, not the log's own.
    """

    log: Workload | None
    loads: tuple[str, ...] = (ORIGINAL,)
    draw: str = next(iter(DRAWS))
    sized: bool = False


@dataclass(frozen=True)
class Caution:
    """Declare one caution.

    Parameters
    ----------
    key : str
        What JSON and stores call it.
    measure : callable
        From a case to the numbers of the sentence; None where there is nothing to say.
    text : str
        The sentence, a format for these numbers, with what can be done.
    """

    key: str
    measure: Callable[[Case], Numbers | None]
    text: str


def cautions(case: Case) -> dict[str, str]:
    """Return the sentence of each caution that a case calls for, by its key.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 9], run=[9, 9], estimate=[9, 9], procs=[1, 1],
    ...                           processors=1, unasked=(1, 2))
    >>> list(cautions(Case(w, draw="")))
    ['no_estimate']
    >>> cautions(Case(None, loads=("0.9",)))
    {}
    """
    found = ((row, row.measure(case)) for row in CAUTIONS)
    return {row.key: row.text.format(**_shown(numbers)) for row, numbers in found if numbers}


def _shown(numbers: Numbers) -> Numbers:
    return {key: grouped(x) if isinstance(x, int) else x for key, x in numbers.items()}


def _no_estimate(case: Case) -> Numbers | None:
    missing, jobs = case.log.unasked if case.log else (0, 0)
    return _part(missing, jobs) if missing and missing >= UNASKED * jobs else None


def _long_estimate(case: Case) -> Numbers | None:
    longest = case.log.max_estimate if case.log else 0
    if longest <= LONGEST_ESTIMATE:
        return None
    years = longest / (365.25 * 86_400)
    return {"seconds": longest, "years": years, "threshold": 3 * years}


def _killed(case: Case) -> Numbers | None:
    killed, jobs = (int(case.log.killed.sum()), len(case.log)) if case.log else (0, 0)
    return _part(killed, jobs) if killed and killed >= KILLED * jobs else None


def _short(case: Case) -> Numbers | None:
    # Whole users differ from each other, however short the log is.
    if not case.log or not case.draw or find_draw(case.draw).users:
        return None
    lasts = int(np.ptp(case.log.submit))
    return {"days": lasts / 86_400} if lasts < SHORT else None


def _overload(case: Case) -> Numbers | None:
    high = [load for load in case.loads if load != ORIGINAL and float(load) >= 1]
    # Jobs of one instant offer none.
    enough = case.log is not None and len(case.log) >= FEW_JOBS
    if case.log and enough and ORIGINAL in case.loads and np.ptp(case.log.submit):
        own = offered_load(case.log)
        high += [f"{own:.2f} of the log as it is"] if own >= 1 else []
    return {"loads": ", ".join(high)} if high else None


def _too_wide(case: Case) -> Numbers | None:
    if not case.log or not case.sized:
        return None
    dropped = sum(case.log.dropped.get(reason, 0) for reason in TOO_WIDE)
    numbers = _part(dropped, len(case.log) + dropped)
    return {**numbers, "processors": max(case.log.platform.sizes)} if dropped else None


def _too_small(case: Case) -> Numbers | None:
    if not case.log or not case.sized:
        return None
    log, known = case.log, case.log.logged_wait >= 0
    start = log.submit[known] + log.logged_wait[known]
    most, size = most_in_use(start, log.run[known], log.procs[known]), log.processors
    return {"most": most, "processors": size} if most > size else None


def ignored_shares(log: Workload) -> dict[str, float]:
    """Return the shares of a log's jobs that no policy considers as the log's scheduler did.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 9], run=[9, 9], estimate=[9, 9], procs=[1, 1],
    ...                           processors=1)
    >>> ignored_shares(w)
    {}
    """
    # Of all jobs as read, also where only some were taken; of one partition alone it is no matter.
    jobs = log.unasked[1] or len(log)
    columns = {what: getattr(log, name, None) for what, name in IGNORED.items()}
    alone = {what for what, values in columns.items() if values is not None and not np.ptp(values)}
    return {what: count / jobs for what, count in log.ignored.items() if what not in alone}


def _ignored(case: Case) -> Numbers | None:
    shares = ignored_shares(case.log) if case.log else {}
    listed = (f"{100 * x:.0f} % {what}" for what, x in shares.items() if x >= CONSIDERABLE)
    told = ", ".join(listed)
    return {"told": told} if told else None


def _part(part: int, whole: int) -> Numbers:
    return {"part": part, "whole": whole, "percent": 100 * part / whole if whole else 0.0}


CAUTIONS = (
    Caution(
        "no_estimate",
        _no_estimate,
        "{part} of {whole} jobs ({percent:.0f} %) request no time, so that their estimate "
        "follows from their run time and whatever goes by estimates knows it beforehand; clean "
        'with no_estimate = "f-model", "tsafrir" or seconds for another',
    ),
    Caution(
        "long_estimate",
        _long_estimate,
        "the largest estimate is {seconds} s, {years:.0f} years, so that threshold=3x is "
        "{threshold:.0f} years; clean with max_estimate = the seconds that its queues allow",
    ),
    Caution(
        "killed",
        _killed,
        "{part} of {whole} jobs ({percent:.0f} %) are killed at their estimate, though they "
        "ran on in the log; clean with kill = false to let them run",
    ),
    Caution(
        "short",
        _short,
        "submissions last {days:.1f} days, under three weeks, too few to draw weeks from: all "
        "resamples are alike; take a longer log",
    ),
    Caution(
        "overload",
        _overload,
        "offered load {loads}: from 1 on queues, and so all means, grow with the length of the "
        "trace; compare samples of one length alone, or take loads below 1",
    ),
    Caution(
        "too_wide",
        _too_wide,
        "{part} of {whole} jobs ({percent:.2g} %) are wider than the {processors} processors "
        "given, and left out; give at least the widest job's processors, or leave the size to the "
        "log",
    ),
    Caution(
        "too_small",
        _too_small,
        "the log has up to {most} processors in use at once and {processors} were given, so that "
        "jobs wait longer here than they did; give at least {most}",
    ),
    Caution(
        "ignored",
        _ignored,
        "policies here know neither partitions nor GPUs, qualities of service or Slurm's "
        "priorities, and the log has {told} of its jobs; select one partition, with its own "
        "processors, to come closer",
    ),
)
"""Every caution, in the order in which they are said."""
