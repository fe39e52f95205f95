"""Mapping of the jobs of logs to a network: their origins and their demands on links.

Logs do not record the communication of jobs, so this module defines all its parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeVar

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.checks import share, whole
from schedfarm.core.errors import InputError
from schedfarm.core.machines.network.platform import THOUSAND, Network
from schedfarm.core.names import choices
from schedfarm.core.workload.columns import is_filled
from schedfarm.core.workload.join import aligned, join
from schedfarm.core.workload.options import Check, Options, option
from schedfarm.core.workload.workload import Workload

COMPUTATION = 0.7
"""Part of a job's run time for computation, K of Jones and Ligon (2005)."""

BANDWIDTH = 50_000
"""Traffic of each processor, kbit/s: half of Fast Ethernet. The paper gives no value."""

ALLTOALL = 0.5
"""Part of the traffic that goes equally to all other processors. The paper gives no value."""

WITHIN = "network: "
"""Beginning of error messages about an option."""

SHOWN = 5
"""Largest number of values of a log in a message."""

T = TypeVar("T")
Numbers = float | Sequence[float]
"""One number for all clusters, or one number for each."""


SAID = ("partition", "queue", "group")
"""Columns of a log that may contain clusters."""


def each(what: str, value: object, count: int, check: Callable[[str, object], T]) -> tuple[T, ...]:
    """Return a parameter as one checked value for each cluster.

    Examples
    --------
    >>> each("least", 10, 3, whole), each("least", [1, 2, 3], 3, whole)
    ((10, 10, 10), (1, 2, 3))
    >>> each("least", [1, 2], 3, whole)
    Traceback (most recent call last):
    schedfarm.core.errors.InputError: least=[1, 2]: give one number, or 3, one for each cluster
    """
    if not isinstance(value, Sequence) or isinstance(value, str):
        return (check(what, value),) * count
    if len(value) != count:
        raise InputError(
            f"{what}={list(value)!r}: give one number, or {count}, one for each cluster"
        )
    return tuple(check(what, one) for one in value)


def _bandwidth(what: str, value: object) -> int:
    return whole(what, value, least=0)


_CHECKS: Mapping[str, Callable[[str, object], float]] = MappingProxyType(
    {"computation": share, "bandwidth": _bandwidth, "alltoall": share}
)
"""Check of each parameter of communication."""


def _fixed(value: object) -> object:
    return tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else value


def _each(check: Callable[[str, object], float]) -> Check:
    """Return the check of one value for all clusters, or of a list of any length."""

    def checked(what: str, value: object) -> object:
        kept = _fixed(value)
        each(what, kept, len(kept) if isinstance(kept, tuple) else 1, check)
        return kept

    return checked


def _origin(what: str, value: object) -> object:
    # The comparison is with None: 0, false and [] are mistakes and not the default.
    if value != "" and value not in list(SAID):
        raise InputError(f"{what} is {value!r}; {choices(str(value), SAID)}")
    return value


@dataclass(frozen=True)
class OnNetwork(Options):
    """Declare the mapping of jobs of pools to a network.

    Each of `computation`, `bandwidth` and `alltoall` is one number for all jobs, or a list with a
    number for each cluster, which applies to the jobs of this origin.

    Parameters
    ----------
    links : int or sequence of int
        Capacity of the clusters' links, kbit/s, if several logs are joined: one number for all
        links, or one number for each; by default links are unlimited.
    origin : str
        Column of a single log, in `SAID`, with the name or number of the cluster to which a job is
        submitted; by default all jobs are submitted to the first cluster.
    computation : float or sequence of float
        Computation as a part of the run time, counted in thousandths; the rest is communication.
    bandwidth : int or sequence of int
        Traffic of each processor of a job on one cluster, kbit/s.
    alltoall : float or sequence of float
        All-to-all part of this traffic, counted in thousandths; the rest goes to neighbours in a
        mesh.

    Raises
    ------
    InputError
        If an option has a wrong value. The error names the option, the value, and valid values.

    Examples
    --------
    >>> OnNetwork(computation=1.5)
    Traceback (most recent call last):
    schedfarm.core.errors.InputError: network: computation is 1.5; give a part, from 0 to 1
    """

    within = "network"

    links: int | Sequence[int] = option((), lambda _, value: _fixed(value))
    origin: str = option("", _origin)
    computation: Numbers = option(COMPUTATION, _each(share))
    bandwidth: Numbers = option(BANDWIDTH, _each(_bandwidth))
    alltoall: Numbers = option(ALLTOALL, _each(share))

    def network(self, sizes: Sequence[int], names: Sequence[str]) -> Network:
        """Return clusters with the given links, one for each of several logs."""
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
        """Return the columns of the jobs' demand on links, by the cluster of their origin."""
        asked = {key: getattr(self, key) for key in _CHECKS}
        return asked_of_links(origin, count, **asked, within=WITHIN)


def join_logs(logs: Sequence[Workload], names: Sequence[str], how: OnNetwork) -> Workload:
    """Join several logs of pools into one workload, with a cluster of a network for each.

    The pool of each log becomes a cluster of the same size, with its name from `names`. The jobs
    are aligned (`core.workload.join.aligned`) and joined (`core.workload.join.join`).

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
    """Add origins and demands on links to the jobs of one log on a network.

    Jobs without a cluster are dropped and counted. A log that already has these columns is refused.

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


def asked_of_links(
    origin: Int64,
    count: int,
    computation: Numbers,
    bandwidth: Numbers,
    alltoall: Numbers,
    *,
    within: str = "",
) -> dict[str, Int64]:
    """Return the columns of the jobs' demand on links, by the cluster of each job's origin.

    `computation`, `bandwidth` and `alltoall` are those of `OnNetwork`. `within` is the prefix of
    parameters' names in messages.

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
