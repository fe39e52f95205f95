"""Episodes: weekly resamples of a log's first weeks for training, and of the others for tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.checks import positive, whole
from schedfarm.core.errors import InputError
from schedfarm.core.names import choices
from schedfarm.core.workload.load import scale_load
from schedfarm.core.workload.resample_weeks import WEEK, resample_weekly, whole_weeks
from schedfarm.core.workload.workload import Workload

PARTS = ("train", "test")
"""The two parts of a log."""

KEPT = 256
"""Number of episodes that are kept in memory to be played again."""

LAST_SAMPLE = 2**62
"""Largest valid number of a sample, so that the numbers after it fit int64."""

OWN_LARGEST = -1
"""Placeholder for the largest estimate of a workload's own jobs."""


class Longest(NamedTuple):
    """Hold the largest run time and estimate of the training weeks, s, at the load of the part.

    Observations of both parts are scaled by these values, so that they have the same scale.
    """

    run: int
    estimate: int


def split_weeks(workload: Workload, train: float = 0.7) -> tuple[Workload, Workload]:
    """Split a log into its first weeks, for training, and the other weeks, for tests.

    Weeks are those of `resample_weekly`: whole weeks from the first submission on. A job belongs to
    the week of its submission, so no job is in both parts. The jobs of a partial last week are in
    neither part. Users are usually in both parts.

    Parameters
    ----------
    workload : Workload
        The log, at least two weeks long.
    train : float
        Share of the weeks in the first part, above 0 and below 1; each part has at least one week.

    Returns
    -------
    train, test : Workload
        Both parts have the log's name and machine. `max_estimate` is that of the part's own jobs,
        so that training weeks do not reveal the length of test jobs.

    Raises
    ------
    InputError
        If the log has fewer than two whole weeks, or `train` is out of range.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 604_799, 604_800, 1_300_000], run=[1] * 4,
    ...                           estimate=[1] * 4, procs=[1] * 4, processors=2)
    >>> [part.job.tolist() for part in split_weeks(w, 0.5)]
    [[1, 2], [3]]
    """
    share = positive("train", train)
    if share >= 1:
        raise InputError(f"train={train!r}: give a share of the weeks, above 0 and below 1")
    weeks = whole_weeks(workload.submit) if len(workload) else 0
    if weeks < len(PARTS):
        raise InputError(
            f"workload {workload.name!r} has {weeks} whole weeks; training and test need 1 each"
        )
    first = min(max(round(share * weeks), 1), weeks - 1)
    week = (workload.submit - workload.submit[0]) // WEEK
    test = workload.take((week >= first) & (week < weeks), max_estimate=OWN_LARGEST)
    if not len(test):
        raise InputError(
            f"workload {workload.name!r} has no job in its weeks from number {first + 1} on; "
            "give a smaller train"
        )
    return workload.take(week < first, max_estimate=OWN_LARGEST), test


@dataclass(frozen=True)
class Samples:
    """Draw the episodes of one part of a log; equal numbers give equal workloads.

    The other part is not kept, so that no episode can have one of its jobs.
    """

    log: Workload
    part: str
    load: float | None
    longest: Longest
    weeks: int
    seed: int

    @classmethod
    def of(
        cls, workload: Workload, part: str, train: float, weeks: int, load: float | None, seed: int
    ) -> Samples:
        """Return the episodes of a part after checks of all arguments."""
        if workload.platform.name != "pool":
            raise InputError(
                f"workload {workload.name!r} is on platform {workload.platform.name!r}; "
                "environments are for platform 'pool'"
            )
        if part not in PARTS:
            raise InputError(f"part={part!r} is unknown; {choices(part, PARTS)}")
        parts = dict(zip(PARTS, split_weeks(workload, train), strict=True))
        if load is not None:
            wanted = positive("load", load)
            parts = {name: scale_load(jobs, wanted) for name, jobs in parts.items()}
        longest = Longest(int(parts["train"].run.max()), parts["train"].max_estimate)
        return cls(
            parts[part],
            part,
            load,
            longest,
            whole("weeks", weeks, least=1),
            whole("campaign_seed", seed),
        )

    def draw(self, sample: int) -> Workload:
        """Return the workload of a sample."""
        drawn = resample_weekly(self.log, seed=self.seed, index=sample, weeks=self.weeks)
        if not len(drawn):
            raise InputError(
                f"sample {sample} of workload {self.log.name!r} has no job; give more weeks"
            )
        return drawn


def sample_number(what: str, value: object) -> int:
    """Return the number of a sample; refuse other values.

    Examples
    --------
    >>> sample_number("seed", np.int64(3))
    3
    """
    return whole(what, value, least=0, most=LAST_SAMPLE)


def ranks_of(values: Int64) -> Int64:
    """Return the rank of each value; ties are broken by position.

    Examples
    --------
    >>> ranks_of(np.array([7, 3, 7])).tolist()
    [1, 0, 2]
    """
    ranks = np.empty(values.size, np.int64)
    ranks[np.argsort(values, kind="stable")] = np.arange(values.size)
    return ranks
