"""Figures of a page as Vega-Lite specifications, which the page's script fills with rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from schedfarm.analysis.drawing import DASHES, FILL, MARKERS, STYLE

SHAPES = {
    "o": "circle",
    "s": "square",
    "D": "diamond",
    "^": "triangle-up",
    "v": "triangle-down",
    "P": "cross",
    "X": "M-1,-.5L-.5,-1L0,-.5L.5,-1L1,-.5L.5,0L1,.5L.5,1L0,.5L-.5,1L-1,.5L-.5,0Z",
}
"""Vega's name or path for each marker of policies in the house style."""

LINE_WIDTH = 2
"""Width of lines on the page, pixels; dashes of the house style are multiples of this width."""

LOGGED = "as logged"
"""Label of the waits in the log."""

LOGGED_COLOUR = "#666666"

METRIC = "{metric}"
"""Placeholder in a title for the name and unit of the selected metric."""


@dataclass(frozen=True)
class Figure:
    """Declare a figure.

    name : name of its HTML element. table : rows to draw, `most` at most. title, meaning : plain
    text. spec : Vega-Lite specification without data. command : command that prints its numbers.
    rows : field along a nominal vertical axis. step : height of each value on this axis, pixels.
    """

    name: str
    table: str
    title: str
    meaning: str
    spec: dict[str, Any]
    command: str
    most: int = 2_000
    rows: str = ""
    step: int = 0

    def plain(self) -> dict[str, Any]:
        """Return plain values for the page's script."""
        keys = ("name", "table", "spec", "most", "rows", "step")
        return {key: getattr(self, key) for key in keys}


@cache
def colours() -> tuple[str, ...]:
    """Return the colours of the house style, as in the other figures."""
    from matplotlib import rc_params_from_file

    cycle = rc_params_from_file(STYLE, use_default_template=False)["axes.prop_cycle"]
    return tuple(dict.fromkeys(f"#{one['color'].lstrip('#')}" for one in cycle))


def figures(policies: Sequence[str], baseline: str, by: str, felt: str) -> list[Figure]:
    """Return the figures of a page; felt: name of the mean of a group's jobs."""
    marks = _Marks(policies)
    compared = marks.legend_of([one for one in policies if one != baseline])
    place = {
        "field": "place",
        "type": "nominal",
        "sort": None,
        "title": None,
        "axis": {"labelLimit": 110, "domain": False, "ticks": False, "grid": True},
    }
    against = f"change against {baseline}, %"
    zero = {
        "mark": {"type": "rule", "color": "#555"},
        "encoding": {"x": {"datum": 0}, "y": None, "yOffset": None},
    }
    tens = [sign * 10**n for sign in (-1, 1) for n in range(8)]
    powers = {
        "scale": {"type": "symlog"},
        "axis": {"values": [0, *tens], "format": ",d", "labelOverlap": True},
    }
    return [
        Figure(
            "weeks",
            "weeks",
            "Simulated and logged waits by week",
            "Mean wait of the jobs submitted in each week of the log: a line for each policy, and "
            "a dashed one as logged by the site's own scheduler.",
            {
                "height": 220,
                "encoding": {
                    "x": {"field": "week", "type": "quantitative", "title": "week",
                          "axis": {"tickMinStep": 1}},
                    "y": {"field": "wait", "type": "quantitative", "title": "mean wait, s"},
                    "color": {
                        "field": "series",
                        "type": "nominal",
                        **marks.legend_of([*policies, LOGGED]),
                        "scale": {"domain": [*policies, LOGGED],
                                  "range": [*marks.colours, LOGGED_COLOUR]},
                    },
                    "detail": [{"field": "trace"}, {"field": "load"}],
                },
                "layer": [
                    {
                        "mark": {"type": "line"},
                        "encoding": {
                            "strokeDash": {
                                "condition": {"test": f"datum.series == '{LOGGED}'",
                                              "value": [5, 3]},
                                "value": [1, 0],
                            },
                        },
                    },
                    {
                        "mark": {"type": "point", "filled": True, "size": 20, "opacity": 1},
                        "encoding": {"tooltip": _tooltips("trace", "load", "series", "week",
                                                          "wait")},
                    },
                ],
            },
            "near",
            most=5_000,
        ),
        Figure(
            "changes",
            "comparison",
            "Change of the mean, with its interval",
            "A dot for the change of the mean and a line for its interval, for each trace and "
            "load. A line that crosses 0 does not show a difference.",
            {
                "encoding": {
                    "y": {**place, "scale": {"paddingInner": 0.4}},
                    "yOffset": {"field": "policy", "type": "nominal", "scale": marks.order},
                },
                "layer": [
                    zero,
                    {
                        "mark": {"type": "rule", "size": 2},
                        "encoding": {
                            "x": {"field": "low", "type": "quantitative", "title": against},
                            "x2": {"field": "high"},
                            "color": {**marks.colour, **compared},
                        },
                    },
                    {
                        "mark": {"type": "point", "filled": True, "size": 55, "opacity": 1},
                        "encoding": {
                            "x": {"field": "change", "type": "quantitative", "title": against},
                            "color": {**marks.colour, **compared},
                            "shape": {**marks.shape, **compared},
                            "tooltip": _tooltips("trace", "load", "policy", "change", "low",
                                                 "high", "pairs"),
                        },
                    },
                ],
            },
            "compare",
            most=400,
            rows="place",
            step=8 + 11 * max(len(policies) - 1, 1),
        ),
        Figure(
            "levels",
            "levels",
            "Values by load",
            "A line through the middle of the samples, a band from low to high, and a white "
            "diamond for the log itself. A dashed line is the mean as logged, at the log's own "
            "load.",
            {
                "height": 260,
                "encoding": {
                    "x": {"field": "load", "type": "nominal", "sort": None, "title": "load",
                          "axis": {"labelAngle": 0}},
                    "color": marks.colour,
                    "detail": {"field": "trace", "type": "nominal"},
                },
                "layer": [
                    {
                        "mark": {"type": "rule", "strokeDash": [5, 3]},
                        "encoding": {
                            "y": {"field": "logged", "type": "quantitative",
                                  "aggregate": "mean", "title": METRIC},
                            "x": None,
                            "color": {"value": LOGGED_COLOUR},
                        },
                    },
                    {
                        "mark": {"type": "area", "opacity": FILL},
                        "encoding": {
                            "y": {"field": "low", "type": "quantitative", "title": METRIC},
                            "y2": {"field": "high"},
                        },
                    },
                    {
                        "mark": {"type": "rule", "opacity": 0.5},
                        "encoding": {
                            "y": {"field": "low", "type": "quantitative", "title": METRIC},
                            "y2": {"field": "high"},
                        },
                    },
                    {
                        "mark": {"type": "line", "strokeWidth": LINE_WIDTH},
                        "encoding": {
                            "y": {"field": "middle", "type": "quantitative", "title": METRIC},
                            "strokeDash": marks.dash,
                        },
                    },
                    {
                        "mark": {"type": "point", "filled": True, "size": 50, "opacity": 1},
                        "encoding": {
                            "y": {"field": "middle", "type": "quantitative", "title": METRIC},
                            "shape": marks.shape,
                            "tooltip": _tooltips("trace", "load", "policy", "middle", "low",
                                                 "high", "own"),
                        },
                    },
                    {
                        "mark": {"type": "point", "shape": "diamond", "filled": True,
                                 "fill": "white", "stroke": "black", "strokeWidth": 1,
                                 "size": 60, "opacity": 1},
                        "encoding": {
                            "y": {"field": "own", "type": "quantitative", "title": METRIC},
                            "tooltip": _tooltips("trace", "load", "policy", "own"),
                        },
                    },
                ],
            },
            "bands",
        ),
        Figure(
            "samples",
            "samples",
            "Change in each sample",
            "A tick for each sample: how much the policy changes its mean.",
            {
                "encoding": {
                    "y": {"field": "policy", "type": "nominal", "sort": list(policies),
                          "title": None, "axis": {"labelLimit": 110}},
                },
                "layer": [
                    zero,
                    {
                        "mark": {"type": "tick", "opacity": 0.6, "thickness": 1.5},
                        "encoding": {
                            "x": {"field": "change", "type": "quantitative", "title": against},
                            "color": {**marks.colour, "legend": None},
                            "tooltip": _tooltips("trace", "load", "policy", "resample", "change"),
                        },
                    },
                ],
            },
            "compare",
            most=5_000,
            rows="policy",
            step=28,
        ),
        Figure(
            "groups",
            "groups",
            "Who gains, who loses",
            f"A mark for each {by} among those who gain or lose most: {felt} under {baseline}, "
            "and its change under the policy. Above 0 a longer wait.",
            {
                "height": 260,
                "layer": [
                    {"mark": {"type": "rule", "color": "#555"}, "encoding": {"y": {"datum": 0}}},
                    {
                        "mark": {"type": "point", "filled": True, "opacity": 0.75},
                        "encoding": {
                            "x": {"field": "before", "type": "quantitative",
                                  "title": f"{felt} (under {baseline})", **powers},
                            "y": {"field": "change", "type": "quantitative",
                                  "title": f"change of {felt}", **powers},
                            "color": {**marks.colour, **compared},
                            "shape": {**marks.shape, **compared},
                            "size": {"field": "jobs", "type": "quantitative",
                                     "title": "% of the jobs", "legend": None},
                            "tooltip": _tooltips("group", "trace", "load", "policy", "before",
                                                 "after", "change", "jobs"),
                        },
                    },
                ],
            },
            "groups",
        ),
    ]  # fmt: skip


class _Marks:
    """Return each policy's colour and shape, by the policy's index on the page."""

    def __init__(self, policies: Sequence[str]) -> None:
        known, cycle = list(policies), colours()
        self.colours = [cycle[i % len(cycle)] for i in range(len(known))]
        shapes = [SHAPES[MARKERS[i % len(MARKERS)]] for i in range(len(known))]
        dashes = [_dash(DASHES[i % len(DASHES)]) for i in range(len(known))]
        field: dict[str, Any] = {"field": "policy", "type": "nominal", **self.legend_of(known)}
        self.order: dict[str, Any] = {"domain": known}
        self.colour: dict[str, Any] = {**field, "scale": {**self.order, "range": self.colours}}
        self.shape: dict[str, Any] = {**field, "scale": {**self.order, "range": shapes}}
        self.dash: dict[str, Any] = {**field, "scale": {**self.order, "range": dashes}}

    @staticmethod
    def legend_of(labels: Sequence[str]) -> dict[str, Any]:
        """Return a legend with some labels, placed below the figure."""
        look = {"orient": "bottom", "columns": 2, "title": None, "labelLimit": 140,
                "symbolOpacity": 1, "values": list(labels)}  # fmt: skip
        return {"legend": look}


def _dash(style: Any) -> list[float]:
    """Return a line style of matplotlib as lengths of dashes and gaps, pixels."""
    return [1, 0] if style == "-" else [LINE_WIDTH * length for length in style[1]]


def _tooltips(*names: str) -> list[dict[str, str]]:
    return [{"field": name} for name in names]
