"""Coordinator: the execution of the tasks of a run, the handling of results, counts of cells."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from msgspec import structs

from schedfarm.core.format.geometry import Block, Cell
from schedfarm.core.format.names import record_name
from schedfarm.farm.execution.cancellation import (
    COORDINATOR_POLL_SECONDS,
    CancellationToken,
    in_thread,
)
from schedfarm.farm.execution.executors import Result, on_dask, serial
from schedfarm.farm.execution.messages import Killed, MissingRequirement
from schedfarm.farm.execution.monitor import Monitor
from schedfarm.farm.execution.spot_checks import SpotChecks, Withdrawn
from schedfarm.farm.execution.worker import isolated_fingerprint
from schedfarm.farm.execution.workers import RunContext
from schedfarm.farm.planning.backlog import Backlog
from schedfarm.farm.planning.tasks import Task, block_costs, cells_missing
from schedfarm.farm.store.files import unwritable, writing
from schedfarm.farm.store.fingerprint import Fingerprint
from schedfarm.farm.store.provenance import Foreign
from schedfarm.farm.store.records import read_record
from schedfarm.farm.store.store import Store
from schedfarm.farm.store.summary import Refresher, Unfolded
from schedfarm.farm.watching.events import All, BlockDone, Event, Lost, Retracted, Said, now

if TYPE_CHECKING:
    from distributed import Client

Loss = tuple[Task, BaseException]
"""A task that was not done, and the error that ended it."""


class Coordinator:
    """Execute the tasks of a run, handle their results, and count cells.

    `done` counts simulated cells. `lost` counts cells without a record of their failure: cells of a
    lost task, and cells to which a new metric could not be added. missing: number of missing cells
    of each block. kept: cells of these blocks that earlier runs have simulated.
    """

    def __init__(
        self,
        missing: dict[Block, int],
        kept: Mapping[Block, set[Cell]],
        client: Client | None,
        token: CancellationToken,
        watch: All,
        share: float,
        *,
        refreshes: bool = True,
    ) -> None:
        self._refreshes = refreshes
        self.done = self.lost = 0
        self._missing, self._client, self._token, self._watch = missing, client, token, watch
        self._checks = SpotChecks(share, kept, self._arbitrate, self._say)
        self._again: list[Task] = []
        self._said: set[str] = set()

    @property
    def compared(self) -> int:
        """Cells whose results were compared between two workers."""
        return self._checks.compared

    def run(self, tasks: list[Task]) -> None:
        """Execute tasks; if a worker dies, repeat its tasks in isolation."""
        lost = self._execute(tasks)
        # A task is lost after the deaths of too many workers. Its blocks run again one by one, with
        # each cell in a separate process, so that only the cell that kills its process fails.
        alone = [
            replace(task, batches=((block,),), isolate=True)
            for task, _ in lost
            for block in task.blocks
        ]
        lost = self._execute(alone)
        # A cell has failed if it killed every process that tried it.
        deadly = [replace(task, last=True) for task, error in lost if isinstance(error, Killed)]
        lost = [one for one in lost if not isinstance(one[1], Killed)]
        for task, error in lost + self._execute(deadly):
            block = task.blocks[0]
            # A block without missing cells is here because a new metric could not be added to it.
            cells = self._missing[block] or cells_missing(task.store, block, None)
            self.lost += cells
            self._watch.see(Lost(cells=cells, why=f"{block}: {error!r}"))

    def _execute(self, tasks: list[Task]) -> list[Loss]:
        """Execute tasks, and repeat blocks of workers in quarantine."""
        lost: list[Loss] = []
        while tasks:
            lost += self._execute_once(tasks)
            tasks, self._again = [] if self._token.requested else self._again, []
        return lost

    def _execute_once(self, tasks: list[Task]) -> list[Loss]:
        store, lost = tasks[0].store, list[Loss]()
        summary = Refresher(store) if self._refreshes else None
        backlog = Backlog(tasks, block_costs(store, (b for t in tasks for b in t.blocks)))
        monitor = Monitor(backlog, self._token, self._watch)
        # If an error ends the run, this closes the executor now, since no thread can be started
        # while the interpreter exits.
        with closing(self._results(tasks[0], backlog, monitor)) as results:
            for task, result in results:
                if task.spots:
                    for withdrawn in self._checks.compare(task, result):
                        self._withdraw(withdrawn)
                elif isinstance(result, OSError):
                    raise unwritable(store.place, result) from result
                elif isinstance(result, Foreign):
                    raise result
                elif isinstance(result, BaseException):
                    lost.append((task, result))
                else:
                    done = [one for one in result if isinstance(one, BlockDone)]
                    self._take(task, done, backlog, monitor)
                    if summary is not None:
                        self._refresh(store, summary)
                for check in self._checks.due(last=not backlog):
                    backlog.give_back(check)
        return lost

    def _results(
        self, first: Task, backlog: Backlog, monitor: Monitor
    ) -> Generator[tuple[Task, Result], None, None]:
        if self._client is None:
            return serial(backlog, self._token, first.run, monitor, self._say)
        context = RunContext(first.store.place, first.run, first.program)
        bad = self._checks.quarantined
        return on_dask(self._client, backlog, self._token, context, monitor, self._say, bad)

    def _take(
        self, task: Task, blocks: Sequence[BlockDone], backlog: Backlog, monitor: Monitor
    ) -> None:
        """Count the blocks that a worker has done, and draw spot checks among their cells."""
        for done in blocks:
            backlog.learn(done.block, done.seconds)
            self._note_unlearnt(done)
        # The time is by this machine's clock. The remaining time uses the measured times of all
        # these blocks.
        time, left, events = now(), monitor.left(), list[Event]()
        for done in blocks:
            # The count is from the store: an earlier attempt may have finished blocks before it
            # died.
            cells = 0 if done.why else self._missing[done.block]
            self.done += cells
            events.append(structs.replace(done, cells=cells, time=time, left=left))
        self._watch.see_all(events)
        if not self._token.requested:
            # A draining worker leaves some blocks.
            backlog.give_back_rest(task, {done.block for done in blocks})
        self._checks.draw(task, blocks)
        for worker in {done.worker for done in blocks}:
            self._withdraw(self._checks.late(worker))

    def _withdraw(self, withdrawn: Withdrawn | None) -> None:
        """Remove the records of withdrawn blocks, and subtract their cells from the done cells."""
        if withdrawn is None:
            return
        if withdrawn.why:
            self._say(withdrawn.why)
        for task, block in ((one, block) for one in withdrawn.tasks for block in one.blocks):
            store = task.store
            with writing(store.place):
                record = read_record(store.place, block)
                store.place.remove(record_name(block))
            cells = self._missing[block] = cells_missing(store, block, None)
            failed = len(record.header.failed) if record and block.product.policies else 0
            self.done -= cells
            event = Retracted(block=block, cells=cells, failed=failed, worker=withdrawn.worker)
            self._watch.see(event)
        self._again += withdrawn.tasks

    def _arbitrate(self, check: Task) -> Fingerprint:
        """Simulate a cell for which two workers differ, in a separate process on this machine."""

        def check_overdue() -> None:
            if self._token.is_overdue:
                raise MissingRequirement("the run stops")

        return in_thread(
            partial(isolated_fingerprint, check), check_overdue, COORDINATOR_POLL_SECONDS
        )

    def _refresh(self, store: Store, summary: Refresher) -> None:
        try:
            with writing(store.place):
                summary.look()
        except Unfolded as error:
            # A folder that is full now may have space at the end of the run.
            self._say_once(str(error), str(error))

    def _note_unlearnt(self, done: BlockDone) -> None:
        """Count cells to which a new metric could not be added; report each reason once."""
        if done.why:
            self.lost += done.failed
            self._say_once(done.why, f"{done.block} remains without new metrics: {done.why}")

    def _say_once(self, why: str, text: str) -> None:
        if why not in self._said:
            self._said.add(why)
            self._say(text)

    def _say(self, text: str) -> None:
        self._watch.see(Said(text=text))
