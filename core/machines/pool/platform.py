"""The plain machine: a pool of equivalent processors."""

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
    """Describe a pool of processors; a job takes any free ones.

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
        """Processors in all."""
        return self.processors

    @property
    def places(self) -> tuple[str, ...]:
        """The pool itself, as the one place."""
        return (self.name,)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Processors of the one place."""
        return (self.processors,)

    @property
    def participants(self) -> tuple[str, ...]:
        """Empty: jobs do not belong to single places."""
        return ()

    @property
    def stocks(self) -> tuple[tuple[str, str, int], ...]:
        """Empty: jobs request processors only."""
        return ()

    @property
    def key(self) -> str:
        """Text of the pool in a workload's digest."""
        return str(self.processors)

    @property
    def limit(self) -> str:
        """Largest number of processors of a job, as text for error messages."""
        return f"at most the machine's {self.processors}"

    def admits(self, jobs: Columns) -> Bool:
        """Return whether each job is no wider than the pool, bool[n]."""
        fits: Bool = jobs.procs <= self.processors
        return fits

    def check(self, jobs: Columns) -> None:
        """Accept all jobs: every request has a meaning here."""

    def to_dict(self) -> dict[str, Any]:
        """Return the plain form that `core.machines.platform.platform_from_dict` reads."""
        return {"name": self.name, "configuration": {"processors": self.processors}}
