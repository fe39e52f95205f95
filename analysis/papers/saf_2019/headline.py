"""The numbers of the running text of Carastan-Santos et al. 2019: gains over FCFS, and claims."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
import xarray as xr

from analysis.bands import bands
from analysis.papers.saf_2019.counts import backfilled_jobs, slowdown_classes
from analysis.papers.saf_2019.printed import CLAIMS, OBJECTIVES, POLICIES
from analysis.papers.saf_2019.study import Study

BASELINE = POLICIES[0]
"""The policy that the others are to replace."""


def relative_gains(of: Study) -> pd.DataFrame:
    """Gain of each policy over FCFS, in percent, from the samples' trimmed means (section V-A).

    Returns
    -------
    DataFrame
        A row a log and policy, a column a metric.
    """
    columns = {}
    for metric in OBJECTIVES:
        band = bands(of.store, metric, kind="trimmed").sel(load=of.load, band="trimmed_mean")
        mean = of.by_paper(band)[metric]
        gain = 100 * (1 - mean / mean.sel(policy=BASELINE, drop=True))
        columns[metric] = gain.drop_sel(policy=BASELINE).drop_vars(["load", "band"])
    frame = xr.Dataset(columns).to_dataframe(dim_order=["trace", "policy"])
    return frame[list(columns)].dropna(how="all")


def headline(of: Study) -> pd.DataFrame:
    """Return the numbers of the paper's running text: ours, whose they are, and the paper's.

    Returns
    -------
    DataFrame
        A row a claim: ``what``, ``ours``, ``of`` (policy and log), ``printed``, ``printed_of``
        and ``where`` in the paper it stands.
    """
    ours = dict(_claims(of))
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


def _claims(of: Study) -> Iterator[tuple[str, tuple[float, str]]]:
    gain = relative_gains(of)
    for metric in OBJECTIVES:
        trace, policy = gain.index[int(gain[metric].to_numpy().argmax())]
        yield f"gain_{metric}", (float(gain[metric].max()), f"{policy}, {trace}")
    counts = backfilled_jobs(of)["backfilled"].unstack("policy")
    means = counts.groupby("trace").mean()
    for policy in ("SAF", "SPF"):
        fewer = 100 * (1 - means[policy] / means["FCFS"]).mean()
        yield f"fewer_backfilled_{policy}", (float(fewer), policy)
    most = counts["SQF"].groupby("trace").max()
    yield "most_backfilled_SQF", (float(most.max()), f"SQF, {most.idxmax()}")
    classes = slowdown_classes(of)["percent"].unstack("policy")
    at_once = classes.xs("1", level="slowdown")
    more = 100 * (at_once["SAF"] / at_once["FCFS"] - 1)
    yield "more_at_once", (float(more.max()), f"SAF, {more.idxmax()}")
    points = at_once["SAF"] - at_once["FCFS"]
    yield "more_at_once_points", (float(points.max()), f"SAF, {points.idxmax()}")
    worst = classes.xs("100+", level="slowdown")
    fewer_worst = worst["FCFS"] / worst["SAF"]
    yield "fewer_worst", (float(fewer_worst.max()), f"SAF, {fewer_worst.idxmax()}")
