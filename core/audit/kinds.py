"""What is proved on each kind of platform, one row each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from schedfarm.core.audit import times, times_on_network, times_on_nodes
from schedfarm.core.audit.replay import Replay
from schedfarm.core.audit.replay_of_network import NetworkReplay
from schedfarm.core.audit.replay_of_nodes import NodesReplay
from schedfarm.core.audit.verdict import Fault
from schedfarm.core.machines.grid.platform import Grid
from schedfarm.core.machines.network.platform import Network
from schedfarm.core.machines.nodes.platform import Nodes
from schedfarm.core.machines.pool.platform import Pool
from schedfarm.core.policy.policy import Policy
from schedfarm.core.schedule import Schedule

Proof = Callable[[Schedule], Fault | None]
"""Finds the first fault of one kind, straight from the columns."""


class Follower(Protocol):
    """Walks through a schedule and compares each decision with what the policy permits."""

    def first_fault(self, until: int) -> Fault | None:
        """Return the first fault at or before an instant, s, or None."""


@dataclass(frozen=True)
class Kind:
    """Hold what is proved on one kind of platform.

    Parameters
    ----------
    checks : tuple of str
        Names of what holds for every policy, by which faults call it.
    unstarted : Proof
        Finds a job of which a schedule says too little to be judged at all.
    proofs : tuple of Proof
        The other proofs of what holds for every policy.
    replay : callable
        From a schedule and a policy to what follows them.
    """

    checks: tuple[str, ...]
    unstarted: Proof
    proofs: tuple[Proof, ...]
    replay: Callable[[Schedule, Policy], Follower]


_PROOFS = (times.early, times.overrun, times.misplaced, times.overload)

KINDS: dict[str, Kind] = {
    Pool.name: Kind(("start", "submit", "kills", "capacity"), times.unstarted, _PROOFS, Replay),
    Grid.name: Kind(
        ("start", "submit", "kills", "place", "capacity"), times.unstarted, _PROOFS, Replay
    ),
    Nodes.name: Kind(
        ("start", "submit", "reserved", "segments", "end", "down", "capacity"),
        times_on_nodes.unstarted,
        (
            times_on_nodes.early,
            times_on_nodes.late,
            times_on_nodes.misplaced,
            times_on_nodes.ended,
            times_on_nodes.cut,
            times_on_nodes.overload,
        ),
        NodesReplay,
    ),
    Network.name: Kind(
        ("start", "submit", "segments", "end", "capacity"),
        times.unstarted,
        (
            times.early,
            times_on_network.misplaced,
            times_on_network.ended,
            times_on_network.overload,
        ),
        NetworkReplay,
    ),
}
"""The kinds of platform by name."""
