"""Clusters with links from a campaign to the store, what is measured of each, and back."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
import zarr

import analysis
import farm
from core import InputError, by_origin, simulate, summarise
from core.metrics.counted import Counted
from core.metrics.declared import metrics_over
from core.metrics.metric import ORIGIN
from core.own import sources
from core.platform.network import Network
from core.platform.pool import Pool
from core.policy.policy import Policy
from core.simulation.network import isolated_starts
from farm.campaign.campaign import Campaign
from farm.campaign.trace import Trace
from farm.cli.simulate import _as_json, _as_text
from farm.execution.runner import begin
from farm.execution.task import run_task
from farm.store.product import PRODUCTS, Holding, is_had
from farm.store.reading import job_table, schedule_of
from farm.store.store import Store
from farm.verify import Again, repair, verify
from tests.farm.harness import assert_same_results

POLICIES = ("fcfs+icsb(3)", "spf+ics,links=unused")

NAMES = ("north", "south", "west")

NETWORK = Network([64, 32, 32], NAMES, [400_000, 200_000, 100_000])

SITES = Trace(
    name="sites",
    model="participants",
    jobs=120,
    platform=NETWORK.to_dict(),
    parameters={"per_week": [1500, 700, 500], "most": 40},
)

OTHERS = replace(
    SITES, name="others", platform=Network([64, 32, 32], ["west", "east", "far"]).to_dict()
)

IN_POOL = Trace(name="pool", model="lublin", jobs=40, processors=64)

MINE = '''
from core.metrics.metric import Metric

def longest(counted):
    """Longest wait of the cluster's jobs."""
    return [counted.wait[counted.origin == k].max() for k in range(3)]

longest.over = "origin"

parts = Metric("parts", "1", "mean number of parts", lambda c: (
    len(c.schedule.segments.job) / len(c)), among=True)
'''


def campaign(*traces: Trace) -> Campaign:
    return Campaign(
        name="network",
        traces=traces or (SITES,),
        policies=POLICIES,
        resamples=2,
        loads=("original", "0.9"),
        fairness=("isolation", "resource"),
    )


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that nothing happened to."""
    path = tmp_path_factory.mktemp("sound") / "store"
    assert farm.run(campaign(), path).failed == 0
    return path


@pytest.mark.parametrize("policy", POLICIES)
def test_a_schedule_comes_back_whole(sound: Path, policy: str) -> None:
    """Starts, ends and parts on clusters, of jobs with their origin and what they ask of links."""
    cell = schedule_of(sound, trace="sites", policy=policy, resample=2, load="0.9")
    again = simulate(cell.workload, policy)
    assert cell.workload.platform == NETWORK
    assert set(cell.workload.origin.tolist()) == {0, 1, 2}
    assert cell.workload.bandwidth.any()
    for name in ("start", "end", "wait", "taken", "held"):
        assert getattr(cell, name).tolist() == getattr(again, name).tolist()
    assert cell.segments is not None
    assert again.segments is not None
    for name in ("job", "place", "procs"):
        assert getattr(cell.segments, name).tolist() == getattr(again.segments, name).tolist()
    table = job_table(sound, trace="sites", policy=policy, resample=2, load="0.9")
    assert table.job_origin.tolist() == cell.workload.origin.tolist()
    assert table.end.tolist() == cell.end.tolist()


def test_plain_xarray_knows_the_clusters(sound: Path) -> None:
    """By their names: whose jobs they are, and where they ran."""
    group = xr.open_zarr(sound / "results.zarr", group="sites")
    assert group.on.dims == ("resample", "load", "policy", "job", "node")
    assert group.node.values.tolist() == group.origin.values.tolist() == list(NAMES)
    at = {"resample": 1, "load": "original", "policy": POLICIES[0]}
    cell = group.sel(at)
    assert (cell.on.sum("node") == cell.procs).all()
    mine = cell.job_origin == NAMES.index("south")
    assert float(cell.wait.where(mine).mean()) == float(cell.origin_wait.sel(origin="south"))
    held = cell.on.where(mine) * (cell.end - cell.submit - cell.wait)
    away = float(held.sum() - held.sel(node="south").sum())
    assert float(cell.origin_received.sel(origin="south")) == away


@pytest.mark.parametrize("policy", POLICIES)
def test_each_participant_is_measured(sound: Path, policy: str) -> None:
    """The store has what the schedule has; means over all follow from those of each."""
    cell = schedule_of(sound, trace="sites", policy=policy, resample=1)
    group = xr.open_zarr(sound / "results.zarr", group="sites")
    root = xr.open_zarr(sound / "results.zarr").sel(trace="sites")
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


def test_nobody_gives_where_each_is_alone(tmp_path: Path) -> None:
    """Without sharing nothing is given, nobody is late, and there is nothing to gain."""
    alone = replace(campaign(), policies=("fcfs+isolated(3)",), loads=("original",))
    alone = replace(alone, traces=(replace(SITES, parameters={"most": 32}),), resamples=1)
    assert farm.run(alone, tmp_path / "store").failed == 0
    cell = xr.open_zarr(tmp_path / "store" / "results.zarr", group="sites").squeeze()
    for name in ("origin_given", "origin_received", "origin_migrated_share", "origin_link_load"):
        assert cell[name].values.tolist() == [0, 0, 0]
    assert cell.origin_lateness_isolation.values.tolist() == [0, 0, 0]
    assert cell.origin_gain_isolation.values.tolist() == [0, 0, 0]
    assert (cell.fst_isolation == cell.submit + cell.wait).all()


@pytest.mark.parametrize("policy", POLICIES)
def test_isolation_is_held_against_each_alone(sound: Path, policy: str) -> None:
    """A job wider than its cluster is never late, and has no gain."""
    cell = schedule_of(sound, trace="sites", policy=policy, resample=1, load="0.9")
    jobs = cell.workload
    alone = isolated_starts(jobs, Policy.parse(policy))
    wide = jobs.procs > np.array(NETWORK.sizes)[jobs.origin]
    assert wide.any()
    assert (alone == -1).tolist() == wide.tolist()
    at = {"resample": 1, "load": "0.9", "policy": policy}
    group = xr.open_zarr(sound / "results.zarr", group="sites").sel(at)
    root = xr.open_zarr(sound / "results.zarr").sel(at, drop=True).sel(trace="sites")
    assert group.fst_isolation.values.tolist() == alone.tolist()
    late = np.where(wide, 0, np.maximum(cell.start - alone, 0))
    assert float(root.unfairness_isolation) == late.sum() / len(jobs)
    assert float(root.unfair_share_isolation) == np.count_nonzero(late) / len(jobs)
    for k, name in enumerate(NAMES):
        mine = jobs.origin == k
        assert float(group.origin_lateness_isolation.sel(origin=name)) == late[mine].mean()
        gain = (alone - cell.start)[mine & ~wide].mean()
        assert float(group.origin_gain_isolation.sel(origin=name)) == gain


def test_isolation_is_refused_where_there_is_nobody_to_be_alone(tmp_path: Path) -> None:
    """One sentence that names the trace, and no store."""
    pool = replace(campaign(IN_POOL), policies=("fcfs+easy",))
    why = r"fairness 'isolation' compares each cluster of .* trace 'pool' is on a platform of kind"
    with pytest.raises(InputError, match=why):
        farm.run(pool, tmp_path / "store")
    assert not (tmp_path / "store").exists()


def test_interrupted_and_resumed__is_the_same_store(sound: Path, tmp_path: Path) -> None:
    """What was done before stays, and the whole is that of an undisturbed run."""
    with begin(campaign(), tmp_path / "store") as prepared:
        for task in prepared.tasks[: len(prepared.tasks) // 2]:
            run_task(task)
    assert farm.run(campaign(), tmp_path / "store").failed == 0
    assert_same_results(tmp_path / "store", sound)


def test_a_sound_store_has_no_fault(sound: Path) -> None:
    """All cells are simulated again, and every number of each participant compared."""
    assert list(verify(sound, Again(100))) == []


@pytest.mark.parametrize("name", ["on", "origin_wait", "job_origin", "origin_gain_isolation"])
def test_an_altered_number_is_found(sound: Path, tmp_path: Path, name: str) -> None:
    """Found, not read, and run again."""
    store = Path(shutil.copytree(sound, tmp_path / "store"))
    array = zarr.open_group(store / "results.zarr", mode="r+")[f"sites/{name}"]
    values = array[...]
    values[1, 0] = values[1, 0] + 1
    array[...] = values
    faults = list(verify(store, Again(0)))
    assert [fault.name for fault in faults] == [f"results.zarr/sites/{name}"]
    if name.startswith("origin_"):
        with pytest.raises(analysis.StoreError, match=f"{name} of sites is not what its records"):
            analysis.bands(store, name)
    repair(store, faults)
    assert farm.run(campaign(), store).failed == 0
    assert_same_results(store, sound)


def test_a_metric_of_each_participant_is_learnt(
    sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is computed from what is stored, without a simulation."""
    store = Path(shutil.copytree(sound, tmp_path / "store"))
    (tmp_path / "mine.py").write_text(MINE)
    more = replace(campaign(), metrics=("mine:longest", "mine:parts"), folder=tmp_path)
    monkeypatch.setattr("farm.execution.cell.simulate", None)
    assert farm.run(more, store).failed == 0
    cell = schedule_of(store, trace="sites", policy=POLICIES[0], resample=1)
    at = {"policy": POLICIES[0], "resample": 1, "load": "original"}
    group = xr.open_zarr(store / "results.zarr", group="sites").sel(at)
    waits, origin = cell.wait, cell.workload.origin
    assert group.longest.values.tolist() == [waits[origin == k].max() for k in range(3)]
    assert cell.segments is not None
    parts = float(xr.open_zarr(store / "results.zarr").parts.sel(at).sel(trace="sites"))
    assert parts == cell.segments.job.size / len(cell.workload)


def test_a_metric_of_participants_needs_some(tmp_path: Path) -> None:
    """Where no trace has any, a campaign that names one is refused."""
    (tmp_path / "mine.py").write_text(MINE)
    pool = replace(
        campaign(IN_POOL), policies=("fcfs+easy",), fairness=(), metrics=("mine:longest",),
        folder=tmp_path,
    )  # fmt: skip
    with pytest.raises(InputError, match="'mine:longest' is one of participants, and no trace of"):
        farm.run(pool, tmp_path / "store")


def test_a_pool_beside_a_network__is_as_it_was(tmp_path: Path) -> None:
    """Nothing of it tells of participants, and a network that joins alters no block."""
    alone = tmp_path / "alone"
    easy = replace(campaign(IN_POOL), policies=("fcfs+easy",), fairness=())
    assert farm.run(easy, alone).failed == 0
    text = (alone / "store.json").read_text()
    assert '"origin"' not in text
    assert "origin_" not in text
    assert "migrated" not in text
    store = Store.open(alone)
    digest = store.holding_digest(store.blocks()[-1])
    grown = replace(
        store,
        axes={**store.axes, "trace": ("pool", "sites")},
        sources={**store.sources, "sites": {"platform": NETWORK.to_dict()}},
        holds={
            name: PRODUCTS[name].holding((), [store.platform("pool"), NETWORK])
            for name in store.holds
        },
    )
    assert grown.holding_digest(store.blocks()[-1]) == digest
    assert grown.arrays_of("pool", "cells") == store.arrays_of("pool", "cells")
    assert grown.parts("pool") == {}
    assert grown.parts("sites") == {"node": NAMES, "origin": NAMES}
    assert {v.name for v in grown.holds["cells"].figures} - {
        v.name for v in store.holds["cells"].figures
    } == {"migrated_share", "coallocated_share"}


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


def test_bands_of_each_participant(sound: Path, tmp_path: Path) -> None:
    """A block for each cluster, a line for each policy; each trace has its own clusters."""
    found = analysis.bands(sound, "origin_wait", load="0.9")
    assert found["origin_wait"].dims == ("trace", "load", "origin", "policy", "band")
    group = xr.open_zarr(sound / "results.zarr", group="sites").sel(load="0.9")
    due = group.origin_wait.sel(origin="west", policy=POLICIES[0])
    at = {"trace": "sites", "load": "0.9", "origin": "west", "policy": POLICIES[0]}
    assert float(found["origin_wait"].sel(at, drop=True).sel(band="max")) == float(due.max())
    text = analysis.table_text(found)
    assert "sites, load 0.9, origin north" in text
    gain = analysis.gains(sound, "origin_response", POLICIES[1], load="0.9")
    response = group.origin_response.sel(origin="north")
    mean = (response.sel(policy=POLICIES[1]) - response.sel(policy=POLICIES[0])) / response.sel(
        policy=POLICIES[1]
    )
    at |= {"origin": "north"}
    assert float(gain["origin_response"].sel(at, drop=True).sel(band="min")) == float(mean.min())
    both = replace(campaign(SITES, OTHERS), loads=("original",), fairness=())
    assert farm.run(both, tmp_path / "store").failed == 0
    table = analysis.table(analysis.bands(tmp_path / "store", "origin_jobs"))
    places = list(dict.fromkeys((trace, who) for trace, _, who, _ in table.index))
    assert places == [("sites", who) for who in NAMES] + [
        ("others", who) for who in ("west", "east", "far")
    ]
    assert not table["missing"].any()


def test_a_schedule_is_told_for_each_participant(sound: Path) -> None:
    """A table with a column for each, and the same under its name in JSON."""
    cell = schedule_of(sound, trace="sites", policy=POLICIES[0], resample=1)
    text = _as_text(cell, None, 10, every=False).splitlines()
    begin_ = next(i for i, line in enumerate(text) if line.startswith("participants"))
    assert text[begin_].split()[1:] == list(NAMES)
    rows = metrics_over(ORIGIN, NETWORK)
    assert len(text) - begin_ - 2 == len(rows)
    jobs = Counted(cell).origin_jobs.tolist()
    assert text[begin_ + 1].split()[-3:] == [str(n) for n in jobs]
    told = json.loads(_as_json(cell, None, 10, {}))["participants"]
    assert list(told) == list(NAMES)
    assert told["west"]["origin_jobs"] == jobs[2]
    assert list(told["west"]) == [row.name for row in rows]
