"""Everything that Carastan-Santos et al. 2019 show, drawn from a store in one call."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from analysis.papers.files import open_report, write_figure, write_table
from analysis.papers.saf_2019.claims import claims
from analysis.papers.saf_2019.figures import FIGURES, draw
from analysis.papers.saf_2019.headline import headline, relative_gains
from analysis.papers.saf_2019.study import Study, studies
from analysis.papers.saf_2019.tables import table_2, table_3, table_4
from analysis.papers.spread import table_text
from analysis.place import StoreName

OF_LOGS = {"table-2": table_2, "table-3": table_3}
"""Tables that depend on no policy."""

TABLES = {
    **OF_LOGS,
    "table-4": table_4,
    "gains": relative_gains,
    "headline": headline,
    "claims": claims,
}
"""Each is a table, ours beside the paper's numbers."""

WITHOUT = "-without-threshold"
"""Ends the names of what is of policies without their threshold, where a store has both."""


def report(store: StoreName, folder: Path) -> list[Path]:
    """Write every figure and table of the paper.

    Parameters
    ----------
    store : str or path
        The store's folder or address.
    folder : Path
        Where to write to.

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
    >>> report("no/such/folder", Path("."))
    Traceback (most recent call last):
    ...
    analysis.errors.StoreError: store 'no/such/folder' is not a folder; name one that farm run wrote
    """
    found = studies(open_report(store))
    # All are made before the first is written: a store that lacks what one needs gets none.
    tables = _tables(found)
    numbers = {name: (of, FIGURES[row], made) for name, row, of, made in _numbers(found)}
    drawn = [write_figure(folder, name, draw(row, of, n)) for name, (of, row, n) in numbers.items()]
    tables |= {name: made for name, (_, _, made) in numbers.items()}
    return drawn + [write_table(folder, name, frame) for name, frame in tables.items()]


def text(store: StoreName) -> str:
    """Return the tables for a terminal, ours beside the paper's numbers.

    Raises
    ------
    StoreError
        As `report`.
    """
    tables = _tables(studies(open_report(store)))
    return "\n".join(f"{name}\n{table_text(frame)}\n" for name, frame in tables.items())


def _tables(found: list[Study]) -> dict[str, pd.DataFrame]:
    first, *others = found
    more = {name + WITHOUT: make for name, make in TABLES.items() if name not in OF_LOGS}
    tables = {name: make(first) for name, make in TABLES.items()}
    return tables | {name: make(of) for of in others for name, make in more.items()}


def _numbers(found: list[Study]) -> Iterator[tuple[str, str, Study, pd.DataFrame]]:
    for of, suffix in zip(found, ("", WITHOUT), strict=False):
        for name, row in FIGURES.items():
            yield name + suffix, name, of, row.numbers(of)
