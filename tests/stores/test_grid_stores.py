"""Clusters in a campaign and in its store: where each job ran, and which clusters a log is of."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from schedfarm.core import Grid, Pool
from schedfarm.core.errors import InputError
from schedfarm.farm.campaign.samples import Samples
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.logs.registry import find
from schedfarm.farm.store.reading import job_table
from tests.stores.platforms import GRID, IN_POOL, KINDS, ON_GRID
from tests.support.command_line import farm_in
from tests.support.made import MadeStores


def test_plain_xarray_knows_the_clusters(made_store: MadeStores) -> None:
    """A cluster is a number in an array and a name in an attribute; a pool's trace has neither."""
    kind = next(kind for kind in KINDS if kind.platform == GRID)
    store = made_store(kind.on_a_pool(ON_GRID))
    grid = xr.open_zarr(store / "results.zarr", group="grid")
    assert grid.place.dims == grid.wait.dims
    assert ((grid.place >= 0) == (grid.wait >= 0)).all()
    assert json.loads(grid.attrs["places"]) == ["east wing", "west wing"]
    pool = xr.open_zarr(store / "results.zarr", group=IN_POOL.name)
    assert "places" not in pool.attrs
    at = {"trace": IN_POOL.name, "policy": "fcfs+easy", "resample": 1}
    assert "place" not in job_table(store, **at)


def test_the_clusters_of_a_log() -> None:
    """A grid without configuration is that of the named log, and is kept in full."""
    trace = Trace(log="METACENTRUM", platform={"name": "grid"})
    entry = find("METACENTRUM")
    assert entry is not None
    assert trace.machine == entry.grid
    assert sum(entry.clusters) == entry.processors
    assert trace.to_dict()["platform"] == trace.machine.to_dict()
    assert Trace(**trace.to_dict()) == trace
    assert Trace(log="METACENTRUM").machine is None


def test_rows_say_which_cluster(traces: Path) -> None:
    """Field 16 of the log has the numbers of the clusters, in the order of the registry."""
    log = Trace(log="METACENTRUM", platform={"name": "grid"}).located(traces).read()
    assert log is not None
    assert set(np.unique(log.partition)) == set(range(1, len(log.platform.places) + 1))
    assert log.platform.places[:2] == ("cluster1", "cluster2")
    assert dict(log.dropped) == {}
    plain = Trace(log="METACENTRUM").located(traces).read()
    assert plain is not None
    assert plain.platform == Pool(806)


@pytest.mark.parametrize(
    "keys", [{"log": "KTH-SP2"}, {"file": "a.swf"}, {"name": "m", "model": "lublin", "jobs": 9}]
)
def test_a_grid_without_configuration__is_refused(keys: dict[str, object]) -> None:
    """Only a log of which the registry knows the clusters has any to take."""
    with pytest.raises(InputError, match=r"needs a log with known clusters, log = 'META"):
        Trace(**keys, platform={"name": "grid"})


def test_a_job_wider_than_every_cluster__is_dropped_and_counted() -> None:
    """Together the clusters would be wide enough for each."""
    small = replace(ON_GRID, platform=Grid([8, 16], ["a", "b"]).to_dict())
    settings = {"seed": 0, "draw": "replace", "load_by": "runtime"}
    jobs = Samples(small, None, settings).at(1, "original")
    assert jobs.dropped["not admitted"] + len(jobs) == 80
    assert 8 < jobs.procs.max() <= 16


def test_simulated_from_the_command_line(tmp_path: Path, traces: Path) -> None:
    """`--grid` takes the clusters of the log."""
    given = ("--traces", str(traces), "--policy", "fcfs+easy", "--jobs", "300", "--grid")
    ended = farm_in(tmp_path, "simulate", "METACENTRUM", *given)
    assert ended.exit_code == 0, ended
    assert "on 14 clusters with 806 processors under fcfs+easy" in ended.stdout
    ended = farm_in(tmp_path, "simulate", "KTH-SP2", *given)
    assert ended.exit_code == 2
    assert "--grid: the clusters of log 'KTH-SP2' are not known" in ended.stderr
