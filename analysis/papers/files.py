"""What a report reads and where it writes: one store, its folders `figures` and `tables`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import xarray as xr

from analysis.drawing import save
from analysis.store import open_tree
from core.files import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def open_report(store: Path) -> xr.DataTree:
    """Open a store with its summary in memory, which a report asks dozens of times.

    Raises
    ------
    StoreError
        As `open_tree`.
    """
    tree = open_tree(store)
    tree.dataset = tree.to_dataset().load()
    return tree


def write_table(store: Path, name: str, frame: pd.DataFrame) -> Path:
    """Write a table as STORE/tables/NAME.csv, and return this path."""
    path = store / "tables" / f"{name}.csv"
    write_whole(path, frame.to_csv(lineterminator="\n").encode())
    return path


def write_figure(store: Path, name: str, figure: Figure) -> Path:
    """Write a figure as STORE/figures/NAME.png, and return this path."""
    path = store / "figures" / f"{name}.png"
    path.parent.mkdir(exist_ok=True)
    save(figure, path)
    return path
