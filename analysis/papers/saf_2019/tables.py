"""Tables II to IV of Carastan-Santos et al. 2019 from a store: ours beside the paper's numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr

from analysis.band_rule import Trimmed
from analysis.papers.saf_2019.printed import POLICIES, TABLE_2, TABLE_3, TABLE_4
from analysis.papers.saf_2019.study import Study
from analysis.store import LOG, of_log, of_samples, open_trace
from core.arrays import Float64

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
                "rows": jobs + sum(group.attrs.get("dropped", {}).values()),
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
    """Table III: percentage of premature jobs, of the log and of the mean resample.

    Raises
    ------
    StoreError
        If the store lacks the log itself.
    """

    def percent(summary: xr.Dataset) -> Float64:
        one = summary.sel(policy=POLICIES[0])
        return np.asarray(100 * one["premature"] / one["counted"])

    frame = pd.DataFrame({"premature": percent(of.log)}, index=pd.Index(of.traces, name="trace"))
    frame["premature_resamples"] = percent(of.samples[["premature", "counted"]].mean("resample"))
    return frame.assign(premature_printed=[TABLE_3.get(t, np.nan) for t in of.traces])


def table_4(of: Study) -> pd.DataFrame:
    """Table IV: mean slowdown of the premature jobs over that of the standard ones.

    Returns
    -------
    DataFrame
        A row a policy and log: ``ratio`` over the jobs of all samples, ``low`` and ``high`` of
        the ratios of single samples within the 10 to 90 % range, ``log`` of the log itself
        (empty where the store has none), ``printed``.
    """
    samples = of.samples
    early, jobs = samples["premature"], samples["counted"]
    # A sample without such jobs has no mean, and adds nothing.
    above = (samples["bounded_slowdown_premature"].fillna(0) * early).sum("resample")
    below = (samples["bounded_slowdown_standard"].fillna(0) * (jobs - early)).sum("resample")
    ratio = (above / early.sum("resample")) / (below / (jobs - early).sum("resample"))
    single = of.summary["bounded_slowdown_premature"] / of.summary["bounded_slowdown_standard"]
    log = of_log(single) if LOG in single["resample"].values else ratio * np.nan
    each = of_samples(single).transpose(..., "resample").values
    low, _, high = np.moveaxis(Trimmed().reduce(each), -1, 0)
    columns = {
        "low": ratio.copy(data=low),
        "ratio": ratio,
        "high": ratio.copy(data=high),
        "log": log,
    }
    frame = xr.Dataset(columns).to_dataframe(dim_order=["policy", "trace"])[list(columns)]
    printed = {
        (policy, trace): value
        for policy, values in TABLE_4.items()
        for trace, value in zip(TABLE_2, values, strict=True)
    }
    return frame.assign(printed=[printed.get(key, np.nan) for key in frame.index])
