"""How far a store is: cells done, failed and missing, from its records alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from farm.store.records import Record
from farm.store.skeleton import check_metadata
from farm.store.store import Store
from farm.watching.events import Begin, read_events


@dataclass(frozen=True)
class Failure:
    """Name a cell that failed, and why.

    Parameters
    ----------
    trace, load, policy : str
        Labels.
    resample : int
        Number.
    error : str
        Kind and message.
    traceback : str
        Where it happened.
    """

    trace: str
    resample: int
    load: str
    policy: str
    error: str
    traceback: str


@dataclass(frozen=True)
class Status:
    """Say how far a store is.

    Parameters
    ----------
    campaign, sha256 : str
        Name of its campaign, and the SHA-256 of the campaign's text as last run.
    cells, done, failed, missing : int
        Counts; cells = done + failed + missing.
    jobs : int
        Jobs simulated in the cells that are done.
    seconds : float
        CPU time that their simulations took, s.
    wall : float
        Time that runs have worked on the store, s, by its log of events; a run that was killed
        counts until its last event.
    traces : dict of str to dict
        The counts for each trace.
    origins : tuple of dict
        Each host and set of versions that blocks were computed by, and how many `blocks`; one
        that was filled by several counts for each.
    failures : tuple of Failure
        Every failed cell.
    """

    campaign: str
    sha256: str
    cells: int
    done: int
    failed: int
    missing: int
    jobs: int
    seconds: float
    wall: float
    traces: dict[str, dict[str, int]]
    origins: tuple[dict[str, Any], ...]
    failures: tuple[Failure, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return asdict(self)


def status(store: str | Path) -> Status:
    """Count a store's cells by their records.

    Parameters
    ----------
    store : str or Path
        The folder.

    Returns
    -------
    Status
        As of now; a run may be going on.

    Raises
    ------
    InputError
        If it is not a store, lacks arrays, or a record in it is another store's.
    """
    opened = Store.open(store)
    check_metadata(opened)
    traces = {
        t: {"cells": opened.cells_of(t), "done": 0, "failed": 0} for t in opened.axes["trace"]
    }
    failures: list[Failure] = []
    jobs, seconds = 0, 0.0
    origins: Counter[tuple[tuple[str, str], ...]] = Counter()
    for record in opened.iterate_records():
        block, bad = record.head.block, len(record.head.failed)
        origins.update(tuple(one.items()) for one in record.body.origins)
        if not block.product.policies:
            continue
        counts = traces[block.trace]
        counts["done"] += len(record.head.span) - bad
        counts["failed"] += bad
        jobs += int(record.body.jobs.sum()) if block.product.simulates else 0
        seconds += record.body.seconds
        failures += _failures(record)
    for counts in traces.values():
        counts["missing"] = counts["cells"] - counts["done"] - counts["failed"]
    total = {
        key: sum(t[key] for t in traces.values()) for key in ("cells", "done", "failed", "missing")
    }
    return Status(
        campaign=opened.campaign,
        sha256=opened.digest,
        **total,
        jobs=jobs,
        seconds=seconds,
        wall=_wall(opened.path),
        traces=traces,
        origins=tuple({**dict(known), "blocks": n} for known, n in sorted(origins.items())),
        failures=tuple(failures),
    )


def _wall(store: Path) -> float:
    total, last = 0.0, 0.0
    for event in read_events(store)[0]:
        if not isinstance(event, Begin):
            total += event.time - last
        last = event.time
    return round(total, 3)


def _failures(record: Record) -> list[Failure]:
    cells, trace = record.head.span.cells, record.head.block.trace
    return [
        Failure(trace, *cells[place], f"{error['type']}: {error['message']}", error["traceback"])
        for place, error in sorted(record.body.errors.items())
    ]
