"""Runs: prepare the store of a campaign, execute the missing tasks, fold the summary."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from msgspec import structs

from schedfarm.core.errors import InputError
from schedfarm.core.format.geometry import Block, Cell
from schedfarm.core.format.names import PARTS, record_name
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.execution.cancellation import (
    COORDINATOR_POLL_SECONDS,
    CancellationToken,
    cancelled_by_signals,
    in_thread,
)
from schedfarm.farm.execution.dask_executor import on_dask
from schedfarm.farm.execution.faults import Killed, MissingRequirement
from schedfarm.farm.execution.monitor import Monitor
from schedfarm.farm.execution.serial import serial
from schedfarm.farm.execution.spot_checks import SHARE, SpotChecks, Withdrawn
from schedfarm.farm.execution.worker import Result, isolated_fingerprint
from schedfarm.farm.execution.workers import RunContext
from schedfarm.farm.planning.backlog import Backlog
from schedfarm.farm.planning.design import Design, build, design
from schedfarm.farm.planning.parts import Part, check_parts, shares
from schedfarm.farm.planning.rounds import Verdict
from schedfarm.farm.planning.survey import Survey, survey
from schedfarm.farm.planning.tasks import Task, block_costs, cells_missing, missing_blocks, plan
from schedfarm.farm.store.files import InUse, unwritable, writing
from schedfarm.farm.store.fingerprint import Fingerprint
from schedfarm.farm.store.place import Where
from schedfarm.farm.store.provenance import Foreign, origin, program
from schedfarm.farm.store.records import (
    check_definitions,
    headers_of,
    read_headers,
    read_record,
    record_names,
)
from schedfarm.farm.store.store import Store
from schedfarm.farm.store.summary import Refresher, Unfolded, fold
from schedfarm.farm.watching.events import (
    All,
    Begin,
    BlockDone,
    End,
    Event,
    EventLog,
    Lost,
    Retracted,
    Said,
    Watcher,
    now,
)

if TYPE_CHECKING:
    from distributed import Client

Loss = tuple[Task, BaseException]
"""A task that was not done, and the error that it ended with."""


@dataclass(frozen=True)
class Outcome:
    """Outcome of a run.

    Parameters
    ----------
    store : Store
        Store with the results.
    cells : int
        Cells of the campaign.
    before : int
        Cells done by earlier runs.
    done : int
        Cells simulated by this run.
    failed : int
        Failed cells of the campaign.
    interrupted : bool
        Whether the run was stopped before its end.
    compared : int
        Cells that a second worker simulated for comparison.
    complete : bool
        Whether the summary holds all cells that were simulated; False after a part while others are
        missing.
    """

    store: Store
    cells: int
    before: int
    done: int
    failed: int
    interrupted: bool
    compared: int = 0
    complete: bool = True


def run(
    campaign: Campaign,
    store: Where,
    client: Client | None = None,
    *,
    watch: Watcher | None = None,
    retry_failed: bool = False,
    spot_checks: float = SHARE,
    part: str | None = None,
) -> Outcome:
    """Simulate the cells of a campaign that are missing in its store.

    Parameters
    ----------
    campaign : Campaign
        Campaign to simulate.
    store : str or path
        Folder, or address such as ``s3://BUCKET/NAME``; created if missing, grown if the campaign
        has grown.
    client : distributed.Client, optional
        Client of any Dask cluster; by default the cells run one after the other in this process.
    watch : Watcher, optional
        Receives events of the run; by default they are only logged in the store.
    retry_failed : bool
        Whether to simulate failed cells again.
    spot_checks : float
        Share of the cells that a second worker simulates for comparison, 0 to 1: at least one cell
        of each worker unless it is 0. A worker whose results are wrong is put in quarantine, and
        its cells of this run are simulated again.
    part : str, optional
        Share of the blocks to simulate in this process, such as ``"7/200"``; other processes may
        simulate other parts at the same time. The part that ends last completes the summary, or
        else the next run without part.

    Returns
    -------
    Outcome
        Counts of cells, of the part if one was given, and whether the run was interrupted. At the
        first SIGINT or SIGTERM tasks that end within 10 s are finished and the others are left; at
        the second all are abandoned. The next run simulates the cells that have no record.

    Raises
    ------
    InputError
        If the campaign or the store is unusable; nothing is written then. If another run holds the
        store, or another process the same part. Also if the store can no
        longer be written, for example because the disk is full, or if there is no room for the
        temporary files of the summary at the end.
    SchedulerLost
        If the scheduler is lost. In either case the next run continues from the records.

    Examples
    --------
    >>> import tempfile
    >>> from schedfarm import farm
    >>> c = farm.Campaign(name="tiny", traces=(farm.Trace(name="m", model="lublin", processors=64,
    ...                   jobs=50),), policies=("fcfs+easy", "saf+easy"), resamples=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first, again = farm.run(c, folder), farm.run(c, folder)
    >>> (first.cells, first.done), (again.before, again.done)
    ((4, 4), (4, 0))
    """
    if part is not None and client is not None:
        raise InputError(f"part {part} is simulated in this process; leave client out")
    if part is None:
        with begin(campaign, store, retry_failed=retry_failed) as prepared:
            return execute(prepared, client, watch or All(), spot_checks=spot_checks)
    with begin_part(campaign, store, Part.parse(part), retry_failed=retry_failed) as prepared:
        return execute_part(prepared, watch or All())


@dataclass(frozen=True)
class Prepared:
    """Hold a locked store with the tasks of one run or round.

    survey: of the campaign. lock: of the store, held while it is open. tasks: longest first. cells:
    of the campaign or its part. before: cells done by earlier runs or rounds. missing: cells that
    each block of the tasks needs. kept: cells of these blocks that earlier runs have simulated.
    notes: a sentence for each damaged part of the store that was made again, and for a finished
    round.
    """

    store: Store
    survey: Survey
    lock: ExitStack
    tasks: list[Task]
    cells: int
    before: int
    missing: dict[Block, int]
    kept: Mapping[Block, set[Cell]]
    notes: list[str] = field(default_factory=list)


@contextmanager
def begin(campaign: Campaign, store: Where, *, retry_failed: bool = False) -> Iterator[Prepared]:
    """Prepare a campaign's store, lock it, and plan the missing tasks; arguments as for `run`."""
    # Refuses bad input before anything is written.
    designed = design(store, survey(campaign), retry_failed=retry_failed)
    with ExitStack() as lock:
        name = lock.enter_context(designed.store.place.locked())
        confirmed = designed.confirmed(retry_failed=retry_failed)
        yield _prepare(confirmed, lock, name, retry_failed=retry_failed)


def _prepare(
    designed: Design, lock: ExitStack, run: str, *, retry_failed: bool = False
) -> Prepared:
    """Build or grow the store of a design under its lock, and plan the missing tasks."""
    notes: list[str] = []
    heads = read_headers(designed.old) if designed.old else {}
    if designed.old:
        # Before it grows: a store that is refused stays as it is.
        check_definitions(designed.old, heads.values())
    built = build(designed, notes.append)
    with writing(built.place):
        built.place.tidy()
    blocks = missing_blocks(built, heads, retry_failed=retry_failed)
    missing = {b: cells_missing(built, b, heads.get(b)) for b in blocks}
    before = built.cells - sum(missing.values())
    tasks = _tasks(built, designed.campaign, blocks, run)
    kept = {b: heads[b].succeeded for b in blocks if b in heads}
    if designed.verdict and designed.verdict.rounds:
        notes.append(str(designed.verdict))
    return Prepared(built, designed.survey, lock, tasks, built.cells, before, missing, kept, notes)


def _tasks(store: Store, campaign: Campaign, blocks: list[Block], run: str) -> list[Task]:
    own = program()
    return [replace(task, run=run, program=own) for task in plan(store, campaign, blocks)]


@dataclass(frozen=True)
class PreparedPart:
    """Hold the tasks of a part, and all blocks of it."""

    part: Part
    prepared: Prepared
    blocks: list[Block]


@contextmanager
def begin_part(
    campaign: Campaign, store: Where, part: Part, *, retry_failed: bool = False
) -> Iterator[PreparedPart]:
    """Lock a part of a campaign's store, which is built if missing, and plan its missing tasks.

    InputError if a run without part holds the store, or another process the part.
    """
    check_parts(campaign, f"--part {part}")
    designed = design(store, survey(campaign), retry_failed=retry_failed)
    with ExitStack() as lock:
        while True:
            designed = _built_for_parts(designed)
            run = lock.enter_context(designed.store.place.shared(part.name))
            designed = designed.confirmed()
            if designed.standing:
                break
            lock.close()
        built = designed.store
        share = shares(built, campaign, part.of)[part.number]
        heads = headers_of(built, share)
        check_definitions(built, heads.values())
        wanted = set(missing_blocks(built, heads, retry_failed=retry_failed)) & {*share}
        blocks = [block for block in share if block in wanted]
        missing = {b: cells_missing(built, b, heads.get(b)) for b in blocks}
        cells = sum(cells_missing(built, block, None) for block in share)
        kept = {b: heads[b].succeeded for b in blocks if b in heads}
        tasks = _tasks(built, campaign, blocks, run)
        before = cells - sum(missing.values())
        prepared = Prepared(built, designed.survey, lock, tasks, cells, before, missing, kept)
        yield PreparedPart(part, prepared, share)


def _built_for_parts(designed: Design) -> Design:
    """Return the design of a store that stands; build it if no other process has."""
    while not designed.standing:
        place = designed.store.place
        try:
            with place.locked(brief=True):
                designed = designed.confirmed()
                if not designed.standing:
                    with writing(place):
                        build(designed)
                        place.tidy()
        except InUse:
            # Another part has built it and gone on, or holds it as another campaign left it.
            designed = designed.confirmed()
            if not designed.standing:
                raise
        else:
            designed = designed.confirmed()
    return designed


def execute_part(begun: PreparedPart, watch: Watcher) -> Outcome:
    """Execute the tasks of a part in this process; if no block is missing, complete the summary.

    The log of events is left to runs, since network file systems do not append for several hosts.
    """
    prepared = begun.prepared
    store, watchers = prepared.store, All(watch)
    with ExitStack() as stack:
        stack.callback(lambda: watchers.see(End()))
        watchers.see(_begin_event(prepared))
        with cancelled_by_signals(watchers) as token:
            coordinator = Coordinator(prepared, None, token, watchers, 0.0, refreshes=False)
            coordinator.run()
        heads = headers_of(store, begun.blocks)
        prepared.lock.close()
        complete = _complete(store)
    failed = coordinator.lost + sum(len(h.failed) for b, h in heads.items() if b.product.policies)
    return Outcome(
        store,
        prepared.cells,
        prepared.before,
        coordinator.done,
        failed,
        token.requested,
        complete=complete,
    )


def _complete(store: Store) -> bool:
    """Fold the summary if no block is missing and no part is at work; tell whether it was folded.

    Of parts that end at the same time, the last one to release its lock finds all records.
    """
    place = store.place
    if len(record_names(place)) < len(store.blocks()):
        return False
    if missing_blocks(store, read_headers(store), retry_failed=False):
        return False
    try:
        with place.locked(brief=True):
            place.tidy()
            _fold(store)
    except InUse:
        return False
    return True


def execute(
    prepared: Prepared,
    client: Client | None,
    watch: Watcher,
    *,
    spot_checks: float = SHARE,
    goes_on: Callable[[Verdict], bool] = lambda _: True,
) -> Outcome:
    """Execute the tasks that `begin` has prepared, and fold the summary; arguments as for `run`.

    A campaign that asks for precision goes on with the next round until its intervals are short, or
    `goes_on` rejects that round.
    """
    watchers = All(watch, EventLog(prepared.store.place))
    share, before = spot_checks if client else 0.0, prepared.before
    with ExitStack() as stack:
        stack.callback(lambda: watchers.see(End()))
        rounds = [_execute_round(prepared, client, watchers, share)]
        while not rounds[-1].interrupted:
            following = _next_round(prepared, goes_on)
            if following is None:
                break
            prepared = following
            if not prepared.tasks:
                for text in prepared.notes:
                    watchers.see(Said(text=text))
                break
            rounds.append(_execute_round(prepared, client, watchers, share))
    store = prepared.store
    failed = sum(one.lost for one in rounds) + sum(
        len(h.failed) for b, h in read_headers(store).items() if b.product.policies
    )
    return Outcome(
        store,
        store.cells,
        before,
        sum(one.done for one in rounds),
        failed,
        rounds[-1].interrupted,
        sum(one.compared for one in rounds),
    )


@dataclass(frozen=True)
class _Executed:
    """Hold the counts of one round: cells simulated, lost and compared."""

    done: int
    lost: int
    compared: int
    interrupted: bool


def _execute_round(
    prepared: Prepared, client: Client | None, watchers: All, share: float
) -> _Executed:
    store = prepared.store
    watchers.see(_begin_event(prepared))
    for text in prepared.notes:
        watchers.see(Said(text=text))
    with ExitStack() as stack:
        stack.callback(_fold, store)
        token = stack.enter_context(cancelled_by_signals(watchers))
        coordinator = Coordinator(prepared, client, token, watchers, share)
        coordinator.run()
        # Workers that were killed leave half a file; those of an abandoned run may still write.
        store.place.tidy()
    return _Executed(coordinator.done, coordinator.lost, coordinator.compared, token.requested)


def _next_round(prepared: Prepared, goes_on: Callable[[Verdict], bool]) -> Prepared | None:
    """Judge a finished round; return the next one, without tasks if sampling ends; None if neither.

    A round is not finished while tasks of it are lost.
    """
    if not prepared.survey.campaign.precision:
        return None
    # Under a new name: a worker that slept in a block of the last round may wake in this one.
    prepared.lock.close()
    run = prepared.lock.enter_context(prepared.store.place.locked())
    designed = design(prepared.store.place, prepared.survey)
    if designed.verdict is None or designed.standing:
        return None
    if not (designed.verdict.stopped or goes_on(designed.verdict)):
        return None
    return _prepare(designed, prepared.lock, run)


def _begin_event(prepared: Prepared) -> Begin:
    cells, before = prepared.cells, prepared.before
    return Begin(cells=cells, before=before, pid=os.getpid(), origin=origin())


def _fold(store: Store) -> None:
    with writing(store.place):
        fold(store)
        # The locks of parts tell readers that the summary may not be folded yet.
        store.place.remove_below(PARTS)


class Coordinator:
    """Execute the tasks of a run, handle their results, and count cells.

    `done` counts simulated cells; `lost` counts cells that no record reports as failed: their task
    was lost, or they are done but a new metric could not be added.
    """

    def __init__(
        self,
        prepared: Prepared,
        client: Client | None,
        token: CancellationToken,
        watch: All,
        share: float,
        *,
        refreshes: bool = True,
    ) -> None:
        self._refreshes = refreshes
        self.done = self.lost = 0
        self._prepared, self._client, self._token, self._watch = prepared, client, token, watch
        self._checks = SpotChecks(share, prepared.kept, self._arbitrate, self._say)
        self._again: list[Task] = []
        self._said: set[str] = set()

    @property
    def compared(self) -> int:
        """Cells of which the results of two workers were compared."""
        return self._checks.compared

    def run(self) -> None:
        """Execute all tasks, those whose workers died once more in isolation."""
        lost = self._execute(self._prepared.tasks)
        # A task is lost when its worker died too often: its blocks run again one by one, their
        # cells in processes of their own, so that the one which kills its process fails alone.
        alone = [
            replace(task, batches=((block,),), isolate=True)
            for task, _ in lost
            for block in task.blocks
        ]
        lost = self._execute(alone)
        # A cell that killed every process that tried it has failed.
        deadly = [replace(task, last=True) for task, error in lost if isinstance(error, Killed)]
        lost = [one for one in lost if not isinstance(one[1], Killed)]
        for task, error in lost + self._execute(deadly):
            block = task.blocks[0]
            # If none is missing, all are done and remain without the new metric.
            cells = self._prepared.missing[block] or cells_missing(task.store, block, None)
            self.lost += cells
            self._watch.see(Lost(cells=cells, why=f"{block}: {error!r}"))

    def _execute(self, tasks: list[Task]) -> list[Loss]:
        """Execute tasks, and again those blocks that a worker in quarantine has done."""
        lost: list[Loss] = []
        while tasks:
            lost += self._execute_once(tasks)
            tasks, self._again = [] if self._token.requested else self._again, []
        return lost

    def _execute_once(self, tasks: list[Task]) -> list[Loss]:
        store = self._prepared.store
        lost = list[Loss]()
        summary = Refresher(store) if self._refreshes else None
        backlog = Backlog(tasks, block_costs(store, (b for t in tasks for b in t.blocks)))
        monitor = Monitor(backlog, self._token, self._watch)
        # If an error ends the run, this closes the executor now: no thread can be started while
        # the interpreter exits.
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
                    self._refresh(summary)
                for check in self._checks.due(last=not backlog):
                    backlog.give_back(check)
        return lost

    def _results(
        self, first: Task, backlog: Backlog, monitor: Monitor
    ) -> Generator[tuple[Task, Result], None, None]:
        if self._client is None:
            return serial(backlog, self._token, first.run, monitor.update, self._say)
        context, bad = (
            RunContext(first.store.place, first.run, first.program),
            self._checks.quarantined,
        )
        return on_dask(self._client, backlog, self._token, context, monitor.update, self._say, bad)

    def _take(
        self, task: Task, blocks: Sequence[BlockDone], backlog: Backlog, monitor: Monitor
    ) -> None:
        """Count the blocks that a worker has done, and draw spot checks among their cells."""
        for done in blocks:
            backlog.learn(done.block, done.seconds)
            self._note_unlearnt(done)
        # By this machine's clock, and by the measured times of all these blocks.
        time, left, events = now(), monitor.left(), list[Event]()
        for done in blocks:
            # Not the cells of this attempt: an earlier one may have finished blocks before it died.
            cells = 0 if done.why else self._prepared.missing[done.block]
            self.done += cells
            events.append(structs.replace(done, cells=cells, time=time, left=left))
        self._watch.see_all(events)
        if not self._token.requested:
            # A worker that drains has left some.
            backlog.give_back_rest(task, {done.block for done in blocks})
        self._checks.draw(task, blocks)
        for worker in {done.worker for done in blocks}:
            self._withdraw(self._checks.late(worker))

    def _withdraw(self, withdrawn: Withdrawn | None) -> None:
        """Remove the records of withdrawn blocks, and subtract their cells from those done."""
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
        """Simulate a cell on which two workers differ, in a process of its own on this machine."""

        def check_overdue() -> None:
            if self._token.is_overdue:
                raise MissingRequirement("the run stops")

        return in_thread(
            partial(isolated_fingerprint, check), check_overdue, COORDINATOR_POLL_SECONDS
        )

    def _refresh(self, summary: Refresher | None) -> None:
        if summary is None:
            return
        try:
            with writing(self._prepared.store.place):
                summary.look()
        except Unfolded as error:
            # A folder that is full now may have room at the end.
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
