"""The numbers of the running text of Carastan-Santos et al. 2019: gains over FCFS, and claims."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import xarray as xr

from schedfarm.analysis.band_rule import BandRule, Range
from schedfarm.analysis.papers.saf_2019.counts import ALL_LOGS, backfilled_jobs, slowdown_classes
from schedfarm.analysis.papers.saf_2019.printed import (
    CLAIMS,
    FEWER_BACKFILLED,
    OBJECTIVES,
    POLICIES,
)
from schedfarm.analysis.papers.saf_2019.study import Study
from schedfarm.analysis.papers.saf_2019.tables import table_4
from schedfarm.analysis.papers.spread import RULE, STANDING, spread
from schedfarm.analysis.store import of_samples

BASELINE = POLICIES[0]
"""The policy that the others are to replace."""

UNPAIRED = "_unpaired"
"""Ends the names of claims on means of policies, not of the samples' gains."""


def relative_gains(of: Study) -> pd.DataFrame:
    """Gain of each policy over FCFS, in percent: paired by sample, and as the paper has it.

    A sample's gain is 1 - policy / FCFS of the same sample, so that what both owe to the sample
    cancels. The paper compares means of the samples in the band of each policy on its own
    (section V-A), which may be other samples.

    Returns
    -------
    DataFrame
        A row a metric, log and policy: ``mean`` and ``median`` of all samples' gains, ``low`` and
        ``high`` of their band, ``better``, how many of the ``samples`` gain, ``unpaired``, the
        paper's, and `STANDING`.
    """
    parts = {metric: _gains(of.summary[metric]) for metric in OBJECTIVES}
    return pd.concat(parts, names=["metric"])


def _gains(values: xr.DataArray) -> pd.DataFrame:
    values = values.transpose("trace", "policy", "resample")
    base = values["policy"].values.tolist().index(BASELINE)
    gain = 100 * (1 - values / values.isel(policy=base, drop=True))
    each, own = of_samples(gain), of_samples(values)
    _, middle, _ = np.moveaxis(RULE.reduce(own.values), -1, 0)
    found = spread(gain).assign(
        mean=each.mean("resample"),
        better=(each > 0).sum("resample"),
        unpaired=(("trace", "policy"), 100 * (1 - middle / middle[:, base, None])),
    )
    columns = ["mean", "median", "low", "high", "better", "unpaired", *STANDING]
    others = found.drop_sel(policy=BASELINE)
    return others.to_dataframe(dim_order=["trace", "policy"])[columns]


def headline(of: Study) -> pd.DataFrame:
    """Return the numbers of the paper's running text: ours, whose they are, and the paper's.

    Returns
    -------
    DataFrame
        A row a claim: ``what``, ``ours``, ``of`` (policy and log), ``of_samples``, which of how
        many, ``printed``, ``printed_of`` and ``where`` in the paper it stands.
    """
    ours = dict(_claims(of))
    n = of.samples.sizes["resample"]
    rows = [
        {
            "claim": key,
            "what": claim.what,
            "ours": ours[key][0],
            "of": ours[key][1],
            "of_samples": _rule(key).attrs(n)["samples"],
            "printed": claim.value,
            "printed_of": claim.policy,
            "where": claim.where,
        }
        for key, claim in CLAIMS.items()
    ]
    return pd.DataFrame(rows).set_index("claim")


def _rule(claim: str) -> BandRule:
    """Return which samples a number is of: the paper's own gains leave the best and worst out."""
    return RULE if claim.startswith("gain_") and claim.endswith(UNPAIRED) else Range()


def _claims(of: Study) -> Iterator[tuple[str, tuple[float, str]]]:
    gain = of.once(relative_gains)
    for metric in OBJECTIVES:
        for column, suffix in (("mean", ""), ("unpaired", UNPAIRED)):
            one = gain.loc[metric][column]
            yield f"gain_{metric}{suffix}", _largest(one)
    yield from _backfilled(of)
    classes = of.once(slowdown_classes)["percent"].unstack("policy")
    at_once = classes.xs("1", level="slowdown")
    points = at_once["SAF"] - at_once[BASELINE]
    more = float(100 * (at_once["SAF"] / at_once[BASELINE] - 1)[ALL_LOGS])
    yield "more_at_once", (more, f"SAF, {ALL_LOGS}")
    yield "more_at_once_points", (float(points[ALL_LOGS]), f"SAF, {ALL_LOGS}")
    yield "more_at_once_of_a_log", _largest(points.drop(ALL_LOGS), "SAF, ")
    worst = classes.xs("100+", level="slowdown")
    fewer_worst = worst[BASELINE] / worst["SAF"]
    yield "fewer_worst", (float(fewer_worst[ALL_LOGS]), f"SAF, {ALL_LOGS}")
    yield "fewer_worst_of_a_log", _largest(fewer_worst.drop(ALL_LOGS), "SAF, ")
    ratios = of.once(table_4)
    off = np.abs(np.log((ratios["ratio"] / ratios["printed"]).dropna().to_numpy()))
    factor = float(np.exp(off.mean())) if off.size else np.nan
    yield "table_4_factor", (factor, f"{off.size} numbers")


def _backfilled(of: Study) -> Iterator[tuple[str, tuple[float, str]]]:
    counts = of.once(backfilled_jobs)["backfilled"].unstack("policy")
    means = counts.groupby("trace").mean()
    for policy in FEWER_BACKFILLED:
        each = (1 - counts[policy] / counts[BASELINE]).groupby("trace").mean()
        yield f"fewer_backfilled_{policy}", (100 * float(each.mean()), policy)
        fewer = 1 - means[policy] / means[BASELINE]
        yield f"fewer_backfilled_{policy}{UNPAIRED}", (100 * float(fewer.mean()), policy)
    most = counts["SQF"].groupby("trace").max()
    yield "most_backfilled_SQF", _largest(most, "SQF, ")


def _largest(values: pd.Series[float], whose: str = "") -> tuple[float, str]:
    """Return the largest value and whose it is: the labels of its row, the innermost first."""
    label = values.index[int(values.to_numpy().argmax())]
    labels = label[::-1] if isinstance(label, tuple) else (label,)
    return float(values.max()), whose + ", ".join(map(str, labels))
