"""Conclusions of Carastan-Santos et al. 2019 about all logs, and the numbers in their text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from schedfarm.analysis.band_rule import Range
from schedfarm.analysis.papers.claim import Claim, count, in_part
from schedfarm.analysis.papers.saf_2019.numbers import (
    ALL_LOGS,
    BASELINE,
    CLASSES,
    OTHERS,
    PUBLISHED,
    Study,
    backfilled_jobs,
    relative_gains,
    slowdown_classes,
    table_4,
)
from schedfarm.analysis.papers.saf_2019.printed import (
    FEWER_BACKFILLED,
    FEWER_WORST,
    GAINS,
    MORE_AT_ONCE,
    OBJECTIVES,
    POLICIES,
)

_ALL_BUT_SAF = [name for name in POLICIES if name != "SAF"]

NAMES = {"bounded_slowdown": "slowdown", "pp_bounded_slowdown": "pp-slowdown", "wait": "wait"}
"""The paper's names of the objectives, by the store's names."""

HASTE = ("bounded_slowdown_premature", "bounded_slowdown_standard")
"""Slowdowns of the premature jobs and of the other jobs."""

METRICS = (*OBJECTIVES, *CLASSES, *HASTE, "backfilled")
"""Metrics of the claims."""

CLOSE = 1.1
"""A number up to this multiple of the smallest number counts as close; the factor is our choice."""

Frames = Mapping[str, pd.DataFrame]
"""Frames by metric: a column for each policy; the index is trace, and resample for samples."""


def claims(of: Study) -> pd.DataFrame:
    """Count the logs and samples for which each of the paper's conclusions about all logs holds.

    ``logs`` is the number of logs for which the conclusion holds with the means over the samples,
    and ``but`` names the other logs. ``itself`` and ``but_itself`` are the same for the logs
    themselves. A column for each log has the number of its samples for which the conclusion holds,
    out of ``samples``.
    """
    parts = in_part(CLAIMS, _frames(of.samples))
    means = in_part(CLAIMS, _frames(of.samples.mean("resample")))
    frame = pd.DataFrame({"where": [claim.where for claim in CLAIMS]}, _index())
    frame = frame.assign(**_logs(means, of, "logs", "but"), itself=np.nan, but_itself="")
    if of.has_log:
        frame = frame.assign(**_logs(in_part(CLAIMS, _frames(of.log)), of, "itself", "but_itself"))
    return frame.join(_by_log(parts, of)).assign(samples=of.samples.sizes["resample"])


def _index() -> pd.Index[str]:
    return pd.Index([claim.label for claim in CLAIMS], name="claim")


def _by_log(parts: pd.DataFrame, of: Study) -> pd.DataFrame:
    found = count(parts, ["claim", "trace"])["as_expected"].unstack("trace")
    return found.loc[_index(), of.traces]


def _logs(parts: pd.DataFrame, of: Study, holds: str, but: str) -> dict[str, Any]:
    found = _by_log(parts, of) > 0
    fails = [", ".join(found.columns[~row]) for row in found.to_numpy()]
    return {holds: found.sum(axis=1), but: fails}


def _frames(summary: xr.Dataset) -> Frames:
    rest = [str(name) for name in summary["wait"].dims if name not in ("trace", "policy")]
    index: Any = summary.indexes["trace"]
    if rest:
        index = pd.MultiIndex.from_product([index, *(summary.indexes[name] for name in rest)])
    values = {name: summary[name].transpose("trace", *rest, "policy").values for name in METRICS}
    columns = summary["policy"].values
    return {
        name: pd.DataFrame(each.reshape(-1, columns.size), index, columns)
        for name, each in values.items()
    }


def _less(
    label: str,
    where: str,
    metric: str,
    policies: Sequence[str],
    others: Sequence[str],
    times: float = 1,
) -> Claim:
    """Claim that a metric of each policy is below `times` the metric of each other policy."""

    def holds(frames: Frames) -> pd.Series[bool]:
        of = frames[metric]
        # A missing number makes the claim false.
        largest = of[list(policies)].max(axis=1, skipna=False)
        return largest < times * of[list(others)].min(axis=1, skipna=False)

    return Claim(label, holds, where=where)


def _amplified(policy: str) -> Claim:
    def holds(frames: Frames) -> pd.Series[bool]:
        ratio = frames[HASTE[0]] / frames[HASTE[1]]
        return ratio[policy] > ratio[BASELINE]

    return Claim(f"premature over standard jobs: {policy} above FCFS", holds, where="V-C, often")


def _of_metrics() -> Iterator[Claim]:
    for metric in OBJECTIVES:
        name = NAMES[metric]
        label = f"{name}: SPF and SAF each below FCFS and SQF"
        yield _less(label, "V-A", metric, ["SPF", "SAF"], ["FCFS", "SQF"])
        if metric == "pp_bounded_slowdown":
            yield _less(f"{name}: SAF the smallest", "V-B", metric, ["SAF"], _ALL_BUT_SAF)
        else:
            label = f"{name}: SAF within {100 * (CLOSE - 1):.0f} % of the smallest"
            yield _less(label, "V-B, as close to best", metric, ["SAF"], _ALL_BUT_SAF, CLOSE)
        for policy in ("SPF", "SAF"):
            yield _less(f"{name}: {policy} below FCFS", "VI", metric, [policy], [BASELINE])


def _of_classes() -> Iterator[Claim]:
    at_once, *waited = CLASSES
    for policy in OTHERS:
        label = f"slowdown 1: more jobs under {policy} than FCFS"
        yield _less(label, "V-C", at_once, [BASELINE], [policy])
        for variable in waited:
            exception = (policy, variable) == ("SPF", "slowdown_1_10")
            where = "V-C, as the exception" if exception else "V-C"
            label = f"slowdown {CLASSES[variable]}: fewer jobs under {policy} than FCFS"
            yield _less(label, where, variable, [policy], [BASELINE])
    label = "slowdown 100+: less than half as many jobs under SAF as under FCFS"
    yield _less(label, "V-C", waited[-1], ["SAF"], [BASELINE], 0.5)


def _of_estimates_and_backfilling() -> Iterator[Claim]:
    for policy in ("SPF", "SAF"):
        yield _amplified(policy)
        label = f"backfilled: fewer jobs under {policy} than FCFS"
        yield _less(label, "V-D", "backfilled", [policy], [BASELINE])
    yield Claim(
        "backfilled: none under SQF",
        lambda frames: frames["backfilled"]["SQF"] == 0,
        where="V-D, figure 4",
    )


CLAIMS = (*_of_metrics(), *_of_classes(), *_of_estimates_and_backfilling())
"""The paper's conclusions about all logs."""


def headline(of: Study) -> pd.DataFrame:
    """Return the numbers of the paper's text: ours, with its policy and log, and the paper's.

    ``of_samples`` has the ranks of the samples behind our number. The paper's own gains leave out
    the best and the worst sample.
    """
    n, rows = of.samples.sizes["resample"], []
    for key, claim in HEADLINE.items():
        rule = PUBLISHED if claim.measure == UNPAIRED_GAIN else Range()
        ours, whose = claim.cells(of)
        rows.append(
            {
                "claim": key,
                "what": claim.label,
                "ours": ours,
                "of": whose,
                "of_samples": rule.attrs(n)["samples"],
                "printed": claim.expected,
                "printed_of": claim.extent,
                "where": claim.where,
            }
        )
    return pd.DataFrame(rows).set_index("claim")


UNPAIRED_GAIN = "gain of the means over the samples in the band"
"""Meaning of the paper's own gains."""

PAIRED, UNPAIRED = ("", "paired by sample"), ("_unpaired", "unpaired")
"""Suffix of the name of a claim, and its meaning. A paired gain is the mean of each sample's own
gain; an unpaired gain is the gain of the means over the samples, as in the paper."""


def _printed_gains() -> Iterator[tuple[str, Claim]]:
    for metric, (value, policy, where) in GAINS.items():
        for (end, how), column in ((PAIRED, "mean"), (UNPAIRED, "unpaired")):

            def ours(of: Study, metric: str = metric, column: str = column) -> tuple[float, str]:
                return _largest(of.once(relative_gains).loc[metric][column])

            label = f"largest gain over FCFS in {NAMES[metric]}, %, {how}"
            measure = UNPAIRED_GAIN if column == "unpaired" else ""
            claim = Claim(label, ours, value, policy, measure, where=where)
            yield f"gain_{metric}{end}", claim


def _printed_backfilled() -> Iterator[tuple[str, Claim]]:
    for policy, value in FEWER_BACKFILLED.items():
        for (end, how), fewer in ((PAIRED, _fewer_in_samples), (UNPAIRED, _fewer_in_means)):
            label = f"fewer backfilled jobs, mean of the logs, %, {how}"
            claim = Claim(label, partial(fewer, policy=policy), value, policy, where="V-D")
            yield f"fewer_backfilled_{policy}{end}", claim


def _backfilled(of: Study) -> pd.DataFrame:
    return of.once(backfilled_jobs)["backfilled"].unstack("policy")


def _fewer_in_samples(of: Study, policy: str) -> tuple[float, str]:
    counts = _backfilled(of)
    fewer = (1 - counts[policy] / counts[BASELINE]).groupby("trace").mean()
    return 100 * float(fewer.mean()), policy


def _fewer_in_means(of: Study, policy: str) -> tuple[float, str]:
    means = _backfilled(of).groupby("trace").mean()
    return 100 * float((1 - means[policy] / means[BASELINE]).mean()), policy


def _most_backfilled(of: Study) -> tuple[float, str]:
    return _largest(_backfilled(of)["SQF"].groupby("trace").max(), "SQF, ")


def _jobs_in(of: Study, name: str) -> pd.DataFrame:
    classes = of.once(slowdown_classes)["percent"].unstack("policy")
    return classes.loc[(slice(None), name), :].droplevel("slowdown")


def _points(of: Study) -> pd.Series[float]:
    at_once = _jobs_in(of, "1")
    return at_once["SAF"] - at_once[BASELINE]


def _more_at_once(of: Study) -> tuple[float, str]:
    at_once = _jobs_in(of, "1")
    return float(100 * (at_once["SAF"] / at_once[BASELINE] - 1)[ALL_LOGS]), f"SAF, {ALL_LOGS}"


def _fewer_worst(of: Study) -> pd.Series[float]:
    worst = _jobs_in(of, "100+")
    return worst[BASELINE] / worst["SAF"]


def _table_4_factor(of: Study) -> tuple[float, str]:
    ratios = of.once(table_4)
    off = np.abs(np.log((ratios["ratio"] / ratios["printed"]).dropna().to_numpy()))
    return float(np.exp(off.mean())) if off.size else np.nan, f"{off.size} numbers"


def _largest(values: pd.Series[float], whose: str = "") -> tuple[float, str]:
    """Return the largest value, and the labels of its row, the innermost label first."""
    label = values.index[int(values.to_numpy().argmax())]
    labels = label[::-1] if isinstance(label, tuple) else (label,)
    return float(values.max()), whose + ", ".join(map(str, labels))


def _of_all_logs(values: pd.Series[float]) -> tuple[float, str]:
    return float(values[ALL_LOGS]), f"SAF, {ALL_LOGS}"


def _of_a_log(values: pd.Series[float]) -> tuple[float, str]:
    return _largest(values.drop(ALL_LOGS), "SAF, ")


def _of_saf(label: str, where: str, value: float, ours: Callable[[Study], Any]) -> Claim:
    return Claim(label, ours, value, "SAF", where=where)


HEADLINE = {
    **dict(_printed_gains()),
    **dict(_printed_backfilled()),
    "most_backfilled_SQF": Claim(
        "most backfilled jobs of any sample", _most_backfilled, 0, "SQF", where="V-D, figure 4"
    ),
    "more_at_once": _of_saf(
        "more jobs at slowdown 1, all logs together, %", "VI", MORE_AT_ONCE, _more_at_once
    ),
    "more_at_once_points": _of_saf(
        "the same in percentage points", "VI", MORE_AT_ONCE, lambda of: _of_all_logs(_points(of))
    ),
    "more_at_once_of_a_log": _of_saf(
        "the same in points, most of any log", "VI", MORE_AT_ONCE, lambda of: _of_a_log(_points(of))
    ),
    "fewer_worst": _of_saf(
        "fewer jobs at slowdown 100+, all logs together, times",
        *("V-C, VI", FEWER_WORST, lambda of: _of_all_logs(_fewer_worst(of))),
    ),
    "fewer_worst_of_a_log": _of_saf(
        "the same, most of any log", "V-C, VI", FEWER_WORST, lambda of: _of_a_log(_fewer_worst(of))
    ),
    "table_4_factor": Claim(
        "typical factor off Table IV, geometric mean of its numbers",
        *(_table_4_factor, 1, "all"),
        where="V-C",
    ),
}
"""Numbers that sections V and VI print outside of tables; the extent is the paper's policy."""
