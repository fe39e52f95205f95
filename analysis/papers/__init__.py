"""Reports that reproduce a paper, by the name that a campaign's key `report` gives."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from analysis.errors import StoreError

REPORTS = {
    "saf-2019": "analysis.papers.saf_2019.report",
    "sabin-2005": "analysis.papers.sabin_2005.report",
}
"""Module of each report: its function `report` takes a store's folder, writes figures and tables
into it, and returns their paths; its function `text`, where it has one, says the numbers for a
terminal. It is imported when it is asked for."""


def find_report(name: str) -> Callable[[Path], list[Path]]:
    """Return the function that writes a report into a store.

    Parameters
    ----------
    name : str
        A name in `REPORTS`.

    Returns
    -------
    callable
        From the store's folder to the paths of what it wrote.

    Raises
    ------
    StoreError
        If there is no such report.

    Examples
    --------
    >>> find_report("sabin-2005").__module__
    'analysis.papers.sabin_2005.report'
    """
    if name not in REPORTS:
        raise StoreError(f"report {name!r} is unknown; known: {', '.join(REPORTS)}")
    found: Callable[[Path], list[Path]] = import_module(REPORTS[name]).report
    return found


def write_report(name: str, store: str | os.PathLike[str]) -> list[Path]:
    """Write a report's figures and tables into a store.

    Parameters
    ----------
    name : str
        A name in `REPORTS`.
    store : path
        The store's folder.

    Returns
    -------
    list of Path
        What was written, in STORE/figures and STORE/tables.

    Raises
    ------
    StoreError
        If there is no such report, or the store lacks what it shows.

    Examples
    --------
    >>> write_report("no-such-paper", "kth.farm")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    analysis.errors.StoreError: report 'no-such-paper' is unknown; known: ...
    """
    return find_report(name)(Path(store))


def report_text(name: str, store: str | os.PathLike[str]) -> str:
    """Return a report's numbers for a terminal, beside the paper's where it prints any.

    Parameters
    ----------
    name, store
        As for `write_report`.

    Returns
    -------
    str
        Empty for a report that has no such text.

    Raises
    ------
    StoreError
        As `write_report`.
    """
    find_report(name)
    text: Callable[[Path], str] | None = getattr(import_module(REPORTS[name]), "text", None)
    return text(Path(store)) if text else ""
