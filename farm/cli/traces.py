"""`farm traces`: list, fetch and describe logs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from schedfarm.farm.cli import words
from schedfarm.farm.cli.cautions import warn
from schedfarm.farm.cli.command import CAMPAIGN, COUNT, JSON, Command, Sections

if TYPE_CHECKING:
    from schedfarm.core.workload.workload import Workload
    from schedfarm.farm.campaign.trace import Trace
    from schedfarm.farm.output import Output

TRACES = click.option(
    "--traces",
    "folder",
    type=click.Path(path_type=Path),
    help="Folder to search first for named logs; never written to.",
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
"""Printed titles of JSON keys that are unclear by themselves."""


class Options(click.ParamType[dict[str, Any]]):
    """Parse KEY=VALUE,... into a table of numbers, booleans and texts."""

    name = "KEY=VALUE,..."

    def convert(self, value: Any, param: Any, ctx: Any) -> dict[str, Any]:
        """Return the table, or raise InputError."""
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
    help="Cleaning options, as in [traces.clean] of a campaign, such as kill=false.",
)


MAP = click.option(
    "--map",
    "map",
    metavar="NAME|FILE.toml",
    help="Map of the log's columns, as `map` of a campaign; by default the map next to the log.",
)

NAMES = click.option(
    "--names",
    is_flag=True,
    help="Keep names of users, groups, queues and partitions, in a file of the store that only its "
    "owner can read.",
)


@click.group(cls=Sections)
def traces() -> None:
    """List, fetch and describe logs."""


@traces.command("list", cls=Command)
@TRACES
@JSON
def list_(folder: Path | None, as_json: bool) -> None:
    """List the named logs: machine, rows, weeks, and whether the file is present."""
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
    """Download logs by NAME from the archive or by URL, and check their content.

    The files go to the folder SCHEDFARM_TRACES, by default a folder of the user's cache.
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
@click.argument("logs", nargs=-1, required=True, metavar="NAME|FILE...", shell_complete=words.logs)
@TRACES
@click.option("--processors", type=COUNT, help="Size of the machine; by default the log's own.")
@CLEAN
@MAP
@click.option(
    "--plots",
    type=click.Path(path_type=Path),
    help="Folder for figures of each log, NAME-KIND.pdf, as by `farm plot`; created if missing.",
)
@click.option("--latex", help="LaTeX file for the workload table (booktabs); - is standard output.")
@JSON
def info(
    logs: tuple[str, ...],
    folder: Path | None,
    plots: Path | None,
    latex: str | None,
    as_json: bool,
    **source: Any,
) -> None:
    """Describe logs: machine, jobs, dropped rows, acknowledgement, and a workload table.

    Several logs are described only by the table, with a column for each log.
    """
    from schedfarm.analysis.workloads import workload_latex, workload_text
    from schedfarm.farm.campaign.trace import named
    from schedfarm.farm.output import STANDARD, output

    if as_json and latex == STANDARD:
        raise click.UsageError("--json and --latex - both write to standard output: give one")
    sources = [named(log, folder, name="log", **source) for log in logs]
    read = [str(one.file) for one in sources if one.file]
    target = None if latex is None else output("--latex", latex, read)
    files = _figure_files(plots, [_named_log(one) for one in sources], read)
    facts = [_facts(one) for one in sources]
    err = target is not None and target.standard
    if as_json:
        click.echo(json.dumps(facts if len(facts) > 1 else facts[0], indent=1))
    elif len(facts) > 1:
        table = workload_text([(one["name"], one["table"]) for one in facts])
        click.echo(table, err=err)
        warn({one["name"]: one["cautions"] for one in facts})
    else:
        _describe(facts[0], err=err)
    if target is not None:
        table = workload_latex([(one["name"], one["table"]) for one in facts])
        target.write(table.encode())
        click.echo(f"table: {target.name}", err=err or as_json)
    for one, outputs in zip(sources, files, strict=True):
        _draw(one, outputs, err=err or as_json)


def _describe(facts: dict[str, Any], *, err: bool) -> None:
    """Print the description of one log."""
    from schedfarm.analysis.workloads import workload_text
    from schedfarm.core.numerals import grouped

    keys = ("cautions", "dropped", "shares", "table")
    said, dropped, parts, table = (facts[key] for key in keys)
    lines = [
        f"{TITLES.get(key, key):<26} {_shown(key, value)}"
        for key, value in facts.items()
        if key not in keys
    ]
    lines.append(f"{'rows dropped':<26} {grouped(sum(dropped.values()))}")
    lines += [
        f"  {why:<24} {grouped(count):>8}  {_meaning(why)}".rstrip()
        for why, count in dropped.items()
    ]
    for what, shares in parts.items():
        lines.append(f"share of jobs {SHARED.get(what, IGNORED)}")
        lines += [f"  {name:<24} {100 * share:>7.1f} %" for name, share in shares.items()]
    lines += ["workload table", *workload_text([(facts["name"], table)]).splitlines()[1:]]
    lines += [f"caution: {sentence}" for sentence in said.values()]
    click.echo("\n".join(lines), err=err)


def _named_log(trace: Trace) -> str:
    from schedfarm.core.logs.rows import log_name

    return trace.log or log_name(Path(trace.file or "").name)


def _figure_files(
    folder: Path | None, names: list[str], read: list[str]
) -> list[dict[str, Output]]:
    """Return the checked figure files of each log, by kind; refuse logs with equal names."""
    from schedfarm.core.errors import InputError
    from schedfarm.farm.output import output

    if len(set(names)) < len(names):
        raise InputError(f"logs {', '.join(names)}: two have the same name; rename one")
    if folder is None:
        return [{} for _ in names]
    from schedfarm.analysis.plots.kinds import KINDS, STORE

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = error.strerror or str(error)
        raise InputError(f"--plots {folder}: cannot be created ({why}); name another") from None
    kinds = [row.name for row in KINDS.values() if row.needs != STORE]
    return [
        {kind: output("--plots", folder / f"{name}-{kind}.pdf", read) for kind in kinds}
        for name in names
    ]


def _draw(trace: Trace, files: dict[str, Output], *, err: bool) -> None:
    """Draw the figures of a log; figures of schedules need the log's waits."""
    from schedfarm.core.errors import InputError
    from schedfarm.farm.cli.logged import LOGGED, as_logged

    if not files:
        return
    from schedfarm.analysis.plots.kinds import KINDS, SCHEDULE, plot

    jobs = trace.read()
    assert jobs is not None, "a trace that was named is no model"
    schedule = as_logged(jobs)
    for kind, target in files.items():
        of_schedule = KINDS[kind].needs == SCHEDULE
        if of_schedule and schedule is None:
            click.echo(f"note: no {kind} of {jobs.name}, whose waits are unknown", err=True)
            continue
        of = {LOGGED: schedule} if of_schedule and schedule is not None else jobs
        try:
            with target.made() as part:
                plot(kind, of, part)
        except InputError as error:
            click.echo(f"note: no {kind}: {error}", err=True)
            continue
        click.echo(f"figure: {target.name}", err=err)


@traces.command(cls=Command)
@click.argument("logs", nargs=-1, required=True, metavar="NAME|FILE...", shell_complete=words.logs)
@TRACES
@CLEAN
@MAP
@click.option("--count", type=COUNT, default=6, show_default=True, help="Number of windows.")
@click.option(
    "--days",
    type=COUNT,
    default=7,
    show_default=True,
    help="Length of a window, days.",
)
@click.option(
    "--jobs",
    type=(int, int),
    default=None,
    metavar="LEAST MOST",
    help="Least and largest number of jobs in a window.  [239 1391]",
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
    """Find windows of high offered load: the highest of each log, then the next highest of all.

    A window begins at midnight (UTC) and is printed as the `select.dates` of a campaign.
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
@click.option(
    "--out",
    required=True,
    help="File for the jobs: NAME.csv on nodes and networks, with the machine in NAME.toml; else "
    "SWF (.swf) or Batsim's workload (.json).",
)
def write(campaign: str, trace: str, folder: Path | None, out: str) -> None:
    """Write the jobs of a campaign's TRACE as a log, or on nodes and networks as a table.

    Use the file as `file = "NAME"` in a campaign, or with `farm simulate NAME`.
    """
    from schedfarm.core.errors import InputError
    from schedfarm.core.logs.formats import writer_of
    from schedfarm.core.logs.packed import packed_for
    from schedfarm.core.names import choices
    from schedfarm.farm.campaign.shipped import find
    from schedfarm.farm.cli.table_files import table_files, write_table
    from schedfarm.farm.output import output

    known = {one.name: one for one in find(campaign).traces}
    if trace not in known:
        raise InputError(f"campaign {campaign!r} has no trace {trace!r}; {choices(trace, known)}")
    source = known[trace].located(folder)
    jobs = source.read()
    if jobs is None:
        raise InputError(f"trace {trace!r} is a model, which has other jobs in each sample")
    if not jobs.platform.asks:
        content = writer_of(out)(jobs)
        output("--out", out, [campaign, *source.files]).write(packed_for(out, content))
        return
    files = table_files(out, [campaign, *source.files], jobs.platform)
    write_table(files, jobs)


@traces.command(cls=Command)
@click.argument("log", type=click.Path(path_type=Path))
@click.option(
    "--out", required=True, help="File of the copy; gzip if it ends in .gz; - is standard output."
)
@click.option(
    "--weeks",
    type=int,
    default=0,
    show_default=True,
    help="Whole weeks by which all times are shifted, negative for earlier.",
)
def anonymise(log: Path, out: str, weeks: int) -> None:
    """Copy a LOG of sacct or SWF without the names of users, groups, accounts and jobs.

    Each name becomes a number in order of appearance. Columns that may contain names are left out
    and listed. Job numbers, partitions and qualities of service are kept.
    """
    import gzip

    from schedfarm.core.logs.anonymise import anonymise as copy
    from schedfarm.core.numerals import grouped
    from schedfarm.farm.output import output

    target = output("--out", out, [str(log)])
    found = copy(log, weeks)
    content = found.text.encode()
    target.write(gzip.compress(content, mtime=0) if out.lower().endswith(".gz") else content)
    lines = [f"{grouped(found.rows)} rows"]
    lines += [f"replaced {name}: {grouped(count)} names" for name, count in found.replaced.items()]
    lines += [f"left out {name}" for name in found.left_out]
    click.echo("\n".join(lines), err=target.standard)


@traces.command(cls=Command)
@JSON
def maps(as_json: bool) -> None:
    """List the ready maps of columns: data, DOI, licence, documentation."""
    from schedfarm.core.logs.field_map import ready_map, ready_names

    rows = {name: dict(ready_map(name).about) for name in ready_names()}
    if as_json:
        click.echo(json.dumps(rows, indent=1, ensure_ascii=False))
        return
    for name, about in rows.items():
        click.echo(f"{name:<16} {about.pop('title', '')}")
        for key, text in about.items():
            click.echo(f"{'':<16} {key}: {text}")


traces.add_section(
    "Commands",
    {
        list_: "List the named logs.",
        fetch: "Download logs by name or by URL.",
        info: "Describe logs, as text, LaTeX and figures.",
        busiest: "Find the windows with the highest load.",
        write: "Write the jobs of a trace as a log.",
        anonymise: "Copy a log without names.",
        maps: "List the ready maps of columns.",
    },
)


def _shown(key: str, value: Any) -> str:
    """Format a value for the terminal."""
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

    from schedfarm.analysis import characteristics
    from schedfarm.core import offered_load
    from schedfarm.core.workload.resample_weeks import span_weeks
    from schedfarm.farm.campaign.warnings import Case, warnings_of
    from schedfarm.farm.cli.logged import as_logged

    log = trace.read()
    assert log is not None, "a trace that was named is no model"
    return {
        "name": log.name,
        "processors": log.processors,
        **_asked(log),
        "jobs": len(log),
        "users": len(set(log.user.tolist())),
        "weeks": span_weeks(log),
        # Jobs submitted at one instant have no offered load.
        "offered_load": round(offered_load(log), 4) if np.ptp(log.submit) else None,
        "largest_estimate_s": log.max_estimate,
        "killed": int(log.killed.sum()),
        "dropped": dict(log.dropped),
        "shares": _shares(log),
        "table": characteristics(log, as_logged(log)),
        "cautions": warnings_of(Case(log, sized=trace.machine is not None)),
        "acknowledge": trace.acknowledgement() or "not known",
        "sha256_columns": log.digest(),
    }


SHARED = {
    "group": "by account",
    "queue": "by queue or quality of service",
    "partition": "by partition",
}
"""Titles of the shares of jobs, by column."""

IGNORED = "with attributes that the log's scheduler used and few policies do"
"""Title of the shares of jobs with ignored attributes."""

MOST = 12
"""Number of accounts, queues or partitions that are listed, largest first."""


def _shares(log: Workload) -> dict[str, dict[str, float]]:
    """Return the shares of jobs by account, queue and partition, and of ignored attributes.

    A column with one value is omitted.
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
"""Columns of requests on some platforms, each with two values: the JSON key of the number of jobs
with a request, and the value that means no request.
"""


def _asked(log: Workload) -> dict[str, Any]:
    """Return the number of places, and the number of jobs with each kind of request.

    Empty on a platform whose jobs have no requests.
    """
    platform = log.platform
    if not platform.asks:
        return {}
    rows = (ASKED[name] + (getattr(log, name),) for name in platform.asks if name in ASKED)
    found = {key: int((values > nothing).sum()) for key, nothing, values in rows}
    return {f"{platform.part}s": len(platform.places), **found}


def _meaning(reason: str) -> str:
    from schedfarm.core.logs import oar, sacct

    return {**sacct.REASONS, **oar.REASONS}.get(reason, "")
