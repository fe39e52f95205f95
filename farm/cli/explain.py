"""`farm explain`: why a job started when it did."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from schedfarm.farm.cli import words
from schedfarm.farm.cli.command import COUNT, JSON, Real, command, needs
from schedfarm.farm.cli.own import brought_policy
from schedfarm.farm.cli.simulate import Rows
from schedfarm.farm.cli.traces import CLEAN, MAP, TRACES

if TYPE_CHECKING:
    from schedfarm.core.schedule import Schedule
    from schedfarm.core.workload.workload import Workload
    from schedfarm.farm.output import Output

OF_STORES = ("trace", "load", "sample")
OF_LOGS = ("processors", "rows", "jobs", "clean", "map", "recorded", "folder")
"""Parameters that apply to logs only, not to stores."""

OF_JOBS = ("number", "submit", "effort", "plot", "recorded")
"""Parameters that apply to a single job only, not to groups."""


@command(reads=True)
@click.argument("source", metavar="STORE|NAME|FILE", shell_complete=words.logs)
@click.argument("number", metavar="[JOB]", type=int, required=False)
@click.option(
    "--policy",
    shell_complete=words.policies,
    help="ORDER+RULE[,option=value]; may be omitted for a store with one policy.",
)
@click.option("--trace", help="Trace of the store; may be omitted for a store with one trace.")
@click.option("--load", help="Load of the store; by default the first.")
@click.option(
    "--sample",
    type=int,
    help="Sample of the store, 0 for the log itself; by default the first one of the store.",
)
@TRACES
@click.option(
    "--processors", type=COUNT, help="Processors of the machine; by default those of the log."
)
@click.option("--rows", type=Rows(), help="Rows [A, B) of the file, before any filter.")
@click.option("--jobs", type=COUNT, help="Number of jobs to simulate, from the first.")
@CLEAN
@MAP
@click.option(
    "--recorded", is_flag=True, help="Explain the starts recorded in FILE, not simulated ones."
)
@click.option("--submit", type=int, help="Submission of JOB, s; needed if jobs share its number.")
@click.option(
    "--top",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="Number of other jobs, or groups, to list.",
)
@click.option(
    "--effort",
    type=Real(min=0),
    help="Limit of the search for the smallest set, in estimated seconds of CPU time; by default "
    "1. With inf, all sets of up to three jobs are tried.",
)
@click.option(
    "--by",
    help="Explain delays between groups of jobs instead of one job. Groups are by user, group "
    "(account), queue, partition, or width (processors).",
)
@click.option(
    "--plot",
    help="Image file for a chart of the jobs around JOB (.png, .pdf, .svg); - is standard output, "
    "as PNG.",
)
@JSON
def explain(
    source: str,
    number: int | None,
    policy: str | None,
    submit: int | None,
    top: int,
    effort: float | None,
    by: str | None,
    plot: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Explain why JOB started when it did, in a store, a log, or a recorded schedule.

    JOB is its number in the log; by default the job that waited longest. The report has the jobs
    that ran or were ahead of JOB at its submission, the rule's reason not to start JOB, and the
    event that let JOB start. It also has the jobs that overtook JOB, the promised and fair starts
    of JOB, and the smallest set of jobs without which JOB would start earlier. Each reported set is
    simulated.

    \b
    farm explain KTH-SP2 7851 --policy fcfs+easy
    farm explain kth.farm 7851 --policy saf+easy --load 0.9 --sample 1
    farm explain KTH-SP2 --policy fcfs+easy --by user --top 6
    farm explain out.swf 7851 --policy fcfs+easy --recorded
    """  # noqa: D301  \b makes click keep the line breaks.
    if by is not None:
        _refuse_of_jobs()
        schedule, wanted = _source(source, policy, options)
        click.echo(_delays(source, schedule, wanted, by, top, as_json=as_json))
        return
    target = _target(plot, source, as_json=as_json)
    schedule, wanted = _source(source, policy, options)
    job = _job(schedule, number, submit)
    from schedfarm.core.explanation import explain as explain_job
    from schedfarm.core.explanation.causes import EFFORT

    with brought_policy(wanted) as chosen:
        found = explain_job(schedule, job, chosen, effort=EFFORT if effort is None else effort)
    text = json.dumps(found.facts(), indent=1) if as_json else found.text(top)
    click.echo(text, err=target is not None and target.standard)
    if target is not None:
        from schedfarm.analysis import explanation_figure

        with target.made(".png") as part:
            explanation_figure(found, part, top=max(top, 1))
        click.echo(f"figure: {target.name}", err=as_json or target.standard)


def _refuse_of_jobs() -> None:
    """Refuse options for a single job if groups are explained."""
    from click.core import ParameterSource

    context = click.get_current_context()
    for param in context.command.params:
        given = context.get_parameter_source(str(param.name)) is not ParameterSource.DEFAULT
        if param.name in OF_JOBS and given:
            shown = "JOB" if isinstance(param, click.Argument) else param.opts[0]
            raise click.UsageError(f"{shown} does nothing with --by, which is about groups of jobs")


def _delays(
    source: str, schedule: Schedule, policy: str, by: str, top: int, *, as_json: bool
) -> str:
    from schedfarm.core.explanation import delays
    from schedfarm.farm.cli.group_names import group_names

    jobs = schedule.workload
    names = {**jobs.names, by: jobs.names.get(by) or group_names(source, jobs.name, by)}
    with brought_policy(policy) as chosen:
        found = delays(replace(jobs, names=names), chosen, by, top=max(top, 1))
    return json.dumps(found.facts(), indent=1) if as_json else found.text()


def _target(plot: str | None, source: str, *, as_json: bool) -> Output | None:
    """Return the output file of the chart; its suffix selects the image format."""
    from schedfarm.analysis.drawing import checked_path
    from schedfarm.farm.cli.campaign_files import campaign_files
    from schedfarm.farm.cli.plot import is_store
    from schedfarm.farm.output import STANDARD, output

    if plot is None:
        return None
    if as_json and plot == STANDARD:
        raise click.UsageError("--json and --plot - both write to standard output: give one")
    inputs = campaign_files(source) if is_store(source) else [source]
    return output("--plot", plot if plot == STANDARD else str(checked_path(plot)), inputs)


def _source(source: str, policy: str | None, options: dict[str, Any]) -> tuple[Schedule, str]:
    """Return the schedule and the name of its policy."""
    from schedfarm.farm.cli.plot import is_store as names_store

    is_store = names_store(source)
    _refuse_others(source, OF_LOGS if is_store else OF_STORES, "a log" if is_store else "a store")
    if is_store:
        return _from_store(source, policy, options)
    if policy is None:
        raise click.UsageError(f"{source} is a log: give --policy, such as --policy fcfs+easy")
    keys = {key: options[key] for key in ("processors", "rows", "jobs", "clean", "map")}
    if options["recorded"]:
        return _recorded(source, keys), policy
    return _simulated(source, options["folder"], policy, keys), policy


def _refuse_others(source: str, names: tuple[str, ...], of: str) -> None:
    from click.core import ParameterSource

    context = click.get_current_context()
    for param in context.command.params:
        given = context.get_parameter_source(str(param.name)) is not ParameterSource.DEFAULT
        if param.name in names and given:
            raise click.UsageError(
                f"{param.opts[0]} is an option for {of}, and {source} is not one"
            )


def _from_store(source: str, policy: str | None, options: dict[str, Any]) -> tuple[Schedule, str]:
    from schedfarm.core.errors import InputError
    from schedfarm.farm.cli.group_names import group_names
    from schedfarm.farm.store.reading import schedule_of
    from schedfarm.farm.store.store import Store

    opened = Store.open(source)
    axes, names = opened.axes, opened.policy_names
    given = {"trace": options["trace"], "policy": policy}
    for name, label in given.items():
        if label is None and len(axes[name]) > 1:
            known = ", ".join(names.get(one, str(one)) for one in axes[name])
            raise InputError(f"store {source} has several of --{name}: {known}; give one")
        given[name] = label or axes[name][0]
    load = options["load"] or axes["load"][0]
    sample = axes["resample"][0] if options["sample"] is None else options["sample"]
    found = schedule_of(source, **given, resample=sample, load=load)
    jobs, users = found.workload, group_names(source, found.workload.name, "user")
    drawn = "model" not in opened.sources[jobs.name]
    click.echo(f"note: {_cell(jobs.name, load, sample, drawn=drawn)}", err=True)
    named = replace(jobs, names={**jobs.names, "user": users})
    return replace(found, workload=named) if users else found, found.policy


def _cell(trace: str, load: str, sample: int, *, drawn: bool) -> str:
    """Name the sample of the explained jobs, since samples have other job numbers than the log."""
    if not drawn:
        return f"{trace}, load {load}, draw {sample} of the model"
    of = "the log itself" if sample == 0 else f"sample {sample}, whose jobs are drawn from the log"
    return f"{trace}, load {load}, {of}"


def _recorded(source: str, keys: dict[str, Any]) -> Schedule:
    from schedfarm.core.audit import read_schedule
    from schedfarm.core.logs.clean import Clean

    for name in ("rows", "jobs"):
        if keys[name] is not None:
            raise click.UsageError(
                f"--{name} cannot be combined with --recorded: all jobs are needed"
            )
    if keys["map"] is not None:
        raise click.UsageError(
            "--map does nothing with --recorded, which reads SWF and CSV as farm simulate writes it"
        )
    return read_schedule(source, keys["processors"], Clean.from_dict(keys["clean"]))


def _simulated(source: str, folder: Path | None, policy: str, keys: dict[str, Any]) -> Schedule:
    from schedfarm.core import simulate
    from schedfarm.farm.campaign.trace import named

    with brought_policy(policy) as wanted:
        log = named(source, folder, name="log", **keys).read()
        assert log is not None, "a trace that was named is no model"
        return simulate(log, wanted)


def _job(schedule: Schedule, number: int | None, submit: int | None) -> int:
    """Return the index of a job; by default, of the job that waited longest."""
    from schedfarm.core.errors import InputError

    jobs = schedule.workload
    if number is None:
        needs("number", "submit")
        if not len(jobs):
            raise InputError(f"{jobs.name}: there are no jobs to explain")
        return int(schedule.wait.argmax())
    found = (jobs.job == number).nonzero()[0]
    if submit is not None:
        found = found[jobs.submit[found] == submit]
    if not found.size:
        raise InputError(f"{jobs.name}: {_unknown(jobs, number, submit)}")
    if found.size > 1:
        times = ", ".join(map(str, jobs.submit[found][:5].tolist()))
        raise InputError(
            f"{jobs.name}: {found.size} jobs have the number {number}; give --submit with one of "
            f"{times}"
        )
    return int(found[0])


def _unknown(jobs: Workload, number: int, submit: int | None) -> str:
    from schedfarm.core.numerals import counted

    at = "" if submit is None else f" that was submitted at {submit} s"
    range_ = (
        f"its {counted(len(jobs), 'job')} have numbers from {jobs.job.min()} to {jobs.job.max()}"
    )
    left = sum(jobs.dropped.values())
    dropped = f"; {counted(left, 'row')} of the log {'was' if left == 1 else 'were'} left out"
    return f"there is no job {number}{at}; {range_}{dropped if left else ''}"
