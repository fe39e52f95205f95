"""What a report reads and what it is: one store, and figures, tables and a text made of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd
import xarray as xr

from schedfarm.analysis.drawing import save
from schedfarm.analysis.place import StoreName
from schedfarm.analysis.store import open_tree
from schedfarm.core.files import write_whole

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


class Made(NamedTuple):
    """Hold a report before any of it is written: a store that lacks what one part needs gets none.

    Parameters
    ----------
    figures : mapping of str to Figure
        By name.
    tables : mapping of str to DataFrame
        By name.
    text : str
        What of these a terminal shows.
    """

    figures: Mapping[str, Figure]
    tables: Mapping[str, pd.DataFrame]
    text: str

    def write(self, folder: Path) -> list[Path]:
        """Write FOLDER/figures/NAME.png and FOLDER/tables/NAME.csv, and return these paths."""
        written = []
        for name, figure in self.figures.items():
            written.append(folder / "figures" / f"{name}.png")
            written[-1].parent.mkdir(parents=True, exist_ok=True)
            save(figure, written[-1])
        for name, table in self.tables.items():
            written.append(folder / "tables" / f"{name}.csv")
            write_whole(written[-1], table.to_csv(lineterminator="\n").encode())
        return written
