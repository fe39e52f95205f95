"""Resamples of a log by whole weeks of all users together, singly or in blocks.

Users of one machine affect each other: a user whose jobs wait submits less, and another user fills
the gap. If weeks are drawn for each user separately, this dependence is lost, and the load varies
more from week to week than in the log. Weeks that are drawn for all users together keep the
dependence.
"""

from __future__ import annotations

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.checks import whole
from schedfarm.core.errors import InputError
from schedfarm.core.philox import philox
from schedfarm.core.workload.columns import left_behind
from schedfarm.core.workload.resample_weeks import WEEK, check_draws, weeks_of
from schedfarm.core.workload.workload import Workload


def resample_blocks(
    workload: Workload, *, seed: int, index: int, weeks: int | None = None, block: int = 1
) -> Workload:
    """Draw a workload from a log by blocks of whole weeks.

    Each block begins at a random week of the log, with equal probability, and continues with the
    following weeks; the first week follows the last week (circular block bootstrap). So the
    expected load of every week of the new trace is that of the log, and weekly loads vary as in the
    log. A block of `block` consecutive weeks keeps dependences between its weeks. The last block is
    cut off at the end of the new trace.

    Weeks are whole weeks from the first submission on, as in `core.resample_weekly`. A job
    keeps its offset in the week. A resample may be empty.

    Parameters
    ----------
    workload : Workload
        The log, at least one job.
    seed : int
        Seed of the campaign.
    index : int
        Number of the resample. The draws depend only on `seed`, `index`, `block` and the log's
        submissions (submit, procs, user, job).
    weeks : int, optional
        Number of weeks of the new trace; by default that of the log.
    block : int
        Number of consecutive weeks in a block, from 1 to the number of whole weeks of the log.

    Returns
    -------
    Workload
        The drawn jobs with their own job numbers, and with the log's name, machine, largest
        estimate and dropped rows.

    Raises
    ------
    InputError
        If there is no job; if `weeks` is below 1; if `block` is below 1 or above the number of
        weeks of the log; or if the new trace has too many weeks.

    References
    ----------
    H. R. Kuensch, The jackknife and the bootstrap for general stationary observations, Annals of
    Statistics 17(3), 1989 (blocks); D. N. Politis, J. P. Romano, A circular block-resampling
    procedure for stationary data, in: Exploring the Limits of Bootstrap, Wiley 1992 (circular).

    Examples
    --------
    >>> week = 604_800
    >>> w = Workload.from_columns(submit=[0, week, 2 * week, 3 * week - 1], run=[1] * 4,
    ...                           estimate=[1] * 4, procs=[1] * 4, processors=2)
    >>> resample_blocks(w, seed=1, index=2, block=3).job.tolist()
    [2, 3, 4, 1]
    """
    edge, chosen = _drawn(workload, seed, index, weeks, block)
    count = edge[chosen + 1] - edge[chosen]
    job = np.arange(int(count.sum())) + np.repeat(edge[chosen] - (np.cumsum(count) - count), count)
    moved = np.repeat((np.arange(chosen.size) - chosen) * WEEK, count)
    submit = workload.submit[job] + moved
    return workload.take(job, submit=submit, **left_behind(job.size))


def resample_blocks_size(
    workload: Workload, *, seed: int, index: int, weeks: int | None = None, block: int = 1
) -> int:
    """Return the number of jobs of `resample_blocks` for the same arguments, without the jobs.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 9], run=[1, 1], estimate=[1, 1], procs=[1, 1],
    ...                           processors=2)
    >>> resample_blocks_size(w, seed=1, index=1, weeks=5)
    10
    """
    edge, chosen = _drawn(workload, seed, index, weeks, block)
    return int((edge[chosen + 1] - edge[chosen]).sum())


def _drawn(
    workload: Workload, seed: int, index: int, weeks: int | None, block: int
) -> tuple[Int64, Int64]:
    """Return the bounds of the weeks, as indices of jobs in the log, and the drawn weeks."""
    table = weeks_of(workload)
    known = table.count.shape[1]
    length = known if weeks is None else whole("weeks", weeks, least=1)
    if whole("block", block, least=1) > known:
        raise InputError(
            f"block={block}: workload {workload.name!r} has {known} whole weeks; a block has at "
            "most as many"
        )
    check_draws("the resample", length, 1)
    key = ("resample blocks", whole("seed", seed), whole("index", index), block, table.digest)
    raw = philox(*key).random_raw(-(-length // block))
    # Raw bits are equal in every version of numpy; draws from numpy's distributions may change.
    first = ((raw >> np.uint64(32)) * np.uint64(known) >> np.uint64(32)).astype(np.int64)
    chosen = ((first[:, None] + np.arange(block)) % known).ravel()[:length]
    since = workload.submit - workload.submit[0]
    return np.searchsorted(since, np.arange(known + 1) * WEEK), chosen
