"""Status of a store: numbers of finished, failed and missing cells, from its records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from msgspec import structs

from schedfarm.core.format.names import LOCK, is_free
from schedfarm.core.format.record import Header, Record, Totals
from schedfarm.farm.store.place import Where, place_of
from schedfarm.farm.store.records import iterate_records, read_headers
from schedfarm.farm.store.store import Store
from schedfarm.farm.store.template import check_metadata
from schedfarm.farm.watching.events import Begin, Doing, End, Event, Running, now, read_events

SILENT_SECONDS = 180.0
"""Time without an event after which a run counts as ended, s; long tasks are logged each minute."""


@dataclass(frozen=True)
class Failure:
    """Hold a failed cell, the kind and message of the error, and the traceback."""

    trace: str
    resample: int
    load: str
    policy: str
    error: str
    traceback: str


@dataclass(frozen=True)
class Status:
    """Status of a store.

    Parameters
    ----------
    campaign, sha256 : str
        Name of the store's campaign, and SHA-256 of the campaign's text as of the last run.
    cells, done, failed, missing : int
        Counts; cells = done + failed + missing.
    jobs : int
        Number of jobs in the finished cells.
    seconds : float
        CPU time of the simulations of these cells, s.
    wall : float
        Total duration of the runs on the store, s, according to its log of events; a killed run
        counts until its last event.
    traces : dict of str to dict
        The same counts for each trace.
    origins : tuple of dict
        Host, versions and number of `blocks` for each host and set of versions that computed
        blocks. A block by several hosts counts for each host.
    failures : tuple of Failure
        Every failed cell.
    running : tuple of Doing
        The longest tasks of the current run, among tasks that have run for some seconds.
    precision : mapping
        Finished rounds of a campaign with requested precision, and the intervals of the last round.
    policy_names : mapping
        Names that the campaign gives to policies, by policy.
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
    running: tuple[Doing, ...] = ()
    precision: Mapping[str, Any] = field(default_factory=dict)
    policy_names: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return builtin types, for JSON."""
        return {**asdict(self), "running": [structs.asdict(one) for one in self.running]}


def status(store: Where) -> Status:
    """Return the status of a store from its records.

    Parameters
    ----------
    store : str or path
        The folder or address.

    Returns
    -------
    Status
        Present status; a run may be in progress.

    Raises
    ------
    InputError
        If the place is not a store, or if the store lacks arrays or has a record of another store.
    """
    opened = Store.open(store)
    check_metadata(opened)
    traces = {
        t: {"cells": opened.cells_of(t), "done": 0, "failed": 0} for t in opened.axes["trace"]
    }
    failures: list[Failure] = []
    jobs, seconds = 0, 0.0
    origins: Counter[tuple[tuple[str, str], ...]] = Counter()
    for head, tally, failed in _tallies(opened):
        origins.update(tuple(one.items()) for one in tally.origins)
        if not head.block.product.policies:
            continue
        counts, bad = traces[head.block.trace], len(head.failed)
        counts["done"] += len(head.span) - bad
        counts["failed"] += bad
        jobs += tally.jobs if head.block.product.simulates else 0
        seconds += tally.seconds
        failures += failed
    for counts in traces.values():
        counts["missing"] = counts["cells"] - counts["done"] - counts["failed"]
    events = read_events(opened.place)[0]
    total = {
        key: sum(t[key] for t in traces.values()) for key in ("cells", "done", "failed", "missing")
    }
    return Status(
        campaign=opened.campaign,
        sha256=opened.digest,
        **total,
        jobs=jobs,
        seconds=seconds,
        wall=_wall(events),
        traces=traces,
        origins=tuple({**dict(known), "blocks": n} for known, n in sorted(origins.items())),
        failures=tuple(failures),
        running=_running(events),
        precision=opened.precision,
        policy_names=opened.policy_names,
    )


def _tallies(store: Store) -> Iterator[tuple[Header, Totals, list[Failure]]]:
    """Yield the totals of each record, and its failures.

    Payloads take 300 bytes per cell. They are read only if a cell failed or if the header lacks
    totals.
    """
    heads, rest = read_headers(store), []
    for block, head in heads.items():
        if head.totals is None or head.failed:
            rest.append(block)
        else:
            yield head, head.totals, []
    for record in iterate_records(store, rest):
        yield record.header, record.totals, _failures(record)


def _wall(events: Iterable[Event]) -> float:
    total, last = 0.0, 0.0
    for event in events:
        if not isinstance(event, Begin):
            # The clock may have been set back between the two events.
            total += max(0.0, event.time - last)
        last = event.time
    return round(total, 3)


def _running(events: list[Event]) -> tuple[Doing, ...]:
    """Return the running tasks according to their last event; killed runs log no further events."""
    if not _works(events):
        return ()
    for event in reversed(events):
        match event:
            case Running():
                passed = max(0.0, now() - event.time)
                return tuple(
                    structs.replace(one, seconds=round(one.seconds + passed, 1))
                    for one in event.tasks
                )
            case Begin():
                break
    return ()


def is_running(store: Where, since: float = 0.0) -> bool:
    """Return whether a run works on a store, according to its log of events and its lock.

    A run has the lock before its first event, and between the rounds of a campaign with precision.
    A killed run leaves its name in the lock. Without events, such a lock counts only for
    `SILENT_SECONDS` after `since`, a Unix time, s.
    """
    events = read_events(store)[0]
    if _works(events):
        return True
    last = events[-1].time if events else 0.0
    return not is_free(_lock(store)) and now() - max(last, since) <= SILENT_SECONDS


def _lock(store: Where) -> bytes | None:
    try:
        return place_of(store).read(LOCK)
    except FileNotFoundError:
        return None


def _works(events: list[Event]) -> bool:
    if not events or isinstance(events[-1], End):
        return False
    return now() - events[-1].time <= SILENT_SECONDS


def _failures(record: Record) -> list[Failure]:
    cells, trace = record.header.span.cells, record.header.block.trace
    return [
        Failure(trace, *cells[place], f"{error['type']}: {error['message']}", error["traceback"])
        for place, error in sorted(record.payload.errors.items())
    ]
