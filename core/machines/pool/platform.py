"""Platform of a plain machine: a pool of equivalent processors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from schedfarm.core.arrays import HORIZON, Bool
from schedfarm.core.checks import is_whole
from schedfarm.core.errors import InputError

if TYPE_CHECKING:
    from schedfarm.core.workload.columns import Columns


@dataclass(frozen=True)
class Pool:
    """Describe a pool of processors; a job takes any free processors.

    Parameters
    ----------
    processors : int
        Number of processors, at least 1.

    Raises
    ------
    InputError
        If `processors` is below 1 or above 2^62 - 1.

    Examples
    --------
    >>> Pool(4).size, Pool(4).places
    (4, ('pool',))
    >>> Pool(4).to_dict()
    {'name': 'pool', 'configuration': {'processors': 4}}
    """

    name: ClassVar[str] = "pool"
    part: ClassVar[str] = "pool"
    keeps: ClassVar[tuple[str, ...]] = ()
    asks: ClassVar[tuple[str, ...]] = ()
    dated: ClassVar[bool] = False

    processors: int

    def __post_init__(self) -> None:
        if not is_whole(self.processors) or not 0 < self.processors < HORIZON:
            raise InputError(
                f"processors is {self.processors!r}; a machine has at least 1 and fewer than 2^62"
            )
        object.__setattr__(self, "processors", int(self.processors))

    @property
    def size(self) -> int:
        """Total number of processors."""
        return self.processors

    @property
    def places(self) -> tuple[str, ...]:
        """Name of the pool itself, as the one place."""
        return (self.name,)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Processors of the one place."""
        return (self.processors,)

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
        """Text of the pool in a workload's digest."""
        return str(self.processors)

    @property
    def limit(self) -> str:
        """Text of error messages for the largest number of processors of a job."""
        return f"at most the machine's {self.processors}"

    def admits(self, jobs: Columns) -> Bool:
        """Return whether each job is no wider than the pool, bool[n]."""
        fits: Bool = jobs.procs <= self.processors
        return fits

    def check(self, jobs: Columns) -> None:
        """Accept all jobs, because every request is valid on a pool."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for `core.machines.platform.platform_from_dict`."""
        return {"name": self.name, "configuration": {"processors": self.processors}}
