"""Reports of papers: rows of tables and figures, all made from a store before any is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias, TypeVar

import pandas as pd
import xarray as xr

from schedfarm.analysis.drawing import save
from schedfarm.analysis.papers.needs import Needs
from schedfarm.analysis.papers.tables import table_text
from schedfarm.analysis.place import StoreName
from schedfarm.analysis.store import holds_log, holds_samples, open_tree
from schedfarm.core.files import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Found = TypeVar("Found")


@dataclass(frozen=True, eq=False)
class Numbers:
    """Hold the numbers of a store; each is computed only once."""

    place: StoreName
    tree: xr.DataTree
    _found: dict[Callable[..., Any], Any] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, store: StoreName | xr.DataTree) -> Numbers:
        """Open a store with its summary in memory, since a report reads it dozens of times."""
        tree = store if isinstance(store, xr.DataTree) else open_tree(store)
        tree.dataset = tree.to_dataset().load()
        return cls("" if isinstance(store, xr.DataTree) else store, tree)

    @property
    def summary(self) -> xr.Dataset:
        """The summary of all cells."""
        return self.tree.to_dataset()

    @property
    def traces(self) -> list[str]:
        """Labels of the traces."""
        return [str(name) for name in self.summary["trace"].values]

    def once(self, make: Callable[[Self], Found]) -> Found:
        """Return make(self), computed at the first call; later calls share the result."""
        if make not in self._found:
            self._found[make] = make(self)
        found: Found = self._found[make]
        return found


Table: TypeAlias = Callable[[Any], pd.DataFrame]
"""Makes a table from the numbers of a part."""

Drawn: TypeAlias = "Callable[[Any], Figure | Mapping[str, Figure]]"
"""Draws a figure from the numbers of a part, or several figures by the ends of their names."""


class Part(NamedTuple):
    """Hold rows of a report that are included if a store has their numbers."""

    of: Callable[[Numbers], Numbers | None]
    """Selects the numbers for the rows; None if the store lacks these numbers."""

    tables: Mapping[str, Table] = {}
    figures: Mapping[str, Drawn] = {}

    shown: tuple[Table, ...] = ()
    """Tables for the terminal, which need not be written to files."""

    name: str = "{}"
    """Pattern of the names of files."""


@dataclass(frozen=True)
class Paper:
    """Hold the rows of a paper: the requirements of its report, and the parts of the report."""

    needs: Needs
    parts: tuple[Part, ...]

    headings: bool = False
    """Whether names are printed above the tables on a terminal."""


def with_log(of: Numbers) -> Numbers | None:
    """Return the numbers if they include the log itself, else None."""
    return of if holds_log(of.tree) else None


def with_samples(of: Numbers) -> Numbers | None:
    """Return the numbers if they include samples, else None."""
    return of if holds_samples(of.tree) else None


class Made(NamedTuple):
    """Hold a report in memory: nothing is written if the store lacks data of a part."""

    figures: Mapping[str, Figure]
    tables: Mapping[str, pd.DataFrame]
    text: str

    def write(self, folder: Path) -> list[Path]:
        """Write FOLDER/figures/NAME.png and FOLDER/tables/NAME.csv; return the paths."""
        written = []
        for name, figure in self.figures.items():
            written.append(folder / "figures" / f"{name}.png")
            written[-1].parent.mkdir(parents=True, exist_ok=True)
            save(figure, written[-1])
        for name, table in self.tables.items():
            written.append(folder / "tables" / f"{name}.csv")
            write_whole(written[-1], table.to_csv(lineterminator="\n").encode())
        return written


def report(paper: Paper, store: StoreName) -> Made:
    """Make all figures, tables and terminal texts whose numbers a store has."""
    numbers = Numbers.of(store)
    tables: dict[str, pd.DataFrame] = {}
    figures: dict[str, Figure] = {}
    texts = []
    for part in paper.parts:
        of = part.of(numbers)
        if of is None:
            continue
        for name, make in part.tables.items():
            tables[part.name.format(name)] = of.once(make)
        for name, draw in part.figures.items():
            drawn = draw(of)
            several = drawn if isinstance(drawn, Mapping) else {"": drawn}
            figures |= {part.name.format(name) + end: figure for end, figure in several.items()}
        names = {make: part.name.format(name) for name, make in part.tables.items()}
        for make in part.shown:
            heading = f"{names[make]}\n" if paper.headings else ""
            texts.append(heading + table_text(of.once(make)))
    return Made(figures, tables, "\n\n".join(texts))
