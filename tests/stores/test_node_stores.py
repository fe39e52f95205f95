"""Nodes in a campaign and in its store: a log and its machine, states, and the commands."""

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

from schedfarm import farm
from schedfarm.analysis.groups import changes
from schedfarm.core import InputError, Pool, fair_start_times, read_log, simulate, summarise
from schedfarm.core.logs.oar import write_oar
from schedfarm.core.machines.nodes.platform import Nodes
from schedfarm.core.schedule import State
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.planning.block_shape import SHARD_BYTES, lay_out
from schedfarm.farm.store.product import PRODUCTS
from schedfarm.farm.store.reading import schedule_of
from schedfarm.farm.store.shape import CHUNK_VALUES
from schedfarm.farm.store.store import Store
from schedfarm.farm.store.template import write_template
from tests.stores.platforms import IN_POOL, KINDS, NODE_NAMES, NODES, jobs_on_nodes, on_nodes
from tests.support.command_line import farm_in
from tests.support.made import MadeStores
from tests.support.paths import DOCS

KIND = next(kind for kind in KINDS if kind.platform == NODES)

FIRST, SEARCHING = KIND.policies

PAGE = DOCS / "oar.md"


@pytest.fixture
def site(made_store: MadeStores) -> Path:
    """Return a log as a CSV with its machine beside it."""
    return Path(on_nodes(made_store).file or "")


@pytest.fixture
def sound(made_store: MadeStores) -> Path:
    """Return a store that nothing has happened to."""
    return made_store(KIND.campaign(made_store))


def test_the_time_of_day_is_kept(made_store: MadeStores, sound: Path, tmp_path: Path) -> None:
    """Resets go by it: another beginning is another log, for digests and stores."""
    cell = schedule_of(sound, trace="nodes", policy=SEARCHING, resample=1)
    assert cell.workload.epoch == 1_130_000_000
    log = jobs_on_nodes()
    later = replace(log, epoch=1_130_003_600)
    assert later.digest() != log.digest()
    pool = log.take(slice(None), platform=Pool(16))
    assert replace(pool, epoch=5).digest() == pool.digest()
    write_oar(later, tmp_path / "nodes.csv")
    store = Path(shutil.copytree(sound, tmp_path / "store"))
    with pytest.raises(InputError, match="trace 'nodes' differs from the one of the store"):
        farm.run(
            replace(KIND.campaign(made_store), traces=(Trace(file=str(tmp_path / "nodes.csv")),)),
            store,
        )


def test_plain_xarray_knows_the_nodes(sound: Path) -> None:
    """By their names, with the processors that each job had on each."""
    group = xr.open_zarr(sound / "results.zarr", group="nodes")
    assert group.on.dims == ("resample", "load", "policy", "job", "node")
    assert group.node.values.tolist() == NODE_NAMES
    cell = group.sel(resample=0, load="original", policy=FIRST)
    schedule = simulate(jobs_on_nodes(), FIRST)
    assert cell.on.sum("node").values.tolist() == schedule.taken.tolist()
    assert schedule.segments is not None
    first = schedule.segments.place[schedule.segments.job == 1]
    assert cell.on.isel(job=1).values.nonzero()[0].tolist() == first.tolist()
    assert ((cell.wait >= 0) == (cell.state != State.REFUSED)).all()


def test_the_summary_counts_refused_and_lost(sound: Path) -> None:
    """And, of the rules that say it, what they counted; no mean is of refused jobs."""
    root = xr.open_zarr(sound / "results.zarr").sel(trace="nodes", resample=0, load="original")
    for policy in KIND.policies:
        schedule = simulate(jobs_on_nodes(), policy)
        found, at = summarise(schedule), root.sel(policy=policy)
        for name in ("refused", "lost", "wait", "utilisation", "pp_bounded_slowdown"):
            assert float(at[name]) == found[name]
        for name in ("selections", "given_up"):
            assert int(at[name]) == schedule.counts.get(name, 0)
        assert found["counted"] == len(schedule.workload) - found["refused"]
    assert int(root.given_up.sel(policy=SEARCHING)) > 0
    assert float(root.refused.sel(policy=FIRST)) > 0
    assert float(root.lost.sum()) > 0


def test_fairness_is_of_those_who_started(sound: Path) -> None:
    """A mean is over the jobs that were not refused."""
    root = xr.open_zarr(sound / "results.zarr").sel(trace="nodes", resample=0, load="original")
    group = xr.open_zarr(sound / "results.zarr", group="nodes").sel(resample=0, load="original")
    for policy in KIND.policies:
        cell, at = group.sel(policy=policy), root.sel(policy=policy)
        late = np.maximum(cell.submit + cell.wait - cell.promised, 0).where(cell.promised >= 0, 0)
        there = float(at.jobs) - float(at.refused)
        assert float(at.unfairness_promise) == float(late.sum()) / there


def test_shards_and_chunks_of_many_jobs_on_many_nodes(sound: Path, tmp_path: Path) -> None:
    """A cell of 100,000 jobs on 1,000 nodes is a shard of its own, in chunks of jobs."""
    store = Store.open(sound)
    many = Nodes([2] * 1000, [f"n{k}" for k in range(1000)])
    sources = {"nodes": {**store.sources["nodes"], "platform": many.to_dict()}}
    big = replace(store, sources=sources, jobs={"nodes": 100_000})
    kinds = [PRODUCTS[kind] for kind in big.holds]
    arrays = {kind.name: big.arrays_of("nodes", kind.name) for kind in kinds}
    layout = lay_out(big.sizes("nodes"), big.axes, kinds, arrays)
    assert layout.cells == (1, 1, 1)
    write_template(replace(big, layouts={"nodes": layout}), tmp_path / "arrays")
    on = zarr.open_group(tmp_path / "arrays", mode="r")["nodes/on"]
    assert on.shape == (2, 2, 2, 100_000, 1000)
    assert on.shards == (1, 1, 1, 100_032, 1000)
    jobs = on.chunks[3]
    assert on.chunks == (1, 1, 1, jobs, 1000)
    assert CHUNK_VALUES // 4 < jobs * 1000 <= CHUNK_VALUES
    few = lay_out({**store.sizes("nodes"), "job": 1400, "node": 104}, store.axes, kinds, arrays)
    assert np.prod(few.cells) * 1408 * 104 * 8 <= SHARD_BYTES


def test_rules_that_know_no_nodes_are_refused_before_a_cell_runs(
    made_store: MadeStores, tmp_path: Path
) -> None:
    """One sentence, and no store."""
    wrong = replace(
        KIND.campaign(made_store),
        traces=(on_nodes(made_store), IN_POOL),
        policies=("fcfs+conservative", "fcfs+easy"),
    )
    with pytest.raises(InputError, match=r"'nodes' is on a platform of kind 'nodes', and rule 'ea"):
        farm.run(wrong, tmp_path / "store")
    assert not (tmp_path / "store").exists()


def test_a_first_campaign_of_nodes_asks_what_can_be_asked(site: Path, tmp_path: Path) -> None:
    """Of the usual policies those that know nodes."""
    ended = farm_in(tmp_path, "init", str(site))
    assert ended.exit_code == 0, ended
    drafted = Campaign.from_toml(tmp_path / "nodes.toml")
    assert drafted.policies == ("fcfs+conservative", "fcfs+demt", "saf+conservative")


def test_a_model_on_nodes_asks_for_one_processor_on_each(tmp_path: Path) -> None:
    """What is wider than there are nodes is dropped."""
    model = Trace(name="model", model="lublin", jobs=150, platform=NODES.to_dict())
    made = Campaign(name="m", traces=(model,), policies=(FIRST,), resamples=1)
    assert farm.run(made, tmp_path / "store").failed == 0
    found = schedule_of(tmp_path / "store", trace="model", policy=FIRST, resample=1)
    assert 0 < len(found.workload) < 150
    assert set(found.workload.weight.tolist()) == {1}
    assert found.workload.procs.max() <= 8


def test_a_campaign_may_give_the_machine(site: Path, tmp_path: Path) -> None:
    """No file is then needed beside the log."""
    alone = Path(shutil.copy(site, tmp_path / "alone.csv"))
    wider = Nodes([4] * 8, NODE_NAMES, {"half": NODE_NAMES[4:]})
    log = Trace(file=str(alone), platform=wider.to_dict()).read()
    assert log is not None
    assert log.platform == wider
    assert log.weight.tolist() == jobs_on_nodes().weight.tolist()
    with pytest.raises(InputError, match="processors=9 is the size of a pool"):
        Trace(file=str(site), processors=9).read()
    with pytest.raises(
        InputError, match="'nodes' puts jobs of a pool on nodes, and these are on 8"
    ):
        Trace(file=str(site), nodes={"nodes": 4, "capacity": 2}).read()


def test_who_gains_among_those_who_started(sound: Path) -> None:
    """Jobs that either policy refuses are no part of a change."""
    for metric in ("wait", "bounded_slowdown"):
        found = changes(sound, "nodes", SEARCHING, FIRST, load="original", metric=metric)
        assert np.isfinite(found[["before", "after"]].to_numpy()).all()
    group = xr.open_zarr(sound / "results.zarr", group="nodes")
    cells = group.sel(load="original", policy=[FIRST, SEARCHING], resample=[1])
    there = (cells.state != State.REFUSED).all("policy") & (cells.submit >= 0)
    waits = cells.wait.sel(policy=FIRST).where(there & (cells.job_user == 1))
    found = changes(sound, "nodes", SEARCHING, FIRST, load="original")
    assert found.loc["1", "before"] == pytest.approx(float(waits.mean("job").mean()))


def test_fair_starts_on_nodes_are_strict(site: Path) -> None:
    """A refused job has none; to join later has no meaning there."""
    work = read_log(site, jobs=20)
    schedule = simulate(work, FIRST)
    fst = fair_start_times(work, FIRST)
    assert ((fst < 0) == schedule.refused).all()
    with pytest.raises(InputError, match="on a platform of kind 'nodes' are of kind 'strict'"):
        fair_start_times(work, FIRST, kind="relaxed")


def test_simulated_and_audited_from_the_command_line(site: Path, tmp_path: Path) -> None:
    """The schedule that is written is read again, and says where each job was."""
    given = ("simulate", str(site), "--policy", SEARCHING, "--quiet")
    ended = farm_in(tmp_path, *given, "--out", "s.csv")
    assert ended.exit_code == 0, ended
    assert "nodes on 8 nodes with 16 processors under fcfs+demt,budget=3" in ended.stdout
    schedule = simulate(jobs_on_nodes(), SEARCHING)
    for what, count in (
        ("number of jobs refused", np.count_nonzero(schedule.refused)),
        ("number of jobs cut off before their end", np.count_nonzero(schedule.lost)),
        ("number of selections whose exact search was given up", schedule.counts["given_up"]),
    ):
        assert count > 0
        # In 80 columns a long name takes two lines.
        assert f" {what} {count} " in " ".join(ended.stdout.split())
    found = json.loads(farm_in(tmp_path, *given, "--json").stdout)
    assert found["counts"] == dict(schedule.counts)
    audited = farm_in(tmp_path, "audit", "s.csv", "--policy", SEARCHING)
    assert audited.exit_code == 0, audited
    for out in ("s.swf", "-"):
        ended = farm_in(tmp_path, *given, "--out", out)
        assert ended.exit_code == 2
        assert f"--out {out}: jobs on nodes are written as CSV" in ended.stderr
    ended = farm_in(tmp_path, *given, "--out", str(site))
    assert "it is an input, and would be lost" in ended.stderr


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
        ended = farm_in(tmp_path, *line.split()[1:])
        assert ended.exit_code == 0, ended
        said += ended.stdout
    assert "sound: every one of the 7 jobs" in said
    assert re.search(r"number of jobs refused +1\n", said)
    assert re.search(r"number of jobs cut off before their end +1\n", said)
    assert re.search(r"number of jobs killed at their estimate +1\n", said)
