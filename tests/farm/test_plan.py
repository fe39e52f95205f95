"""Blocks and tasks: every cell once, shards that nobody shares, longest first."""

from __future__ import annotations

from pathlib import Path

import pytest

from farm.build import build, design
from farm.campaign import Campaign
from farm.layout import BLOCK_SECONDS, SHARD_BYTES, block_positions, cell_seconds, lay_out
from farm.plan import TASK_SECONDS, missing_blocks, plan
from farm.traces import Trace


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


def test_task_of_many_policies_stays_short(campaign: Campaign, tmp_path: Path) -> None:
    """Policies share a task only while it stays under its bound."""
    store = build(design(tmp_path / "store", campaign))
    tasks = plan(store, campaign, missing_blocks(store, {}))
    assert all(task.seconds <= TASK_SECONDS for task in tasks if len(task.blocks) > 2)
    assert {tuple(b.policy for b in t.blocks) for t in tasks if t.trace.name == "a"} == {
        ("workload", "fcfs+easy", "saf+easy", "fcfs+conservative")
    }


@pytest.mark.parametrize("jobs", [1, 1024, 1025, 77_222, 2_000_000])
@pytest.mark.parametrize("policy", ["saf+easy", "spf+conservative", "fcfs+depth(4)"])
def test_block_is_bounded_in_time_and_bytes(jobs: int, policy: str) -> None:
    """A block stays under the bounds unless it is a single cell."""
    layout = lay_out(jobs, 10, 1000, (policy,))
    cells = layout.resamples_per_block
    assert layout.job_shard >= jobs
    assert cells == 1 or cells * cell_seconds(jobs, policy) <= BLOCK_SECONDS
    assert cells == 1 or cells * layout.job_shard * 8 <= SHARD_BYTES


@pytest.mark.parametrize(("samples", "per_block"), [(1, 1), (10, 4), (8, 4), (3, 7)])
def test_blocks_cover_the_axis_without_overlap(samples: int, per_block: int) -> None:
    """Each resample stands in exactly one block."""
    numbers = range(-(-samples // per_block))
    covered = [i for n in numbers for i in block_positions(n, per_block, samples)]
    assert covered == list(range(samples))
