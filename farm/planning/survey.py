"""Survey of a campaign: jobs, weeks and users of its traces, from the logs and samples.

The survey is made once and passed on to the design of the store. Weeks and users depend only on the
trace, the seed and the load, so that a grown store equals a store that was made at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from schedfarm.core import own
from schedfarm.core.arrays import MOST_JOBS
from schedfarm.core.durations import seconds_of
from schedfarm.core.errors import InputError
from schedfarm.core.format.geometry import Weeks
from schedfarm.core.metrics.users import known_users
from schedfarm.core.policy.policy import Policy
from schedfarm.core.workload.resample_weeks import span_weeks
from schedfarm.core.workload.workload import Workload
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.samples import Samples
from schedfarm.farm.campaign.scaling import ORIGINAL, LoadScaling
from schedfarm.farm.campaign.sources import MODEL
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.campaign.warnings import Case, warnings_of
from schedfarm.farm.store.store import Store

DRAWN = 16
"""Number of samples from which the weeks of all samples are determined, if samples differ."""

DRAWN_JOBS = 1_000_000
"""Number of jobs after which no further sample is drawn for the weeks: 0.1 to 1 s."""


@dataclass(frozen=True, eq=False)
class TraceSurvey:
    """Hold the properties of one trace that are the same for every store.

    log: None for a model. source: identity of the trace in the records of stores. jobs: number of
    jobs in its largest cell. weeks: weeks of its submissions by load. users: numbers of its users,
    ascending; empty if users are unknown. warnings: sentences by key. acknowledgement: that of the
    log, empty if unknown.
    """

    log: Workload | None
    source: Mapping[str, Any]
    jobs: int
    weeks: Weeks
    users: tuple[int, ...]
    warnings: Mapping[str, str]
    acknowledgement: str


@dataclass(frozen=True, eq=False)
class Survey:
    """Hold a campaign with the survey of each of its traces by name."""

    campaign: Campaign
    traces: Mapping[str, TraceSurvey]

    def of_each(self, attribute: str) -> dict[str, Any]:
        """Return an attribute of each trace's survey by the trace's name."""
        return {name: getattr(trace, attribute) for name, trace in self.traces.items()}


def survey(campaign: Campaign) -> Survey:
    """Survey a campaign; raises `InputError` if a trace cannot be read or sampled."""
    found: dict[str, TraceSurvey] = {}
    seen: list[tuple[Trace, TraceSurvey]] = []
    for trace in campaign.traces:
        # Traces that differ only in the size of the machine share jobs, read and drawn once.
        jobs = replace(trace, name="trace1", resize=None)
        one = next((known for other, known in seen if other == jobs), None)
        if one is None:
            one = survey_of(trace, campaign)
            seen.append((jobs, one))
        found[trace.name] = replace(one, source=_source(trace, one.log))
    return Survey(campaign, found)


def survey_of(trace: Trace, campaign: Campaign) -> TraceSurvey:
    """Read a trace's log and draw the samples that determine its size.

    Raises `InputError` if the trace cannot be read or sampled, or is shorter than the warm-up.
    """
    log = trace.read()
    samples = _SurveyedSamples(trace, log, campaign.settings)
    _check_warmup(samples, campaign)
    method = campaign.draw if campaign.resamples else ""
    with own.sources(campaign.sources):
        policies = tuple(map(Policy.parse, campaign.policies))
    return TraceSurvey(
        log,
        _source(trace, log),
        _most_jobs(samples, campaign),
        _weeks_by_load(samples, campaign),
        _users_of(trace, log),
        warnings_of(Case(log, campaign.loads, method, trace.machine is not None, policies)),
        trace.acknowledgement(),
    )


class _SurveyedSamples(Samples):
    """Draw samples of a trace and keep the first ones, which a survey uses several times."""

    def __init__(self, trace: Trace, log: Workload | None, settings: Mapping[str, Any]) -> None:
        super().__init__(trace, log, settings)
        self._kept: dict[int, Workload] = {}

    def drawn(self, resample: int, users: float = 1.0) -> Workload:
        if resample in self._kept and users == 1.0:
            return self._kept[resample]
        jobs = super().drawn(resample, users)
        if resample <= DRAWN and users == 1.0 and _total(self._kept.values()) < DRAWN_JOBS:
            self._kept[resample] = jobs
        return jobs

    def first(self) -> list[Workload]:
        """Return the samples that determine the weeks of all samples."""
        found: list[Workload] = []
        while len(found) < DRAWN and _total(found) < DRAWN_JOBS:
            found.append(self.drawn(len(found) + 1))
        return found


def _total(drawn: Iterable[Workload]) -> int:
    return sum(map(len, drawn))


def _most_jobs(samples: Samples, campaign: Campaign) -> int:
    """Return the number of jobs of the largest cell; no jobs of a log are drawn for it."""
    trace = samples.trace
    if samples.log is None and trace.jobs is not None:
        return trace.jobs
    users = {samples.users_at(load) for load in campaign.loads}
    most = 0
    for resample in campaign.resample_axis:
        most = max(most, _size(samples, resample, users))
        if most > MOST_JOBS and resample:
            raise InputError(
                f"trace {trace.name!r}: resample {resample} has {most} jobs, more than the "
                f"maximum of {MOST_JOBS} for a cell; give fewer weeks or a lower load"
            )
    return most


def _size(samples: Samples, resample: int, users: set[float]) -> int:
    if samples.log is None or resample == 0:
        return len(samples.drawn(resample))
    given = {"seed": samples.seed, "index": resample, "weeks": samples.trace.weeks}
    return max(samples.method.jobs(samples.log, each, **given) for each in users)


def _source(trace: Trace, log: Workload | None) -> dict[str, Any]:
    if log is None:
        # A trace of a model always has a machine.
        return {**trace.to_dict(), "platform": trace.runs_on and trace.runs_on.to_dict()}
    return {
        "weeks": trace.weeks,
        "columns": log.digest(),
        "platform": trace.resized(log).platform.to_dict(),
        **({"sampled_on": log.platform.to_dict()} if trace.resize is not None else {}),
        "dropped": dict(log.dropped),
        **({"epoch": log.epoch} if log.platform.dated else {}),
    }


def _check_warmup(samples: Samples, campaign: Campaign) -> None:
    """Refuse a warm-up as long as a trace's submissions, which would leave no job.

    If the campaign has resamples, only the first one is checked.
    """
    begin = seconds_of(campaign.warmup) if isinstance(campaign.warmup, str) else None
    if begin is None:
        return
    number = campaign.resample_axis[-1] and 1
    one = samples.drawn(number)
    for load in campaign.loads:
        for jobs in _scaled([one], load, samples.scaling):
            lasts = int(jobs.submit[-1] - jobs.submit[0]) if len(jobs) else begin + 1
            if begin >= lasts:
                raise InputError(
                    f"warmup is {campaign.warmup!r}; the submissions of trace "
                    f"{samples.trace.name!r} at load {load} last {lasts} s, so that no job "
                    "remains: give a shorter one"
                )


def _users_of(trace: Trace, log: Workload | None) -> tuple[int, ...]:
    if log is not None:
        return tuple(known_users(log).tolist())
    return tuple(MODEL.users(trace))


def _weeks_by_load(samples: _SurveyedSamples, campaign: Campaign) -> Weeks:
    """Return for each load the weeks of the log's and of its samples' submissions, at least 1 each.

    If samples differ in weeks, the longest of the first `DRAWN` samples counts, for any number of
    samples of the campaign: drawing a million samples for a plan would take too long.
    """
    trace, log, stretches = samples.trace, samples.log, samples.scaling.stretches
    known = trace.weeks or (_span([log]) if log is not None else 0)
    asked = log is None or campaign.resamples
    drawn = samples.first() if asked and (stretches or not known) else []
    logs = drawn if log is None else [log]
    known = known or _span(drawn)
    own = known if log is None else _span(logs)
    scaling = samples.scaling
    return {
        load: (_span(_scaled(logs, load, scaling)), _span(_scaled(drawn, load, scaling)))
        if stretches and load != ORIGINAL
        else (own, known)
        for load in campaign.loads
    }


def longer_logs(store: Store, campaign: Campaign) -> list[str]:
    """Return a note for each log that is longer than its samples."""
    notes = []
    for trace in campaign.traces:
        of_log, of_samples = next(iter(store.weeks[trace.name].values()))
        if 0 in store.axes["resample"] and trace.weeks and of_log > of_samples:
            notes.append(
                f"{trace.name}: resample 0 is all {of_log} weeks of the log, its samples have "
                f"{trace.weeks}; select.weeks = [0, {trace.weeks}] would shorten the log, of "
                "which samples are drawn, too"
            )
    return notes


def _scaled(drawn: Iterable[Workload], load: str, scaling: LoadScaling) -> list[Workload]:
    scaled = []
    for one in drawn:
        try:
            scaled.append(scaling.scale(one, load))
        except InputError:
            # A sample that cannot be scaled becomes a failed cell, with this error in its record.
            continue
    return scaled


def _span(workloads: Iterable[Workload]) -> int:
    return max((span_weeks(one) for one in workloads if len(one)), default=1)
