"""How a log is resampled, one row each. Reading the rows imports nothing that takes time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from schedfarm.core.workload.workload import Workload


@dataclass(frozen=True)
class Draw:
    """Declare one way to draw a resample out of a log.

    Parameters
    ----------
    name : str
        What campaigns call it.
    meaning : str
        What is drawn.
    function, size : str
        ``module:function`` that gives a resample, and one that only counts its jobs.
    fixed : mapping
        What these are told beside seed, index and weeks.
    options : tuple of str
        Which of `fixed` a campaign may say otherwise, as ``name,option=value``: whole numbers.
    users : bool
        Whether whole users are drawn, as many as asked for; a resample by weeks has the log's.
    """

    name: str
    meaning: str
    function: str
    size: str
    fixed: Mapping[str, Any] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    users: bool = False

    def resample(self, log: Workload, users: float = 1.0, **asked: Any) -> Workload:
        """Return a resample; `asked` are its seed, index and weeks."""
        drawn: Workload = self._call(self.function, log, users, asked)
        return drawn

    def jobs(self, log: Workload, users: float = 1.0, **asked: Any) -> int:
        """Return how many jobs `resample` gives for the same arguments, without making them."""
        count: int = self._call(self.size, log, users, asked)
        return count

    def _call(self, reference: str, log: Workload, users: float, asked: dict[str, Any]) -> Any:
        from schedfarm.core.own import load

        how = {"users": users} if self.users else {}
        function: Any = load(reference)
        return function(log, **asked, **how, **self.fixed)


_WEEKS = "schedfarm.core.workload.resample_weeks:"
_USERS = "schedfarm.core.workload.resample_users:"
_BLOCKS = "schedfarm.core.workload.resample_blocks:"

_ROWS = (
    Draw(
        "replace",
        "each week of each user drawn anew",
        _WEEKS + "resample_weekly",
        _WEEKS + "resample_size",
        {"draw": "replace"},
    ),
    Draw(
        "permute",
        "each user's weeks in a random permutation",
        _WEEKS + "resample_weekly",
        _WEEKS + "resample_size",
        {"draw": "permute"},
    ),
    Draw(
        "users",
        "whole users",
        _USERS + "resample_users",
        _USERS + "resample_users_size",
        users=True,
    ),
    Draw(
        "weeks",
        "whole weeks of all users together",
        _BLOCKS + "resample_blocks",
        _BLOCKS + "resample_blocks_size",
        {"block": 1},
        options=("block",),
    ),
)

DRAWS: dict[str, Draw] = {row.name: row for row in _ROWS}
"""Every way to resample a log, by name, the default first."""


def find_draw(text: str) -> Draw:
    """Return the way to resample that a text means: a row's name, perhaps with options.

    Its name is the text in canonical form, without options that say what they say anyway.

    Raises
    ------
    InputError
        If there is no such row, or no such option of it, or its value is no number from 1.

    Examples
    --------
    >>> find_draw("weeks,block=4").fixed, find_draw("weeks,block=1").name
    ({'block': 4}, 'weeks')
    """
    from schedfarm.core.errors import InputError
    from schedfarm.core.names import choices

    name, *given = (part.strip() for part in text.split(","))
    if name not in DRAWS:
        raise InputError(f"draw {text!r} is unknown; {choices(name, DRAWS)}")
    row = DRAWS[name]
    values = dict(_option(row, text, each) for each in given)
    if len(values) < len(given):
        raise InputError(f"draw {text!r} gives an option twice; once is enough")
    others = {key: value for key, value in values.items() if value != row.fixed[key]}
    canonical = ",".join([name, *(f"{key}={value}" for key, value in sorted(others.items()))])
    return replace(row, name=canonical, fixed={**row.fixed, **others})


def _option(row: Draw, text: str, given: str) -> tuple[str, int]:
    from schedfarm.core.errors import InputError
    from schedfarm.core.names import choices

    key, _, value = given.partition("=")
    if key not in row.options:
        known = choices(key, row.options) if row.options else "it has none"
        raise InputError(f"draw {text!r}: {row.name!r} has no option {key!r}; {known}")
    if not (value.isascii() and value.isdigit() and int(value)):
        raise InputError(f"draw {text!r}: {key} is {value!r}; it must be a whole number from 1")
    return key, int(value)
