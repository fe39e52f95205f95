"""Everything that Carastan-Santos et al. 2019 show, drawn from a store in one call."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from analysis.drawing import write_text
from analysis.papers.saf_2019.figures import figure_1, figure_2, figure_3, figure_4
from analysis.papers.saf_2019.tables import (
    headline,
    relative_gains,
    table_2,
    table_3,
    table_4,
)
from analysis.store import open_tree

FIGURES = {"figure-1": figure_1, "figure-2": figure_2, "figure-3": figure_3, "figure-4": figure_4}
"""Each draws a figure and writes its numbers."""

TABLES = {
    "table-2": table_2,
    "table-3": table_3,
    "table-4": table_4,
    "gains": relative_gains,
    "headline": headline,
}
"""Each is a table, ours beside the paper's numbers."""


def report(store: Path) -> list[Path]:
    """Write every figure and table of the paper into a store.

    Parameters
    ----------
    store : Path
        The store's folder.

    Returns
    -------
    list of Path
        What was written: PNG in ``figures``, CSV in ``tables``, the figures' numbers included.

    Raises
    ------
    StoreError
        If the store is none, or lacks a policy of the paper, samples enough, or the log itself.

    Examples
    --------
    >>> report(Path("no/such/folder"))
    Traceback (most recent call last):
    ...
    analysis.errors.StoreError: store 'no/such/folder' is not a folder; name one that farm run wrote
    """
    tree = open_tree(store)
    found = {name: make(tree) for name, make in TABLES.items()}
    figures, tables = store / "figures", store / "tables"
    for folder in (figures, tables):
        folder.mkdir(exist_ok=True)
    for name, frame in found.items():
        write_text(tables / f"{name}.csv", frame.to_csv(lineterminator="\n"))
    for name, draw in FIGURES.items():
        draw(tree, figures / f"{name}.png", tables / f"{name}.csv")
    return [figures / f"{x}.png" for x in FIGURES] + [tables / f"{x}.csv" for x in TABLES | FIGURES]


def text(store: Path) -> str:
    """Return the tables for a terminal, ours beside the paper's numbers.

    Raises
    ------
    StoreError
        As `report`.
    """
    tree = open_tree(store)
    return "\n".join(f"{name}\n{_as_text(make(tree))}\n" for name, make in TABLES.items())


def _as_text(frame: pd.DataFrame) -> str:
    return frame.to_string(float_format=lambda x: f"{x:.2f}", na_rep="-")
