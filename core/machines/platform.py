"""Protocol of platforms, and a table of their kinds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from schedfarm.core.arrays import Bool
from schedfarm.core.errors import InputError
from schedfarm.core.machines.grid.platform import Grid
from schedfarm.core.machines.hosts.platform import Hosts
from schedfarm.core.machines.network.platform import Network
from schedfarm.core.machines.nodes.platform import Nodes
from schedfarm.core.machines.partitions.platform import Partitions
from schedfarm.core.machines.pool.platform import Pool
from schedfarm.core.machines.resources.platform import Resources
from schedfarm.core.names import choices

if TYPE_CHECKING:
    from schedfarm.core.workload.columns import Columns


class Platform(Protocol):
    """Describe a machine, as a frozen dataclass of builtin values.

    The parameters of the dataclass are the configuration of the machine.
    """

    name: ClassVar[str]
    """Name of the kind in campaigns and stores."""

    part: ClassVar[str]
    """Name for a place, such as cluster or node."""

    keeps: ClassVar[tuple[str, ...]]
    """Columns of a schedule that do not follow from the starts and are therefore stored."""

    asks: ClassVar[tuple[str, ...]]
    """Columns with jobs' requests that only this kind of platform uses."""

    dated: ClassVar[bool]
    """Whether some rules on the platform depend on the time of day."""

    @property
    def size(self) -> int:
        """Total number of processors."""

    @property
    def places(self) -> tuple[str, ...]:
        """Names of the clusters or nodes; `Schedule.place` is an index into these names."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Processors of each place."""

    @property
    def participants(self) -> tuple[str, ...]:
        """Names of the places if jobs belong to places (`Columns.origin`), otherwise empty."""

    @property
    def stocks(self) -> tuple[tuple[str, str, int], ...]:
        """Column of requests, unit and capacity of each resource other than processors."""

    @property
    def key(self) -> str:
        """Text of the platform in a workload's digest."""

    @property
    def limit(self) -> str:
        """Text of error messages for the largest number of processors of a job."""

    def admits(self, jobs: Columns) -> Bool:
        """Return whether each job could run alone on the platform, bool[n]."""

    def check(self, jobs: Columns) -> None:
        """Raise an `InputError` for jobs with requests that are invalid on the platform."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ``{"name": ..., "configuration": {...}}``."""


@dataclass(frozen=True)
class Kind:
    """Declare a kind of platform: its meaning, and its dataclass."""

    meaning: str
    form: type[Any]


PLATFORMS: Mapping[str, Kind] = MappingProxyType(
    {
        kind.form.name: kind
        for kind in (
            Kind("one pool of processors, all equivalent", Pool),
            Kind("several clusters; each job runs inside one", Grid),
            Kind("nodes of some processors each; jobs take several nodes", Nodes),
            Kind("clusters with links to a switch, for migration and co-allocation", Network),
            Kind("one pool of processors, GPUs, memory, licences and watts", Resources),
            Kind("one pool whose nodes belong to partitions that may overlap", Partitions),
            Kind("hosts of processors, GPUs and memory, which jobs share", Hosts),
        )
    }
)
"""Every kind of platform by its name."""


def of_size(platform: Platform, processors: int) -> Platform | None:
    """Return a machine with another number of processors; None if it has several places.

    Examples
    --------
    >>> of_size(Resources(4, {"gpus": 2}), 8)
    Resources(processors=8, capacities=(('gpus', 2),), windows=())
    """
    if isinstance(platform, Partitions | Hosts):
        return platform.sized(processors)
    if isinstance(platform, Resources):
        return replace(platform, processors=processors)
    return Pool(processors) if platform == Pool(platform.size) else None


def platform_from_dict(plain: object) -> Platform:
    """Return the platform for the plain values from `Platform.to_dict`.

    Parameters
    ----------
    plain : mapping
        ``{"name": ..., "configuration": {...}}``.

    Returns
    -------
    Platform
        A platform that equals the original platform.

    Raises
    ------
    InputError
        If `plain` does not have exactly these two keys, the kind is unknown, a parameter is unknown
        or missing, or a value is wrong.

    Examples
    --------
    >>> platform_from_dict({"name": "pool", "configuration": {"processors": 128}})
    Pool(processors=128)
    >>> platform_from_dict({"name": "pond", "configuration": {}})
    Traceback (most recent call last):
    schedfarm.core.errors.InputError: platform: unknown name 'pond'; known: pool, grid, nodes,
    network, resources, partitions, hosts
    """
    if not isinstance(plain, Mapping) or set(plain) != {"name", "configuration"}:
        raise InputError(f"platform={plain!r}: give a table of two keys, name and configuration")
    name, configuration = plain["name"], plain["configuration"]
    if not isinstance(name, str) or name not in PLATFORMS:
        raise InputError(f"platform: unknown name {name!r}; {choices(name, PLATFORMS)}")
    form: Callable[..., Platform] = PLATFORMS[name].form
    rows = fields(PLATFORMS[name].form)
    known = [field.name for field in rows]
    needed = [field.name for field in rows if field.default is MISSING is field.default_factory]
    if not isinstance(configuration, Mapping):
        raise InputError(f"platform {name!r}: configuration={configuration!r}; give a table")
    for key in (*configuration, *needed):
        if key not in known or key not in configuration:
            fault = "unknown" if key not in known else "missing"
            raise InputError(f"platform {name!r}: {fault} key {key!r}; it has: {', '.join(known)}")
    return form(**configuration)
