"""The kinds of figures, one row each, and the function that draws them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from schedfarm.analysis.axes import narrowed
from schedfarm.analysis.cells import cell_jobs, cell_schedule
from schedfarm.analysis.drawing import (
    COLUMN_STYLE,
    COLUMN_WIDTHS,
    STYLE,
    canvas,
    checked_path,
    save,
)
from schedfarm.analysis.errors import StoreError
from schedfarm.analysis.place import StoreName
from schedfarm.analysis.plots.axes import name_figure, say
from schedfarm.analysis.plots.campaigns import axis_curves, heat_map, load_curves
from schedfarm.analysis.plots.gantt import gantt
from schedfarm.analysis.plots.jobs import arrivals, distributions, estimates, users
from schedfarm.analysis.plots.over_time import queue, utilisation
from schedfarm.analysis.plots.subject import Subject
from schedfarm.analysis.store import check_known, known_label, open_summary
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.workload import Workload

if TYPE_CHECKING:
    from matplotlib.figure import Figure

JOBS, SCHEDULE, STORE = "jobs", "schedule", "store"
"""Data for a figure: jobs of a log or a cell, schedules of these jobs, or a store."""

Drawn: TypeAlias = Schedule | Workload | Mapping[str, Schedule] | StoreName
"""Input of `plot`: jobs, a schedule, schedules of the same jobs by policy, or a store."""

MOST_POLICIES = 5
"""Largest number of a store's policies in a figure, if no policy is named."""


@dataclass(frozen=True)
class Kind:
    """Declare a kind of figure.

    Parameters
    ----------
    name : str
        Name on the command line.
    needs : str
        `JOBS`, `SCHEDULE` or `STORE`.
    meaning : str
        Meaning of the figure, for help texts and documentation.
    figure : callable
        Function from a `Subject` and a width, inches, to the figure.
    takes : frozenset of str
        Options of the figure: ``metric``, ``begin``, ``length`` and ``axis``.
    policies : int
        Largest number of a store's policies in the figure, if no policy is named.
    """

    name: str
    needs: str
    meaning: str
    figure: Callable[[Subject, float], Figure]
    takes: frozenset[str] = field(default=frozenset())
    policies: int = MOST_POLICIES


def _framed(
    draw: Callable[[Figure, Subject], list[str]], narrow: float, wide: float, *, each: bool = False
) -> Callable[[Subject, float], Figure]:
    """Return a function that draws into a figure of one or two columns, with title and notes.

    narrow, wide: heights, inches; with `each`, heights of each policy's panel.
    """

    def figure(subject: Subject, width: float) -> Figure:
        height = narrow if width <= COLUMN_WIDTHS["one"] else wide
        made = canvas(width, height * (len(subject.schedules) if each else 1))
        notes = draw(made, subject)
        if subject.name:
            name_figure(made, subject.name)
        say(made, notes)
        return made

    return figure


_VALUE, _WINDOW = frozenset({"metric"}), frozenset({"begin", "length"})

_ROWS = (
    Kind(
        "gantt", SCHEDULE, "Jobs as rectangles of processors (or nodes, clusters) x time.",
        _framed(gantt, 2.8, 3.0, each=True), _WINDOW, policies=1,
    ),
    Kind(
        "queue", SCHEDULE, "Number of waiting jobs over time.",
        _framed(queue, 2.4, 2.4), _WINDOW,
    ),
    Kind(
        "utilisation", SCHEDULE, "Share of the processors in use over time.",
        _framed(utilisation, 2.4, 2.4), _WINDOW,
    ),
    Kind(
        "cdf", SCHEDULE, "Share of the jobs whose wait or bounded slowdown is at most each value.",
        _framed(distributions, 2.2, 2.6), _VALUE | _WINDOW,
    ),
    Kind(
        "users", SCHEDULE, "Mean wait of each user against the user's work.",
        _framed(users, 2.8, 3.4), _VALUE | _WINDOW,
    ),
    Kind(
        "arrivals", JOBS, "Jobs submitted by weekday and hour of the day.",
        _framed(arrivals, 2.9, 3.2), _WINDOW,
    ),
    Kind(
        "estimates", JOBS, "Requested times against run times, as counts of jobs.",
        _framed(estimates, 2.8, 4.2), _WINDOW,
    ),
    Kind(
        "loads", STORE, "A metric over the offered load with bands, a curve for each policy.",
        _framed(load_curves, 2.6, 2.8), _VALUE,
    ),
    Kind(
        "heatmap", STORE, "A metric by load and policy, as colours with numbers.",
        _framed(heat_map, 2.4, 2.6), _VALUE,
    ),
    Kind(
        "axis", STORE, "A metric over the values of an axis of the campaign, with bands.",
        _framed(axis_curves, 2.6, 2.8), _VALUE | {"axis"},
    ),
)  # fmt: skip

KINDS: Mapping[str, Kind] = MappingProxyType({row.name: row for row in _ROWS})
"""Every kind of figure by its name."""


def find_kind(name: str) -> Kind:
    """Return a kind of figure by name; the `StoreError` for other names has the nearest name."""
    check_known(name, "kind of figure", list(KINDS))
    return KINDS[name]


def plot(
    kind: str,
    of: Drawn,
    path: str | os.PathLike[str] | None = None,
    *,
    width: str = "two",
    metric: str | None = None,
    begin: int | None = None,
    length: int | None = None,
    trace: str | None = None,
    load: float | str | None = None,
    policies: Sequence[str] = (),
    sample: int | None = None,
    axis: str | None = None,
    at: Mapping[str, Any] | None = None,
) -> Figure:
    """Draw one of the usual figures of a log, a schedule or a store.

    Parameters
    ----------
    kind : str
        Name of a row of `KINDS`, such as ``gantt``, ``queue`` or ``heatmap``.
    of : Schedule, Workload, mapping of str to Schedule, or path
        A schedule; jobs, for figures that need no schedule; schedules of the same jobs by policy;
        or a store.
    path : path, optional
        File for the figure, ending in .png, .pdf or .svg.
    width : {"one", "two"}
        Width in columns of a two-column paper: 3.5 or 7.16 inches.
    metric : str, optional
        Metric of the store; for ``cdf`` and ``users``: wait, bounded_slowdown or response.
    begin, length : int, optional
        Begin of the window, s after the first submission, and length of the window, s; by default
        everything is drawn.
    trace, load, policies, sample : optional
        Cells of a store to draw. By default, figures of jobs and schedules show the first trace and
        load, the log itself or else the first sample, and the first policies.
    axis : str, optional
        Axis of the campaign, for the figure ``axis``; by default the only axis.
    at : mapping, optional
        Values of the campaign's axes that restrict a figure of a store's metric.

    Returns
    -------
    Figure
        A figure of matplotlib's object-oriented interface.

    Raises
    ------
    StoreError
        If the kind or a label is unknown, the kind needs other data or does not support an option,
        the window is empty, or the path has an unknown suffix.

    Examples
    --------
    >>> from schedfarm.core import Workload, simulate
    >>> jobs = dict(submit=[0, 0, 1], run=[60, 60, 9], estimate=[60, 60, 9], procs=[3, 3, 1])
    >>> w = Workload.from_columns(**jobs, processors=4)
    >>> figure = plot("gantt", simulate(w, "fcfs+easy"), width="one")
    >>> figure.get_size_inches().tolist()
    [3.5, 2.8]
    """
    from matplotlib import style

    row = find_kind(kind)
    check_known(width, "width", list(COLUMN_WIDTHS))
    target = None if path is None else checked_path(path)
    options = {"metric": metric, "begin": begin, "length": length, "axis": axis}
    check_options(row, (name for name, value in options.items() if value is not None))
    where = {"trace": trace, "load": load, "policies": policies, "sample": sample}
    subject = _subject(row, of, where | {"at": at or {}})
    subject = replace(subject, metric=metric, begin=begin, length=length, axis=axis)
    sheets = [STYLE, COLUMN_STYLE]
    with style.context(sheets):
        figure = row.figure(subject, COLUMN_WIDTHS[width])
        if target is not None:
            save(figure, target, COLUMN_STYLE)
        else:
            figure.draw_without_rendering()
    return figure


def check_options(row: Kind, given: Iterable[str], form: str = "{}") -> None:
    """Refuse options that a kind of figure does not use; form: spelling of an option."""
    for name in given:
        if name not in row.takes:
            users = ", ".join(one.name for one in KINDS.values() if name in one.takes)
            raise StoreError(f"{form.format(name)} does nothing with {row.name}; it is for {users}")


def _subject(row: Kind, of: Drawn, where: Mapping[str, Any]) -> Subject:
    if isinstance(of, Schedule):
        of = {of.policy: of}
    if isinstance(of, Workload):
        if row.needs != JOBS:
            raise _lacking(row, "jobs without starts")
        return Subject(of.name, of)
    if isinstance(of, Mapping):
        if row.needs == STORE:
            raise _lacking(row, "a schedule")
        if not of:
            raise StoreError(f"{row.name} needs a schedule; there is none")
        jobs = next(iter(of.values())).workload
        return Subject(_title(row, jobs.name, list(of)), jobs, of)
    return _of_store(row, of, **where)


def _lacking(row: Kind, given: str) -> StoreError:
    needed, remedy = {
        SCHEDULE: ("schedules", "name a policy"),
        STORE: ("a store", "name one that farm run wrote"),
    }[row.needs]
    return StoreError(f"{row.name} is drawn from {needed}, not from {given}; {remedy}")


def _title(row: Kind, name: str, policies: Sequence[str]) -> str:
    shown = policies if row.needs == SCHEDULE and len(policies) == 1 else ()
    return ", ".join((name, *shown))


def _of_store(
    row: Kind,
    store: StoreName,
    trace: str | None,
    load: float | str | None,
    policies: Sequence[str],
    sample: int | None,
    at: Mapping[str, Any],
) -> Subject:
    if row.needs == STORE:
        return _of_summary(row, store, trace, load, policies, sample, at)
    if at:
        raise StoreError(
            f"{row.name} is drawn from single cells; name a trace and policies instead"
        )
    summary = open_summary(store)
    labels = {axis: summary[axis].values.tolist() for axis in ("trace", "load", "policy")}
    traces = labels["trace"]
    trace = traces[0] if trace is None else known_label("trace", trace, traces)
    load = labels["load"][0] if load is None else known_label("load", load, labels["load"])
    sample = int(summary["resample"].values[0]) if sample is None else sample
    cell = ", ".join((trace, f"load {load}", f"sample {sample}" if sample else "the log itself"))
    if row.needs == JOBS:
        return Subject(cell, cell_jobs(store, trace, load, sample))
    chosen = [known_label("policy", one, labels["policy"]) for one in policies]
    chosen = chosen or labels["policy"][: row.policies]
    schedules = {one: cell_schedule(store, trace, load, sample, one) for one in chosen}
    jobs = next(iter(schedules.values())).workload
    return Subject(_title(row, cell, chosen), jobs, schedules)


def _of_summary(
    row: Kind,
    store: StoreName,
    trace: str | None,
    load: float | str | None,
    policies: Sequence[str],
    sample: int | None,
    at: Mapping[str, Any],
) -> Subject:
    if sample is not None:
        raise StoreError(f"{row.name} is drawn from all samples; leave the sample out")
    if len(policies) > 1:
        raise StoreError(f"{row.name} is drawn for all policies or for one; name at most one")
    labels = narrowed(store, at, trace, policies[0] if policies else None)
    where = {**labels, "load": load}
    return Subject(store=store, where=where)
