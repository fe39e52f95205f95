"""How a log is resampled, one row each. Reading the rows imports nothing that takes time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.workload.workload import Workload


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
    users : bool
        Whether whole users are drawn, as many as asked for; a resample by weeks has the log's.
    """

    name: str
    meaning: str
    function: str
    size: str
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
        from core.own import load

        how = {"users": users} if self.users else {"draw": self.name}
        function: Any = load(reference)
        return function(log, **asked, **how)


_WEEKS = "core.workload.resample_weeks:"
_USERS = "core.workload.resample_users:"

_ROWS = (
    Draw(
        "replace",
        "each week of each user drawn anew",
        _WEEKS + "resample_weekly",
        _WEEKS + "resample_size",
    ),
    Draw(
        "permute",
        "each user's weeks in a random permutation",
        _WEEKS + "resample_weekly",
        _WEEKS + "resample_size",
    ),
    Draw(
        "users",
        "whole users",
        _USERS + "resample_users",
        _USERS + "resample_users_size",
        users=True,
    ),
)

DRAWS: dict[str, Draw] = {row.name: row for row in _ROWS}
"""Every way to resample a log, by name, the default first."""
