"""Reading and writing of schedules on several places, as columns of a table."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from schedfarm.core.arrays import Int8
from schedfarm.core.errors import InputError
from schedfarm.core.folded import unfolded
from schedfarm.core.logs.clean import Clean
from schedfarm.core.logs.formats import FORMATS
from schedfarm.core.logs.machine import Machine
from schedfarm.core.logs.read import format_of, read_as
from schedfarm.core.logs.rows import SHOWN, Kept
from schedfarm.core.logs.schedules import KILL_MARK, LoggedSchedule
from schedfarm.core.logs.table import SCHEDULED, Table, table_bytes
from schedfarm.core.machines.platform import Platform
from schedfarm.core.names import choices
from schedfarm.core.schedule import Schedule, Segments, State
from schedfarm.core.workload.columns import UNKNOWN
from schedfarm.core.workload.workload import Workload

STATES = {state.name.lower(): state for state in State}
"""Spellings of the states of jobs."""

_ON = re.compile(r"([^*]+)(?:\*([1-9]\d{0,9}))?", re.ASCII)


def read_table_schedule(
    path: str | os.PathLike[str], processors: int | None, clean: Clean
) -> LoggedSchedule:
    """Read the schedule in the columns `start`, `end`, `state` and `on` (the places) of a table."""
    found = read_as(path, FORMATS[format_of(path)], processors, clean=clean)
    table, kept, work = found.parsed.table, found.kept, found.workload
    for name in SCHEDULED:
        if name not in table.columns and name not in table.words:
            raise InputError(
                f"{table.source} has no column {name!r}; a schedule on {work.platform.part}s has "
                f"{', '.join(SCHEDULED)}"
            )
    state = _states(table)[kept.place]
    run = kept["run"] + clean.run_plus
    return LoggedSchedule(
        work,
        "",
        kept["start"],
        np.zeros(len(work), np.bool_),
        overrun=np.where(work.killed, run - work.estimate - KILL_MARK, 0),
        end=kept["end"],
        state=state,
        segments=_segments(table, kept, work),
    )


def table_files(
    workload: Workload,
    kind: type[Any],
    columns: Callable[[Workload], dict[str, list[object]]],
    text: Callable[[Machine[Any], Mapping[str, str]], str],
    schedule: Schedule | None,
    notes: Mapping[str, str] | None,
) -> tuple[bytes, bytes]:
    """Return the bytes of a table of jobs on a kind of platform, and of the machine's file."""
    platform = workload.platform
    if not isinstance(platform, kind):
        raise InputError(
            f"workload {workload.name!r} is on a platform of kind {platform.name!r}; this "
            f"format is for jobs on a platform of kind {kind.name!r}"
        )
    if schedule is not None and schedule.workload.digest() != workload.digest():
        raise InputError(f"workload {workload.name!r}: the schedule is of other jobs")
    written = columns(workload) | ({} if schedule is None else written_schedule(schedule))
    machine = Machine(platform, workload.epoch, workload.max_estimate)
    return table_bytes(written), text(machine, notes or {}).encode()


def written_schedule(schedule: Schedule) -> dict[str, list[object]]:
    """Return the columns `SCHEDULED` of a table, in the order of the workload's jobs."""
    parts, places = schedule.segments, schedule.workload.platform.places
    on: list[list[str]] = [[] for _ in range(len(schedule.workload))]
    if parts is not None:
        rows = zip(parts.job.tolist(), parts.place.tolist(), parts.procs.tolist(), strict=True)
        for job, place, procs in rows:
            on[job].append(f"{places[place]}*{procs}")
    return {
        "start": ["" if at < 0 else at for at in schedule.start.tolist()],
        "end": ["" if at < 0 else at for at in schedule.end.tolist()],
        "state": [State(code).name.lower() for code in schedule.state.tolist()],
        "on": [" ".join(words) for words in on],
    }


def _states(table: Table) -> Int8:
    words, which = table.words["state"]
    started = (table.columns["start"] >= 0) & (table.columns["end"] >= 0)
    known = np.array([STATES.get(word, UNKNOWN) for word in words], np.int8)
    found = known[which]
    wrong = (found == UNKNOWN) | ((found != State.REFUSED) & ~started)
    if wrong.any():
        row = int(wrong.argmax())
        where, word = table.at(row), table.word("state", row)
        if word not in STATES:
            raise InputError(f"{where}: state is {word[:SHOWN]!r}; {choices(word, STATES)}")
        raise InputError(f"{where}: a job that is {word} has a start and an end; give both")
    return found


def _segments(table: Table, kept: Kept, work: Workload) -> Segments:
    rows: list[tuple[int, int, int]] = []
    for j, row in enumerate(kept.place.tolist()):
        words = table.word("on", row).split()
        found = _parts(words, int(work.weight[j]), work.platform, f"{table.at(row)}: on")
        rows += sorted((j, *one) for one in found)
    job, place, procs = np.array(rows, np.int64).reshape(-1, 3).T
    return Segments(job.copy(), place.copy(), procs.copy())


def _parts(
    words: Iterable[str], weight: int, platform: Platform, where: str
) -> list[tuple[int, int]]:
    places, part = {name: k for k, name in enumerate(platform.places)}, platform.part
    parts = []
    for word in words:
        found = _ON.fullmatch(word)
        if found is None:
            raise InputError(
                f"{where} holds {word[:SHOWN]!r}; give {part.upper()} or {part.upper()}*PROCESSORS"
            )
        for name in unfolded(found[1], where):
            if name not in places:
                near = choices(name, places) if len(places) < 20 else f"no such {part}"
                raise InputError(f"{where} names the {part} {name!r}; {near}")
            parts.append((places[name], int(found[2] or weight)))
    return parts
