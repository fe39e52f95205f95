"""The tiers of tests: a folder each, of which some are run by default."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from tests.support.paths import ROOT, TESTS


class Tier(NamedTuple):
    """A folder of tests.

    default: whether it is run unless something else is asked for. meaning: its tests, in a few
    words.
    """

    default: bool
    meaning: str


TIERS = {
    "unit": Tier(True, "one module at a time, and the examples of docstrings"),
    "oracles": Tier(True, "kernel = reference = audit, golden schedules, cases worked by hand"),
    "stores": Tier(True, "a campaign's way into the store and back, on every platform"),
    "cli": Tier(True, "every command, in the process of the tests"),
    "papers": Tier(False, "the five papers' reports, and real logs"),
    "crash": Tier(False, "whatever is killed, cut off or filled up, nothing acknowledged is lost"),
    "real": Tier(False, "commands as processes, Dask, Slurm, PBS, ssh, S3, networks, other users"),
    "docs": Tier(False, "commands and code of the README and of the pages, as shown"),
}

EXHAUSTIVE = "exhaustive"
"""Name of a folder inside any tier that a default run leaves out."""

PACKAGES = ("core", "farm", "cluster", "analysis", "src")
"""Folders whose docstrings hold examples; those of the first four are collected through `src`."""


def tier_of(path: Path) -> str | None:
    """Return the tier of a file or folder, if it belongs to one."""
    if path.is_relative_to(TESTS):
        first = path.relative_to(TESTS).parts[:1]
        return first[0] if first and first[0] in TIERS else None
    inside = path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[:1]
    return "unit" if inside and inside[0] in PACKAGES else None


def is_default(path: Path) -> bool:
    """Return whether a default run collects a file or folder."""
    tier = tier_of(path)
    return tier is None or (TIERS[tier].default and EXHAUSTIVE not in path.parts)


def is_limited(path: Path) -> bool:
    """Return whether the limits of the default tiers apply to a file; not to a benchmark."""
    return tier_of(path) is not None and is_default(path)


def is_rest(path: Path) -> bool:
    """Return whether a default run leaves out a file, or something inside a folder."""
    return not is_default(path) or any(path.glob(f"**/{EXHAUSTIVE}"))
