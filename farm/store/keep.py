"""How much a store keeps of each cell: a row for each answer."""

from __future__ import annotations

from dataclasses import dataclass

from schedfarm.farm.store.schema import ORIGIN, Variable


@dataclass(frozen=True)
class Keep:
    """Declare one answer.

    Parameters
    ----------
    name : str
        What a campaign's key `keep` says.
    without : frozenset of str
        Dimensions: an array on any of them is made, checked and left out.
    """

    name: str
    without: frozenset[str]

    def has(self, variable: Variable) -> bool:
        """Tell whether a store keeps an array."""
        return self.without.isdisjoint(variable.dims)


_BY_JOB = frozenset({"job"})

_ROWS = (
    Keep("jobs", frozenset()),
    Keep("weeks", _BY_JOB),
    Keep("summary", _BY_JOB | {"week", "user", "width", ORIGIN}),
)

KEEPS: dict[str, Keep] = {row.name: row for row in _ROWS}
"""Every answer, by name: all there is; all but what there is for each job; the summary alone."""

ALL = _ROWS[0].name
"""What a campaign keeps that does not say, and what stores of before had."""
