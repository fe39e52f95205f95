"""Tables II to IV of Carastan-Santos et al. 2019 from a store: ours beside the paper's numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr

from schedfarm.analysis.papers.saf_2019.printed import POLICIES, TABLE_2, TABLE_3, TABLE_4
from schedfarm.analysis.papers.saf_2019.study import Study
from schedfarm.analysis.papers.spread import STANDING, spread
from schedfarm.analysis.store import of_log, open_trace, told

MONTH = 365.25 / 12 * 86_400
"""A mean month, s."""


def table_2(of: Study) -> pd.DataFrame:
    """Table II: jobs, offered load and duration of each log, as they are simulated.

    Returns
    -------
    DataFrame
        A row a log: ``rows`` of the file, ``jobs`` simulated, ``utilisation`` (%), ``months``,
        and the paper's under ``_printed``.

    Raises
    ------
    StoreError
        If the store lacks the log itself.
    """
    log = of.log
    rows = []
    for trace in of.traces:
        group = open_trace(of.store, trace)
        submit = of_log(group["submit"].sel(load=of.load)).values
        jobs = int(log["jobs"].sel(trace=trace))
        printed = TABLE_2.get(trace)
        rows.append(
            {
                "trace": trace,
                "rows": jobs + sum(told(group.attrs, "dropped").values()),
                "jobs": jobs,
                "jobs_printed": printed.jobs if printed else np.nan,
                "utilisation": 100 * float(log["offered_load"].sel(trace=trace)),
                "utilisation_printed": printed.utilisation if printed else np.nan,
                "months": (submit[jobs - 1] - submit[0]) / MONTH,
                "months_printed": printed.months if printed else np.nan,
            }
        )
    return pd.DataFrame(rows).set_index("trace")


def table_3(of: Study) -> pd.DataFrame:
    """Table III: percentage of premature jobs, of the log and of its samples.

    Returns
    -------
    DataFrame
        A row a log: ``low``, ``premature_resamples`` over the jobs of all samples, and ``high``,
        of the band of single samples; `STANDING`, of which ``log`` is what the paper's table has;
        and ``premature_printed``.

    Raises
    ------
    StoreError
        If the store lacks the log itself.
    """

    def percent(summary: xr.Dataset) -> xr.DataArray:
        one = summary.sel(policy=POLICIES[0], drop=True)
        return 100 * one["premature"] / one["counted"]

    of_all = percent(of.samples[["premature", "counted"]].sum("resample"))
    found = spread(percent(of.summary))
    found = found.assign(log=percent(of.log), premature_resamples=of_all)
    frame = found.to_dataframe(dim_order=["trace"])
    frame = frame[["low", "premature_resamples", "high", *STANDING]]
    return frame.assign(premature_printed=[TABLE_3.get(t, np.nan) for t in of.traces])


def table_4(of: Study) -> pd.DataFrame:
    """Table IV: mean slowdown of the premature jobs over that of the standard ones.

    Returns
    -------
    DataFrame
        A row a policy and log: ``ratio`` over the jobs of all samples, ``low`` and ``high`` of
        the band of single samples' ratios, `STANDING` (``log`` is empty where the store has
        none), ``printed``.
    """
    samples = of.samples
    early, jobs = samples["premature"], samples["counted"]
    # A sample without such jobs has no mean, and adds nothing.
    above = (samples["bounded_slowdown_premature"].fillna(0) * early).sum("resample")
    below = (samples["bounded_slowdown_standard"].fillna(0) * (jobs - early)).sum("resample")
    ratio = (above / early.sum("resample")) / (below / (jobs - early).sum("resample"))
    single = of.summary["bounded_slowdown_premature"] / of.summary["bounded_slowdown_standard"]
    found = spread(single).assign(ratio=ratio)
    frame = found.to_dataframe(dim_order=["policy", "trace"])[["low", "ratio", "high", *STANDING]]
    printed = {
        (policy, trace): value
        for policy, values in TABLE_4.items()
        for trace, value in zip(TABLE_2, values, strict=True)
    }
    return frame.assign(printed=[printed.get(key, np.nan) for key in frame.index])
