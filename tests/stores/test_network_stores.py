"""Clusters with links in a campaign and in its store, and the measures of each participant."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
import zarr

from schedfarm import analysis, farm
from schedfarm.core import InputError, by_origin, summarise
from schedfarm.core.machines.network.platform import Network
from schedfarm.core.machines.network.simulation import isolated_starts
from schedfarm.core.machines.pool.platform import Pool
from schedfarm.core.metrics.counted import Counted
from schedfarm.core.metrics.declared import metrics_over
from schedfarm.core.metrics.metric import ORIGIN
from schedfarm.core.own import sources
from schedfarm.core.policy.policy import Policy
from schedfarm.farm.cli.simulate import _as_json, _as_text
from schedfarm.farm.store.product import PRODUCTS, Holding, is_had
from schedfarm.farm.store.reading import schedule_of
from schedfarm.farm.store.store import Store
from tests.stores.platforms import CLUSTERS, IN_POOL, KINDS, NETWORK, ON_NETWORK
from tests.support.made import MadeStores

KIND = next(kind for kind in KINDS if kind.platform == NETWORK)

OTHERS = replace(
    ON_NETWORK, name="others", platform=Network([64, 32, 32], ["west", "east", "far"]).to_dict()
)

MINE = '''
from schedfarm.core.metrics.metric import Metric

def longest(counted):
    """Longest wait of the cluster's jobs."""
    return [counted.wait[counted.origin == k].max() for k in range(3)]

longest.over = "origin"

parts = Metric("parts", "1", "mean number of parts", lambda c: (
    len(c.schedule.segments.job) / len(c)), among=True)
'''


@pytest.fixture
def sound(made_store: MadeStores) -> Path:
    """Return a store that nothing has happened to."""
    return made_store(KIND.campaign(made_store))


def test_plain_xarray_knows_the_clusters(sound: Path) -> None:
    """By their names: whose jobs they are, and where they ran."""
    group = xr.open_zarr(sound / "results.zarr", group="network")
    assert group.on.dims == ("resample", "load", "policy", "job", "node")
    assert group.node.values.tolist() == group.origin.values.tolist() == list(CLUSTERS)
    at = {"resample": 1, "load": "original", "policy": KIND.policies[0]}
    cell = group.sel(at)
    assert (cell.on.sum("node") == cell.procs).all()
    mine = cell.job_origin == CLUSTERS.index("south")
    assert float(cell.wait.where(mine).mean()) == float(cell.origin_wait.sel(origin="south"))
    held = cell.on.where(mine) * (cell.end - cell.submit - cell.wait)
    away = float(held.sum() - held.sel(node="south").sum())
    assert float(cell.origin_received.sel(origin="south")) == away


@pytest.mark.parametrize("policy", KIND.policies)
def test_each_participant_is_measured(sound: Path, policy: str) -> None:
    """The store has what the schedule has; means over all follow from those of each."""
    cell = schedule_of(sound, trace="network", policy=policy, resample=1)
    group = xr.open_zarr(sound / "results.zarr", group="network")
    root = xr.open_zarr(sound / "results.zarr").sel(trace="network")
    at = {"resample": 1, "load": "original", "policy": policy}
    for name, values in by_origin(cell).items():
        assert group[name].sel(at).values.tolist() == values.tolist()
    found = summarise(cell)
    for name in ("migrated_share", "coallocated_share", "wait", "utilisation"):
        assert float(root[name].sel(at)) == found[name]
    mine = group.sel(at)
    mean = float((mine.origin_jobs * mine.origin_wait).sum() / mine.origin_jobs.sum())
    assert mean == pytest.approx(found["wait"])
    used = float((mine.origin_utilisation * np.array(NETWORK.sizes)).sum() / NETWORK.size)
    assert used == pytest.approx(found["utilisation"])
    assert float(mine.origin_given.sum()) == float(mine.origin_received.sum()) > 0


def test_nobody_gives_where_each_is_alone(made_store: MadeStores, tmp_path: Path) -> None:
    """Without sharing nothing is given, nobody is late, and there is nothing to gain."""
    alone = replace(KIND.campaign(made_store), policies=("fcfs+isolated(3)",), loads=("original",))
    alone = replace(alone, traces=(replace(ON_NETWORK, parameters={"most": 32}),), resamples=1)
    assert farm.run(alone, tmp_path / "store").failed == 0
    cell = xr.open_zarr(tmp_path / "store" / "results.zarr", group="network").squeeze()
    for name in ("origin_given", "origin_received", "origin_migrated_share", "origin_link_load"):
        assert cell[name].values.tolist() == [0, 0, 0]
    assert cell.origin_lateness_isolation.values.tolist() == [0, 0, 0]
    assert cell.origin_gain_isolation.values.tolist() == [0, 0, 0]
    assert (cell.fst_isolation == cell.submit + cell.wait).all()


@pytest.mark.parametrize("policy", KIND.policies)
def test_isolation_is_held_against_each_alone(sound: Path, policy: str) -> None:
    """A job wider than its cluster is never late, and has no gain."""
    cell = schedule_of(sound, trace="network", policy=policy, resample=1, load="0.9")
    jobs = cell.workload
    alone = isolated_starts(jobs, Policy.parse(policy))
    wide = jobs.procs > np.array(NETWORK.sizes)[jobs.origin]
    assert wide.any()
    assert (alone == -1).tolist() == wide.tolist()
    at = {"resample": 1, "load": "0.9", "policy": policy}
    group = xr.open_zarr(sound / "results.zarr", group="network").sel(at)
    root = xr.open_zarr(sound / "results.zarr").sel(at, drop=True).sel(trace="network")
    assert group.fst_isolation.values.tolist() == alone.tolist()
    late = np.where(wide, 0, np.maximum(cell.start - alone, 0))
    assert float(root.unfairness_isolation) == late.sum() / len(jobs)
    assert float(root.unfair_share_isolation) == np.count_nonzero(late) / len(jobs)
    for k, name in enumerate(CLUSTERS):
        mine = jobs.origin == k
        assert float(group.origin_lateness_isolation.sel(origin=name)) == late[mine].mean()
        gain = (alone - cell.start)[mine & ~wide].mean()
        assert float(group.origin_gain_isolation.sel(origin=name)) == gain


def test_isolation_is_refused_where_there_is_nobody_to_be_alone(
    made_store: MadeStores, tmp_path: Path
) -> None:
    """One sentence that names the trace, and no store."""
    pool = replace(KIND.campaign(made_store), traces=(IN_POOL,), policies=("fcfs+easy",))
    why = r"fairness 'isolation' compares each cluster of .* trace 'plain' is on a platform of kin"
    with pytest.raises(InputError, match=why):
        farm.run(pool, tmp_path / "store")
    assert not (tmp_path / "store").exists()


def test_an_altered_number_of_a_participant_is_not_read(
    made_store: MadeStores, tmp_path: Path
) -> None:
    """Bands of it are refused, with the array's name."""
    store = made_store.copy(KIND.campaign(made_store), tmp_path / "store")
    for name in ("origin_wait", "origin_gain_isolation"):
        array: Any = zarr.open_group(store / "results.zarr", mode="r+")[f"network/{name}"]
        array[...] = array[...] + 1
        with pytest.raises(analysis.StoreError, match=f"{name} of network does not match its"):
            analysis.bands(store, name)


def test_a_metric_of_each_participant_is_learnt(
    made_store: MadeStores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is computed from what is stored, without a simulation."""
    store = made_store.copy(KIND.campaign(made_store), tmp_path / "store")
    (tmp_path / "mine.py").write_text(MINE)
    more = replace(
        KIND.campaign(made_store), metrics=("mine:longest", "mine:parts"), folder=tmp_path
    )
    monkeypatch.setattr("schedfarm.farm.execution.cell.simulate", None)
    assert farm.run(more, store).failed == 0
    cell = schedule_of(store, trace="network", policy=KIND.policies[0], resample=1)
    at = {"policy": KIND.policies[0], "resample": 1, "load": "original"}
    group = xr.open_zarr(store / "results.zarr", group="network").sel(at)
    waits, origin = cell.wait, cell.workload.origin
    assert group.longest.values.tolist() == [waits[origin == k].max() for k in range(3)]
    assert cell.segments is not None
    parts = float(xr.open_zarr(store / "results.zarr").parts.sel(at).sel(trace="network"))
    assert parts == cell.segments.job.size / len(cell.workload)


def test_a_metric_of_participants_needs_some(made_store: MadeStores, tmp_path: Path) -> None:
    """Where no trace has any, a campaign that names one is refused."""
    (tmp_path / "mine.py").write_text(MINE)
    pool = replace(
        KIND.campaign(made_store),
        traces=(IN_POOL,),
        policies=("fcfs+easy",),
        fairness=(),
        metrics=("mine:longest",),
        folder=tmp_path,
    )
    with pytest.raises(InputError, match="'mine:longest' is one of participants, and no trace of"):
        farm.run(pool, tmp_path / "store")


def test_a_network_has_two_figures_more_and_its_clusters_as_labels(made_store: MadeStores) -> None:
    """A store of pools has neither."""
    pool, network = (
        {figure.name for figure in PRODUCTS["cells"].holding((), platforms).figures}
        for platforms in ([Pool(64)], [Pool(64), NETWORK])
    )
    assert network - pool == {"migrated_share", "coallocated_share"}
    store = Store.open(made_store(KIND.campaign(made_store)))
    assert store.parts("network") == {"node": CLUSTERS, "origin": CLUSTERS}


def test_a_pool_beside_a_network_has_no_metric_of_participants() -> None:
    """Whether it is ours or a user's, and after the way through the store's text, too."""
    own, platforms = ("mine:longest", "mine:parts"), (NETWORK, Pool(64))
    with sources({"mine": MINE}):
        held = PRODUCTS["cells"].holding(own, platforms)
    again = Holding.from_dict(json.loads(json.dumps(held.to_dict())))
    assert again == held
    among = {"longest", "parts", "migrated_share", "origin_wait"}
    for platform, there in ((NETWORK, among), (Pool(64), set())):
        had = {v.name for v in (*again.arrays, *again.figures) if is_had(v, platform)}
        assert among & had == there
        assert {"wait", "backfilled"} <= had


def test_bands_of_each_participant(made_store: MadeStores) -> None:
    """A block for each cluster, a line for each policy; each trace has its own clusters."""
    both = replace(
        KIND.campaign(made_store),
        traces=(ON_NETWORK, OTHERS),
        loads=("0.9",),
        resamples=2,
        fairness=(),
    )
    store = made_store(both)
    found = analysis.bands(store, "origin_wait", load="0.9")
    assert found["origin_wait"].dims == ("trace", "load", "origin", "policy", "band")
    group = xr.open_zarr(store / "results.zarr", group="network").sel(load="0.9")
    due = group.origin_wait.sel(origin="west", policy=KIND.policies[0])
    at = {"trace": "network", "load": "0.9", "origin": "west", "policy": KIND.policies[0]}
    assert float(found["origin_wait"].sel(at, drop=True).sel(band="max")) == float(due.max())
    text = analysis.table_text(found)
    assert "network, load 0.9, origin north" in text
    compared = analysis.compare(store, KIND.policies[1], metrics=["origin_response"], load="0.9")
    response = group.origin_response.sel(origin="north").sel(resample=slice(1, None))
    ratio = response.sel(policy=KIND.policies[0]) / response.sel(policy=KIND.policies[1])
    at |= {"metric": "origin_response, north"}
    del at["origin"]
    least = compared["sample_ratio"].sel(at).min()
    assert float(least) == float(ratio.min())
    table = analysis.table(analysis.bands(store, "origin_jobs"))
    places = list(dict.fromkeys((trace, who) for trace, _, who, _ in table.index))
    assert places == [("network", who) for who in CLUSTERS] + [
        ("others", who) for who in ("west", "east", "far")
    ]
    assert not table["missing"].any()


def test_a_schedule_is_told_for_each_participant(sound: Path) -> None:
    """A table with a column for each, and the same under its name in JSON."""
    cell = schedule_of(sound, trace="network", policy=KIND.policies[0], resample=1)
    text = _as_text(cell, None, 10, every=False).splitlines()
    begin_ = next(i for i, line in enumerate(text) if line.startswith("participants"))
    assert text[begin_].split()[1:] == list(CLUSTERS)
    rows = metrics_over(ORIGIN, NETWORK)
    # A name that is too long for its line goes on in the next one, further to the right.
    assert sum(line[:3].strip() != "" for line in text[begin_ + 1 : -1]) == len(rows)
    jobs = Counted(cell).origin_jobs.tolist()
    assert text[begin_ + 1].split()[-3:] == [str(n) for n in jobs]
    told = json.loads(_as_json(cell, None, 10, {}))["participants"]
    assert list(told) == list(CLUSTERS)
    assert told["west"]["origin_jobs"] == jobs[2]
    assert list(told["west"]) == [row.name for row in rows]
