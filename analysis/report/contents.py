"""The contents of a page: verdicts, tables of numbers, warnings and provenance."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from schedfarm.analysis.bands import bands
from schedfarm.analysis.compare import LEVEL, METRICS, compare, losers
from schedfarm.analysis.comparison_warnings import comparison_warnings
from schedfarm.analysis.errors import NoValuesError, StoreError, TooFewSamplesError
from schedfarm.analysis.place import StoreName
from schedfarm.analysis.reading import reading
from schedfarm.analysis.report.columns import Columns
from schedfarm.analysis.store import (
    LOG,
    at_labels,
    has_log,
    known_label,
    named_policies,
    open_metric,
    open_summary,
    read_manifest,
)
from schedfarm.analysis.validation import (
    NOTHING_LOGGED,
    mean_as_logged,
    validation,
    validation_sentences,
)
from schedfarm.analysis.verdicts import comparison_frame, verdicts
from schedfarm.core.format.geometry import ORIGIN
from schedfarm.core.numerals import grouped

FURTHER_METRICS = ("wait_p90", "bounded_slowdown_geomean", "utilisation")
"""Default metrics of a page in addition to those of a comparison."""

NO_GROUPS = "none"
"""Value of `Asked.by` without groups of jobs."""

MOST_GROUPS = 100
"""Number of groups with the largest gains, and with the largest losses, for each policy."""

MOST_SAMPLES = 50_000
"""Largest number of rows for single samples in a page; if there are more, each series keeps its
first rows."""

MOST_ROWS = 20_000
"""Largest number of rows of any other table in a page; longer tables keep their first traces."""

MOST_GROUP_ROWS = 4_000
"""Largest number of rows for groups in a page, shared by policies, traces and loads."""


@dataclass(frozen=True)
class Asked:
    """Hold the query of a page: the arguments of `compare`, and the grouping of jobs.

    Parameters
    ----------
    baseline, policies, level
        As for `compare`.
    metrics : sequence of str
        Metrics; by default ``wait``, ``bounded_slowdown``, ``wait_p90``,
        ``bounded_slowdown_geomean`` and ``utilisation``.
    by : str
        A grouping of jobs, as in `changes`, or ``none``.
    names : mapping of str to mapping of str to mapping of int to str
        Names of groups by trace, column (``user``, ``queue``) and number.

    Examples
    --------
    >>> Asked("fcfs+easy", ["spf+easy"]).by
    'user'
    """

    baseline: str | None = None
    policies: Sequence[str] = ()
    metrics: Sequence[str] = ()
    level: float = LEVEL
    by: str = "user"
    names: Mapping[str, Mapping[str, Mapping[int, str]]] = field(default_factory=dict)


@dataclass(frozen=True)
class Contents:
    """Hold the contents of a page.

    title : name of the campaign. axes : labels by dimension. metrics : units, names and rule of the
    band, by metric. felt : name of the mean by which groups are compared. near : distance between
    simulation and log. tables : rows by name. verdicts, problems, warnings : sentences. commands :
    commands that print the numbers of a section. campaign : text of the campaign's file. facts :
    name and value of each line of provenance.
    """

    title: str
    axes: dict[str, list[str]]
    metrics: list[dict[str, str]]
    baseline: str
    level: float
    by: str
    felt: str
    near: list[str]
    verdicts: list[str]
    problems: list[str]
    warnings: list[str]
    progress: dict[str, int]
    tables: dict[str, Columns]
    commands: dict[str, str]
    campaign: str
    facts: list[tuple[str, str]]


@reading()
def contents(store: StoreName, asked: Asked, progress: Mapping[str, Any] | None = None) -> Contents:
    """Gather the contents of a page; a failed query becomes a sentence among the problems."""
    head, summary = read_manifest(store), open_summary(store)
    axes = {name: [str(x) for x in summary[name].values] for name in ("trace", "load", "policy")}
    problems: list[str] = []
    wanted = _metrics(store, summary, asked.metrics)
    done = summary["counted" if "counted" in summary else wanted[0]].notnull().load()
    names = list(_with_values(store, wanted, done, problems))
    found = _compared(store, asked, names, problems) if names else None
    groups, without = _groups(store, found, asked)
    policies = found["ranked"].values.tolist() if found is not None else _ordered(axes, asked)
    called = {trace: kind.get("queue", {}) for trace, kind in asked.names.items()}
    near = validation(store, names=called)
    missing, failed = _unfinished(done, progress)
    warnings = [] if found is None else comparison_warnings(store, found)
    warnings += [f"gains by {asked.by} are not counted: {without}"] * bool(without)
    samples, left_out = _samples(found)
    warnings += [left_out] * bool(left_out)
    banded = _bands(store, names)
    group_rows = _group_rows(groups)
    left_out = _cut_groups(groups, group_rows, asked.by)
    warnings += [left_out] * bool(left_out)
    tables = {
        "comparison": _comparison(found),
        "levels": _levels(store, names, policies, banded),
        "weeks": _weeks(near, policies),
        "near": _near(near, policies),
        "failed": failed,
        "missing": missing,
    }
    for name, table in tables.items():
        tables[name], left_out = _fitted(table, name, MOST_ROWS)
        warnings += [left_out] * bool(left_out)
    warnings += [
        f"{trace}: {sentence}"
        for trace, cautions in head.get("cautions", {}).items()
        for sentence in cautions.values()
    ]
    return Contents(
        title=str(summary.attrs.get("campaign", "campaign")),
        axes={**axes, "policy": list(policies)},
        metrics=[
            {
                **_described(open_metric(store, name)[name], name),
                "band": str(banded[name].attrs["description"]) if name in banded else "",
            }
            for name in names
        ],
        baseline=policies[0],
        level=asked.level,
        by=asked.by,
        felt=_felt(groups),
        near=validation_sentences(near, policies[:1]) or [NOTHING_LOGGED],
        verdicts=[] if found is None else verdicts(found, groups),
        problems=problems,
        warnings=list(dict.fromkeys(warnings)),
        progress=_counts(done, len(failed.rows), progress),
        tables={**tables, "samples": samples, "groups": group_rows},
        commands=_commands(store, asked, policies, names),
        campaign=str(head.get("text", "")),
        facts=_facts(store, head, summary, progress or {}),
    )


def _metrics(store: StoreName, summary: xr.Dataset, given: Sequence[str]) -> list[str]:
    wanted = [*dict.fromkeys(given)] or [n for n in (*METRICS, *FURTHER_METRICS) if n in summary]
    if not wanted:
        raise StoreError(f"the store has none of {', '.join(METRICS)}; name a metric that it has")
    for name in given:
        if ORIGIN in open_metric(store, name).get(name, xr.DataArray()).dims:
            raise StoreError(
                f"metric {name!r} has a value for each participant, which the page does not show; "
                f"use farm compare --metric {name}"
            )
    return wanted


def _with_values(
    store: StoreName, names: Sequence[str], done: xr.DataArray, problems: list[str]
) -> Iterator[str]:
    """Yield metrics with values; if cells are finished, report the other metrics as problems."""
    summary = open_summary(store)
    for name in names:
        known = name in summary and set(summary[name].dims) >= {"trace", "load", "policy"}
        if known and bool(done.any()) and not bool(np.isfinite(summary[name]).any()):
            problems.append(f"{name} has no value in any finished cell")
        else:
            yield name


def _ordered(axes: Mapping[str, list[str]], asked: Asked) -> list[str]:
    """Return all policies, starting with the baseline."""
    if asked.baseline is None:
        return list(axes["policy"])
    baseline = known_label("policy", asked.baseline, axes["policy"])
    return [baseline, *(one for one in axes["policy"] if one != baseline)]


def _compared(
    store: StoreName, asked: Asked, names: Sequence[str], problems: list[str]
) -> xr.Dataset | None:
    """Compare policies; with less than two policies or without finished pairs, add a problem."""
    policies = [str(name) for name in open_summary(store)["policy"].values]
    if len(policies) < 2:
        problems.append(f"the store has one policy, {policies[0]}: there is nothing to compare")
        return None
    try:
        return compare(store, asked.baseline, asked.policies, metrics=names, level=asked.level)
    except NoValuesError as error:
        # A misspelt name is refused; missing data become a problem on the page.
        problems.append(str(error))
        return None


def _groups(
    store: StoreName, found: xr.Dataset | None, asked: Asked
) -> tuple[list[pd.DataFrame], str]:
    """Return the groups of jobs by change, and a sentence on why they are missing."""
    if found is None or asked.by == NO_GROUPS:
        return [], ""
    called = {trace: kind.get(asked.by, {}) for trace, kind in asked.names.items()}
    try:
        return losers(store, found, asked.by, called), ""
    except StoreError as error:
        return [], str(error)


def _felt(groups: Sequence[pd.DataFrame]) -> str:
    """Return the name of the mean by which groups are compared, with its units."""
    if not groups:
        return ""
    asked = groups[0].attrs
    units = "" if asked["units"] == "1" else f", {asked['units']}"
    return f"mean {asked['metric'].replace('_', ' ')}{units}"


def _described(values: xr.DataArray, name: str) -> dict[str, str]:
    attrs = values.attrs
    return {
        "name": name,
        "title": str(attrs.get("long_name", name)),
        "units": str(attrs.get("units", "1")),
        "better": str(attrs.get("better", "smaller")),
    }


def _bands(store: StoreName, names: Sequence[str]) -> dict[str, xr.Dataset]:
    """Return the bands of metrics; bands with too few samples are left out."""
    found = {}
    for name in names:
        with suppress(TooFewSamplesError):
            found[name] = bands(store, name)
    return found


def _comparison(found: xr.Dataset | None) -> Columns:
    table = Columns((
        "metric", "trace", "load", "policy", "mean", "baseline", "change", "low", "high",
        "better", "pairs", "p", "log",
    ))  # fmt: skip
    if found is None:
        return table
    frame = comparison_frame(found)
    for key, row in zip(frame.index, frame.to_dict("records"), strict=True):
        change, low, high, log = (
            100 * (row[name] - 1) for name in ("ratio", "ratio_low", "ratio_high", "ratio_of_log")
        )
        better = round(row["better"] * row["pairs"]) if row["pairs"] else 0
        table.add(*key, row["mean"], row["baseline_mean"], change, low, high, better,
                  row["pairs"], row["p_holm"], log)  # fmt: skip
    return table


def _samples(found: xr.Dataset | None, most: int = MOST_SAMPLES) -> tuple[Columns, str]:
    """Return the change of each pair, by metric, trace, load, policy and resample.

    If there are more than `most` pairs, the first pairs of each series are returned; since samples
    are independent, any of them are typical. Also returns a sentence on the omitted rows, or "".
    """
    table = Columns(("metric", "trace", "load", "policy", "resample", "change"))
    if found is None:
        return table, ""
    ratios = found["sample_ratio"].transpose("metric", "trace", "load", "policy", "resample")
    labels = [ratios[name].values.tolist() for name in ratios.dims]
    values = ratios.values
    there = np.isfinite(values)
    pairs = int(there.sum())
    each = most // max(1, int(there.any(axis=-1).sum()))
    shown = there if pairs <= most else there & (np.cumsum(there, axis=-1) <= each)
    for place in np.argwhere(shown).tolist():
        at = [names[i] for names, i in zip(labels, place, strict=True)]
        table.add(*at, 100 * (values[tuple(place)] - 1))
    if len(table.rows) == pairs:
        return table, ""
    kept = f"only the first {each} of each policy at each trace and load" if each else "none"
    return table, (
        f"of {grouped(pairs)} changes in single samples the page has {kept}, since its limit is "
        f"{grouped(most)}; all other numbers are of all samples"
    )


ROWS_OF = {
    "comparison": "comparisons by trace and load; farm compare --csv has all",
    "levels": "values by load; farm bands --csv has all",
    "weeks": "waits by week; farm validate --csv has all",
    "near": "simulated and logged waits; farm validate --csv has all",
    "failed": "failed cells; farm status --failed has all",
    "missing": "counts of missing cells; farm status has all",
}
"""Rows of each table with a limit, and the command that prints all rows."""


def _fitted(table: Columns, name: str, most: int) -> tuple[Columns, str]:
    """Return the rows of the first traces that fit, and a sentence on the omitted rows.

    Whole traces are kept, so that the figures of each trace are complete. If the first trace alone
    has too many rows, its first rows are kept. The sentence is "" if nothing is omitted.
    """
    if len(table.rows) <= most:
        return table, ""
    place = list(table.names).index("trace")
    counts = Counter(row[place] for row in table.rows)
    fitting = int((np.cumsum(list(counts.values())) <= most).sum())
    what, _, command = ROWS_OF[name].partition("; ")
    said = f"of {grouped(len(table.rows))} {what} the page has "
    kept = set(list(counts)[: max(fitting, 1)])
    rows = [row for row in table.rows if row[place] in kept][:most]
    part = (
        f"those of the first {fitting} of {len(counts)} traces"
        if fitting
        else f"the first {grouped(most)}"
    )
    return Columns(
        table.names, rows
    ), f"{said}{part}, since its limit is {grouped(most)}; {command}"


def _levels(
    store: StoreName,
    names: Sequence[str],
    policies: Sequence[str],
    banded: Mapping[str, xr.Dataset],
) -> Columns:
    """Return each metric by trace, load and policy: band over the samples, and the log's value."""
    table = Columns(("metric", "trace", "load", "policy", "middle", "low", "high", "own",
                     "logged"))  # fmt: skip
    for name in names:
        logged: dict[str, float] = {}
        for key, row in _banded(store, name, policies, banded.get(name)):
            if any(np.isfinite(x) for x in row):
                if key[0] not in logged:
                    logged[key[0]] = mean_as_logged(store, key[0], name)
                table.add(name, *key, *row, logged[key[0]])
    return table


def _banded(
    store: StoreName, name: str, policies: Sequence[str], band: xr.Dataset | None
) -> Iterator[tuple[tuple[str, ...], tuple[float, ...]]]:
    cell = ("trace", "load", "policy")
    if band is not None:
        low, middle, high = np.moveaxis(_on_cells(band[name], policies).values, -1, 0)
        own = band["log"] if "log" in band else xr.full_like(band[name][..., 0], np.nan)
        log = _on_cells(own, policies).values
        labels = _on_cells(band[name], policies)
    else:
        values = at_labels(open_metric(store, name)[name].load())
        labels = _on_cells(values.isel(resample=-1, drop=True), policies)
        single = int(values["resample"].values[-1]) != LOG
        middle = labels.values if single else np.full(labels.shape, np.nan)
        low = high = np.full(labels.shape, np.nan)
        log = np.full(labels.shape, np.nan)
        if LOG in values["resample"].values:
            log = _on_cells(values.sel(resample=LOG, drop=True), policies).values
            there = [has_log(store, str(trace)) for trace in labels["trace"].values]
            # Resample 0 of a model is one more draw.
            middle = np.where(np.array(there)[:, None, None], middle, log)
            log = np.where(np.array(there)[:, None, None], log, np.nan)
    if labels.ndim < len(cell):
        return
    for place in np.ndindex(*labels.shape[:3]):
        key = tuple(str(labels[d].values[i]) for d, i in zip(cell, place, strict=True))
        yield key, tuple(float(x[place]) for x in (middle, low, high, log))


def _on_cells(values: xr.DataArray, policies: Sequence[str]) -> xr.DataArray:
    return values.sel(policy=list(policies)).transpose("trace", "load", "policy", ...)


def _weeks(near: pd.DataFrame, policies: Sequence[str]) -> Columns:
    """Return mean waits by week of submission, for each policy and as logged."""
    table = Columns(("trace", "load", "policy", "series", "week", "wait"))
    logged = {}
    for key, row in zip(near.index, near.to_dict("records"), strict=True):
        trace, load, policy, by, group = key
        if by == "week" and policy in policies:
            table.add(trace, load, policy, policy, int(group), row["simulated"])
            logged[trace, load, int(group)] = row["logged"]
    for (trace, load, week), wait in logged.items():
        table.add(trace, load, None, "as logged", week, wait)
    return table


def _near(near: pd.DataFrame, policies: Sequence[str]) -> Columns:
    """Return simulated and logged mean waits, over all jobs, and by queue and width."""
    table = Columns((
        "trace", "load", "policy", "by", "group", "jobs", "simulated", "logged", "difference",
    ))  # fmt: skip
    for key, row in zip(near.index, near.to_dict("records"), strict=True):
        if key[3] != "week" and key[2] in policies:
            table.add(*key[:4], str(key[4]), int(row["jobs"]), row["simulated"], row["logged"],
                      row["difference"])  # fmt: skip
    return table


def _group_rows(groups: Sequence[pd.DataFrame]) -> Columns:
    """Return the groups that gain or lose most, by trace, load and policy."""
    table = Columns((
        "trace", "load", "policy", "group", "jobs", "work", "before", "after", "change", "least",
        "most", "loses", "of",
    ))  # fmt: skip
    each = max(3, min(MOST_GROUPS, MOST_GROUP_ROWS // (2 * max(len(groups), 1))))
    for frame in groups:
        asked = frame.attrs
        # `changes` orders groups by total loss: the largest loss first, the largest gain last.
        ends = frame if len(frame) <= 2 * each else pd.concat([frame.head(each), frame.tail(each)])
        for label, row in zip(ends.index, ends.to_dict("records"), strict=True):
            table.add(
                asked["trace"], asked["load"], asked["policy"], str(label), 100 * row["jobs"],
                100 * row["work"], row["before"], row["after"], row["change"], row["least"],
                row["most"], int(row["loses"]), int(row["of"]),
            )  # fmt: skip
    return table


def _cut_groups(groups: Sequence[pd.DataFrame], table: Columns, by: str) -> str:
    """Return a sentence on groups that the page leaves out; "" without any."""
    every = sum(map(len, groups))
    if len(table.rows) == every:
        return ""
    return (
        f"of {grouped(every)} gains and losses by {by} the page has {grouped(len(table.rows))}, "
        "those at both ends of the order of farm who, which has all"
    )


def _counts(done: xr.DataArray, failed: int, progress: Mapping[str, Any] | None) -> dict[str, int]:
    """Return the numbers of cells by state.

    The counts in `progress` are from the records and take precedence, since a run folds its summary
    only once a minute.
    """
    if progress:
        return {name: int(progress[name]) for name in ("cells", "done", "failed", "missing")}
    there = int(done.sum())
    counts = {"cells": done.size, "done": there, "failed": failed}
    return {**counts, "missing": done.size - there - failed}


def _unfinished(done: xr.DataArray, progress: Mapping[str, Any] | None) -> tuple[Columns, Columns]:
    """Return the number of missing cells by trace, load and policy, and each failed cell."""
    failures = (progress or {}).get("failures", ())
    failed = Columns(("trace", "resample", "load", "policy", "error"))
    for one in failures:
        failed.add(*(one[name] for name in failed.names))
    table = Columns(("trace", "load", "policy", "missing", "of"))
    known = {tuple(one[name] for name in ("trace", "load", "policy")): 0 for one in failures}
    for one in failures:
        known[one["trace"], one["load"], one["policy"]] += 1
    lacking = (~done).sum("resample").transpose("trace", "load", "policy")
    for place in np.argwhere(lacking.values > 0).tolist():
        key = tuple(str(lacking[d].values[i]) for d, i in zip(lacking.dims, place, strict=True))
        count = int(lacking.values[tuple(place)]) - known.get(key, 0)
        if count > 0:
            table.add(*key, count, done.sizes["resample"])
    return table, failed


def _commands(
    store: StoreName, asked: Asked, policies: Sequence[str], names: Sequence[str]
) -> dict[str, str]:
    """Return the command that prints the numbers of each section."""
    place = str(store)
    compared = ["farm", "compare", place, *policies]
    metrics = [word for name in names for word in ("--metric", name)]
    level = [] if asked.level == LEVEL else ["--level", f"{asked.level:g}"]
    by = ["--by", asked.by]
    return {
        "compare": shlex.join([*compared, *metrics, *level, *by]),
        "bands": shlex.join(["farm", "bands", place, *metrics[:2]]),
        "near": shlex.join(["farm", "validate", place]),
        "groups": shlex.join(["farm", "who", place, "--baseline", policies[0],
                              "--policy", policies[-1], *by]),
        "status": shlex.join(["farm", "status", place, "--failed"]),
        "verify": shlex.join(["farm", "verify", place]),
    }  # fmt: skip


def _facts(
    store: StoreName, head: Mapping[str, Any], summary: xr.Dataset, progress: Mapping[str, Any]
) -> list[tuple[str, str]]:
    """Return lines of provenance."""
    said = [("store", str(store)), ("format version", str(head["version"]))]
    said += [
        (name, str(summary.attrs[key]))
        for name, key in (("seed", "seed"), ("samples drawn by", "draw"), ("loads by", "load_by"),
                          ("tau (s)", "tau"), ("kept", "keep"))
        if key in summary.attrs
    ]  # fmt: skip
    said += [(f"policy {name}", policy) for name, policy in named_policies(store).items()]
    said.append(("SHA-256 of the campaign", str(head.get("sha256", "unknown"))))
    said += [
        (f"stored log of {trace}, named by its SHA-256", f"traces/{source['columns']}.npz")
        for trace, source in head.get("sources", {}).items()
        if "columns" in source
    ]
    said += [
        (f"SHA-256 of the module {name}", str(module["sha256"]))
        for name, module in head.get("own", {}).items()
    ]
    for one in progress.get("origins", ()):
        parts = ", ".join(f"{key} {value}" for key, value in one.items())
        said.append(("computed by", parts))
    return said
