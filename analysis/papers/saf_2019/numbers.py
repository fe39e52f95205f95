"""Numbers of Carastan-Santos et al. 2019 from a store, at one load and for their four policies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import xarray as xr

from schedfarm.analysis.band_rule import Trimmed
from schedfarm.analysis.bands import weekly_bands
from schedfarm.analysis.drawing import HOUR
from schedfarm.analysis.errors import StoreError
from schedfarm.analysis.papers.report import Numbers
from schedfarm.analysis.papers.saf_2019.printed import (
    OBJECTIVES,
    POLICIES,
    TABLE_2,
    TABLE_3,
    TABLE_4,
)
from schedfarm.analysis.papers.tables import STANDING, band_table
from schedfarm.analysis.store import LOG, named_values, of_log, of_samples, open_trace

BASELINE, *OTHERS = POLICIES
"""The baseline policy, and the policies that the paper compares with it."""

PUBLISHED = Trimmed()
"""The paper's band, whose middle is the mean of the samples within it (section V-A)."""

THRESHOLD = ",threshold="
"""Part of the label of a policy with a threshold."""

MONTH = 365.25 / 12 * 86_400
"""A mean month, s."""

CLASSES = {
    "slowdown_1": "1",
    "slowdown_1_10": "1-10",
    "slowdown_10_100": "10-100",
    "slowdown_100": "100+",
}
"""Classes of slowdown in figure 3, with their names in the paper."""

ALL_LOGS = "all logs"
"""Label for the jobs of all logs together."""


@dataclass(frozen=True, eq=False)
class Study(Numbers):
    """Hold numbers at the first load of a store, under a policy for each of the paper's orders."""

    cells: xr.Dataset
    """Numbers on (trace, resample, policy), with the paper's names of the policies."""

    load: str
    policies: dict[str, str]
    """The store's label of each of the paper's policies."""

    @property
    def threshold(self) -> bool:
        """Whether the policies have a threshold."""
        return any(THRESHOLD in label for label in self.policies.values())

    @cached_property
    def samples(self) -> xr.Dataset:
        """The cells of samples."""
        return of_samples(self.cells)

    @cached_property
    def log(self) -> xr.Dataset:
        """The cells of the log itself, which Tables II and III need."""
        return of_log(self.cells)

    @property
    def has_log(self) -> bool:
        """Whether the store has the log itself."""
        return LOG in self.cells["resample"].values


def studies(numbers: Numbers) -> list[Study]:
    """Return a study with the paper's threshold and, if stored, a study without a threshold.

    FCFS needs no threshold. A missing policy raises `StoreError`.
    """
    summary = numbers.summary
    labels = [str(x) for x in summary["policy"].values]
    chosen = {name: _label(name, labels) for name in POLICIES}
    plain = {name: _without(label) for name, label in chosen.items()}
    both = plain != chosen and set(plain.values()) <= set(labels)
    load = str(summary["load"].values[0])
    return [
        Study(numbers.place, numbers.tree, by_paper(summary.sel(load=load), one), load, one)
        for one in ([chosen, plain] if both else [chosen])
    ]


def by_paper(values: xr.Dataset, policies: dict[str, str]) -> xr.Dataset:
    """Select the paper's policies in a dataset, under the paper's names."""
    chosen = values.sel(policy=list(policies.values()))
    return chosen.assign_coords(policy=list(policies)).load()


def _label(name: str, labels: list[str]) -> str:
    of_order = [label for label in labels if label.partition("+")[0].upper() == name]
    if not of_order:
        raise StoreError(
            f"the store has no policy of order {name.lower()!r}, which the paper compares; "
            f"it has {', '.join(labels)}"
        )
    return next((label for label in of_order if THRESHOLD in label), of_order[0])


def _without(label: str) -> str:
    policy, *options = label.split(",")
    return ",".join([policy, *(x for x in options if not f",{x}".startswith(THRESHOLD))])


def table_2(of: Study) -> pd.DataFrame:
    """Return Table II for each log: rows of the file, jobs, offered load in percent, months."""
    rows = []
    for trace in of.traces:
        group = open_trace(of.tree, trace)
        submit = of_log(group["submit"].sel(load=of.load)).values
        jobs = int(of.log["jobs"].sel(trace=trace))
        printed = TABLE_2.get(trace)
        rows.append(
            {
                "trace": trace,
                "rows": jobs + sum(named_values(group.attrs, "dropped").values()),
                "jobs": jobs,
                "jobs_printed": printed.jobs if printed else np.nan,
                "utilisation": 100 * float(of.log["offered_load"].sel(trace=trace)),
                "utilisation_printed": printed.utilisation if printed else np.nan,
                "months": (submit[jobs - 1] - submit[0]) / MONTH,
                "months_printed": printed.months if printed else np.nan,
            }
        )
    return pd.DataFrame(rows).set_index("trace")


def table_3(of: Study) -> pd.DataFrame:
    """Return Table III: percentage of premature jobs of each log and of all samples, with a band.

    ``premature_resamples`` is over the jobs of all samples. The paper's number is that of the log.
    """

    def percent(summary: xr.Dataset) -> xr.DataArray:
        one = summary.sel(policy=POLICIES[0], drop=True)
        return 100 * one["premature"] / one["counted"]

    frame = band_table(
        percent(of.cells),
        ["trace"],
        ["low", "premature_resamples", "high", *STANDING],
        premature_resamples=percent(of.samples[["premature", "counted"]].sum("resample")),
        log=percent(of.log),
    )
    return frame.assign(premature_printed=[TABLE_3.get(t, np.nan) for t in of.traces])


def table_4(of: Study) -> pd.DataFrame:
    """Return Table IV: mean slowdown of premature jobs divided by that of standard jobs.

    ``ratio`` is over the jobs of all samples. The band is over the ratios of single samples.
    """
    samples = of.samples
    early, jobs = samples["premature"], samples["counted"]
    # A sample without jobs of a kind has no mean and is left out.
    above = (samples["bounded_slowdown_premature"].fillna(0) * early).sum("resample")
    below = (samples["bounded_slowdown_standard"].fillna(0) * (jobs - early)).sum("resample")
    frame = band_table(
        of.cells["bounded_slowdown_premature"] / of.cells["bounded_slowdown_standard"],
        ["policy", "trace"],
        ["low", "ratio", "high", *STANDING],
        ratio=(above / early.sum("resample")) / (below / (jobs - early).sum("resample")),
    )
    printed = {
        (policy, trace): value
        for policy, values in TABLE_4.items()
        for trace, value in zip(TABLE_2, values, strict=True)
    }
    return frame.assign(printed=[printed.get(key, np.nan) for key in frame.index])


def slowdown_classes(of: Study) -> pd.DataFrame:
    """Return the percentage of jobs in each class of slowdown (figure 3), with `ALL_LOGS` first.

    ``percent`` is over the jobs of all samples. The band is over single samples.
    """
    counts = of.cells[list(CLASSES)].to_dataarray("slowdown")
    counts = counts.assign_coords(slowdown=list(CLASSES.values()))
    counts, jobs = _with_all(counts), _with_all(of.cells["counted"])
    return band_table(
        100 * counts / jobs,
        ["trace", "policy", "slowdown"],
        ["low", "percent", "high", *STANDING],
        percent=100 * of_samples(counts).sum("resample") / of_samples(jobs).sum("resample"),
    )


def _with_all(counts: xr.DataArray) -> xr.DataArray:
    together = counts.sum("trace").expand_dims(trace=[ALL_LOGS])
    return xr.concat([together, counts], "trace", coords="minimal", compat="override")


def backfilled_jobs(of: Study) -> pd.DataFrame:
    """Return the number of backfilled jobs of each sample, and of the log itself (figure 4)."""
    counts = of.cells["backfilled"]
    own = of_log(counts) if of.has_log else np.nan
    columns = of.samples[["backfilled", "counted"]].assign(log=own)
    frame = columns.to_dataframe(dim_order=["trace", "policy", "resample"])
    return frame[["backfilled", "counted", "log"]]


def weekly_means(of: Study) -> pd.DataFrame:
    """Return the bands of the cumulative weekly means of the objectives (figure 1), waits in hours.

    ``log`` is by week. Ranks, samples and coverage are those of the means over all jobs.
    """
    parts = {}
    for metric in OBJECTIVES:
        unit = HOUR if metric == "wait" else 1
        for trace in of.traces:
            weekly = weekly_bands(of.tree, trace, metric, of.load, PUBLISHED.kind)
            band = by_paper(weekly, of.policies).rename(n="samples")
            columns = (band[metric] / unit).to_dataset("band")
            own = band["log"] / unit if "log" in band else np.nan
            columns = columns.assign({name: band[name] for name in STANDING[1:]} | {"log": own})
            frame = columns.to_dataframe(dim_order=["policy", "week"])
            parts[metric, trace] = frame[[*PUBLISHED.labels, *STANDING]]
    return pd.concat(parts, names=["metric", "trace"])


def relative_gains(of: Study) -> pd.DataFrame:
    """Return the gain of each policy over FCFS in percent, paired by sample and as in the paper.

    A sample's gain is 1 - policy / FCFS in the same sample, which cancels the influence of the
    sample on both. ``better`` is the number of samples with a gain. The paper compares the means of
    the samples within each policy's band (``unpaired``, section V-A), which may be different
    samples.
    """
    parts = {metric: _gains(of.cells[metric]) for metric in OBJECTIVES}
    return pd.concat(parts, names=["metric"])


def _gains(values: xr.DataArray) -> pd.DataFrame:
    values = values.transpose("trace", "policy", "resample")
    gain = 100 * (1 - values / values.sel(policy=BASELINE, drop=True))
    each = of_samples(gain)
    middle = values.isel(resample=0, drop=True).copy(
        data=PUBLISHED.reduce(of_samples(values).values)[..., 1]
    )
    columns: Sequence[str] = ("mean", "median", "low", "high", "better", "unpaired", *STANDING)
    frame = band_table(
        gain,
        ["trace", "policy"],
        columns,
        mean=each.mean("resample"),
        better=(each > 0).sum("resample"),
        unpaired=100 * (1 - middle / middle.sel(policy=BASELINE, drop=True)),
    )
    return frame.drop(BASELINE, level="policy")
