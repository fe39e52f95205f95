"""What a report reads and where it writes: one store, and folders `figures` and `tables`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import xarray as xr

from analysis.drawing import save
from analysis.place import StoreName
from analysis.store import open_tree
from core.files import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def open_report(store: StoreName) -> xr.DataTree:
    """Open a store with its summary in memory, which a report asks dozens of times.

    Raises
    ------
    StoreError
        As `open_tree`.
    """
    tree = open_tree(store)
    tree.dataset = tree.to_dataset().load()
    return tree


def write_table(folder: Path, name: str, frame: pd.DataFrame) -> Path:
    """Write a table as FOLDER/tables/NAME.csv, and return this path."""
    path = folder / "tables" / f"{name}.csv"
    write_whole(path, frame.to_csv(lineterminator="\n").encode())
    return path


def write_figure(folder: Path, name: str, figure: Figure) -> Path:
    """Write a figure as FOLDER/figures/NAME.png, and return this path."""
    path = folder / "figures" / f"{name}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    save(figure, path)
    return path


def write_all(
    folder: Path, figures: Mapping[str, Figure], tables: Mapping[str, pd.DataFrame]
) -> list[Path]:
    """Write figures and tables under their names, and return the paths.

    All are made before the first is written: of a store that lacks what one needs there is none.
    """
    written = [write_figure(folder, name, figure) for name, figure in figures.items()]
    return written + [write_table(folder, name, table) for name, table in tables.items()]
