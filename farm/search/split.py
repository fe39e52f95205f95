"""Weeks of the search and weeks of the verdict; they are disjoint, since each log is divided once.

Two traces may still read the same jobs, so the parts are also compared with each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import product

from schedfarm.core.errors import InputError
from schedfarm.core.workload.resample_weeks import whole_weeks
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.search.spec import Spec

LEAST_WEEKS = 2
"""Least number of weeks of a log: one for the search and one for the verdict."""


TRIVIAL = 0.01
"""Tolerated share of jobs that equal a job of another log in submission, run time and width."""

Job = tuple[int, int, int]
"""Submission, run time and width."""


@dataclass(frozen=True)
class Part:
    """Hold a trace of the search or of the verdict, and its jobs; a model has no jobs."""

    trace: Trace
    digest: str
    jobs: frozenset[Job]

    @classmethod
    def of(cls, trace: Trace) -> Part:
        """Read a trace."""
        log = trace.read()
        if log is None:
            return cls(trace, "", frozenset())
        columns = (log.submit.tolist(), log.run.tolist(), log.procs.tolist())
        return cls(trace, log.digest(), frozenset(zip(*columns, strict=True)))


@dataclass(frozen=True)
class Divided:
    """Hold the traces of the search and of the verdict.

    training: each trace with the digest of its jobs. verdict: the traces. logs: digests of the logs
    by name.
    """

    training: tuple[tuple[Trace, str], ...]
    verdict: tuple[Trace, ...]
    logs: Mapping[str, str]


def divided(spec: Spec) -> Divided:
    """Return the traces of the search and of the verdict.

    A log gives its first weeks to the search and its later weeks to the verdict. A model gives all
    its samples to both, but the samples of the verdict have another seed. Raises `InputError` if a
    part of the search and a part of the verdict have jobs in common.
    """
    search, verdict, logs = [], [], {}
    for trace in spec.traces:
        log = trace.read()
        if log is None:
            search.append(trace)
            verdict.append(trace)
            continue
        logs[trace.name] = log.digest()
        weeks = whole_weeks(log.submit)
        if weeks < LEAST_WEEKS:
            raise InputError(
                f"trace {trace.name!r} has {weeks} whole week; a search needs at least "
                f"{LEAST_WEEKS}, to be judged on weeks that it has not used"
            )
        cut = min(max(1, round(spec.training * weeks)), weeks - 1)
        search.append(_weeks(trace, 0, cut, spec.weeks))
        verdict.append(_weeks(trace, cut, weeks, spec.weeks))
    held_out = [Part.of(_sampled(trace, spec.weeks)) for trace in spec.held_out]
    logs |= {one.trace.name: one.digest for one in held_out if one.digest}
    training, judged = [*map(Part.of, search)], [*map(Part.of, verdict), *held_out]
    _check_unseen(training, judged)
    own = tuple((one.trace, one.digest) for one in training)
    return Divided(own, tuple(one.trace for one in judged), logs)


def _check_unseen(training: Iterable[Part], verdict: Iterable[Part]) -> None:
    """Refuse jobs that are in both the search and the verdict, regardless of the files' names."""
    for seen, judged in product(training, verdict):
        shared = len(seen.jobs & judged.jobs)
        if shared > max(1, TRIVIAL * min(len(seen.jobs), len(judged.jobs))):
            raise InputError(
                f"the search on trace {seen.trace.name!r} and the verdict on trace "
                f"{judged.trace.name!r} share {shared} jobs; leave one of the traces out, or give "
                "them rows that do not overlap"
            )


def _weeks(trace: Trace, first: int, last: int, weeks: int) -> Trace:
    return _sampled(replace(trace, select={**trace.select, "weeks": [first, last]}), weeks)


def _sampled(trace: Trace, weeks: int) -> Trace:
    """Set the number of weeks of a log's samples, unless the trace has this number."""
    return trace if trace.weeks or trace.model else replace(trace, weeks=weeks)
