"""The time that a run says is left: near the truth, without jumps, and never nothing too early."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from schedfarm.core.format.geometry import Block
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.execution.cancellation import CancellationToken
from schedfarm.farm.execution.monitor import Monitor
from schedfarm.farm.execution.run import begin
from schedfarm.farm.execution.task_progress import TaskReport
from schedfarm.farm.planning.backlog import Backlog
from schedfarm.farm.watching.events import Doing, Event

CAMPAIGN = Campaign(
    name="left",
    traces=(Trace(name="m", model="lublin", processors=64, jobs=40),),
    policies=("fcfs+easy",),
    resamples=30,
    block_seconds=1e-6,
)

TASK_SECONDS = 12
"""CPU time that a block takes."""

PLANNED_SECONDS = 0.5
"""What is planned for it: the plan of a trace whose queues grow may be off by a factor of 20."""

LOOK_SECONDS = 2

IDLE_SECONDS = 8
"""Time that the workers take to begin."""


class Nobody:
    def see(self, event: Event) -> None:
        pass


def report(block: Block, seconds: float) -> TaskReport:
    """Of a task of which nearly nothing is done at first, as while kernels are loaded."""
    done = 0.001 if seconds <= LOOK_SECONDS else min(0.9, seconds / TASK_SECONDS)
    doing = Doing(
        what=str(block), worker="h:1", seconds=seconds, cell=1, cells=1, share=done, done=done
    )
    return TaskReport((block,), seconds, done, doing)


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, float]]:
    """Return the time that is said to be left, and that which is, of a run of one worker."""
    now = [0.0]
    monkeypatch.setattr("schedfarm.farm.execution.monitor.active_seconds", lambda: now[0])
    with begin(CAMPAIGN, tmp_path / "store") as prepared:
        blocks = [b for t in prepared.tasks for b in t.blocks]
        costs = {block: PLANNED_SECONDS * block.product.policies for block in blocks}
        backlog = Backlog(prepared.tasks, costs)
    monitor = Monitor(backlog, CancellationToken(), Nobody())
    found = []
    cells = [block for block in blocks if block.product.simulates]
    whole = IDLE_SECONDS + TASK_SECONDS * len(cells)
    for _ in range(IDLE_SECONDS // LOOK_SECONDS):
        now[0] += LOOK_SECONDS
        monitor.update([], 1)
    for block in blocks:
        for k in range(TASK_SECONDS // LOOK_SECONDS if block in cells else 0):
            now[0] += LOOK_SECONDS
            monitor.update([report(block, (k + 1) * LOOK_SECONDS)], 1)
            found.append((monitor.left(), whole - now[0]))
        backlog.learn(block, TASK_SECONDS if block in cells else 0.0)
    return found


def test_it_is_near_the_truth_from_the_second_block_on(told: list[tuple[float, float]]) -> None:
    """Within a factor of 2, until the last block is all that is left."""
    later = told[TASK_SECONDS // LOOK_SECONDS : -TASK_SECONDS // LOOK_SECONDS]
    assert len(later) > 100
    assert [pair for pair in later if not pair[1] / 2 < pair[0] < 2 * pair[1]] == []


def test_it_does_not_jump(told: list[tuple[float, float]]) -> None:
    """From one look to the next it is at most a third more or less than the time that passed."""
    said = [left for left, _ in told if left > 0]
    steps = [
        math.log(after / (before - LOOK_SECONDS))
        for before, after in zip(said, said[1:], strict=False)
        if before > TASK_SECONDS
    ]
    assert max(map(abs, steps)) < math.log(4 / 3)


def test_something_is_left_while_a_block_is_missing(told: list[tuple[float, float]]) -> None:
    """What is simulated is still to be stored."""
    assert min(left for left, _ in told if left >= 0) > 1
