"""The files of a site: its tables, and a campaign; each line names its source.

Names of users are only in the tables, since stores contain the campaign.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w

from schedfarm.core.checks import printable
from schedfarm.core.durations import duration
from schedfarm.core.numerals import counted
from schedfarm.farm.campaign.template import ALONE, DRAW, RESAMPLES, drawing
from schedfarm.farm.site.calibration import Fit, Fitted
from schedfarm.farm.site.dump.facts import Fact
from schedfarm.farm.site.dump.kinds import KINDS
from schedfarm.farm.site.hosts import Hosted, enlarged
from schedfarm.farm.site.judgement import Judgement
from schedfarm.farm.site.limits import Limited
from schedfarm.farm.site.model import Site, widest_of
from schedfarm.farm.site.parameters import start
from schedfarm.farm.site.rule import LONGEST
from schedfarm.farm.site.text import verdict

LARGER = 1.1
"""Size of the larger machine in the campaign, as a multiple of the effective capacity."""

COMMENT = 36

TIMES = ("max_age", "calc", "halflife")
"""Scalar arguments of the order that are durations, s."""

FITTED = "fitted"

NAMED = "site"
"""Name of the site's policy in the campaign, its tables and figures."""

SIGNED = "# Written by farm site; SHA-256 of the lines below: "
"""Prefix of the files, followed by the digest."""


def _toml(value: Any) -> str:
    """Return a value as TOML, with a list in one line."""
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return tomli_w.dumps({"x": value}).partition("=")[2].strip()


def _inline(value: Any) -> str:
    """Return a table, or another value, as TOML in one line."""
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_name(key)} = {_inline(one)}' for key, one in value.items())} }}"
    return _toml(value)


def _line(key: str, value: Any, comment: str) -> str:
    return f"{f'{key} = {_toml(value)}':<{COMMENT}}  {_comment(comment)}"


def _comment(text: str) -> str:
    """Return a comment of TOML without control characters, which TOML does not allow."""
    return f"# {printable(text)}"


def _name(name: str) -> str:
    """Return a name in the form of a TOML key."""
    return tomli_w.dumps({name: 1}).rpartition(" = ")[0]


def _interval(one: Fitted, written: Any = str) -> str:
    return f"{FITTED}: {written(one.low)} to {written(one.high)}"


def site_file(site: Site, fit: Fit | None) -> str:
    """Return the tables that `farm policies --site` reads."""
    return _signed(_tables(site, fit))


def _tables(site: Site, fit: Fit | None) -> Iterator[str]:
    yield _comment(f"Priority of the site {site.name.value}, from the dump {site.folder}.")
    yield "# farm policies --site FILE prints the order. Each line names its source."
    yield ""
    yield "[priority]"
    for name, fact in site.priority.items():
        write = duration if name in TIMES else lambda value: value
        found = fit.parameters.get(name) if fit else None
        if found:
            yield _line(name, write(found.value), f"{_interval(found)}; {fact.source}")
        else:
            yield _line(name, write(fact.value), fact.source)
    for name, account in site.associations.accounts.items():
        yield from ("", f"[accounts.{_name(name)}]")
        yield _line("shares", account.shares.value, account.shares.source)
        if account.parent:
            yield _line("parent", account.parent, account.shares.source)
        yield from _limits(site, "account", name)
    for (user, name), row in site.associations.users.items():
        if name in site.associations.accounts:
            yield from ("", f"[users.{_name(f'{user}@{name}')}]")
            yield _line("shares", row.shares.value, row.shares.source)
            yield from _limits(site, "user", f"{user}@{name}")
    for name, qos in site.qos.items():
        yield from ("", f"[qos.{_name(name)}]")
        yield _line("priority", qos.priority.value, qos.priority.source)
        yield from _limits(site, "qos", name)
    yield from _factors(site)
    yield from _root(site)
    yield from _scheduler(site, fit)
    if users := site.names.get("user", {}):
        yield from ("", "# Users have these numbers in campaign.toml, and in stores:")
        yield from (_comment(f"  {number} {name}") for number, name in users.items())


def _factors(site: Site) -> Iterator[str]:
    """Yield the tables of the partitions' factors."""
    for name, factor in site.factors.items():
        yield from ("", f"[partitions.{_name(name)}]")
        yield _line("factor", factor.value, factor.source)
        if tier := site.tiers.get(name):
            yield _line("tier", tier.value, tier.source)


def _root(site: Site) -> Iterator[str]:
    """Yield the table of the root's limits, if it has any."""
    if limits := list(_limits(site, "root", "")):
        yield from ("", "[root]", *limits)


def _scheduler(site: Site, fit: Fit | None) -> Iterator[str]:
    """Yield the table of the rule and its options."""
    yield from ("", "[scheduler]")
    yield _line("rule", site.rule.value, site.rule.source)
    found = fit.parameters.get("bf_rate") if fit else None
    for name, option in site.options.items():
        if found or name != LONGEST:
            yield _line(name, option.value, option.source)
    if found:
        yield _line("bf_rate", str(found.value), _interval(found))


def _limits(site: Site, kind: str, name: str) -> Iterator[str]:
    """Yield the lines for the limits of a holder; limits of several resources share a line."""
    found: dict[str, list[Limited]] = {}
    for one in site.limits:
        if (one.kind, one.name) == (kind, name):
            found.setdefault(one.key, []).append(one)
    for key, several in found.items():
        values = ",".join(one.equals for one in several)
        value = values if several[0].tres else several[0].value
        yield _line(key, value, several[0].source)


def campaign_file(site: Site, fit: Fit | None, judgement: Judgement | None, folder: Path) -> str:
    """Return the text of a campaign of the site, with an axis of the machine's size."""
    return _signed(_campaign(site, fit, judgement, folder))


def _signed(lines: Iterable[str]) -> str:
    """Return a file with the digest of its lines in the first line, which reveals later edits."""
    text = "\n".join(lines) + "\n"
    return f"{SIGNED}{_digest(text.encode())}\n{text}"


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()


def is_unedited(data: bytes) -> bool:
    """Return whether a file is unchanged since `farm site` wrote it."""
    first, _, rest = data.partition(b"\n")
    return first == f"{SIGNED}{_digest(rest)}".encode()


def _campaign(
    site: Site, fit: Fit | None, judgement: Judgement | None, folder: Path
) -> Iterator[str]:
    yield _comment(f"The site {site.name.value} as it is, and with more processors.")
    yield "# Each line names its source."
    if judgement:
        yield _comment(verdict(judgement))
    for note in site.notes:
        yield _comment(f"{note}.")
    yield ""
    yield _line("name", "site", "the results go to the folder site.farm")
    yield _line("seed", 1, "root of all randomness")
    yield from _samples(site)
    yield _line("log", True, "the log itself, for farm validate")
    setting = fit.setting if fit else start(site)
    if setting.order is not None:
        yield "# Accounts, QOS and partitions have the log's numbers, and users those of site.toml:"
        for column, what in (
            ("group", "account"),
            ("queue", "QOS"),
            ("partition", "partition"),
        ):
            names: Mapping[int, str] = site.names.get(column, {})
            if names:
                listed = ", ".join(f"{number} {name}" for number, name in names.items())
                yield _comment(f"  {what}: {listed}")
    sources = dict.fromkeys((site.rule.source, *(one.source for one in site.options.values())))
    yield _line("policies", [NAMED], "as named below; others beside it are compared with it")
    yield ""
    yield "[named]"
    yield _comment(f"order: site.toml; rule: {'; '.join(sources)}")
    yield f"{NAMED} = {_toml(setting.policy(site, axes=True))}"
    yield ""
    size = setting.processors
    found = fit.parameters.get("processors") if fit else None
    source = (
        f"{_interval(found)}, of {found.given} in {site.processors.source}"
        if found
        else site.processors.source
    )
    larger, percent = _larger(site, size)
    yield "[axes]"
    yield _line("processors", [size, larger], f"as it is, and {percent} % more")
    for one in site.limits:
        half = f"; half of it: [{one.value}, {one.value // 2}]"
        yield _line(one.axis, [one.value], f"{one.source}{half}")
    yield ""
    yield "[[traces]]"
    yield _line("name", "site", "label in tables")
    yield _line(
        "file",
        _relative(site.log, folder),
        f"{KINDS['accounting'].file}: {counted(len(site.jobs), 'job')}",
    )
    if not site.hosts:
        yield _line("processors", size, source)
    yield _line("names", False, "true: names of users in a file of the store, for its owner only")
    if site.partitions:
        yield _line("select.partitions", _with_jobs(site), KINDS["sinfo"].file)
    yield from _machine(site, size, source)
    yield from _cleaning(site)


def _cleaning(site: Site) -> Iterator[str]:
    """Yield the lines that select the simulated jobs and define their arrival."""
    yield _line("clean.submit", "eligible", "a held job arrives when it becomes eligible")
    if site.apart:
        why = f"{KINDS['reservations'].file}: their nodes are withheld from all other jobs"
        yield _line("clean.reserved", "drop", why)
    if site.jobs.has_leaving:
        yield _line("clean.cancelled", "queue", "--cancelled: these jobs wait until they leave")
        yield _line("select.widths", [1, widest_of(site.jobs)], "up to the widest job that started")


def _machine(site: Site, size: int, source: str) -> Iterator[str]:
    """Yield the lines of hosts, or of partitions and other resources, for a machine of this size.

    source: source of the size.
    """
    if site.hosts:
        yield from _hosts(site.hosts.sized(size), source)
    if site.divided:
        for key, name, value, source in site.divided.lines(site.jobs, size):
            yield _line(f"partitions.{key}.{_name(name)}", value, source)
        yield from _windows("partitions", site.divided.windows_for(site.jobs, size))
    for name, fact in site.capacities.items():
        yield _line(f"resources.{name}", fact.value, fact.source)


def _hosts(hosts: Hosted, source: str) -> Iterator[str]:
    """Yield the lines of hosts; source: source of their number."""
    yield f"{'hosts.groups = [':<{COMMENT}}  {_comment(source)}"
    for fact in hosts.groups:
        memory = {"memory": f"{fact.value['memory'] >> 20} MiB"} if "memory" in fact.value else {}
        yield f"  {_inline(fact.value | memory)},  {_comment(fact.source)}"
    yield "]"
    if hosts.exclusive.value:
        yield _line("hosts.exclusive", True, hosts.exclusive.source)
    for key in ("partitions", "max_time", "max_nodes"):
        for name, one in getattr(hosts, key).items():
            yield _line(f"hosts.{key}.{_name(name)}", one.value, one.source)
    yield from _windows("hosts", hosts.windows)


def _windows(key: str, windows: Sequence[Fact[dict[str, Any]]]) -> Iterator[str]:
    """Yield the lines of the windows of a table, if it has any."""
    if windows:
        yield f"{f'{key}.windows = [':<{COMMENT}}  # seconds from the log's beginning"
        yield from (f"  {_inline(one.value)},  {_comment(one.source)}" for one in windows)
        yield "]"


def _larger(site: Site, size: int) -> tuple[int, int]:
    """Return the size of a larger machine, and the difference, %."""
    larger = round(size * LARGER)
    if not site.hosts:
        return larger, round(100 * (LARGER - 1))
    machine = site.hosts.sized(size).how.machine
    larger = enlarged(machine, larger)
    return larger, round(100 * (machine.sized(larger).size / size - 1))


def _samples(site: Site) -> Iterator[str]:
    """Yield the lines of samples, if the log is long enough, and of a caution."""
    can_draw, caution = drawing([site.jobs])
    if caution:
        yield _comment(f"{caution}.")
    if can_draw:
        yield _line("resamples", RESAMPLES, "samples of the log: random weeks")
        yield _line("draw", DRAW, "with the jobs of all users in a week together")
    else:
        yield _line("resamples", 0, ALONE)


def _with_jobs(site: Site) -> list[str]:
    """Return the simulated partitions with jobs, since a selection refuses other partitions."""
    names = site.names.get("partition", {})
    used = {names.get(number) for number in np.unique(site.jobs.partition).tolist()}
    return [name for name in site.partitions if name in used]


def _relative(path: Path, folder: Path) -> str:
    return os.path.relpath(path.resolve(), folder.resolve())
