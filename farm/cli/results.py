"""`farm status` and `farm bands`: progress and results of a store."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from schedfarm.farm.cli import words
from schedfarm.farm.cli.command import JSON, SHARE, STORE, command, needs

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from schedfarm.farm.output import Output


@command()
@STORE
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.option(
    "--openmetrics",
    is_flag=True,
    help="Print the counts in the OpenMetrics format, as for Prometheus.",
)
@click.option("--failed", is_flag=True, help="Print each failed cell with its error.")
def status(store: str, as_json: bool, openmetrics: bool, failed: bool) -> None:
    """Print the progress of STORE: cells done, failed and missing by trace, and batch jobs."""
    from schedfarm.core.numerals import counted, grouped, timed
    from schedfarm.farm.cli.jobs import jobs_of, of_submitted, sentences
    from schedfarm.farm.store.place import place_of
    from schedfarm.farm.watching.status import status as read

    if as_json + openmetrics + failed > 1:
        raise click.UsageError("--json, --openmetrics and --failed exclude one another: give one")
    place = place_of(store)
    if only := of_submitted(place):
        click.echo(json.dumps(only, indent=1) if as_json else "\n".join(sentences(jobs_of(place))))
        return
    found = read(store)
    if as_json:
        jobs = [asdict(job) for job in jobs_of(place)]
        click.echo(json.dumps({**found.to_dict(), "jobs": jobs}, indent=1))
        return
    if openmetrics:
        from schedfarm.farm.watching.openmetrics import openmetrics as text

        click.echo(text(found), nl=False)
        return
    n = {key: grouped(getattr(found, key)) for key in ("done", "failed", "missing")}
    click.echo(
        f"campaign {found.campaign}: {counted(found.cells, 'cell')}, {n['done']} done, "
        f"{n['failed']} failed, {n['missing']} missing; {counted(found.jobs, 'job')} simulated in "
        f"{timed(found.seconds)} of CPU; runs took {timed(found.wall)}"
    )
    for name, counts in found.traces.items():
        c = {key: grouped(count) for key, count in counts.items()}
        click.echo(f"  {name}: {c['done']}/{c['cells']} done, {c['failed']} failed")
    named = (f"policy {name}: {policy}" for policy, name in found.policy_names.items())
    for sentence in (*named, *_origins(found.origins), *_precision(found.precision)):
        click.echo(f"  {sentence}")
    for sentence in sentences(jobs_of(place)):
        click.echo(f"  {sentence}")
    for doing in found.running:
        click.echo(f"  running: {doing}")
    for f in found.failures if failed else ():
        policy = found.policy_names.get(f.policy, f.policy)
        click.echo(f"\n{f.trace} resample {f.resample} load {f.load} {policy}: {f.error}")
        click.echo(f.traceback.rstrip())


def _precision(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line on the finished rounds of a campaign that requests precision."""
    if not found:
        return
    short = sum(one["short"] for one in found["intervals"])
    ends = "sampling has ended" if found["stopped"] else "sampling goes on"
    yield (
        f"precision: {short} of {len(found['intervals'])} intervals are as short as requested "
        f"after round {len(found['rounds'])} with {found['rounds'][-1]} samples; {ends}"
    )


def _origins(origins: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line for each set of package versions with which blocks were computed."""
    from schedfarm.core.numerals import counted
    from schedfarm.farm.store.provenance import PACKAGE, PACKAGES

    order = dict.fromkeys((PACKAGE, "python", *PACKAGES))
    hosts: dict[str, list[str]] = defaultdict(list)
    blocks: Counter[str] = Counter()
    for origin in origins:
        packages = [f"{p} {origin[p]}" for p in order]
        packages[0] += f" (commit {origin['commit']})"
        hosts[", ".join(packages)].append(origin["host"])
        blocks[", ".join(packages)] += origin["blocks"]
    for versions, names in hosts.items():
        others = f" and {len(names) - 3} more hosts" * (len(names) > 3)
        where = ", ".join(names[:3]) + others
        yield f"{counted(blocks[versions], 'block')} by {versions}, on {where}"


WHERE = ("trace", "load", "policy")
"""Axes of a store that an option can restrict to one label."""

KINDS = ("auto", "trimmed", "range", "quantile", "interval")
"""Values of --kind, for shell completion."""


@dataclass(frozen=True)
class Question:
    """Hold the query of `bands`: the metric, the band rule, and the labels to show."""

    metric: str = "bounded_slowdown"
    rule: Mapping[str, Any] = field(default_factory=dict)
    where: Mapping[str, Any] = field(default_factory=dict)


def _quantiles(_ctx: click.Context, _param: click.Parameter, text: str | None) -> list[float]:
    if text is None:
        return []
    try:
        shares = [float(part) for part in text.split(",")]
    except ValueError:
        shares = []
    bounded = all(0 <= share <= 1 for share in shares)
    if not shares or not bounded or shares != sorted(set(shares)):
        raise click.BadParameter(f"{text!r} is not ascending shares such as 0.1,0.5,0.9")
    return shares


def _check_rule(rule: Mapping[str, Any]) -> None:
    """Refuse an option that the kind of band does not use."""
    from schedfarm.analysis.band_rule import band_rule

    known = band_rule(**rule).options
    for key in rule:
        if key not in ("kind", *known):
            option = {"q": "--quantiles"}.get(key, f"--{key}")
            kinds = [kind for kind in KINDS if key in band_rule(kind).options]
            raise click.UsageError(
                f"{option} does nothing with --kind {rule['kind']}; it is for {' and '.join(kinds)}"
            )


def question(takes: Callable[..., None]) -> Callable[..., None]:
    """Add the query options to a command, and pass them as a `Question`."""

    @wraps(takes)
    def handed(metric: str, **given: Any) -> None:
        options = {key: given.pop(key) for key in ("kind", "trim", "q", "level")}
        # Missing options take the defaults of the analysis package.
        rule = {key: value for key, value in options.items() if value not in (None, [])}
        _check_rule(rule)
        where = where_of(given["store"], given.pop("at"), {axis: given.pop(axis) for axis in WHERE})
        takes(asked=Question(metric, rule, where), **given)

    for option in reversed(QUESTION):
        handed = option(handed)
    return handed


def at_values(
    _ctx: click.Context, _param: click.Parameter, given: tuple[str, ...]
) -> dict[str, str]:
    """Parse values of axes, each AXIS=VALUE."""
    found: dict[str, str] = {}
    for text in given:
        axis, equals, value = text.partition("=")
        if not (axis and equals and value):
            raise click.BadParameter(f"{text!r} is not AXIS=VALUE, such as processors=120")
        if axis in found:
            raise click.BadParameter(f"axis {axis!r} is given twice; give it once")
        found[axis] = value
    return found


AT = click.option(
    "--at",
    multiple=True,
    callback=at_values,
    shell_complete=words.axis_values,
    metavar="AXIS=VALUE",
    help="Restrict to a value of an axis of the campaign, such as processors=120; repeatable.",
)


def where_of(store: str, at: Mapping[str, str], where: Mapping[str, Any]) -> dict[str, Any]:
    """Return the labels of a query from given labels and values of axes."""
    from schedfarm.analysis.axes import narrowed

    return {**where, **narrowed(store, at, where.get("trace"), where.get("policy"))}


QUESTION = (
    click.option(
        "--metric",
        default=Question.metric,
        show_default=True,
        shell_complete=words.metrics,
        help="Metric of the store's summary, such as wait, or of each participant, such as "
        "origin_wait.",
    ),
    click.option(
        "--kind",
        default=KINDS[0],
        show_default=True,
        shell_complete=words.listed(lambda: KINDS),
        help="Kind of band: trimmed (without the best and worst samples), range (all samples), "
        "quantile, or interval (a 90 % confidence interval of the mean); auto is trimmed for "
        "ten or more samples, else range.",
    ),
    click.option(
        "--trim",
        type=click.FloatRange(0, 0.5, max_open=True),
        help="Share of samples omitted on each side, for --kind trimmed.  [0.1]",
    ),
    click.option(
        "--quantiles",
        "q",
        callback=_quantiles,
        help="Quantiles for --kind quantile.  [0.1,0.5,0.9]",
    ),
    click.option("--level", type=SHARE, help="Confidence level for --kind interval.  [0.9]"),
    *(
        click.option(
            f"--{axis}",
            shell_complete=words.labels(axis),
            help=f"Restrict to one {axis}, such as {example}.",
        )
        for axis, example in zip(WHERE, ("KTH-SP2", "0.9", "sjf+easy"), strict=True)
    ),
    AT,
)
"""Query options of `bands`."""

CSV = click.option("--csv", help="CSV file for the table; - is standard output.")


LARGEST = 100.0
"""Largest accepted width or height of a figure, inches."""


def _size(
    context: click.Context, parameter: click.Parameter, text: str | None
) -> tuple[float, float] | None:
    """Parse a width and a height."""
    if text is None:
        return None
    try:
        width, height = map(float, text.lower().split("x"))
    except ValueError:
        width = height = 0.0
    if not (0 < width <= LARGEST and 0 < height <= LARGEST):
        raise click.BadParameter(
            f"{text!r} is not a size; give width and height in inches, such as 7x3.5"
        )
    return width, height


@command(reads=True)
@STORE
@question
@click.option("--weekly", is_flag=True, help="Print weekly bands, the values that --plot draws.")
@click.option(
    "--plot", help="Image file for a plot of the weekly bands; - is standard output, as PNG."
)
@click.option("--log-axis", is_flag=True, help="Use a logarithmic axis for the metric.")
@click.option(
    "--size", callback=_size, metavar="WxH", help="Size of the figure in inches, such as 7x3.5."
)
@CSV
@JSON
def bands(
    store: str,
    asked: Question,
    weekly: bool,
    plot: str | None,
    log_axis: bool,
    size: tuple[float, float] | None,
    csv: str | None,
    as_json: bool,
) -> None:
    """Print bands of a metric over the resamples of STORE, next to the value of the log.

    The column "as logged" is the mean over the same samples if each job has its wait of the log.

    Each line names the samples that the band spans, and the expected share of all possible samples
    within the band. With too few samples, the values of single cells are printed.
    """
    from schedfarm.analysis.drawing import checked_path
    from schedfarm.analysis.figures import drawn_rule
    from schedfarm.farm.cli.campaign_files import campaign_files
    from schedfarm.farm.output import STANDARD, output, output_once

    needs("plot", "log_axis", "size")
    _check_json(as_json, csv, plot)
    checked = plot if plot in (None, STANDARD) else checked_path(plot)
    if checked is not None:
        drawn_rule(**asked.rule)
    figure = None if checked is None else output("--plot", checked, campaign_files(store))
    table = None if csv is None else output("--csv", csv, campaign_files(store))
    output_once(figure, table)
    answer = _weeks(store, asked) if weekly else _bands(store, asked)
    apart = any(one is not None and one.standard for one in (figure, table))
    _tell(answer, table, as_json=as_json, apart=apart)
    if figure:
        _draw(store, asked, figure, err=apart or as_json, log=log_axis, size=size)


def show_bands(store: str, plot: Output) -> None:
    """Print and plot bands of the bounded slowdown, or print single cells."""
    _tell(_bands(store, Question()))
    _draw(store, Question(), plot)


@dataclass(frozen=True)
class Answer:
    """Hold a result as text, CSV and JSON, with its notes."""

    text: Callable[[], str]
    csv: Callable[[], str]
    facts: Callable[[], dict[str, Any]]
    notes: tuple[str, ...] = ()


def _of_band(store: str, found: xr.Dataset) -> Answer:
    from schedfarm import analysis

    return Answer(
        lambda: analysis.table_text(found),
        lambda: analysis.table_csv(found),
        lambda: analysis.table_facts(found),
        (*policy_texts(store, found["policy"].values), *analysis.notes(store, found)),
    )


def policy_texts(store: str, labels: Iterable[object]) -> list[str]:
    """Return a sentence with the full text of each named policy."""
    from schedfarm.analysis.store import named_policies

    known = named_policies(store)
    return [f"policy {one} is {known[one]}" for one in map(str, labels) if one in known]


def _of_cells(store: str, cells: pd.DataFrame, why: str) -> Answer:
    from schedfarm import analysis

    return Answer(
        lambda: analysis.plain_text(cells),
        cells.to_csv,
        lambda: analysis.plain_facts(cells),
        (f"no bands: {why}", *policy_texts(store, cells.index.unique("policy"))),
    )


def _bands(store: str, asked: Question) -> Answer:
    from schedfarm import analysis
    from schedfarm.analysis.validation import with_logged

    try:
        found = analysis.bands(store, asked.metric, **asked.rule, **asked.where)
    except analysis.TooFewSamplesError as error:
        cells = analysis.plain(store, [asked.metric], **asked.where)
        return _of_cells(store, cells, str(error))
    return _of_band(store, with_logged(store, found))


def _weeks(store: str, asked: Question) -> Answer:
    from schedfarm import analysis

    found = analysis.all_weekly_bands(store, asked.metric, **asked.rule, **asked.where)
    return Answer(
        lambda: "\n\n".join(map(analysis.table_text, found)),
        lambda: analysis.tables_csv(found),
        lambda: {"traces": [analysis.table_facts(one) for one in found]},
    )


def _check_json(as_json: bool, *targets: str | None) -> None:
    from schedfarm.farm.output import STANDARD

    if as_json and STANDARD in targets:
        option = "--csv" if targets[0] == STANDARD else "--plot"
        raise click.UsageError(f"--json and {option} - both write to standard output: give one")


def _tell(
    answer: Answer, csv: Output | None = None, *, as_json: bool = False, apart: bool = False
) -> None:
    """Print a result, its notes on standard error, and write its CSV file."""
    if as_json:
        click.echo(json.dumps(answer.facts(), indent=1))
    else:
        click.echo(answer.text(), err=apart)
    for sentence in answer.notes:
        click.echo(f"note: {sentence}", err=True)
    if csv:
        csv.write(answer.csv().encode())
        click.echo(f"table: {csv.name}", err=apart or as_json)


def _draw(store: str, asked: Question, plot: Output, *, err: bool = False, **look: Any) -> None:
    from schedfarm import analysis

    how = {**asked.rule, **asked.where}
    with plot.made(".png") as part:
        analysis.weekly_bands_figure(store, asked.metric, path=part, **look, **how)
    click.echo(f"figure: {plot.name}", err=err)
    for sentence in analysis.figure_notes(store, asked.metric, **how):
        click.echo(f"note: {sentence}", err=True)
