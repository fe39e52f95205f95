"""What Carastan-Santos et al. 2019 say of every log, held against each log and each sample."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import xarray as xr

from schedfarm.analysis.papers.saf_2019.counts import CLASSES
from schedfarm.analysis.papers.saf_2019.printed import OBJECTIVES, POLICIES
from schedfarm.analysis.papers.saf_2019.study import Study
from schedfarm.analysis.store import LOG
from schedfarm.core.arrays import Bool

BASELINE, *OTHERS = POLICIES

_ALL_BUT_SAF = [name for name in POLICIES if name != "SAF"]

NAMES = {"bounded_slowdown": "slowdown", "pp_bounded_slowdown": "pp-slowdown", "wait": "wait"}
"""What the paper calls the objectives."""

HASTE = ("bounded_slowdown_premature", "bounded_slowdown_standard")
"""Slowdowns of the premature jobs and of the others."""

METRICS = (*OBJECTIVES, *CLASSES, *HASTE, "backfilled")
"""What the claims are about."""

CLOSE = 1.1
"""So many times the smallest is still close to it, of which the paper gives no measure."""

Numbers = Mapping[str, Mapping[str, npt.NDArray[Any]]]
"""By metric and policy, numbers on trace and perhaps on resample."""

Holds = Callable[[Numbers], Bool]
"""From numbers to whether a claim holds of each of them."""


class Said(NamedTuple):
    """A claim about every log: in words, where it stands, and whether numbers agree."""

    what: str
    where: str
    holds: Holds


def claims(of: Study) -> pd.DataFrame:
    """Count where each of the paper's claims about every log holds.

    Returns
    -------
    DataFrame
        A row a claim: ``where`` in the paper; ``logs``, on how many logs it holds of the means
        over the samples, and ``but``, on which it does not; ``itself``, of how many logs
        themselves, not resampled, and ``but_itself``, of which not (both empty where the store
        has none of these); a column a log, in how many samples, and ``samples``, of how many.
    """
    samples = of.samples
    means, own = samples.mean("resample"), LOG in of.summary["resample"].values
    numbers = _numbers(samples), _numbers(means), _numbers(of.log) if own else None
    with np.errstate(divide="ignore", invalid="ignore"):
        rows = [_row(said, of.traces, *numbers) for said in CLAIMS]
    frame = pd.DataFrame(rows, index=pd.Index([said.what for said in CLAIMS], name="claim"))
    return frame.assign(samples=samples.sizes["resample"])


def _numbers(summary: xr.Dataset) -> Numbers:
    # Out of xarray: to choose from it and compare there took 15 times as long.
    values = {name: summary[name].transpose("policy", "trace", ...).values for name in METRICS}
    policies = summary["policy"].values.tolist()
    return {name: dict(zip(policies, each, strict=True)) for name, each in values.items()}


def _row(
    said: Said, traces: list[str], samples: Numbers, means: Numbers, log: Numbers | None
) -> dict[str, object]:
    row: dict[str, object] = {"where": said.where}
    row |= _count(said.holds(means), traces, "logs", "but")
    row |= {"itself": np.nan, "but_itself": ""}
    if log is not None:
        row |= _count(said.holds(log), traces, "itself", "but_itself")
    return row | dict(zip(traces, said.holds(samples).sum(axis=1).tolist(), strict=True))


def _count(holds: Bool, traces: list[str], count: str, but: str) -> dict[str, object]:
    fails = [trace for trace, it in zip(traces, holds.tolist(), strict=True) if not it]
    return {count: len(traces) - len(fails), but: ", ".join(fails)}


def _less(metric: str, policies: list[str], others: list[str], times: float = 1) -> Holds:
    """Return whether a metric of each of the policies is less than so many times every other's.

    Where one of them is missing it is not.
    """

    def holds(numbers: Numbers) -> Bool:
        of = numbers[metric]
        largest = np.max([of[name] for name in policies], axis=0)
        least = np.min([of[name] for name in others], axis=0)
        return np.asarray(largest < times * least)

    return holds


def _amplified(policy: str) -> Holds:
    def holds(numbers: Numbers) -> Bool:
        early, late = (numbers[name] for name in HASTE)
        return np.asarray(early[policy] / late[policy] > early[BASELINE] / late[BASELINE])

    return holds


def _of_metrics() -> Iterator[Said]:
    for metric in OBJECTIVES:
        name = NAMES[metric]
        yield Said(
            f"{name}: SPF and SAF each below FCFS and SQF",
            "V-A",
            _less(metric, ["SPF", "SAF"], ["FCFS", "SQF"]),
        )
        if metric == "pp_bounded_slowdown":
            yield Said(f"{name}: SAF the smallest", "V-B", _less(metric, ["SAF"], _ALL_BUT_SAF))
        else:
            yield Said(
                f"{name}: SAF within {100 * (CLOSE - 1):.0f} % of the smallest",
                "V-B, as close to best",
                _less(metric, ["SAF"], _ALL_BUT_SAF, CLOSE),
            )
        for policy in ("SPF", "SAF"):
            yield Said(f"{name}: {policy} below FCFS", "VI", _less(metric, [policy], [BASELINE]))


def _of_classes() -> Iterator[Said]:
    at_once, *waited = CLASSES
    for policy in OTHERS:
        yield Said(
            f"slowdown 1: more jobs under {policy} than FCFS",
            "V-C",
            _less(at_once, [BASELINE], [policy]),
        )
        for variable in waited:
            exception = (policy, variable) == ("SPF", "slowdown_1_10")
            yield Said(
                f"slowdown {CLASSES[variable]}: fewer jobs under {policy} than FCFS",
                "V-C, as the exception" if exception else "V-C",
                _less(variable, [policy], [BASELINE]),
            )
    yield Said(
        "slowdown 100+: less than half as many jobs under SAF as under FCFS",
        "V-C",
        _less(waited[-1], ["SAF"], [BASELINE], 0.5),
    )


def _of_estimates_and_backfilling() -> Iterator[Said]:
    for policy in ("SPF", "SAF"):
        yield Said(
            f"premature over standard jobs: {policy} above FCFS", "V-C, often", _amplified(policy)
        )
        yield Said(
            f"backfilled: fewer jobs under {policy} than FCFS",
            "V-D",
            _less("backfilled", [policy], [BASELINE]),
        )
    yield Said(
        "backfilled: none under SQF",
        "V-D, figure 4",
        lambda numbers: numbers["backfilled"]["SQF"] == 0,
    )


CLAIMS = (*_of_metrics(), *_of_classes(), *_of_estimates_and_backfilling())
"""The paper's claims about every log."""
