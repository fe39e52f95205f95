"""Conclusions of Klusacek and Rudova (JSSPP 2012, section 5.2) as ratios, counted log by log.

A cell is a log or a sample, at a load, and another algorithm. Its ratio is the measure under the
first algorithm divided by that under the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pandas as pd
import xarray as xr

from schedfarm.analysis.papers.claim import (
    ABOVE,
    ALL,
    BELOW,
    EXPECTED,
    KEY,
    MOST,
    OFTEN,
    ONCE,
    Claim,
    count,
    in_part,
)
from schedfarm.analysis.papers.klusacek_2012.measures import (
    AREA,
    CELL,
    HIGH,
    MEASURES,
    SD,
    WITHOUT_F,
)
from schedfarm.analysis.papers.klusacek_2012.printed import (
    BACKFILLING,
    BF,
    CONS,
    EASY,
    FAIR,
    FCFS,
    TABU,
)
from schedfarm.analysis.papers.tables import BAND, STANDING, band_table
from schedfarm.analysis.store import of_samples

PERFORMANCE = ("wait", "response", "bounded_slowdown")

FAIRNESS = ("nuwt_mean", SD, AREA)
"""Measures of fairness; on `AREA`, the paper states that a curve is steeper."""

OTHER = "other"
"""Level of the other algorithm in an index of cells."""

WORKLOAD = ["trace", "resample", "load"]
"""Levels of a log or a sample in an index of cells."""

COUNTED = ["cells", "as_expected", "workloads", "wholly", "median", "least", "most"]
"""Columns of the tables of claims."""


def _ratios(
    quote: str,
    measures: Sequence[str],
    one: str,
    others: Sequence[str],
    expects: str,
    extent: str,
    trace: str = "",
) -> Iterator[Claim]:
    """Yield a claim for each measure: `one` algorithm against each of the others.

    `trace` restricts the claim to one log.
    """
    label = f"{one} / {', '.join(others)}" + (f" on {trace}" if trace else "")
    policies = (one, *others)
    for measure in measures:

        def cells(values: xr.Dataset, measure: str = measure) -> xr.DataArray:
            of = values[measure].sel(trace=[trace]) if trace else values[measure]
            than = of.sel(algorithm=list(others)).rename(algorithm=OTHER)
            ratio = of.sel(algorithm=one, drop=True) / than
            return ratio.transpose(*WORKLOAD, OTHER)

        yield Claim(label, cells, expects, extent, measure, quote, trace, policies)


def conclusions(search: str = TABU) -> tuple[Claim, ...]:
    """Return the paper's conclusions, with a variant of its search instead of TS.

    A conclusion on one log has this log as its `where`.
    """
    return (
        *_ratios(
            "In all experiments FCFS performed very bad ... off-scale high; Especially FCFS is "
            "truly unfair for users as can be seen in the CDFs",
            *((*PERFORMANCE, *FAIRNESS), FCFS, (*BACKFILLING, FAIR, search), ABOVE, ALL),
        ),
        *_ratios(
            "original Conservative backfilling does not work very well ... as both BF-EASY or BF "
            "produce better results in most cases",
            *(("wait", "response"), CONS, (BF, EASY), ABOVE, MOST),
        ),
        *_ratios(
            "the slowdown ... is often slightly better for BF-CONS",
            *(("bounded_slowdown",), CONS, (BF, EASY), BELOW, OFTEN),
        ),
        *_ratios("BF-FAIR is also competitive", *(PERFORMANCE, FAIR, BACKFILLING, BELOW, OFTEN)),
        *_ratios(
            "in case of SDSC SP2 it does not perform very well with respect to the avg. wait time",
            *(("wait",), FAIR, BACKFILLING, ABOVE, ONCE, "SDSC-SP2"),
        ),
        *_ratios(
            "TS produces the best wait times, response times and slowdowns in all six cases",
            *(PERFORMANCE, search, (FCFS, *BACKFILLING, FAIR), BELOW, ALL),
        ),
        *_ratios(
            "TS significantly improves the otherwise relatively weak performance",
            *(PERFORMANCE, search, (CONS,), BELOW, ALL),
        ),
        *_ratios(
            "In most situations BF-FAIR generates better, i.e., steeper CDFs ... as well as "
            "better, i.e., lower mean values and standard deviations than FCFS or other "
            "backfilling algorithms",
            *(FAIRNESS, FAIR, (FCFS, *BACKFILLING), BELOW, MOST),
        ),
        *_ratios(
            "BF, BF-EASY and BF-CONS produce worse results than BF-FAIR or TS in most cases",
            *(FAIRNESS, search, (FCFS, *BACKFILLING), BELOW, MOST),
        ),
        *(
            claim
            for one in (FAIR, search)
            for claim in _ratios(
                "there are typically several users with very high (unfair) NUWT when BF, BF-EASY "
                "or BF-CONS is used",
                *((HIGH,), one, BACKFILLING, BELOW, MOST),
            )
        ),
        *_ratios(
            "TS can guarantee fairness on the same or even higher level as BF-FAIR algorithm does",
            *(FAIRNESS, search, (FAIR,), BELOW, MOST),
        ),
    )


CLAIMS = conclusions()

ABLATION = tuple(
    _ratios(
        "thanks to the applied extensions that involve schedule evaluation and optimization",
        *((*FAIRNESS, HIGH), TABU, (WITHOUT_F,), BELOW, ALL),
    )
)
"""Claims on the criterion of fairness F, one of the paper's extensions, counted by seed."""


def _there(values: xr.Dataset, of: Iterable[Claim]) -> list[Claim]:
    """Return the claims, except claims on logs that the store lacks."""
    return [claim for claim in of if claim.where in ("", *values["trace"].values.tolist())]


def claims_in_part(values: xr.Dataset, of: Iterable[Claim] = CLAIMS) -> pd.DataFrame:
    """Return the ratio of each cell of each conclusion, and the agreement of the cell."""
    return in_part(_there(values, of), values)


def claims(parts: pd.DataFrame) -> pd.DataFrame:
    """Count the cells of each conclusion, and the workloads in which all cells agree with it."""
    return count(parts, within=[OTHER])[COUNTED]


def claims_over_samples(values: xr.Dataset) -> pd.DataFrame:
    """Return the bands of the ratios over samples, each paired within its sample.

    ``as_expected`` is the number of samples that agree with the conclusion.
    """
    parts = {}
    for claim in _there(values, CLAIMS):
        ratio = claim.cells(values)
        parts[claim.key] = band_table(
            ratio.where(np.isfinite(ratio)),
            ["trace", "load", OTHER],
            [*BAND, *STANDING, "as_expected"],
            as_expected=EXPECTED[claim.expected](of_samples(ratio)).sum("resample"),
        )
    return pd.concat(parts, names=list(KEY))


def seeds_table(searched: xr.Dataset, values: xr.Dataset) -> pd.DataFrame:
    """Return the spread of each measure over the seeds of a search.

    Also return, for each other algorithm of the paper, the number of seeds with a smaller value.
    Both datasets contain logs only; the paper has one seed.
    """
    others = [name for name in values["algorithm"].values.tolist() if name != TABU]
    parts = {}
    for measure in MEASURES:
        of = searched[measure].squeeze("resample", drop=True)
        than = values[measure].squeeze("resample", drop=True)
        columns = {
            "seeds": of.count("seed"),
            "least": of.min("seed"),
            "median": of.median("seed"),
            "most": of.max("seed"),
        }
        for name in others:
            columns[f"below_{name}"] = (of < than.sel(algorithm=name, drop=True)).sum("seed")
        parts[measure] = xr.Dataset(columns).to_dataframe(dim_order=CELL)[list(columns)]
    return pd.concat(parts, names=["measure"])


def claims_over_seeds(searched: xr.Dataset, values: xr.Dataset) -> pd.DataFrame:
    """Return the cells of each conclusion on TS, and on TS without F, for each seed.

    `ABLATION` is added if the store has both searches.
    """
    there = searched["algorithm"].values.tolist()
    of = [claim for name in there for claim in conclusions(name) if name in claim.policies]
    of += [claim for claim in ABLATION if set(claim.policies) <= set(there)]
    rest = values.drop_sel(algorithm=TABU)
    parts = {
        seed: claims_in_part(xr.concat([rest, searched.sel(seed=seed, drop=True)], "algorithm"), of)
        for seed in searched["seed"].values.tolist()
    }
    joined: pd.DataFrame = pd.concat(parts, names=["seed"])
    return joined
