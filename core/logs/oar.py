"""Logs of jobs on nodes, such as those of OAR: a CSV file, and the machine as a TOML file.

The same format, with the additional columns `SCHEDULED`, holds a schedule.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from schedfarm.core.arrays import Bool, Int64
from schedfarm.core.errors import InputError
from schedfarm.core.logs.machine import (
    Machine,
    machine_file,
    machine_text,
    read_machine,
    write_beside,
)
from schedfarm.core.logs.rows import Parsed
from schedfarm.core.logs.table import (
    Form,
    Table,
    choice_column,
    read_table,
    share_column,
    share_word,
    user_words,
    whole_column,
)
from schedfarm.core.logs.table_schedules import table_files
from schedfarm.core.machines.nodes.platform import ANY, MOST, Nodes
from schedfarm.core.machines.platform import Platform
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.columns import UNKNOWN, is_filled
from schedfarm.core.workload.workload import Workload

REASONS = {
    "too heavy": "more processors on each node than any node of its set has",
    "too few nodes": "more nodes than its set has with that many processors",
}
"""Reasons to drop a row, in addition to the reasons for every format."""

DIGITS = 6
"""Decimals of the serial part, which is counted in millionths."""


def _form(platform: Nodes) -> Form:
    """Return the columns of a log for a machine."""
    sets = {"": ANY, **{name: k for k, name in enumerate(platform.set_names)}}
    return Form(
        "a log of jobs on nodes",
        needed=("job", "submit", "nodes", "walltime", "run"),
        columns={
            "job": whole_column("job", 1),
            "submit": whole_column("submit", 0),
            "nodes": whole_column("nodes", 1, MOST),
            "weight": whole_column("weight", 1, MOST, empty=1),
            "walltime": whole_column("walltime", 1),
            "run": whole_column("run", 0),
            "properties": choice_column(
                "properties", sets, "the machine has no such set", "nothing for any node"
            ),
            "reserved": whole_column("reserved", 0, empty=UNKNOWN),
            "serial": share_column("serial", DIGITS, UNKNOWN, "for a job that is not moldable"),
        },
    )


def parse_oar(path: str | os.PathLike[str], platform: Platform | None) -> Parsed:
    """Read the rows of a log; the machine is given, or read from the file next to the log."""
    # If the machine is given, the file is not needed.
    found = Machine(platform) if isinstance(platform, Nodes) else read_machine(machine_file(path))
    table = read_table(path, _form(found.platform))
    columns = {**table.columns, **_requests(table)}
    return Parsed(
        columns,
        platform=found.platform,
        max_estimate=found.limit,
        epoch=found.epoch,
        names=table.names,
        faults=_faults(columns, found.platform),
        table=table,
    )


def write_oar(
    workload: Workload,
    path: str | os.PathLike[str],
    schedule: Schedule | None = None,
    notes: Mapping[str, str] | None = None,
) -> None:
    """Write jobs on nodes, or their schedule, as CSV, and the machine as a TOML file.

    The TOML file is next to the CSV file. Equal jobs give equal bytes, and `read_log` gives an
    equal workload: the run time of a killed job is written as its walltime + 1 s.

    Parameters
    ----------
    workload : Workload
        The jobs, on a platform of nodes.
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
    >>> w = Workload.from_columns(submit=[0], run=[1], estimate=[2], procs=[4], weight=[2],
    ...                           platform=Nodes([2, 2], ["n1", "n2"]))
    >>> with TemporaryDirectory() as folder:
    ...     write_oar(w, folder + "/one.csv")
    ...     read_log(folder + "/one.csv").digest() == w.digest()
    True
    """
    write_beside(Path(path), *oar_bytes(workload, schedule, notes))


def oar_bytes(
    workload: Workload,
    schedule: Schedule | None = None,
    notes: Mapping[str, str] | None = None,
) -> tuple[bytes, bytes]:
    """Return the contents of the CSV and the TOML file that `write_oar` writes."""
    return table_files(workload, Nodes, _written, machine_text, schedule, notes)


def _requests(table: Table) -> dict[str, Int64]:
    """Return the columns of a workload that are computed from the file's columns."""
    submit, reserved = table.columns["submit"], table.columns["reserved"]
    late = (reserved >= 0) & (reserved < submit)
    if late.any():
        j = int(late.argmax())
        raise InputError(
            f"{table.at(j)}: reserved is {reserved[j]}, before the submit {submit[j]}; give an "
            "instant from then on, or nothing"
        )
    return {
        "requested": table.columns["nodes"] * table.columns["weight"],
        "allocated": np.full(submit.size, UNKNOWN),
        "request_time": table.columns["walltime"],
        "reserved": np.where(reserved < 0, -1, reserved - submit),
        **table.waits,
    }


def _faults(columns: Mapping[str, Int64], platform: Nodes) -> dict[str, Bool]:
    """Return the mask of rows with each fault of `REASONS`, bool[n] each."""
    asked = np.stack([columns[name] for name in ("properties", "weight")], axis=1)
    kinds, kind = np.unique(asked, axis=0, return_inverse=True)
    enough = [int(platform.candidates(row, weight).sum()) for row, weight in kinds.tolist()]
    there = np.array(enough, np.int64)[kind.reshape(-1)]
    found = (there == 0, there < columns["nodes"])
    return dict(zip(REASONS, found, strict=True))


def _written(work: Workload) -> dict[str, list[object]]:
    platform = work.platform
    assert isinstance(platform, Nodes)
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
