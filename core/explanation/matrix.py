"""Waiting that groups of jobs cause each other, from simulations that omit one group each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from schedfarm.core.arrays import Bool, Float64, Int64
from schedfarm.core.checks import whole
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.errors import InputError
from schedfarm.core.metrics.widths import WIDTHS, width_classes
from schedfarm.core.names import choices
from schedfarm.core.numerals import grouped
from schedfarm.core.philox import philox
from schedfarm.core.policy.policy import Policy
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.columns import UNKNOWN
from schedfarm.core.workload.workload import Workload

HOUR = 3_600

WIDTH = "width"

GROUPINGS = ("user", "group", "queue", "partition", WIDTH)
"""Ways to group jobs: by a column, or by classes of processors."""

DRAWS = 40
"""Number of jobs drawn per group, to estimate the waiting that the group causes its own jobs."""

DEVIATIONS = 1.6449
"""Half the width of a 90 % interval, in standard deviations."""

OTHERS = "others"


@dataclass(frozen=True)
class Delays:
    """Hold the waiting that groups of jobs cause each other.

    Waiting is counted in processor-hours. The waiting caused by a group is the decrease of waiting
    in a simulation without the group. Some jobs wait longer in this simulation, and their increase
    is subtracted. If the same waiting vanishes without either of two groups, it counts for both
    groups. Therefore rows do not add up to `waiting`.

    Parameters
    ----------
    trace, policy : str
        The workload and the policy.
    by : str
        One of ``user``, ``group``, ``queue``, ``partition`` and ``width``.
    labels : tuple of str
        The groups with most work, and ``others`` for all other jobs.
    waiting : float64[k]
        Waiting of each group, processor-hours.
    caused : float64[k, k]
        ``caused[i, j]`` is the waiting of group i that vanishes without group j, processor-hours.
        The diagonal has the waiting that the jobs of a group cause each other.
    error : float64[k]
        Half the width of the 90 % interval of each diagonal entry, processor-hours; 0 for an exact
        entry.
    """

    trace: str
    policy: str
    by: str
    labels: tuple[str, ...]
    waiting: Float64
    caused: Float64
    error: Float64

    def facts(self) -> dict[str, Any]:
        """Return the matrix as plain values for JSON.

        Returns
        -------
        dict
            The matrix, in processor-hours.
        """
        return {
            "trace": self.trace,
            "policy": self.policy,
            "by": self.by,
            "groups": list(self.labels),
            "waiting_processor_hours": self.waiting.tolist(),
            "caused_processor_hours": self.caused.tolist(),
            "own_error_processor_hours": self.error.tolist(),
        }

    def text(self) -> str:
        """Return the matrix as a readable table.

        Returns
        -------
        str
            Lines of the table.
        """
        wide = max(10, *(len(label) + 2 for label in self.labels))
        head = "".join(f"{label:>{wide}}" for label in self.labels)
        lines = [
            f"{self.trace} under {self.policy}: waiting by {self.by}, in processor-hours",
            "a row: jobs that wait; a column: waiting that vanishes without the jobs of this group",
            f"{self.by:>{wide}}{'waits':>{wide}}  {head}",
        ]
        for row, label in enumerate(self.labels):
            cells = "".join(f"{grouped(value):>{wide}}" for value in self.caused[row].tolist())
            lines.append(f"{label:>{wide}}{grouped(float(self.waiting[row])):>{wide}}  {cells}")
        own = ", ".join(
            f"{label} +-{grouped(error)}"
            for label, error in zip(self.labels, self.error.tolist(), strict=True)
            if error
        )
        lines.append("on the diagonal: if each job were alone of its group")
        if own:
            lines.append(f"  of {DRAWS} drawn jobs, 90 % intervals: {own}")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text()


def delays(
    workload: Workload, policy: Policy | str, by: str = "user", *, top: int = 10, seed: int = 0
) -> Delays:
    """Return the waiting that groups of jobs cause each other.

    The workload is simulated once without each group. The waiting within a group is estimated from
    randomly drawn jobs. For each of these jobs, the workload is simulated without the other jobs of
    its group.

    Parameters
    ----------
    workload : Workload
        The jobs and their machine.
    policy : Policy or str
        The policy.
    by : str
        ``user``, ``group`` (account), ``queue``, ``partition``, or ``width`` (processors).
    top : int
        Number of groups, chosen by most work; all other jobs form one more group.
    seed : int
        Seed for drawing the jobs.

    Returns
    -------
    Delays
        The matrix, in processor-hours.

    Raises
    ------
    InputError
        If the grouping is unknown, or the workload lacks its data.

    Examples
    --------
    >>> from schedfarm.core import Workload
    >>> w = Workload.from_columns(submit=[0, 0], run=[7200, 3600], estimate=[7200, 3600],
    ...                           procs=[2, 2], user=[1, 2], processors=2)
    >>> found = delays(w, "fcfs+easy")
    >>> found.labels, found.waiting.tolist(), found.caused.tolist()
    (('1', '2'), [0.0, 4.0], [[0.0, 0.0], [4.0, 0.0]])
    """
    chosen = Policy.parse(policy) if isinstance(policy, str) else policy
    names, place = _groups(workload, by, whole("top", top, least=1))
    schedule = simulate(workload, chosen)
    waiting = np.bincount(
        place, weights=(schedule.wait * workload.procs).astype(np.float64), minlength=len(names)
    )
    caused = np.zeros((len(names), len(names)))
    error = np.zeros(len(names))
    for group, name in enumerate(names):
        kept = place != group
        gains = _vanished(schedule, chosen, kept)
        caused[:, group] = np.bincount(place[kept], weights=gains, minlength=len(names))
        drawing = np.random.Generator(philox(seed, "delays", by, name))
        caused[group, group], error[group] = _own(schedule, chosen, ~kept, drawing)
    hours = (waiting / HOUR, caused / HOUR, error / HOUR)
    return Delays(workload.name, chosen.name, by, names, *hours)


def _groups(workload: Workload, by: str, top: int) -> tuple[tuple[str, ...], Int64]:
    """Return the names of the largest groups by work, and the group of each job."""
    if by not in GROUPINGS:
        raise InputError(f"by={by!r} is not a way to group jobs; {choices(by, GROUPINGS)}")
    if by == WIDTH:
        value = width_classes(workload.procs)
        called: Mapping[int, str] = dict(enumerate(WIDTHS))
    else:
        value = getattr(workload, by)
        called = workload.names.get(by, {})
    labels, which = np.unique(value, return_inverse=True)
    if labels.tolist() == [UNKNOWN]:
        raise InputError(
            f"by={by!r}: the {by} of no job of {workload.name} is known; a store keeps users only, "
            "and its log may have more"
        )
    if labels.size < 2:
        raise InputError(
            f"by={by!r}: all {len(workload)} jobs of {workload.name} have the same {by}, so that "
            "no other group delays them"
        )
    work = np.bincount(which, weights=(workload.run * workload.procs).astype(np.float64))
    ranks = np.argsort(np.argsort(-work, kind="stable"), kind="stable")
    names = [called.get(label, str(label)) for label in labels[np.argsort(ranks)][:top].tolist()]
    if labels.size > top:
        names.append(OTHERS)
    return tuple(names), np.minimum(ranks[which], top)


def _vanished(schedule: Schedule, policy: Policy, kept: Bool) -> Float64:
    """Return the decrease of waiting of each kept job, processor-seconds."""
    jobs = schedule.workload.take(kept)
    less = schedule.wait[kept] - simulate(jobs, policy).wait
    return np.asarray(less * jobs.procs, np.float64)


def _own(
    schedule: Schedule, policy: Policy, group: Bool, drawing: np.random.Generator
) -> tuple[float, float]:
    """Return the waiting that a group causes its own jobs, and half the width of the interval.

    Jobs are drawn in proportion to their waiting, with replacement (Hansen and Hurwitz 1943).
    """
    waits = np.flatnonzero(group & (schedule.wait > 0))
    weight = (schedule.wait[waits] * schedule.workload.procs[waits]).astype(np.float64)
    total = float(weight.sum())
    if waits.size <= DRAWS:
        return float(sum(_alone(schedule, policy, group, job) for job in waits.tolist())), 0.0
    drawn = drawing.choice(waits.size, DRAWS, p=weight / total)
    share = {
        one: _alone(schedule, policy, group, int(waits[one])) / float(weight[one])
        for one in np.unique(drawn).tolist()
    }
    shares = np.array([share[one] for one in drawn.tolist()])
    error = DEVIATIONS * float(shares.std(ddof=1)) / DRAWS**0.5
    return total * float(shares.mean()), total * error


def _alone(schedule: Schedule, policy: Policy, group: Bool, job: int) -> float:
    """Return the decrease of a job's waiting without the rest of its group, processor-seconds."""
    kept = ~group
    kept[job] = True
    return float(_vanished(schedule, policy, kept)[np.count_nonzero(kept[:job])])
