"""Jobs of logs on a network: where they come from, and what they ask of links.

No log says how its jobs communicate: it is given, by parameters that are all here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.checks import share, whole
from schedfarm.core.errors import InputError
from schedfarm.core.machines.network.platform import THOUSAND, Network
from schedfarm.core.names import choices
from schedfarm.core.workload.columns import is_filled
from schedfarm.core.workload.join import aligned, join
from schedfarm.core.workload.workload import Workload

COMPUTATION = 0.7
"""Part of a job's run time that is computation, K of Jones and Ligon (2005)."""

BANDWIDTH = 50_000
"""What each processor sends, kbit/s, ours: the paper prints none. It is half of Fast Ethernet."""

ALLTOALL = 0.5
"""Part of that which goes to all others alike, ours: the paper prints none."""

WITHIN = "network: "
"""Begins what is told of an option."""

SHOWN = 5
"""So many values of a log are told at most."""

T = TypeVar("T")
Numbers = float | Sequence[float]
"""One number for all clusters, or one for each."""


SAID = ("partition", "queue", "group")
"""Columns of a log of which each value may be a cluster."""


@dataclass(frozen=True)
class OnNetwork:
    """Say what becomes of the jobs of pools on a network.

    Each of `computation`, `bandwidth` and `alltoall` is one number for all jobs, or a list of one
    for each cluster, which then holds for the jobs that come from there.

    Parameters
    ----------
    links : int or sequence of int
        Capacity of the clusters' links where several logs are joined, kbit/s: one number for all,
        or one for each; by default none has a limit.
    origin : str
        What of a single log says the cluster that a job is submitted to, by its name or number:
        one of `SAID`; by default all are submitted to the first.
    computation : float or sequence of float
        Part of a run time that is computation, counted in thousandths; the rest is communication.
    bandwidth : int or sequence of int
        What each processor of a job sends on one cluster, kbit/s.
    alltoall : float or sequence of float
        Part of that which goes to all others alike, counted in thousandths; the rest goes to
        neighbours in a mesh.

    Raises
    ------
    InputError
        Naming the option, its value, and what would be right.

    Examples
    --------
    >>> OnNetwork(computation=1.5)
    Traceback (most recent call last):
    schedfarm.core.errors.InputError: network: computation is 1.5; give a part, from 0 to 1
    """

    links: int | Sequence[int] = ()
    origin: str = ""
    computation: Numbers = COMPUTATION
    bandwidth: Numbers = BANDWIDTH
    alltoall: Numbers = ALLTOALL

    def __post_init__(self) -> None:
        for key in ("links", "computation", "bandwidth", "alltoall"):
            given = getattr(self, key)
            if _is_list(given):
                object.__setattr__(self, key, tuple(given))
        for key, check in _CHECKS.items():
            value = getattr(self, key)
            # How many clusters there are, is not known yet.
            each(f"{WITHIN}{key}", value, len(value) if _is_list(value) else 1, check)
        # Not by its truth: 0, false and [] are mistakes, not the default.
        if self.origin != "" and self.origin not in SAID:
            known = choices(str(self.origin), SAID)
            raise InputError(f"network: origin is {self.origin!r}; {known}")

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> OnNetwork:
        """Build it from plain values; what is not named is the default.

        Raises
        ------
        InputError
            If a key is unknown or a value is wrong.

        Examples
        --------
        >>> OnNetwork.from_dict({"link": 5})
        Traceback (most recent call last):
        schedfarm.core.errors.InputError: network: unknown key 'link'; did you mean 'links'? ...
        """
        known = [field.name for field in fields(cls)]
        for key in plain:
            if key not in known:
                raise InputError(f"network: unknown key {key!r}; {choices(str(key), known)}")
        return cls(**plain)

    def to_dict(self) -> dict[str, Any]:
        """Return every option, as plain values from which it can be built."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}

    def network(self, sizes: Sequence[int], names: Sequence[str]) -> Network:
        """Return clusters with these links, each of which is that of a log.

        Raises
        ------
        InputError
            As `Network`, if there is not one number for each cluster, and if an `origin` is given.
        """
        if self.origin:
            raise InputError(f"{WITHIN}each log is a cluster; leave 'origin' out")
        self.asked(np.zeros(0, np.int64), len(sizes))
        given, clusters = self.links, Network(sizes, names)
        links = given if isinstance(given, Sequence) else (given,) * len(sizes)
        try:
            return replace(clusters, links=links)
        except InputError as error:
            raise InputError(f"{WITHIN}{error}") from None

    def asked(self, origin: Int64, count: int) -> dict[str, Int64]:
        """Return the columns that say what jobs ask of links, by the cluster each comes from.

        Raises
        ------
        InputError
            If there is not one number for each cluster.
        """
        asked = {key: getattr(self, key) for key in _CHECKS}
        return asked_of_links(origin, count, **asked, within=WITHIN)


def join_logs(logs: Sequence[Workload], names: Sequence[str], how: OnNetwork) -> Workload:
    """Let several logs be those of the clusters of one network, at the same time.

    Parameters
    ----------
    logs : sequence of Workload
        Of pools; the size of each is that of its cluster.
    names : sequence of str
        What the clusters are called.
    how : OnNetwork
        The links, and what jobs ask of them.

    Returns
    -------
    Workload
        The jobs of all of them, aligned (`core.workload.join.aligned`) and joined
        (`core.workload.join.join`).

    Raises
    ------
    InputError
        If a log is not of a pool, and as `OnNetwork.network` and `join`.

    Examples
    --------
    >>> one, two = (Workload.from_columns(submit=[first], run=[9], estimate=[9], procs=[1],
    ...                                   processors=size) for first, size in ((5, 4), (60, 8)))
    >>> both = join_logs([one, two], ["a", "b"], OnNetwork(links=1_000))
    >>> both.name, both.submit.tolist(), both.platform.links
    ('a+b', [0, 0], (1000, 1000))
    """
    for log in logs:
        if log.platform.asks:
            raise InputError(
                f"log {log.name!r} is of a machine of {log.platform.part}s; logs of pools can be "
                "joined"
            )
    network = how.network([log.processors for log in logs], names)
    joined = join(aligned(logs), network, "+".join(names))
    return joined.take(slice(None), **how.asked(joined.origin, len(logs)))


def put_on_network(log: Workload, how: OnNetwork) -> Workload:
    """Say of the jobs of one log on a network where they come from, and what they ask of links.

    Parameters
    ----------
    log : Workload
        Jobs on a network.
    how : OnNetwork
        What says where they come from, and what they ask.

    Returns
    -------
    Workload
        The jobs; those of no cluster are dropped and counted.

    Raises
    ------
    InputError
        If the log does not say where they come from, no job is left, or its jobs say already what
        `how` is to say.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 1, 2], run=[9] * 3, estimate=[9] * 3, procs=[1] * 3,
    ...                           partition=[1, 2, 3], names={"partition": {1: "cpu", 2: "gpu"}},
    ...                           platform=Network([4, 4], ["gpu", "cpu"]))
    >>> some = put_on_network(w, OnNetwork(origin="partition"))
    >>> some.origin.tolist(), some.dropped
    ([1, 0], {'of no cluster': 1})
    """
    places = log.platform.places
    said = [*how.asked(log.origin[:0], len(places)), *(["origin"] if how.origin else [])]
    if own := [column for column in said if is_filled(log, column)]:
        raise InputError(
            f"network: the jobs of log {log.name!r} have their own {', '.join(own)}; leave "
            "'network' out"
        )
    if how.origin:
        log = _from(log, how.origin)
    return log.take(slice(None), **how.asked(log.origin, len(places)))


def _from(log: Workload, column: str) -> Workload:
    names, values = log.names.get(column, {}), getattr(log, column)
    numbers, place = np.unique(values, return_inverse=True)
    called = [names.get(number, str(number)) for number in numbers.tolist()]
    places = {name: c for c, name in enumerate(log.platform.places)}
    origin = np.array([places.get(name, -1) for name in called], np.int64)[place]
    known = origin >= 0
    if not known.any():
        raise InputError(
            f"network: no job of log {log.name!r} has a {column} that is a cluster; its jobs have "
            f"{', '.join(called[:SHOWN])}, and the clusters are {', '.join(places)}"
        )
    dropped = dict(log.dropped)
    if not known.all():
        dropped["of no cluster"] = int(np.count_nonzero(~known))
    return log.take(known, origin=origin[known], dropped=dropped)


def each(what: str, value: object, count: int, check: Callable[[str, object], T]) -> tuple[T, ...]:
    """Return a parameter as one value for each cluster, each checked.

    Raises
    ------
    InputError
        If it is a list of another length, and as `check`.

    Examples
    --------
    >>> each("least", 10, 3, whole), each("least", [1, 2, 3], 3, whole)
    ((10, 10, 10), (1, 2, 3))
    >>> each("least", [1, 2], 3, whole)
    Traceback (most recent call last):
    schedfarm.core.errors.InputError: least=[1, 2]: give one number, or 3, one for each cluster
    """
    if isinstance(value, str) or not isinstance(value, Sequence):
        return (check(what, value),) * count
    if len(value) != count:
        raise InputError(
            f"{what}={list(value)!r}: give one number, or {count}, one for each cluster"
        )
    return tuple(check(what, one) for one in value)


def asked_of_links(
    origin: Int64,
    count: int,
    computation: Numbers,
    bandwidth: Numbers,
    alltoall: Numbers,
    *,
    within: str = "",
) -> dict[str, Int64]:
    """Return the columns that say what jobs ask of links, by the cluster of which each comes.

    Parameters
    ----------
    origin : int64[n]
        Cluster of each job.
    count : int
        Number of clusters.
    computation, bandwidth, alltoall
        As for `OnNetwork`.
    within : str
        What stands before the name of a parameter in errors.

    Returns
    -------
    dict of str to int64[n]
        `communication`, `bandwidth` and `alltoall`.

    Raises
    ------
    InputError
        If a part is not from 0 to 1, a bandwidth is no whole number from 0 on, or there is not one
        for each cluster.

    Examples
    --------
    >>> asked = asked_of_links(np.array([0, 1, 0]), 2, [0.7, 0.4], 1000, 0.5)
    >>> asked["communication"].tolist(), asked["bandwidth"].tolist(), asked["alltoall"].tolist()
    ([300, 600, 300], [1000, 1000, 1000], [500, 500, 500])
    """
    given = {"computation": computation, "bandwidth": bandwidth, "alltoall": alltoall}
    of = {key: each(f"{within}{key}", given[key], count, check) for key, check in _CHECKS.items()}
    found = {
        "communication": [round((1 - part) * THOUSAND) for part in of["computation"]],
        "bandwidth": of["bandwidth"],
        "alltoall": [round(part * THOUSAND) for part in of["alltoall"]],
    }
    return {name: np.array(values, np.int64)[origin] for name, values in found.items()}


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _bandwidth(what: str, value: object) -> int:
    return whole(what, value, least=0)


_CHECKS: Mapping[str, Callable[[str, object], float]] = MappingProxyType(
    {"computation": share, "bandwidth": _bandwidth, "alltoall": share}
)
"""What each parameter of communication must be."""
