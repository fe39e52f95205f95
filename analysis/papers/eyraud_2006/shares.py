"""Where shelves overtake FCFS: differences against the shares of constrained jobs."""

from __future__ import annotations

import pandas as pd
import xarray as xr

from schedfarm.analysis.papers.eyraud_2006.differences import CELL
from schedfarm.analysis.papers.spread import BAND, STANDING, spread
from schedfarm.analysis.place import StoreName
from schedfarm.analysis.store import campaign_traces, of_samples

SHARES = ("properties", "reservations")
"""Keys of a trace's table `nodes`: shares of the jobs."""


def shares_of(store: StoreName) -> pd.DataFrame:
    """Return the shares of jobs with properties and with reservations that each trace asks for.

    Parameters
    ----------
    store : str or path
        The store's folder or address.

    Returns
    -------
    DataFrame
        Indexed by trace: ``source``, the name of the log or model, and `SHARES`; without the traces
        that are alike another in all but shares, none: a store of single shares has no rows.
    """
    rows = {}
    for name, keys in campaign_traces(store).items():
        if "nodes" in keys:
            source = keys.get("log") or keys.get("file") or keys.get("model")
            rows[name] = [str(source), *(float(keys["nodes"][share]) for share in SHARES)]
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=["source", *SHARES])
    several = frame.groupby("source")[list(SHARES)].transform("nunique").max(axis=1) > 1
    frame.index.name = "trace"
    return frame[several.reindex(frame.index, fill_value=False).astype(bool)]


def shares_table(values: xr.Dataset, shares: pd.DataFrame) -> pd.DataFrame:
    """Return the mean difference of all start times against the shares, with its band.

    Parameters
    ----------
    values : Dataset
        As `analysis.papers.eyraud_2006.differences.measured` returns it, of samples and maybe of
        the logs themselves.
    shares : DataFrame
        As `shares_of` returns it.

    Returns
    -------
    DataFrame
        Indexed by (trace, load, policy): ``source``, `SHARES`, `BAND` in hours, ``better``, in how
        many samples jobs start earlier on average, and `STANDING`.
    """
    mean = values["mean_of_all"].sel(trace=shares.index.tolist())
    found = spread(mean).assign(better=(of_samples(mean) > 0).sum("resample"))
    frame = found.to_dataframe(dim_order=list(CELL))[[*BAND, "better", *STANDING]]
    joined: pd.DataFrame = shares.join(frame, how="right")
    return joined.sort_values(["source", *SHARES], kind="stable")
