"""Pilot of a campaign with requested precision: predicts the number of samples for its intervals.

The prediction is from the finished samples of a store. Without finished samples, a few samples are
simulated here, under the requested policies alone.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np

from schedfarm.core import own
from schedfarm.core.arrays import Float64
from schedfarm.core.bootstrap import Block
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.errors import InputError
from schedfarm.core.metrics.declared import METRICS
from schedfarm.core.metrics.summary import summarise
from schedfarm.farm.campaign.precision import Precision
from schedfarm.farm.campaign.samples import Samples
from schedfarm.farm.planning.design import Design
from schedfarm.farm.planning.rounds import Round, judged_round, paired

PILOT = 20
"""Largest number of samples of a pilot, the same as in a first round. Fewer samples may mislead:
where 160 samples were enough, the variance of 10 samples predicted 596, and the variance of 20
samples predicted 231."""

LEAST = 5
"""Least number of samples for a prediction."""

PILOT_SECONDS = 10.0
"""CPU time after which no further sample is simulated, s."""


@dataclass(frozen=True)
class Prediction:
    """Hold the expected number of samples for the requested precision.

    pilot: number of samples behind the prediction; 0 if there are too few. needed: number of
    samples predicted from their variance, infinite if the variance is unknown. most: largest number
    of samples of the campaign.
    """

    pilot: int
    needed: float
    most: int

    @property
    def samples(self) -> int:
        """The expected number of samples."""
        return int(min(self.most, math.ceil(self.needed))) if self.pilot else self.most

    def __str__(self) -> str:
        if not self.pilot:
            return (
                f"precision: no samples to predict from; the costs are those of all {self.most} "
                "samples, the most that the campaign runs"
            )
        enough = "" if self.needed <= self.most else ", which does not reach the precision"
        return (
            f"precision: about {math.ceil(self.needed)} samples by the variance of {self.pilot}; "
            f"the costs are those of {self.samples}{enough}"
        )


def predict(design: Design, *, simulated: bool) -> Prediction:
    """Predict the samples of a campaign from its store or, if `simulated`, from a pilot.

    Raises `InputError` if a request has no interval.
    """
    campaign = design.campaign
    least = len([number for number in design.store.axes["resample"] if number])
    last: Round | None = None
    if design.verdict is not None and design.verdict.rounds:
        last = design.verdict.rounds[-1]
    elif simulated:
        last = _pilot(design)
    if last is None:
        return Prediction(0, math.inf, campaign.resamples)
    return Prediction(last.samples, max(last.widest.samples, least), campaign.resamples)


def _pilot(design: Design) -> Round | None:
    """Simulate samples until the time is over; return None if there are too few."""
    campaign, begun = design.campaign, time.process_time()
    if any(one.metric not in METRICS for one in campaign.precision):
        # Fairness and plug-in metrics need a store.
        return None
    rows: list[Mapping[tuple[str, str, str, str], float]] = []
    with own.sources(design.store.own):
        while len(rows) < min(PILOT, campaign.resamples):
            if time.process_time() - begun > PILOT_SECONDS:
                break
            rows.append(_values(design, len(rows) + 1))
    if len(rows) < LEAST:
        return None

    def pairs(request: Precision, trace: str, load: str) -> Block:
        def of(policy: str) -> Float64:
            return np.array([row[request.metric, trace, load, policy] for row in rows])

        return paired(of(request.over), of(request.policy))

    return judged_round(campaign, pairs, len(rows))


def _values(design: Design, number: int) -> dict[tuple[str, str, str, str], float]:
    """Return the requested metrics of one sample, by metric, trace, load and policy."""
    campaign, settings = design.campaign, design.store.settings
    asked: dict[str, set[str]] = {}
    for one in campaign.precision:
        for policy in (one.policy, one.over):
            asked.setdefault(policy, set()).add(one.metric)
    found = {}
    for trace in campaign.traces:
        samples = Samples(trace, design.logs[trace.name], settings)
        for load, (policy, metrics) in product(campaign.loads, asked.items()):
            values = dict.fromkeys(metrics, math.nan)
            try:
                schedule = simulate(samples.at(number, load), policy)
            except InputError:
                # This cell will fail in the run; its pair does not count.
                pass
            else:
                how = {key: settings[key] for key in ("warmup", "cooldown") if key in settings}
                values = summarise(schedule, names=sorted(metrics), tau=settings["tau"], **how)
            for metric in metrics:
                found[metric, trace.name, load, policy] = float(values[metric])
    return found
