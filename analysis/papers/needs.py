"""Requirements of a report on its campaign, checked before the first cell runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from schedfarm.core.format.retention import LEAST, RETENTION


@dataclass(frozen=True)
class Needs:
    """Declare the requirements of a report on a store.

    Parameters
    ----------
    orders : tuple of str
        Queue orders; each needs a policy with this order, under any rule.
    policies : tuple of str
        Policies, in canonical form.
    fairness : tuple of str
        Kinds of fairness.
    samples : int
        Least number of resamples.
    log : bool
        Whether the logs themselves are needed.
    loads : tuple of str
        Loads of the logs in the report; optional if there are samples.
    keep : str
        Least retention of each cell, a key of `RETENTION`.
    """

    orders: tuple[str, ...] = ()
    policies: tuple[str, ...] = ()
    fairness: tuple[str, ...] = ()
    samples: int = 0
    log: bool = False
    loads: tuple[str, ...] = ()
    keep: str = LEAST

    def lacking(
        self,
        *,
        policies: Iterable[str],
        fairness: Iterable[str],
        loads: Iterable[str],
        samples: int,
        log: bool,
        keep: str,
    ) -> str:
        """Return the missing requirements of a campaign, as the end of a sentence; "" without any.

        Parameters
        ----------
        policies, fairness, loads : iterable of str
            Labels of the campaign for each requirement.
        samples : int
            Number of resamples.
        log : bool
            Whether the log itself is among the resamples.
        keep : str
            Retention of each cell.

        Examples
        --------
        >>> has = {"policies": ["fcfs+easy"], "fairness": (), "loads": ["0.9"], "log": True}
        >>> Needs(orders=("fcfs", "saf"), samples=4).lacking(**has, samples=2, keep="jobs")
        'a policy of order saf, such as saf+easy; resamples = 4 or more, not 2'
        >>> Needs(keep="jobs").lacking(**has, samples=2, keep="weeks")
        "keep = 'jobs', not 'weeks'"
        """
        policies = list(policies)
        orders = {policy.partition("+")[0] for policy in policies}
        found = [
            f"a policy of order {order}, such as {order}+easy"
            for order in self.orders
            if order not in orders
        ]
        found += _absent("policies", self.policies, policies)
        found += _absent("fairness", self.fairness, fairness)
        if samples < self.samples:
            found.append(f"resamples = {self.samples} or more, not {samples}")
        if self.log and not log:
            found.append("log = true")
        if not samples:
            found += _absent("loads", self.loads, loads)
        if not self.allows(keep):
            found.append(f"keep = {self.keep!r}, not {keep!r}")
        return "; ".join(found)

    def allows(self, keep: str) -> bool:
        """Return whether a store with this retention has the required data of a cell."""
        return RETENTION[keep].includes(RETENTION[self.keep])


def _absent(key: str, needed: Iterable[str], there: Iterable[str]) -> list[str]:
    missing = [name for name in needed if name not in list(there)]
    return [f"{key} {', '.join(missing)}"] if missing else []
