"""The paper's schedulers, and the effect of each of its ideas over paired samples.

A comparison is between two schedulers that differ in one idea, or between EASY++ and EASY. Its
number is a measure under the first scheduler, divided by the measure under the second on the same
sample or log.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from schedfarm.analysis.intervals import interval
from schedfarm.analysis.papers.claim import ABOVE, BELOW, KEY, Claim, count, in_part
from schedfarm.analysis.papers.report import Numbers
from schedfarm.analysis.store import of_log, of_samples
from schedfarm.core.bootstrap import log_ratio

EASY, SJBF = "EASY", "EASY-SJBF"

PLUS, PLUS_PLUS = "EASY+", "EASY++"

PLUS_ESTIMATE, PLUS_PLUS_ESTIMATE = "EASY+ (estimate)", "EASY++ (estimate)"
"""Names of EASY+ and EASY++ with corrections to the estimate instead of by steps."""

PERFECT, PERFECT_SJBF = "perfect EASY", "perfect EASY-SJBF"

SCHEDULERS = {
    EASY: "fcfs+easy",
    SJBF: "fcfs+easy,backfill=spf",
    PLUS: "fcfs+easy,predict=last2",
    PLUS_ESTIMATE: "fcfs+easy,predict=last2,correct=estimate",
    PLUS_PLUS: "fcfs+easy,backfill=spf,predict=last2",
    PLUS_PLUS_ESTIMATE: "fcfs+easy,backfill=spf,predict=last2,correct=estimate",
    PERFECT: "fcfs+easy,predict=perfect",
    PERFECT_SJBF: "fcfs+easy,backfill=spf,predict=perfect",
}
"""Policies by the names of the tables."""

MEASURES = ("wait", "bounded_slowdown", "bounded_slowdown_tau60")

ACCURACY = ("prediction_accuracy", "overprediction", "underprediction", "underpredicted")

LEVEL = 0.95
"""Level of the intervals."""


class Comparison(NamedTuple):
    """Hold a question, and the two schedulers whose ratio answers it."""

    question: str
    one: str
    other: str

    @property
    def label(self) -> str:
        """The two sides of the ratio."""
        return f"{self.one} / {self.other}"


COMPARISONS = (
    Comparison("the paper's scheduler", PLUS_PLUS, EASY),
    Comparison("shortest job backfilled first", SJBF, EASY),
    Comparison("predictions", PLUS, EASY),
    Comparison("predictions, with SJBF", PLUS_PLUS, SJBF),
    Comparison("corrections to the estimate", PLUS_ESTIMATE, PLUS),
    Comparison("corrections to the estimate, with SJBF", PLUS_PLUS_ESTIMATE, PLUS_PLUS),
    Comparison("predictions, corrected to the estimate", PLUS_ESTIMATE, EASY),
    Comparison("predictions, corrected to the estimate, with SJBF", PLUS_PLUS_ESTIMATE, SJBF),
    Comparison("perfect predictions", PERFECT, EASY),
    Comparison("perfect predictions, with SJBF", PERFECT_SJBF, SJBF),
)


def _claims() -> tuple[Claim, ...]:
    quotes = (
        ("it achieves significant improvements in performance", MEASURES, PLUS_PLUS, EASY, BELOW),
        (
            "system-generated predictions based on history may be significantly better",
            ("prediction_accuracy",), PLUS, EASY, ABOVE,
        ),
        (
            "a misconception (that we resolve) claiming inaccuracy actually improves performance",
            MEASURES, PERFECT, EASY, BELOW,
        ),
    )  # fmt: skip
    return tuple(
        Claim(
            Comparison("", one, other).label,
            partial(_ratio_of, measure=measure, one=one, other=other),
            expects,
            measure=measure,
            quote=quote,
            where="abstract",
            policies=(one, other),
        )
        for quote, measures, one, other, expects in quotes
        for measure in measures
    )


def _ratio_of(values: xr.Dataset, measure: str, one: str, other: str) -> xr.DataArray:
    return _ratio(values[measure], one, other)


def _ratio(values: xr.DataArray, one: str, other: str) -> xr.DataArray:
    sides = (values.sel(scheduler=name, drop=True) for name in (one, other))
    ratio = next(sides) / next(sides)
    return ratio.transpose("trace", "resample", "load")


CLAIMS = _claims()
"""Conclusions of the paper's abstract, quoted."""


def measured(of: Numbers) -> xr.Dataset:
    """Return the measures by scheduler."""
    names = {policy: name for name, policy in SCHEDULERS.items()}
    values = of.summary[[*MEASURES, *ACCURACY]].sel(policy=list(names))
    return values.rename(policy="scheduler").assign_coords(scheduler=list(SCHEDULERS))


def log_table(of: Numbers) -> pd.DataFrame:
    """Return the measures of each log under each scheduler."""
    frame = of_log(of.once(measured)).to_dataframe(dim_order=["trace", "load", "scheduler"])
    return frame[[*MEASURES, *ACCURACY]]


def ratio_table(of: Numbers) -> pd.DataFrame:
    """Return ratio and interval of each comparison, by measure and trace.

    The ratio is that of the means over samples, with a bootstrap interval over pairs. `better` is
    the number of samples with a ratio below 1. `log` is the ratio of the log, if the store has it.
    """
    values, rows = of.once(measured), {}
    samples, has_log = of_samples(values), 0 in values["resample"].values
    for comparison in COMPARISONS:
        for measure in MEASURES:
            ratio = _ratio(values[measure], comparison.one, comparison.other)
            for trace in of.traces:
                for load in values["load"].values.tolist():
                    cell = samples[measure].sel(trace=trace, load=load)
                    base, one = (
                        cell.sel(scheduler=name).values.astype(float)[:, None]
                        for name in (comparison.other, comparison.one)
                    )
                    key = (measure, trace, load, comparison.label)
                    found = interval([(base, one)], log_ratio, level=LEVEL, key=("ratio", *key))
                    own = ratio.sel(trace=trace, load=load)
                    rows[comparison.question, comparison.label, measure, trace, load] = {
                        "low": np.exp(found.low),
                        "ratio": np.exp(found.value),
                        "high": np.exp(found.high),
                        "p": found.p,
                        "better": int((one < base).sum()),
                        "samples": len(base),
                        "log": float(own.sel(resample=0)) if has_log else np.nan,
                    }
    frame = pd.DataFrame.from_dict(rows, orient="index")
    frame.index.names = ["question", "comparison", "measure", "trace", "load"]
    return frame


def claims_in_part(values: xr.Dataset) -> pd.DataFrame:
    """Return the ratio of each cell of each conclusion, and the agreement of the cell."""
    return in_part(CLAIMS, values)


def claims_table(parts: pd.DataFrame) -> pd.DataFrame:
    """Count the cells that agree with each conclusion."""
    return count(parts, list(KEY))[["cells", "as_expected", "median", "least", "most"]]
