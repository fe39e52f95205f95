"""Warnings about unsafe answers from a trace, one row each, with remedies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from schedfarm.core.logs.sacct import IGNORED
from schedfarm.core.machines.hosts.platform import Hosts
from schedfarm.core.machines.partitions.platform import Partitions
from schedfarm.core.machines.platform import Platform
from schedfarm.core.numerals import counted, grouped
from schedfarm.core.policy.limits import read_limits
from schedfarm.core.policy.multifactor import WEIGHTS, Multifactor
from schedfarm.core.policy.policy import Policy
from schedfarm.core.workload.load import most_in_use, offered_load
from schedfarm.core.workload.resample_weeks import WEEK
from schedfarm.core.workload.workload import Workload
from schedfarm.farm.campaign.resampling import METHODS, find_method
from schedfarm.farm.campaign.scaling import ORIGINAL

UNASKED = 0.01
"""Share of jobs without a request above which a warning is given. CTC-SP2-1996-3.1-cln has 0.01 %,
SDSC-SP2-1998-4.2-cln 0.1 % and OSC-Clust-2000-3.1-cln 100 %."""

LONGEST_ESTIMATE = 366 * 86_400
"""Largest estimate that a user may mean, s: HPC2N-2002-2.2-cln allows 100 days."""

CONSIDERABLE = 0.01
"""Share of jobs above which a warning is given if the simulation ignores their attribute."""

KILLED = 1 / 3
"""Share of killed jobs above which estimates decide the answer; six logs of the archive have shares
of 0.02 to 0.1."""

SHORT = 3 * WEEK
"""Least duration of submissions from which weeks can be drawn, s."""

ENOUGH = 4 * WEEK
"""Least duration of submissions, s, from which samples of whole weeks vary as much as logs of the
same length do (docs/comparisons.md, Short logs)."""

FEW_JOBS = 20
"""Number of jobs below which a log is an example without a meaningful load."""

TOO_WIDE = ("too wide", "not admitted")
"""Reasons for dropping jobs that do not fit the machine."""

Numbers = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Case:
    """Hold the trace that warnings concern, and its use.

    log: the log as read; None for a model. loads: labels. method: resampling method in the form
    that `find_method` takes, empty without resamples. sized: whether the user, not the log, gave
    the machine. policies: the policies that will schedule the trace, if known.
    """

    log: Workload | None
    loads: tuple[str, ...] = (ORIGINAL,)
    method: str = next(iter(METHODS))
    sized: bool = False
    policies: tuple[Policy, ...] = ()


@dataclass(frozen=True)
class TraceWarning:
    """Declare one warning.

    key: its key in JSON and stores. measure: function that returns the numbers of the sentence for
    a case, or None without a warning. text: format of the sentence, with a remedy.
    """

    key: str
    measure: Callable[[Case], Numbers | None]
    text: str


def warnings_of(case: Case) -> dict[str, str]:
    """Return the sentence of each warning that applies to a case, by its key.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 9], run=[9, 9], estimate=[9, 9], procs=[1, 1],
    ...                           processors=1, unasked=(1, 2))
    >>> list(warnings_of(Case(w, method="")))
    ['no_estimate']
    >>> warnings_of(Case(None, loads=("0.9",)))
    {}
    """
    found = ((row, row.measure(case)) for row in WARNINGS)
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
    return _lasts(case, 0, SHORT)


def _few_weeks(case: Case) -> Numbers | None:
    return _lasts(case, SHORT, ENOUGH)


def _lasts(case: Case, least: int, below: int) -> Numbers | None:
    """Return a log's duration if it is within two limits and weeks are drawn from the log."""
    # Whole users differ from each other even in a short log.
    if not case.log or not case.method or find_method(case.method).users:
        return None
    lasts = int(np.ptp(case.log.submit))
    return {"days": lasts / 86_400, "weeks": lasts / WEEK} if least <= lasts < below else None


def _overload(case: Case) -> Numbers | None:
    high = [load for load in case.loads if load != ORIGINAL and float(load) >= 1]
    # Jobs submitted at one instant have no offered load.
    enough = case.log is not None and len(case.log) >= FEW_JOBS
    if case.log and enough and ORIGINAL in case.loads and np.ptp(case.log.submit):
        own = offered_load(case.log)
        high += [f"{own:.2f} of the log as it is"] if own >= 1 else []
    return {"loads": ", ".join(high)} if high else None


def _too_wide(case: Case) -> Numbers | None:
    # Jobs are dropped if no hosts have room for their shares, whatever the total number of
    # processors of the hosts.
    if not case.log or case.log.platform.name == Hosts.name:
        return None
    dropped = sum(case.log.dropped.get(reason, 0) for reason in TOO_WIDE)
    whole = len(case.log) + dropped
    # The header of a log may be right and single rows wrong.
    if not dropped or not (case.sized or dropped >= CONSIDERABLE * whole):
        return None
    return {**_part(dropped, whole), **_size(case, max(case.log.platform.sizes))}


def _too_small(case: Case) -> Numbers | None:
    if not case.log:
        return None
    log, known = case.log, case.log.logged_wait >= 0
    start = log.submit[known] + log.logged_wait[known]
    most, size = most_in_use(start, log.run[known], log.procs[known]), log.processors
    # By the clocks of a log, a job may end some seconds after the next job has taken its
    # processors.
    least = size if case.sized else (1 + CONSIDERABLE) * size
    return {"most": most, **_size(case, size)} if most > least else None


def _size(case: Case, processors: int) -> Numbers:
    by = "given" if case.sized else "of the log"
    return {"machine": counted(processors, "processor"), "by": by}


def ignored_shares(log: Workload) -> dict[str, float]:
    """Return the shares of a log's jobs with attributes that few policies consider.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 9], run=[9, 9], estimate=[9, 9], procs=[1, 1],
    ...                           processors=1)
    >>> ignored_shares(w)
    {}
    """
    # The shares are of all jobs as read. A property that all selected jobs share is irrelevant.
    jobs = log.unasked[1] or len(log)
    columns = {what: getattr(log, name, None) for what, name in IGNORED.items()}
    alone = {what for what, values in columns.items() if values is not None and not np.ptp(values)}
    return {what: count / jobs for what, count in log.ignored.items() if what not in alone}


def _weighs(case: Case, does: Callable[[Multifactor], Any]) -> bool:
    """Return whether a policy orders jobs by a Slurm priority with a given property."""
    orders = (order for policy in case.policies for order in policy.orders)
    return any(order.weighs is not None and bool(does(order.weighs)) for order in orders)


def _limited(case: Case, *kinds: str) -> bool:
    """Return whether a policy has limits; given kinds, whether it limits holders of these kinds."""
    limits = (read_limits(policy.limits) for policy in case.policies if policy.limits)
    return any(not kinds or limit.kind in kinds for several in limits for limit in several)


def _has_partitions(machine: Platform) -> bool:
    return isinstance(machine, Partitions) or (isinstance(machine, Hosts) and bool(machine.parts))


@dataclass(frozen=True)
class Considered:
    """Declare an attribute of jobs that some simulations consider.

    by: returns whether a policy or the machine of a case considers it. remedy: a way to consider
    it.
    """

    by: Callable[[Case], bool]
    remedy: str


CONSIDERED: Mapping[str, Considered] = {
    # Weighing partitions in a policy does not give them nodes.
    "partition": Considered(
        lambda case: bool(case.log and _has_partitions(case.log.platform)),
        "declare the nodes of 'partitions', or hosts.partitions, or select one with its own "
        "processors",
    ),
    "queue": Considered(
        lambda case: (
            _weighs(case, lambda one: one.qos and one.qos_priorities) or _limited(case, "qos")
        ),
        "weigh or limit qualities of service",
    ),
    "priority": Considered(
        lambda case: _weighs(case, lambda one: any(getattr(one, name) for name in WEIGHTS)),
        "order jobs by multifactor(...)",
    ),
    "gpus": Considered(
        lambda case: any(name == "gpus" for name, *_ in _stocks(case)),
        "give resources.gpus, or gpus of the hosts",
    ),
    "limited": Considered(_limited, "give the limits of the site with limits=(...)"),
}
"""Attributes by the column of `IGNORED`; no simulation considers the other columns."""


def _stocks(case: Case) -> tuple[tuple[str, str, int], ...]:
    return getattr(case.log.platform, "stocks", ()) if case.log else ()


def _ignored(case: Case) -> Numbers | None:
    shares = ignored_shares(case.log) if case.log else {}
    found = {what: x for what, x in shares.items() if x >= CONSIDERABLE}
    rows = {what: CONSIDERED.get(IGNORED.get(what, "")) for what in found}
    left = {what: row for what, row in rows.items() if row is None or not row.by(case)}
    ignored = ", ".join(f"{100 * found[what]:.0f} % {what}" for what in left)
    remedies = [row.remedy for row in left.values() if row]
    remedy = (
        f"to come closer, {', and '.join(remedies)}" if remedies else "no policy considers them"
    )
    return {"ignored": ignored, "remedy": remedy} if ignored else None


def _part(part: int, whole: int) -> Numbers:
    return {"part": part, "whole": whole, "percent": 100 * part / whole if whole else 0.0}


WARNINGS = (
    TraceWarning(
        "no_estimate",
        _no_estimate,
        "{part} of {whole} jobs ({percent:.0f} %) request no time, so that their estimate "
        "follows from their run time, which policies by estimates then know in advance; clean "
        'with no_estimate = "f-model", "tsafrir" or seconds for another',
    ),
    TraceWarning(
        "long_estimate",
        _long_estimate,
        "the largest estimate is {seconds} s, {years:.0f} years, so that threshold=3x is "
        "{threshold:.0f} years; clean with max_estimate = the seconds that its queues allow",
    ),
    TraceWarning(
        "killed",
        _killed,
        "{part} of {whole} jobs ({percent:.0f} %) are killed at their estimate, though they "
        "ran on in the log; clean with kill = false to let them run",
    ),
    TraceWarning(
        "short",
        _short,
        "submissions last {days:.1f} days, under three weeks, too few to draw weeks from: all "
        "resamples are alike; use a longer log",
    ),
    TraceWarning(
        "few_weeks",
        _few_weeks,
        "submissions last {weeks:.1f} weeks, under four: samples drawn from so few weeks vary less "
        "than other logs of this length do, so that the answer may not hold in other weeks; use a "
        "longer log",
    ),
    TraceWarning(
        "overload",
        _overload,
        "offered load {loads}: from 1 on queues, and so all means, grow with the length of the "
        "trace; compare only samples of one length, or use loads below 1",
    ),
    TraceWarning(
        "too_wide",
        _too_wide,
        "{part} of {whole} jobs ({percent:.2g} %) are wider than the {machine} {by}, "
        "and left out; give at least the widest job's processors",
    ),
    TraceWarning(
        "too_small",
        _too_small,
        "the log has up to {most} processors in use at once, more than the {machine} {by}, so "
        "that jobs may wait longer than on the site's machine; give at least {most}",
    ),
    TraceWarning(
        "ignored",
        _ignored,
        "jobs of the log have attributes that the simulation ignores, {ignored}; {remedy}",
    ),
)
"""Every warning, in the order of output."""
