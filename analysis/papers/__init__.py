"""Reports that reproduce a paper, by the name that a campaign's key `report` gives."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from schedfarm.analysis.errors import StoreError
from schedfarm.analysis.papers.needs import KEEPS
from schedfarm.analysis.place import StoreName
from schedfarm.core.names import choices

if TYPE_CHECKING:
    from schedfarm.analysis.papers.files import Made
    from schedfarm.analysis.papers.needs import Needs


class Report(NamedTuple):
    """A row of `REPORTS`.

    Parameters
    ----------
    module : str
        Has the function `report`, from a store to figures, tables and what a terminal shows of
        them, an `analysis.papers.files.Made`. It is imported when it is asked for.
    needs : str
        ``module:name`` of what it needs, a `analysis.papers.needs.Needs`.
    """

    module: str
    needs: str


REPORTS = {
    "saf-2019": Report(
        "schedfarm.analysis.papers.saf_2019.report",
        "schedfarm.analysis.papers.saf_2019.study:NEEDS",
    ),
    "sabin-2005": Report(
        "schedfarm.analysis.papers.sabin_2005.report",
        "schedfarm.analysis.papers.sabin_2005.printed:NEEDS",
    ),
    "klusacek-2012": Report(
        "schedfarm.analysis.papers.klusacek_2012.report",
        "schedfarm.analysis.papers.klusacek_2012.names:NEEDS",
    ),
    "eyraud-2006": Report(
        "schedfarm.analysis.papers.eyraud_2006.report",
        "schedfarm.analysis.papers.eyraud_2006.printed:NEEDS",
    ),
    "jones-2005": Report(
        "schedfarm.analysis.papers.jones_2005.report",
        "schedfarm.analysis.papers.jones_2005.names:NEEDS",
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


def make_report(name: str, store: StoreName) -> Made:
    """Make a report's figures and tables, and its numbers for a terminal.

    Parameters
    ----------
    name : str
        A name in `REPORTS`.
    store : str or path
        The store's folder or address.

    Returns
    -------
    Made
        To be written to a folder, and shown.

    Raises
    ------
    StoreError
        If there is no such report, or the store lacks what it shows.

    Examples
    --------
    >>> make_report("no-such-paper", "kth.farm")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    schedfarm.analysis.errors.StoreError: report 'no-such-paper' is unknown; known: ...
    """
    from schedfarm.analysis.store import open_summary

    row, needs = _row(name), needs_of(name)
    keep = open_summary(store).attrs.get("keep", KEEPS[-1])
    if not needs.allows(keep):
        raise StoreError(
            f"report {name!r} needs keep = {needs.keep!r}, and the store's campaign says {keep!r}"
        )
    made: Made = import_module(row.module).report(store)
    return made


def _row(name: str) -> Report:
    if name not in REPORTS:
        raise StoreError(f"report {name!r} is unknown; {choices(name, REPORTS)}")
    return REPORTS[name]
