"""Platform of a pool with processors and other resources; a job requests a vector of amounts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from schedfarm.core.arrays import HORIZON, Bool, Int64
from schedfarm.core.checks import is_whole
from schedfarm.core.errors import InputError
from schedfarm.core.machines.resources.windows import Intervals, intervals, plain, rows_of
from schedfarm.core.names import choices

if TYPE_CHECKING:
    from schedfarm.core.workload.columns import Columns

PROCESSORS = "processors"
"""Name of the first resource in sentences and results."""

UNITS: Mapping[str, str] = MappingProxyType(
    {"gpus": "GPUs", "memory": "bytes of memory", "licences": "licences", "watts": "W"}
)
"""Units in messages of the other resources, by the column of jobs' requests."""


@dataclass(frozen=True)
class Resources:
    """Describe a pool with several resources; a job holds its whole request while it runs.

    Parameters
    ----------
    processors : int
        Number of processors, at least 1.
    capacities : mapping of str to int
        Amount of each of the other resources, at least 0: ``gpus``, ``memory`` (bytes),
        ``licences``, ``watts``. Unnamed resources are unlimited. The mapping may be empty if there
        are windows.
    windows : sequence of mapping, optional
        Intervals in which jobs cannot use some resources, as in `core.machines.resources.windows`:
        ``from`` and ``until``, s; the withheld amount of each resource, by default all of every
        resource; and ``every``, s, and ``times`` for repeated intervals.

    Raises
    ------
    InputError
        If there is no processor; if there is neither another resource nor a window; if a resource
        is unknown; if an amount is negative or more than 2^62 - 1; or if a window is wrong.

    Examples
    --------
    >>> machine = Resources(64, {"gpus": 8, "memory": 2**40})
    >>> machine.size, machine.names, machine.amounts
    (64, ('processors', 'gpus', 'memory'), (64, 8, 1099511627776))
    >>> machine.to_dict()["configuration"]
    {'processors': 64, 'capacities': {'gpus': 8, 'memory': 1099511627776}}
    >>> gap = {"from": 0, "until": 60, "processors": 4}
    >>> Resources(64, {}, windows=[gap]).to_dict()["configuration"]
    {'processors': 64, 'capacities': {}, 'windows': [{'from': 0, 'until': 60, 'processors': 4}]}
    """

    name: ClassVar[str] = "resources"
    part: ClassVar[str] = "pool"
    keeps: ClassVar[tuple[str, ...]] = ()
    asks: ClassVar[tuple[str, ...]] = tuple(UNITS)
    dated: ClassVar[bool] = False

    processors: int
    capacities: Mapping[str, int]
    windows: Sequence[Any] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        self._take_processors()
        if not self.capacities and not self.windows:
            raise InputError(
                f"capacities is {self.capacities!r}; give the amount of each resource, such as "
                "{gpus = 8}"
            )
        self._take_capacities()
        object.__setattr__(self, "windows", rows_of(self.windows, self._all))

    def _take_processors(self) -> None:
        if not is_whole(self.processors) or not 0 < self.processors < HORIZON:
            raise InputError(
                f"processors is {self.processors!r}; a machine has at least 1 and fewer than 2^62"
            )
        object.__setattr__(self, "processors", int(self.processors))

    def _take_capacities(self) -> None:
        given = self.capacities
        if isinstance(given, tuple):
            # `dataclasses.replace` passes the checked values of this class in this form.
            given = dict(given)
        if not isinstance(given, Mapping):
            raise InputError(
                f"capacities is {given!r}; give the amount of each resource, such as {{gpus = 8}}"
            )
        for resource, amount in given.items():
            if resource not in UNITS:
                raise InputError(f"capacities names {resource!r}; {choices(str(resource), UNITS)}")
            if not is_whole(amount) or not 0 <= amount < HORIZON:
                raise InputError(
                    f"capacities has {resource} = {amount!r}; give a whole number of "
                    f"{UNITS[resource]} from 0, below 2^62"
                )
        # Resources have a fixed order, so that equal machines are equal values.
        rows = tuple((name, int(given[name])) for name in UNITS if name in given)
        object.__setattr__(self, "capacities", rows)

    @property
    def _all(self) -> dict[str, int]:
        return dict(zip(self.names, self.amounts, strict=True))

    @property
    def intervals(self) -> Intervals:
        """Every interval of the windows."""
        return intervals(self.windows, self._all)

    @property
    def _rows(self) -> tuple[tuple[str, int], ...]:
        return self.capacities  # type: ignore[return-value]

    @property
    def size(self) -> int:
        """Total number of processors."""
        return self.processors

    @property
    def places(self) -> tuple[str, ...]:
        """Name of the one place."""
        return ("pool",)

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
        """Column, unit and capacity of each of the other resources."""
        return tuple((name, UNITS[name], amount) for name, amount in self._rows)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the resources; processors are first."""
        return (PROCESSORS, *(name for name, _ in self._rows))

    @property
    def units(self) -> tuple[str, ...]:
        """Units of the resources in messages."""
        return (PROCESSORS, *(UNITS[name] for name, _ in self._rows))

    @property
    def shared(self) -> int:
        """Number of individually requested resources; here these are all resources."""
        return len(self.names)

    @property
    def amounts(self) -> tuple[int, ...]:
        """Capacity of each resource, in the order of the names."""
        return (self.processors, *(amount for _, amount in self._rows))

    def requests(self, jobs: Columns) -> Int64:
        """Return the request of each job for each resource, int64[n, resources]."""
        columns = [jobs.procs, *(getattr(jobs, name) for name, _ in self._rows)]
        found: Int64 = np.maximum(np.stack(columns, axis=1), 0)
        return found

    @property
    def key(self) -> str:
        """Text of the machine in a workload's digest."""
        others = (f"{name} {amount}" for name, amount in self._rows)
        windows = (f"window {row}" for row in self.windows)
        return "|".join([f"resources {self.processors}", *others, *windows])

    @property
    def limit(self) -> str:
        """Text of error messages for the limit of a job's requests."""
        others = (f"{amount} {UNITS[name]}" for name, amount in self._rows)
        return f"at most the machine's {self.processors}, and so its other requests: " + ", ".join(
            others
        )

    def admits(self, jobs: Columns) -> Bool:
        """Return whether each job requests at most the capacity of each resource, bool[n]."""
        fits: Bool = np.all(self.requests(jobs) <= np.array(self.amounts, np.int64), axis=1)
        return fits

    def check(self, jobs: Columns) -> None:
        """Accept all jobs, because every request is valid here."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for `core.machines.platform.platform_from_dict`."""
        return {
            "name": self.name,
            "configuration": {
                "processors": self.processors,
                "capacities": dict(self._rows),
                **({"windows": plain(self.windows)} if self.windows else {}),
            },
        }
