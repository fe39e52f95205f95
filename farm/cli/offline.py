"""`farm offline`: schedule moldable jobs without arrivals."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from schedfarm.farm.cli import words
from schedfarm.farm.cli.command import COUNT, JSON, QUIET, command
from schedfarm.farm.cli.counting import counting

if TYPE_CHECKING:
    from schedfarm.offline.comparison import Outcome
    from schedfarm.offline.instance import Instance

DRAWN = ("jobs", "processors", "model", "shortest", "longest", "instances")
"""Parameters that apply to drawn instances only, not to a file."""

COLUMNS = ("instance", "algorithm", "job", "weight", "processors", "start", "end")
"""Columns of the file of schedules."""


def _algorithms() -> list[str]:
    from schedfarm.offline.algorithms import ALGORITHMS

    return list(ALGORITHMS)


def _models() -> list[str]:
    from schedfarm.offline.draws import SPEEDUPS

    return list(SPEEDUPS)


@command()
@click.argument("file", required=False)
@click.option("--jobs", type=COUNT, default=100, show_default=True, help="Jobs per instance.")
@click.option(
    "--processors", type=COUNT, default=64, show_default=True, help="Processors of the machine."
)
@click.option(
    "--model",
    default="amdahl",
    show_default=True,
    shell_complete=words.listed(_models),
    help="Speedup model of the jobs: amdahl or downey.",
)
@click.option(
    "--shortest",
    type=int,
    default=600,
    show_default=True,
    help="Shortest time of a job on one processor, s.",
)
@click.option(
    "--longest",
    type=int,
    default=36_000,
    show_default=True,
    help="Longest time of a job on one processor, s.",
)
@click.option(
    "--instances",
    type=COUNT,
    default=20,
    show_default=True,
    help="Number of instances to draw.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of all random numbers.")
@click.option(
    "--algorithm",
    "names",
    multiple=True,
    shell_complete=words.listed(_algorithms),
    help="Algorithm to run; repeatable. By default all.",
)
@click.option(
    "--shuffles",
    type=int,
    default=10,
    show_default=True,
    help="Number of random orders in the algorithm shelves.",
)
@click.option(
    "--precision",
    type=float,
    default=0.01,
    show_default=True,
    help="Relative precision of the makespan in the algorithm dual.",
)
@click.option("--out", help="CSV file for the schedules; - is standard output.")
@JSON
@QUIET
def offline(
    file: str | None,
    instances: int,
    seed: int,
    names: Sequence[str],
    shuffles: int,
    precision: float,
    out: str | None,
    as_json: bool,
    quiet: bool,
    **drawn: Any,
) -> None:
    """Schedule moldable jobs without arrivals, and compare the results with lower bounds.

    The jobs are drawn, or read from FILE: a CSV with the columns job, weight, 1, 2, 3 and so on,
    where column k holds the time on k processors, in seconds. The output has the makespan and the
    weighted sum of end times of each algorithm, next to lower bounds of both.
    """
    from schedfarm.farm.output import output
    from schedfarm.offline.algorithms import ALGORITHMS, find_algorithm
    from schedfarm.offline.comparison import compare

    _refuse_both(file)
    if as_json and out == "-":
        raise click.UsageError("--json and --out - both write to standard output: give one")
    rows = [find_algorithm(name) for name in dict.fromkeys(names)] or list(ALGORITHMS.values())
    target = None if out is None else output("--out", out, [] if file is None else [file])
    found, plans = [], StringIO()
    table = csv.writer(plans, lineterminator="\n")
    table.writerow(COLUMNS)
    count = instances if file is None else 1
    for index in _shown(count, quiet=quiet):
        jobs = _instance(file, seed, index, drawn)
        outcomes = compare(jobs, rows, seed=seed, shuffles=shuffles, precision=precision)
        if target:
            table.writerows(_lines(index, outcomes))
        found += [_figures(index, one) for one in outcomes]
    source = {**drawn, "instances": instances} if file is None else {"file": file}
    if as_json:
        told = json.dumps({"source": {**source, "seed": seed}, "schedules": found}, indent=1)
    else:
        told = _text(_title(jobs, file, count, seed, drawn), found)
    if target:
        target.write(plans.getvalue().encode())
    click.echo(told, err=bool(target and target.standard))


def _refuse_both(file: str | None) -> None:
    """Refuse options of drawn instances if a file is read."""
    ctx = click.get_current_context()
    shown = {param.name: param.opts[0] for param in ctx.command.params}
    for name in () if file is None else DRAWN:
        if ctx.get_parameter_source(name) is not ParameterSource.DEFAULT:
            raise click.UsageError(
                f"{shown[name]} {ctx.params[name]} does nothing with file {file}; leave one out"
            )


def _instance(file: str | None, seed: int, index: int, drawn: Mapping[str, Any]) -> Instance:
    from schedfarm.offline.draws import draw_instance
    from schedfarm.offline.times_file import read_times

    if file is None:
        return draw_instance(seed=seed, index=index, **drawn)
    return read_times(file)


def _shown(count: int, *, quiet: bool) -> Iterator[int]:
    """Yield the numbers from 0 on, and show the progress."""
    with counting("instances", quiet=quiet or count == 1) as show:
        for index in range(count):
            show(index, count)
            yield index


def _lines(index: int, outcomes: Sequence[Outcome]) -> Iterator[tuple[object, ...]]:
    """Yield the rows of one instance for the file of schedules."""
    for one in outcomes:
        jobs = one.plan.instance
        columns = (jobs.weights, one.plan.procs, one.plan.start, one.plan.end)
        rows = zip(jobs.names, *(column.tolist() for column in columns), strict=True)
        yield from ((index, one.algorithm, *row) for row in rows)


def _figures(index: int, one: Outcome) -> dict[str, Any]:
    return {
        "instance": index,
        "algorithm": one.algorithm,
        "makespan_s": one.plan.makespan,
        "makespan_bound_s": one.makespan_bound,
        "makespan_ratio": one.makespan_ratio,
        "minsum_s": one.plan.minsum,
        "minsum_bound_s": one.minsum_bound,
        "minsum_ratio": one.minsum_ratio,
    }


def _title(
    jobs: Instance, file: str | None, count: int, seed: int, drawn: Mapping[str, Any]
) -> str:
    from schedfarm.core.numerals import counted

    size = f"{counted(jobs.jobs, 'job')} on {counted(jobs.processors, 'processor')}"
    if file is None:
        return f"{counted(count, 'instance')} of {size}, {drawn['model']}, seed {seed}"
    return f"{file}: {size}"


@dataclass(frozen=True)
class Column:
    """Describe a column of the table: its two header lines, and its text for an algorithm."""

    over: str
    head: str
    figure: str
    decimals: int
    of: Callable[[Sequence[float]], float]


def _spread(values: Sequence[float]) -> float:
    return stdev(values) if len(values) > 1 else float("nan")


TABLE = tuple(
    column
    for what, name in (("makespan", "makespan"), ("weighted sum of ends", "minsum"))
    for column in (
        Column(what, "mean, s", f"{name}_s", 0, fmean),
        Column("/ bound", "mean", f"{name}_ratio", 3, fmean),
        Column("", "spread", f"{name}_ratio", 3, _spread),
        Column("", "largest", f"{name}_ratio", 3, max),
    )
)


def _text(title: str, found: Sequence[Mapping[str, Any]]) -> str:
    from schedfarm.core.numerals import grouped

    by_algorithm: dict[str, list[Mapping[str, Any]]] = {}
    for one in found:
        by_algorithm.setdefault(one["algorithm"], []).append(one)
    lines = [["", *(c.over for c in TABLE)], ["algorithm", *(c.head for c in TABLE)]]
    for name, rows in by_algorithm.items():
        numbers = [grouped(c.of([row[c.figure] for row in rows]), c.decimals) for c in TABLE]
        lines.append([name, *numbers])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    text = [
        "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]).rstrip()
        for line in lines
    ]
    note = "no schedule is below a bound; spread is the standard deviation over instances"
    return "\n".join([title, *text, note])
