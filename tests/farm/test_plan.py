"""Blocks and tasks: every cell once, shards that nobody shares, longest first."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from farm.campaign.campaign import Campaign
from farm.campaign.trace import Trace
from farm.planning.block_shape import (
    BLOCK_SECONDS,
    LEAST_SECONDS,
    MOST_SECONDS,
    PARTS,
    SHARD_BYTES,
    lay_out,
)
from farm.planning.cost import cell_seconds
from farm.planning.design import build, design
from farm.planning.tasks import Backlog, block_costs, missing_blocks, plan
from farm.store.arrays import CHUNK_VALUES, chunk_shape, open_results
from farm.store.geometry import Axes, Layout, positions
from farm.store.product import PRODUCTS


@pytest.fixture
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
    store = build(design(tmp_path / "store", campaign))
    tasks = plan(store, campaign, missing_blocks(store, {}))
    blocks = [block for task in tasks for block in task.blocks]
    assert sorted(blocks) == sorted(store.blocks())
    assert len(set(blocks)) == len(blocks)
    seconds = [task.seconds for task in tasks]
    assert seconds == sorted(seconds, reverse=True)


def test_policies_share_the_jobs_of_their_task(campaign: Campaign, tmp_path: Path) -> None:
    """A block holds all policies that meet the same jobs, and its task their columns, too."""
    store = build(design(tmp_path / "store", campaign))
    tasks = plan(store, campaign, missing_blocks(store, {}))
    for task in tasks:
        assert {block.kind for block in task.blocks} == {"workload", "cells"}
        assert len({(block.resample, block.load) for block in task.blocks}) == 1
        last = store.span_of(task.blocks[-1])
        assert last.policies == campaign.policies


def layout_of(jobs: int, axes: Axes, block_seconds: float = 0.0) -> Layout:
    sizes = {"job": jobs, "week": 10, "user": 0, "width": 9}
    return lay_out(sizes, axes, [PRODUCTS["cells"]], block_seconds)


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


def test_a_backlog_cuts_what_takes_longer_than_planned(
    campaign: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where blocks of a trace take ten times the plan, its later tasks come in parts."""
    monkeypatch.setattr("farm.planning.block_shape.SHARD_BYTES", 8 * 3200)
    store = build(design(tmp_path / "store", campaign))
    tasks = plan(store, campaign, missing_blocks(store, {}))
    costs = block_costs(store, store.blocks())
    assert max(len(task.blocks) for task in tasks) > 2
    backlog = Backlog(tasks, costs)
    first = backlog.take()
    assert first == tasks[0]
    for block in first.blocks:
        for _ in range(50):
            backlog.learn(block, 10 * costs[block])
    rest = [backlog.take() for _ in iter(lambda: bool(backlog), False)]
    cut = [task for task in rest if task not in tasks]
    assert cut
    assert {task.trace.name for task in cut} == {first.trace.name}
    longest = max(task.seconds for task in tasks)
    for task in cut:
        assert len(task.blocks) == 1 or backlog.expected(task.blocks) <= 2 * longest
        assert task.seconds == math.fsum(costs[block] for block in task.blocks)
    done = [block for task in (first, *rest) for block in task.blocks]
    assert sorted(done) == sorted(store.blocks())


def test_a_backlog_that_goes_as_planned_is_the_plan(campaign: Campaign, tmp_path: Path) -> None:
    """Nothing is cut where blocks take what was planned, or nothing is known of them yet."""
    store = build(design(tmp_path / "store", campaign))
    tasks = plan(store, campaign, missing_blocks(store, {}))
    backlog = Backlog(tasks, block_costs(store, store.blocks()))
    for task in tasks:
        assert backlog.take() == task
        for block in task.blocks:
            backlog.learn(block, task.seconds / len(task.blocks))
    assert not backlog


def test_bytes_are_those_of_the_arrays(campaign: Campaign, tmp_path: Path) -> None:
    """What blocks hold adds up to the arrays, metrics and columns of jobs included."""
    store = build(design(tmp_path / "store", replace(campaign, resamples=3)))
    group: Any = open_results(store.place)
    arrays = [
        group[trace][variable.name]
        for trace in store.axes["trace"]
        for kind in store.holds
        for variable in store.arrays_of(trace, kind)
    ]
    held = sum(store.block_bytes(block) for block in store.blocks())
    assert held == sum(math.prod(a.shape) * a.dtype.itemsize for a in arrays)


def test_a_task_holds_no_more_than_it_may(
    campaign: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks are gathered up to a number of bytes, of which columns of jobs are a part."""
    small = campaign.traces[:1]
    campaign = replace(campaign, traces=small, resamples=2, fairness=("resource", "promise"))
    store = build(design(tmp_path / "store", campaign))
    blocks = store.blocks()
    before = len(plan(store, campaign, blocks))
    largest = max(map(store.block_bytes, blocks))
    monkeypatch.setattr("farm.planning.tasks.TASK_BYTES", largest)
    tasks = plan(store, campaign, blocks)
    assert len(tasks) > before
    for task in tasks:
        cells = [block for block in task.blocks if block.product.simulates]
        assert len(cells) <= 1 or sum(map(store.block_bytes, task.blocks)) <= largest
