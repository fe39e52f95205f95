"""Conclusions of Sabin and Sadayappan (JSSPP 2005, section 5) as ratios, counted cell by cell.

A cell is a trace at a load under an order, in comparisons of rules; or under a rule, in comparisons
of orders. Its ratio is the unfairness of the first policy divided by that of the second.
"""

from __future__ import annotations

from itertools import product
from typing import TypeAlias

import numpy as np
import pandas as pd
import xarray as xr

from schedfarm.analysis.papers.claim import (
    ABOVE,
    EITHER,
    EVERY,
    SOME_BELOW,
    Claim,
    count,
    in_part,
)
from schedfarm.analysis.papers.report import Numbers
from schedfarm.analysis.papers.sabin_2005.printed import RULES
from schedfarm.analysis.papers.sabin_2005.unfairness import (
    KINDS,
    REPLANNING,
    all_by_width,
    mean_unfairness,
)

ALL_JOBS, WIDE = "all", "> 128"
"""Jobs in a mean: all jobs, or jobs of the widest class of Table 1."""

_NONE, _AGGRESSIVE, _CONSERVATIVE = RULES.values()

READINGS = (_CONSERVATIVE, REPLANNING)
"""Readings of conservative backfilling: the paper's rule, and our second reading."""

Means: TypeAlias = dict[tuple[str, str], xr.DataArray]
"""Mean unfairness on (trace, load, order, rule), by kind and by the included jobs."""


def _ratio(
    quote: str,
    kind: str,
    one: str,
    other: str,
    expects: str,
    *,
    jobs: str = ALL_JOBS,
    under: str = EVERY,
    against: str = "",
) -> Claim:
    """Claim a range for the unfairness under `one` rule or order, relative to `other`.

    With another kind of fairness `against`, the number is the quotient of the ratios of both kinds.
    """
    parts = [f"{one} / {other}"]
    parts += [f"{jobs} processors"] if jobs != ALL_JOBS else []
    parts += [under] if under != EVERY else []
    parts += [f"{kind} / {against}"] if against else []
    axis, rest = ("rule", "order") if one in RULES.values() else ("order", "rule")

    def cells(means: Means) -> xr.DataArray:
        values = means[kind, jobs]
        if against:
            values = values / means[against, jobs]
        ratio = values.sel({axis: one}, drop=True) / values.sel({axis: other}, drop=True)
        ratio = ratio.rename({rest: "under"}).transpose("trace", "load", "under")
        return ratio if under == EVERY else ratio.sel(under=[under])

    return Claim(", ".join(parts), cells, expects, measure=kind, quote=quote, policies=(one, other))


def _than_both(quote: str, kind: str, expects: str, **more: str) -> list[Claim]:
    """Compare backfilling without guarantees with each of the two other rules."""
    others = (_AGGRESSIVE, _CONSERVATIVE)
    return [_ratio(quote, kind, _NONE, other, expects, **more) for other in others]


CLAIMS = (
    *_than_both(
        "no-guarantee backfilling is worse than aggressive or conservative backfilling",
        "strict",
        ABOVE,
    ),
    *_than_both(
        "cases where SJF no-guarantee is better than SJF conservative and SJF aggressive",
        "strict",
        SOME_BELOW,
        under="SJF",
    ),
    *(
        _ratio("SJF is generally more unfair than FCFS and LXF", "strict", "SJF", other, ABOVE)
        for other in ("FCFS", "LXF")
    ),
    _ratio(
        "no consistent trends showing LXF or FCFS to be more unfair than the other",
        *("strict", "LXF", "FCFS", EITHER),
    ),
    _ratio(
        "no conclusive evidence ... between aggressive and conservative backfilling",
        *("strict", _AGGRESSIVE, _CONSERVATIVE, EITHER),
    ),
    *_than_both(
        "wide jobs ... are treated extremely unfairly using a no-guarantee backfilling scheme",
        "strict",
        ABOVE,
        jobs=WIDE,
    ),
    *_than_both(
        "a no-guarantee backfilling or a SJF queuing priority are unfair", "relaxed", ABOVE
    ),
    *(
        _ratio(
            "a no-guarantee backfilling or a SJF queuing priority are unfair",
            *("relaxed", "SJF", other, ABOVE),
        )
        for other in ("FCFS", "LXF")
    ),
    *_than_both(
        "for all simulations ... more clearly shows no-guarantee backfilling to be unfair",
        "relaxed",
        ABOVE,
        against="strict",
    ),
    *(
        _ratio(
            "FCFS is either less unfair or extremely close to LXF and conservative backfilling is "
            "less unfair than aggressive backfilling; a clearer separation than strict",
            *("relaxed", one, other, ABOVE),
            against=against,
        )
        for against in ("", "strict")
        for one, other in (("LXF", "FCFS"), (_AGGRESSIVE, _CONSERVATIVE))
    ),
    *_than_both("the wide jobs are treated extremely unfairly", "relaxed", ABOVE, jobs=WIDE),
    *_than_both("a no-guarantee backfilling scheduling policy is very unfair", "resource", ABOVE),
    _ratio(
        "does not show any significant distinction between aggressive and conservative",
        *("resource", _AGGRESSIVE, _CONSERVATIVE, EITHER),
    ),
    *(
        _ratio(
            "does not show significant differences between different queuing priority orders",
            *("resource", one, other, EITHER),
        )
        for one, other in (("SJF", "FCFS"), ("SJF", "LXF"), ("LXF", "FCFS"))
    ),
    *_than_both("no guarantees treats wide job very unfairly", "resource", ABOVE, jobs=WIDE),
)
"""The paper's conclusions of section 5, in order."""

COUNTED = ["cells", "above_1", "median", "least", "most"]
"""Columns of the tables of claims."""

NAMES = ["kind", "claim", "expects", "conservative"]
"""Index of the table of claims; tables in parts add trace, and the order or rule of the cells."""


def depends_on_conservative(claim: Claim) -> bool:
    """Return whether a claim has cells under conservative backfilling."""
    return claim.policies[0] not in RULES.values() or _CONSERVATIVE in claim.policies


def claims_in_part(of: Numbers) -> pd.DataFrame:
    """Count the cells of each conclusion: all cells, by trace, and by order or rule.

    A conclusion with cells under conservative backfilling has rows for both `READINGS`.
    """
    means: Means = {(kind, ALL_JOBS): mean_unfairness(of, kind) for kind in KINDS}
    wide = of.once(all_by_width)
    means |= {(kind, WIDE): wide[kind].sel(width=WIDE, drop=True) for kind in KINDS}
    rules = means["strict", ALL_JOBS]["rule"].values
    parts = {}
    for reading in (one for one in READINGS if one in rules):
        read = {key: _read(values, reading) for key, values in means.items()}
        concerned = [
            claim for claim in CLAIMS if reading == _CONSERVATIVE or depends_on_conservative(claim)
        ]
        parts[reading] = in_part(concerned, read)
    cells = pd.concat(parts, names=["conservative"]).rename_axis(index={"measure": "kind"})
    cells = cells.droplevel("extent")
    return _with_totals(cells)


def _read(values: xr.DataArray, reading: str) -> xr.DataArray:
    """Return means under the paper's three rules, with a reading of the third rule."""
    chosen = values.sel(rule=[_NONE, _AGGRESSIVE, reading])
    return chosen.assign_coords(rule=list(RULES.values()))


def _with_totals(cells: pd.DataFrame) -> pd.DataFrame:
    """Count the cells by trace and by order or rule, with totals, in the order of `CLAIMS`."""
    by = [*NAMES, "trace", "under"]
    groups = cells.reset_index()
    totals = [
        groups.assign(**dict.fromkeys(over, EVERY))
        for over in ((), ("under",), ("trace",), ("trace", "under"))
    ]
    found = count(pd.concat(totals).set_index(by)[["ratio", "as_expected"]], by)[COUNTED]
    readings = cells.index.get_level_values("conservative").unique()
    rows = []
    for claim, reading in product(CLAIMS, readings):
        key = (claim.measure, claim.label, claim.expected)
        one = groups[(groups[NAMES] == [*key, reading]).all(axis=1)]
        places = product([EVERY, *one["trace"].unique()], [EVERY, *one["under"].unique()])
        rows += [(*key, reading, *place) for place in places] if len(one) else []
    frame = found.reindex(pd.MultiIndex.from_tuples(rows, names=by))
    whole = {"cells": np.int64, "above_1": np.int64}
    return frame.fillna(dict.fromkeys(whole, 0)).astype(whole)


def claims(of: Numbers) -> pd.DataFrame:
    """Return the rows of `claims_in_part` over all traces and under all orders or rules."""
    parts = of.once(claims_in_part)
    whole = (parts.reset_index()[["trace", "under"]] == EVERY).all(axis=1)
    return parts[whole.to_numpy()].droplevel(["trace", "under"])
