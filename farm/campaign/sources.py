"""Sources of the plug-in modules that the policies and metrics of a campaign name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from schedfarm.core.own import find_source, modules_of


def collected(names: Iterable[str], folder: Path, known: Mapping[str, str]) -> dict[str, str]:
    """Return the text of every module that policies and metrics name, by the module's name.

    folder: searched first. known: texts to use as they are. Raises `InputError` if a module is not
    found.
    """
    modules = modules_of(names)
    return {m: known[m] if m in known else find_source(m, folder).text for m in modules}
