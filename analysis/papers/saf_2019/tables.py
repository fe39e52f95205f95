"""Tables of Carastan-Santos et al. 2019 from a store: ours beside the paper's numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import xarray as xr

from analysis.band_rule import Rule
from analysis.bands import bands
from analysis.errors import StoreError
from analysis.papers.saf_2019.printed import CLAIMS, POLICIES, TABLE_2, TABLE_3, TABLE_4
from analysis.store import Store, open_summary, open_trace

CLASSES = {
    "slowdown_1": "1",
    "slowdown_1_10": "1-10",
    "slowdown_10_100": "10-100",
    "slowdown_100": "100+",
}
"""Figure 3: the classes of slowdown, and what the paper calls them."""

OBJECTIVES = ("bounded_slowdown", "pp_bounded_slowdown", "wait")
"""Figure 1, in the order of its rows."""

MONTH = 365.25 / 12 * 86_400
"""A mean month, s."""


class Study(NamedTuple):
    """What of a store the paper is about: one load, and a policy for each of the paper's orders.

    Parameters
    ----------
    summary : Dataset
        On (trace, resample, policy), with the paper's names of the policies.
    traces : list of str
        Labels.
    load : str
        The load that is looked at: the store's first.
    policies : dict of str to str
        The store's label of each of the paper's policies.
    """

    summary: xr.Dataset
    traces: list[str]
    load: str
    policies: dict[str, str]

    @property
    def samples(self) -> xr.Dataset:
        """The summary without the log itself."""
        return self.summary.isel(resample=np.flatnonzero(self.summary["resample"].values > 0))

    @property
    def log(self) -> xr.Dataset:
        """The summary of the log itself."""
        if 0 not in self.summary["resample"].values:
            raise StoreError(
                "the store has samples only, and Tables II and III are of the log itself; "
                "run the campaign with log = true"
            )
        return self.summary.sel(resample=0)


def study(store: Store) -> Study:
    """Find the paper's policies in a store.

    Raises
    ------
    StoreError
        If one of them is missing.
    """
    summary = open_summary(store)
    labels = [str(x) for x in summary["policy"].values]
    by_order = {label.partition("+")[0].upper(): label for label in reversed(labels)}
    missing = [name for name in POLICIES if name not in by_order]
    if missing:
        raise StoreError(
            f"the store has no policy of order {missing[0].lower()!r}, which the paper compares; "
            f"it has {', '.join(labels)}"
        )
    chosen = {name: by_order[name] for name in POLICIES}
    load = str(summary["load"].values[0])
    one = summary.sel(load=load, policy=list(chosen.values()))
    one = one.assign_coords(policy=list(chosen)).load()
    return Study(one, [str(x) for x in summary["trace"].values], load, chosen)


def table_2(store: Store) -> pd.DataFrame:
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
    of = study(store)
    log = of.log
    rows = []
    for trace in of.traces:
        group = open_trace(store, trace)
        submit = group["submit"].sel(load=of.load, resample=0).values
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


def table_3(store: Store) -> pd.DataFrame:
    """Table III: percentage of premature jobs, of the log and of the mean resample.

    Raises
    ------
    StoreError
        If the store lacks the log itself.
    """
    of = study(store)

    def percent(summary: xr.Dataset) -> npt.NDArray[np.float64]:
        one = summary.sel(policy=POLICIES[0])
        return np.asarray(100 * one["premature"] / one["counted"])

    frame = pd.DataFrame({"premature": percent(of.log)}, index=pd.Index(of.traces, name="trace"))
    frame["premature_resamples"] = percent(of.samples.mean("resample"))
    return frame.assign(premature_printed=[TABLE_3.get(t, np.nan) for t in of.traces])


def table_4(store: Store) -> pd.DataFrame:
    """Table IV: mean slowdown of the premature jobs over that of the standard ones.

    Returns
    -------
    DataFrame
        A row a policy and log: ``ratio`` over the jobs of all samples, ``low`` and ``high`` of
        the ratios of single samples within the 10 to 90 % range, ``log`` of the log itself
        (empty where the store has none), ``printed``.
    """
    of = study(store)
    samples = of.samples
    early, jobs = samples["premature"], samples["counted"]
    # A sample without such jobs has no mean, and adds nothing.
    above = (samples["bounded_slowdown_premature"].fillna(0) * early).sum("resample")
    below = (samples["bounded_slowdown_standard"].fillna(0) * (jobs - early)).sum("resample")
    ratio = (above / early.sum("resample")) / (below / (jobs - early).sum("resample"))
    single = of.summary["bounded_slowdown_premature"] / of.summary["bounded_slowdown_standard"]
    log = single.sel(resample=0) if 0 in single["resample"].values else ratio * np.nan
    each = single.sel(resample=samples["resample"]).transpose(..., "resample").values
    low, _, high = np.moveaxis(Rule().reduce(each), -1, 0)
    columns = {
        "low": ratio.copy(data=low),
        "ratio": ratio,
        "high": ratio.copy(data=high),
        "log": log.drop_vars("resample", errors="ignore"),
    }
    frame = xr.Dataset(columns).to_dataframe(dim_order=["policy", "trace"])[list(columns)]
    printed = {
        (policy, trace): value
        for policy, values in TABLE_4.items()
        for trace, value in zip(TABLE_2, values, strict=True)
    }
    return frame.assign(printed=[printed.get(key, np.nan) for key in frame.index])


def relative_gains(store: Store) -> pd.DataFrame:
    """Gain of each policy over FCFS, in percent, from the samples' trimmed means (section V-A).

    Returns
    -------
    DataFrame
        A row a log and policy, a column a metric.
    """
    of = study(store)
    columns = {}
    for metric in OBJECTIVES:
        band = bands(store, metric).sel(load=of.load, band="mean")[metric]
        mean = band.sel(policy=list(of.policies.values())).assign_coords(policy=list(POLICIES))
        gain = 100 * (1 - mean / mean.sel(policy=POLICIES[0], drop=True))
        columns[metric] = gain.drop_sel(policy=POLICIES[0]).drop_vars(["load", "band"])
    frame = xr.Dataset(columns).to_dataframe(dim_order=["trace", "policy"])
    return frame[list(columns)].dropna(how="all")


def slowdown_classes(store: Store) -> pd.DataFrame:
    """Figure 3: percentage of the jobs in each class of slowdown, over all samples.

    Returns
    -------
    DataFrame
        A row a log, policy and class: ``percent`` over the jobs of all samples, ``low`` and
        ``high`` of single samples within the 10 to 90 % range.
    """
    of = study(store)
    counts = of.samples[list(CLASSES)].to_dataarray("slowdown")
    counts = counts.assign_coords(slowdown=list(CLASSES.values()))
    jobs = of.samples["counted"]
    percent = 100 * counts.sum("resample") / jobs.sum("resample")
    each = (100 * counts / jobs).transpose(*percent.dims, "resample").values
    low, _, high = np.moveaxis(Rule().reduce(each), -1, 0)
    columns = {"low": percent.copy(data=low), "percent": percent, "high": percent.copy(data=high)}
    frame = xr.Dataset(columns).to_dataframe(dim_order=["trace", "policy", "slowdown"])
    return frame[list(columns)]


def backfilled_jobs(store: Store) -> pd.DataFrame:
    """Figure 4: number of backfilled jobs of each sample, a row a log, policy and resample."""
    columns = study(store).samples[["backfilled", "counted"]]
    frame = columns.to_dataframe(dim_order=["trace", "policy", "resample"])
    return frame[["backfilled", "counted"]]


def headline(store: Store) -> pd.DataFrame:
    """Return the numbers of the paper's running text: ours, whose they are, and the paper's.

    Returns
    -------
    DataFrame
        A row a claim: ``what``, ``ours``, ``of`` (policy and log), ``printed``, ``printed_of``
        and ``where`` in the paper it stands.
    """
    ours = dict(_claims(store))
    rows = [
        {
            "claim": key,
            "what": claim.what,
            "ours": ours[key][0],
            "of": ours[key][1],
            "printed": claim.value,
            "printed_of": claim.policy,
            "where": claim.where,
        }
        for key, claim in CLAIMS.items()
    ]
    return pd.DataFrame(rows).set_index("claim")


def _claims(store: Store) -> Iterator[tuple[str, tuple[float, str]]]:
    gain = relative_gains(store)
    for metric in OBJECTIVES:
        trace, policy = gain.index[int(gain[metric].to_numpy().argmax())]
        yield f"gain_{metric}", (float(gain[metric].max()), f"{policy}, {trace}")
    counts = backfilled_jobs(store)["backfilled"].unstack("policy")
    means = counts.groupby("trace").mean()
    for policy in ("SAF", "SPF"):
        fewer = 100 * (1 - means[policy] / means["FCFS"]).mean()
        yield f"fewer_backfilled_{policy}", (float(fewer), policy)
    most = counts["SQF"].groupby("trace").max()
    yield "most_backfilled_SQF", (float(most.max()), f"SQF, {most.idxmax()}")
    classes = slowdown_classes(store)["percent"].unstack("policy")
    at_once = classes.xs("1", level="slowdown")
    more = 100 * (at_once["SAF"] / at_once["FCFS"] - 1)
    yield "more_at_once", (float(more.max()), f"SAF, {more.idxmax()}")
    points = at_once["SAF"] - at_once["FCFS"]
    yield "more_at_once_points", (float(points.max()), f"SAF, {points.idxmax()}")
    worst = classes.xs("100+", level="slowdown")
    fewer_worst = worst["FCFS"] / worst["SAF"]
    yield "fewer_worst", (float(fewer_worst.max()), f"SAF, {fewer_worst.idxmax()}")
