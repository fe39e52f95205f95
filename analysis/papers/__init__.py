"""Reports that reproduce a paper, by the name that a campaign's key `report` gives."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from analysis.errors import StoreError
from analysis.place import StoreName
from core.names import choices

if TYPE_CHECKING:
    from analysis.papers.needs import Needs


class Report(NamedTuple):
    """A row of `REPORTS`.

    Parameters
    ----------
    module : str
        Has the function `report`, which writes figures and tables into a store's folder and
        returns their paths, and the function `text`, which returns the numbers for a terminal.
        It is imported when it is asked for.
    needs : str
        ``module:name`` of what it needs, a `analysis.papers.needs.Needs`.
    """

    module: str
    needs: str


REPORTS = {
    "saf-2019": Report("analysis.papers.saf_2019.report", "analysis.papers.saf_2019.study:NEEDS"),
    "sabin-2005": Report(
        "analysis.papers.sabin_2005.report", "analysis.papers.sabin_2005.printed:NEEDS"
    ),
    "klusacek-2012": Report(
        "analysis.papers.klusacek_2012.report", "analysis.papers.klusacek_2012.names:NEEDS"
    ),
    "eyraud-2006": Report(
        "analysis.papers.eyraud_2006.report", "analysis.papers.eyraud_2006.printed:NEEDS"
    ),
    "jones-2005": Report(
        "analysis.papers.jones_2005.report", "analysis.papers.jones_2005.names:NEEDS"
    ),
}
"""The reports there are."""


def needs_of(name: str) -> Needs:
    """Return what a report needs of a campaign.

    Parameters
    ----------
    name : str
        A name in `REPORTS`.

    Raises
    ------
    StoreError
        If there is no such report.

    Examples
    --------
    >>> needs_of("saf-2019").orders
    ('fcfs', 'spf', 'sqf', 'saf')
    """
    module, _, attribute = _row(name).needs.partition(":")
    found: Needs = getattr(import_module(module), attribute)
    return found


def write_report(
    name: str, store: StoreName, folder: str | os.PathLike[str] | None = None
) -> list[Path]:
    """Write a report's figures and tables, into a store unless a folder is given.

    Parameters
    ----------
    name : str
        A name in `REPORTS`.
    store : str or path
        The store's folder or address.
    folder : path, optional
        Where to write to; by default the store's folder.

    Returns
    -------
    list of Path
        What was written, in FOLDER/figures and FOLDER/tables.

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
    written: list[Path] = _module(name).report(store, Path(folder or store))
    return written


def report_text(name: str, store: StoreName) -> str:
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
    text: str = _module(name).text(store)
    return text


def _module(name: str) -> Any:
    return import_module(_row(name).module)


def _row(name: str) -> Report:
    if name not in REPORTS:
        raise StoreError(f"report {name!r} is unknown; {choices(name, REPORTS)}")
    return REPORTS[name]
