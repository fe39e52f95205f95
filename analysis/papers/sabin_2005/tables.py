"""Tables 1 and 2 of Sabin and Sadayappan (JSSPP 2005), ours beside the paper's numbers."""

from __future__ import annotations

import pandas as pd

from schedfarm.analysis.papers.sabin_2005.printed import TABLE_1, TABLE_2
from schedfarm.analysis.papers.sabin_2005.subsets import SUBSETS, rank_correlations
from schedfarm.analysis.papers.sabin_2005.unfairness import jobs_by_width
from schedfarm.analysis.store import Store
from schedfarm.core.metrics.widths import WIDTHS

PAPER = "paper"
"""What the tables call the paper's own numbers."""


def table_1(store: Store) -> pd.DataFrame:
    """Return Table 1, jobs by width, ours and where the trace is one of its own the paper's.

    Parameters
    ----------
    store : path or DataTree
        The store's folder, or an open tree.

    Returns
    -------
    DataFrame
        Indexed by (trace, of), a column a width.
    """
    ours = jobs_by_width(store)
    rows = {(str(trace), "ours"): counts.tolist() for trace, counts in ours.iterrows()}
    rows |= {(trace, PAPER): list(TABLE_1[trace]) for trace in ours.index if trace in TABLE_1}
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=list(WIDTHS))
    frame.index = pd.MultiIndex.from_tuples(frame.index, names=["trace", "of"])
    return frame.sort_index()


def table_2(store: Store) -> pd.DataFrame:
    """Return Table 2, the correlation of each subset's ranking of the simulations with the whole.

    Parameters
    ----------
    store : path or DataTree
        The store's folder, or an open tree.

    Returns
    -------
    DataFrame
        Indexed by (division, subset): our three readings of the paper's division, and where
        the trace is one of its own its numbers; a column for each trace and kind.
    """
    ours = rank_correlations(store)
    paper = {key: list(TABLE_2[key]) for key in TABLE_2 if key in ours.columns}
    if not paper:
        return ours
    index = pd.MultiIndex.from_product([[PAPER], range(SUBSETS)], names=ours.index.names)
    return pd.concat([ours, pd.DataFrame(paper, index=index).reindex(columns=ours.columns)])
