"""Platform of clusters with links to a central switch, for migration and co-allocation of jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from schedfarm.core.arrays import Bool
from schedfarm.core.checks import is_whole, refuse_jobs
from schedfarm.core.errors import InputError
from schedfarm.core.machines.grid.platform import Grid

if TYPE_CHECKING:
    from schedfarm.core.workload.columns import Columns

MOST_PROCESSORS = 2**31 - 1
"""Largest number of processors of a cluster: stores use 32 bits for a job's processors on it."""

MOST_CAPACITY = 2**52
"""Largest capacity of a link, kbit/s: floats are exact up to this number."""

THOUSAND = 1000
"""Denominator of a job's communication and of its all-to-all part, in thousandths."""

MOST_BANDWIDTH = 2.0**51
"""Bound of bandwidth x procs^2, below which the demand of a job on a link fits 64 bits."""

LONGEST_ON_LINKS = 2**32
"""Bound of estimates, s, since work is counted in parts of 2^-30 s."""


@dataclass(frozen=True)
class Network:
    """Describe clusters with links to a switch (Jones and Ligon 2005, section 2.1).

    Parameters
    ----------
    clusters : sequence of int
        Processors of each cluster, at least 1 and at most 2^31 - 1.
    names : sequence of str, optional
        Distinct names of the clusters; by default cluster1, cluster2 and so on.
    links : sequence of int, optional
        Capacity of each cluster's link in each direction, kbit/s, at least 1; by default links are
        unlimited.

    Raises
    ------
    InputError
        If there is no cluster; if a cluster has no processor or too many processors; if a link has
        no capacity; if names repeat; or if the number of names or links differs from the number of
        clusters.

    Examples
    --------
    >>> network = Network([100, 50], ["north", "south"], [1_000_000, 100_000])
    >>> network.size, network.participants, network.sizes
    (150, ('north', 'south'), (100, 50))
    >>> Network([100, 50], ["north", "south"], [1_000_000, 0])
    Traceback (most recent call last):
    schedfarm.core.errors.InputError: links holds 0; a link has at least 1 kbit/s; leave out
    unlimited links
    """

    name: ClassVar[str] = "network"
    part: ClassVar[str] = "cluster"
    keeps: ClassVar[tuple[str, ...]] = ("end", "segments")
    asks: ClassVar[tuple[str, ...]] = ("origin", "communication", "bandwidth", "alltoall")
    dated: ClassVar[bool] = False

    clusters: Sequence[int]
    names: Sequence[str] = ()
    links: Sequence[int] = ()

    def __post_init__(self) -> None:
        alike = Grid(self.clusters, self.names)
        if max(alike.sizes) > MOST_PROCESSORS:
            raise InputError(
                f"clusters holds {max(alike.sizes)}; a cluster has at most {MOST_PROCESSORS} "
                "processors"
            )
        object.__setattr__(self, "clusters", alike.sizes)
        object.__setattr__(self, "names", alike.places)
        object.__setattr__(self, "links", self._links())

    def _links(self) -> tuple[int, ...]:
        given = self.links
        if isinstance(given, str) or not isinstance(given, Sequence):
            raise InputError(f"links is {given!r}; give the capacity of each link, kbit/s")
        if given and len(given) != len(self.clusters):
            raise InputError(
                f"links holds {len(given)}; give {len(self.clusters)}, one per cluster"
            )
        for link in given:
            if not is_whole(link) or link < 1:
                raise InputError(
                    f"links holds {link!r}; a link has at least 1 kbit/s; leave out unlimited links"
                )
            if link > MOST_CAPACITY:
                raise InputError(f"links holds {link}; a link has at most {MOST_CAPACITY} kbit/s")
        return tuple(int(link) for link in given)

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
        """Names of the clusters; each cluster has its own jobs."""
        return self.places

    @property
    def stocks(self) -> tuple[tuple[str, str, int], ...]:
        """Always empty, because jobs request processors only."""
        return ()

    @property
    def key(self) -> str:
        """Text of the network in a workload's digest, without names, which affect no schedule."""
        return "|".join(
            ["network " + " ".join(map(str, self.clusters)), " ".join(map(str, self.links))]
        )

    @property
    def limit(self) -> str:
        """Text of error messages for the largest number of processors of a job."""
        return f"at most those of all clusters together, {self.size}"

    def admits(self, jobs: Columns) -> Bool:
        """Return whether each job is no wider than all clusters together, bool[n]."""
        fits: Bool = jobs.procs <= self.size
        return fits

    def check(self, jobs: Columns) -> None:
        """Refuse jobs without a cluster of origin or with impossible demands on links.

        Raises
        ------
        InputError
            The error names the first such job.
        """
        last = len(self.clusters) - 1
        unknown = (jobs.origin < 0) | (jobs.origin > last)
        refuse_jobs(unknown, jobs.origin, "origin", f"the index of a cluster, 0 to {last}")
        for name in ("communication", "alltoall"):
            values = getattr(jobs, name)
            wrong = (values < 0) | (values > THOUSAND)
            refuse_jobs(wrong, values, name, "0 to 1000 thousandths")
        refuse_jobs(jobs.bandwidth < 0, jobs.bandwidth, "bandwidth", "at least 0 kbit/s")
        # Floats prevent an overflow; accepted values are far below 64 bits.
        many = jobs.bandwidth * np.square(jobs.procs.astype(np.float64)) >= MOST_BANDWIDTH
        refuse_jobs(many, jobs.bandwidth, "bandwidth", "below 2^51 kbit/s / procs^2")
        long = jobs.estimate >= LONGEST_ON_LINKS
        refuse_jobs(long, jobs.estimate, "estimate", "below 2^32 s on a network")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for `core.machines.platform.platform_from_dict`."""
        plain = {
            "clusters": list(self.clusters),
            "names": list(self.names),
            "links": list(self.links),
        }
        return {"name": self.name, "configuration": plain}
