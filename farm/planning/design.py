"""Design of a campaign's store: check the campaign against an existing store, build or grow it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from schedfarm.core import own
from schedfarm.core.errors import InputError
from schedfarm.core.files import PARTIAL
from schedfarm.core.format.names import CAMPAIGN, COPY, GROWING, LOCK, MANIFEST, RECORDS
from schedfarm.core.format.retention import RETENTION
from schedfarm.core.machines.platform import platform_from_dict
from schedfarm.core.policy.orders import OUTSIDE_DIGESTS, find_order
from schedfarm.core.policy.policy import Policy
from schedfarm.core.policy.rules import COUNTS
from schedfarm.core.workload.workload import Workload
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.planning.block_shape import lay_out
from schedfarm.farm.planning.rounds import Verdict, can_judge, first_samples, judge_store
from schedfarm.farm.planning.survey import Survey
from schedfarm.farm.planning.tasks import missing_blocks
from schedfarm.farm.store.files import Unavailable, writing
from schedfarm.farm.store.jobs import FILES
from schedfarm.farm.store.lock import FENCE
from schedfarm.farm.store.logs import is_itself, load_log, log_bytes, log_name
from schedfarm.farm.store.names import keep_names
from schedfarm.farm.store.place import Place, Where, place_of
from schedfarm.farm.store.product import PRODUCTS, Holding, Variable, holdings
from schedfarm.farm.store.records import read_headers
from schedfarm.farm.store.store import Store
from schedfarm.farm.store.summary import fold
from schedfarm.farm.store.template import check_metadata, install

NOTHING = 0
"""Value of a setting that is not stored because nothing is left out."""

UNFINISHED = frozenset(
    {"traces", "results.zarr", CAMPAIGN, COPY, LOCK, FENCE, GROWING, *FILES.values()}
)
"""Entries of a store that exist before its store.json: a killed build is begun again."""

OURS = frozenset({LOCK, FENCE, GROWING, *FILES.values()})
"""Files that only a store has; a folder without any of them holds other data."""


@dataclass(frozen=True, eq=False)
class Design:
    """Hold the intended store of a campaign before anything is written.

    store: store with axes that span the campaign or its next round. old: the existing store, None
    without one. damaged: arrays of the existing store whose metadata is missing and can be made
    again. standing: whether the existing store is as intended. seen: the existing manifest, and
    whether a growth was unfinished. verdict: verdict on the finished rounds of a campaign with
    requested precision.
    """

    store: Store
    survey: Survey
    old: Store | None
    damaged: tuple[str, ...]
    standing: bool
    seen: tuple[bytes | None, bool]
    verdict: Verdict | None = None

    @property
    def campaign(self) -> Campaign:
        """The campaign that the store is to hold."""
        return self.survey.campaign

    @property
    def logs(self) -> dict[str, Workload | None]:
        """Each trace's log; None for a model."""
        return self.survey.of_each("log")

    def confirmed(self, *, retry_failed: bool = False) -> Design:
        """Return this design once the store is locked; after a change by another run, a new design.

        The metadata of a damaged store is checked again, since another run may have repaired the
        store.
        """
        if not self.damaged and _seen(self.store.place) == self.seen:
            return self
        return design(self.store.place, self.survey, retry_failed=retry_failed)


def _seen(place: Place) -> tuple[bytes | None, bool]:
    return place.read_with_etag(MANIFEST)[0], place.has(GROWING)


def design(where: Where, survey: Survey, samples: int = 0, *, retry_failed: bool = False) -> Design:
    """Design the store of a campaign, or the growth of the existing one; write nothing.

    The store of a campaign with requested precision grows round by round. samples: least number of
    samples of each trace in that case, within the campaign's maximum. retry_failed: whether a round
    with failed cells counts as unfinished. Raises `InputError` if the place is not a store, or if
    its store lacks arrays, was made by another campaign, holds more than this campaign, or has a
    newer version.
    """
    place, campaign = place_of(where), survey.campaign
    old, seen = _existing(place)
    damaged = check_metadata(old, repair=True) if old else []
    sources = survey.of_each("source")
    if old:
        _refuse_other(old, campaign, sources)
    with own.sources(campaign.sources):
        _check_platforms(campaign, sources)
        _check_limits(campaign, survey.of_each("log"))
        _check_leaving(campaign, survey.of_each("log"))
        _check_read_columns(place, campaign, sources, survey.of_each("log"))
        holds = _grown_holds(old, campaign, sources)
    verdict = _verdict(old, campaign, retry_failed) if campaign.precision else None
    finished = verdict is not None and bool(verdict.rounds)
    most = old.jobs if old else {}
    jobs = {name: max(count, most.get(name, 0)) for name, count in survey.of_each("jobs").items()}
    acknowledgements = survey.of_each("acknowledgement")
    store = Store(
        place=place,
        campaign=campaign.name,
        text=campaign.to_toml(),
        settings=campaign.settings,
        axes=_grown_axes(old, campaign, _samples(old, campaign, verdict, samples)),
        sources=sources,
        holds=holds,
        layouts={},
        jobs=jobs,
        weeks=survey.of_each("weeks"),
        users=survey.of_each("users"),
        own=campaign.sources,
        acknowledgements={name: text for name, text in acknowledgements.items() if text},
        cautions=survey.of_each("warnings"),
        keep=campaign.keep,
        labels=campaign.labels,
        precision=verdict.to_dict() if verdict and finished else _known_precision(old, campaign),
    )
    axes = dict(store.axes)
    if campaign.precision:
        # The layout is for the first round; the largest number of samples has no effect on it.
        axes["resample"] = _numbers(campaign, first_samples(campaign))
    known, kinds = old.layouts if old else {}, [PRODUCTS[kind] for kind in holds]
    with own.sources(campaign.sources):
        layouts = {
            name: lay_out(
                store.sizes(name),
                axes,
                kinds,
                {kind: store.arrays_of(name, kind) for kind in holds},
                campaign.block_seconds,
                known.get(name),
            )
            for name in store.axes["trace"]
        }
    store = replace(store, layouts=layouts)
    standing = old is not None and replace(old, text=store.text) == store
    standing = standing and not damaged and not seen[1]
    return Design(store, survey, old, tuple(damaged), standing, seen, verdict)


def _verdict(old: Store | None, campaign: Campaign, retry_failed: bool) -> Verdict | None:
    """Judge the rounds of a campaign by an existing store without missing cells; None otherwise."""
    if old is None or not can_judge(old, campaign):
        return None
    if missing_blocks(old, read_headers(old), retry_failed=retry_failed):
        return None
    return judge_store(old, campaign)


def _samples(old: Store | None, campaign: Campaign, verdict: Verdict | None, least: int) -> int:
    """Return the intended number of samples of a store, at least the present number."""
    if not campaign.precision:
        return campaign.resamples
    wanted = verdict.samples if verdict else first_samples(campaign)
    had = max(old.axes["resample"]) if old else 0
    return min(campaign.resamples, max(wanted, least, int(had)))


def _known_precision(old: Store | None, campaign: Campaign) -> Mapping[str, Any]:
    """Return the record of the finished rounds, which a further round keeps."""
    return old.precision if old and campaign.precision else {}


def build(design: Design, say: Callable[[str], None] = lambda _: None) -> Store:
    """Create or grow a store by its design and keep its values; report repaired damage to `say`.

    store.json is written last, when everything else is on the disk. A build that was killed or cut
    short by a power failure is therefore begun again.
    """
    store, place = design.store, design.store.place
    with writing(place):
        if not design.standing:
            # If the next run does not continue a killed growth, the arrays are cut back.
            place.write(GROWING, b"")
        for trace, log in design.logs.items():
            name = store.log_name(trace)
            if log is None or name is None or is_itself(place, name):
                continue
            if place.has(name):
                say(f"the log of {trace} did not match its name and was written again")
            place.write(name, log_bytes(log))
        if not design.standing:
            install(store, design.old)
            store.save()
            place.remove(GROWING)
            if place.entries(RECORDS):
                # Growth empties the summary, which would otherwise remain empty until the end of
                # the run.
                fold(store)
        elif place.read(MANIFEST) != store.to_bytes():
            store.save()
        for one in design.campaign.traces:
            keep_names(place, one.name, design.logs[one.name] if one.names else None)
    if design.damaged:
        names = ", ".join(design.damaged[:3]) + ", ..." * (len(design.damaged) > 3)
        say(f"metadata that was missing or damaged has been made again: {names}")
    return store


def _existing(place: Place) -> tuple[Store | None, tuple[bytes | None, bool]]:
    try:
        # The manifest is read before the store, so that a change in between is noticed under the
        # lock.
        seen = _seen(place)
        there = {name for name in place.entries() if not name.endswith(PARTIAL)}
    except NotADirectoryError:
        raise InputError(f"store {place} is a file; a store is a folder") from None
    except Unavailable:
        raise
    except OSError as error:
        raise InputError(f"store {place} cannot be read: {error.strerror}; give another") from None
    if not there or (there <= UNFINISHED and there & OURS):
        return None, seen
    return Store.open(place), seen


def _check_read_columns(
    place: Place,
    campaign: Campaign,
    sources: Mapping[str, Mapping[str, Any]],
    logs: Mapping[str, Workload | None],
) -> None:
    """Refuse logs that share a file of the store but differ in columns that policies read.

    The name of a file is the digest of its log, which leaves out `OUTSIDE_DIGESTS`. If only the
    queues of a log differed, cells would be simulated with the queues of the file.
    """
    read = _read_columns(campaign)
    kept: dict[str, Workload] = {}
    for trace, log in logs.items():
        name = log_name(sources[trace])
        if not read or log is None or name is None:
            continue
        if name not in kept and place.has(name) and is_itself(place, name):
            kept[name] = load_log(place.read(name))
        other = kept.setdefault(name, log)
        for column in sorted(read):
            if not np.array_equal(getattr(other, column), getattr(log, column)):
                raise InputError(
                    f"trace {trace!r}: its column {column!r}, which a policy reads, differs from "
                    f"that of the log in store {place}, whose other columns are the same; give "
                    "another --store"
                )


def _read_columns(campaign: Campaign) -> frozenset[str]:
    """Return the columns that the campaign's policies read and digests leave out."""
    found: frozenset[str] = frozenset()
    for name in campaign.policies:
        policy = Policy.parse(name)
        for order in filter(None, (policy.order, policy.backfill)):
            found |= find_order(order).reads
        if policy.predict and ":" in policy.predict:
            found |= OUTSIDE_DIGESTS
    return found


def _refuse_other(old: Store, campaign: Campaign, sources: Mapping[str, Mapping[str, Any]]) -> None:
    if old.campaign != campaign.name:
        raise InputError(
            f"store {old.place} was made by campaign {old.campaign!r}, not {campaign.name!r}; "
            "give another --store"
        )
    if old.keep != campaign.keep:
        raise InputError(
            f"store {old.place} was made with keep = {old.keep!r}, but the campaign has "
            f"{campaign.keep!r}; set keep = {old.keep!r}, or give another --store"
        )
    settings = campaign.settings
    for key in {**old.settings, **settings}:
        was, wanted = (given.get(key, NOTHING) for given in (old.settings, settings))
        if was != wanted:
            raise InputError(
                f"store {old.place} was made with {key} = {was!r}, but the campaign has "
                f"{wanted!r}; give another --store"
            )
    for name, source in old.sources.items():
        if name in sources and sources[name] != source:
            raise InputError(
                f"store {old.place}: trace {name!r} differs from the one of the store "
                "(its jobs or its keys have changed); give another --store"
            )
    for module in own.modules_of(old.axes["policy"]):
        text = old.own[module]
        if campaign.sources.get(module, text) != text:
            raise InputError(
                f"store {old.place}: module {module!r} with orders or rules of its policies "
                "has changed since; give another --store"
            )


def _grown_holds(
    old: Store | None, campaign: Campaign, sources: Mapping[str, Mapping[str, Any]]
) -> dict[str, Holding]:
    """Return the holdings of a store, with the additions of the campaign or the program."""
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
    """Refuse policies whose rules do not support the machine of a trace."""
    rows = [Policy.parse(policy).row for policy in campaign.policies]
    for (name, one), row in product(sources.items(), rows):
        machine = one["platform"]["name"]
        if machine not in row.platforms:
            raise InputError(
                f"trace {name!r} is on a platform of kind {machine!r}, and rule {row.name!r} "
                f"supports {', '.join(row.platforms)}; leave its policies out, or give the trace "
                "a campaign of its own"
            )
    for (name, one), kind in product(sources.items(), [PRODUCTS[k] for k in campaign.fairness]):
        if kind.among and not platform_from_dict(one["platform"]).participants:
            raise InputError(
                f"fairness {kind.name!r} compares each cluster of a network with itself alone, and "
                f"trace {name!r} is on a platform of kind {one['platform']['name']!r}; leave it "
                "out, or give the trace a campaign of its own"
            )


def _check_leaving(campaign: Campaign, logs: Mapping[str, Workload | None]) -> None:
    """Refuse policies and measures that do not support jobs that leave the queue."""
    for log in logs.values():
        if log is None:
            continue
        policies = map(Policy.parse, campaign.policies)
        without = [policy.without_leaving(log.platform.name) for policy in policies]
        measures = [f"fairness {name!r}" for name in campaign.fairness]
        for what in (*filter(None, without), *measures):
            log.refuse_leaving(what)


def _check_limits(campaign: Campaign, logs: Mapping[str, Workload | None]) -> None:
    """Refuse a policy with limits that are valid for none of the logs."""
    limited = [policy for policy in map(Policy.parse, campaign.policies) if policy.limits]
    if limited:
        from schedfarm.core.engine.limiting import check_limits
    for policy in limited:
        refused: list[InputError] = []
        for log in logs.values():
            if log is not None:
                try:
                    check_limits(log, policy)
                except InputError as error:
                    refused.append(error)
        if refused and len(refused) == len(logs):
            raise refused[0]


def _counted(policies: Iterable[str]) -> dict[str, str]:
    """Return the counts that the built-in rules of these policies declare for their schedules."""
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


def _numbers(campaign: Campaign, samples: int) -> tuple[int, ...]:
    """Return the resample numbers of a campaign up to a number of samples."""
    return tuple(number for number in campaign.resample_axis if number <= samples)


def _grown_axes(old: Store | None, campaign: Campaign, samples: int) -> dict[str, tuple[Any, ...]]:
    new: dict[str, tuple[Any, ...]] = {
        "trace": tuple(t.name for t in campaign.traces),
        "resample": _numbers(campaign, samples),
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
