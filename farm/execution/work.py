"""The work of a run: its tasks, what became of each, what is tried again, and its progress."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from msgspec import structs

from schedfarm.core.format.geometry import Block, Cell
from schedfarm.core.format.names import record_name
from schedfarm.farm.execution.aside import aside
from schedfarm.farm.execution.executors import on_dask, serial
from schedfarm.farm.execution.faults import Lacking
from schedfarm.farm.execution.hearing import Hearing
from schedfarm.farm.execution.isolate import Killed
from schedfarm.farm.execution.rollcall import Errand
from schedfarm.farm.execution.spotchecks import SpotChecks, Withdrawn
from schedfarm.farm.execution.stop import Stop
from schedfarm.farm.execution.task import fingerprint_apart
from schedfarm.farm.execution.window import Result
from schedfarm.farm.execution.workers import LOOK_SECONDS
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
"""A task that was not done, and why."""


@dataclass(frozen=True)
class Prepared:
    """Hold what one run has to do.

    Parameters
    ----------
    store : Store
        Made or grown for the campaign.
    tasks : list of Task
        Longest first.
    before : int
        Cells that earlier runs have done.
    missing : dict of Block to int
        Cells that each block of the tasks still needs.
    kept : mapping of Block to set of Cell
        Cells that earlier runs have simulated, of the blocks of the tasks.
    mended : list of str
        What of the store had been damaged and was made again, a sentence each.
    """

    store: Store
    tasks: list[Task]
    before: int
    missing: dict[Block, int]
    kept: Mapping[Block, set[Cell]]
    mended: list[str] = field(default_factory=list)


class Work:
    """Carry out what a run has to do, and count it.

    Parameters
    ----------
    prepared : Prepared
        What there is to do.
    client : distributed.Client or None
        Of the cluster; without one the tasks run in this process.
    stop : Stop
        Whether the run is to stop.
    watch : All
        Gets the events.
    share : float
        Share of the cells that a second worker simulates, too.

    Attributes
    ----------
    done : int
        Cells that the run has simulated.
    lost : int
        Cells that no record gives as failed: their task was lost, or they are done but could not
        learn.
    """

    def __init__(
        self, prepared: Prepared, client: Client | None, stop: Stop, watch: All, share: float
    ) -> None:
        self.done = self.lost = 0
        self._prepared, self._client, self._stop, self._watch = prepared, client, stop, watch
        self._checks = SpotChecks(share, prepared.kept, self._arbitrate, self._say)
        self._again: list[Task] = []
        self._said: set[str] = set()

    @property
    def compared(self) -> int:
        """Cells of which the results of two workers were compared."""
        return self._checks.compared

    def run(self) -> None:
        """Carry all tasks out."""
        lost = self._carry_out(self._prepared.tasks)
        # A task is lost when its worker died too often: its blocks run again one by one, their
        # cells in processes of their own, so that the one which kills its process fails alone.
        alone = [
            replace(task, portions=((block,),), careful=True)
            for task, _ in lost
            for block in task.blocks
        ]
        lost = self._carry_out(alone)
        # What killed its process wherever it was tried has failed.
        deadly = [replace(task, last=True) for task, error in lost if isinstance(error, Killed)]
        lost = [one for one in lost if not isinstance(one[1], Killed)]
        for task, error in lost + self._carry_out(deadly):
            block = task.blocks[0]
            # Where none is missing, all are there and stay without what they were to learn.
            cells = self._prepared.missing[block] or cells_missing(task.store, block, None)
            self.lost += cells
            self._watch.see(Lost(cells=cells, why=f"{block}: {error!r}"))

    def _carry_out(self, tasks: list[Task]) -> list[Loss]:
        """Carry tasks out, and again what a worker in quarantine has done of them."""
        lost: list[Loss] = []
        while tasks:
            lost += self._carry_out_once(tasks)
            tasks, self._again = [] if self._stop.wished else self._again, []
        return lost

    def _carry_out_once(self, tasks: list[Task]) -> list[Loss]:
        store = self._prepared.store
        lost, summary = list[Loss](), Refresher(store)
        backlog = Backlog(tasks, block_costs(store, (b for t in tasks for b in t.blocks)))
        hearing = Hearing(backlog, self._stop, self._watch)
        # Where an error ends the run, workers are told now: no thread starts at the interpreter's
        # end.
        with closing(self._results(tasks[0], backlog, hearing)) as results:
            for task, result in results:
                if task.spot:
                    self._withdraw(self._checks.compare(task, result))
                elif isinstance(result, OSError):
                    raise unwritable(store.place, result) from result
                elif isinstance(result, Foreign):
                    raise result
                elif isinstance(result, BaseException):
                    lost.append((task, result))
                else:
                    done = [one for one in result if isinstance(one, BlockDone)]
                    self._take(task, done, backlog, hearing)
                    self._refresh(summary)
        return lost

    def _results(
        self, first: Task, backlog: Backlog, hearing: Hearing
    ) -> Generator[tuple[Task, Result], None, None]:
        if self._client is None:
            return serial(backlog, self._stop, first.run, hearing.hear, self._say)
        errand, bad = Errand(first.store.place, first.run, first.program), self._checks.quarantined
        return on_dask(self._client, backlog, self._stop, errand, hearing.hear, self._say, bad)

    def _take(
        self, task: Task, blocks: Sequence[BlockDone], backlog: Backlog, hearing: Hearing
    ) -> None:
        """Count the blocks that a worker has done, and draw some of their cells for a check."""
        for done in blocks:
            backlog.learn(done.block, done.seconds)
            self._note_unlearnt(done)
        # By the clock of this machine, and by what all its blocks took.
        here, left, told = now(), hearing.left(), list[Event]()
        for done in blocks:
            # Not what this attempt simulated: one whose worker died may have left blocks done.
            cells = 0 if done.why else self._prepared.missing[done.block]
            self.done += cells
            told.append(structs.replace(done, cells=cells, time=here, left=left))
        self._watch.see_all(told)
        if not self._stop.wished:
            # A worker whose job ends soon has left some.
            backlog.give_back_rest(task, {done.block for done in blocks})
        for check in self._checks.draw(task, blocks):
            backlog.give_back(check)
        for worker in {done.worker for done in blocks}:
            self._withdraw(self._checks.late(worker))

    def _withdraw(self, withdrawn: Withdrawn | None) -> None:
        """Remove the records of what is simulated again, and subtract it from what is done."""
        if withdrawn is None:
            return
        store = self._prepared.store
        if withdrawn.why:
            self._say(withdrawn.why)
        for block in (block for task in withdrawn.tasks for block in task.blocks):
            with writing(store.place):
                record = read_record(store.place, block)
                store.place.remove(record_name(block))
            cells = self._prepared.missing[block] = cells_missing(store, block, None)
            failed = len(record.header.failed) if record and block.product.policies else 0
            self.done -= cells
            event = Retracted(block=block, cells=cells, failed=failed, worker=withdrawn.worker)
            self._watch.see(event)
        self._again += withdrawn.tasks

    def _arbitrate(self, check: Task) -> Fingerprint:
        """Simulate a cell of which two workers differ, in a process of its own on this machine."""

        def look() -> None:
            if self._stop.is_overdue:
                raise Lacking("the run stops")

        return aside(partial(fingerprint_apart, check), look, LOOK_SECONDS)

    def _refresh(self, summary: Refresher) -> None:
        try:
            with writing(self._prepared.store.place):
                summary.look()
        except Unfolded as error:
            # A folder that is full now may have room at the end.
            self._say_once(str(error), str(error))

    def _note_unlearnt(self, done: BlockDone) -> None:
        """Count what could not learn, and say why: once for each reason, as blocks may be many."""
        if done.why:
            self.lost += done.failed
            self._say_once(done.why, f"{done.block} is left without what it lacks: {done.why}")

    def _say_once(self, why: str, text: str) -> None:
        if why not in self._said:
            self._said.add(why)
            self._say(text)

    def _say(self, text: str) -> None:
        self._watch.see(Said(text=text))
