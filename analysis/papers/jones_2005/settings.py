"""What each trace of a store sets: sizes, rates, and what the paper does not print."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from textwrap import wrap
from typing import Any, NamedTuple

import pandas as pd

from schedfarm.analysis.papers.jones_2005.names import FIGURES
from schedfarm.analysis.place import StoreName
from schedfarm.analysis.store import campaign_traces
from schedfarm.core.models import MODELS
from schedfarm.core.models.participants import participants
from schedfarm.core.models.poisson import PER_WEEK

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

KEPT = ("sizes", "fixed_rate", "ratios", "jobs", "weeks", "others")
"""Further columns, which are alike in all traces of a sweep."""

DIGITS = 9
"""Decimals of rates: as quotients, those of clusters of other sizes differ in the last bits."""


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
            plain = "rates-" + "-".join(map(str, first["sizes"]))
            return FIGURES.get(first["sizes"], plain) if _even(first) else plain
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
        clusters), ``fixed_rate`` (of the last cluster, jobs a week and `NODES` nodes), ``ratios``
        (of the rates of all but the last to that of the first), ``jobs``, ``weeks``, and
        ``others``, all other parameters that are not at the model's default, as text. `links`
        holds a number a cluster, or is empty where they have no limit.
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
    given, defaults = keys.get("parameters", {}), inspect.signature(participants).parameters
    own = {
        name: _plain(given.get(name, defaults[name].default)) for name in MODELS[MODEL].parameters
    }
    first, *rates = _rates(own.pop("per_week"), sizes)
    ours = {
        RATE: first,
        "fixed_rate": [first, *rates][-1],
        "ratios": tuple(round(rate / first, DIGITS) for rate in [first, *rates][:-1]),
        "sizes": sizes,
        "jobs": keys.get("jobs"),
        "weeks": keys.get("weeks"),
        "others": "; ".join(
            f"{name}: {value_text(name, value)}"
            for name, value in own.items()
            if name not in PARAMETERS and value != defaults[name].default
        ),
        "links": links[:1] if len(set(links)) == 1 else links,
    }
    return {name: own[name] for name in PARAMETERS if name in own} | ours


def _rates(per_week: Any, sizes: tuple[int, ...]) -> list[float]:
    """Return each cluster's jobs a week and `NODES` nodes; by default the paper's lowest."""
    if per_week is None:
        return [PER_WEEK] * len(sizes)
    each = per_week if isinstance(per_week, tuple) else [per_week] * len(sizes)
    return [round(NODES * rate / size, DIGITS) for rate, size in zip(each, sizes, strict=True)]


def _plain(value: Any) -> Any:
    """Return one number for all clusters as a number, and others as a tuple."""
    if not isinstance(value, list):
        return value
    return value[0] if len(set(value)) == 1 else tuple(value)


def _even(row: pd.Series) -> bool:
    """Tell whether all clusters but the last have one rate."""
    return len(set(row["ratios"])) <= 1


def sweeps(traces: pd.DataFrame) -> Iterator[Sweep]:
    """Yield each set of traces that differ in one parameter alone.

    Parameters
    ----------
    traces : DataFrame
        As `settings` returns it.

    Examples
    --------
    >>> row = {"bandwidth": 10, "links": (5,), "alltoall": 0.5, "computation": 0.7, "jobs": 9}
    >>> row |= {"sizes": (4, 4), "fixed_rate": 1.0, "ratios": (1.0,), "mean_run": 60}
    >>> row |= {"weeks": None, "others": ""}
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
    """Write a value of a parameter, or one for each cluster.

    Examples
    --------
    >>> value_text("links", ()), value_text("links", (1_000_000,)), value_text("alltoall", 0.5)
    ('no limit', '1,000,000', '0.5')
    """
    if isinstance(value, tuple):
        return ", ".join(f"{x:,g}" if x < 1e6 else f"{x:,.0f}" for x in value) or "no limit"
    return value if isinstance(value, str) else f"{value:,.10g}"


def rate_text(row: pd.Series) -> str:
    """Say at which rate the other clusters are.

    Examples
    --------
    >>> rate_text(pd.Series({"rate": 660.0, "ratios": (1.0, 1.0)}))
    'Others at 660 jobs a week and 100 nodes'
    """
    return f"Others at {_rates_text(row)} jobs a week and {NODES} nodes"


def _rates_text(row: pd.Series) -> str:
    ratios = row["ratios"][:1] if _even(row) else row["ratios"]
    return ", ".join(f"{row[RATE] * ratio:,g}" for ratio in ratios)


def differences_text(row: pd.Series, base: pd.Series, without: str = "") -> str:
    """Say what a trace sets otherwise than another, but for the rate and one parameter.

    Parameters
    ----------
    row, base : Series
        Rows of `settings`.
    without : str
        The parameter that is not said.

    Returns
    -------
    str
        Empty where nothing differs.
    """
    other = _texts(base)
    said = {name: text for name, text in _texts(row).items() if text != other.get(name)}
    return "; ".join(text for name, text in said.items() if name != without)


def _texts(row: pd.Series) -> dict[str, str]:
    """Say each thing that a trace sets, but for the rate of the other clusters."""
    units = {name: "" if of.units == "1" else f" {of.units}" for name, of in PARAMETERS.items()}
    said = {
        name: f"{of.meaning}: {value_text(name, row[name])}{units[name]}"
        for name, of in PARAMETERS.items()
        if name != RATE
    }
    amounts = {
        name: f"{row[name]:,.0f} {name} a sample"
        for name in ("jobs", "weeks")
        if not pd.isna(row[name])
    }
    return {
        "sizes": f"clusters of {', '.join(map(str, row['sizes']))} nodes",
        "fixed_rate": f"the last at {row['fixed_rate']:,g} jobs a week and {NODES} nodes",
        **said,
        "others": "; ".join(filter(None, [row["others"], "all else as the model has it"])),
        **amounts,
    }


def caption(row: pd.Series, without: str = "") -> str:
    """Say all that a figure's traces have in common, but for one parameter.

    Parameters
    ----------
    row : Series
        A row of `settings`.
    without : str
        The parameter on the axis.
    """
    said = _texts(row)
    first = f"{said.pop('sizes').capitalize()}; {said.pop('fixed_rate')}"
    if without != RATE:
        first += f", the others at {_rates_text(row)}"
    elif not _even(row):
        first += f", the others at {', '.join(f'{x:g}' for x in row['ratios'])} times the rate"
    rest = "; ".join(text for name, text in said.items() if name != without)
    return "\n".join([first, *wrap(rest, WIDTH)])
