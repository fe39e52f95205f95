"""How far a store is: cells done, failed and missing, from its records alone."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from farm.layout import WORKLOAD_BLOCK, Block
from farm.records import Record
from farm.store import Store


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
    campaign : str
        Name of its campaign.
    cells, done, failed, missing : int
        Counts; cells = done + failed + missing.
    jobs : int
        Jobs simulated in the cells that are done.
    seconds : float
        CPU time that their simulations took, s.
    traces : dict of str to dict
        The counts for each trace.
    failures : tuple of Failure
        Every failed cell.
    """

    campaign: str
    cells: int
    done: int
    failed: int
    missing: int
    jobs: int
    seconds: float
    traces: dict[str, dict[str, int]]
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
        If it is not a store, or a record in it is another store's.
    """
    opened = Store.open(store)
    decided = {b: r for b, r in opened.read_records().items() if b.policy != WORKLOAD_BLOCK}
    per_trace = opened.cells // len(opened.axes["trace"])
    traces = {}
    for trace in opened.axes["trace"]:
        mine = [r for b, r in decided.items() if b.trace == trace]
        failed = sum(r.failed for r in mine)
        done = sum(len(r.resamples) for r in mine) - failed
        traces[trace] = {
            "cells": per_trace,
            "done": done,
            "failed": failed,
            "missing": per_trace - done - failed,
        }
    total = {
        key: sum(t[key] for t in traces.values()) for key in ("cells", "done", "failed", "missing")
    }
    return Status(
        campaign=opened.campaign,
        **total,
        jobs=sum(sum(r.jobs) for r in decided.values()),
        seconds=sum(r.seconds for r in decided.values()),
        traces=traces,
        failures=tuple(f for b, r in decided.items() for f in _failures(b, r)),
    )


def _failures(block: Block, record: Record) -> list[Failure]:
    return [
        Failure(
            block.trace,
            resample,
            block.load,
            block.policy,
            f"{error['type']}: {error['message']}",
            error["traceback"],
        )
        for resample, error in zip(record.resamples, record.errors, strict=True)
        if error is not None
    ]
