"""Reports that reproduce papers, by the value of a campaign's key `report`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from schedfarm.analysis.errors import StoreError
from schedfarm.analysis.place import StoreName
from schedfarm.core.names import choices

if TYPE_CHECKING:
    from schedfarm.analysis.papers.needs import Needs
    from schedfarm.analysis.papers.report import Made, Paper


def _saf_2019() -> Paper:
    from schedfarm.analysis.papers.saf_2019.paper import PAPER

    return PAPER


def _sabin_2005() -> Paper:
    from schedfarm.analysis.papers.sabin_2005.paper import PAPER

    return PAPER


def _klusacek_2012() -> Paper:
    from schedfarm.analysis.papers.klusacek_2012.paper import PAPER

    return PAPER


def _eyraud_2006() -> Paper:
    from schedfarm.analysis.papers.eyraud_2006.paper import PAPER

    return PAPER


def _jones_2005() -> Paper:
    from schedfarm.analysis.papers.jones_2005.paper import PAPER

    return PAPER


def _tsafrir_2007() -> Paper:
    from schedfarm.analysis.papers.tsafrir_2007.paper import PAPER

    return PAPER


REPORTS: dict[str, Callable[[], Paper]] = {
    "saf-2019": _saf_2019,
    "sabin-2005": _sabin_2005,
    "klusacek-2012": _klusacek_2012,
    "eyraud-2006": _eyraud_2006,
    "jones-2005": _jones_2005,
    "tsafrir-2007": _tsafrir_2007,
}
"""Functions that import the rows of each report."""


def needs_of(name: str) -> Needs:
    """Return a report's requirements on a campaign; `StoreError` for an unknown name.

    Examples
    --------
    >>> needs_of("saf-2019").orders
    ('fcfs', 'spf', 'sqf', 'saf')
    """
    return _paper(name).needs


def make_report(name: str, store: StoreName) -> Made:
    """Make the figures and tables of a report, and its text for a terminal.

    Raises `StoreError` for an unknown name, or if the store lacks data of the report.

    Examples
    --------
    >>> make_report("no-such-paper", "kth.farm")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    schedfarm.analysis.errors.StoreError: report 'no-such-paper' is unknown; known: ...
    """
    from schedfarm.analysis.papers.report import report
    from schedfarm.analysis.store import open_summary
    from schedfarm.core.format.retention import ALL

    paper = _paper(name)
    keep = open_summary(store).attrs.get("keep", ALL)
    if not paper.needs.allows(keep):
        raise StoreError(
            f"report {name!r} needs keep = {paper.needs.keep!r}, "
            f"and the store's campaign has {keep!r}"
        )
    return report(paper, store)


def _paper(name: str) -> Paper:
    if name not in REPORTS:
        raise StoreError(f"report {name!r} is unknown; {choices(name, REPORTS)}")
    return REPORTS[name]()
