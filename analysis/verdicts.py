"""A comparison in words: a sentence for each policy, and tables as text, CSV, LaTeX and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from schedfarm.analysis.compare import CELL
from schedfarm.analysis.groups import known_groups
from schedfarm.analysis.intervals import ALIKE
from schedfarm.analysis.tables import aligned, block_label, decimals_for, fact, latex_text
from schedfarm.core.arrays import Float64
from schedfarm.core.bootstrap import ROUNDS
from schedfarm.core.numerals import NOTHING, counted, grouped

WORDS = {"s": ("shorter", "longer")}
"""Words for smaller and larger values of a metric, by units of the metric."""

OTHER_WORDS = ("lower", "higher")

LEAST_PAIRS = 2
"""Least number of pairs for an interval."""

SHOWN_LOSERS = 3
"""Number of groups that the text names for each policy, trace and load."""

FLAT = ("low", "estimate", "high")

COLUMNS = (
    "mean",
    "baseline_mean",
    "logged",
    "difference",
    "ratio",
    "p",
    "p_holm",
    "better",
    "pairs",
    "ratio_of_log",
)
"""Columns of a table, in order; an interval takes three columns."""


def verdicts(found: xr.Dataset, groups: Sequence[pd.DataFrame] = ()) -> list[str]:
    """Return a sentence for each compared policy and metric: change, interval, number of pairs.

    Parameters
    ----------
    found : Dataset
        The result of `compare`.
    groups : sequence of DataFrame
        The result of `losers`, from which the number of groups with gains is added.

    Returns
    -------
    list of str
        Sentences over all traces and loads of the comparison; without samples, on the log itself.

    Examples
    --------
    >>> from schedfarm.analysis.compare import compare
    >>> waits = [[[100.0, 72.0]], [[40.0, 30.0]], [[60.0, 42.0]]]
    >>> root = xr.Dataset({"wait": (("resample", "load", "policy"), waits, {"units": "s"})},
    ...     {"resample": [1, 2, 3], "load": ["0.9"], "policy": ["fcfs+easy", "saf+easy"]})
    >>> verdicts(compare(xr.DataTree(root.expand_dims(trace=["KTH"]))))
    ['saf+easy: wait 28 % shorter than fcfs+easy (23 to 33 %, 90 %, 3 pairs)']
    """
    said = []
    for metric in found["metric"].values.tolist():
        for policy in found["policy"].values.tolist():
            chosen = found.sel(metric=metric, policy=policy)
            gain = _gaining(groups, str(metric), str(policy))
            said.append(f"{policy}: {_verdict(chosen, found.attrs)}{gain}")
    return said


def _verdict(chosen: xr.Dataset, attrs: Mapping[Any, Any]) -> str:
    name, base = str(chosen["long_name"].item()), attrs["baseline"]
    words = WORDS.get(str(chosen["units"].item()), OTHER_WORDS)
    pairs = chosen["pairs"].values
    where = _where(chosen)
    of_log = _mean_ratio_of_log(chosen)
    if not pairs.any():
        if of_log is None:
            return f"{name} cannot be compared with {base}: no sample has a value of both"
        return f"{name} {_change(of_log, words)} {base} in the log alone{where} (no interval)"
    low, value, high = (float(x) for x in chosen["overall"].values)
    why = _why_none_overall(chosen)
    if not np.isfinite(value):
        single = ", no interval" if pairs.max() < LEAST_PAIRS else ""
        return f"{name} cannot be compared with {base}{where}: {why}{single}"
    alike = (chosen["correlation"] > ALIKE).values
    caution = "; may be too short, pairs are alike" if 2 * alike.sum() > alike.size else ""
    pairs = pairs[pairs > 0]
    many = counted(int(pairs.max()), "pair")
    paired = many if pairs.min() == pairs.max() else f"{pairs.min()} to {many}"
    level = f"{100 * attrs['level']:g} %"
    if why:
        return f"{name} {_change(value, words)} {base}{where} (no interval: {why}, {paired})"
    if low < 1 < high:
        spread = f"{_percent(low, words)} to {_percent(high, words)}"
        return (
            f"{name} not shown to differ from {base}{where} ({spread}, {level}, {paired}{caution})"
        )
    nearer, further = sorted((abs(1 - low), abs(1 - high)))
    spread = f"{_digits(nearer)} to {_digits(further)} %"
    change = _change(value, words)
    # Samples that mix the weeks of a log may reverse an effect; see docs/comparisons.md.
    opposite = of_log is not None and (1 - of_log) * (1 - value) < 0
    log = f"; but {_percent(of_log, words)} in the log itself" if of_log and opposite else ""
    return f"{name} {change} {base}{where} ({spread}, {level}, {paired}{caution}){log}"


def _no_interval(low: float, value: float, pairs: int) -> str | None:
    """Return the reason why a ratio has no interval; None if it has an interval."""
    if np.isfinite(low):
        return None
    if pairs < LEAST_PAIRS:
        return "a single pair" if pairs else "no pair of samples"
    return "most pairs have one ratio" if np.isfinite(value) else "a mean is 0 or missing"


def _why_none_overall(chosen: xr.Dataset) -> str | None:
    low, value, _ = (float(x) for x in chosen["overall"].values)
    return _no_interval(low, value, int(chosen["pairs"].max()))


def _mean_ratio_of_log(chosen: xr.Dataset) -> float | None:
    """Return the geometric mean of the ratios in the logs themselves; None without logs."""
    ratios = chosen["ratio_of_log"].values
    ratios = ratios[np.isfinite(ratios) & (ratios > 0)]
    return float(np.exp(np.log(ratios).mean())) if len(ratios) else None


def _where(chosen: xr.Dataset) -> str:
    paired = chosen["pairs"] > 0
    said = []
    for axis in ("trace", "load"):
        every = chosen.sizes[axis]
        with_pairs = int(paired.any([d for d in paired.dims if d != axis]).sum())
        of = f"{with_pairs} of {every}" if 0 < with_pairs < every else f"{every}"
        said += [f"{of} {axis}s"] * (every > 1)
    return f", over {' and '.join(said)}" if said else ""


def _change(ratio: float, words: tuple[str, str]) -> str:
    if ratio == 1:
        return "equal to that of"
    return f"{_percent(ratio, words)} than"


def _percent(ratio: float, words: tuple[str, str]) -> str:
    return f"{_digits(abs(1 - ratio))} % {words[ratio > 1]}"


def _digits(share: float) -> str:
    """Return a share in per cent as text, with a decimal below 10."""
    return f"{100 * share:.{0 if share >= 0.0995 else 1}f}"


def _gaining(groups: Sequence[pd.DataFrame], metric: str, policy: str) -> str:
    """Count the groups whose mean change over the loads of their trace is a gain.

    Jobs whose group the log lacks do not count as a group.
    """
    shown = [g for g in groups if g.attrs["policy"] == policy and g.attrs["metric"] == metric]
    if not shown:
        return ""
    traces: dict[str, list[pd.Series]] = {}
    for frame in shown:
        traces.setdefault(frame.attrs["trace"], []).append(known_groups(frame)["change"])
    means = [pd.concat(columns, axis=1).mean(axis=1) for columns in traces.values()]
    gain, of = (sum(int(x) for x in column) for column in zip(
        *(((one < 0).sum(), one.notna().sum()) for one in means), strict=True
    ))  # fmt: skip
    return f"; {gain} of {of} {shown[0].attrs['by']}s gain" if of else ""


def comparison_frame(found: xr.Dataset) -> pd.DataFrame:
    """Return a comparison as a frame: a row for each metric, trace, load and policy.

    Parameters
    ----------
    found : Dataset
        The result of `compare`.

    Returns
    -------
    DataFrame
        Indexed by (metric, trace, load, policy). An interval has three columns, such as
        ``ratio_low``, ``ratio`` and ``ratio_high``. ``units`` are the units of means and
        difference.
    """
    columns = {}
    for name in COLUMNS:
        values = found[name]
        if "bound" in values.dims:
            for bound in FLAT:
                label = name if bound == "estimate" else f"{name}_{bound}"
                columns[label] = values.sel(bound=bound, drop=True)
        else:
            columns[name] = values
    order = [f"{n}_{b}" if b != "estimate" else n for n in ("difference", "ratio", "better")
             for b in FLAT]  # fmt: skip
    data = xr.Dataset(columns)
    flat = data.reset_coords(drop=True).to_dataframe(dim_order=["metric", *CELL])
    rest = [name for name in flat.columns if name not in order]
    frame = flat[[*rest[:3], *order, *rest[3:]]]
    units = dict(zip(found["metric"].values.tolist(), found["units"].values.tolist(), strict=True))
    frame.insert(0, "units", [units[key[0]] for key in frame.index])
    return frame


def comparison_csv(found: xr.Dataset) -> str:
    """Return a comparison as CSV: the columns of `comparison_frame`, with all digits."""
    frame = comparison_frame(found)
    frame.insert(0, "baseline", found.attrs["baseline"])
    frame["level"] = found.attrs["level"]
    return frame.to_csv(lineterminator="\n")


def comparison_facts(
    found: xr.Dataset, groups: Sequence[pd.DataFrame] = (), warnings: Sequence[str] = ()
) -> dict[str, Any]:
    """Return a comparison as JSON-compatible values; None for a missing number.

    ``no_interval`` is the reason why a ratio has no interval, or None.
    """
    rows = comparison_frame(found).reset_index().to_dict("records")
    for row in rows:
        row["no_interval"] = _no_interval(row["ratio_low"], row["ratio"], row["pairs"])
    overall = [
        {
            "metric": metric,
            "policy": policy,
            **{
                f"ratio_{bound}": fact(
                    float(found["overall"].sel(metric=metric, policy=policy, bound=bound))
                )  # fmt: skip
                for bound in FLAT
            },
            "no_interval": _why_none_overall(found.sel(metric=metric, policy=policy)),
            "p_holm": fact(float(found["overall_p_holm"].sel(metric=metric, policy=policy))),
        }
        for metric in found["metric"].values.tolist()
        for policy in found["policy"].values.tolist()
    ]
    ranks = [
        {
            "metric": metric,
            "critical_difference": fact(float(found["critical_difference"].sel(metric=metric))),
            "ranks": [
                {
                    "policy": policy,
                    "rank": fact(float(found["rank"].sel(metric=metric, ranked=policy))),
                }
                for policy in found["ranked"].values.tolist()
            ],
        }
        for metric in found["metric"].values.tolist()
    ]
    return {
        "baseline": found.attrs["baseline"],
        "level": found.attrs["level"],
        "verdicts": verdicts(found, groups),
        "overall": overall,
        "ranks": ranks,
        "cells": [{str(name): fact(value) for name, value in row.items()} for row in rows],
        "losers": [dict(zip(("trace", "load", "policy", "groups"), one, strict=True))
                   for one in _named_losers(groups)],
        "warnings": list(warnings),
    }  # fmt: skip


def comparison_text(found: xr.Dataset, groups: Sequence[pd.DataFrame] = ()) -> str:
    """Return a comparison as text: the verdicts, a table for each metric, and the losers.

    Parameters
    ----------
    found : Dataset
        The result of `compare`.
    groups : sequence of DataFrame
        The result of `losers`.

    Returns
    -------
    str
        Lines without a line break at the end.
    """
    lines = verdicts(found, groups)
    for metric in found["metric"].values.tolist():
        lines += ["", *_table(found.sel(metric=metric), found.attrs)]
    lost = [
        f"{block_label({'trace': trace, 'load': load})}, lose most under {policy}: {text}"
        for trace, load, policy, text in _named_losers(groups)
        if text
    ]
    return "\n".join(lines + [""] * bool(lost) + lost)


def _table(found: xr.Dataset, attrs: Mapping[Any, Any]) -> Iterator[str]:
    name, units = str(found["long_name"].item()), str(found["units"].item())
    unit = "" if units == "1" else f" ({units})"
    level = f"{100 * attrs['level']:g} %"
    yield (
        f"{name[:1].upper()}{name[1:]}{unit} against {attrs['baseline']}: change of the mean, its "
        f"{level} interval, least and most of the pairs, pairs in which the policy is better, "
        "p after Holm, change in the log"
    )
    for trace in found["trace"].values.tolist():
        for load in found["load"].values.tolist():
            yield ""
            yield block_label({"trace": trace, "load": load})
            yield from aligned(_rows(found.sel(trace=trace, load=load), str(attrs["baseline"])))
    if found.sizes["policy"] > 1 and bool(found["rank"].notnull().all()):
        yield ""
        yield _ranks(found)


def _rows(cell: xr.Dataset, baseline: str) -> list[list[str]]:
    means = np.append(cell["mean"].values, _baseline_mean(cell))
    digits = decimals_for(means)
    head = ["policy", "mean", "change", "interval", "least", "most", "better in", "p", "log"]
    base = grouped(float(means[-1]), digits)
    empty = [NOTHING] * (len(head) - 2)
    rows = [head, [baseline, base, *empty]]
    logged = float(cell["logged"].values[0])
    if np.isfinite(logged):
        rows.append(["as logged", grouped(logged, digits), *empty])
    for policy in cell["policy"].values.tolist():
        one = cell.sel(policy=policy)
        low, ratio, high = one["ratio"].values
        pairs, better = int(one["pairs"]), float(one["better"].sel(bound="estimate"))
        rows.append([
            policy,
            grouped(float(one["mean"]), digits),
            _signed(ratio),
            f"{_signed(low)} to {_signed(high)}" if np.isfinite(low) else NOTHING,
            *(_signed(end) for end in _ends(one["sample_ratio"].values)),
            f"{round(better * pairs)} of {pairs}" if pairs else NOTHING,
            _p(float(one["p_holm"])),
            _signed(float(one["ratio_of_log"])),
        ])  # fmt: skip
    return rows


def _baseline_mean(cell: xr.Dataset) -> float:
    """Return the baseline's mean over the pairs of the policy with most pairs."""
    return float(cell["baseline_mean"].values[int(cell["pairs"].values.argmax())])


def _ends(values: Float64) -> tuple[float, float]:
    there = values[np.isfinite(values)]
    return (float(there.min()), float(there.max())) if len(there) else (np.nan, np.nan)


def _signed(ratio: float) -> str:
    return f"{100 * (ratio - 1):+.1f} %" if np.isfinite(ratio) else NOTHING


def _p(p: float) -> str:
    if not np.isfinite(p):
        return NOTHING
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def _ranks(found: xr.Dataset) -> str:
    order = np.argsort(found["rank"].values, kind="stable")
    names, ranks = found["ranked"].values[order], found["rank"].values[order]
    said = ", ".join(f"{name} {rank:.2f}" for name, rank in zip(names, ranks, strict=True))
    apart = float(found["critical_difference"])
    if not np.isfinite(apart):
        return (
            f"Mean ranks over the loads: {said}; a critical difference of ranks needs at least two "
            "traces"
        )
    return (
        f"Mean ranks over {int(found['ranked_traces'])} traces: {said}; ranks that differ by less "
        f"than {apart:.2f} are not told apart (Nemenyi)"
    )


def _named_losers(groups: Sequence[pd.DataFrame]) -> Iterator[tuple[str, str, str, str]]:
    for frame in groups:
        asked = frame.attrs
        known = known_groups(frame)
        losing = known[known["change"] > 0].head(SHOWN_LOSERS)
        digits = decimals_for(losing["change"].to_numpy(dtype=np.float64))
        unit = "" if asked["units"] == "1" else f" {asked['units']}"
        parts = [
            f"{asked['by']} {label} (+{grouped(row['change'], digits)}{unit} on "
            f"{100 * row['jobs']:.1f} % of the jobs)"
            for label, row in losing.iterrows()
        ]
        yield asked["trace"], asked["load"], asked["policy"], ", ".join(parts)


LATEX_NOTES = (
    "change: of the mean of the policy against that of the baseline, paired by sample",
    f"interval: symmetric studentised bootstrap, {ROUNDS:,} rounds; Student's below five pairs",
    "p: two-sided, from the same bootstrap, corrected for the number of policies (Holm)",
)
"""Notes on the methods behind the columns of a table."""


def comparison_latex(found: xr.Dataset) -> str:
    r"""Return a comparison as a LaTeX table in the style of booktabs.

    The table has a heading for each metric, with units and baseline. Below are rows for each trace,
    load and policy, the baseline first. Columns are the mean, the change of the mean with its
    interval, the corrected p value and the pairs. Comments above the table name the methods, for a
    caption. A document with the table needs ``\usepackage{booktabs}``.
    """
    level = f"{100 * found.attrs['level']:g}"
    base = str(found.attrs["baseline"])
    heads = ["trace", "load", "policy", "mean", r"change (\%)", rf"{level}\,\% interval (\%)",
             "$p$ (Holm)", "pairs"]  # fmt: skip
    lines = [f"% {line}" for line in LATEX_NOTES]
    lines += [rf"\begin{{tabular}}{{lll{'r' * (len(heads) - 3)}}}", r"\toprule", _latex_row(heads)]
    for metric in found["metric"].values.tolist():
        one = found.sel(metric=metric)
        name, units = str(one["long_name"].item()), str(one["units"].item())
        title = name[:1].upper() + name[1:] + ("" if units == "1" else f" ({units})")
        against = latex_text(f"{title} against {base}")
        lines += [r"\midrule", rf"\multicolumn{{{len(heads)}}}{{l}}{{{against}}} \\"]
        lines += [_latex_row(row) for row in _latex_rows(one, base)]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _latex_rows(found: xr.Dataset, base: str) -> Iterator[list[str]]:
    """Yield the cells of the rows of a metric."""
    for trace in found["trace"].values.tolist():
        for load in found["load"].values.tolist():
            cell = found.sel(trace=trace, load=load)
            place = [latex_text(str(trace)), latex_text(str(load))]
            means = np.append(cell["mean"].values, _baseline_mean(cell))
            digits = decimals_for(means)
            yield [*place, latex_text(base), _latex_number(means[-1], digits), *["--"] * 4]
            for policy in cell["policy"].values.tolist():
                one = cell.sel(policy=policy)
                low, ratio, high = one["ratio"].values
                between = f"{_latex(low)} to {_latex(high)}" if np.isfinite(low) else "--"
                yield [
                    *place, latex_text(policy), _latex_number(float(one["mean"]), digits),
                    _latex(ratio), between,
                    _latex_p(float(one["p_holm"])),
                    str(int(one["pairs"])),
                ]  # fmt: skip


def _latex_p(p: float) -> str:
    if not np.isfinite(p):
        return "--"
    return _p(p) if p >= 0.001 else "$< 0.001$"


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _latex_number(x: float, digits: int) -> str:
    return grouped(x, digits).replace(" ", r"\,") if np.isfinite(x) else "--"


def _latex(ratio: float) -> str:
    return f"${100 * (ratio - 1):+.1f}$" if np.isfinite(ratio) else "--"
