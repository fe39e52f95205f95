"""Run of a search: generations with races on training weeks, a final race, and the verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from schedfarm.core.arrays import Float64
from schedfarm.core.errors import InputError
from schedfarm.core.numerals import counted
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.search.cells import Runner, Sampling, here, values_of
from schedfarm.farm.search.coefficients import Coefficients
from schedfarm.farm.search.growth import Growth
from schedfarm.farm.search.journal import Journal
from schedfarm.farm.search.race import Ranked, race
from schedfarm.farm.search.regression import fitted
from schedfarm.farm.search.spec import Spec
from schedfarm.farm.search.split import divided

STATE = "state.json"
"""File of the journal in the folder of a search."""

WINNERS = 2
"""Number of the best candidates of each generation that may enter the final race."""

FINAL = 4
"""Samples of the final race as a multiple of the samples of a generation."""


class Proposer(Protocol):
    """Proposes generations of orders from the ranks of earlier ones."""

    def ask(self) -> list[str]:
        """Return the orders of the next generation."""

    def tell(self, ranks: Sequence[int]) -> None:
        """Update the search with the ranks of the orders, 0 for the best."""

    def centre(self) -> list[str]:
        """Return further orders for the final race."""


@dataclass(frozen=True)
class Found:
    """Hold the result of a search.

    orders: orders in parentheses, the best first. policies: the orders with the rule of the search.
    change: change of the metric's mean on training samples relative to the baseline, for each
    order; empty for a regression. verdict: the campaign on held-out weeks and logs. notes: lines on
    each order.
    """

    orders: tuple[str, ...]
    policies: tuple[str, ...]
    change: tuple[float, ...]
    verdict: Campaign
    notes: tuple[str, ...] = ()


def search(
    spec: Spec, folder: Path, runner: Runner = here, say: Callable[[str], None] = lambda _: None
) -> Found:
    """Search orders on the training weeks, or continue an earlier search in the folder.

    The result depends only on the specification, not on interruptions, the runner or its workers.
    """
    parts = divided(spec)
    held_out = parts.verdict
    journal = Journal(folder / STATE, spec, parts.logs)
    samplings = [
        Sampling(
            trace,
            load=spec.load,
            metric=spec.metric,
            tau=spec.tau,
            digest=digest,
            **spec.settings,
        )
        for trace, digest in parts.training
    ]
    if spec.regression is not None:
        fits = fitted(spec, samplings, journal, runner, say)
        orders = tuple(one.order for one in fits)
        return _found(spec, held_out, orders, (), tuple(one.text for one in fits))
    stage = _Stage(spec, samplings, journal, runner)
    proposer: Proposer = Coefficients(spec) if spec.order else Growth(spec)
    ranked = _final(spec, stage, _generations(spec, stage, proposer, say), say)
    order, score = ranked[0]
    return _found(spec, held_out, (order,), (math.exp(score) - 1,))


def _found(
    spec: Spec,
    held_out: tuple[Trace, ...],
    orders: tuple[str, ...],
    change: tuple[float, ...],
    notes: tuple[str, ...] = (),
) -> Found:
    policies = tuple(map(spec.policy, orders))
    campaign = Campaign(
        name=f"{spec.name}-held-out",
        traces=held_out,
        policies=tuple(dict.fromkeys((spec.baseline, *spec.against, *policies))),
        loads=(spec.load,),
        resamples=spec.held_out_samples,
        seed=spec.seed + 1,
        tau=spec.tau,
        draw=spec.draw,
        keep="summary",
    )
    return Found(orders, policies, change, campaign, notes)


class _Stage:
    """Simulate samples of the training traces under policies, or recall them from the journal."""

    def __init__(
        self, spec: Spec, samplings: Sequence[Sampling], journal: Journal, runner: Runner
    ) -> None:
        self._spec, self._journal, self._runner = spec, journal, runner
        self._samplings = samplings

    def race(self, orders: Sequence[str], first: int, samples: int) -> list[Ranked]:
        """Race orders on the samples from number `first` on; return the ranked orders."""
        policies = [self._spec.policy(one) for one in orders]
        return race(self._spec.baseline, policies, self._simulate, first, samples)

    def _simulate(self, policies: Sequence[str], samples: range) -> Float64:
        asked: dict[str, Any] = {
            "policies": [*policies],
            "samples": [samples.start, samples.stop],
        }
        found = self._journal.recall(asked)
        if found is None:
            given = [(one, k, asked["policies"]) for one in self._samplings for k in samples]
            found = [
                [None if math.isinf(value) else value for value in values]
                for values in self._runner(values_of, given)
            ]
            self._journal.add(asked, found)
        values = np.array([[math.inf if x is None else x for x in row] for row in found])
        shape = (len(self._samplings), len(samples), len(policies))
        return np.moveaxis(values.reshape(shape), -1, 0)


def _generations(
    spec: Spec, stage: _Stage, proposer: Proposer, say: Callable[[str], None]
) -> dict[str, float]:
    """Return the orders that may enter the final race, with their scores in training."""
    winners: dict[str, float] = {}
    for generation in range(spec.generations):
        orders = proposer.ask()
        different = list(dict.fromkeys(orders))
        ranked = stage.race(different, 1 + generation * spec.samples, spec.samples)
        places = {different[one.place]: rank for rank, one in enumerate(ranked)}
        proposer.tell([places[order] for order in orders])
        best = ranked[0]
        if math.isinf(best.score):
            raise InputError(
                f"no candidate of generation {generation + 1} gives a number for each job, such as "
                f"{different[best.place]}; keep 0 from denominators and logarithms, as by "
                "max(..., 1)"
            )
        for one in ranked[:WINNERS]:
            if one.samples == spec.samples and math.isfinite(one.score):
                order = different[one.place]
                winners[order] = min(one.score, winners.get(order, math.inf))
        dropped = sum(one.samples < spec.samples for one in ranked)
        say(
            f"generation {generation + 1} of {spec.generations}: {spec.metric} "
            f"{_change(best.score)} than {spec.baseline}, {dropped} of {len(different)} dropped "
            f"early: {different[best.place]}"
        )
    chosen = sorted(winners, key=lambda order: (winners[order], order))[: spec.finalists]
    return {order: winners.get(order, math.nan) for order in (*chosen, *proposer.centre())}


def _final(
    spec: Spec, stage: _Stage, finalists: dict[str, float], say: Callable[[str], None]
) -> list[tuple[str, float]]:
    """Return the finalists with their scores on samples that were not used for their selection."""
    orders, samples = list(finalists), FINAL * spec.samples
    ranked = stage.race(orders, 1 + spec.generations * spec.samples, samples)
    best = ranked[0]
    say(
        f"final of {counted(len(orders), 'order')} on {samples} further samples of each trace: "
        f"{spec.metric} {_change(best.score)} than {spec.baseline}: {orders[best.place]}"
    )
    return [(orders[one.place], one.score) for one in ranked]


def _change(score: float) -> str:
    share = math.expm1(score)
    return f"{100 * abs(share):.1f} % {'larger' if share > 0 else 'smaller'}"
