"""`farm simulate`: one log, one policy, one schedule."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from farm.campaign.draws import DRAWS, find_draw
from farm.campaign.loads import LOAD_BY, ORIGINAL
from farm.cli.traces import TRACES

if TYPE_CHECKING:
    from core.schedule import Schedule


class Rows(click.ParamType[tuple[int, int]]):
    """Read A:B as a pair of row numbers."""

    name = "A:B"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, int]:
        """Return the pair, or refuse the text."""
        first, colon, last = str(value).partition(":")
        if not colon or not first.isdigit() or not last.isdigit() or int(first) >= int(last):
            self.fail(f"{value!r} is not A:B with A < B, such as 0:5000", param, ctx)
        return int(first), int(last)


@click.command()
@click.argument("trace", metavar="NAME|FILE")
@TRACES
@click.option("--policy", required=True, help="ORDER+RULE[,option=value], such as saf+easy.")
@click.option("--processors", type=int, help="Size of the machine; by default the log's own.")
@click.option("--rows", type=Rows(), help="Rows of the file, [A, B), before any filter.")
@click.option("--jobs", type=int, help="The first K jobs that can be simulated.")
@click.option(
    "--resample",
    type=int,
    default=0,
    show_default=True,
    help="Number of a resample by users; 0 is the log itself.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the resamples.")
@click.option("--weeks", type=int, help="Weeks of a resample; by default the log's own.")
@click.option(
    "--draw",
    default=next(iter(DRAWS)),
    show_default=True,
    callback=lambda _, __, draw: find_draw(draw).name,
    help=f"What a resample draws: {', '.join(row.meaning for row in DRAWS.values())}.",
)
@click.option(
    "--load",
    default=ORIGINAL,
    show_default=True,
    help="Offered load to bring the jobs to, such as 0.9.",
)
@click.option(
    "--load-by",
    default=next(iter(LOAD_BY)),
    show_default=True,
    type=click.Choice(tuple(LOAD_BY)),
    help=f"What reaches the load: {', '.join(row.meaning for row in LOAD_BY.values())}.",
)
@click.option(
    "--tau", type=int, default=10, show_default=True, help="Threshold of the bounded slowdown, s."
)
@click.option("--out", type=click.Path(path_type=Path), help="Write the schedule as SWF.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def simulate(
    trace: str,
    folder: Path | None,
    policy: str,
    resample: int,
    seed: int,
    draw: str,
    load: str,
    load_by: str,
    tau: int,
    out: Path | None,
    as_json: bool,
    **source: Any,
) -> None:
    """Simulate a log, by NAME or from a FILE, under one policy and print what users felt.

    With a campaign's --resample, --seed, --weeks, --draw, --load and --load-by it gives that
    cell again.
    """
    from core import simulate as run_policy
    from core import write_swf
    from core.own import sources
    from farm.campaign.campaign import load_label
    from farm.campaign.samples import jobs_of
    from farm.campaign.sources import collected
    from farm.campaign.trace import named

    origin = named(trace, folder, name="log", **source)
    log = origin.read()
    jobs = jobs_of(
        origin,
        log,
        seed=seed,
        resample=resample,
        draw=draw,
        load=load_label(load),
        load_by=load_by,
    )
    with sources(collected([policy], Path.cwd(), {})):
        schedule = run_policy(jobs, policy)
    if out:
        write_swf(jobs, out, schedule)
    click.echo(_as_json(schedule, tau) if as_json else _as_text(schedule, tau))


def _as_json(schedule: Schedule, tau: int) -> str:
    from core import summarise

    jobs = schedule.workload
    return json.dumps(
        {
            "trace": jobs.name,
            "processors": jobs.processors,
            "policy": schedule.policy,
            "dropped": dict(jobs.dropped),
            # JSON has no NaN.
            "metrics": {k: v if v == v else None for k, v in summarise(schedule, tau).items()},
            "sha256_starts": schedule.digest(),
        },
        indent=1,
    )


def _as_text(schedule: Schedule, tau: int) -> str:
    from core import summarise
    from core.metrics.declared import METRICS

    jobs = schedule.workload
    lines = [f"{jobs.name} on {jobs.processors} processors under {schedule.policy}"]
    lines += [f"  dropped: {count} rows, {why}" for why, count in jobs.dropped.items()]
    for name, value in summarise(schedule, tau).items():
        metric = METRICS[name]
        unit = "" if metric.unit == "1" else f" {metric.unit}"
        lines.append(f"  {metric.meaning:<58} {value:>14,.6g}{unit}")
    return "\n".join(lines)
