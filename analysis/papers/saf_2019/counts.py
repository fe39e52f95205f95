"""How many jobs: by class of slowdown, and backfilled (figures 3 and 4)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr

from schedfarm.analysis.papers.saf_2019.study import Study
from schedfarm.analysis.papers.spread import STANDING, spread
from schedfarm.analysis.store import LOG, of_log, of_samples

CLASSES = {
    "slowdown_1": "1",
    "slowdown_1_10": "1-10",
    "slowdown_10_100": "10-100",
    "slowdown_100": "100+",
}
"""Figure 3: the classes of slowdown, and what the paper calls them."""


ALL_LOGS = "all logs"
"""Stands for the jobs of every log together."""


def slowdown_classes(of: Study) -> pd.DataFrame:
    """Figure 3: percentage of the jobs in each class of slowdown, over all samples.

    Returns
    -------
    DataFrame
        A row a log, policy and class, `ALL_LOGS` first: ``percent`` over the jobs of all samples,
        ``low`` and ``high`` of the band of single samples, and `STANDING`.
    """
    counts = of.summary[list(CLASSES)].to_dataarray("slowdown")
    counts = counts.assign_coords(slowdown=list(CLASSES.values()))
    counts, jobs = _with_all(counts), _with_all(of.summary["counted"])
    percent = 100 * of_samples(counts).sum("resample") / of_samples(jobs).sum("resample")
    found = spread(100 * counts / jobs).assign(percent=percent)
    frame = found.to_dataframe(dim_order=["trace", "policy", "slowdown"])
    return frame[["low", "percent", "high", *STANDING]]


def _with_all(counts: xr.DataArray) -> xr.DataArray:
    together = counts.sum("trace").expand_dims(trace=[ALL_LOGS])
    return xr.concat([together, counts], "trace", coords="minimal", compat="override")


def backfilled_jobs(of: Study) -> pd.DataFrame:
    """Figure 4: number of backfilled jobs of each sample.

    Returns
    -------
    DataFrame
        A row a log, policy and resample: ``backfilled`` and ``counted`` of the sample, and in
        ``log`` the jobs that are backfilled in the log itself, empty where the store lacks it.
    """
    counts = of.summary["backfilled"]
    there = LOG in counts["resample"].values
    columns = of.samples[["backfilled", "counted"]].assign(log=of_log(counts) if there else np.nan)
    frame = columns.to_dataframe(dim_order=["trace", "policy", "resample"])
    return frame[["backfilled", "counted", "log"]]
