"""Comparison of two policies by group of jobs: users, widths, lengths, accounts, partitions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from schedfarm.analysis.errors import StoreError, TooFewSamplesError
from schedfarm.analysis.logs import logged_values
from schedfarm.analysis.reading import reading
from schedfarm.analysis.store import (
    LOG,
    Store,
    check_held,
    check_known,
    has_log,
    known_label,
    open_summary,
    open_trace,
)
from schedfarm.analysis.tables import aligned, decimals_for, fact
from schedfarm.analysis.unfinished import failed_sentence
from schedfarm.core.arrays import Bool, Float64, Int64
from schedfarm.core.metrics.slowdown import slowdowns
from schedfarm.core.metrics.widths import WIDTHS, width_classes
from schedfarm.core.numerals import counted, grouped
from schedfarm.core.schedule import State

HOUR = 3600

LENGTHS = {
    "up to 1 min": 60,
    "to 10 min": 600,
    "to 1 h": HOUR,
    "to 4 h": 4 * HOUR,
    "to 12 h": 12 * HOUR,
    "to 24 h": 24 * HOUR,
    "longer": 2**63 - 1,
}
"""Classes of run times and estimates, each with its longest time, s."""

UNKNOWN = -1
"""Number of a user, group, queue or partition that the log lacks."""

UNKNOWN_LABEL = "unknown"
"""Label of all jobs whose group the log lacks; these jobs do not count as a group."""


@dataclass(frozen=True)
class Grouping:
    """Declare a grouping of jobs.

    Parameters
    ----------
    meaning : str
        Meaning of a group.
    array : str
        The store's array with the groups; empty if only the log has the groups.
    place : callable
        Function from this array, int64[n], to the group of each job, int64[n].
    classes : tuple of str
        Names of the groups in order. Empty if groups are numbers of the log, of which some have
        names; such groups are sorted by the total loss of their jobs.
    """

    meaning: str
    array: str = ""
    place: Callable[[Int64], Int64] = lambda number: number
    classes: tuple[str, ...] = ()


def _length(seconds: Int64) -> Int64:
    return np.searchsorted(np.array(list(LENGTHS.values())), seconds).astype(np.int64)


GROUPINGS = {
    "user": Grouping("user of the log", "job_user"),
    "width": Grouping("processors", "procs", width_classes, tuple(WIDTHS)),
    "run": Grouping("run time", "run", _length, tuple(LENGTHS)),
    "estimate": Grouping("requested time", "estimate", _length, tuple(LENGTHS)),
    "group": Grouping("group or account of the log"),
    "queue": Grouping("queue or quality of service of the log"),
    "partition": Grouping("partition of the log"),
}
"""Groupings of jobs, by name."""

NO_NAMES: Mapping[int, str] = MappingProxyType({})

ASKED = ("trace", "load", "policy", "baseline", "metric", "units")
"""Attributes of a frame of changes that its CSV repeats on each line."""

FELT = {"wait": ("wait", "state"), "bounded_slowdown": ("wait", "state", "end", "submit")}
"""Metrics of jobs whose means by group are compared, with the arrays that each metric needs."""


OF_BOTH = ("wait", "end", "state")
"""Arrays of jobs that depend on the schedule."""

OF_JOB = ("number", "submit", "run", "procs")
"""Arrays that identify the jobs of two traces."""

AT_ONCE = 2**20
"""Number of values of an array that are read at once, 8 MiB: each read also takes 5 ms."""


@reading()
def changes(
    store: Store,
    trace: str,
    policy: str,
    baseline: str,
    by: str = "user",
    *,
    load: float | str,
    metric: str = "wait",
    names: Mapping[int, str] = NO_NAMES,
    baseline_trace: str | None = None,
) -> pd.DataFrame:
    """Compare the mean wait or slowdown of each group of jobs under two policies, by sample.

    Both policies schedule the same jobs of a sample. All jobs count, including those in a
    campaign's warm-up, except jobs that either policy refuses.

    Parameters
    ----------
    store : path or DataTree
        The store's folder, or an open tree.
    trace, policy, baseline, load : str
        Labels of the store's axes. A load may be a number, and a policy may have any spelling.
    by : str
        Grouping: ``user``, ``width``, ``run`` or ``estimate``. If the log has them and `store` is a
        folder, also ``group``, ``queue`` or ``partition``.
    metric : str
        ``wait``, s, or ``bounded_slowdown``.
    names : mapping of int to str
        Names of users, groups, queues or partitions, by number.
    baseline_trace : str, optional
        Trace of the baseline, with the same jobs on a machine of another size; by default `trace`.

    Returns
    -------
    DataFrame
        The frame is indexed by group; users are sorted by total loss, largest first. Groups are
        those with jobs in some sample. Values other than shares are means over the samples with
        jobs of the group. Without resamples the log counts as the sample. ``attrs`` contain the
        query, ``units`` and ``samples``. Columns:

        - ``jobs``, ``work``: the group's shares of the jobs and of run x procs, means over samples;
        - ``before``, ``after``: the group's means under the baseline and under the policy;
        - ``change``: after - before;
        - ``least``, ``most``: range of the change over the samples;
        - ``loses``, ``of``: number of samples with a positive change, and with jobs of the group;
        - ``log``: change in the log itself, or NaN.

    Raises
    ------
    StoreError
        If the store cannot be read, a name is unknown, or no sample has both policies.

    Examples
    --------
    >>> dims = ("resample", "load", "policy", "job")
    >>> group = xr.Dataset(
    ...     {"jobs": (dims[:2], [[3]]), "wait": (dims, [[[[5, 5, 5], [0, 30, 0]]]]),
    ...      **{name: (("resample", "load", "job"), [[[7, 7, 9]]])
    ...         for name in ("run", "procs", "job_user")}},
    ...     {"resample": [1], "load": ["0.9"], "policy": ["fcfs+easy", "spf+easy"]})
    >>> root = xr.Dataset(coords={"trace": ["KTH"]})
    >>> tree = xr.DataTree.from_dict({"/": root, "/KTH": group})
    >>> found = changes(tree, "KTH", "spf+easy", "fcfs+easy", load="0.9")
    >>> found[["before", "after", "change"]].to_dict("index")["7"]
    {'before': 5.0, 'after': 15.0, 'change': 10.0}
    """
    check_known(by, "group", list(GROUPINGS))
    check_known(metric, "metric of a job", list(FELT))
    group = open_trace(store, trace)
    check_held(group, "wait", "run", "procs")
    load = known_label("load", load, group["load"].values.tolist())
    known = group["policy"].values.tolist()
    policy, baseline = (known_label("policy", name, known) for name in (policy, baseline))
    before = open_trace(store, baseline_trace or trace)
    if (policy, trace) == (baseline, baseline_trace or trace):
        raise StoreError(f"policy and baseline are both {policy!r}; a change is between two")
    grouping = GROUPINGS[by]

    def place(sample: xr.Dataset) -> Int64:
        if grouping.array:
            return grouping.place(sample[grouping.array].values)
        return logged_values(store, trace, by, sample["number"].values)

    # Within a trace, both sides have the same arrays.
    same = () if trace == (baseline_trace or trace) else (*OF_JOB, grouping.array)
    needed = {"jobs", *FELT[metric], *same}
    of_jobs = {"run", "procs", grouping.array or "number"}
    both = (
        before[list(needed & set(before))].sel(load=load, policy=baseline),
        group[list((needed | of_jobs) & set(group))].sel(load=load, policy=policy),
    )
    tau = float(open_summary(store).attrs.get("tau", 10))
    found = dict(_samples(both, place, metric, tau, same))
    own = found.pop(LOG) if LOG in found and has_log(store, trace) else None
    if not found and own is None:
        raise TooFewSamplesError(
            f"no resample of trace {trace!r} at load {load} has both {baseline} and {policy}; "
            + (
                failed_sentence(store, trace=trace, load=load, policy=[baseline, policy])
                or "run the campaign first"
            )
        )
    frame = _compared([own] if own is not None and not found else list(found.values()))
    frame["log"] = np.nan if own is None else own["after"] - own["before"]
    if not grouping.classes:
        frame = frame.sort_values("total", ascending=False, kind="stable")
    labels = dict(enumerate(grouping.classes)) or {UNKNOWN: UNKNOWN_LABEL, **names}
    has_unknown = not grouping.classes and UNKNOWN in frame.index
    frame.index = pd.Index([labels.get(int(n), str(n)) for n in frame.index], name=by)
    frame = frame.drop(columns="total")
    frame.attrs = {
        "trace": trace, "load": load, "policy": policy, "baseline": baseline, "by": by,
        "metric": metric, "units": "s" if metric == "wait" else "1", "samples": len(found),
        "has_unknown": has_unknown,
    }  # fmt: skip
    return frame


def known_groups(frame: pd.DataFrame) -> pd.DataFrame:
    """Return changes without the jobs whose group the log lacks."""
    return frame.drop(index=UNKNOWN_LABEL) if frame.attrs.get("has_unknown") else frame


def _samples(
    both: tuple[xr.Dataset, xr.Dataset],
    place: Callable[[xr.Dataset], Int64],
    metric: str,
    tau: float,
    same: Sequence[str],
) -> Iterator[tuple[int, pd.DataFrame]]:
    """Yield each resample with both schedules, with the sums over its groups.

    same: arrays that must be equal on both sides, if the store has them. All other values of a job
    are from the second side.
    """
    for sides in _read_together(both):
        label, jobs = sides[1]["resample"].item(), int(sides[1]["jobs"])
        if any((one["wait"].values < 0).all() for one in sides):
            continue
        parts = [one.isel(job=slice(jobs)) for one in sides]
        other = f"resample {label} has other jobs there; a change is between the same jobs"
        if int(sides[0]["jobs"]) != jobs:
            raise StoreError(other)
        of_both = [name for name in OF_BOTH if name in parts[0]]
        sample = (
            parts[1]
            .drop_vars("policy")
            .assign(
                {
                    name: (("policy", "job"), np.stack([one[name].values for one in parts]))
                    for name in of_both
                }
            )
        )
        waits: Int64 = sample["wait"].values
        # A refused job has wait -1. If all jobs have wait -1, the cell is not done.
        if (waits < 0).all(axis=1).any():
            continue
        if _differ(parts, same):
            raise StoreError(other)
        run, procs = sample["run"].values, sample["procs"].values
        felt = waits if metric == "wait" else slowdowns(_response(sample), run, tau)
        there = _are_there(sample)
        yield label, _sums(place(sample)[there], felt[:, there], (run * procs)[there])


def _read_together(both: tuple[xr.Dataset, ...]) -> Iterator[list[xr.Dataset]]:
    """Yield each resample of some datasets; several resamples are read at once."""
    samples = both[1].sizes["resample"]
    step = max(1, AT_ONCE // max(1, *(one.sizes["job"] for one in both)))
    for begin in range(0, samples, step):
        read = [one.isel(resample=slice(begin, begin + step)).load() for one in both]
        for i in range(min(step, samples - begin)):
            yield [one.isel(resample=i) for one in read]
        del read


def _differ(parts: Sequence[xr.Dataset], same: Sequence[str]) -> bool:
    """Return whether both sides have one of these arrays of jobs with different values."""
    one, other = parts
    held = (name for name in same if name in one and name in other)
    return any(not np.array_equal(one[name].values, other[name].values) for name in held)


def _response(sample: xr.Dataset) -> Int64:
    """Return the response time of each job under both policies, int64[2, n], s."""
    if "end" in sample:
        ended: Int64 = (sample["end"] - sample["submit"]).values
        return ended
    waited: Int64 = (sample["wait"] + sample["run"]).values
    return waited


def _are_there(sample: xr.Dataset) -> Bool:
    """Return whether each job was accepted under both policies, bool[n]."""
    if "state" not in sample:
        return np.ones(sample.sizes["job"], np.bool_)
    refused: Bool = (sample["state"] == State.REFUSED).any("policy").values
    return ~refused


def _sums(place: Int64, felt: Int64 | Float64, work: Int64) -> pd.DataFrame:
    columns = {"jobs": np.ones(place.size), "work": work, "before": felt[0], "after": felt[1]}
    sums = pd.DataFrame(columns).groupby(place).sum()
    sums["total"] = sums["after"] - sums["before"]
    means = sums[["before", "after"]].div(sums["jobs"], axis=0)
    shares = sums[["jobs", "work"]] / sums[["jobs", "work"]].sum()
    return pd.concat([shares, means, sums[["total"]]], axis=1)


def _compared(samples: list[pd.DataFrame]) -> pd.DataFrame:
    each = pd.concat([one.assign(change=one["after"] - one["before"]) for one in samples])
    groups = each.groupby(level=0)
    frame = groups[["before", "after", "change"]].mean()
    # A sample without jobs of a group counts as share 0, so that the shares add up to 1.
    for place, name in enumerate(("jobs", "work")):
        frame.insert(place, name, groups[name].sum() / len(samples))
    frame["least"], frame["most"] = groups["change"].min(), groups["change"].max()
    frame["loses"] = (each["change"] > 0).groupby(level=0).sum()
    frame["of"] = groups.size()
    frame["total"] = groups["total"].sum()
    return frame


def changes_facts(frame: pd.DataFrame) -> dict[str, Any]:
    """Return changes as JSON-compatible values: the query, and all groups.

    Parameters
    ----------
    frame : DataFrame
        The result of `changes`.

    Returns
    -------
    dict
        The frame's attributes, and ``groups``, a list with a dict for each group. Missing numbers
        are None.

    Examples
    --------
    >>> frame = pd.DataFrame({"change": [40.0], "log": [np.nan]}, pd.Index(["7"], name="user"))
    >>> changes_facts(frame)
    {'groups': [{'user': '7', 'change': 40.0, 'log': None}]}
    """
    rows = frame.reset_index().to_dict("records")
    asked = {str(name): value for name, value in frame.attrs.items()}
    return {**asked, "groups": [{str(k): fact(x) for k, x in row.items()} for row in rows]}


def changes_csv(frames: Sequence[pd.DataFrame]) -> str:
    """Return changes as CSV: one line per group, with the query repeated on each line.

    Parameters
    ----------
    frames : sequence of DataFrame
        Results of `changes` with the same grouping.

    Returns
    -------
    str
        A header line and the lines of all groups, with all digits.

    Examples
    --------
    >>> frame = pd.DataFrame({"change": [40.0]}, pd.Index(["7"], name="user"))
    >>> frame.attrs = dict.fromkeys(ASKED, "?")
    >>> print(changes_csv([frame]), end="")
    trace,load,policy,baseline,metric,units,user,change
    ?,?,?,?,?,?,7,40.0
    """
    lines = []
    for frame in frames:
        told = frame.reset_index()
        for place, name in enumerate(ASKED):
            told.insert(place, name, frame.attrs[name])
        lines.append(told)
    return pd.concat(lines).to_csv(index=False, lineterminator="\n")


def changes_text(frame: pd.DataFrame, top: int | None = None) -> str:
    """Return changes as a text table: the groups that lose most, and a line for all jobs.

    Parameters
    ----------
    frame : DataFrame
        The result of `changes`.
    top : int, optional
        Number of groups to show; by default all.

    Returns
    -------
    str
        Lines for a terminal, without a line break at the end.

    Examples
    --------
    >>> rows = {"jobs": [0.25, 0.75], "work": [0.5, 0.5], "before": [100.0, 90.0],
    ...         "after": [140.0, 80.0], "change": [40.0, -10.0], "least": [20.0, -20.0],
    ...         "most": [60.0, 1.0], "loses": [4, 1], "of": [4, 4], "log": [np.nan] * 2}
    >>> frame = pd.DataFrame(rows, index=pd.Index(["7", "9"], name="user"))
    >>> frame.attrs = {"trace": "KTH", "load": "0.9", "policy": "spf+easy", "by": "user",
    ...                "baseline": "fcfs+easy", "metric": "wait", "units": "s", "samples": 4}
    >>> print(changes_text(frame))
    KTH, load 0.9, mean wait (s): spf+easy instead of fcfs+easy, 4 samples
    user  jobs  work  fcfs+easy  spf+easy  change  least  most  loses in
    7     25 %  50 %        100       140     +40    +20   +60    4 of 4
    9     75 %  50 %         90        80     -10    -20    +1    1 of 4
    <BLANKLINE>
    1 of 2 groups by user lose on average; they have 25 % of the jobs and 50 % of the work
    """
    asked = frame.attrs
    unit = f" ({asked['units']})" if asked["units"] != "1" else ""
    samples = counted(asked["samples"], "sample") if asked["samples"] else "the log itself"
    shown = frame if top is None else frame.head(top)
    known = known_groups(frame)
    losing = known[known["change"] > 0]
    jobs, work = (_share(losing[name].sum()) for name in ("jobs", "work"))
    rest = f"; the first {len(shown)} of {len(frame)} are shown" if len(shown) < len(frame) else ""
    felt = f"mean {asked['metric'].replace('_', ' ')}{unit}"
    return "\n".join(
        [
            f"{asked['trace']}, load {asked['load']}, {felt}: "
            f"{asked['policy']} instead of {asked['baseline']}, {samples}",
            *aligned(_rows(shown)),
            "",
            f"{len(losing)} of {len(known)} groups by {asked['by']} lose on average; they have "
            f"{jobs} of the jobs and {work} of the work{rest}",
        ]
    )


def _rows(frame: pd.DataFrame) -> list[list[str]]:
    levels, moves = ["before", "after"], ["change", "least", "most", "log"]
    if not frame.attrs["samples"]:
        moves = ["change"]
    moves = [name for name in moves if frame[name].notna().any()]
    digits = decimals_for(frame[levels].to_numpy(dtype=np.float64))
    columns = [[_share(x) for x in frame[name]] for name in ("jobs", "work")]
    columns += [[grouped(x, digits) for x in frame[name]] for name in levels]
    columns += [[_signed(x, digits) for x in frame[name]] for name in moves]
    heads = ["jobs", "work", frame.attrs["baseline"], frame.attrs["policy"], *moves]
    if frame.attrs["samples"]:
        columns.append([f"{a} of {b}" for a, b in zip(frame["loses"], frame["of"], strict=True)])
        heads.append("loses in")
    head = [str(frame.index.name), *heads]
    return [head, *map(list, zip(map(str, frame.index), *columns, strict=True))]


def _share(x: float) -> str:
    return f"{100 * x:.{0 if x >= 0.1 else 1}f} %"


def _signed(x: float, digits: int) -> str:
    return "+" * (x > 0) + grouped(x, digits)
