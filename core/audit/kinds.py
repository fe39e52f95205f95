"""Checks of an audit on each kind of platform, one row each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container
from dataclasses import dataclass, replace
from typing import Any, Literal

from schedfarm.core.audit import times
from schedfarm.core.audit.orders import FORMULAS
from schedfarm.core.audit.pool import Replay
from schedfarm.core.audit.times import Evidence, Proofs
from schedfarm.core.audit.verdict import CLOCKS, Fault
from schedfarm.core.machines.grid.platform import Grid
from schedfarm.core.machines.hosts.platform import Hosts
from schedfarm.core.machines.network.platform import Network
from schedfarm.core.machines.nodes.platform import Nodes
from schedfarm.core.machines.partitions.platform import Partitions
from schedfarm.core.machines.pool.platform import Pool
from schedfarm.core.machines.resources.platform import Resources
from schedfarm.core.policy.multifactor import is_multifactor
from schedfarm.core.policy.policy import Policy
from schedfarm.core.reference.follow import follow
from schedfarm.core.reference.orders import KEYS, SHARES
from schedfarm.core.schedule import Schedule


@dataclass(frozen=True)
class Kind:
    """Declare the checks of an audit on one kind of platform.

    Parameters
    ----------
    checks : tuple of str
        Names of the checks that hold for every policy.
    naming : callable
        Function that returns the description of a job for a sentence.
    unstarted : callable
        Function that finds the first job without the data for the audit.
    proofs : Proofs
        The other checks that need no replay.
    needs : {"audit", "refer"}
        Field of the rule's row with the class that replays its passes.
    formulas : container of str
        Orders for which the class in `needs` has independent formulas.
    replay : callable
        Function that finds the first fault of the passes at or before an instant, s.
    clocks : container of str
        Other clocks to try for a schedule that breaks its policy.
    """

    checks: tuple[str, ...]
    naming: Callable[[Schedule, int], str]
    unstarted: Callable[[Evidence], Fault | None]
    proofs: Proofs
    needs: Literal["audit", "refer"]
    formulas: Container[str]
    replay: Callable[[Schedule, Policy, int], Fault | None]
    clocks: Collection[str] = ()

    def judges(self, policy: Policy) -> bool:
        """Return whether the passes of a policy's rule can be replayed."""
        return getattr(policy.row, self.needs) is not None and policy.predict is None

    def unaudited(self, policy: Policy) -> tuple[str, ...]:
        """Return the parts of a policy that the audit does not check."""
        if policy.predict is not None:
            return (f"predict={policy.predict}",)
        if not self.judges(policy):
            return (f"rule {policy.rule}",)
        used = dict.fromkeys(order for order in (policy.order, policy.backfill) if order)
        unknown = [o for o in used if o not in self.formulas and not is_multifactor(o)]
        return tuple(f"order {order}" for order in unknown)


def _naming(schedule: Schedule, job: int) -> str:
    work = schedule.workload
    return f"job {work.job[job]} ({work.procs[job]} processors)"


def _proofs(evidence: Evidence) -> list[Fault | None]:
    checks = (times.early, times.late, times.overrun, times.misplaced, times.overload)
    return [check(evidence) for check in checks]


def _by_the_auditor(schedule: Schedule, policy: Policy, until: int) -> Fault | None:
    return Replay(schedule, policy).first_fault(until)


def _by_the_reference(schedule: Schedule, policy: Policy, until: int) -> Fault | None:
    found = follow(schedule, policy, until)
    if found is None:
        return None
    rule = "end" if found.of_end else policy.name
    return Fault(found.instant, found.job, rule, found.why)


def _pool() -> Kind:
    return Kind(
        ("start", "submit", "kills", "capacity"),
        _naming,
        times.unstarted,
        _proofs,
        "audit",
        FORMULAS,
        _by_the_auditor,
        CLOCKS,
    )


def _grid() -> Kind:
    # The clock of the pyss family is for pools only.
    checks = ("start", "submit", "kills", "place", "capacity")
    return replace(_pool(), checks=checks, clocks=())


def _nodes() -> Kind:
    from schedfarm.core.machines.nodes import audit as nodes

    return Kind(
        nodes.CHECKS,
        nodes.naming,
        nodes.unstarted,
        nodes.proofs,
        "refer",
        {*KEYS, *SHARES},
        _by_the_reference,
    )


def _network() -> Kind:
    from schedfarm.core.machines.network import audit

    return _by_columns_and_reference(audit)


def _resources() -> Kind:
    from schedfarm.core.machines.resources import audit

    return _by_columns_and_reference(audit)


def _partitions() -> Kind:
    from schedfarm.core.machines.partitions import audit

    return _by_columns_and_reference(audit)


def _hosts() -> Kind:
    from schedfarm.core.machines.hosts import audit

    return _by_columns_and_reference(audit)


def _by_columns_and_reference(audit: Any) -> Kind:
    """Return the kind with the checks of a machine's module."""
    known = {*KEYS, *SHARES}
    return Kind(
        audit.CHECKS, audit.naming, times.unstarted, audit.proofs, "refer", known, _by_the_reference
    )


KINDS: dict[str, Callable[[], Kind]] = {
    Pool.name: _pool,
    Grid.name: _grid,
    Nodes.name: _nodes,
    Network.name: _network,
    Resources.name: _resources,
    Partitions.name: _partitions,
    Hosts.name: _hosts,
}
"""Functions that return the kind of a platform, by its name.

Machines' audits import this package, so the functions import them later.
"""
