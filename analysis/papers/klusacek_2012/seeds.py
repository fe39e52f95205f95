"""How far the draws of a search decide what becomes of TS, and what its criterion of fairness adds.

Klusacek and Rudova (JSSPP 2012) say of neither: they have one run, and F in every search.
"""

from __future__ import annotations

import pandas as pd
import xarray as xr

from schedfarm.analysis.papers.klusacek_2012.claims import (
    ALL,
    BELOW,
    CLAIMS,
    FAIRNESS,
    Claim,
    claims_in_part,
)
from schedfarm.analysis.papers.klusacek_2012.measures import HIGH, MEASURES
from schedfarm.analysis.papers.klusacek_2012.names import TABU, WITHOUT_F

ABLATION = tuple(Claim(m, TABU, (WITHOUT_F,), BELOW, ALL) for m in (*FAIRNESS, HIGH))
"""TS is fair "thanks to the applied extensions that involve schedule evaluation and optimization",
of which F is the criterion of fairness: counted seed by seed."""

SPREAD = ("seeds", "least", "median", "most")
"""What is said of the seeds of a log; beside it, how many of them are below each algorithm."""


def seeds_table(searched: xr.Dataset, values: xr.Dataset) -> pd.DataFrame:
    """Return how the seeds of a search differ, and how many are below each other algorithm.

    Parameters
    ----------
    searched : Dataset
        From `measures.measures`, named by `names.by_search`, of logs.
    values : Dataset
        From `measures.measures`, of the same logs.

    Returns
    -------
    DataFrame
        Indexed by (measure, trace, load, algorithm): `SPREAD`, and for each algorithm of the paper
        that is no search the number of seeds with a smaller value.
    """
    others = [name for name in values["algorithm"].values.tolist() if name != TABU]
    parts = {}
    for measure in MEASURES:
        of = searched[measure].squeeze("resample", drop=True)
        spread = {
            "seeds": of.count("seed"),
            "least": of.min("seed"),
            "median": of.median("seed"),
            "most": of.max("seed"),
        }
        than = values[measure].squeeze("resample", drop=True)
        below = {f"below_{name}": (of < than.sel(algorithm=name, drop=True)).sum("seed")
                 for name in others}  # fmt: skip
        frame = xr.Dataset(spread | below).to_dataframe(dim_order=["trace", "load", "algorithm"])
        parts[measure] = frame[[*spread, *below]]
    return pd.concat(parts, names=["measure"])


def claims_over_seeds(searched: xr.Dataset, values: xr.Dataset) -> pd.DataFrame:
    """Return the ratio of each cell of each conclusion on TS under each seed.

    Parameters
    ----------
    searched, values
        As of `seeds_table`.

    Returns
    -------
    DataFrame
        As from `claims.claims_in_part`, with a level ``seed`` before the others: conclusions on TS,
        the same of TS without F, and `ABLATION`, as far as the store has the search.
    """
    there = searched["algorithm"].values.tolist()
    on_search = [claim for claim in CLAIMS if TABU in (claim.one, *claim.others)]
    of = [claim.of(name, instead=TABU) for name in there for claim in on_search]
    of += [claim for claim in ABLATION if {claim.one, *claim.others} <= set(there)]
    rest = values.drop_sel(algorithm=TABU)
    parts = {
        seed: claims_in_part(xr.concat([rest, searched.sel(seed=seed, drop=True)], "algorithm"), of)
        for seed in searched["seed"].values.tolist()
    }
    joined: pd.DataFrame = pd.concat(parts, names=["seed"])
    return joined
