"""Retention of a cell's arrays in a store: one row for each value of the campaign's key `keep`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from schedfarm.core.format.geometry import ORIGIN


@dataclass(frozen=True)
class Retention:
    """Declare one level of retention.

    Parameters
    ----------
    name : str
        Value of the key `keep`.
    without : frozenset of str
        Dimensions; of an array with any of these dimensions, only the checksum is recorded.
    """

    name: str
    without: frozenset[str]

    def has(self, dims: Iterable[str]) -> bool:
        """Return whether a store retains arrays with some dimensions."""
        return self.without.isdisjoint(dims)

    def includes(self, other: Retention) -> bool:
        """Return whether this level retains all arrays of another level."""
        return self.without <= other.without


_BY_JOB = frozenset({"job"})

_ROWS = (
    Retention("jobs", frozenset()),
    Retention("weeks", _BY_JOB),
    Retention("summary", _BY_JOB | {"week", "user", "width", ORIGIN}),
)

RETENTION: dict[str, Retention] = {row.name: row for row in _ROWS}
"""Every level by its name, in descending order: all arrays; all arrays except arrays per job; only
the summary."""

ALL = _ROWS[0].name
"""Level of a campaign without the key `keep`."""

LEAST = _ROWS[-1].name
"""Lowest level."""
