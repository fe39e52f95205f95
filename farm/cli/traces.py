"""`farm traces`: the logs that have names, where they are, and what one holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from schedfarm.farm.cli import words
from schedfarm.farm.cli.command import CAMPAIGN, JSON, Command, Sections

if TYPE_CHECKING:
    from schedfarm.core.workload.workload import Workload
    from schedfarm.farm.campaign.trace import Trace

TRACES = click.option(
    "--traces",
    "folder",
    type=click.Path(path_type=Path),
    help="Folder of logs to look in first; nothing is written to it.",
)

TITLES = {
    "offered_load": "offered load",
    "largest_estimate_s": "largest estimate",
    "killed": "killed at their estimate",
    "with_properties": "jobs with properties",
    "reserved": "jobs reserved in advance",
    "moldable": "moldable jobs",
    "communicating": "jobs that communicate",
    "sha256_columns": "sha256 of columns",
}
"""How people read the keys of the JSON that are not words of theirs."""


class Options(click.ParamType[dict[str, Any]]):
    """Read KEY=VALUE,... as a table: numbers, true and false as such, the rest as text."""

    name = "KEY=VALUE,..."

    def convert(self, value: Any, param: Any, ctx: Any) -> dict[str, Any]:
        """Return the table, or refuse what is not of this form."""
        from schedfarm.core.errors import InputError

        table: dict[str, Any] = {}
        for part in str(value).split(",") if value else ():
            key, equals, word = part.strip().partition("=")
            if not key or not equals or key in table:
                raise InputError(f"--clean: {part!r} is not KEY=VALUE, such as kill=false, once")
            table[key] = {"true": True, "false": False}.get(word, word)
            if word.isascii() and word.isdigit():
                table[key] = int(word)
        return table


CLEAN = click.option(
    "--clean",
    type=Options(),
    default="",
    help="How rows become jobs, as [traces.clean] of a campaign, such as kill=false.",
)


@click.group(cls=Sections)
def traces() -> None:
    """Fetch logs and look at them."""


@traces.command("list", cls=Command)
@TRACES
@JSON
def list_(folder: Path | None, as_json: bool) -> None:
    """List the logs that can be named instead of a file: machine, rows, weeks, whether here."""
    from schedfarm.core.numerals import NOTHING, grouped

    rows = _known(folder)
    if as_json:
        click.echo(json.dumps(rows, indent=1))
        return
    titles = ("short", "name", "processors", "rows", "weeks", "here", "machine")
    for row in [dict(zip(titles, titles, strict=True)), *rows]:
        row["here"] = row.get("here") or ("yes" if row["file"] else "no")
        cells = (row[title] for title in titles)
        words = [grouped(x) if isinstance(x, int) else x or NOTHING for x in cells]
        click.echo("{:<12}  {:<24}  {:>10}  {:>8}  {:>5}  {:<4}  {}".format(*words))


@traces.command(cls=Command)
@click.argument("logs", nargs=-1, required=True, metavar="NAME|URL...", shell_complete=words.logs)
@TRACES
@JSON
def fetch(logs: tuple[str, ...], folder: Path | None, as_json: bool) -> None:
    """Bring logs here, by NAME from the archive or by URL, and check their content.

    They are kept in the folder that SCHEDFARM_TRACES names, by default in the user's cache.
    """
    from schedfarm.farm.logs.fetch import fetch as bring
    from schedfarm.farm.logs.registry import acknowledgement

    rows = []
    for log in logs:
        path = bring(log, folder)
        thanks = acknowledgement(path)
        rows.append({"file": str(path), "acknowledge": thanks or None})
        if not as_json:
            click.echo(path)
            click.echo(f"  acknowledge: {thanks}" if thanks else "", nl=bool(thanks))
    if as_json:
        click.echo(json.dumps(rows, indent=1))


@traces.command(cls=Command)
@click.argument("log", metavar="NAME|FILE", shell_complete=words.logs)
@TRACES
@click.option("--processors", type=int, help="Size of the machine; by default the log's own.")
@CLEAN
@JSON
def info(log: str, folder: Path | None, as_json: bool, **source: Any) -> None:
    """Say what a log holds: machine, jobs, span, offered load, what was dropped, whom to thank."""
    from schedfarm.core.numerals import grouped
    from schedfarm.farm.campaign.trace import named

    facts = _facts(named(log, folder, name="log", **source))
    if as_json:
        click.echo(json.dumps(facts, indent=1))
        return
    said, dropped, parts = (facts.pop(key) for key in ("cautions", "dropped", "shares"))
    for key, value in facts.items():
        click.echo(f"{TITLES.get(key, key):<26} {_shown(key, value)}")
    click.echo(f"{'rows dropped':<26} {grouped(sum(dropped.values()))}")
    for why, count in dropped.items():
        click.echo(f"  {why:<24} {grouped(count):>8}  {_meaning(why)}".rstrip())
    for what, shares in parts.items():
        click.echo(f"share of jobs {SHARED.get(what, IGNORED)}")
        for name, share in shares.items():
            click.echo(f"  {name:<24} {100 * share:>7.1f} %")
    for sentence in said.values():
        click.echo(f"caution: {sentence}")


@traces.command(cls=Command)
@click.argument("logs", nargs=-1, required=True, metavar="NAME|FILE...", shell_complete=words.logs)
@TRACES
@CLEAN
@click.option(
    "--count", type=click.IntRange(min=1), default=6, show_default=True, help="How many windows."
)
@click.option(
    "--days", type=click.IntRange(min=1), default=7, show_default=True, help="Length of a window."
)
@click.option(
    "--jobs",
    type=(int, int),
    default=None,
    metavar="LEAST MOST",
    help="Jobs of a window; by default 239 to 1391.",
)
@JSON
def busiest(
    logs: tuple[str, ...],
    folder: Path | None,
    count: int,
    days: int,
    jobs: tuple[int, int] | None,
    as_json: bool,
    **source: Any,
) -> None:
    """Find windows of high activity: of each log the one of the largest load, then the next ones.

    A window begins at midnight (UTC) and is told as `select.dates` of a campaign.
    """
    from schedfarm.core.errors import InputError
    from schedfarm.core.workload.windows import JOBS, busiest as found
    from schedfarm.farm.campaign.trace import named

    if jobs and not 0 <= jobs[0] <= jobs[1]:
        raise InputError(f"--jobs {jobs[0]} {jobs[1]}: give the least from 0, then the most")
    read = (named(log, folder, name="log", **source).read() for log in logs)
    windows = found([log for log in read if log], count, days=days, jobs=jobs or JOBS)
    if as_json:
        click.echo(json.dumps([window._asdict() for window in windows], indent=1))
        return
    if not windows:
        least, most = jobs or JOBS
        click.echo(f"no window of {days} days has {least} to {most} jobs")
        return
    click.echo("{:<24}  {:<10}  {:<10}  {:>6}  {:>5}".format(*windows[0]._fields))
    for w in windows:
        click.echo(f"{w.log:<24}  {w.first}  {w.last}  {w.jobs:>6}  {w.load:>5.2f}")


@traces.command(cls=Command)
@CAMPAIGN
@click.argument("trace")
@TRACES
@click.option("--out", required=True, help="NAME.csv; the machine goes to NAME.toml beside it.")
def write(campaign: str, trace: str, folder: Path | None, out: str) -> None:
    """Write jobs of a campaign's TRACE on nodes or a network as a table, to look at or change.

    The files are a log like others: `file = "NAME.csv"` of a campaign, `farm simulate NAME.csv`.
    """
    from schedfarm.core.errors import InputError
    from schedfarm.core.names import choices
    from schedfarm.farm.campaign.shipped import find
    from schedfarm.farm.cli.table_files import table_files, write_table

    known = {one.name: one for one in find(campaign).traces}
    if trace not in known:
        raise InputError(f"campaign {campaign!r} has no trace {trace!r}; {choices(trace, known)}")
    source = known[trace].located(folder)
    jobs = source.read()
    if jobs is None:
        raise InputError(f"trace {trace!r} is a model, which has other jobs in each sample")
    if not jobs.platform.asks:
        raise InputError(
            f"trace {trace!r} is on a {jobs.platform.name}, whose jobs ask for processors alone; "
            "farm simulate --out writes a log of them"
        )
    files = table_files(out, [campaign, *source.files], jobs.platform)
    write_table(files, jobs)


traces.add_section(
    "Commands",
    {
        list_: "List the logs that can be named instead of a file.",
        fetch: "Bring logs here, by name or by URL, and check their content.",
        info: "Say what a log holds.",
        busiest: "Find the windows of a log in which most was asked of its machine.",
        write: "Write jobs of a campaign on nodes or a network as a table.",
    },
)


def _shown(key: str, value: Any) -> str:
    """Return a fact as people read it."""
    from schedfarm.core.numerals import significant, timed

    if value is None or isinstance(value, str):
        return value or "none"
    return timed(value) if key.endswith("_s") else significant(value)


def _known(folder: Path | None) -> list[dict[str, Any]]:
    from schedfarm.core.logs.rows import log_name
    from schedfarm.farm.logs.registry import cache_folder, entries, here, kept, note_of

    rows: list[dict[str, Any]] = []
    for entry in entries():
        path = here(entry.name, folder)
        keys = ("short", "name", "processors", "rows", "weeks", "machine")
        facts = {key: getattr(entry, key) for key in keys}
        rows.append({**facts, "file": str(path) if path else None})
    for path in kept(cache_folder()):
        unknown = dict.fromkeys(("short", "processors", "rows", "weeks"))
        facts = {**unknown, "name": log_name(path.name), "machine": note_of(path)["url"]}
        rows.append({**facts, "file": str(path)})
    return rows


def _facts(trace: Trace) -> dict[str, Any]:
    import numpy as np

    from schedfarm.core import offered_load
    from schedfarm.farm.campaign.trace import span_weeks
    from schedfarm.farm.campaign.warnings import Case, warnings_of

    log = trace.read()
    assert log is not None, "a trace that was named is no model"
    return {
        "name": log.name,
        "processors": log.processors,
        **_asked(log),
        "jobs": len(log),
        "users": len(set(log.user.tolist())),
        "weeks": span_weeks(log),
        # Jobs of one instant offer none.
        "offered_load": round(offered_load(log), 4) if np.ptp(log.submit) else None,
        "largest_estimate_s": log.max_estimate,
        "killed": int(log.killed.sum()),
        "dropped": dict(log.dropped),
        "shares": _shares(log),
        "cautions": warnings_of(Case(log, sized=trace.machine is not None)),
        "acknowledge": trace.acknowledgement() or "not known",
        "sha256_columns": log.digest(),
    }


SHARED = {
    "group": "by account",
    "queue": "by queue or quality of service",
    "partition": "by partition",
}
"""Of columns that a log may have: how the text calls their shares."""

IGNORED = "that no policy considers as the log's did"
"""How the text calls the shares of what is ignored."""

MOST = 12
"""How many accounts, queues or partitions are listed, from the one with most jobs on."""


def _shares(log: Workload) -> dict[str, dict[str, float]]:
    """Return the shares of jobs by account, queue and partition, and of those with what is ignored.

    A column whose jobs have all one value is left out.
    """
    import numpy as np

    from schedfarm.farm.campaign.warnings import ignored_shares

    found = {}
    for column in SHARED:
        numbers, counts = np.unique(getattr(log, column), return_counts=True)
        if numbers.size < 2:
            continue
        names = {-1: "unknown", **log.names.get(column, {})}
        order = np.argsort(-counts, kind="stable")[:MOST]
        found[column] = {
            names.get(int(numbers[k]), str(numbers[k])): float(counts[k] / len(log)) for k in order
        }
    if beside := ignored_shares(log):
        found["ignored"] = beside
    return found


ASKED = {
    "properties": ("with_properties", -1),
    "reserved": ("reserved", -1),
    "serial": ("moldable", -1),
    "communication": ("communicating", 0),
}
"""Of columns that jobs ask for on some platforms: the key of how many do, and what none of them has
less than."""


def _asked(log: Workload) -> dict[str, Any]:
    """Return places, and how many jobs ask for what, where the platform knows more than procs."""
    platform = log.platform
    if not platform.asks:
        return {}
    rows = (ASKED[name] + (getattr(log, name),) for name in platform.asks if name in ASKED)
    found = {key: int((values > nothing).sum()) for key, nothing, values in rows}
    return {f"{platform.part}s": len(platform.places), **found}


def _meaning(reason: str) -> str:
    from schedfarm.core.logs import oar, sacct

    return {**sacct.REASONS, **oar.REASONS}.get(reason, "")
