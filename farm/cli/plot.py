"""`farm plot`: the usual figures of a log, a schedule or a store."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from schedfarm.farm.cli import words
from schedfarm.farm.cli.command import COUNT, QUIET, Command
from schedfarm.farm.cli.logged import LOGGED, as_logged
from schedfarm.farm.cli.own import brought_policy, own_files
from schedfarm.farm.cli.results import AT
from schedfarm.farm.cli.traces import CLEAN, MAP, TRACES

if TYPE_CHECKING:
    from schedfarm.analysis.plots.kinds import Drawn, Kind
    from schedfarm.core.workload.workload import Workload

OF_LOG, OF_STORE = ("folder", "processors", "clean", "map"), ("trace", "load", "sample", "at")
"""Options for logs only, and for stores only."""


class PlotCommand(Command):
    """List the kinds of figures in the help text, from their table."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the kinds below the options."""
        from schedfarm.analysis.plots.kinds import JOBS, KINDS, SCHEDULE, STORE

        needs = {JOBS: "LOG or STORE", SCHEDULE: "LOG or STORE", STORE: "STORE"}
        with formatter.section("Kinds"):
            rows = [(row.name, f"{row.meaning} {needs[row.needs]}.") for row in KINDS.values()]
            formatter.write_dl(rows)


class Span(click.ParamType[int]):
    """Parse a duration such as 3d into seconds."""

    name = "DURATION"

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        """Return the seconds, or fail."""
        from schedfarm.core.durations import seconds_of

        seconds = seconds_of(str(value))
        if seconds is None:
            self.fail(f"{value!r} is not a duration, such as 2w, 3d, 12h, 30m or 90s")
        return seconds


def _kinds() -> list[str]:
    from schedfarm.analysis.plots.kinds import KINDS

    return list(KINDS)


@click.command(cls=PlotCommand)
@click.argument("kind", shell_complete=words.listed(_kinds))
@click.argument("source", metavar="STORE|LOG", shell_complete=words.logs)
@click.option("--out", required=True, help="Image file (.png, .pdf, .svg); - is standard output.")
@click.option(
    "--policy",
    "policies",
    multiple=True,
    shell_complete=words.policies,
    help="Policy; repeatable. A log is simulated under each policy; by default its own starts are "
    "used.",
)
@click.option(
    "--width",
    default="two",
    show_default=True,
    metavar="one|two",
    help="Width in columns of a two-column paper: 3.5 or 7.16 inches.",
)
@click.option(
    "--metric",
    shell_complete=words.metrics,
    help="Metric of a store, such as wait; for the kinds users and cdf: wait, bounded_slowdown or "
    "response.",
)
@click.option("--begin", type=Span(), help="Time from the first submission to the window.")
@click.option("--length", type=Span(), help="Length of the window.")
@click.option("--trace", help="Trace of a store; by default the first one.")
@click.option("--load", help="Load of a store; by default the first one.")
@click.option(
    "--sample",
    type=int,
    help="Sample of a store, 0 for the log itself; by default the first one of the store.",
)
@click.option(
    "--axis",
    shell_complete=words.axes,
    help="Axis of the campaign, for KIND axis; by default the only axis.",
)
@AT
@TRACES
@click.option("--processors", type=COUNT, help="Size of a log's machine; by default the log's own.")
@CLEAN
@MAP
@QUIET
def plot(
    kind: str,
    source: str,
    out: str,
    policies: tuple[str, ...],
    width: str,
    quiet: bool,
    **given: Any,
) -> None:
    """Draw a figure of KIND for a STORE, or for a LOG by name or file.

    Figures of a metric show all cells of a store, restricted by --trace, --load and --policy.
    Figures of jobs and schedules show one cell under one or several policies.
    """
    from schedfarm.analysis.plots import kinds
    from schedfarm.farm.cli.campaign_files import campaign_files
    from schedfarm.farm.output import STANDARD, output

    row = kinds.find_kind(kind)
    drawn = {name: given.pop(name) for name in ("metric", "begin", "length", "axis")}
    kinds.check_options(row, (name for name, value in drawn.items() if value is not None), "--{}")
    of_store = is_store(source) or (row.needs == kinds.STORE and not os.path.exists(source))
    _check_given(source, of_store=of_store)
    inputs = [path for policy in policies for path in own_files(policy)]
    target = output("--out", out, campaign_files(source) if of_store else [source, *inputs])
    where: dict[str, Any] = {}
    of: Drawn = source
    if of_store:
        where = {name: given[name] for name in OF_STORE} | {"policies": policies}
    else:
        jobs = _jobs(source, given)
        of = jobs if row.needs != kinds.SCHEDULE else _schedules(jobs, policies, quiet=quiet)
        if policies and row.needs == kinds.JOBS:
            raise click.UsageError(f"--policy does nothing with {row.name}, a figure of jobs")
    _draw(row, of, target, width=width, **drawn, **where)
    click.echo(f"figure: {target.name}", err=str(target.path) == STANDARD)


def _draw(row: Kind, of: Drawn, target: Any, **how: Any) -> None:
    from schedfarm.analysis.drawing import checked_path
    from schedfarm.analysis.plots.kinds import plot as draw

    if not target.standard:
        checked_path(target.name)
    with target.made(".png") as part:
        draw(row.name, of, part, **how)


def is_store(source: str) -> bool:
    """Return whether the source is a folder or an address; a log is a file or a name."""
    from schedfarm.core.addresses import scheme_of

    return os.path.isdir(source) or bool(scheme_of(source))


def _check_given(source: str, *, of_store: bool) -> None:
    """Refuse options that have no effect with this source."""
    from click.core import ParameterSource

    ctx = click.get_current_context()
    names, what = (OF_LOG, "store") if of_store else (OF_STORE, "log")
    for param in ctx.command.params:
        name = str(param.name)
        if name in names and ctx.get_parameter_source(name) is not ParameterSource.DEFAULT:
            raise click.UsageError(f"{param.opts[0]} does nothing with {what} {source}")


def _jobs(source: str, given: dict[str, Any]) -> Workload:
    from schedfarm.farm.campaign.trace import named

    keys = {name: given[name] for name in ("processors", "clean", "map")}
    jobs = named(source, given["folder"], name="log", **keys).read()
    assert jobs is not None, "a trace that was named is no model"
    return jobs


def _schedules(jobs: Workload, policies: tuple[str, ...], *, quiet: bool) -> dict[str, Any]:
    """Return the schedule under each policy; without policies, the schedule of the log."""
    from io import StringIO

    from schedfarm.core.errors import InputError
    from schedfarm.core.numerals import counted
    from schedfarm.farm.cli.simulation_progress import simulate_with_progress

    if not policies:
        schedule = as_logged(jobs)
        if schedule is None:
            raise InputError(
                f"log {jobs.name} lacks the waits of many jobs, so that their starts are not "
                "known; give --policy, such as fcfs+easy"
            )
        if missing := len(jobs) - len(schedule.workload):
            left_out = f"{counted(missing, 'job')} without a logged wait left out"
            click.echo(f"note: {left_out}", err=True)
        return {LOGGED: schedule}
    found = {}
    for policy in policies:
        with brought_policy(policy, quiet=quiet) as wanted:
            found[wanted.name] = simulate_with_progress(jobs, wanted, StringIO() if quiet else None)
    return found
