"""Sentences and tables on a calibrated site for a terminal, and its facts for programs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np

from schedfarm.core.machines.hosts.platform import COUNT
from schedfarm.core.machines.resources.platform import PROCESSORS, UNITS as UNITS_OF
from schedfarm.core.numerals import counted, grouped, lasting
from schedfarm.farm.site.calibration import LEVEL, Fit
from schedfarm.farm.site.hosts import Hosted
from schedfarm.farm.site.judgement import Judged, Judgement, Range
from schedfarm.farm.site.model import Site
from schedfarm.farm.site.parameters import PARAMETERS, start

UNITS = {"two_weeks": "two weeks", "week": "week", "day": "day"}
"""Names of periods in tables."""

PERIOD = {**UNITS, "two_weeks": "two-week period"}
"""Names of single periods in sentences."""


def part(value: float) -> str:
    """Return a share as a percentage."""
    return f"{100 * value:.0f} %"


def within(one: Range) -> str:
    """Return a share with its interval."""
    if one.low is None or one.high is None:
        return f"{part(one.value)} (too few periods for an interval)"
    return f"{part(one.value)} ({100 * one.low:.0f} to {100 * one.high:.0f} %)"


def verdict(judgement: Judgement) -> str:
    """Return the sentence that says whether the site is matched."""
    size = f"error of the mean waits of each {PERIOD[judgement.unit]} {within(judgement.error)}"
    order = f"{part(judgement.agreement.value)} of pairs of waiting jobs start in the real order"
    if judgement.matched:
        return f"matched: {size}; {order}"
    return (
        f"not matched: {size}; {order}; the site follows a rule or limits that are not simulated, "
        "and a what-if is no more accurate than this"
    )


def site_text(site: Site, fit: Fit | None, judgement: Judgement | None) -> str:
    """Return the values that were read, fitted and judged, as text."""
    return "\n".join(_lines(site, fit, judgement))


def _lines(site: Site, fit: Fit | None, judgement: Judgement | None) -> Iterator[str]:
    jobs = site.jobs
    yield (
        f"site {site.name.value}: {counted(len(jobs), 'job')} in "
        f"{(jobs.submit[-1] - jobs.submit[0]) / 604_800:.1f} weeks on "
        f"{counted(site.processors.value, 'processor')} ({site.processors.source})"
    )
    for name, fact in site.capacities.items():
        yield f"  {name}: {grouped(fact.value)} {UNITS_OF[name]} ({fact.source})"
    yield from _hosts(site)
    if jobs.has_leaving:
        left = counted(int(np.count_nonzero(jobs.leave >= 0)), "job")
        yield f"  cancelled while waiting: {left}, in the queue until then"
    for why, count in jobs.dropped.items():
        yield f"  dropped: {counted(count, 'row')}, {why}"
    if fit:
        yield ""
        yield (
            f"fitted to the first half, {counted(fit.trials, 'simulation')}; "
            f"{100 * LEVEL:.0f} % intervals"
        )
        for name, one in fit.parameters.items():
            row = PARAMETERS[name]
            shown = lasting if row.unit == "s" else grouped
            yield (
                f"  {name}: {shown(one.value)} ({shown(one.low)} to {shown(one.high)}), "
                f"{row.meaning}; the dump has {'none' if one.given is None else shown(one.given)}"
            )
            if one.at_bound:
                yield (
                    f"    the interval reaches the range that was searched, {shown(one.least)} to "
                    f"{shown(one.most)}"
                )
    if judgement:
        yield ""
        yield f"judged on the second half, {judgement.days:.0f} days: {verdict(judgement)}"
        yield from _table(judgement)


def _hosts(site: Site) -> Iterator[str]:
    """Yield a line for each group of hosts, if there are any."""
    if not site.hosts:
        return
    for fact in site.hosts.groups:
        group = fact.value
        amounts = counted(group[PROCESSORS], "processor")
        amounts += f", {counted(group['gpus'], 'GPU')}" if group.get("gpus") else ""
        amounts += f", {grouped(group['memory'] >> 20)} MiB" if "memory" in group else ""
        yield f"  {counted(group[COUNT], 'host')}: {amounts} ({fact.source})"
    if site.hosts.exclusive.value:
        yield f"  each host runs one job at a time ({site.hosts.exclusive.source})"


def _table(judgement: Judgement) -> Iterator[str]:
    units = [*judgement.groups[0].errors]
    head = [
        "group",
        "jobs",
        "logged",
        "simulated",
        "bias",
        *(f"error by {UNITS[u]}" for u in units),
    ]
    rows = [head, *(_row(one, units) for one in judgement.groups if one.jobs)]
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    yield "mean waits (s), their bias, and the error of the mean waits of periods"
    for first, *others in rows:
        right = (text.rjust(width) for text, width in zip(others, wide[1:], strict=True))
        yield "  ".join([first.ljust(wide[0]), *right]).rstrip()


def _row(one: Judged, units: list[str]) -> list[str]:
    found = [one.bias, *(one.errors[unit] for unit in units)]
    group = one.by if one.by == "all" else f"{one.by} {one.group}"
    waits = [grouped(one.logged), grouped(one.simulated)]
    return [group, grouped(one.jobs), *waits, *(_short(value) for value in found)]


def _short(one: Range) -> str:
    if np.isnan(one.value):
        return "-"
    if one.low is None or one.high is None:
        return part(one.value)
    return f"{100 * one.value:.0f} % ({100 * one.low:.0f} to {100 * one.high:.0f})"


def site_facts(site: Site, fit: Fit | None, judgement: Judgement | None) -> dict[str, Any]:
    """Return the values that were read, fitted and judged, in a JSON-compatible form."""
    return {
        "cluster": site.name.value,
        "jobs": len(site.jobs),
        "dropped": dict(site.jobs.dropped),
        "cancelled": int(np.count_nonzero(site.jobs.leave >= 0)),
        "processors": {"value": site.processors.value, "source": site.processors.source},
        "resources": {
            name: {"value": fact.value, "source": fact.source}
            for name, fact in site.capacities.items()
        },
        **({"hosts": _host_facts(site.hosts)} if site.hosts else {}),
        "policy": (fit.setting if fit else start(site)).policy(site),
        "not_simulated": [asdict(note) for note in site.notes],
        "fitted": [asdict(one) for one in fit.parameters.values()] if fit else [],
        "simulations": fit.trials if fit else 0,
        "judgement": judgement.facts() if judgement else None,
        "level": LEVEL,
        "units": "s",
    }


def _host_facts(hosts: Hosted) -> dict[str, Any]:
    """Return the hosts that sinfo lists."""
    return {
        "groups": [{**fact.value, "source": fact.source} for fact in hosts.groups],
        "exclusive": hosts.exclusive.value,
        "partitions": {name: fact.value for name, fact in hosts.partitions.items()},
    }
