"""Number of samples for a time budget, and rounds of samples that end with whole blocks."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from schedfarm.core.format.geometry import Block
from schedfarm.farm.planning.calibration import calibrate
from schedfarm.farm.planning.design import Design, design
from schedfarm.farm.planning.survey import Survey
from schedfarm.farm.planning.tasks import missing_blocks
from schedfarm.farm.store.place import Place
from schedfarm.farm.store.records import read_headers

PILOT = 8
"""Difference in samples between two designs, from which the cost of a sample is computed."""

LEAST, MOST = 8, 1000
"""Least and largest number of samples for a budget: 1,000 pairs give intervals below 1 %."""

AIM = 0.7
"""Share of a budget for the planned cost: extrapolated costs are up to twice too low."""

ROUNDS = 4
"""Number of rounds in which samples are simulated."""

LEAST_SECONDS = 1e-6
"""Least cost of a sample, s: a log may have a single job."""

CALIBRATED_SECONDS = 4.0
"""Largest CPU time for a measurement of the cost of cells, s."""


@dataclass(frozen=True)
class Size:
    """Hold the total number of samples to simulate, and the CPU time of the missing cells, s."""

    resamples: int
    seconds: float


def size_of(
    survey: Survey, place: Place, seconds: float, at_once: int, resamples: int | None = None
) -> Size:
    """Return the number of samples that fit a wall time, s, with `at_once` cells at a time.

    resamples: a given number of samples, of which only the cost is measured.
    """
    had = samples_of(survey, place)
    low, high = (_design(survey, place, had + n) for n in (PILOT, 2 * PILOT))
    calibration = calibrate(high, _missing(high), seconds=CALIBRATED_SECONDS)
    costs = [math.fsum(calibration.costs(one.store, _missing(one)).values()) for one in (low, high)]
    each = max((costs[1] - costs[0]) / PILOT, LEAST_SECONDS)
    rest = max(costs[0] - PILOT * each, 0.0)
    if resamples is None:
        fitting = had + int((AIM * seconds * at_once - rest) / each)
        resamples = max(had, min(max(LEAST, fitting), MOST))
    return Size(resamples, rest + each * max(0, resamples - had))


def rounds_of(survey: Survey, place: Place, resamples: int) -> list[int]:
    """Return the number of samples after each round, ascending; the last one is `resamples`.

    A campaign with requested precision determines its own rounds, so that the result has only the
    last number. Other rounds end with whole blocks, since a growing block is simulated again as a
    whole. Missing cells of samples that the store already has belong to the first round.
    """
    had = samples_of(survey, place)
    if resamples <= had:
        return [had]
    if survey.campaign.precision:
        return [resamples]
    log = int(survey.campaign.log)
    step = _step(survey, place, max(had + log, math.ceil((resamples + log) / ROUNDS)))
    ends = (math.ceil(resamples * k / ROUNDS) + log for k in range(1, ROUNDS))
    found = {math.ceil(end / step) * step - log for end in ends}
    return [*sorted(one for one in found if had < one < resamples), resamples]


def _step(survey: Survey, place: Place, first: int) -> int:
    """Return the length of blocks along the samples for about `first` samples in the first round.

    The length may depend on the number of samples in the first round.
    """
    log, length = int(survey.campaign.log), 1
    for _ in range(ROUNDS):
        (layout,) = _design(survey, place, max(1, first - log)).store.layouts.values()
        length = layout.cells[0]
        if first % length == 0:
            break
        first = math.ceil(first / length) * length
    return length


def samples_of(survey: Survey, place: Place) -> int:
    """Return the number of samples in the campaign's store; 0 without a store."""
    old = design(place, survey).old
    return max(old.axes["resample"]) if old else 0


def _design(survey: Survey, place: Place, resamples: int) -> Design:
    """Design a store with this number of samples, even if precision begins with fewer."""
    grown = Survey(replace(survey.campaign, resamples=resamples), survey.traces)
    return design(place, grown, resamples)


def _missing(designed: Design) -> list[Block]:
    heads = read_headers(designed.old) if designed.old else {}
    return missing_blocks(designed.store, heads, retry_failed=False)
