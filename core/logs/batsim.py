"""Batsim's workload files: JSON with jobs, and with profiles for their run times.

https://batsim.readthedocs.io/en/latest/input-workload.html
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.errors import InputError
from schedfarm.core.logs.packed import read_bytes, unpacked, write_log
from schedfarm.core.logs.rows import SHOWN, Kept, Parsed, number_words, whole_field
from schedfarm.core.logs.swf import check_killed
from schedfarm.core.workload.columns import UNKNOWN
from schedfarm.core.workload.workload import Workload

DELAYS = ("delay", "DelayProfile")
"""Types of profiles with a given run time; the second name is the name in Batsim 5."""

SEQUENCES = ("composed", "SequentialCompositionProfile")
"""Types of profiles that run other profiles in sequence."""

LIMIT = "max_estimate"
"""Additional key for the largest estimate on the machine, s; Batsim ignores unknown keys."""

INSTANT = "0.001"
"""Delay for a run time of 0 s, s: Batsim refuses 0, and this module truncates decimals."""

DEEPEST = 50
"""Largest depth of nested sequences; a deeper one is a cycle."""


class _Number(str):
    """Hold a number as text, so that no digit is lost."""

    __slots__ = ()


def parse_batsim(path: str | os.PathLike[str]) -> Parsed:
    """Read the jobs of a workload file, in the order of the file."""
    source = os.fspath(path)
    # Names in JSON may contain line ends other than newlines.
    text = unpacked(read_bytes(path), source).removeprefix(b"\xef\xbb\xbf")
    table = _table(text, source)
    jobs, profiles = table.get("jobs"), table.get("profiles")
    if not isinstance(jobs, list) or not isinstance(profiles, dict):
        raise InputError(
            f"{source}: a workload of Batsim has a list 'jobs' and a table 'profiles' of JSON"
        )
    runs = _Runs(source, profiles)
    rows, users, depending = [], [], []
    identifiers: dict[str, None] = {}
    for place, job in enumerate(jobs, 1):
        if not isinstance(job, dict):
            raise InputError(f"{source}: job {place} of the list is not a table of JSON")
        name = job.get("id")
        if not isinstance(name, str):
            why = "without id" if name is None else "with an id that is neither text nor a number"
            raise InputError(f"{source}: job {place} of the list is {why}; give each job its own")
        if name in identifiers:
            raise InputError(
                f"{source}: job {place} of the list is the second of the id {name[:SHOWN]!a}; give "
                "each job its own"
            )
        identifiers[name] = None
        where = f"{source}, job {name[:SHOWN]}"
        submit, procs = (_whole(job, key, where) for key in ("subtime", "res"))
        rows.append((submit, runs.of(job.get("profile"), where), procs, _walltime(job, where)))
        extra = _extra(job.get("extra_data"))
        users.append(_word(job.get("user", extra.get("user"))))
        depending.append(bool(job.get("dependencies", extra.get("dependencies"))))
    if not rows:
        raise InputError(f"{source} holds no job; give at least one in 'jobs'")
    submit, run, procs, asked = np.array(rows, np.int64).T
    # The part before ! names the workload, if several workloads are simulated together.
    job, _ = number_words([name.rpartition("!")[2] for name in identifiers])
    user, names = number_words(users)
    columns = {"job": job, "submit": submit, "run": run, "allocated": procs, "requested": procs}
    columns |= {"request_time": asked, "user": user}
    columns["depending"] = np.array(depending, np.int64)
    size = _whole(table, "nb_res", source, least=1) if "nb_res" in table else None
    limit = _whole(table, LIMIT, source) if LIMIT in table else UNKNOWN
    return Parsed(
        columns,
        processors=size,
        max_estimate=limit,
        names={"user": names} if names else {},
        ignored=_ignored,
    )


def _table(text: bytes, source: str) -> dict[str, Any]:
    def constant(word: str) -> None:
        raise InputError(f"{source} holds {word}; give finite numbers")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        table = dict(pairs)
        if len(table) < len(pairs):
            seen: set[str] = set()
            for key, _ in pairs:
                if key in seen:
                    break
                seen.add(key)
            raise InputError(f"{source}: key {key[:SHOWN]!a} occurs twice in a table; keep one")
        return table

    try:
        table = json.loads(
            text.decode(errors="replace"),
            parse_float=_Number,
            parse_int=_Number,
            parse_constant=constant,
            object_pairs_hook=unique,
        )
    except ValueError as error:
        raise InputError(f"{source}: damaged, or not JSON ({error})") from None
    except RecursionError:
        raise InputError(f"{source}: lists or tables are nested too deeply") from None
    if not isinstance(table, dict):
        raise InputError(f"{source}: a workload of Batsim is a table of JSON")
    return table


def _whole(table: Mapping[str, Any], key: str, where: str, *, least: int | None = None) -> int:
    """Return a number without its decimals."""
    given = table.get(key)
    if not isinstance(given, _Number):
        said = "missing" if given is None else f"{str(given)[:SHOWN]!a}"
        raise InputError(f"{where}: {key} is {said}; give a number")
    value = whole_field(given, f"{where}: {key}")
    if least is not None and value < least:
        raise InputError(f"{where}: {key} is {given[:SHOWN]}; give a number of at least {least}")
    return value


def _walltime(job: Mapping[str, Any], where: str) -> int:
    """Return the requested time, s; values between 0 and 1 count as 1, not as a missing request."""
    if job.get("walltime") is None:
        return UNKNOWN
    value = _whole(job, "walltime", where)
    exact = Decimal(job["walltime"])
    if exact != UNKNOWN and exact <= 0:
        raise InputError(
            f"{where}: walltime is {job['walltime'][:SHOWN]}; give seconds above 0, or -1 for none"
        )
    return value if exact < 0 else max(1, value)


class _Runs:
    """Compute the run times of profiles, each only once."""

    def __init__(self, source: str, profiles: Mapping[str, Any]) -> None:
        self._source, self._profiles = source, profiles
        self._known: dict[str, tuple[Decimal, int]] = {}

    def of(self, profile: Any, where: str) -> int:
        """Return the run time of a job's profile, s, without decimals."""
        seconds, _ = self._found(profile, where, 0)
        return whole_field(str(seconds), f"{where}: run time")

    def _found(self, profile: Any, where: str, depth: int) -> tuple[Decimal, int]:
        """Return the run time of a profile, and the depth of its nested sequences."""
        if not isinstance(profile, str) or profile not in self._profiles:
            raise InputError(f"{where}: 'profiles' has no profile {str(profile)[:SHOWN]!a}")
        if profile not in self._known:
            self._known[profile] = self._computed(profile, depth)
        return self._known[profile]

    def _computed(self, profile: str, depth: int) -> tuple[Decimal, int]:
        where = f"{self._source}, profile {profile[:SHOWN]!a}"
        row = self._profiles[profile]
        kind = row.get("type") if isinstance(row, dict) else None
        if kind in DELAYS:
            _whole(row, "delay", where, least=0)
            return Decimal(row["delay"]), 0
        if kind not in SEQUENCES:
            raise InputError(
                f"{where}: type {str(kind)[:SHOWN]!a} has no run time without a simulation of the "
                f"machine; give profiles of type {DELAYS[0]!r}, or {SEQUENCES[0]!r} of these"
            )
        parts = row.get("seq")
        refusal = InputError(
            f"{where}: give 'seq' as a list of profiles, at most {DEEPEST} within each other"
        )
        if not isinstance(parts, list) or not parts or depth == DEEPEST:
            raise refusal
        repeat = _whole(row, "repeat", where, least=1) if "repeat" in row else 1
        found = [self._found(one, where, depth + 1) for one in parts]
        levels = 1 + max(deep for _, deep in found)
        # The argument `depth` does not count the sequences inside profiles that were computed
        # before.
        if levels > DEEPEST:
            raise refusal
        return repeat * sum((seconds for seconds, _ in found), Decimal(0)), levels


def _extra(given: Any) -> Mapping[str, Any]:
    """Return the further data of a job from a table or its JSON text; ignore other texts."""
    if isinstance(given, str) and given.lstrip().startswith("{"):
        try:
            given = json.loads(given, parse_int=_Number, parse_float=_Number)
        except (ValueError, RecursionError):
            return {}
    return given if isinstance(given, dict) else {}


def _word(given: Any) -> str:
    return given if isinstance(given, str) else ""


def _ignored(kept: Kept) -> dict[str, int]:
    count = int(kept["depending"].sum())
    return {"with a dependency": count} if count else {}


def write_batsim(workload: Workload, path: str | os.PathLike[str]) -> None:
    """Write a workload file of Batsim, with one profile of type `delay` per run time.

    `read_log` gives an equal workload if the jobs are on one pool, have distinct numbers, and have
    no columns that the format lacks, such as group, queue and partition. The delay of a killed job
    is its walltime + 1 s. The delay for a run time of 0 s is 1 ms, since Batsim refuses 0. A job
    that requested 0 s has no walltime. Jobs keep distinct numbers; if some numbers are equal, as in
    resamples, jobs are numbered by position. The user is written as `extra_data`.

    Parameters
    ----------
    workload : Workload
        The jobs; of a grid only the number of processors is kept.
    path : path
        The file to make or replace; gzip if it ends in ``.gz``.

    Raises
    ------
    InputError
        If the file cannot be written, if the jobs request nodes, links or resources, or if the run
        time of a killed job differs from its estimate.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from schedfarm.core import read_log
    >>> w = Workload.from_columns(submit=[0], run=[1], estimate=[2], procs=[1], processors=2)
    >>> with TemporaryDirectory() as folder:
    ...     write_batsim(w, folder + "/one.json")
    ...     read_log(folder + "/one.json").digest() == w.digest()
    True
    """
    write_log(path, batsim_bytes(workload))


def batsim_bytes(workload: Workload) -> bytes:
    """Return the uncompressed content of the file that `write_batsim` writes.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[3], run=[1], estimate=[2], procs=[1], processors=2)
    >>> print(batsim_bytes(w).decode().splitlines()[4])
    {"id": "1", "subtime": 3, "walltime": 2, "res": 1, "profile": "1"}
    """
    platform = workload.platform
    if platform.asks:
        raise InputError(
            f"workload {workload.name!r}: Batsim's workloads cannot hold the requests of jobs on "
            f"a platform of kind {platform.name!r}"
        )
    check_killed(workload)
    ran = workload.run + workload.killed
    texts = _texts(workload, ran)
    profiles = [
        f'"{run}": {{"type": "{DELAYS[0]}", "delay": {run or INSTANT}}}'
        for run in np.unique(ran).tolist()
    ]
    lines = [
        f'{{"description": {json.dumps(workload.name)},',
        f'"nb_res": {workload.processors},',
        f'"{LIMIT}": {workload.max_estimate},',
        '"jobs": [',
        ",\n".join(texts),
        '],\n"profiles": {',
        ",\n".join(profiles),
        "}}\n",
    ]
    return "\n".join(lines).encode()


def _texts(workload: Workload, ran: Int64) -> Sequence[str]:
    """Return the line of each job."""
    job = workload.job
    if np.unique(job).size < job.size:
        job = np.arange(1, job.size + 1)
    columns = (job, workload.submit, workload.estimate, workload.procs, ran, workload.user)
    lists, texts = (column.tolist() for column in columns), []
    for number, submit, estimate, procs, run, user in zip(*lists, strict=True):
        wall = f'"walltime": {estimate}, ' if estimate else ""
        extra = "" if user == UNKNOWN else f', "extra_data": "{{\\"user\\": {user}}}"'
        texts.append(
            f'{{"id": "{number}", "subtime": {submit}, {wall}"res": {procs}, '
            f'"profile": "{run}"{extra}}}'
        )
    return texts
