"""Resampling methods of logs, one row each; importing the rows loads none of the methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from schedfarm.core.workload.workload import Workload


@dataclass(frozen=True)
class ResamplingMethod:
    """Declare one resampling method.

    name: its name in campaigns, the key `draw`. meaning: description of the drawing. resample:
    function that returns a resample of a log. count: function that returns the number of jobs of a
    resample without drawing it. fixed: arguments of both functions in addition to seed, index and
    weeks. options: names in `fixed` that a campaign may set to whole numbers, as
    ``name,option=value``. users: whether the method draws a requested number of whole users instead
    of weeks.
    """

    name: str
    meaning: str
    resample: Callable[..., Workload]
    count: Callable[..., int]
    fixed: Mapping[str, Any] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    users: bool = False

    def sample(self, log: Workload, users: float = 1.0, **given: Any) -> Workload:
        """Return the resample for a seed, an index and a number of weeks."""
        return self.resample(log, **given, **self._fixed(users))

    def jobs(self, log: Workload, users: float = 1.0, **given: Any) -> int:
        """Return the number of jobs that `sample` returns for the same arguments."""
        return self.count(log, **given, **self._fixed(users))

    def _fixed(self, users: float) -> dict[str, Any]:
        return {**self.fixed, "users": users} if self.users else dict(self.fixed)


def _weekly(log: Workload, **given: Any) -> Workload:
    from schedfarm.core.workload.resample_weeks import resample_weekly

    return resample_weekly(log, **given)


def _weekly_jobs(log: Workload, **given: Any) -> int:
    from schedfarm.core.workload.resample_weeks import resample_size

    return resample_size(log, **given)


def _users(log: Workload, **given: Any) -> Workload:
    from schedfarm.core.workload.resample_users import resample_users

    return resample_users(log, **given)


def _users_jobs(log: Workload, **given: Any) -> int:
    from schedfarm.core.workload.resample_users import resample_users_size

    return resample_users_size(log, **given)


def _blocks(log: Workload, **given: Any) -> Workload:
    from schedfarm.core.workload.resample_blocks import resample_blocks

    return resample_blocks(log, **given)


def _blocks_jobs(log: Workload, **given: Any) -> int:
    from schedfarm.core.workload.resample_blocks import resample_blocks_size

    return resample_blocks_size(log, **given)


_ROWS = (
    ResamplingMethod(
        "replace",
        "each week of each user drawn with replacement",
        _weekly,
        _weekly_jobs,
        {"draw": "replace"},
    ),
    ResamplingMethod(
        "permute",
        "each user's weeks in a random permutation",
        _weekly,
        _weekly_jobs,
        {"draw": "permute"},
    ),
    ResamplingMethod("users", "whole users", _users, _users_jobs, users=True),
    ResamplingMethod(
        "weeks",
        "whole weeks of all users together",
        _blocks,
        _blocks_jobs,
        {"block": 1},
        options=("block",),
    ),
)

METHODS: dict[str, ResamplingMethod] = {row.name: row for row in _ROWS}
"""Every resampling method by name, the default first."""


def find_method(text: str) -> ResamplingMethod:
    """Return the method of a campaign's `draw`: a row's name, perhaps with options.

    The method's name is the text in canonical form, without options at their default. Raises
    `InputError` for an unknown row or option, and for a value that is not a whole number from 1.

    Examples
    --------
    >>> find_method("weeks,block=4").fixed, find_method("weeks,block=1").name
    ({'block': 4}, 'weeks')
    """
    from schedfarm.core.errors import InputError
    from schedfarm.core.names import choices

    name, *given = (part.strip() for part in text.split(","))
    if name not in METHODS:
        raise InputError(f"draw {text!r} is unknown; {choices(name, METHODS)}")
    row = METHODS[name]
    values = dict(_option(row, text, each) for each in given)
    if len(values) < len(given):
        raise InputError(f"draw {text!r} gives an option twice; give it once")
    others = {key: value for key, value in values.items() if value != row.fixed[key]}
    canonical = ",".join([name, *(f"{key}={value}" for key, value in sorted(others.items()))])
    return replace(row, name=canonical, fixed={**row.fixed, **others})


def _option(row: ResamplingMethod, text: str, given: str) -> tuple[str, int]:
    from schedfarm.core.errors import InputError
    from schedfarm.core.names import choices

    key, _, value = given.partition("=")
    if key not in row.options:
        known = choices(key, row.options) if row.options else "it has none"
        raise InputError(f"draw {text!r}: {row.name!r} has no option {key!r}; {known}")
    if not (value.isascii() and value.isdigit() and int(value)):
        raise InputError(f"draw {text!r}: {key} is {value!r}; it must be a whole number from 1")
    return key, int(value)
