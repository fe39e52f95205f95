"""Clusters from the campaign's file to the store and back: where each job ran is kept."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
import zarr

import farm
from core import Grid, Pool, simulate
from core.errors import InputError
from farm.campaign.campaign import Campaign
from farm.campaign.samples import jobs_of
from farm.campaign.trace import Trace
from farm.execution.runner import begin
from farm.execution.task import run_task
from farm.logs.registry import find
from farm.store.reading import job_table, schedule_of
from farm.store.store import Store
from farm.verify import Again, repair, verify
from tests.farm.harness import assert_same_results, records
from tests.farm.harness import farm as farm_process

POLICIES = ("fcfs+easy", "lxf+aggressive", "saf+conservative")

GRID = Grid([48, 64], ["east wing", "west wing"])

ON_GRID = Trace(name="grid", model="lublin", jobs=80, platform=GRID.to_dict())

IN_POOL = Trace(name="pool", model="lublin", jobs=50, processors=64)

MINE = '''
def on_the_first(counted):
    """Share of the jobs that ran on the first cluster."""
    return (counted.schedule.place == 0).mean()
'''


def campaign(*traces: Trace, resamples: int = 3) -> Campaign:
    return Campaign(name="clusters", traces=traces, policies=POLICIES, resamples=resamples)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of a grid beside a pool that nothing happened to."""
    path = tmp_path_factory.mktemp("sound") / "store"
    assert farm.run(campaign(ON_GRID, IN_POOL), path).failed == 0
    return path


@pytest.mark.parametrize("policy", POLICIES)
def test_a_schedule_comes_back_with_its_places(sound: Path, policy: str) -> None:
    """As it was simulated: starts, flags, and on which cluster each job ran."""
    cell = schedule_of(sound, trace="grid", policy=policy, resample=2)
    again = simulate(cell.workload, policy)
    assert cell.workload.platform == GRID
    assert cell.start.tolist() == again.start.tolist()
    assert cell.place.tolist() == again.place.tolist()
    assert set(cell.place.tolist()) == {0, 1}
    table = job_table(sound, trace="grid", policy=policy, resample=2)
    assert table.place.tolist() == again.place.tolist()
    assert "place" not in job_table(sound, trace="pool", policy=policy, resample=2)


def test_plain_xarray_knows_the_clusters(sound: Path) -> None:
    """By number in an array, by name in an attribute; a trace of a pool has neither."""
    grid = xr.open_zarr(sound / "results.zarr", group="grid")
    assert grid.place.dims == grid.wait.dims
    assert ((grid.place >= 0) == (grid.wait >= 0)).all()
    assert json.loads(grid.attrs["places"]) == ["east wing", "west wing"]
    pool = xr.open_zarr(sound / "results.zarr", group="pool")
    assert "place" not in pool
    assert "places" not in pool.attrs


def test_interrupted_and_resumed__is_the_same_store(sound: Path, tmp_path: Path) -> None:
    """What was done before stays, and the whole is that of an undisturbed run."""
    wanted = campaign(ON_GRID, IN_POOL)
    with begin(wanted, tmp_path / "store") as prepared:
        for task in prepared.tasks[: len(prepared.tasks) // 2]:
            run_task(task)
    outcome = farm.run(wanted, tmp_path / "store")
    assert 0 < outcome.before < outcome.cells
    assert outcome.failed == 0
    assert_same_results(tmp_path / "store", sound)


def test_a_sound_store_has_no_fault(sound: Path) -> None:
    """All cells are simulated again, and every place compared."""
    assert list(verify(sound, Again(100))) == []


def test_an_altered_place_is_found(sound: Path, tmp_path: Path) -> None:
    """A job that the store has on the other cluster is found, not read, and run again."""
    store = Path(shutil.copytree(sound, tmp_path / "store"))
    array = zarr.open_group(store / "results.zarr", mode="r+")["grid/place"]
    values = array[...]
    values[1, 0, 0, 7] = 1 - values[1, 0, 0, 7]
    array[...] = values
    faults = list(verify(store, Again(0)))
    assert [fault.name for fault in faults] == ["results.zarr/grid/place"]
    with pytest.raises(InputError, match=r"place of block grid/cells/\S+ is not what its record"):
        schedule_of(store, trace="grid", policy=POLICIES[0], resample=2)
    repair(store, faults)
    assert farm.run(campaign(ON_GRID, IN_POOL), store).failed == 0
    assert_same_results(store, sound)


def test_a_store_of_pools__is_as_it_was(sound: Path, tmp_path: Path) -> None:
    """No array, attribute or description tells of clusters; a grid that joins alters no block."""
    alone = tmp_path / "alone"
    farm.run(campaign(IN_POOL), alone)
    assert "place" not in {v.name for v in Store.open(alone).holds["cells"].arrays}
    before = records(alone)
    outcome = farm.run(campaign(IN_POOL, ON_GRID), alone)
    assert outcome.before == outcome.cells // 2
    after = records(alone)
    assert {name: after[name] for name in before} == before
    assert list(verify(alone, Again(0))) == []
    for name in ("wait", "place"):
        group = zarr.open_group(sound / "results.zarr", mode="r")["grid"]
        grown = zarr.open_group(alone / "results.zarr", mode="r")["grid"]
        assert (grown[name][...] == group[name][...]).all()


def test_a_metric_that_is_learnt__knows_the_places(
    sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is computed from what is stored, without a simulation."""
    store = Path(shutil.copytree(sound, tmp_path / "store"))
    (tmp_path / "mine.py").write_text(MINE)
    more = replace(campaign(ON_GRID, IN_POOL), metrics=("mine:on_the_first",), folder=tmp_path)
    monkeypatch.setattr("farm.execution.cell.simulate", None)
    assert farm.run(more, store).failed == 0
    root = xr.open_zarr(store / "results.zarr")
    place = schedule_of(store, trace="grid", policy=POLICIES[0], resample=1).place
    found = root.on_the_first.sel(trace="grid", policy=POLICIES[0], resample=1)
    assert found.values.item() == np.mean(place == 0)
    assert (root.on_the_first.sel(trace="pool") == 1).all()


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
    with pytest.raises(InputError, match=r"clusters of a named log; they are known of log = 'META"):
        Trace(**keys, platform={"name": "grid"})


def test_a_job_wider_than_every_cluster__is_dropped_and_counted() -> None:
    """Together the clusters would be wide enough for each."""
    small = replace(ON_GRID, platform=Grid([8, 16], ["a", "b"]).to_dict())
    jobs = jobs_of(
        small, None, seed=0, resample=1, draw="replace", load="original", load_by="runtime"
    )
    assert jobs.dropped["not admitted"] + len(jobs) == 80
    assert 8 < jobs.procs.max() <= 16


def test_simulated_from_the_command_line(tmp_path: Path, traces: Path) -> None:
    """`--grid` takes the clusters of the log."""
    given = ("--traces", str(traces), "--policy", "fcfs+easy", "--jobs", "300", "--grid")
    ended = farm_process(tmp_path, "simulate", "METACENTRUM", *given)
    assert ended.returncode == 0, ended
    assert "on 14 clusters with 806 processors under fcfs+easy" in ended.stdout
    ended = farm_process(tmp_path, "simulate", "KTH-SP2", *given)
    assert ended.returncode == 2
    assert "platform 'grid' without a configuration" in ended.stderr
