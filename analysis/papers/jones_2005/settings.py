"""What each trace of a store sets: sizes, rates, and what the paper does not print."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from textwrap import wrap
from typing import Any, NamedTuple

import pandas as pd

from analysis.papers.jones_2005.names import FIGURES
from analysis.place import StoreName
from analysis.store import campaign_traces
from core.models.participants import participants
from core.models.poisson import PER_WEEK

MODEL = "participants"
"""The model of which rates are asked; what a trace leaves out is at its default."""

NODES = 100
"""Rates are told for so many nodes, as all clusters of the first figure have."""

WIDTH = 100
"""Letters in a line above a figure."""

LEAST_RATES = 3
"""Rates that make a curve."""


class Parameter(NamedTuple):
    """A row of `PARAMETERS`: what stands on an axis."""

    meaning: str
    units: str


RATE = "rate"
"""The column of the rate on the first clusters, jobs a week and `NODES` nodes."""

PARAMETERS = {
    RATE: Parameter("rate of the other clusters", "jobs a week and 100 nodes"),
    "mean_run": Parameter("mean T_E", "s"),
    "bandwidth": Parameter("bandwidth of a node", "kbit/s"),
    "alltoall": Parameter("part of it all-to-all", "1"),
    "links": Parameter("capacity of each link", "kbit/s"),
    "computation": Parameter("K", "1"),
}
"""What may differ from one trace to the next, by column."""

KEPT = ("sizes", "fixed_rate", "jobs")
"""Further columns, which are alike in all traces of a sweep."""


class Sweep(NamedTuple):
    """Traces that are alike in all but one parameter.

    Parameters
    ----------
    parameter : str
        A key of `PARAMETERS`.
    traces : DataFrame
        Rows of `settings`, by ascending value.
    """

    parameter: str
    traces: pd.DataFrame

    @property
    def name(self) -> str:
        """The name of its figure, the paper's where there is one."""
        first = self.traces.iloc[0]
        if self.parameter == RATE:
            return FIGURES.get(first["sizes"], "rates-" + "-".join(map(str, first["sizes"])))
        return f"{self.parameter}-{first[RATE]:g}"

    @property
    def title(self) -> str:
        """What its figure is called, where the paper has it."""
        return (
            f"{self.name.capitalize().replace('-', ' ')}. " if self.name in FIGURES.values() else ""
        )


def settings(store: StoreName) -> pd.DataFrame:
    """Return what each trace of the model sets.

    Parameters
    ----------
    store : str or path
        The store's folder or address.

    Returns
    -------
    DataFrame
        Indexed by trace, of traces of `MODEL` alone: the keys of `PARAMETERS`, ``sizes`` (of the
        clusters), ``fixed_rate`` (of the last cluster, jobs a week and `NODES` nodes) and
        ``jobs``. `links` holds a number a cluster, or is empty where they have no limit.
    """
    rows = {
        name: _row(keys)
        for name, keys in campaign_traces(store).items()
        if keys.get("model") == MODEL
    }
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=[*PARAMETERS, *KEPT])
    frame.index.name = "trace"
    return frame


def _row(keys: dict[str, Any]) -> dict[str, Any]:
    machine = keys["platform"]["configuration"]
    sizes, links = tuple(machine["clusters"]), tuple(machine.get("links") or ())
    own = {
        name: keys.get("parameters", {}).get(name, parameter.default)
        for name, parameter in inspect.signature(participants).parameters.items()
    }
    rates = _rates(own["per_week"], sizes)
    plain = {name: _plain(own[name]) for name in PARAMETERS if name in own}
    ours = {RATE: rates[0], "fixed_rate": rates[-1], "sizes": sizes, "jobs": keys.get("jobs")}
    return {**plain, **ours, "links": links[:1] if len(set(links)) == 1 else links}


def _rates(per_week: Any, sizes: tuple[int, ...]) -> list[float]:
    """Return each cluster's jobs a week and `NODES` nodes; by default the paper's lowest."""
    if per_week is None:
        return [PER_WEEK] * len(sizes)
    each = per_week if isinstance(per_week, list) else [per_week] * len(sizes)
    return [NODES * rate / size for rate, size in zip(each, sizes, strict=True)]


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def sweeps(traces: pd.DataFrame) -> Iterator[Sweep]:
    """Yield each set of traces that differ in one parameter alone.

    Parameters
    ----------
    traces : DataFrame
        As `settings` returns it.

    Examples
    --------
    >>> row = {"bandwidth": 10, "links": (5,), "alltoall": 0.5, "computation": 0.7, "jobs": 9}
    >>> row |= {"sizes": (4, 4), "fixed_rate": 1.0, "mean_run": 60}
    >>> rows = [{**row, "rate": rate} for rate in (3, 1, 2)]
    >>> [(one.name, one.traces["rate"].tolist()) for one in sweeps(pd.DataFrame(rows))]
    [('rates-4-4', [1, 2, 3])]
    """
    for name in PARAMETERS:
        others = [column for column in (*PARAMETERS, *KEPT) if column != name]
        for _, alike in traces.groupby(others, sort=False, dropna=False):
            if alike[name].nunique() >= (LEAST_RATES if name == RATE else 2):
                yield Sweep(name, alike.sort_values(name, key=_by_size, kind="stable"))


def _by_size(values: pd.Series) -> pd.Series:
    """Return what numbers are sorted by; links without a limit come last."""
    return values.map(lambda x: (x or (float("inf"),))[0] if isinstance(x, tuple) else x)


def value_text(parameter: str, value: Any) -> str:
    """Write a value of a parameter.

    Examples
    --------
    >>> value_text("links", ()), value_text("links", (1_000_000,)), value_text("alltoall", 0.5)
    ('no limit', '1,000,000', '0.5')
    """
    if isinstance(value, tuple):
        return ", ".join(f"{x:,g}" if x < 1e6 else f"{x:,.0f}" for x in value) or "no limit"
    return f"{value:,.10g}"


def rate_text(rate: float) -> str:
    """Say at which rate the other clusters are.

    Examples
    --------
    >>> rate_text(660.0)
    'Others at 660 jobs a week and 100 nodes'
    """
    return f"Others at {rate:,g} jobs a week and {NODES} nodes"


def caption(row: pd.Series, without: str = "") -> str:
    """Say all that a figure's traces have in common, but for one parameter.

    Parameters
    ----------
    row : Series
        A row of `settings`.
    without : str
        The parameter on the axis.
    """
    sizes = ", ".join(map(str, row["sizes"]))
    rate = "" if without == RATE else f", the others at {row[RATE]:,g}"
    first = (
        f"Clusters of {sizes} nodes; the last at {row['fixed_rate']:,g} jobs a week and "
        f"{NODES} nodes{rate}"
    )
    units = {name: "" if of.units == "1" else f" {of.units}" for name, of in PARAMETERS.items()}
    said = "; ".join(
        f"{of.meaning}: {value_text(name, row[name])}{units[name]}"
        for name, of in PARAMETERS.items()
        if name not in (RATE, without)
    )
    jobs = "" if row["jobs"] is None else f"; {row['jobs']:,} jobs a sample"
    return "\n".join([first, *wrap(said + jobs, WIDTH)])
