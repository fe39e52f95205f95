"""Spot checks of a worker are given to another one in bundles, the first one at once."""

from __future__ import annotations

from pathlib import Path

from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.execution.spot_checks import BUNDLE, SpotChecks
from schedfarm.farm.planning.design import build, design
from schedfarm.farm.planning.survey import survey
from schedfarm.farm.planning.tasks import Task, missing_blocks, plan
from schedfarm.farm.store.fingerprint import Fingerprint
from schedfarm.farm.watching.events import BlockDone

CAMPAIGN = Campaign(
    name="bundles",
    traces=(Trace(name="m", model="lublin", processors=64, jobs=50),),
    policies=("fcfs+easy", "saf+easy"),
    loads=("0.8",),
    resamples=4 * BUNDLE,
    block_seconds=1e-9,
)


def no_arbiter(task: Task) -> Fingerprint:
    raise AssertionError(task)


def test_every_drawn_cell_is_in_one_task__the_first_of_a_worker_at_once(tmp_path: Path) -> None:
    """A wrong worker is found early, and later checks share the cost of a task."""
    store = build(design(tmp_path / "s", survey(CAMPAIGN)))
    tasks = plan(store, CAMPAIGN, missing_blocks(store, {}, retry_failed=False))
    checks = SpotChecks(1.0, {}, no_arbiter, print)
    given = []
    for number, task in enumerate(tasks):
        done = [
            BlockDone(block=b, cells=len(store.span_of(b)), failed=0, seconds=0.01, worker="h:1")
            for b in task.blocks
        ]
        checks.draw(task, done)
        due = checks.due(last=number == len(tasks) - 1)
        assert due or number
        given += due
    spots = [spot for task in given for spot in task.spots]
    wanted = {(b, cell) for b in store.blocks() for cell in store.span_of(b).cells}
    assert len(spots) == len(set(spots))
    assert set(spots) == wanted
    first, *later, _ = given
    assert len(first.spots) < BUNDLE <= min(len(task.spots) for task in later)
    assert all(set(task.blocks) == {block for block, _ in task.spots} for task in given)
    assert {task.maker for task in given} == {"h:1"}
    assert checks.due(last=True) == []
