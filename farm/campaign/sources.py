"""Modules of the user's own: those that the policies and metrics of a campaign name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from core.own import find_source

_FUNCTION = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


def defined(names: Iterable[str]) -> list[str]:
    """Return each ``module:function`` that stands in names of policies and metrics, once.

    Examples
    --------
    >>> defined(["mine:by_age+easy,backfill=mine:short", "saf+easy", "mine:p95_wait"])
    ['mine:by_age', 'mine:short', 'mine:p95_wait']
    """
    parts = (part for name in names for part in re.split(r"[+,=\s]", name))
    return list(dict.fromkeys(part for part in parts if _FUNCTION.fullmatch(part)))


def collected(names: Iterable[str], folder: Path, known: Mapping[str, str]) -> dict[str, str]:
    """Return the text of every module that names of policies and metrics need.

    Parameters
    ----------
    names : iterable of str
        Policies and metrics.
    folder : Path
        Where its file is looked for first.
    known : mapping of str to str
        Texts that are taken as they are.

    Raises
    ------
    InputError
        If a module is nowhere.
    """
    modules = dict.fromkeys(name.partition(":")[0] for name in defined(names))
    return {m: known[m] if m in known else find_source(m, folder).text for m in modules}
