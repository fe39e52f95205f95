"""Every figure and table of the evaluation of Sabin and Sadayappan, from a store, by one call.

G. Sabin and P. Sadayappan, Unfairness metrics for space-sharing parallel job schedulers, JSSPP
2005, section 5.
"""

from __future__ import annotations

from pathlib import Path

import xarray as xr

from analysis.papers.files import open_report, write_figure, write_table
from analysis.papers.sabin_2005.claims import claims, claims_in_part
from analysis.papers.sabin_2005.figures import FIGURES, bar_chart, bar_table
from analysis.papers.sabin_2005.names import KINDS
from analysis.papers.sabin_2005.printed import LOADS
from analysis.papers.sabin_2005.samples import ratios, report_samples
from analysis.papers.sabin_2005.tables import table_1, table_2
from analysis.papers.sabin_2005.unfairness import mean_unfairness, unfairness_by_width
from analysis.papers.spread import table_text
from analysis.place import StoreName
from analysis.store import check_known, holds_log, holds_samples, open_summary


def report(store: StoreName, folder: Path) -> list[Path]:
    """Write every figure and table that a store has the numbers for.

    Parameters
    ----------
    store : str or path
        The store's folder or address: of the log itself, of samples, or of both.
    folder : Path
        Where to write to.

    Returns
    -------
    list of Path
        What was written: figures as PNG in FOLDER/figures, their numbers and the tables as CSV
        in FOLDER/tables.

    Raises
    ------
    StoreError
        If the store lacks one of the nine policies, a kind of fairness, or, without samples, the
        two loads that the paper's figures are of.
    """
    tree = open_report(store)
    written = report_samples(tree, folder) if holds_samples(tree) else []
    # Beside samples the log may be there to be compared with them alone, at whatever load.
    of_paper = holds_log(tree) and not (written and _lacks_loads(tree))
    return written + (_report_log(tree, folder) if of_paper else [])


def text(store: StoreName) -> str:
    """Return for a terminal what became of each of the paper's conclusions, and what samples say.

    Raises
    ------
    StoreError
        As `report`.
    """
    tree = open_report(store)
    tables = [ratios(tree)] if holds_samples(tree) else []
    tables += [claims(claims_in_part(tree, _by_width(tree)))] if holds_log(tree) else []
    return "\n\n".join(map(table_text, tables))


def _lacks_loads(tree: xr.DataTree) -> bool:
    return not set(LOADS) <= set(open_summary(tree)["load"].values.tolist())


def _by_width(tree: xr.DataTree) -> dict[str, xr.DataArray]:
    return {kind: unfairness_by_width(tree, kind) for kind in KINDS}


def _report_log(tree: xr.DataTree, folder: Path) -> list[Path]:
    loads = open_summary(tree)["load"].values.tolist()
    for load in LOADS:
        check_known(load, "load", loads)
    by_width, written = _by_width(tree), []
    for name, row in FIGURES.items():
        fcfs = by_width[row.kind].sel(order="FCFS", drop=True)
        values = fcfs if row.by_width else mean_unfairness(tree, row.kind)
        written += [
            write_figure(folder, name, bar_chart(values.sel(load=LOADS), row.title)),
            write_table(folder, name, bar_table(values, "rule")),
        ]
    parts = claims_in_part(tree, by_width)
    tables = {
        "table-1-widths": table_1(tree),
        "table-2-rank-correlation": table_2(tree),
        "claims": claims(parts),
        "claims-in-part": parts,
    }
    return written + [write_table(folder, name, table) for name, table in tables.items()]
