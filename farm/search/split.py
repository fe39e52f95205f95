"""Weeks of the search and weeks of the verdict: disjoint, since one number divides each log."""

from __future__ import annotations

from dataclasses import replace

from schedfarm.core.errors import InputError
from schedfarm.core.workload.resample_weeks import whole_weeks
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.search.spec import Spec

LEAST_WEEKS = 2
"""Fewest weeks of a log: one of each kind."""


def divided(spec: Spec) -> tuple[tuple[Trace, ...], tuple[Trace, ...]]:
    """Return the traces of the search and those of the verdict.

    A log gives its first weeks to the search and the later ones to the verdict. A model gives all
    of its samples to both: those of the verdict are drawn by another seed.
    """
    search, verdict = [], []
    for trace in spec.traces:
        if trace.model is not None:
            search.append(trace)
            verdict.append(trace)
            continue
        log = trace.read()
        assert log is not None, "a trace without a model is a log"
        weeks = whole_weeks(log.submit)
        if weeks < LEAST_WEEKS:
            raise InputError(
                f"trace {trace.name!r} has {weeks} whole week; a search needs at least "
                f"{LEAST_WEEKS}, to be judged on weeks that it has not seen"
            )
        cut = min(max(1, round(spec.training * weeks)), weeks - 1)
        search.append(_weeks(trace, 0, cut, spec.weeks))
        verdict.append(_weeks(trace, cut, weeks, spec.weeks))
    held = (_sampled(trace, spec.weeks) for trace in spec.held_out)
    return tuple(search), (*verdict, *held)


def _weeks(trace: Trace, first: int, last: int, weeks: int) -> Trace:
    return _sampled(replace(trace, select={**trace.select, "weeks": [first, last]}), weeks)


def _sampled(trace: Trace, weeks: int) -> Trace:
    """Return a log whose samples have some weeks, unless the trace says how many."""
    return trace if trace.weeks or trace.model else replace(trace, weeks=weeks)
