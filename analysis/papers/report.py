"""Reports of papers: rows of tables and figures, made from one store before any is written."""

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
    """Numbers of a store, each computed once."""

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
        """Return make(self), computed at the first call and shared by all later ones."""
        if make not in self._found:
            self._found[make] = make(self)
        found: Found = self._found[make]
        return found


Table: TypeAlias = Callable[[Any], pd.DataFrame]
"""Makes a table of the numbers of a part."""

Drawn: TypeAlias = "Callable[[Any], Figure | Mapping[str, Figure]]"
"""Draws a figure of the numbers of a part, or several by the ends of their names."""


class Part(NamedTuple):
    """Rows of a report that are included if a store has their numbers."""

    of: Callable[[Numbers], Numbers | None]
    """Selects the numbers for the rows; None where the store lacks them."""

    tables: Mapping[str, Table] = {}
    figures: Mapping[str, Drawn] = {}

    shown: tuple[Table, ...] = ()
    """Tables for the terminal, whether or not they are written."""

    name: str = "{}"
    """Pattern of file names."""


@dataclass(frozen=True)
class Paper:
    """Rows of a paper: the requirements of its report, and the report's parts."""

    needs: Needs
    parts: tuple[Part, ...]

    headings: bool = False
    """Whether names are printed above the tables on a terminal."""


def with_log(of: Numbers) -> Numbers | None:
    """Select numbers that include the log itself."""
    return of if holds_log(of.tree) else None


def with_samples(of: Numbers) -> Numbers | None:
    """Select numbers that include samples."""
    return of if holds_samples(of.tree) else None


class Made(NamedTuple):
    """A report in memory: nothing is written if the store lacks data of one part."""

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


def report(paper: Paper, store: StoreName) -> Made:
    """Make all figures, tables and terminal text for which a store has the numbers."""
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
