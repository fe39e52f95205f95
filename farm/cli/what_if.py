"""`farm what-if`: from a log to the verdict on other policies, in one command."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from schedfarm.farm.cli import words
from schedfarm.farm.cli.command import COUNT, QUIET, Real, StoreName, command, patience
from schedfarm.farm.cli.traces import CLEAN, MAP, NAMES, TRACES
from schedfarm.farm.cli.where import ClusterOptions, where

if TYPE_CHECKING:
    from distributed import Client

    from schedfarm.cluster import ClusterSpec
    from schedfarm.core.workload.workload import Workload
    from schedfarm.farm.campaign.campaign import Campaign
    from schedfarm.farm.campaign.trace import Trace
    from schedfarm.farm.execution.run import Outcome, Prepared
    from schedfarm.farm.store.place import Place
    from schedfarm.farm.watching.events import Watcher

INTERRUPTED = 130

RESUMES = "the same command resumes"

MINUTES = 5.0
"""Default wall time for which the number of samples is chosen, min."""

PAGE_SECONDS = 15.0
"""Wall time reserved for the answer, s: growth of the store between rounds, and the page."""

ALONE_SECONDS = 10.0
"""CPU time up to which no worker processes are started: starting two takes 5 s of CPU."""

UNKNOWN_ESTIMATES = 0.5
"""Share of jobs without a requested time at which a log is refused."""


@command()
@click.argument("log", metavar="NAME|FILE", shell_complete=words.logs)
@click.option(
    "--instead-of",
    "baseline",
    required=True,
    shell_complete=words.policies,
    help="Policy to compare with, such as fcfs+easy.",
)
@click.option(
    "--use",
    "uses",
    multiple=True,
    required=True,
    shell_complete=words.policies,
    help="Policy to use instead; repeatable.",
)
@click.option(
    "--load",
    "loads",
    multiple=True,
    help="Offered load to scale the jobs to, such as 0.9; repeatable; by default the log's own.",
)
@click.option(
    "--precision",
    type=Real(min=0, max=1, min_open=True, max_open=True),
    metavar="SHARE",
    help="Add samples until each interval's half-width is at most this share of the ratio of mean "
    "waits (policy / baseline).  [0.02]",
)
@click.option(
    "--minutes",
    type=Real(min=0, min_open=True),
    help="Largest wall time for the simulation of samples, minutes.  [5]",
)
@click.option(
    "--samples",
    type=COUNT,
    help="Number of samples, instead of --precision and --minutes.",
)
@click.option(
    "--processors", type=COUNT, help="Processors of the machine; by default those of the log."
)
@CLEAN
@MAP
@NAMES
@TRACES
@click.option(
    "--store",
    type=StoreName(),
    help="Store; by default named after the log, in the current folder. The campaign file and the "
    "page are next to the store.",
)
@where
@QUIET
def what_if(
    log: str,
    baseline: str,
    uses: tuple[str, ...],
    loads: tuple[str, ...],
    precision: float | None,
    minutes: float | None,
    samples: int | None,
    folder: Path | None,
    store: str | None,
    cluster: ClusterOptions,
    quiet: bool,
    **source: Any,
) -> None:
    """Compare policies on a log, by NAME or from a FILE, and write the answer as a page.

    The command writes a campaign file, simulates samples of the log under all policies in rounds,
    and prints a preliminary verdict after each round. It adds samples, at most 1,000, until
    the intervals are short enough (--precision) or the time is over (--minutes). At the end it
    prints the tables of farm compare and writes the page of farm report.

    The same command resumes after an interruption. With other values of --samples, --minutes,
    --precision, --use or --load it extends the same campaign and store.
    """
    from schedfarm.farm.planning.rounds import NoIntervalError

    for option, value in (("--minutes", minutes), ("--precision", precision)):
        if value is not None and samples is not None:
            raise click.UsageError(
                f"{option} {value:g} and --samples {samples} both set the number of samples; give "
                "one"
            )
    begun = time.monotonic()
    question = _asked(log, baseline, uses, loads, folder, store, source)
    question = _with_precision(question, precision, samples)
    spec = cluster.spec(question.campaign.cluster)
    budget = 60 * (minutes or MINUTES)
    hands = cluster.workers or len(os.sched_getaffinity(0))
    # A given number of samples is not reduced, nor is the number of a resumed campaign.
    limit = budget if minutes is not None or (samples is None and question.is_new) else math.inf
    try:
        with patience(quiet=quiet):
            plan = _planned(question, samples, minutes, budget - PAGE_SECONDS, hands, begun)
        _write(question, plan, quiet=quiet)
        pace = _Pace(question, plan, begun, limit, quiet=quiet)
        short = _run(plan, question, spec, pace, quiet)
    except NoIntervalError as error:
        short = str(error)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(RESUMES) from None
    try:
        _answer(question, short)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(RESUMES) from None


@dataclass(frozen=True)
class Question:
    """Hold the checked question.

    file: path of the campaign's file. text: content of this file, "" for a new one. located:
    whether the files of logs have been found. page: name of the page.
    """

    policies: tuple[str, ...]
    place: Place
    file: Path
    text: str
    campaign: Campaign
    folder: Path | None
    page: Path
    sources: tuple[tuple[Trace, Workload], ...]

    @property
    def is_new(self) -> bool:
        """Whether the campaign has no file yet."""
        return not self.text


@dataclass(frozen=True)
class Plan:
    """Hold a campaign and its rounds.

    rounds: number of samples after each round. seconds: planned CPU time, s. had: number of samples
    already in the store.
    """

    campaign: Campaign
    rounds: Sequence[int]
    seconds: float
    had: int = 0


def _asked(
    log: str,
    baseline: str,
    uses: Sequence[str],
    loads: Sequence[str],
    folder: Path | None,
    store: str | None,
    source: dict[str, Any],
) -> Question:
    """Check the question and read the log; write nothing."""
    from schedfarm.core.errors import InputError
    from schedfarm.core.format.names import MANIFEST
    from schedfarm.core.policy.policy import Policy, whole_name
    from schedfarm.farm.campaign.campaign import Campaign, load_label
    from schedfarm.farm.campaign.growth import grown
    from schedfarm.farm.campaign.scaling import ORIGINAL
    from schedfarm.farm.campaign.template import Template, label_of, read
    from schedfarm.farm.planning.sizing import PILOT
    from schedfarm.farm.store.place import place_of

    if store and not Path(store.rstrip("/").rpartition("/")[2]).name.strip("."):
        raise InputError(f"--store {store} has no name; give one such as what-if.farm")
    policies = [Policy.parse(whole_name(name)).name for name in (baseline, *uses)]
    for name in policies[1:]:
        if name == policies[0]:
            raise InputError(
                f"--instead-of and --use both name {name}; compare it with another policy"
            )
    labels = tuple(load_label(load) for load in loads) or (ORIGINAL,)
    trace, jobs = read(log, folder, **source)
    _check_log(log, jobs)
    title = label_of(Path(store.rstrip("/").rpartition("/")[2]).stem) if store else ""
    draft = Template([(trace, jobs)], Path(), policies, PILOT, labels, title)
    place = place_of(store or f"{draft.name}.farm")
    file = place.local_folder.with_name(f"{draft.name}.toml")
    draft = replace(draft, folder=file.parent)
    fresh = Campaign.from_dict(_parsed(draft.text()), file.parent)
    text = ""
    campaign = fresh
    if file.exists():
        had = Campaign.from_toml(file)
        text = file.read_text(encoding="utf-8-sig")
        _check_same(file, log, had, fresh, source)
        campaign = grown(had, policies, labels if loads else (), 0)
    elif place.has(MANIFEST):
        raise InputError(
            f"store {place} exists without {file}, the campaign file that describes it; "
            "give another --store"
        )
    names = tuple(dict.fromkeys(policies))
    page = file.with_suffix(".html")
    _check_page(page)
    return Question(names, place, file, text, campaign, folder, page, ((trace, jobs),))


def _check_page(page: Path) -> None:
    """Refuse a page that cannot be written, or whose path belongs to another file."""
    from schedfarm.analysis.report.markup import is_page
    from schedfarm.analysis.report.script import check_script
    from schedfarm.core.errors import InputError
    from schedfarm.farm.output import output

    try:
        check_script()
    except InputError:  # no page is written
        return
    output("page", page)
    if page.is_file() and not is_page(page):
        raise InputError(
            f"{page} exists and is not a page of farm report; move it, or give another --store"
        )


def _with_precision(question: Question, relative: float | None, samples: int | None) -> Question:
    """Request precision of the mean wait, unless the number of samples is given.

    A campaign file without requests, such as one with a given number of samples, gets requests only
    with --precision.
    """
    from schedfarm.farm.campaign.precision import Precision
    from schedfarm.farm.campaign.template import RELATIVE

    campaign = question.campaign
    had = {(one.metric, one.policy, one.over): one for one in campaign.precision}
    if samples is not None or not campaign.resamples:
        return replace(question, campaign=replace(campaign, precision=()))
    if relative is None and not (had or question.is_new):
        return question
    share = relative or max((one.relative for one in had.values()), default=RELATIVE)
    baseline, *uses = question.policies
    for policy in uses:
        request = Precision(metric="wait", policy=policy, over=baseline, relative=share)
        had.setdefault(("wait", policy, baseline), request)
    if relative is not None:
        had = {key: replace(one, relative=relative) for key, one in had.items()}
    return replace(question, campaign=replace(campaign, precision=tuple(had.values())))


def _parsed(text: str) -> dict[str, Any]:
    import tomllib

    return tomllib.loads(text)


def _check_log(log: str, jobs: Workload) -> None:
    """Refuse a log without jobs or requested times."""
    from schedfarm.core.errors import InputError

    if not len(jobs):
        raise InputError(f"log {log} has no jobs; give one with jobs")
    unknown, of = jobs.unasked
    if unknown > UNKNOWN_ESTIMATES * of:
        raise InputError(
            f"log {log}: {unknown} of {of} jobs request no time, so that policies by estimates "
            "would use their run times; --clean no_estimate=f-model draws estimates from a model"
        )


def _check_same(
    file: Path, log: str, had: Campaign, fresh: Campaign, source: dict[str, Any]
) -> None:
    """Refuse the campaign of another log, and a campaign of this log with other keys."""
    from schedfarm.core.errors import InputError

    def of(campaign: Campaign) -> list[tuple[str | None, ...]]:
        return [(t.log or t.file and str(Path(t.file).resolve()), t.model) for t in campaign.traces]

    if of(had) != of(fresh):
        raise InputError(
            f"{file} is a campaign of {', '.join(t.name for t in had.traces)}, not of {log}; give "
            "another --store"
        )
    (old,), (new,) = had.traces, fresh.traces
    if new.names and not old.names:
        raise InputError(
            f"{file} keeps no names; add names = true to its [[traces]], and give the command again"
        )
    for key in ("processors", "clean", "map"):
        had_value, given = getattr(old, key), getattr(new, key)
        if source[key] and had_value != given:
            raise InputError(
                f"{file} has {key} = {had_value!r} and --{key} gives {given!r}; give another "
                "--store"
            )
        if not source[key] and had_value != given:
            click.echo(
                f"note: {file} has {key} = {had_value!r}, which is kept; for another value give "
                "another --store",
                err=True,
            )


def _planned(
    question: Question,
    samples: int | None,
    minutes: float | None,
    budget: float,
    hands: int,
    begun: float,
) -> Plan:
    """Choose the number of samples, and their rounds; refuse a store of another campaign."""
    from schedfarm.farm.planning.rounds import FIRST
    from schedfarm.farm.planning.sizing import rounds_of, samples_of, size_of
    from schedfarm.farm.planning.survey import survey

    campaign = question.campaign.located(question.folder)
    place = question.place.resolved()
    surveyed = survey(campaign)
    if not question.is_new and samples is None and minutes is None:
        samples = campaign.resamples
    left = budget - (time.monotonic() - begun)
    if not campaign.resamples:
        if samples:
            click.echo(
                f"note: --samples {samples} has no effect: the log is too short to draw weeks "
                "from, and is simulated alone",
                err=True,
            )
        return Plan(campaign, [0], 0.0)
    size = size_of(surveyed, place, left, hands, samples)
    rounds = rounds_of(surveyed, place, size.resamples)
    had = samples_of(surveyed, place)
    if samples is not None and rounds[-1] > samples:
        click.echo(f"note: the store has {rounds[-1]} samples, which are all compared", err=True)
    # Precision usually takes at least two rounds, and rarely all samples.
    share = min(1.0, 2 * FIRST / rounds[-1]) if campaign.precision else 1.0
    return Plan(replace(campaign, resamples=rounds[-1]), rounds, share * size.seconds, had)


def _write(question: Question, plan: Plan, *, quiet: bool) -> None:
    """Write the campaign's file, or extend it."""
    from schedfarm.farm.campaign.growth import grown_text
    from schedfarm.farm.campaign.template import Template
    from schedfarm.farm.output import output

    file, wanted = question.file, plan.campaign
    if question.is_new:
        new = Template(
            question.sources,
            file.parent,
            wanted.policies,
            wanted.resamples,
            wanted.loads,
            wanted.name,
            wanted.precision,
        ).text()
    else:
        unlocated = replace(question.campaign, resamples=wanted.resamples)
        new = grown_text(file, question.text, unlocated)
    if new != question.text:
        read = [trace.file or "" for trace, _ in question.sources]
        output("campaign", file, read).write(new.encode())
    if not quiet:
        click.echo(
            f"campaign: {file}; {_counted(wanted)}, store {question.place}; Ctrl-C stops, and "
            f"{RESUMES}",
            err=True,
        )


def _counted(campaign: Campaign) -> str:
    from schedfarm.core.numerals import counted

    under = f"under {len(campaign.policies)} policies"
    if not campaign.resamples:
        return f"the log alone {under}"
    samples = counted(campaign.resamples, "sample")
    if not campaign.precision:
        return f"{samples} {under}"
    share = 100 * min(one.relative for one in campaign.precision)
    return f"at most {samples} {under} until intervals are within {share:g} %"


class _Pace:
    """Print a verdict after each round but the last, and end sampling when the time is over.

    short: reason why fewer samples than planned were simulated; "" if none are missing.
    """

    def __init__(
        self, question: Question, plan: Plan, begun: float, limit: float, *, quiet: bool
    ) -> None:
        self.short = ""
        self._question, self._quiet = question, quiet
        self._of = "" if plan.campaign.precision else f" of {plan.rounds[-1]}"
        self._end = begun + limit - PAGE_SECONDS
        self._samples, self._start = plan.had, time.monotonic()

    def goes_on(self, samples: int, following: int) -> bool:
        """Return whether a round up to `following` samples would end in time."""
        now = time.monotonic()
        took = (now - self._start) / max(1, samples - self._samples)
        self._samples, self._start = samples, now
        if not self._quiet:
            _preliminary(self._question, f"{samples}{self._of} samples")
        # The time of a round is extrapolated from the time of the last round.
        if now + took * (following - samples) > self._end:
            self.short = (
                f"the time is over after {samples}{self._of} samples; the same command continues"
            )
            return False
        return True


def _run(plan: Plan, question: Question, spec: ClusterSpec, pace: _Pace, quiet: bool) -> str:
    """Simulate round by round; return the reason for fewer samples than planned, "" if none.

    An interrupt ends the program.
    """
    from schedfarm.cluster import connect
    from schedfarm.farm.cli.cautions import warn
    from schedfarm.farm.cli.run import opening_of
    from schedfarm.farm.execution.run import begin
    from schedfarm.farm.watching.progress import Quiet, watcher

    place, client = question.place.resolved(), None
    closed = spec.kind != "local" or plan.seconds > ALONE_SECONDS
    with ExitStack() as stack:
        if spec.launcher.found:
            client, closed = stack.enter_context(connect(spec)), False
        for resamples, following in zip_longest(plan.rounds, plan.rounds[1:]):
            with begin(replace(plan.campaign, resamples=resamples), place) as prepared:
                if resamples == plan.rounds[0]:
                    warn(prepared.store.cautions)
                if closed and prepared.tasks:
                    opening = opening_of(spec, prepared.store.place, plan.campaign, watched=False)
                    client = stack.enter_context(connect(spec, stack.enter_context(opening)))
                    closed = False
                watch = Quiet(sys.stderr) if quiet else watcher()
                outcome = _round(prepared, client, watch, pace)
            if outcome.interrupted:
                click.echo(f"interrupted; {RESUMES}", err=True)
                sys.exit(INTERRUPTED)
            if following is None or not pace.goes_on(resamples, following):
                break
    return pace.short


def _round(prepared: Prepared, client: Client | None, watch: Watcher, pace: _Pace) -> Outcome:
    """Simulate the missing cells of a campaign."""
    from schedfarm.farm.execution.run import execute

    return execute(
        prepared,
        client,
        watch,
        goes_on=lambda verdict: pace.goes_on(verdict.rounds[-1].samples, verdict.samples),
    )


def _preliminary(question: Question, samples: str) -> None:
    """Print the verdicts so far."""
    from schedfarm import analysis

    baseline, *uses = question.policies
    found = analysis.compare(str(question.place), baseline, uses, metrics=["wait"])
    for sentence in analysis.verdicts(found):
        click.echo(f"after {samples}: {sentence}", err=True)


def _answer(question: Question, short: str) -> None:
    """Print the comparison, and write the page."""
    from schedfarm import analysis
    from schedfarm.analysis.reading import reading
    from schedfarm.farm.cli.compare import losers_of

    store, (baseline, *uses) = str(question.place), question.policies
    with reading():
        found = analysis.compare(store, baseline, uses)
        groups, notes = losers_of(store, found, "user")
        notes += analysis.comparison_warnings(store, found)
        click.echo(analysis.comparison_text(found, groups))
        if short:
            notes.insert(0, short)
        for sentence in notes:
            click.echo(f"note: {sentence}", err=True)
        _page(question)


def _page(question: Question) -> None:
    """Write the page, or print the reason for its absence."""
    from schedfarm.analysis.report.script import check_script
    from schedfarm.core.errors import InputError
    from schedfarm.farm.cli.report import question as asked, write_page
    from schedfarm.farm.output import output

    store = str(question.place)
    try:
        check_script()
    except InputError as error:
        click.echo(f"no page: {error}", err=True)
        return
    page = output("page", question.page)
    write_page(store, page, asked(store, question.policies))
    click.echo(f"page: {page.name}")
