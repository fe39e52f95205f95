"""Features of a dump that are not simulated, with their sources and effects on accuracy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from schedfarm.core.numerals import counted
from schedfarm.farm.site.dump.kinds import KINDS
from schedfarm.farm.site.options import unsupported

if TYPE_CHECKING:
    from schedfarm.farm.site.model import Site

SINFO, ASSOCIATIONS = KINDS["sinfo"].file, KINDS["associations"].file


@dataclass(frozen=True)
class Note:
    """Hold a feature of the dump that is not simulated, its source, and its effect on accuracy.

    fit: parameter whose fit makes the feature part of the simulation, if any.
    """

    what: str
    source: str
    effect: str
    fit: str = ""

    def __str__(self) -> str:
        return f"not simulated: {self.what} ({self.source}): {self.effect}"


def notes_of(
    site: Site, parts: Mapping[str, Any], others: int, rest: Sequence[str]
) -> Iterator[Note]:
    """Yield notes on unsimulated features; others: number of jobs in the partitions `rest`."""
    for what, source, effect in unsupported(parts["conf"], hosts=site.hosts is not None):
        yield Note(what, source, effect)
    for included in parts["conf"].included:
        yield Note(f"Include {included.value}", included.source, "its keys are not read")
    if rest:
        yield Note(
            f"partition{'s' * (len(rest) > 1)} {', '.join(rest)}",
            SINFO,
            f"the usage of {counted(others, 'job')} on other nodes would count in fair shares",
        )
    if site.has_cycles:
        yield Note(
            "the time that backfill cycles take",
            "no file has it",
            "jobs that a cycle starts wait less, the more so the longer the queue; --fit bf_rate "
            "fits it",
            "bf_rate",
        )
    yield from _machine(site, parts)
    yield from _preemption(site)
    if site.order is not None:
        yield from _shares(site)


def _machine(site: Site, parts: Mapping[str, Any]) -> Iterator[Note]:
    if site.tiers and site.order is None:
        tiers = ", ".join(f"{name} {fact.value}" for name, fact in site.tiers.items())
        yield Note(
            f"PriorityTier of partitions ({tiers})",
            next(iter(site.tiers.values())).source,
            "under priority/basic all jobs have one tier, so that those of higher ones wait longer",
        )
    out = [name for name, node in parts["sinfo"].nodes.items() if node.out]
    if out:
        yield Note(
            f"{counted(len(out), 'node')} down or drained",
            SINFO,
            "the effective capacity stands for outages of the whole period",
        )


def _preemption(site: Site) -> Iterator[Note]:
    preempting = [name for name, row in site.qos.items() if row.preempts]
    if preempting:
        yield Note(
            f"preemption by QOS {', '.join(preempting)}",
            KINDS["qos"].file,
            "preempted jobs wait longer at the site",
        )


def _shares(site: Site) -> Iterator[Note]:
    users = site.associations.users
    inherits = [one for one in users.values() if one.inherits]
    if inherits:
        yield Note(
            f"FairShare=parent of {counted(len(inherits), 'user')}",
            inherits[0].shares.source,
            "they have 1 share each",
        )
    if site.associations.flat:
        yield Note(
            "the tree of accounts",
            f"{ASSOCIATIONS} has no ParentName",
            "every account is below the root, so that fair shares differ",
        )
    lacking = {*site.names.get("user", {}).values()} - {user for user, _ in users}
    if lacking:
        yield Note(
            f"the shares of {counted(len(lacking), 'user')} of {KINDS['accounting'].file}",
            ASSOCIATIONS,
            "each has 1 share",
        )
