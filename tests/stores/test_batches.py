"""A task of several batches: each is stored when it is done, whatever becomes of the others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from schedfarm.core.format.names import record_name
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.execution import task_progress, worker
from schedfarm.farm.execution.messages import TaskEncoder, WorkerFault, decoded
from schedfarm.farm.execution.run import Prepared, begin
from schedfarm.farm.execution.worker import run_message, run_task
from schedfarm.farm.planning.backlog import Backlog
from schedfarm.farm.planning.tasks import Task, block_costs
from schedfarm.farm.store.records import read_headers

CAMPAIGN = Campaign(
    name="batches",
    traces=(Trace(name="m", model="lublin", processors=64, jobs=60),),
    policies=("fcfs+easy", "saf+easy"),
    resamples=6,
    block_seconds=1e-6,
)


@pytest.fixture
def prepared(tmp_path: Path) -> Iterator[Prepared]:
    with begin(CAMPAIGN, tmp_path) as one:
        yield one


def joined(prepared: Prepared) -> Task:
    """Return a task of all batches that one worker thread is given at first."""
    costs = block_costs(prepared.store, prepared.store.blocks())
    found = Backlog(prepared.tasks, costs).take()
    assert len(found.batches) > 3
    return found


class Struck(BaseException):
    """Stand for the end of a process."""


def test_each_batch_is_stored_before_the_next_begins(
    prepared: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that dies loses the batch that it is at, and whoever gets the task goes on."""
    whole, simulate = joined(prepared), worker.answers
    asked: list[Any] = []

    def strike(made: Any, questions: Any) -> Any:
        asked.append(questions)
        if len(asked) == 3:
            raise Struck
        return simulate(made, questions)

    monkeypatch.setattr(worker, "answers", strike)
    with pytest.raises(Struck):
        run_task(whole)
    done = {block for batch in whole.batches[:2] for block in batch}
    assert read_headers(prepared.store).keys() == done
    marks = {block: prepared.store.place.etag(record_name(block)) for block in done}
    told = run_task(whole)
    assert [one.block for one in told] == list(whole.blocks)
    assert not any(asked[3:5])
    assert all(asked[5:])
    assert marks == {b: prepared.store.place.etag(record_name(b)) for b in done}


def test_a_run_that_stops_begins_no_batch(
    prepared: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is at hand is finished and told of; the rest is handed out again."""
    whole, simulate = joined(prepared), worker.answers

    def wish(made: Any, questions: Any) -> Any:
        task_progress.stop(whole.run, 60.0)
        return simulate(made, questions)

    monkeypatch.setattr(worker, "answers", wish)
    told = {one.block for one in run_task(whole)}
    assert told == set(whole.batches[0]) == read_headers(prepared.store).keys()
    backlog = Backlog([], block_costs(prepared.store, prepared.store.blocks()))
    backlog.give_back_rest(whole, told)
    rest = [backlog.take() for _ in iter(lambda: bool(backlog), False)]
    assert [b for one in rest for b in one.blocks] == [b for p in whole.batches[1:] for b in p]


def test_progress_of_task_and_batch(prepared: Prepared) -> None:
    """The share of the task grows by batches, the cell is counted within one."""
    whole, store = joined(prepared), prepared.store
    count = len(whole.batches)
    with task_progress.tracked(whole) as progress:
        assert progress.report().done == 0
        for place, batch in enumerate(whole.batches):
            cells = [
                (b, cell) for b in batch if b.product.simulates for cell in store.span_of(b).cells
            ]
            progress.enter(cells)
            found = progress.report()
            assert found.blocks == whole.blocks
            assert found.done == pytest.approx(place / count, abs=0.2)
            assert (found.doing.cell, found.doing.cells) == (1, len(cells))
            assert not found.is_long
            for _ in cells:
                progress.advance()
        assert progress.report().done == pytest.approx(1.0)
        # As many as before take as long as those; of the first one the plan is all that is known.
        progress._begun -= 100
        last = whole.batches[-1]
        assert progress.ends_within(last, 120 / (count - 1))
        assert not progress.ends_within(last, 80 / (count - 1))
        assert progress.ends_within(whole.batches[0], 80 / count)


def test_a_message_holds_the_task(prepared: Prepared, monkeypatch: pytest.MonkeyPatch) -> None:
    """What tasks share is made into bytes once, and read once by a worker."""
    encoder, [first, second] = TaskEncoder(), prepared.tasks[:2]
    one, other = encoder.encode(first), encoder.encode(second)
    assert one.shared is other.shared
    assert len(one.own) < len(one.shared)
    assert [decoded(one), decoded(other)] == [first, second]
    assert decoded(one).store is decoded(other).store
    done = run_message(one)
    assert not isinstance(done, WorkerFault)
    assert tuple(told.block for told in done) == first.blocks
    monkeypatch.setattr(worker, "run_task", lambda task: task)
    assert run_message(other) == second
