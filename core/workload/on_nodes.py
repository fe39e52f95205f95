"""Mapping of the jobs of a pool to nodes, with drawn requests as in OAR.

The log of Eyraud's machine is not public (A pragmatic analysis of scheduling environments on new
computing platforms, 2006, section 5.1). Logs of pools have neither nodes nor properties nor
reservations. So these requests are drawn, by the parameters below.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from schedfarm.core.arrays import HORIZON, Bool, Int64
from schedfarm.core.checks import share, whole
from schedfarm.core.durations import DAY, duration, seconds_of
from schedfarm.core.errors import InputError
from schedfarm.core.machines.nodes.platform import ANY, Nodes
from schedfarm.core.philox import philox
from schedfarm.core.workload.columns import UNKNOWN
from schedfarm.core.workload.options import Options, option, whole_from
from schedfarm.core.workload.workload import MILLION, Workload

RIGID = -1
"""Serial part of a job that is not moldable."""

DRAWS = 2**20
"""Number of draws for each purpose.

Jobs or users get the same draw if their numbers differ by a multiple of this number. A table takes
milliseconds; a generator for each job would take seconds.
"""

MOST_NODES = 1_000_000
"""Largest number of nodes, because a store's description names each node."""


def _set_sizes(what: str, given: object) -> tuple[int, ...]:
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise InputError(f"{what} is {given!r}; give the nodes of each, such as [52, 26]")
    return tuple(whole(what, size, 1) for size in given)


def _pair(what: str, value: object, such: str) -> Sequence[Any]:
    if isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 2:
        return value
    raise InputError(f"{what} is {value!r}; give the least and the largest, such as {such}")


def _lead(what: str, value: object) -> tuple[str, ...]:
    pair = _pair(what, value, '["1h", "2d"]')
    lead = [_seconds(text) for text in pair]
    if lead[0] > lead[1]:
        raise InputError(f"{what} is {list(pair)}; give the shorter time first")
    return tuple(duration(seconds) for seconds in lead)


def _serial(what: str, value: object) -> tuple[float, ...]:
    pair = _pair(what, value, "[0.0, 0.25]")
    serial = tuple(share(what, part) for part in pair)
    if serial[0] > serial[1]:
        raise InputError(f"{what} is {list(pair)}; give the smaller part first")
    return serial


def _utc(_: str, text: object) -> str:
    seconds = _offset(text)
    return "-" * (seconds < 0) + duration(abs(seconds))


def _seconds(text: object) -> int:
    seconds = seconds_of(text) if isinstance(text, str) else None
    # This limit makes the product of a draw and the span of the times fit 64 bits.
    if seconds is None or seconds >= 2**32 - 1:
        raise InputError(
            f"nodes: lead has {text!r}; give a time below 136 years, such as '90m' or '2d'"
        )
    return seconds


def _offset(text: object) -> int:
    """Return a time zone's offset from UTC, s."""
    seconds = seconds_of(text.removeprefix("-")) if isinstance(text, str) else None
    if seconds is None or seconds > 86_400:
        raise InputError(
            f"nodes: utc is {text!r}; give the offset ahead of UTC, such as '1h' or '-8h'"
        )
    return -seconds if str(text).startswith("-") else seconds


@dataclass(frozen=True)
class OnNodes(Options):
    """Declare the mapping of the jobs of a pool to identical nodes.

    Parameters
    ----------
    nodes : int
        Number of nodes of the machine.
    capacity : int
        Processors of each node.
    whole : float
        Share of the jobs that take whole nodes; the others take one processor on each of `procs`
        nodes.
    properties : float
        Share of the jobs that may use the nodes of one set only. These are all jobs of some users,
        except jobs that are wider than their user's set.
    sets : sequence of int
        Number of nodes of each set; each user draws a set.
    overlap : int
        Number of nodes that a set shares with the next set.
    reservations : float
        Share of the jobs with advance reservations.
    lead : pair of str
        Least and largest time from the submission to the reserved start, such as ``["1h", "2d"]``.
    moldable : float
        Share of the jobs that may have any number of nodes.
    serial : pair of float
        Least and largest serial part of the work of moldable jobs.
    utc : str
        Offset of the machine's local time from UTC, such as ``1h`` or ``-8h``.
    seed : int
        Seed of all draws.

    Raises
    ------
    InputError
        If an option has a wrong value. The error names the option, the value, and valid values.

    Examples
    --------
    >>> OnNodes(nodes=8, sets=[4, 2]).sets
    (4, 2)
    >>> OnNodes(nodes=8, sets=[4, 5], properties=0.1)
    Traceback (most recent call last):
    schedfarm.core.errors.InputError: nodes: sets=[4, 5] with overlap=0 take 9 consecutive nodes,
    but there are 8
    """

    within = "nodes"

    nodes: int = option(104, whole_from(1, MOST_NODES))
    capacity: int = option(2, whole_from(1, HORIZON // MOST_NODES))
    whole: float = option(0.5, share)
    properties: float = option(0.0, share)
    sets: Sequence[int] = option((52, 26, 26), _set_sizes)
    overlap: int = option(0, whole_from(0))
    reservations: float = option(0.0, share)
    lead: Sequence[str] = option(("1h", "2d"), _lead)
    moldable: float = option(0.0, share)
    serial: Sequence[float] = option((0.0, 0.25), _serial)
    utc: str = option("0s", _utc)
    seed: int = option(0, whole_from(0))

    def _check_together(self) -> None:
        sizes = self.sets
        if self.properties and not sizes:
            raise InputError(f"nodes: properties={self.properties} need sets, such as [52, 26]")
        if sizes and self.overlap >= min(sizes):
            raise InputError(
                f"nodes: overlap={self.overlap}: give fewer than the nodes of each set, "
                f"at most {min(sizes) - 1}"
            )
        taken = sum(sizes) - self.overlap * (len(sizes) - 1)
        # Sets without jobs need not fit, so that a smaller machine is possible.
        if self.properties and taken > self.nodes:
            raise InputError(
                f"nodes: sets={list(sizes)} with overlap={self.overlap} take {taken} consecutive "
                f"nodes, but there are {self.nodes}"
            )

    @property
    def platform(self) -> Nodes:
        """The machine; its sets are consecutive, from the first node on."""
        names = [f"n{number}" for number in range(1, self.nodes + 1)]
        sets, first = {}, 0
        for number, size in enumerate(self.sets if self.properties else (), 1):
            sets[f"set{number}"] = names[first : first + size]
            first += size - self.overlap
        return Nodes([self.capacity] * self.nodes, names, sets)


def put_on_nodes(workload: Workload, how: OnNodes | None = None) -> Workload:
    """Put jobs of a pool on nodes; some jobs get a set or a reservation, or are moldable.

    Each job keeps its share of the machine, submission, run time and walltime. Let x be the job's
    share of the log's processors. The job requests w processors on each of q nodes. A job with
    `whole` nodes has q = x nodes, rounded half up and at least 1, and w = capacity. Another job has
    p = x nodes capacity processors, rounded in the same way. Then w = p / nodes and q = p / w, each
    rounded up, so that w is 1 unless there are fewer than p nodes. No other option changes q and w.

    The key of a draw is the seed, and the number of the job, or of the user for sets. So the jobs
    chosen for a smaller share are also chosen for a larger share. Users are taken in the order of
    their draws, while half of the next user's jobs fit into the share. So the result differs from
    the share by at most half the jobs of one user. All unknown users (-1) count as one user.

    By default the machine has 104 nodes of 2 processors, and no job has a set or a reservation, or
    is moldable. Only the size of the workload's platform counts. With `utc`, instant 0 is in the
    machine's local time, from which rules derive the time of day.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 0, 0], run=[9] * 3, estimate=[9] * 3,
    ...                           procs=[1, 20, 90], processors=100)
    >>> some = put_on_nodes(w, OnNodes(whole=0))
    >>> some.procs.tolist(), some.weight.tolist()
    ([2, 42, 188], [1, 1, 2])
    >>> all_whole = put_on_nodes(w, OnNodes(whole=1, reservations=1, lead=["1h", "1h"]))
    >>> (all_whole.procs // all_whole.weight).tolist(), all_whole.reserved.tolist()
    ([1, 21, 94], [3600, 3600, 3600])
    """
    how = how or OnNodes()
    count, weight = _asked(workload, how)
    job = workload.job
    advance = _chosen(how, "reservations", job)
    molded = _chosen(how, "moldable", job)
    lead = _between(how, "lead", job, *(_seconds(text) for text in how.lead))
    serial = _between(how, "serial", job, *(round(part * MILLION) for part in how.serial))
    asked: dict[str, Any] = {
        "procs": count * weight,
        "weight": weight,
        "properties": _sets(workload.user, count, how),
        "reserved": np.where(advance, lead, UNKNOWN),
        "serial": np.where(molded, serial, RIGID),
    }
    if workload.epoch >= 0:
        # Only the time of day of the epoch counts, and a value below 0 would mean unknown.
        epoch = workload.epoch + _offset(how.utc)
        asked["epoch"] = epoch if epoch >= 0 else epoch % DAY
    return workload.take(slice(None), platform=how.platform, **asked)


def _asked(workload: Workload, how: OnNodes) -> tuple[Int64, Int64]:
    """Return the number of nodes that each job requests, and its processors on each node."""
    on_whole = _chosen(how, "whole", workload.job)
    count = _part(workload.procs, how.nodes, workload.processors)
    procs = _part(workload.procs, how.nodes * how.capacity, workload.processors)
    spread = -(-procs // how.nodes)
    weight = np.where(on_whole, how.capacity, spread)
    return np.where(on_whole, count, -(-procs // spread)), weight


def _part(procs: Int64, size: int, whole: int) -> Int64:
    """Return procs x size / whole, rounded half up, at least 1."""
    if int(procs.max(initial=0)) * size >= HORIZON:
        raise InputError(
            f"nodes: a job of {int(procs.max())} processors cannot be brought to {size} "
            "processors or nodes; give fewer"
        )
    part: Int64 = np.maximum((2 * procs * size + whole) // (2 * whole), 1)
    return part


def _sets(user: Int64, count: Int64, how: OnNodes) -> Int64:
    """Return the set of each job; `ANY` for a job without a set."""
    if not how.properties:
        return np.full(user.size, ANY, np.int64)
    users, place = np.unique(user, return_inverse=True)
    own = (_raw(how, "set", users) % np.uint64(len(how.sets))).astype(np.int64)
    fits = count <= np.array(how.sets, np.int64)[own[place]]
    jobs = np.bincount(place[fits], minlength=users.size)
    order = np.argsort(_raw(how, "properties", users), kind="stable")
    middle = 2 * (np.cumsum(jobs[order]) - jobs[order]) + jobs[order]
    taken = np.zeros(users.size, np.bool_)
    taken[order] = middle <= 2 * how.properties * user.size
    return np.where(taken[place] & fits, own[place], ANY)


def _chosen(how: OnNodes, share: str, numbers: Int64) -> Bool:
    """Return the mask of jobs or users that draw a number below a share."""
    part: float = getattr(how, share)
    below: Bool = (_raw(how, share, numbers) >> np.uint64(11)).astype(np.float64) < part * 2.0**53
    return below


def _between(how: OnNodes, what: str, numbers: Int64, least: int, most: int) -> Int64:
    """Return a uniform whole number from least to most for each job."""
    span = np.uint64(most - least + 1)
    # The result comes from the high bits of a 32-bit draw, in whole numbers, and is equal on every
    # machine.
    drawn = ((_raw(how, f"{what} drawn", numbers) >> np.uint64(32)) * span) >> np.uint64(32)
    between: Int64 = drawn.astype(np.int64) + least
    return between


def _raw(how: OnNodes, purpose: str, numbers: Int64) -> Any:
    """Return the draw of each job or user for a purpose, uint64[n]."""
    return philox("on nodes", how.seed, purpose).random_raw(DRAWS)[numbers % DRAWS]
