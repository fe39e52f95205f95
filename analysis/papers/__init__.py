"""Papers whose figures and tables a store can be asked for, by the name that a campaign gives.

A paper is a module with a function `report(store) -> list of Path` that writes everything, and, if
its numbers are to be seen at the end of a run, a function `text(store) -> str`.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from analysis.store import known

REPORTS = {"saf-2019": "analysis.papers.saf_2019", "sabin-2005": "analysis.papers.sabin_2005"}
"""Module of each paper, by the name of its report."""

KINDS = ("figures", "tables")
"""Folders of a store to which reports write."""


def check_report(name: str) -> None:
    """Refuse a report that there is not.

    Raises
    ------
    StoreError
        If the name is unknown.

    Examples
    --------
    >>> check_report("saf")
    Traceback (most recent call last):
    ...
    analysis.errors.StoreError: unknown report 'saf'; known: saf-2019, sabin-2005
    """
    known(name, "report", list(REPORTS))


def write_report(name: str, store: Path) -> str:
    """Write a paper's figures and tables into a store, and return what to tell the user.

    Parameters
    ----------
    name : str
        A key of `REPORTS`.
    store : Path
        The store's folder; figures go to ``figures``, tables to ``tables`` in it.

    Returns
    -------
    str
        The paper's numbers beside ours, where it has any, and where the files are.

    Raises
    ------
    StoreError
        If the name is unknown, or the store lacks what the paper needs.

    Examples
    --------
    >>> write_report("saf-2019", Path("no/such/folder"))
    Traceback (most recent call last):
    ...
    analysis.errors.StoreError: store 'no/such/folder' is not a folder; name one that farm run wrote
    """
    check_report(name)
    paper = import_module(REPORTS[name])
    written: list[Path] = paper.report(store)
    lines = [paper.text(store)] if hasattr(paper, "text") else []
    for kind in KINDS:
        count = sum(path.parent.name == kind for path in written)
        lines.append(f"{kind}: {count} in {store / kind}")
    return "\n".join(lines)
