"""Logs of jobs on a network: a CSV table with the origin of each job, and the clusters as TOML.

The same format, with the additional columns `SCHEDULED`, holds a schedule.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from schedfarm.core.checks import whole
from schedfarm.core.errors import InputError
from schedfarm.core.folded import plain
from schedfarm.core.logs.machine import (
    Machine,
    check_keys,
    head_of,
    machine_file,
    parsed,
    quoted,
    time_of,
    write_beside,
)
from schedfarm.core.logs.rows import Parsed
from schedfarm.core.logs.table import (
    Form,
    choice_column,
    read_table,
    share_column,
    share_word,
    user_words,
    whole_column,
)
from schedfarm.core.logs.table_schedules import table_files
from schedfarm.core.machines.network.platform import Network
from schedfarm.core.machines.platform import Platform
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.columns import UNKNOWN
from schedfarm.core.workload.workload import Workload

DIGITS = 3
"""Decimals of a share: communication and all-to-all traffic are counted in thousandths."""

KEYS = ("epoch", "max_estimate", "clusters")
"""Keys of the machine's file."""

ABOUT = ("name", "processors", "link")
"""Keys of a cluster."""


def _form(platform: Network) -> Form:
    """Return the columns of a log for some clusters."""
    places = {name: k for k, name in enumerate(platform.places)}
    return Form(
        "a log of jobs on clusters",
        needed=("submit", "run", "procs", "origin"),
        columns={
            "job": whole_column("job", 1),
            "submit": whole_column("submit", 0),
            "run": whole_column("run", 0),
            "estimate": whole_column("estimate", 0, empty=UNKNOWN),
            "procs": whole_column("procs", 1),
            "origin": choice_column("origin", places, "there is no such cluster"),
            "communication": share_column("communication", DIGITS, 0, "for none"),
            "bandwidth": whole_column("bandwidth", 0, empty=0),
            "alltoall": share_column("alltoall", DIGITS, 0, "for none"),
        },
    )


def parse_clusters(path: str | os.PathLike[str], platform: Platform | None) -> Parsed:
    """Read the rows of a log; the clusters are given, or read from the file next to the log."""
    # If the clusters are given, the file is not needed.
    found = Machine(platform) if isinstance(platform, Network) else read_network(machine_file(path))
    table = read_table(path, _form(found.platform))
    columns, count = table.columns, table.columns["submit"].size
    if (columns["job"] == UNKNOWN).all():
        columns["job"] = np.arange(1, count + 1)
    columns |= {
        "requested": columns["procs"],
        "allocated": np.full(count, UNKNOWN),
        "request_time": columns["estimate"],
        **table.waits,
    }
    return Parsed(
        columns,
        platform=found.platform,
        max_estimate=found.limit,
        epoch=found.epoch,
        names=table.names,
        table=table,
    )


def write_clusters(
    workload: Workload,
    path: str | os.PathLike[str],
    schedule: Schedule | None = None,
    notes: Mapping[str, str] | None = None,
) -> None:
    """Write jobs on a network, or their schedule, as CSV, and the clusters as a TOML file.

    The TOML file is next to the CSV file. Equal jobs give equal bytes, and `read_log` gives an
    equal workload: the run time of a killed job is written as its estimate + 1 s.

    Parameters
    ----------
    workload : Workload
        The jobs, on a network.
    path : path
        The CSV file to make or replace.
    schedule : Schedule, optional
        A schedule of this workload.
    notes : mapping of str to str, optional
        Comments at the head of the TOML, such as the policy of the schedule.

    Raises
    ------
    InputError
        If a file cannot be written, or the format cannot represent the workload.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from schedfarm.core import read_log
    >>> w = Workload.from_columns(submit=[0], run=[1], estimate=[2], procs=[4], origin=[1],
    ...                           bandwidth=[7], platform=Network([2, 2], ["a", "b"]))
    >>> with TemporaryDirectory() as folder:
    ...     write_clusters(w, folder + "/one.csv")
    ...     read_log(folder + "/one.csv").digest() == w.digest()
    True
    """
    write_beside(Path(path), *clusters_bytes(workload, schedule, notes))


def clusters_bytes(
    workload: Workload,
    schedule: Schedule | None = None,
    notes: Mapping[str, str] | None = None,
) -> tuple[bytes, bytes]:
    """Return the contents of the CSV and the TOML file that `write_clusters` writes."""
    return table_files(workload, Network, _written, _text, schedule, notes)


def read_network(path: str | os.PathLike[str]) -> Machine[Network]:
    """Read clusters from a TOML file with the keys `KEYS`.

    Each ``[[clusters]]`` has `name`, `processors` and `link`, kbit/s. Either all clusters have a
    link, or no cluster has one.
    """
    source = os.fspath(path)
    text = parsed(source, "clusters")
    try:
        check_keys(text, KEYS, "the file")
        return Machine(
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


def _text(machine: Machine[Network], notes: Mapping[str, str]) -> str:
    """Return the content of a file for `read_network`."""
    platform = machine.platform
    parts = head_of(machine, "max_estimate", notes)
    for place, (name, size) in enumerate(zip(platform.places, platform.sizes, strict=True)):
        named = quoted(plain(name, "the name of a cluster"))
        link = f"\nlink = {platform.links[place]}" if platform.links else ""
        parts.append(f"[[clusters]]\nname = {named}\nprocessors = {size}{link}")
    return "\n\n".join(parts) + "\n"


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
