"""Policies of the command line, with plug-in orders and rules."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from schedfarm.farm.cli.command import patience

if TYPE_CHECKING:
    from schedfarm.core.policy.policy import Policy


@contextmanager
def brought_policy(
    text: str, folder: Path | None = None, *, quiet: bool = False
) -> Iterator[Policy]:
    """Parse a policy, and make its plug-in modules importable inside this context.

    Modules are searched first in `folder`, by default the current one. An error raised by a plug-in
    is reported as InputError with file and line.
    """
    from schedfarm.core.errors import InputError
    from schedfarm.core.own import RaisedError, find_source, modules_of, sources
    from schedfarm.core.policy.policy import Policy, whole_name

    known = {m: find_source(m, folder or Path()).text for m in modules_of([text])}
    try:
        with sources(known), patience(text, quiet=quiet):
            yield Policy.parse(whole_name(text))
    except RaisedError as error:
        where = _place(error.__cause__, text, known)
        if where is None:
            raise
        raise InputError(f"policy {text!r}: {where} {error.said}; correct it there") from error
    except InputError:
        raise
    except Exception as error:
        # Audits and reference simulations call plug-ins without catching their errors.
        where = _place(error, text, known)
        if where is None:
            raise
        raised = RaisedError.of("", error).said
        raise InputError(f"policy {text!r}: {where} {raised}; correct it there") from error


def own_files(text: str) -> list[Path]:
    """Return the files of a policy's plug-in modules."""
    from schedfarm.core.own import modules_of

    return [Path(*module.split(".")).with_suffix(".py") for module in modules_of([text])]


def _installed(text: str) -> dict[str, str]:
    """Return the files of entry-point modules for the names of a policy."""
    from schedfarm.core import own

    parts, groups = own.parts_of_name(text), (own.ORDERS, own.RULES)
    entries = (own.entry_point(group, part) for part in parts for group in groups)
    modules = (sys.modules.get(entry.partition(":")[0]) for entry in entries if entry)
    return {str(m.__file__): m.__name__ for m in modules if m is not None}


def _place(error: BaseException | None, text: str, known: Iterable[str]) -> str | None:
    """Return the last line of an error's traceback that is in a plug-in; None without one."""
    if error is None:
        return None
    files = {**_installed(text), **{f"{module}.py": module for module in known}}
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        # The file name of a module loaded from text ends in its digest.
        file, _, _ = frame.filename.partition("@")
        if file in files:
            return f"{files[file]}.py, line {frame.lineno}, in {frame.name}"
    return None
