"""Bring campaign and store together: design it, refuse what does not fit, build or grow it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from schedfarm.core import own
from schedfarm.core.errors import InputError
from schedfarm.core.files import PARTIAL
from schedfarm.core.format.names import CAMPAIGN, COPY, GROWING, LOCK, MANIFEST, RECORDS
from schedfarm.core.format.retention import RETENTION
from schedfarm.core.machines.platform import platform_from_dict
from schedfarm.core.policy.policy import Policy
from schedfarm.core.policy.rules import COUNTS
from schedfarm.core.workload.workload import Workload
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.caution import Case, cautions
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.planning.block_shape import lay_out
from schedfarm.farm.planning.extents import Extent, extent_of
from schedfarm.farm.store.bucket import Unavailable
from schedfarm.farm.store.files import writing
from schedfarm.farm.store.jobs import FILES
from schedfarm.farm.store.lock import TURN
from schedfarm.farm.store.logs import is_itself, log_bytes
from schedfarm.farm.store.names import keep_names
from schedfarm.farm.store.place import Place, Where, place_of
from schedfarm.farm.store.product import PRODUCTS, Holding, holdings
from schedfarm.farm.store.schema import Variable
from schedfarm.farm.store.skeleton import check_metadata, install
from schedfarm.farm.store.store import Store
from schedfarm.farm.store.summary import fold

NOTHING = 0
"""Stands for a setting that leaves nothing out and is therefore not written down."""

UNFINISHED = frozenset(
    {"traces", "results.zarr", CAMPAIGN, COPY, LOCK, TURN, GROWING, *FILES.values()}
)
"""What a store consists of before its store.json: a build that was killed is begun again."""

OURS = frozenset({LOCK, TURN, GROWING, *FILES.values()})
"""Files that only a store has: a place without them holds somebody else's things."""


@dataclass(frozen=True, eq=False)
class Design:
    """Hold a campaign's store as it has to be, before anything is written.

    Parameters
    ----------
    store : Store
        With axes that span the campaign.
    campaign : Campaign
        What it is to hold.
    logs : mapping of str to (Workload or None)
        Each trace's log; None for a model.
    old : Store or None
        What is there.
    damaged : tuple of str
        Arrays there of which the metadata is gone, and can be made again.
    standing : bool
        Whether the store that is there is like this already.
    """

    store: Store
    campaign: Campaign
    logs: Mapping[str, Workload | None]
    old: Store | None
    damaged: tuple[str, ...]
    standing: bool


def survey(campaign: Campaign) -> dict[str, Extent]:
    """Return how far each of a campaign's traces reaches.

    Raises
    ------
    InputError
        If a trace cannot be read or sampled.
    """
    return {trace.name: extent_of(trace, campaign) for trace in campaign.traces}


def design(where: Where, campaign: Campaign, extents: Mapping[str, Extent] | None = None) -> Design:
    """Work out the store of a campaign, or how the one that is there has to grow; write nothing.

    Parameters
    ----------
    where : str, path or Place
        The store's folder or address.
    campaign : Campaign
        What the store is to hold.
    extents : mapping of str to Extent, optional
        What `survey` gave for the campaign; by default it is asked.

    Returns
    -------
    Design
        To be built.

    Raises
    ------
    InputError
        If a trace cannot be read, something else is there, or the store there lacks
        arrays, was made by another campaign, holds what this one lacks, or is of a newer version.
    """
    place = place_of(where)
    old = _existing(place)
    damaged = check_metadata(old, mend=True) if old else []
    extents = survey(campaign) if extents is None else extents
    sources = {t.name: _identify(t, extents[t.name].log) for t in campaign.traces}
    if old:
        _refuse_other(old, campaign, sources)
    with own.sources(campaign.sources):
        _check_platforms(campaign, sources)
        holds = _grown_holds(old, campaign, sources)
    most = old.jobs if old else {}
    jobs = {name: max(extent.jobs, most.get(name, 0)) for name, extent in extents.items()}
    thanks = {t.name: t.acknowledgement() for t in campaign.traces}
    store = Store(
        place=place,
        campaign=campaign.name,
        text=campaign.to_toml(),
        settings=campaign.settings,
        axes=_grown_axes(old, campaign),
        sources=sources,
        holds=holds,
        layouts={},
        jobs=jobs,
        weeks={name: extent.weeks for name, extent in extents.items()},
        users={name: extent.users for name, extent in extents.items()},
        own=campaign.sources,
        acknowledgements={name: whom for name, whom in thanks.items() if whom},
        cautions={t.name: _cautions(t, extents[t.name].log, campaign) for t in campaign.traces},
        keep=campaign.keep,
    )
    known, kinds = old.layouts if old else {}, [PRODUCTS[kind] for kind in holds]
    with own.sources(campaign.sources):
        layouts = {
            name: lay_out(
                store.sizes(name),
                store.axes,
                kinds,
                {kind: store.arrays_of(name, kind) for kind in holds},
                campaign.block_seconds,
                known.get(name),
            )
            for name in store.axes["trace"]
        }
    store = replace(store, layouts=layouts)
    standing = old is not None and replace(old, text=store.text) == store
    standing = standing and not damaged and not place.has(GROWING)
    logs = {name: extent.log for name, extent in extents.items()}
    return Design(store, campaign, logs, old, tuple(damaged), standing)


def build(design: Design, say: Callable[[str], None] = lambda _: None) -> Store:
    """Make the store what its design says; what is in it stays.

    store.json comes last, and all else is there to stay by then, so that a build that was killed,
    or cut short by a power failure, is begun again.

    Parameters
    ----------
    design : Design
        From `design`.
    say : callable, optional
        Told what had been damaged and is made again, a sentence each.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    store, place = design.store, design.store.place
    with writing(place):
        if not design.standing:
            # A growth that was killed may be given up: its arrays are then cut back.
            place.write(GROWING, b"")
        for trace, log in design.logs.items():
            name = store.log_name(trace)
            if log is None or name is None or is_itself(place, name):
                continue
            if place.has(name):
                say(f"the log of {trace} was not the one that its name says; written anew")
            place.write(name, log_bytes(log))
        if not design.standing:
            install(store, design.old)
            store.save()
            place.remove(GROWING)
            if place.entries(RECORDS):
                # A growth has left it empty, for as long as the run would take.
                fold(store)
        elif place.read(MANIFEST) != store.to_bytes():
            store.save()
        for one in design.campaign.traces:
            keep_names(place, one.name, design.logs[one.name] if one.names else None)
    if design.damaged:
        names = ", ".join(design.damaged[:3]) + ", ..." * (len(design.damaged) > 3)
        say(f"metadata that was missing or damaged has been made again: {names}")
    return store


def _cautions(trace: Trace, log: Workload | None, campaign: Campaign) -> dict[str, str]:
    draw = campaign.draw if campaign.resamples else ""
    return cautions(Case(log, campaign.loads, draw, trace.machine is not None))


def _existing(place: Place) -> Store | None:
    try:
        there = {name for name in place.entries() if not name.endswith(PARTIAL)}
    except NotADirectoryError:
        raise InputError(f"store {place} is a file; a store is a folder") from None
    except Unavailable:
        raise
    except OSError as error:
        raise InputError(f"store {place} cannot be read: {error.strerror}; give another") from None
    if not there or (there <= UNFINISHED and there & OURS):
        return None
    return Store.open(place)


def _identify(trace: Trace, log: Workload | None) -> dict[str, Any]:
    if log is None:
        # A model has one: without it no trace of one is made.
        return {**trace.to_dict(), "platform": trace.runs_on and trace.runs_on.to_dict()}
    return {
        "weeks": trace.weeks,
        "columns": log.digest(),
        "platform": log.platform.to_dict(),
        "dropped": dict(log.dropped),
        **({"epoch": log.epoch} if log.platform.dated else {}),
    }


def _refuse_other(old: Store, campaign: Campaign, sources: Mapping[str, Mapping[str, Any]]) -> None:
    if old.campaign != campaign.name:
        raise InputError(
            f"store {old.place} was made by campaign {old.campaign!r}, not {campaign.name!r}; "
            "give another --store"
        )
    if old.keep != campaign.keep:
        raise InputError(
            f"store {old.place} was made with keep = {old.keep!r}, and the campaign says "
            f"{campaign.keep!r}; say keep = {old.keep!r}, or give another --store"
        )
    settings = campaign.settings
    for key in {**old.settings, **settings}:
        was, wanted = (given.get(key, NOTHING) for given in (old.settings, settings))
        if was != wanted:
            raise InputError(
                f"store {old.place} was made with {key} = {was!r}, and the campaign says "
                f"{wanted!r}; give another --store"
            )
    for name, source in old.sources.items():
        if name in sources and sources[name] != source:
            raise InputError(
                f"store {old.place}: trace {name!r} is not the one that the store was made from "
                "(its jobs or its keys have changed); give another --store"
            )
    for module in own.modules_of(old.axes["policy"]):
        text = old.own[module]
        if campaign.sources.get(module, text) != text:
            raise InputError(
                f"store {old.place}: module {module!r}, which orders or rules of its policies come "
                "from, has changed since; give another --store"
            )


def _grown_holds(
    old: Store | None, campaign: Campaign, sources: Mapping[str, Mapping[str, Any]]
) -> dict[str, Holding]:
    """Return what a store has of each product, with what is new in the campaign or the program."""
    platforms = [platform_from_dict(one["platform"]) for one in sources.values()]
    counted, keep = _counted(campaign.policies), RETENTION[campaign.keep]
    new = holdings(campaign.fairness, campaign.metrics, platforms, counted, keep)
    for kind, holding in (old.holds if old else {}).items():
        if kind not in new:
            raise _gone(old, "fairness", kind)
        for had, has in (
            (holding.arrays, new[kind].arrays),
            (holding.figures, new[kind].figures),
        ):
            _check_kept(old, had, {v.name: v for v in has})
        new[kind] = holding.joined(new[kind])
    return new


def _check_platforms(campaign: Campaign, sources: Mapping[str, Mapping[str, Any]]) -> None:
    """Refuse policies of rules that do not know the machine of a trace: no cell could be run."""
    rows = [Policy.parse(policy).row for policy in campaign.policies]
    for (name, one), row in product(sources.items(), rows):
        machine = one["platform"]["name"]
        if machine not in row.platforms:
            raise InputError(
                f"trace {name!r} is on a platform of kind {machine!r}, and rule {row.name!r} knows "
                f"{', '.join(row.platforms)}; leave its policies out, or give the trace a campaign "
                "of its own"
            )
    for (name, one), kind in product(sources.items(), [PRODUCTS[k] for k in campaign.fairness]):
        if kind.among and not platform_from_dict(one["platform"]).participants:
            raise InputError(
                f"fairness {kind.name!r} compares each cluster of a network with itself alone, and "
                f"trace {name!r} is on a platform of kind {one['platform']['name']!r}; leave it "
                "out, or give the trace a campaign of its own"
            )


def _counted(policies: Iterable[str]) -> dict[str, str]:
    """Return what schedules of these policies count, of what the rules that ship do."""
    rows = (Policy.parse(policy).row for policy in policies)
    return {name: said for row in rows for name, said in row.counts if name in COUNTS}


def _check_kept(old: Store | None, had: Iterable[Variable], has: Mapping[str, Variable]) -> None:
    for was in had:
        now = has.get(was.name)
        if now is None:
            raise _gone(old, "metric", was.of or was.name)
        if (now.dims, now.dtype) != (was.dims, was.dtype):
            raise InputError(
                f"metric {was.of!r} is on {', '.join(now.dims)} as {now.dtype}, and store "
                f"{old.place if old else ''} has it on {', '.join(was.dims)} as {was.dtype}; give "
                "it another name"
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
        wanted = set(new[axis])
        gone = [label for label in labels if label not in wanted]
        if gone:
            raise _gone(old, axis, gone[0])
    known = {axis: set(labels) for axis, labels in old.axes.items()}
    return {
        axis: (*old.axes[axis], *(x for x in labels if x not in known[axis]))
        for axis, labels in new.items()
    }


def _gone(old: Store | None, what: str, label: Any) -> InputError:
    where = old.place if old else ""
    return InputError(
        f"store {where} holds {what} {label!r}, which the campaign no longer names; "
        "a campaign may grow, not shrink: add it again or give another --store"
    )
