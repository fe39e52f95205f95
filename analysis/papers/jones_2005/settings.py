"""Settings of each trace of a store, and sweeps over one setting, for Jones and Ligon 2005."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from textwrap import wrap
from typing import Any, NamedTuple

import pandas as pd

from schedfarm.analysis.papers.jones_2005.printed import FIGURES
from schedfarm.analysis.papers.report import Numbers
from schedfarm.analysis.papers.tables import Measure
from schedfarm.analysis.store import campaign_traces
from schedfarm.core.models import MODELS
from schedfarm.core.models.participants import participants
from schedfarm.core.models.poisson import PER_WEEK

MODEL = "participants"
"""Model whose traces have rates; a parameter that a trace lacks has its default."""

NODES = 100
"""Number of nodes for which rates are given: the size of each cluster in the first figure."""

WIDTH = 100
"""Number of characters in a line above a figure."""

LEAST_RATES = 3
"""Least number of rates for a curve."""


RATE = "rate"
"""Column with the rate on the first clusters, in jobs per week and `NODES` nodes."""

PARAMETERS = {
    RATE: Measure("rate of the other clusters", "jobs a week and 100 nodes"),
    "mean_run": Measure("mean T_E", "s"),
    "bandwidth": Measure("bandwidth of a node", "kbit/s"),
    "alltoall": Measure("part of it all-to-all", "1"),
    "links": Measure("capacity of each link", "kbit/s"),
    "computation": Measure("K", "1"),
}
"""Columns that may differ between traces."""

KEPT = ("sizes", "fixed_rate", "ratios", "jobs", "weeks", "others")
"""Further columns, equal in all traces of a sweep."""

DIGITS = 9
"""Decimals of rates: as quotients, rates of clusters of other sizes differ in the last bits."""


class Sweep(NamedTuple):
    """Hold traces that differ in a single parameter, by ascending value of the parameter."""

    parameter: str
    traces: pd.DataFrame

    @property
    def name(self) -> str:
        """Name of the sweep's figure: the paper's name, if the paper has the figure."""
        first = self.traces.iloc[0]
        if self.parameter == RATE:
            plain = "rates-" + "-".join(map(str, first["sizes"]))
            return FIGURES.get(first["sizes"], plain) if _even(first) else plain
        return f"{self.parameter}-{first[RATE]:g}"

    @property
    def title(self) -> str:
        """Beginning of a caption: the paper's name of the figure, if the paper has it."""
        if self.name not in FIGURES.values():
            return ""
        return f"{self.name.capitalize().replace('-', ' ')}. "


def settings(of: Numbers) -> pd.DataFrame:
    """Return the settings of each trace of `MODEL`, with columns `PARAMETERS` and `KEPT`.

    ``fixed_rate`` is the rate of the last cluster. ``ratios`` has the rates of the other clusters,
    divided by the rate of the first cluster. ``others`` is a text of further parameters that differ
    from the model's defaults. ``links`` has a number for each cluster, or is empty without limits.
    """
    rows = {
        name: _row(keys)
        for name, keys in campaign_traces(of.place).items()
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
    """Return each cluster's jobs per week and `NODES` nodes; by default the paper's lowest rate."""
    if per_week is None:
        return [PER_WEEK] * len(sizes)
    each = per_week if isinstance(per_week, tuple) else [per_week] * len(sizes)
    return [round(NODES * rate / size, DIGITS) for rate, size in zip(each, sizes, strict=True)]


def _plain(value: Any) -> Any:
    """Return a number that is equal for all clusters as one number, and other values as a tuple."""
    if not isinstance(value, list):
        return value
    return value[0] if len(set(value)) == 1 else tuple(value)


def _even(row: pd.Series) -> bool:
    """Return whether all clusters except the last one have the same rate."""
    return len(set(row["ratios"])) <= 1


def sweeps(traces: pd.DataFrame) -> Iterator[Sweep]:
    """Yield each set of traces that differ in a single parameter.

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
    """Return sort keys of numbers; links without a limit come last."""
    return values.map(lambda x: (x or (float("inf"),))[0] if isinstance(x, tuple) else x)


def value_text(parameter: str, value: Any) -> str:
    """Return a value of a parameter, or its value for each cluster, as text.

    Examples
    --------
    >>> value_text("links", ()), value_text("links", (1_000_000,)), value_text("alltoall", 0.5)
    ('no limit', '1,000,000', '0.5')
    """
    if isinstance(value, tuple):
        return ", ".join(f"{x:,g}" if x < 1e6 else f"{x:,.0f}" for x in value) or "no limit"
    return value if isinstance(value, str) else f"{value:,.10g}"


def panel_title(row: pd.Series, base: pd.Series, without: str = "") -> str:
    """Return a panel's title: the rate of its traces, and other differences from `base`.

    Examples
    --------
    >>> row = pd.Series({"rate": 660.0, "ratios": (1.0, 1.0), "sizes": (4, 4, 4), "others": ""})
    >>> row["fixed_rate"], row["jobs"], row["weeks"] = 570.0, None, None
    >>> rest = [name for name in PARAMETERS if name != RATE]
    >>> panel_title(pd.concat([row, pd.Series(1, rest)]), pd.concat([row, pd.Series(1, rest)]))
    'Others at 660 jobs a week and 100 nodes'
    """
    other = _texts(base)
    texts = {name: text for name, text in _texts(row).items() if text != other.get(name)}
    differ = "; ".join(text for name, text in texts.items() if name != without)
    rate = f"Others at {_rates_text(row)} jobs a week and {NODES} nodes"
    return "\n".join(filter(None, [rate, differ]))


def _rates_text(row: pd.Series) -> str:
    ratios = row["ratios"][:1] if _even(row) else row["ratios"]
    return ", ".join(f"{row[RATE] * ratio:,g}" for ratio in ratios)


def _texts(row: pd.Series) -> dict[str, str]:
    """Return a trace's settings in words, without the rate of all clusters except the last."""
    units = {name: "" if of.units == "1" else f" {of.units}" for name, of in PARAMETERS.items()}
    parameters = {
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
        **parameters,
        "others": "; ".join(filter(None, [row["others"], "all else as the model has it"])),
        **amounts,
    }


def caption(row: pd.Series, without: str = "") -> str:
    """Return the common settings of a figure's traces, without the setting on its axis."""
    texts = _texts(row)
    first = f"{texts.pop('sizes').capitalize()}; {texts.pop('fixed_rate')}"
    if without != RATE:
        first += f", the others at {_rates_text(row)}"
    elif not _even(row):
        first += f", the others at {', '.join(f'{x:g}' for x in row['ratios'])} times the rate"
    rest = "; ".join(text for name, text in texts.items() if name != without)
    return "\n".join([first, *wrap(rest, WIDTH)])
