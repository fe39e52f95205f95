"""What became of jobs that had several places, as columns of a table."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from schedfarm.core.arrays import Int8
from schedfarm.core.errors import InputError
from schedfarm.core.logs.clean import Clean
from schedfarm.core.logs.folded import unfolded
from schedfarm.core.logs.rows import Kept
from schedfarm.core.logs.schedules import KILL_MARK, LoggedSchedule
from schedfarm.core.logs.table import SCHEDULED, SHOWN, Table
from schedfarm.core.machines.platform import Platform
from schedfarm.core.names import choices
from schedfarm.core.schedule import Schedule, Segments, State
from schedfarm.core.workload.workload import Workload

STATES = {state.name.lower(): state for state in State}
"""How the states of jobs are written."""

_ON = re.compile(r"([^*]+)(?:\*([1-9]\d{0,9}))?", re.ASCII)


def told_schedule(table: Table, kept: Kept, work: Workload, clean: Clean) -> LoggedSchedule:
    """Return the schedule that a table tells: `start`, `end`, `state`, and in `on` the places.

    Parameters
    ----------
    table : Table
        All rows of the file.
    kept : Kept
        Those that became jobs.
    work : Workload
        The jobs.
    clean : Clean
        How rows became jobs.

    Raises
    ------
    InputError
        If a column is missing, a state or place is unknown, or a job has no start and was not
        refused.
    """
    for name in SCHEDULED:
        if name not in table.numbers and name not in table.words:
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


def written_schedule(schedule: Schedule) -> dict[str, list[object]]:
    """Return the columns `SCHEDULED` of a table, of each job in the workload's order."""
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
    found = np.zeros(table.line.size, np.int8)
    for j, word in enumerate(table.words["state"]):
        where = table.at(j)
        if word not in STATES:
            raise InputError(f"{where}: state is {word[:SHOWN]!r}; {choices(word, STATES)}")
        found[j] = STATES[word]
        if found[j] != State.REFUSED and min(table.numbers[k][j] for k in ("start", "end")) < 0:
            raise InputError(f"{where}: a job that is {word} has a start and an end; give both")
    return found


def _segments(table: Table, kept: Kept, work: Workload) -> Segments:
    rows: list[tuple[int, int, int]] = []
    for j, row in enumerate(kept.place.tolist()):
        words = table.words["on"][row].split()
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
