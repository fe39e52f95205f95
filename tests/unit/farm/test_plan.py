"""Blocks and tasks: every cell once, shards that nobody shares, longest first."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from schedfarm.core.format.geometry import Axes, Block, Layout, positions
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.planning.backlog import (
    BURST_RATE,
    STEADY_RATE,
    TOO_LONG,
    WRITE_SECONDS,
    Backlog,
)
from schedfarm.farm.planning.block_shape import (
    BLOCK_SECONDS,
    LEAST_SECONDS,
    MOST_SECONDS,
    PARTS,
    SHARD_BYTES,
    goal_seconds,
    lay_out,
)
from schedfarm.farm.planning.cost import cell_seconds
from schedfarm.farm.planning.design import build, design
from schedfarm.farm.planning.survey import survey
from schedfarm.farm.planning.tasks import Task, block_costs, missing_blocks, plan
from schedfarm.farm.store.arrays import open_results
from schedfarm.farm.store.product import PRODUCTS
from schedfarm.farm.store.shape import CHUNK_VALUES, chunk_shape
from schedfarm.farm.store.store import Store

Costs = dict[Block, float]


@pytest.fixture(scope="module")
def campaign() -> Campaign:
    return Campaign(
        name="plan",
        traces=(
            Trace(name="a", model="lublin", processors=64, jobs=300),
            Trace(name="b", model="lublin", processors=64, jobs=30_000),
        ),
        policies=("fcfs+easy", "saf+easy", "fcfs+conservative"),
        loads=("original", "0.9"),
        resamples=30,
    )


def test_tasks_hold_every_block_once_longest_first(campaign: Campaign, tmp_path: Path) -> None:
    """No block is forgotten or done twice, and the last tasks to start are short ones."""
    store = build(design(tmp_path / "store", survey(campaign)))
    tasks = plan(store, campaign, missing_blocks(store, {}, retry_failed=False))
    blocks = [block for task in tasks for block in task.blocks]
    assert sorted(blocks) == sorted(store.blocks())
    assert len(set(blocks)) == len(blocks)
    seconds = [task.seconds for task in tasks]
    assert seconds == sorted(seconds, reverse=True)


def test_policies_share_the_jobs_of_their_task(campaign: Campaign, tmp_path: Path) -> None:
    """A block holds all policies that meet the same jobs, and its task their columns, too."""
    store = build(design(tmp_path / "store", survey(campaign)))
    tasks = plan(store, campaign, missing_blocks(store, {}, retry_failed=False))
    for task in tasks:
        assert {block.kind for block in task.blocks} == {"workload", "cells"}
        assert len({(block.resample, block.load) for block in task.blocks}) == 1
        last = store.span_of(task.blocks[-1])
        assert last.policies == campaign.policies


def layout_of(jobs: int, axes: Axes, block_seconds: float = 0.0) -> Layout:
    sizes = {"job": jobs, "week": 10, "user": 0, "width": 9}
    kind = PRODUCTS["cells"]
    return lay_out(sizes, axes, [kind], {kind.name: kind.arrays}, block_seconds)


def parts(labels: list[str], length: int) -> list[list[str]]:
    return [labels[i : i + length] for i in range(0, len(labels), length)]


@pytest.mark.parametrize("jobs", [1, 1024, 1025, 77_222, 2_000_000])
@pytest.mark.parametrize("policy", ["saf+easy", "spf+conservative", "fcfs+depth(4)"])
def test_block_is_bounded_in_time_and_bytes(jobs: int, policy: str) -> None:
    """A block stays under the bounds unless it is a single cell."""
    loads, policies = ["0.5", "1.2"], [policy, "fcfs+none"]
    layout = layout_of(jobs, {"resample": range(1000), "load": loads, "policy": policies})
    cells, (samples, along_load, along_policy) = math.prod(layout.cells), layout.cells
    assert layout.inner["job"] >= jobs
    if cells == 1:
        return
    blocks = [
        samples * math.fsum(cell_seconds(jobs, p, load) for p in some for load in others)
        for some in parts(policies, along_policy)
        for others in parts(loads, along_load)
    ]
    assert sum(blocks) / len(blocks) <= BLOCK_SECONDS * 1.001
    assert max(blocks) <= MOST_SECONDS * 1.001
    assert cells * layout.inner["job"] * 8 <= SHARD_BYTES


def test_a_costly_cell_among_cheap_ones_does_not_make_short_blocks() -> None:
    """What bounds a block is what all its cells take, not as many of the costliest."""
    policies = [f"{order}+conservative" for order in ("spf", "saf", "sqf", "f1", "laf")]
    loads = ["0.5", "0.6", "0.7", "0.8", "0.9"]
    axes = {"resample": range(480), "load": loads, "policy": policies}
    costs = [cell_seconds(16_000, p, load) for p in policies for load in loads]
    cells = math.prod(layout_of(16_000, axes, block_seconds=20).cells)
    assert cells * max(costs) > 3 * MOST_SECONDS
    assert 15 < cells * sum(costs) / len(costs) <= 20


@pytest.mark.parametrize("jobs", [50, 3_000, 30_000, 300_000])
def test_little_work_is_cut_all_the_same(jobs: int) -> None:
    """Blocks are for workers to share: there are many, unless that made them all too short."""
    axes = {"resample": range(100), "load": ["0.9"], "policy": ["saf+easy", "fcfs+conservative"]}
    layout = layout_of(jobs, axes)
    total = 100 * sum(cell_seconds(jobs, p, "0.9") for p in axes["policy"])
    blocks = 200 / math.prod(layout.cells)
    assert blocks == 1 or total / blocks > LEAST_SECONDS / 3
    assert total < PARTS * LEAST_SECONDS or blocks >= PARTS


def test_a_block_is_as_long_as_asked_for() -> None:
    """`block_seconds` is taken where a campaign gives it, whatever the planner would choose."""
    axes = {"resample": range(100), "load": ["0.9"], "policy": ["saf+easy"]}
    each = cell_seconds(3_000, "saf+easy", "0.9")
    for cells in (1, 5, 20):
        layout = layout_of(3_000, axes, block_seconds=1.01 * cells * each)
        assert layout.cells == (cells, 1, 1)


def test_chunks_fill_shards_and_hold_many_cells() -> None:
    """No number of resamples, prime ones included, leaves each cell a chunk of its own."""
    for samples in (7, 97, 127, 151, 997):
        axes = {"resample": range(samples), "load": ["0.9"], "policy": ["saf+easy"]}
        layout = layout_of(3_000, axes, block_seconds=3600)
        chunk = chunk_shape(layout.cells, layout.inner["job"])
        together = CHUNK_VALUES // layout.inner["job"]
        assert all(s % c == 0 for s, c in zip(layout.cells, chunk, strict=True))
        assert 2 * chunk[0] > min(together, samples)


@pytest.mark.parametrize(("samples", "per_block"), [(1, 1), (10, 4), (8, 4), (3, 7)])
def test_blocks_cover_the_axis_without_overlap(samples: int, per_block: int) -> None:
    """Each label stands in exactly one block."""
    numbers = range(-(-samples // per_block))
    covered = [i for n in numbers for i in positions(n, per_block, samples)]
    assert covered == list(range(samples))


@pytest.fixture(scope="module")
def many(campaign: Campaign, tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Build a store of blocks of a few milliseconds each, in which no test writes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("schedfarm.farm.planning.block_shape.SHARD_BYTES", 8 * 3200)
        return build(design(tmp_path_factory.mktemp("many") / "store", survey(campaign)))


def planned(store: Store, campaign: Campaign, seconds: float) -> tuple[list[Task], Costs]:
    """Return the plan of a store, as if a block took so many seconds on the mean, and its costs."""
    costs = block_costs(store, store.blocks())
    factor = seconds * len(costs) / math.fsum(costs.values())
    tasks = plan(store, campaign, missing_blocks(store, {}, retry_failed=False))
    more = [replace(task, seconds=factor * task.seconds) for task in tasks]
    return more, {block: factor * cost for block, cost in costs.items()}


def handed_out(backlog: Backlog, threads: int) -> list[Task]:
    """Return all tasks that a backlog has for so many worker threads."""
    return [backlog.take(threads) for _ in iter(lambda: bool(backlog), False)]


def length(backlog: Backlog, task: Task) -> float:
    """Return how long a task is expected to take, s."""
    return backlog.expected(task.blocks) + WRITE_SECONDS * len(task.blocks)


@pytest.mark.parametrize("threads", [1, 4, 4000])
def test_a_backlog_joins_short_tasks(threads: int, many: Store, campaign: Campaign) -> None:
    """Up to what coordinator and workers need, of one trace each, and every block once."""
    tasks, costs = planned(many, campaign, 0.5)
    assert len({task.trace.name for task in tasks}) > 1
    backlog = Backlog(tasks, costs)
    total, blocks = math.fsum(costs.values()), len(costs)
    most = max(goal_seconds(total), threads / STEADY_RATE)
    wanted = min(most, max((total + blocks * WRITE_SECONDS) / 2 / threads, threads / BURST_RATE))
    done = handed_out(backlog, threads)
    assert sorted(block for task in done for block in task.blocks) == sorted(costs)
    assert len(done) < len(tasks)
    assert wanted / 2 < length(backlog, done[0]) <= TOO_LONG * wanted
    for task in done:
        assert {block.trace for block in task.blocks} == {task.trace.name}
        assert len(task.batches) == 1 or length(backlog, task) <= TOO_LONG * wanted


def test_a_backlog_ends_in_short_tasks(many: Store, campaign: Campaign) -> None:
    """The last ones are a part of those before, so that no worker waits long for another."""
    tasks, costs = planned(many, campaign, 1.0)
    backlog = Backlog(tasks, costs)
    lengths = [length(backlog, task) for task in handed_out(backlog, 2)]
    assert max(lengths[-4:]) < max(lengths) / 4


def test_a_backlog_cuts_what_takes_longer_than_planned(many: Store, campaign: Campaign) -> None:
    """Where blocks of a trace take ten times the plan, its later tasks hold fewer of them."""
    tasks, costs = planned(many, campaign, 0.5)
    before = Backlog(tasks, costs)
    usual = {task.trace.name: len(task.batches) for task in reversed(handed_out(before, 2))}
    backlog = Backlog(tasks, costs)
    first = backlog.take(2)
    for block in first.blocks:
        for _ in range(50):
            backlog.learn(block, 10 * costs[block])
    rest = handed_out(backlog, 2)
    alike = [task for task in rest if task.trace.name == first.trace.name]
    assert max(len(task.batches) for task in alike) < usual[first.trace.name]
    for task in rest:
        assert task.seconds == pytest.approx(math.fsum(costs[b] for b in task.blocks))
    assert sorted(b for task in (first, *rest) for b in task.blocks) == sorted(costs)


def test_a_backlog_takes_back(many: Store, campaign: Campaign) -> None:
    """What a worker could not do stays as it is; of what it left, the rest is handed out again."""
    tasks, costs = planned(many, campaign, 0.5)
    backlog = Backlog(tasks, costs)
    first, second = backlog.take(2), backlog.take(2)
    assert min(len(first.batches), len(second.batches)) > 1
    backlog.give_back(first)
    done = set(second.batches[0])
    backlog.give_back_rest(second, done)
    assert backlog.take(2) == first
    rest = handed_out(backlog, 2)
    assert rest[0].batches[0] == second.batches[1]
    written = [*first.blocks, *done, *(block for task in rest for block in task.blocks)]
    assert sorted(written) == sorted(costs)
    backlog.give_back_rest(first, set(first.blocks))
    assert not backlog


def test_an_isolated_task_stays_alone(many: Store, campaign: Campaign) -> None:
    """Its block may be the one that kills its process."""
    tasks, costs = planned(many, campaign, 0.01)
    isolated = [
        replace(task, batches=((block,),), isolate=True) for task in tasks for block in task.blocks
    ]
    assert handed_out(Backlog(isolated, costs), 1) == isolated


def test_bytes_are_those_of_the_arrays(campaign: Campaign, tmp_path: Path) -> None:
    """What blocks hold adds up to the arrays, metrics and columns of jobs included."""
    store = build(design(tmp_path / "store", survey(replace(campaign, resamples=3))))
    group: Any = open_results(store.place)
    arrays = [
        group[trace][variable.name]
        for trace in store.axes["trace"]
        for kind in store.holds
        for variable in store.arrays_of(trace, kind)
    ]
    held = sum(store.block_bytes(block) for block in store.blocks())
    assert held == sum(math.prod(a.shape) * a.dtype.itemsize for a in arrays)


def test_a_batch_holds_no_more_than_it_may(
    campaign: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks wait together up to a number of bytes, of which columns of jobs are a part."""
    small = campaign.traces[:1]
    campaign = replace(campaign, traces=small, resamples=2, fairness=("resource", "promise"))
    store = build(design(tmp_path / "store", survey(campaign)))
    blocks = store.blocks()
    before = sum(len(task.batches) for task in plan(store, campaign, blocks))
    largest = max(map(store.block_bytes, blocks))
    monkeypatch.setattr("schedfarm.farm.planning.tasks.BATCH_BYTES", largest)
    batches = [batch for task in plan(store, campaign, blocks) for batch in task.batches]
    assert len(batches) > before
    assert sorted(block for batch in batches for block in batch) == sorted(blocks)
    for batch in batches:
        cells = [block for block in batch if block.product.simulates]
        assert len(cells) <= 1 or sum(map(store.block_bytes, batch)) <= largest
