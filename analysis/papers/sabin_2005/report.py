"""Every figure and table of the evaluation of Sabin and Sadayappan, from a store, by one call.

G. Sabin and P. Sadayappan, Unfairness metrics for space-sharing parallel job schedulers, JSSPP
2005, section 5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import xarray as xr

from schedfarm.analysis.papers.files import Made, open_report
from schedfarm.analysis.papers.sabin_2005.claims import claims, claims_in_part
from schedfarm.analysis.papers.sabin_2005.figures import FIGURES, bar_chart, bar_table
from schedfarm.analysis.papers.sabin_2005.names import KINDS
from schedfarm.analysis.papers.sabin_2005.printed import LOADS
from schedfarm.analysis.papers.sabin_2005.samples import RATIOS, charts_and_tables
from schedfarm.analysis.papers.sabin_2005.tables import table_1, table_2
from schedfarm.analysis.papers.sabin_2005.unfairness import mean_unfairness, unfairness_by_width
from schedfarm.analysis.papers.spread import table_text
from schedfarm.analysis.place import StoreName
from schedfarm.analysis.store import check_known, holds_log, holds_samples, open_summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def report(store: StoreName) -> Made:
    """Make every figure and table that a store has the numbers for.

    Parameters
    ----------
    store : str or path
        The store's folder or address: of the log itself, of samples, or of both.

    Returns
    -------
    Made
        The tables have the figures' numbers, too; the text says what became of each of the
        paper's conclusions, and what samples say.

    Raises
    ------
    StoreError
        If the store lacks one of the nine policies, a kind of fairness, or, without samples, the
        two loads that the paper's figures are of.
    """
    tree = open_report(store)
    figures: dict[str, Figure] = {}
    tables: dict[str, pd.DataFrame] = {}
    said = []
    if holds_samples(tree):
        figures, tables = charts_and_tables(tree)
        said.append(tables[RATIOS])
    if holds_log(tree):
        # Beside samples the log may be there to be compared with them alone, at whatever load.
        of_paper = not figures or set(LOADS) <= set(_loads(tree))
        for load in LOADS if of_paper else ():
            check_known(load, "load", _loads(tree))
        by_width = {kind: unfairness_by_width(tree, kind) for kind in KINDS}
        parts = claims_in_part(tree, by_width)
        said.append(claims(parts))
        if of_paper:
            drawn, shown = _of_log(tree, by_width)
            figures |= drawn
            tables |= {**shown, "claims": said[-1], "claims-in-part": parts}
    return Made(figures, tables, "\n\n".join(map(table_text, said)))


def _loads(tree: xr.DataTree) -> list[str]:
    loads: list[str] = open_summary(tree)["load"].values.tolist()
    return loads


def _of_log(
    tree: xr.DataTree, by_width: dict[str, xr.DataArray]
) -> tuple[dict[str, Figure], dict[str, pd.DataFrame]]:
    figures, tables = {}, {}
    for name, row in FIGURES.items():
        fcfs = by_width[row.kind].sel(order="FCFS", drop=True)
        values = fcfs if row.by_width else mean_unfairness(tree, row.kind)
        figures[name] = bar_chart(values.sel(load=LOADS), row.title)
        tables[name] = bar_table(values, "rule")
    tables["table-1-widths"] = table_1(tree)
    tables["table-2-rank-correlation"] = table_2(tree)
    return figures, tables
