"""The most delayed jobs of each sample, for figure 2 of Carastan-Santos et al. 2019."""

from __future__ import annotations

import numpy as np
import pandas as pd

from schedfarm.analysis.papers.saf_2019.numbers import Study
from schedfarm.analysis.store import LOG, open_trace
from schedfarm.core.arrays import Bool, Int64
from schedfarm.core.metrics.slowdown import TAU, slowdowns

DELAYED = 100
"""Number of jobs of each sample in figure 2."""

PART = 16
"""Step of a subset of jobs, which gives a lower bound of the slowdowns of the most delayed jobs."""

WHISKERS = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Quantiles in a box."""

ALL = "all jobs"
"""Label of the box for comparison."""


def delayed_jobs(of: Study) -> pd.DataFrame:
    """Return quantiles of the processors of the most delayed jobs, and of `ALL`, by log and policy.

    The most delayed jobs of a sample are the `DELAYED` jobs with the highest bounded slowdowns;
    ties are broken by submission. The jobs of all samples are pooled. ``log`` is the median of the
    log itself.
    """
    tau, rows = float(of.cells.attrs.get("tau", TAU)), {}
    for trace in of.traces:
        group = open_trace(of.tree, trace)[["jobs", "run", "procs", "wait"]].sel(load=of.load)
        # The array is read as a whole and then selected: zarr takes 0.6 s for ten of eleven
        # resamples of 216,000 jobs by their indices, and 0.07 s for all.
        alike = group[["jobs", "run", "procs"]].load()
        counts = alike["jobs"].values
        run, procs = alike["run"].values, alike["procs"].values
        sample = alike["resample"].values > LOG
        for name, label in of.policies.items():
            wait = group["wait"].sel(policy=label).load().values
            worst = [
                procs[i, most_delayed(wait[i, :n], run[i, :n], tau)] for i, n in enumerate(counts)
            ]
            rows[trace, name] = _box(worst, sample)
        rows[trace, ALL] = _box([x[x >= 0] for x in procs], sample)
    frame = pd.DataFrame(rows).T.rename_axis(["trace", "policy"])
    return frame.astype({"samples": np.int64, "jobs": np.int64})


def most_delayed(wait: Int64, run: Int64, tau: float, count: int = DELAYED) -> Int64:
    """Return the indices of the jobs with the highest bounded slowdowns; ties are broken by index.

    Examples
    --------
    >>> most_delayed(np.array([0, 90, 40, 90]), np.array([10, 10, 10, 10]), 10, 2).tolist()
    [1, 3]
    """
    slow = slowdowns(wait + run, run, tau)
    count = min(count, slow.size)
    if not count:
        return np.empty(0, np.int64)
    # At least `count` jobs are as slow as the last job of the subset. Partitioning all 26 million
    # jobs of the paper's five logs takes 0.8 s; with the subset, this function takes 0.1 s.
    some = slow[::PART] if slow.size >= PART * count else slow
    least = np.partition(some, some.size - count)[some.size - count]
    among = np.flatnonzero(slow >= least)
    return np.asarray(among[np.argsort(-slow[among], kind="stable")[:count]])


def _box(procs: list[Int64], sample: Bool) -> dict[str, float]:
    """Return the numbers of the pooled jobs of the samples, and the median of the log's jobs."""
    drawn = [x for x, is_sample in zip(procs, sample, strict=True) if is_sample]
    own = [x for x, is_sample in zip(procs, sample, strict=True) if not is_sample and x.size]
    log = float(np.median(own[0])) if own else np.nan
    return {"samples": len(drawn), **_quantiles(np.concatenate(drawn)), "log": log}


def _quantiles(values: Int64) -> dict[str, float]:
    found = np.quantile(values, WHISKERS) if values.size else np.full(len(WHISKERS), np.nan)
    named = {f"q{q:g}": float(x) for q, x in zip(WHISKERS, found, strict=True)}
    return {"jobs": values.size, "mean": float(values.mean()) if values.size else np.nan, **named}
