"""Tables 1 and 2 of Sabin and Sadayappan (JSSPP 2005): jobs by width, and ranks by a tenth of jobs.

Table 2 ranks a trace's simulations (all loads and the paper's nine policies) by the mean unfairness
over a tenth of the jobs. The table then correlates these ranks with the ranks over all jobs.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from schedfarm.analysis.papers.report import Numbers
from schedfarm.analysis.papers.sabin_2005.printed import RULES, TABLE_1, TABLE_2
from schedfarm.analysis.papers.sabin_2005.unfairness import (
    BY_SIZE,
    READINGS,
    job_unfairness,
    jobs_by_width,
)
from schedfarm.core.arrays import Float64, Int64
from schedfarm.core.metrics.widths import WIDTHS

SUBSETS = 10
"""Number of parts into which the paper's Table 2 divides a trace."""

DIVISIONS = ("every tenth", "tenths in a row", "random")
"""Readings of "random subsets, based solely on the arrival order": dealt out one by one, cut into
ten consecutive parts, or drawn at random."""

SEED = 2005  # of the random division

PAPER = "paper"
"""Label of the numbers in the paper."""


def table_1(of: Numbers) -> pd.DataFrame:
    """Return Table 1, jobs by width: our numbers, and the paper's for the paper's traces."""
    ours = jobs_by_width(of)
    rows = {(str(trace), "ours"): counts.tolist() for trace, counts in ours.iterrows()}
    rows |= {(trace, PAPER): list(TABLE_1[trace]) for trace in ours.index if trace in TABLE_1}
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=list(WIDTHS))
    frame.index = pd.MultiIndex.from_tuples(frame.index, names=["trace", "of"])
    return frame.sort_index()


def table_2(of: Numbers) -> pd.DataFrame:
    """Return Table 2: our three divisions, and the paper's numbers for the paper's traces."""
    ours = rank_correlations(of)
    printed = TABLE_2 | {(log, BY_SIZE): TABLE_2[log, "resource"] for log in TABLE_1}
    paper = {key: list(printed[key]) for key in printed if key in ours.columns}
    if not paper:
        return ours
    index = pd.MultiIndex.from_product([[PAPER], range(SUBSETS)], names=ours.index.names)
    return pd.concat([ours, pd.DataFrame(paper, index=index).reindex(columns=ours.columns)])


def rank_correlations(of: Numbers, kinds: Iterable[str] = READINGS) -> pd.DataFrame:
    """Return Spearman's correlation of each subset of the jobs with all jobs, by trace and kind.

    NaN if all simulations are equal.
    """
    columns = {}
    for trace in of.traces:
        for kind in kinds:
            unfair = job_unfairness(of, trace, kind).sel(rule=list(RULES.values()))
            unfair = unfair.transpose("job", ...)
            columns[trace, kind] = _correlations(unfair.values.reshape(unfair.sizes["job"], -1))
    index = pd.MultiIndex.from_product([DIVISIONS, range(SUBSETS)], names=["division", "subset"])
    frame = pd.DataFrame(columns, index=index)
    return frame.rename_axis(columns=["trace", "kind"])


def _correlations(unfair: Float64) -> list[float]:
    """Return each division's correlation of parts with the whole; unfair: jobs x simulations."""
    parts = [part for name in DIVISIONS for part in _divide(len(unfair), name)]
    means = np.array([unfair.mean(axis=0), *(unfair[part].mean(axis=0) for part in parts)])
    ranks = pd.DataFrame(means).rank(axis=1).to_numpy()
    off = ranks - ranks.mean(axis=1, keepdims=True)
    scale = np.sqrt((off * off).sum(axis=1))
    # Equal simulations have no ranks.
    with np.errstate(invalid="ignore"):
        found: list[float] = (off[1:] @ off[0] / (scale[1:] * scale[0])).tolist()
    return found


def _divide(jobs: int, division: str) -> list[Int64]:
    indices = np.arange(jobs)
    if division == "every tenth":
        return [indices[i::SUBSETS] for i in range(SUBSETS)]
    if division == "random":
        indices = np.random.default_rng(SEED).permutation(indices)
    return list(np.array_split(indices, SUBSETS))
