"""Logs of jobs on a network: a table that says where each comes from, and the clusters beside it.

The same form holds a schedule: with the columns `SCHEDULED`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.checks import whole
from schedfarm.core.errors import InputError
from schedfarm.core.logs.clean import AS_HERE, Clean
from schedfarm.core.logs.folded import plain
from schedfarm.core.logs.machine import (
    check_keys,
    comments,
    machine_file,
    parsed,
    quoted,
    time_of,
    write_beside,
)
from schedfarm.core.logs.rows import (
    Kept,
    check_sizes,
    chosen_rows,
    kept_rows,
    number_words,
    to_workload,
)
from schedfarm.core.logs.schedules import LoggedSchedule
from schedfarm.core.logs.table import (
    SHOWN,
    Form,
    Table,
    read_table,
    share_word,
    table_bytes,
    user_words,
)
from schedfarm.core.logs.table_schedules import told_schedule, written_schedule
from schedfarm.core.machines.network.platform import Network
from schedfarm.core.names import choices
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.columns import UNKNOWN
from schedfarm.core.workload.workload import Workload

DIGITS = 3
"""Decimals of a part: communication and what goes to all are counted in thousandths."""

FORM = Form(
    "a log of jobs on clusters",
    needed=("submit", "run", "procs", "origin"),
    jobs=(
        *("job", "submit", "run", "estimate", "procs"),
        *("origin", "communication", "bandwidth", "alltoall", "user"),
    ),
    least={"job": 1, "submit": 0, "run": 0, "estimate": 0, "procs": 1, "bandwidth": 0},
    most={},
    empty={"estimate": UNKNOWN, "bandwidth": 0},
)
"""The columns of such a log."""

KEYS = ("epoch", "max_estimate", "clusters")
"""What the file of the machine may say."""

ABOUT = ("name", "processors", "link")
"""What it may say of a cluster."""


class Clusters(NamedTuple):
    """Hold what the file of the machine says.

    platform: the network. epoch: Unix time of instant 0, s, -1 where unknown. max_estimate: largest
    that it allows, s, -1 for that of the jobs.
    """

    platform: Network
    epoch: int
    max_estimate: int


def read_clusters(
    path: str | os.PathLike[str],
    *,
    processors: int | None = None,
    platform: Network | None = None,
    rows: tuple[int, int] | None = None,
    jobs: int | None = None,
    clean: Clean = AS_HERE,
) -> Workload:
    r"""Read a log of jobs on clusters with links, plain or gzip.

    A job is submitted to the cluster that `origin` names and asks for `procs` processors for
    `estimate` s, by default its run time. `communication` is the part of its run time that is
    communication, `bandwidth` what each of its processors sends then, kbit/s, `alltoall` the part
    of that which goes to all others alike; each is 0 where nothing is said.

    Parameters
    ----------
    path : path
        The log; the clusters are in the file of the same name that ends in ``.toml``.
    processors : int, optional
        Never given: such a log has clusters.
    platform : Network, optional
        The clusters, where they are not those of the file beside.
    rows, jobs, clean
        As for `core.logs.swf.read_swf`.

    Returns
    -------
    Workload
        The jobs, sorted by (submit, position); numbered by their place in the file where it gives
        no number.

    Raises
    ------
    InputError
        If a file is missing or damaged, a value is out of range, a cluster is unknown, or no job is
        left.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "two.csv"
    ...     _ = path.write_text("submit,run,procs,origin,communication\n0,9,2,b,0.3\n5,9,1,a,")
    ...     text = '[[clusters]]\nname = "{}"\nprocessors = 4\nlink = 1000\n'
    ...     _ = path.with_suffix(".toml").write_text(text.format("a") + text.format("b"))
    ...     w = read_clusters(path)
    >>> w.origin.tolist(), w.communication.tolist(), w.platform.places, w.platform.links
    ([1, 0], [300, 0], ('a', 'b'), (1000, 1000))
    """
    _, _, workload = _read(path, processors, platform, rows, jobs, clean)
    return workload


def read_clusters_schedule(
    path: str | os.PathLike[str], processors: int | None = None, clean: Clean = AS_HERE
) -> LoggedSchedule:
    """Read a schedule of jobs on clusters: `start`, `end`, `state`, and in `on` the clusters.

    Parameters
    ----------
    path, processors, clean
        As for `read_clusters`.

    Returns
    -------
    LoggedSchedule
        The jobs, in (submit, position) order; its policy's name is empty.

    Raises
    ------
    InputError
        As `read_clusters`; or if a column is missing, a state or cluster is unknown, or a job has
        no start.
    """
    table, kept, work = _read(path, processors, None, None, None, clean)
    return told_schedule(table, kept, work, clean)


def write_clusters(
    workload: Workload,
    path: str | os.PathLike[str],
    schedule: Schedule | None = None,
    notes: Mapping[str, str] | None = None,
) -> None:
    """Write jobs on a network, or a schedule of them, as CSV, and the clusters as TOML beside it.

    The same jobs give the same bytes, and `read_clusters` gives an equal workload: a killed job's
    run time is written as its estimate + 1 s.

    Parameters
    ----------
    workload : Workload
        The jobs, on a network.
    path : path
        The CSV file to make or replace.
    schedule : Schedule, optional
        A schedule of this workload.
    notes : mapping of str to str, optional
        Comments at the head of the TOML, such as what the schedule was made by.

    Raises
    ------
    InputError
        If a file cannot be written, or the form cannot hold the workload.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> w = Workload.from_columns(submit=[0], run=[1], estimate=[2], procs=[4], origin=[1],
    ...                           bandwidth=[7], platform=Network([2, 2], ["a", "b"]))
    >>> with TemporaryDirectory() as folder:
    ...     write_clusters(w, folder + "/one.csv")
    ...     read_clusters(folder + "/one.csv").digest() == w.digest()
    True
    """
    write_beside(Path(path), *clusters_bytes(workload, schedule, notes))


def clusters_bytes(
    workload: Workload,
    schedule: Schedule | None = None,
    notes: Mapping[str, str] | None = None,
) -> tuple[bytes, bytes]:
    """Return the two files that `write_clusters` writes, the CSV and the TOML.

    Raises
    ------
    InputError
        If the form cannot hold the workload, or the schedule is of other jobs.
    """
    platform = workload.platform
    if not isinstance(platform, Network):
        raise InputError(
            f"workload {workload.name!r} is on a platform of kind {platform.name!r}; this form is "
            "for jobs on a network"
        )
    if schedule is not None and schedule.workload.digest() != workload.digest():
        raise InputError(f"workload {workload.name!r}: the schedule is of other jobs")
    columns = _written(workload)
    if schedule is not None:
        columns |= written_schedule(schedule)
    machine = Clusters(platform, workload.epoch, workload.max_estimate)
    return table_bytes(columns), _text(machine, notes or {}).encode()


def read_network(path: str | os.PathLike[str]) -> Clusters:
    """Read the clusters beside a log.

    Parameters
    ----------
    path : path
        A TOML file of the keys `KEYS`: ``[[clusters]]`` with `name`, `processors` and `link`,
        kbit/s, which all clusters have or none has.

    Raises
    ------
    InputError
        If it cannot be read, or a key or a value is wrong.
    """
    source = os.fspath(path)
    text = parsed(source, "clusters")
    try:
        check_keys(text, KEYS, "the file")
        return Clusters(
            _network(text.get("clusters")), time_of(text, "epoch"), time_of(text, "max_estimate")
        )
    except InputError as error:
        raise InputError(f"{source}: {error}") from None


def _network(groups: object) -> Network:
    if not isinstance(groups, list) or not groups:
        raise InputError(
            f"clusters is {groups!r}; give [[clusters]] with name = 'north', processors = 100 and "
            "link = 1000000"
        )
    for place, group in enumerate(groups, 1):
        check_keys(group, ABOUT, f"[[clusters]] {place}")
    names = [plain(g.get("name"), f"[[clusters]] {k}: name") for k, g in enumerate(groups, 1)]
    sizes = [_whole(group, k, "processors") for k, group in enumerate(groups, 1)]
    linked = [place for place, group in enumerate(groups, 1) if "link" in group]
    if linked and len(linked) < len(groups):
        without = next(k for k in range(1, len(groups) + 1) if k not in linked)
        raise InputError(
            f"[[clusters]] {without} has no link, and {len(linked)} others have one; give all of "
            "them one, or none for links without a limit"
        )
    links = [_whole(group, k, "link") for k, group in enumerate(groups, 1)] if linked else []
    return Network(sizes, names, links)


def _whole(group: Mapping[str, Any], place: int, key: str) -> int:
    return whole(f"[[clusters]] {place}: {key}", group.get(key), least=1)


def _text(machine: Clusters, notes: Mapping[str, str]) -> str:
    """Return the file that `read_network` reads."""
    platform = machine.platform
    times = {"epoch": machine.epoch, "max_estimate": machine.max_estimate}
    head = comments(notes) + [f"{key} = {value}" for key, value in times.items() if value >= 0]
    parts = ["\n".join(head)] if head else []
    for place, (name, size) in enumerate(zip(platform.places, platform.sizes, strict=True)):
        named = quoted(plain(name, "the name of a cluster"))
        link = f"\nlink = {platform.links[place]}" if platform.links else ""
        parts.append(f"[[clusters]]\nname = {named}\nprocessors = {size}{link}")
    return "\n\n".join(parts) + "\n"


def _read(
    path: str | os.PathLike[str],
    processors: int | None,
    platform: Network | None,
    rows: tuple[int, int] | None,
    jobs: int | None,
    clean: Clean,
) -> tuple[Table, Kept, Workload]:
    source = os.fspath(path)
    check_sizes(source, None, jobs)
    if processors is not None:
        raise InputError(
            f"{source}: processors={processors} is the size of a pool, and this log is of jobs on "
            f"clusters; leave it out, the clusters are in {machine_file(path)}"
        )
    beside = machine_file(path)
    # Of a machine that is given nothing else is asked.
    found = read_network(beside) if platform is None else Clusters(platform, -1, -1)
    table = read_table(path, FORM)
    user, names = number_words(table.words["user"])
    columns = chosen_rows(
        {**table.numbers, **_asked(table, found.platform), "user": user}, source, rows
    )
    kept = kept_rows(columns, source, found.platform.size, jobs=jobs, clean=clean)
    workload = to_workload(
        kept,
        source,
        found.platform,
        max_estimate=found.max_estimate,
        epoch=found.epoch,
        clean=clean,
        names={"user": names} if names else None,
    )
    return table, kept, workload


def _asked(table: Table, platform: Network) -> dict[str, Int64]:
    """Return the columns of jobs that follow from those of the file."""
    numbers, count = table.numbers, table.line.size
    columns = {
        "job": numbers.get("job", np.arange(1, count + 1)),
        "requested": numbers["procs"],
        "allocated": np.full(count, UNKNOWN),
        "request_time": numbers["estimate"],
        "origin": _origin(table, platform),
        "communication": table.shares("communication", DIGITS, 0, "for none"),
        "alltoall": table.shares("alltoall", DIGITS, 0, "for none"),
    }
    if "start" in numbers:
        columns["wait"] = table.waits
    return columns


def _origin(table: Table, platform: Network) -> Int64:
    place = {name: k for k, name in enumerate(platform.places)}
    words = table.words["origin"]
    for row, word in enumerate(words):
        if word not in place:
            raise InputError(
                f"{table.at(row)}: origin is {word[:SHOWN]!r}, and there is no such cluster; "
                f"{choices(word, platform.places)}"
            )
    return np.array([place[word] for word in words], np.int64)


def _written(work: Workload) -> dict[str, list[object]]:
    places = work.platform.places
    return {
        "job": work.job.tolist(),
        "submit": work.submit.tolist(),
        "run": (work.run + work.killed).tolist(),
        "estimate": work.estimate.tolist(),
        "procs": work.procs.tolist(),
        "origin": [places[c] for c in work.origin.tolist()],
        "communication": [share_word(part, DIGITS) for part in work.communication.tolist()],
        "bandwidth": work.bandwidth.tolist(),
        "alltoall": [share_word(part, DIGITS) for part in work.alltoall.tolist()],
        "user": user_words(work),
    }
