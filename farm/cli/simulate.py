"""`farm simulate`: one log, one policy, one schedule."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from io import StringIO
from itertools import chain
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import click

from schedfarm.farm.campaign.resampling import METHODS, ResamplingMethod, find_method
from schedfarm.farm.campaign.scaling import LOAD_BY, ORIGINAL, LoadScaling, check_overload
from schedfarm.farm.cli import words
from schedfarm.farm.cli.cautions import warn
from schedfarm.farm.cli.command import COUNT, QUIET, command, needs
from schedfarm.farm.cli.logged import as_logged
from schedfarm.farm.cli.own import brought_policy, own_files
from schedfarm.farm.cli.traces import CLEAN, MAP, TRACES

if TYPE_CHECKING:
    from schedfarm.core.metrics.metric import Metric
    from schedfarm.core.schedule import Schedule
    from schedfarm.core.workload.options import Options
    from schedfarm.core.workload.workload import Workload
    from schedfarm.farm.output import Output

GROUPS = {
    "jobs": ("jobs", "backfilled", "killed", "refused", "withdrawn", "lost"),
    "waits": ("wait", "wait_p50", "wait_p90", "wait_max"),
    "slowdowns": ("bounded_slowdown", "bounded_slowdown_p50", "bounded_slowdown_p90"),
    "machine": ("offered_load", "utilisation", "queue_length", "makespan"),
}
"""Metrics that are printed by default, by title."""

SELDOM = frozenset({"refused", "withdrawn", "lost"})
"""Metrics that are printed only if they are not zero."""

LABEL, COLUMN = 46, 16
"""Widths of labels and number columns: two columns fit 80 characters."""

UNKNOWN_TO_LOGS = frozenset({"backfilled"})
"""Metrics that cannot be computed from the starts of a log."""

MOST_GROUPS = 3
"""Number of users, accounts, queues or partitions that are printed, largest first."""


def _rows_of(rows: Mapping[str, ResamplingMethod] | Mapping[str, LoadScaling]) -> str:
    return ", ".join(f"{name} ({row.meaning})" for name, row in rows.items())


class Resource(click.ParamType[tuple[str, str]]):
    """Parse NAME=AMOUNT into a pair."""

    name = "NAME=AMOUNT"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, str]:
        """Return the pair, or fail."""
        name, equals, amount = str(value).partition("=")
        if not equals or not name or not amount:
            self.fail(f"{value!r} is not NAME=AMOUNT, such as gpus=64", param, ctx)
        return name, amount


class Rows(click.ParamType[tuple[int, int]]):
    """Parse A:B into a pair of row numbers."""

    name = "A:B"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, int]:
        """Return the pair, or fail."""
        first, colon, last = str(value).partition(":")
        if not colon or not first.isdigit() or not last.isdigit() or int(first) >= int(last):
            self.fail(f"{value!r} is not A:B with A < B, such as 0:5000", param, ctx)
        return int(first), int(last)


@command()
@click.argument("trace", metavar="NAME|FILE", shell_complete=words.logs)
@TRACES
@click.option(
    "--policy",
    required=True,
    shell_complete=words.policies,
    help="ORDER+RULE[,option=value], such as saf+easy; a rule alone implies fcfs.",
)
@click.option(
    "--processors", type=COUNT, help="Processors of the machine; by default those of the log."
)
@click.option(
    "--grid", is_flag=True, help="Simulate a named log on its clusters instead of one pool."
)
@click.option(
    "--resource",
    "resources",
    type=Resource(),
    multiple=True,
    callback=lambda _, __, pairs: dict(pairs) or None,
    help="Limited amount of another resource: gpus=64, memory=2TiB, licences=5, watts=1.2MW; "
    "repeatable.",
)
@click.option(
    "--partitions",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    callback=lambda _, __, path: _partitions_of(path) if path else None,
    help="TOML file with the partitions of the nodes, as [traces.partitions] of a campaign.",
)
@click.option(
    "--hosts",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    callback=lambda _, __, path: _hosts_of(path) if path else None,
    help="TOML file with hosts that jobs share, as [traces.hosts] of a campaign.",
)
@click.option("--rows", type=Rows(), help="Rows [A, B) of the file, before any filter.")
@click.option("--jobs", type=COUNT, help="Number of jobs to simulate, from the first.")
@CLEAN
@MAP
@click.option(
    "--resample",
    type=int,
    default=0,
    show_default=True,
    help="Index of a resample; 0 is the log itself.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the resamples.")
@click.option("--weeks", type=COUNT, help="Weeks of a resample; by default those of the log.")
@click.option(
    "--draw",
    default=next(iter(METHODS)),
    shell_complete=words.listed(lambda: METHODS),
    show_default=True,
    callback=lambda _, __, draw: find_method(draw).name,
    help=f"Resampling method: {_rows_of(METHODS)}.",
)
@click.option(
    "--load",
    default=ORIGINAL,
    show_default=True,
    help="Offered load to scale the jobs to, such as 0.9.",
)
@click.option(
    "--load-by",
    default=next(iter(LOAD_BY)),
    show_default=True,
    type=click.Choice(tuple(LOAD_BY)),
    help=f"Scaling method: {_rows_of(LOAD_BY)}.",
)
@click.option("--overload", is_flag=True, help="Allow loads above 2.")
@click.option(
    "--tau", type=int, default=10, show_default=True, help="Threshold of the bounded slowdown, s."
)
@click.option(
    "--out",
    help="File for the schedule, in SWF; NAME.csv for a machine of nodes or a network; - is "
    "standard output.",
)
@click.option("--all", "every", is_flag=True, help="Print all metrics.")
@click.option("--json", "as_json", is_flag=True, help="Print all metrics as JSON.")
@QUIET
def simulate(
    trace: str,
    folder: Path | None,
    policy: str,
    grid: bool,
    resample: int,
    seed: int,
    draw: str,
    load: str,
    load_by: str,
    overload: bool,
    tau: int,
    out: str | None,
    every: bool,
    as_json: bool,
    quiet: bool,
    **source: Any,
) -> None:
    """Simulate a log, by NAME or from a FILE, under one policy and print its metrics.

    The options --resample, --seed, --weeks, --draw, --load and --load-by reproduce the cell of a
    campaign with the same values.
    """
    from schedfarm.core.engine.limiting import check_limits
    from schedfarm.farm.campaign.campaign import load_label
    from schedfarm.farm.campaign.plain_rules import plain_rules
    from schedfarm.farm.campaign.samples import Samples
    from schedfarm.farm.campaign.trace import named
    from schedfarm.farm.campaign.warnings import Case, warnings_of
    from schedfarm.farm.cli.simulation_progress import simulate_with_progress

    needs("resample", "weeks", "seed", "draw")
    needs("load", "load_by", "overload")
    label = load_label(load)
    check_overload([label], overload)
    # Reports a misspelt policy before a log is fetched.
    with brought_policy(policy, quiet=quiet) as wanted:
        machine = _grid_of(trace) if grid else {}
        origin = named(trace, folder, name="log", **machine, **source)
        read = [Path(origin.file or ""), *own_files(policy)]
        log = origin.read()
        assert log is not None, "a trace that was named is no model"
        check_limits(log, wanted)
        target = _target(out, read, log) if out is not None else None
        settings = {"seed": seed, "draw": draw, "load_by": load_by}
        jobs = Samples(origin, log, settings).at(resample, label)
        method, sized = draw if resample else "", origin.machine is not None
        case = Case(log, (label,), method, sized, (wanted,))
        found = warnings_of(case)
        if not as_json:
            warn({jobs.name: found})
        for sentence in () if quiet else plain_rules([wanted], {}):
            click.echo(f"note: {sentence}", err=True)
        schedule = simulate_with_progress(jobs, wanted, StringIO() if quiet else None)
    was = as_logged(jobs)
    told = _as_json(schedule, was, tau, found) if as_json else _as_text(schedule, was, tau, every)
    if target:
        _write(target, schedule, _notes(log, schedule, click.get_current_context().params))
    click.echo(told, err=target is not None and not isinstance(target, tuple) and target.standard)


def _partitions_of(path: Path) -> dict[str, Any]:
    """Return the table of partitions of a TOML file, checked."""
    from schedfarm.core.workload.on_partitions import OnPartitions

    return _options_of(path, OnPartitions)


def _hosts_of(path: Path) -> dict[str, Any]:
    """Return the table of hosts of a TOML file, checked."""
    from schedfarm.core.workload.on_hosts import OnHosts

    return _options_of(path, OnHosts)


def _options_of(path: Path, form: type[Options]) -> dict[str, Any]:
    """Return the options that a TOML file has, checked."""
    import tomllib

    from schedfarm.core.errors import InputError

    try:
        return form.from_dict(tomllib.loads(path.read_text(encoding="utf-8"))).to_dict()
    except (InputError, OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{path}: {why}") from error


def _grid_of(log: str) -> dict[str, Any]:
    """Return the trace key for a named log's clusters, or raise InputError."""
    from schedfarm.core.errors import InputError
    from schedfarm.core.machines.grid.platform import Grid
    from schedfarm.farm.logs.registry import entries, find

    entry = find(log)
    if entry is None or entry.grid is None:
        known = ", ".join(one.short for one in entries() if one.grid)
        raise InputError(
            f"--grid: the clusters of log {log!r} are not known; --grid supports {known}, and a "
            'campaign takes any clusters: [traces.platform] with name = "grid"'
        )
    return {"platform": {"name": Grid.name}}


def _target(out: str, read: list[Path], log: Workload) -> Output | tuple[Output, Output]:
    """Return the output file and, if SWF cannot hold the schedule, the machine's file."""
    from schedfarm.core.errors import InputError
    from schedfarm.farm.cli.table_files import table_files
    from schedfarm.farm.output import output

    platform = log.platform
    if out.lower().removesuffix(".gz").endswith(".json"):
        raise InputError(
            f"--out {out}: a schedule is not written as JSON; give a name that ends in "
            f"{'.csv' if platform.asks else '.swf or .swf.gz'}"
        )
    return table_files(out, read, platform) if platform.asks else output("--out", out, read)


def _write(
    target: Output | tuple[Output, Output], schedule: Schedule, notes: Mapping[str, str]
) -> None:
    from schedfarm.core.logs.packed import packed_for
    from schedfarm.core.logs.swf import swf_bytes
    from schedfarm.farm.cli.table_files import write_table

    if isinstance(target, tuple):
        write_table(target, schedule.workload, schedule, notes)
        return
    target.write(packed_for(target.name, swf_bytes(schedule.workload, schedule, notes)))


def _as_json(
    schedule: Schedule, was: Schedule | None, tau: int, cautions: Mapping[str, str]
) -> str:
    from dataclasses import asdict

    from schedfarm.core.metrics.declared import METRICS
    from schedfarm.core.metrics.logged import GROUPS as GROUPS_OF_JOBS, group_waits, wait_errors

    jobs = schedule.workload
    return json.dumps(
        {
            "trace": jobs.name,
            "processors": jobs.processors,
            "policy": schedule.policy,
            "dropped": dict(jobs.dropped),
            "cautions": dict(cautions),
            "metrics": (metrics := _plain(schedule, tau)),
            "units": {name: METRICS[name].unit for name in metrics if METRICS[name].unit != "1"},
            "participants": _plain_participants(schedule, tau),
            "counts": dict(schedule.counts),
            "as_logged": _plain_of_log(was, tau) if was else None,
            "wait_errors": wait_errors(schedule) if was else None,
            "waits_by": {
                by: [asdict(group) for group in group_waits(schedule, by)] for by in GROUPS_OF_JOBS
            }
            if was
            else None,
            "sha256_starts": schedule.digest(),
        },
        indent=1,
    )


def _plain(schedule: Schedule, tau: int) -> dict[str, float | None]:
    from schedfarm.core import summarise

    return {name: _fact(value) for name, value in summarise(schedule, tau).items()}


def _plain_of_log(was: Schedule, tau: int) -> dict[str, float | None]:
    found = _plain(was, tau)
    return {**found, **dict.fromkeys(UNKNOWN_TO_LOGS & found.keys())}


def _plain_participants(schedule: Schedule, tau: int) -> dict[str, dict[str, float | None]]:
    """Return the metrics of each participant by name; empty without participants."""
    from schedfarm.core import by_origin

    found = {name: values.tolist() for name, values in by_origin(schedule, tau).items()}
    return {
        who: {name: _fact(values[i]) for name, values in found.items()}
        for i, who in enumerate(schedule.workload.platform.participants)
    }


def _fact(value: float) -> float | None:
    # JSON has no NaN.
    return value if value == value else None


def _notes(log: Workload, schedule: Schedule, how: Mapping[str, Any]) -> dict[str, str]:
    """Return the parameters that reproduce the schedule, for the header of its file."""
    from importlib.metadata import version

    weeks = f", {how['weeks']} weeks" if how["weeks"] else ""
    drawn = f"{how['resample']} of {how['draw']}, seed {how['seed']}{weeks}"
    reached = f"{how['load']} by {how['load_by']}"
    cleaned = ", ".join(f"{key}={value}" for key, value in how["clean"].items())
    return {
        "Policy": schedule.policy,
        **({"Clean": cleaned} if cleaned else {}),
        "Resample": drawn if how["resample"] else "none, the log itself",
        "Load": how["load"] if how["load"] == ORIGINAL else reached,
        "Source": f"{log.name}, columns with SHA-256 {log.digest()}",
        "Program": f"schedfarm {version('schedfarm')}",
    }


def _as_text(schedule: Schedule, was: Schedule | None, tau: int, every: bool) -> str:
    from schedfarm.core import summarise
    from schedfarm.core.metrics.declared import metrics_over
    from schedfarm.core.metrics.metric import CELL
    from schedfarm.core.numerals import counted

    jobs = schedule.workload
    lines = [f"{jobs.name} on {jobs.machine} under {schedule.policy}"]
    lines += [f"  dropped: {counted(count, 'row')}, {why}" for why, count in jobs.dropped.items()]
    # The other metrics need four more kernels, which take a tenth of a first run's CPU time.
    printed = None if every else {name for names in GROUPS.values() for name in names}
    found = summarise(schedule, tau, names=printed)
    beside: dict[str, float | None] = {**summarise(was, tau, names=printed)} if was else {}
    beside.update(dict.fromkeys(UNKNOWN_TO_LOGS & beside.keys()))
    if was:
        lines.append(f"{'':<{LABEL + 2}}{'simulated':>{COLUMN}}{'as logged':>{COLUMN}}")
    unprinted = len(metrics_over(CELL, jobs.platform))
    for title, names in GROUPS.items():
        shown = [name for name in names if name not in SELDOM or found[name]]
        lines += [title, *chain(*(_line(n, found.pop(n), beside) for n in shown))]
        unprinted -= len(shown)
    lines += _errors(schedule) if was else []
    lines += [*_participants(schedule, tau), *_counted(schedule)]
    if every:
        lines += ["further", *chain(*(_line(n, found[n], beside) for n in found))]
    else:
        lines.append(f"--all prints {unprinted} more")
    if was:
        without = len(jobs) - len(was.workload)
        jobs_without = f"; without {counted(without, 'job')} whose wait is unknown"
        left = jobs_without if without else ""
        note = f"as logged: with the starts of the log and the simulated run times{left}"
        lines += wrap(note, LABEL + 2 + 2 * COLUMN)
    return "\n".join(lines)


def _participants(schedule: Schedule, tau: int) -> list[str]:
    """Return a table of the participants' metrics; empty without participants."""
    from schedfarm.core import by_origin
    from schedfarm.core.metrics.declared import METRICS
    from schedfarm.core.numerals import significant

    names = schedule.workload.platform.participants
    if not names:
        return []
    wide = max(COLUMN, *(len(name) + 2 for name in names))
    lines = ["".join([f"{'participants':<{LABEL + 2}}", *(f"{name:>{wide}}" for name in names)])]
    for name, values in by_origin(schedule, tau).items():
        shown = [f"{significant(value):>{wide}}" for value in values.tolist()]
        lines += _row(_label(METRICS[name]), shown)
    return lines


def _counted(schedule: Schedule) -> list[str]:
    """Return a line for each counter of the simulation that is not zero."""
    from schedfarm.core.policy.rules import COUNTS

    found = {name: count for name, count in schedule.counts.items() if count}
    rows = [_row(COUNTS.get(name, name), [_value(count)]) for name, count in found.items()]
    return ["counted", *chain(*rows)] if rows else []


def _line(name: str, value: float, logged: Mapping[str, float | None]) -> list[str]:
    from schedfarm.core.metrics.declared import METRICS
    from schedfarm.core.numerals import READABLE, lasting

    if name in logged:
        was = logged[name]
        beside = f"{'-':>{COLUMN}}" if was is None else _value(was)
        return _row(_label(METRICS[name]), [_value(value), beside])
    longer = METRICS[name].unit == "s" and value >= READABLE
    return _row(_label(METRICS[name]), [_value(value), f" ({lasting(value)})" * longer])


def _errors(schedule: Schedule) -> list[str]:
    """Return lines on the differences from the logged waits, by job and by group of jobs."""
    from schedfarm.core.metrics.logged import ERRORS, GROUPS, group_waits, wait_errors
    from schedfarm.core.numerals import counted

    blank = " " * COLUMN
    lines = ["simulated wait of a job - its wait in the log"]
    for key, value in wait_errors(schedule).items():
        lines += _row(f"{ERRORS[key][0]}, s", [blank, _value(value)])
    for by in GROUPS:
        groups = group_waits(schedule, by)
        shown = groups if by == "width" else groups[:MOST_GROUPS]
        for group in shown:
            label = f"{by} {group.name}, {counted(group.jobs, 'job')}: mean wait, s"
            lines += _row(label, [_value(group.simulated), _value(group.logged)])
        if len(shown) < len(groups):
            lines.append(f"  {by}: {len(groups) - len(shown)} more with --json")
    return lines


def _label(metric: Metric) -> str:
    return metric.meaning + ("" if metric.unit == "1" else f", {metric.unit}")


def _row(label: str, columns: Sequence[str]) -> list[str]:
    """Return the lines of a row; the columns of a wrapped label are on its last line."""
    *above, last = wrap(label, LABEL - 1, subsequent_indent="  ")
    return [*(f"  {line}" for line in above), f"  {last:<{LABEL}}{''.join(columns)}".rstrip()]


def _value(x: float) -> str:
    from schedfarm.core.numerals import significant

    return f"{significant(x):>{COLUMN}}"
