"""Everything that Carastan-Santos et al. 2019 show, drawn from a store in one call."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from schedfarm.analysis.papers.files import Made, open_report
from schedfarm.analysis.papers.saf_2019.claims import claims
from schedfarm.analysis.papers.saf_2019.figures import FIGURES, draw
from schedfarm.analysis.papers.saf_2019.headline import headline, relative_gains
from schedfarm.analysis.papers.saf_2019.study import Study, studies
from schedfarm.analysis.papers.saf_2019.tables import table_2, table_3, table_4
from schedfarm.analysis.papers.spread import table_text
from schedfarm.analysis.place import StoreName

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


def report(store: StoreName) -> Made:
    """Make every figure and table of the paper, and for a terminal ours beside its numbers.

    Parameters
    ----------
    store : str or path
        The store's folder or address.

    Returns
    -------
    Made
        The tables have the figures' numbers, too.

    Raises
    ------
    StoreError
        If the store is none, or lacks a policy of the paper, samples enough, or the log itself.

    Examples
    --------
    >>> report("no/such/folder")
    Traceback (most recent call last):
    ...
    schedfarm.analysis.errors.StoreError: store 'no/such/folder' is not a folder; name one that farm
    run wrote
    """
    found = studies(open_report(store))
    tables = _tables(found)
    text = "\n".join(f"{name}\n{table_text(frame)}\n" for name, frame in tables.items())
    numbers = {name: (of, FIGURES[row], made) for name, row, of, made in _numbers(found)}
    figures = {name: draw(row, of, n) for name, (of, row, n) in numbers.items()}
    return Made(figures, tables | {name: made for name, (_, _, made) in numbers.items()}, text)


def _tables(found: list[Study]) -> dict[str, pd.DataFrame]:
    first, *others = found
    more = {name + WITHOUT: make for name, make in TABLES.items() if name not in OF_LOGS}
    tables = {name: first.once(make) for name, make in TABLES.items()}
    return tables | {name: of.once(make) for of in others for name, make in more.items()}


def _numbers(found: list[Study]) -> Iterator[tuple[str, str, Study, pd.DataFrame]]:
    for of, suffix in zip(found, ("", WITHOUT), strict=False):
        for name, row in FIGURES.items():
            yield name + suffix, name, of, of.once(row.numbers)
