"""Nodes from a log and its machine to the store, the commands and back."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
import zarr

import farm
from analysis.groups import changes
from core import InputError, Pool, Workload, fair_start_times, read_log, simulate, summarise
from core.logs.oar import write_oar
from core.platform.nodes import Nodes
from core.schedule import State
from farm.campaign.campaign import Campaign
from farm.campaign.trace import Trace
from farm.execution.runner import begin
from farm.execution.task import run_task
from farm.planning.block_shape import SHARD_BYTES, lay_out
from farm.store.arrays import CHUNK_VALUES
from farm.store.product import PRODUCTS
from farm.store.reading import job_table, schedule_of
from farm.store.skeleton import write_skeleton
from farm.store.store import Store
from farm.verify import Again, repair, verify
from tests.farm.harness import assert_same_results, records
from tests.farm.harness import farm as farm_process

POLICIES = ("fcfs+conservative", "spf+conservative", "fcfs+demt,budget=3")

NAMES = [f"ita{k}" for k in range(1, 9)]

NODES = Nodes([2] * 8, NAMES, {"half": NAMES[:4]}, [["ita3", 300_000, 400_000]])

IN_POOL = Trace(name="pool", model="lublin", jobs=40, processors=64)

MINE = '''
def parts(counted):
    """Mean number of nodes of a job."""
    return len(counted.schedule.segments.job) / len(counted)
'''

PAGE = Path(__file__).resolve().parents[2] / "docs" / "oar.md"


def log_of_jobs() -> Workload:
    """Three weeks of jobs of four users, of every kind."""
    rng = np.random.default_rng(5)
    n = 120
    weight, run = rng.integers(1, 3, n), rng.integers(1, 90_000, n)
    return Workload.from_columns(
        submit=np.sort(rng.integers(0, 3 * 604_800, n)),
        run=run,
        estimate=np.maximum(run, rng.integers(1, 90_000, n)),
        procs=rng.integers(1, 5, n) * weight,
        weight=weight,
        properties=rng.integers(-1, 1, n),
        reserved=np.where(rng.random(n) < 0.3, rng.integers(0, 90_000, n), -1),
        serial=np.where(rng.random(n) < 0.3, 50_000, -1),
        user=rng.integers(1, 5, n),
        platform=NODES,
        epoch=1_130_000_000,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The log as a CSV with its machine beside it."""
    path = tmp_path_factory.mktemp("site") / "site.csv"
    write_oar(log_of_jobs(), path)
    return path


def campaign(site: Path, *more: Trace) -> Campaign:
    return Campaign(
        name="nodes",
        traces=(Trace(file=str(site)), *more),
        policies=POLICIES,
        resamples=2,
        log=True,
        loads=("original", "0.9"),
        fairness=("resource", "promise"),
    )


@pytest.fixture(scope="module")
def sound(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that nothing happened to."""
    path = tmp_path_factory.mktemp("sound") / "store"
    assert farm.run(campaign(site), path).failed == 0
    return path


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("resample", [0, 2])
def test_a_schedule_comes_back_whole(sound: Path, policy: str, resample: int) -> None:
    """As it was simulated: starts, ends, states, nodes, and what was counted."""
    cell = schedule_of(sound, trace="site", policy=policy, resample=resample, load="0.9")
    again = simulate(cell.workload, policy)
    assert cell.workload.platform == NODES
    assert {int(State.REFUSED), int(State.LOST)} <= set(cell.state.tolist()) or resample
    for name in ("start", "end", "state", "wait", "taken"):
        assert getattr(cell, name).tolist() == getattr(again, name).tolist()
    assert cell.segments is not None
    assert again.segments is not None
    for name in ("job", "place", "procs"):
        assert getattr(cell.segments, name).tolist() == getattr(again.segments, name).tolist()
    assert dict(cell.counts) == dict(again.counts)
    table = job_table(sound, trace="site", policy=policy, resample=resample, load="0.9")
    assert table.weight.tolist() == cell.workload.weight.tolist()
    assert table.state.tolist() == cell.state.tolist()


def test_the_time_of_day_is_kept(sound: Path, site: Path, tmp_path: Path) -> None:
    """Resets go by it: another beginning is another log, for digests and stores."""
    cell = schedule_of(sound, trace="site", policy=POLICIES[2], resample=1)
    assert cell.workload.epoch == 1_130_000_000
    log = log_of_jobs()
    later = replace(log, epoch=1_130_003_600)
    assert later.digest() != log.digest()
    pool = log.take(slice(None), platform=Pool(16))
    assert replace(pool, epoch=5).digest() == pool.digest()
    write_oar(later, tmp_path / "site.csv")
    store = Path(shutil.copytree(sound, tmp_path / "store"))
    with pytest.raises(InputError, match="trace 'site' is not the one that the store was made fr"):
        farm.run(campaign(tmp_path / "site.csv"), store)


def test_plain_xarray_knows_the_nodes(sound: Path) -> None:
    """By their names, with the processors that each job had on each."""
    group = xr.open_zarr(sound / "results.zarr", group="site")
    assert group.on.dims == ("resample", "load", "policy", "job", "node")
    assert group.node.values.tolist() == NAMES
    cell = group.sel(resample=0, load="original", policy=POLICIES[0])
    schedule = simulate(log_of_jobs(), POLICIES[0])
    assert cell.on.sum("node").values.tolist() == schedule.taken.tolist()
    assert schedule.segments is not None
    first = schedule.segments.place[schedule.segments.job == 1]
    assert cell.on.isel(job=1).values.nonzero()[0].tolist() == first.tolist()
    assert ((cell.wait >= 0) == (cell.state != State.REFUSED)).all()


def test_the_summary_counts_refused_and_lost(sound: Path) -> None:
    """And, of the rules that say it, what they counted; no mean is of refused jobs."""
    root = xr.open_zarr(sound / "results.zarr").sel(trace="site", resample=0, load="original")
    for policy in POLICIES:
        schedule = simulate(log_of_jobs(), policy)
        found, at = summarise(schedule), root.sel(policy=policy)
        for name in ("refused", "lost", "wait", "utilisation", "pp_bounded_slowdown"):
            assert float(at[name]) == found[name]
        for name in ("selections", "given_up"):
            assert int(at[name]) == schedule.counts.get(name, 0)
        assert found["counted"] == len(schedule.workload) - found["refused"]
    assert int(root.given_up.sel(policy=POLICIES[2])) > 0
    assert float(root.refused.sel(policy=POLICIES[0])) > 0
    assert float(root.lost.sum()) > 0


def test_fairness_is_of_those_who_started(sound: Path) -> None:
    """A mean is over the jobs that were not refused."""
    root = xr.open_zarr(sound / "results.zarr").sel(trace="site", resample=0, load="original")
    group = xr.open_zarr(sound / "results.zarr", group="site").sel(resample=0, load="original")
    for policy in POLICIES:
        cell, at = group.sel(policy=policy), root.sel(policy=policy)
        late = np.maximum(cell.submit + cell.wait - cell.promised, 0).where(cell.promised >= 0, 0)
        there = float(at.jobs) - float(at.refused)
        assert float(at.unfairness_promise) == float(late.sum()) / there


def test_interrupted_and_resumed__is_the_same_store(
    site: Path, sound: Path, tmp_path: Path
) -> None:
    """What was done before stays, and the whole is that of an undisturbed run."""
    with begin(campaign(site), tmp_path / "store") as prepared:
        for task in prepared.tasks[: len(prepared.tasks) // 2]:
            run_task(task)
    outcome = farm.run(campaign(site), tmp_path / "store")
    assert outcome.failed == 0
    assert_same_results(tmp_path / "store", sound)


def test_a_sound_store_has_no_fault(sound: Path) -> None:
    """All cells are simulated again, and every node compared."""
    assert list(verify(sound, Again(100))) == []


def test_an_altered_node_is_found(site: Path, sound: Path, tmp_path: Path) -> None:
    """A job that the store has on another node is found, not read, and run again."""
    store = Path(shutil.copytree(sound, tmp_path / "store"))
    array = zarr.open_group(store / "results.zarr", mode="r+")["site/on"]
    values = array[...]
    values[1, 0, 0, 7] = values[1, 0, 0, 7] == 0
    array[...] = values
    faults = list(verify(store, Again(0)))
    assert [fault.name for fault in faults] == ["results.zarr/site/on"]
    with pytest.raises(InputError, match=r"on of block site/cells/\S+ is not what its record"):
        schedule_of(store, trace="site", policy=POLICIES[0], resample=1)
    repair(store, faults)
    assert farm.run(campaign(site), store).failed == 0
    assert_same_results(store, sound)


def test_a_metric_that_is_learnt__knows_the_nodes(
    site: Path, sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is computed from what is stored, without a simulation; counts stay."""
    store = Path(shutil.copytree(sound, tmp_path / "store"))
    (tmp_path / "mine.py").write_text(MINE)
    more = replace(campaign(site), metrics=("mine:parts",), folder=tmp_path)
    monkeypatch.setattr("farm.execution.cell.simulate", None)
    assert farm.run(more, store).failed == 0
    root, before = (xr.open_zarr(path / "results.zarr") for path in (store, sound))
    schedule = schedule_of(store, trace="site", policy=POLICIES[2], resample=1)
    assert schedule.segments is not None
    parts = schedule.segments.job.size / np.count_nonzero(~schedule.refused)
    at = {"trace": "site", "policy": POLICIES[2], "resample": 1, "load": "original"}
    assert float(root.parts.sel(at)) == parts
    assert (root.given_up.values == before.given_up.values).all()
    assert dict(schedule.counts) == dict(simulate(schedule.workload, POLICIES[2]).counts)


def test_a_pool_beside_nodes__is_as_it_was(tmp_path: Path, site: Path) -> None:
    """No array of it tells of nodes, and nodes that join alter no block."""
    easy = replace(campaign(site), traces=(IN_POOL,), policies=POLICIES[:2], log=False)
    easy = replace(easy, fairness=())
    alone = tmp_path / "alone"
    farm.run(easy, alone)
    names = {v.name for v in Store.open(alone).holds["cells"].arrays}
    assert names.isdisjoint({"end", "state", "on", "place"})
    before, text = records(alone), (alone / "store.json").read_text()
    assert '"node"' not in text
    more = replace(easy, traces=(IN_POOL, Trace(file=str(site))))
    outcome = farm.run(more, alone)
    assert outcome.failed == 0
    assert outcome.before == outcome.cells // 2
    after = records(alone)
    assert {name: after[name] for name in before} == before
    assert list(verify(alone, Again(0))) == []
    pool = xr.open_zarr(alone / "results.zarr", group="pool")
    assert not {"on", "end", "state", "weight", "node"} & set(pool.variables)


def test_shards_and_chunks_of_many_jobs_on_many_nodes(sound: Path, tmp_path: Path) -> None:
    """A cell of 100,000 jobs on 1,000 nodes is a shard of its own, in chunks of jobs."""
    store = Store.open(sound)
    many = Nodes([2] * 1000, [f"n{k}" for k in range(1000)])
    sources = {"site": {**store.sources["site"], "platform": many.to_dict()}}
    big = replace(store, sources=sources, jobs={"site": 100_000})
    kinds = [PRODUCTS[kind] for kind in big.holds]
    arrays = {kind.name: big.arrays_of("site", kind.name) for kind in kinds}
    layout = lay_out(big.sizes("site"), big.axes, kinds, arrays)
    assert layout.cells == (1, 1, 1)
    write_skeleton(replace(big, layouts={"site": layout}), tmp_path / "arrays")
    on = zarr.open_group(tmp_path / "arrays", mode="r")["site/on"]
    assert on.shape == (3, 2, 3, 100_000, 1000)
    assert on.shards == (1, 1, 1, 100_032, 1000)
    jobs = on.chunks[3]
    assert on.chunks == (1, 1, 1, jobs, 1000)
    assert CHUNK_VALUES // 4 < jobs * 1000 <= CHUNK_VALUES
    few = lay_out({**store.sizes("site"), "job": 1400, "node": 104}, store.axes, kinds, arrays)
    assert np.prod(few.cells) * 1408 * 104 * 8 <= SHARD_BYTES


def test_rules_that_know_no_nodes_are_refused_before_a_cell_runs(
    site: Path, tmp_path: Path
) -> None:
    """One sentence, and no store."""
    wrong = replace(campaign(site, IN_POOL), policies=("fcfs+conservative", "fcfs+easy"))
    with pytest.raises(InputError, match=r"'site' is on a platform of kind 'nodes', and rule 'ea"):
        farm.run(wrong, tmp_path / "store")
    assert not (tmp_path / "store").exists()


def test_a_first_campaign_of_nodes_asks_what_can_be_asked(site: Path, tmp_path: Path) -> None:
    """Of the usual policies those that know nodes."""
    ended = farm_process(tmp_path, "init", str(site))
    assert ended.returncode == 0, ended
    drafted = Campaign.from_toml(tmp_path / "site.toml")
    assert drafted.policies == ("fcfs+conservative", "fcfs+demt", "saf+conservative")


def test_a_model_on_nodes_asks_for_one_processor_on_each(tmp_path: Path) -> None:
    """What is wider than there are nodes is dropped."""
    model = Trace(name="model", model="lublin", jobs=150, platform=NODES.to_dict())
    made = Campaign(name="m", traces=(model,), policies=POLICIES[:1], resamples=1)
    assert farm.run(made, tmp_path / "store").failed == 0
    found = schedule_of(tmp_path / "store", trace="model", policy=POLICIES[0], resample=1)
    assert 0 < len(found.workload) < 150
    assert set(found.workload.weight.tolist()) == {1}
    assert found.workload.procs.max() <= 8


def test_a_campaign_may_give_the_machine(site: Path, tmp_path: Path) -> None:
    """No file is then needed beside the log."""
    alone = Path(shutil.copy(site, tmp_path / "alone.csv"))
    wider = Nodes([4] * 8, NAMES, {"half": NAMES[4:]})
    log = Trace(file=str(alone), platform=wider.to_dict()).read()
    assert log is not None
    assert log.platform == wider
    assert log.weight.tolist() == log_of_jobs().weight.tolist()
    with pytest.raises(InputError, match="processors=9 is the size of a pool"):
        Trace(file=str(site), processors=9).read()
    with pytest.raises(
        InputError, match="'nodes' puts jobs of a pool on nodes, and these are on 8"
    ):
        Trace(file=str(site), nodes={"nodes": 4, "capacity": 2}).read()


def test_who_gains_among_those_who_started(sound: Path) -> None:
    """Jobs that either policy refuses are no part of a change."""
    for metric in ("wait", "bounded_slowdown"):
        found = changes(sound, "site", POLICIES[2], POLICIES[0], load="original", metric=metric)
        assert np.isfinite(found[["before", "after"]].to_numpy()).all()
    group = xr.open_zarr(sound / "results.zarr", group="site")
    cells = group.sel(load="original", policy=[POLICIES[0], POLICIES[2]], resample=[1, 2])
    there = (cells.state != State.REFUSED).all("policy") & (cells.submit >= 0)
    waits = cells.wait.sel(policy=POLICIES[0]).where(there & (cells.job_user == 1))
    found = changes(sound, "site", POLICIES[2], POLICIES[0], load="original")
    assert found.loc["1", "before"] == pytest.approx(float(waits.mean("job").mean()))


def test_fair_starts_on_nodes_are_strict(site: Path) -> None:
    """A refused job has none; to join later has no meaning there."""
    work = read_log(site, jobs=20)
    schedule = simulate(work, POLICIES[0])
    fst = fair_start_times(work, POLICIES[0])
    assert ((fst < 0) == schedule.refused).all()
    with pytest.raises(InputError, match="on a platform of kind 'nodes' are of kind 'strict'"):
        fair_start_times(work, POLICIES[0], kind="relaxed")


def test_simulated_and_audited_from_the_command_line(site: Path, tmp_path: Path) -> None:
    """The schedule that is written is read again, and says where each job was."""
    given = ("simulate", str(site), "--policy", POLICIES[2], "--quiet")
    ended = farm_process(tmp_path, *given, "--out", "s.csv")
    assert ended.returncode == 0, ended
    assert "site on 8 nodes with 16 processors under fcfs+demt,budget=3" in ended.stdout
    schedule = simulate(log_of_jobs(), POLICIES[2])
    for what, count in (
        ("number of jobs refused", np.count_nonzero(schedule.refused)),
        ("number of jobs cut off before their end", np.count_nonzero(schedule.lost)),
        ("number of selections whose exact search was given up", schedule.counts["given_up"]),
    ):
        assert count > 0
        assert re.search(rf"^  {what} +{count}$", ended.stdout, re.M) is not None
    found = json.loads(farm_process(tmp_path, *given, "--json").stdout)
    assert found["counts"] == dict(schedule.counts)
    audited = farm_process(tmp_path, "audit", "s.csv", "--policy", POLICIES[2])
    assert audited.returncode == 0, audited
    for out in ("s.swf", "-"):
        ended = farm_process(tmp_path, *given, "--out", out)
        assert ended.returncode == 2
        assert f"--out {out}: jobs on nodes are a CSV file with the machine" in ended.stderr
    ended = farm_process(tmp_path, *given, "--out", str(site.with_name("site.csv")))
    assert "it is read from, and would be lost" in ended.stderr


def test_what_the_page_says_runs(tmp_path: Path) -> None:
    """Its files, then its commands; a schedule that is written is sound."""
    text = PAGE.read_text()
    for name, content in re.findall(r"`([\w.]+)`:\n\n```\w+\n(.*?)```", text, re.S):
        (tmp_path / name).write_text(content)
    (commands,) = re.findall(r"```sh\n(.*?)```", text, re.S)
    (toml,) = re.findall(r'```toml\n(name = "at-our-site".*?)```', text, re.S)
    (tmp_path / "campaign.toml").write_text(toml)
    said = ""
    for line in [*commands.splitlines(), "farm plan campaign.toml"]:
        ended = farm_process(tmp_path, *line.split()[1:])
        assert ended.returncode == 0, ended
        said += ended.stdout
    assert "sound: every one of the 7 jobs" in said
    assert re.search(r"number of jobs refused +1\n", said)
    assert re.search(r"number of jobs cut off before their end +1\n", said)
    assert re.search(r"number of jobs killed at their estimate +1\n", said)
