"""Logs of jobs on nodes, as an OAR site can give them: CSV, and the machine's TOML beside it.

The same form holds a schedule: with the columns `SCHEDULED`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from schedfarm.core.arrays import Bool, Int64
from schedfarm.core.errors import InputError
from schedfarm.core.logs.clean import AS_HERE, Clean
from schedfarm.core.logs.machine import (
    Machine,
    machine_file,
    machine_text,
    read_machine,
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
from schedfarm.core.machines.nodes.platform import ANY, MOST, Nodes
from schedfarm.core.names import choices
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.columns import UNKNOWN, is_filled
from schedfarm.core.workload.workload import Workload

REASONS = {
    "too heavy": "more processors on each node than any node of its set has",
    "too few nodes": "more nodes than its set has with so many processors",
}
"""Why a row cannot be simulated, beside what holds for every log."""

DIGITS = 6
"""Decimals of a serial part: it is counted in millionths."""

FORM = Form(
    "a log of jobs on nodes",
    needed=("job", "submit", "nodes", "walltime", "run"),
    jobs=(
        *("job", "submit", "nodes", "weight", "walltime", "run"),
        *("properties", "reserved", "serial", "user"),
    ),
    least={
        **dict.fromkeys(("submit", "run", "reserved"), 0),
        **dict.fromkeys(("job", "nodes", "weight", "walltime"), 1),
    },
    most={"nodes": MOST, "weight": MOST},
    empty={"weight": 1, "reserved": -1},
)
"""The columns of such a log."""


def read_oar(
    path: str | os.PathLike[str],
    *,
    processors: int | None = None,
    platform: Nodes | None = None,
    rows: tuple[int, int] | None = None,
    jobs: int | None = None,
    clean: Clean = AS_HERE,
) -> Workload:
    r"""Read a log of jobs on nodes, plain or gzip.

    A job asks for `weight` processors (1 where that is empty) on each of so many `nodes`, which
    belong to the set that `properties` names, for `walltime` s; it is killed at that. `reserved`
    is the instant that it asks for in advance, `serial` the part of its work that is not parallel,
    0 to 1, if it is moldable. What cannot run on the idle machine is dropped and counted.

    Parameters
    ----------
    path : path
        The log; the machine is in the file of the same name that ends in ``.toml``.
    processors : int, optional
        Never given: such a log has nodes.
    platform : Nodes, optional
        The machine, where it is not that of the file beside.
    rows, jobs, clean
        As for `core.logs.swf.read_swf`.

    Returns
    -------
    Workload
        The jobs, sorted by (submit, position).

    Raises
    ------
    InputError
        If a file is missing or damaged, a value is out of range, a set or a node is unknown, a
        job asks for an instant before its submission, or no job is left.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "two.csv"
    ...     _ = path.write_text("job,submit,nodes,walltime,run,reserved\n1,0,2,60,9,\n2,5,1,9,9,30")
    ...     _ = path.with_suffix(".toml").write_text('[[nodes]]\nnames = "n[1-2]"\ncapacity = 1')
    ...     w = read_oar(path)
    >>> w.name, w.procs.tolist(), w.reserved.tolist(), w.platform.places
    ('two', [2, 1], [-1, 25], ('n1', 'n2'))
    """
    _, _, workload = _read(path, processors, platform, rows, jobs, clean)
    return workload


def read_oar_schedule(
    path: str | os.PathLike[str], processors: int | None = None, clean: Clean = AS_HERE
) -> LoggedSchedule:
    """Read a schedule of jobs on nodes: `start`, `end`, `state`, and in `on` the nodes of each.

    Parameters
    ----------
    path, processors, clean
        As for `read_oar`.

    Returns
    -------
    LoggedSchedule
        The jobs, in (submit, position) order; its policy's name is empty.

    Raises
    ------
    InputError
        As `read_oar`; or if a column is missing, a state or node is unknown, or a job has no start
        and was not refused.
    """
    table, kept, work = _read(path, processors, None, None, None, clean)
    return told_schedule(table, kept, work, clean)


def write_oar(
    workload: Workload,
    path: str | os.PathLike[str],
    schedule: Schedule | None = None,
    notes: Mapping[str, str] | None = None,
) -> None:
    """Write jobs on nodes, or a schedule of them, as CSV, and the machine as TOML beside it.

    The same jobs give the same bytes, and `read_oar` gives an equal workload: a killed job's run
    time is written as its walltime + 1 s.

    Parameters
    ----------
    workload : Workload
        The jobs, on a platform of nodes.
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
    >>> w = Workload.from_columns(submit=[0], run=[1], estimate=[2], procs=[4], weight=[2],
    ...                           platform=Nodes([2, 2], ["n1", "n2"]))
    >>> with TemporaryDirectory() as folder:
    ...     write_oar(w, folder + "/one.csv")
    ...     read_oar(folder + "/one.csv").digest() == w.digest()
    True
    """
    write_beside(Path(path), *oar_bytes(workload, schedule, notes))


def oar_bytes(
    workload: Workload,
    schedule: Schedule | None = None,
    notes: Mapping[str, str] | None = None,
) -> tuple[bytes, bytes]:
    """Return the two files that `write_oar` writes, the CSV and the TOML.

    Raises
    ------
    InputError
        If the form cannot hold the workload, or the schedule is of other jobs.
    """
    platform = workload.platform
    if not isinstance(platform, Nodes):
        raise InputError(
            f"workload {workload.name!r} is on a platform of kind {platform.name!r}; this form is "
            "for jobs on nodes"
        )
    if schedule is not None and schedule.workload.digest() != workload.digest():
        raise InputError(f"workload {workload.name!r}: the schedule is of other jobs")
    columns = _written(workload, platform)
    if schedule is not None:
        columns |= written_schedule(schedule)
    machine = Machine(platform, workload.epoch, workload.max_estimate)
    return table_bytes(columns), machine_text(machine, notes or {}).encode()


def _read(
    path: str | os.PathLike[str],
    processors: int | None,
    platform: Nodes | None,
    rows: tuple[int, int] | None,
    jobs: int | None,
    clean: Clean,
) -> tuple[Table, Kept, Workload]:
    source = os.fspath(path)
    check_sizes(source, None, jobs)
    if processors is not None:
        raise InputError(
            f"{source}: processors={processors} is the size of a pool, and this log is of jobs on "
            f"nodes; leave it out, the nodes are in {machine_file(path)}"
        )
    beside = machine_file(path)
    # Of a machine that is given nothing else is asked.
    found = read_machine(beside) if platform is None else Machine(platform, -1, -1)
    table = read_table(path, FORM)
    columns = {**table.numbers, **_asked(table, found.platform)}
    user, names = number_words(table.words["user"])
    columns["user"] = user
    columns = chosen_rows(columns, source, rows)
    kept = kept_rows(
        columns,
        source,
        found.platform.size,
        jobs=jobs,
        faults=_faults(columns, found.platform),
        clean=clean,
    )
    workload = to_workload(
        kept,
        source,
        found.platform,
        max_estimate=found.max_walltime,
        epoch=found.epoch,
        clean=clean,
        names={"user": names} if names else None,
    )
    return table, kept, workload


def _asked(table: Table, platform: Nodes) -> dict[str, Int64]:
    """Return the columns of jobs that follow from those of the file."""
    numbers = table.numbers
    late = (numbers["reserved"] >= 0) & (numbers["reserved"] < numbers["submit"])
    if late.any():
        j = int(late.argmax())
        raise InputError(
            f"{table.at(j)}: reserved is {numbers['reserved'][j]}, before the "
            f"submit {numbers['submit'][j]}; give an instant from then on, or nothing"
        )
    reserved = np.where(numbers["reserved"] < 0, -1, numbers["reserved"] - numbers["submit"])
    columns = {
        "requested": numbers["nodes"] * numbers["weight"],
        "allocated": np.full(reserved.size, UNKNOWN),
        "request_time": numbers["walltime"],
        "reserved": reserved,
        "properties": _sets(table, platform),
        "serial": table.shares("serial", DIGITS, UNKNOWN, "for a job that is not moldable"),
    }
    if "start" in numbers:
        columns["wait"] = table.waits
    return columns


def _sets(table: Table, platform: Nodes) -> Int64:
    place = {"": ANY, **{name: k for k, name in enumerate(platform.set_names)}}
    words = table.words["properties"]
    for j, word in enumerate(words):
        if word not in place:
            raise InputError(
                f"{table.at(j)}: properties is {word[:SHOWN]!r}, and the machine "
                f"has no such set; {choices(word, platform.set_names, 'nothing for any node')}"
            )
    return np.array([place[word] for word in words], np.int64)


def _faults(columns: Mapping[str, Int64], platform: Nodes) -> dict[str, Bool]:
    """Return which rows have each fault of `REASONS`, bool[n] each."""
    asked = np.stack([columns[name] for name in ("properties", "weight")], axis=1)
    kinds, kind = np.unique(asked, axis=0, return_inverse=True)
    enough = [int(platform.candidates(row, weight).sum()) for row, weight in kinds.tolist()]
    there = np.array(enough, np.int64)[kind.reshape(-1)]
    found = (there == 0, there < columns["nodes"])
    return dict(zip(REASONS, found, strict=True))


def _written(work: Workload, platform: Nodes) -> dict[str, list[object]]:
    sets = [*platform.set_names, ""]
    reserved = np.where(work.reserved < 0, -1, work.submit + work.reserved)
    columns: dict[str, list[object]] = {
        "job": work.job.tolist(),
        "submit": work.submit.tolist(),
        "nodes": (work.procs // work.weight).tolist(),
        "weight": work.weight.tolist(),
        "walltime": work.estimate.tolist(),
        "run": (work.run + work.killed).tolist(),
        "properties": [sets[k] for k in work.properties.tolist()],
        "reserved": ["" if at < 0 else at for at in reserved.tolist()],
        "serial": ["" if k < 0 else share_word(k, DIGITS) for k in work.serial.tolist()],
        "user": user_words(work),
    }
    if not is_filled(work, "serial"):
        del columns["serial"]
    return columns
