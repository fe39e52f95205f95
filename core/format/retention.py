"""How much of each cell a store keeps: one row for each level, the campaign's key `keep`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from schedfarm.core.format.geometry import ORIGIN


@dataclass(frozen=True)
class Retention:
    """Declare one level.

    Parameters
    ----------
    name : str
        Value of the key `keep`.
    without : frozenset of str
        Dimensions: an array on any of them is computed and its checksum recorded, but not stored.
    """

    name: str
    without: frozenset[str]

    def has(self, dims: Iterable[str]) -> bool:
        """Tell whether a store keeps arrays on these dimensions."""
        return self.without.isdisjoint(dims)

    def includes(self, other: Retention) -> bool:
        """Tell whether everything is kept that another level keeps."""
        return self.without <= other.without


_BY_JOB = frozenset({"job"})

_ROWS = (
    Retention("jobs", frozenset()),
    Retention("weeks", _BY_JOB),
    Retention("summary", _BY_JOB | {"week", "user", "width", ORIGIN}),
)

RETENTION: dict[str, Retention] = {row.name: row for row in _ROWS}
"""Every level by its name, from the one that keeps most: all arrays; all but those of each job; the
summary alone."""

ALL = _ROWS[0].name
"""Level of a campaign without the key `keep`."""

LEAST = _ROWS[-1].name
"""The level that keeps least."""
