"""Modules of the user's own: those that the policies and metrics of a campaign name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from schedfarm.core.own import find_source, modules_of


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
    modules = modules_of(names)
    return {m: known[m] if m in known else find_source(m, folder).text for m in modules}
