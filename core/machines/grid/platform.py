"""Platform of several clusters; each job uses one cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from schedfarm.core.arrays import HORIZON, Bool
from schedfarm.core.checks import is_whole
from schedfarm.core.errors import InputError
from schedfarm.core.names import numbered

if TYPE_CHECKING:
    from schedfarm.core.workload.columns import Columns


@dataclass(frozen=True)
class Grid:
    """Describe several clusters; each job runs on one cluster.

    Parameters
    ----------
    clusters : sequence of int
        Processors of each cluster, at least 1. Ties between clusters go to the first.
    names : sequence of str, optional
        Distinct names of the clusters; by default cluster1, cluster2 and so on.

    Raises
    ------
    InputError
        If there is no cluster, a cluster has no processor, the clusters have more than 2^62 - 1
        processors together, or the names repeat or differ in number from the clusters.

    Examples
    --------
    >>> grid = Grid([8, 16], ["skirit", "tarkil"])
    >>> grid.size, grid.places, grid.limit
    (24, ('skirit', 'tarkil'), "at most the widest cluster's 16")
    >>> grid.to_dict()["configuration"]
    {'clusters': [8, 16], 'names': ['skirit', 'tarkil']}
    """

    name: ClassVar[str] = "grid"
    part: ClassVar[str] = "cluster"
    keeps: ClassVar[tuple[str, ...]] = ("place",)
    asks: ClassVar[tuple[str, ...]] = ()
    dated: ClassVar[bool] = False

    clusters: Sequence[int]
    names: Sequence[str] = ()

    def __post_init__(self) -> None:
        sizes, names = self.clusters, self.names
        if not isinstance(sizes, Sequence) or isinstance(sizes, str) or not sizes:
            raise InputError(f"clusters is {sizes!r}; give the processors of each, such as [8, 16]")
        for size in sizes:
            if not is_whole(size) or size < 1:
                raise InputError(f"clusters holds {size!r}; a cluster has at least 1 processor")
        if sum(sizes) >= HORIZON:
            raise InputError(f"clusters add up to {sum(sizes)} processors; give fewer than 2^62")
        if names == () or names == []:
            names = numbered(self.part, len(sizes))
        if not isinstance(names, Sequence) or isinstance(names, str):
            raise InputError(f"names is {names!r}; give the name of each cluster")
        if len(names) != len(sizes) or not all(isinstance(n, str) and n for n in names):
            raise InputError(f"names is {list(names)!r}; give {len(sizes)} names, one per cluster")
        if len(set(names)) < len(names):
            twice = next(n for i, n in enumerate(names) if n in names[:i])
            raise InputError(f"names holds {twice!r} twice; cluster names must differ")
        object.__setattr__(self, "clusters", tuple(int(size) for size in sizes))
        object.__setattr__(self, "names", tuple(names))

    @property
    def size(self) -> int:
        """Total number of processors."""
        return sum(self.clusters)

    @property
    def places(self) -> tuple[str, ...]:
        """Names of the clusters."""
        return tuple(self.names)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Processors of each cluster."""
        return tuple(self.clusters)

    @property
    def participants(self) -> tuple[str, ...]:
        """Always empty, because jobs do not belong to single places."""
        return ()

    @property
    def stocks(self) -> tuple[tuple[str, str, int], ...]:
        """Always empty, because jobs request processors only."""
        return ()

    @property
    def key(self) -> str:
        """Text of the grid in a workload's digest, without names, which affect no schedule."""
        return "grid " + " ".join(map(str, self.clusters))

    @property
    def limit(self) -> str:
        """Text of error messages for the largest number of processors of a job."""
        return f"at most the widest cluster's {max(self.clusters)}"

    def admits(self, jobs: Columns) -> Bool:
        """Return whether each job is no wider than the widest cluster, bool[n]."""
        fits: Bool = jobs.procs <= max(self.clusters)
        return fits

    def check(self, jobs: Columns) -> None:
        """Accept all jobs, because every request is valid on a grid."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for `core.machines.platform.platform_from_dict`."""
        plain = {"clusters": list(self.clusters), "names": list(self.names)}
        return {"name": self.name, "configuration": plain}
