"""Modules of the user's own: those that the policies and metrics of a campaign name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from core.own import find_source
from core.policy.policy import own_modules


def collected(
    policies: Iterable[str], metrics: Iterable[str], folder: Path, known: Mapping[str, str]
) -> dict[str, str]:
    """Return the text of every module that policies and metrics name.

    Parameters
    ----------
    policies, metrics : iterable of str
        Their names; one without ``module:`` needs no text.
    folder : Path
        Where a module's file is looked for first.
    known : mapping of str to str
        Texts that are taken as they are.

    Raises
    ------
    InputError
        If a module is nowhere.

    Examples
    --------
    >>> list(collected(["core.checks:whole+easy"], ["core.own:load", "wait"], Path(), {}))
    ['core.checks', 'core.own']
    """
    named = [module for policy in policies for module in own_modules(policy)]
    named += [name.partition(":")[0] for name in metrics if ":" in name]
    return {
        m: known[m] if m in known else find_source(m, folder).text for m in dict.fromkeys(named)
    }
