"""A campaign's store: create it, grow it, open it; refuse what does not belong to it."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import InputError
from core.resample import resample_size
from core.workload import COLUMNS, Workload
from farm.arrays import consolidate, fit_group, open_results
from farm.campaign import Campaign
from farm.files import write_whole
from farm.layout import Block, TraceLayout, block_positions, blocks_of, lay_out
from farm.records import Head, Record, iterate_records, read_heads
from farm.schema import FORMAT, VERSION
from farm.summary import fit_summary
from farm.traces import Trace, sample, span_weeks

AXES = ("trace", "resample", "load", "policy")

UNFINISHED = frozenset({"traces", "results.zarr", "campaign.toml"})
"""What a store consists of before its store.json: a build that was killed is begun again."""


@dataclass(frozen=True)
class Store:
    """Stand for one store on disk, as its store.json describes it.

    Parameters
    ----------
    path : Path
        The folder.
    campaign : str
        Name of the campaign that it belongs to.
    settings : mapping
        What every cell depends on beside its coordinates: seed, tau, draw.
    axes : mapping of str to tuple
        Labels along trace, resample, load and policy.
    sources : mapping of str to dict
        What each trace is: its definition, and the SHA-256 of a log's columns.
    layouts : mapping of str to TraceLayout
        Sizes of each trace's arrays.
    """

    path: Path
    campaign: str
    settings: Mapping[str, Any]
    axes: Mapping[str, tuple[Any, ...]]
    sources: Mapping[str, Mapping[str, Any]]
    layouts: Mapping[str, TraceLayout]

    @classmethod
    def open(cls, path: str | Path) -> Store:
        """Open an existing store.

        Raises
        ------
        InputError
            If there is none at the path, or its format is newer than this program.
        """
        path = Path(path)
        manifest = path / "store.json"
        try:
            plain = json.loads(manifest.read_bytes())
            found = plain["format"], plain["version"]
        except FileNotFoundError:
            raise InputError(f"{path} is not a store: it has no store.json") from None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{manifest} is not a store's description: {error}") from None
        if found[0] != FORMAT or not isinstance(found[1], int) or found[1] > VERSION:
            raise InputError(
                f"store {path} has format {found[0]} version {found[1]}; this schedfarm reads "
                f"{FORMAT} up to version {VERSION}: use a newer one"
            )
        return cls(
            path=path,
            campaign=plain["campaign"],
            settings=plain["settings"],
            axes={k: tuple(v) for k, v in plain["axes"].items()},
            sources=plain["sources"],
            layouts={k: TraceLayout(**v) for k, v in plain["layouts"].items()},
        )

    @property
    def results(self) -> Path:
        """Folder of the Zarr hierarchy."""
        return self.path / "results.zarr"

    @property
    def records(self) -> Path:
        """Folder of the completion records."""
        return self.path / "records"

    @property
    def cells(self) -> int:
        """How many cells the axes span."""
        return int(np.prod([len(self.axes[a]) for a in AXES]))

    @cached_property
    def identity(self) -> str:
        """Digest of what makes this store's cells mean what they mean, whatever its axes."""
        text = json.dumps([self.campaign, dict(self.settings)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def resamples_of(self, block: Block) -> list[int]:
        """Return the resample numbers that a block covers now, in axis order."""
        axis = self.axes["resample"]
        per_block = self.layouts[block.trace].resamples_per_block
        return [axis[i] for i in block_positions(block.number, per_block, len(axis))]

    def blocks(self) -> list[Block]:
        """Return every block of the store, in the order of its axes."""
        return [
            block
            for trace in self.axes["trace"]
            for block in blocks_of(
                trace,
                self.layouts[trace],
                len(self.axes["resample"]),
                self.axes["load"],
                self.axes["policy"],
            )
        ]

    def heads(self) -> dict[Block, Head]:
        """Return the head of the record of every finished block.

        Raises
        ------
        InputError
            If a file among the records is not one of this store's.
        """
        return read_heads(self.records, self.identity)

    def iterate_records(self) -> Iterator[Record]:
        """Yield the record of every finished block.

        Raises
        ------
        InputError
            As `heads`, and if a byte of a record has changed.
        """
        return iterate_records(self.records, self.identity)

    def log_path(self, digest: str) -> Path:
        """Return where the columns of a log with this digest stand."""
        return self.path / "traces" / f"{digest}.npz"


def prepare(path: str | Path, campaign: Campaign) -> Store:
    """Create the store of a campaign, or grow the one that is there; write nothing on bad input.

    Parameters
    ----------
    path : str or Path
        Folder; made if it is missing.
    campaign : Campaign
        What the store is to hold.

    Returns
    -------
    Store
        With axes that span the campaign.

    Raises
    ------
    InputError
        If a trace cannot be read, the folder holds something else, or the store there was made
        by another campaign, lacks nothing of it, or is of a newer version.
    """
    path = Path(path)
    old = _existing(path)
    logs = {t.name: t.read() for t in campaign.traces}
    sources = {t.name: _identify(t, logs[t.name]) for t in campaign.traces}
    settings = {"seed": campaign.seed, "tau": campaign.tau, "draw": campaign.draw}
    if old:
        _refuse_other(old, campaign, settings, sources)
    axes = _grown_axes(old, campaign)
    extents = {t.name: _extent(t, logs[t.name], campaign) for t in campaign.traces}
    layouts = {
        name: old.layouts[name]
        if old and name in old.layouts
        else lay_out(jobs, weeks, len(axes["resample"]), axes["policy"])
        for name, (jobs, weeks) in extents.items()
    }
    store = Store(path, campaign.name, settings, axes, sources, layouts)
    if old is None or old.axes != store.axes:
        _build(store, campaign, logs, {name: jobs for name, (jobs, _) in extents.items()})
    return store


def load_log(path: Path) -> Workload:
    """Read the columns of a log back from a store."""
    with np.load(path, allow_pickle=False) as columns:
        return Workload(
            **{c: columns[c] for c in COLUMNS},
            killed=columns["killed"],
            processors=int(columns["processors"]),
            max_estimate=int(columns["max_estimate"]),
            name=path.stem,
        )


def _existing(path: Path) -> Store | None:
    if path.exists() and not path.is_dir():
        raise InputError(f"store {path} is a file; a store is a folder")
    if not path.exists() or {p.name for p in path.iterdir()} <= UNFINISHED:
        return None
    return Store.open(path)


def _identify(trace: Trace, log: Workload | None) -> dict[str, Any]:
    meaning = trace.to_dict()
    if log is not None:
        meaning = {"weeks": trace.weeks, "columns": log.digest(), "dropped": dict(log.dropped)}
    return meaning


def _refuse_other(
    old: Store, campaign: Campaign, settings: dict[str, Any], sources: dict[str, dict[str, Any]]
) -> None:
    if old.campaign != campaign.name:
        raise InputError(
            f"store {old.path} was made by campaign {old.campaign!r}, not {campaign.name!r}; "
            "give another --store"
        )
    for key, value in settings.items():
        if old.settings.get(key) != value:
            raise InputError(
                f"store {old.path} was made with {key} = {old.settings.get(key)!r}, and the "
                f"campaign says {value!r}; give another --store"
            )
    for name, source in old.sources.items():
        if name in sources and sources[name] != source:
            raise InputError(
                f"store {old.path}: trace {name!r} is not the one that the store was made from "
                "(its jobs or its keys have changed); give another --store"
            )


def _grown_axes(old: Store | None, campaign: Campaign) -> dict[str, tuple[Any, ...]]:
    new: dict[str, tuple[Any, ...]] = {
        "trace": tuple(t.name for t in campaign.traces),
        "resample": campaign.resample_axis,
        "load": campaign.loads,
        "policy": campaign.policies,
    }
    if old is None:
        return new
    for axis, labels in old.axes.items():
        gone = [label for label in labels if label not in new[axis]]
        if gone:
            raise InputError(
                f"store {old.path} holds {axis} {gone[0]!r}, which the campaign no longer names; "
                "a campaign may grow, not shrink: add it again or give another --store"
            )
    return {
        axis: (*old.axes[axis], *(x for x in labels if x not in old.axes[axis]))
        for axis, labels in new.items()
    }


def _extent(trace: Trace, log: Workload | None, campaign: Campaign) -> tuple[int, int]:
    jobs, weeks = [], []
    for r in campaign.resample_axis:
        if log is None or r == 0:
            one = sample(trace, log, seed=campaign.seed, resample=r, draw=campaign.draw)
            jobs.append(len(one))
            weeks.append(span_weeks(one))
        else:
            size = resample_size(
                log, seed=campaign.seed, index=r, weeks=trace.weeks, draw=campaign.draw
            )
            jobs.append(size)
            weeks.append(trace.weeks or span_weeks(log))
    return max(jobs), max(weeks)


def _build(
    store: Store, campaign: Campaign, logs: dict[str, Workload | None], jobs: dict[str, int]
) -> None:
    """Make the store hold its axes; store.json comes last, so that a killed build is redone."""
    try:
        store.path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"store {store.path} cannot be made: {error.strerror}") from None
    for name, log in logs.items():
        if log is not None:
            _save_log(store.log_path(store.sources[name]["columns"]), log)
    root = open_results(store.results, "a")
    labels = {a: store.axes[a] for a in ("resample", "load", "policy")}
    for name in store.axes["trace"]:
        fit_group(root, name, store.layouts[name], labels, jobs[name])
    fit_summary(root, store.axes)
    root.attrs.update({"campaign": store.campaign, "title": campaign.title, **store.settings})
    consolidate(store.results)
    write_whole(store.path / "campaign.toml", campaign.to_toml().encode())
    write_whole(store.path / "store.json", _manifest(store))


def _manifest(store: Store) -> bytes:
    plain = {
        "format": FORMAT,
        "version": VERSION,
        "campaign": store.campaign,
        "settings": dict(store.settings),
        "axes": {k: list(v) for k, v in store.axes.items()},
        "sources": {k: dict(v) for k, v in store.sources.items()},
        "layouts": {k: asdict(v) for k, v in store.layouts.items()},
    }
    return json.dumps(plain, indent=1).encode()


def _save_log(path: Path, log: Workload) -> None:
    if path.exists():
        return
    stream = io.BytesIO()
    np.savez_compressed(
        stream,
        **{c: getattr(log, c) for c in COLUMNS},
        killed=log.killed,
        processors=log.processors,
        max_estimate=log.max_estimate,
    )
    write_whole(path, stream.getvalue())
