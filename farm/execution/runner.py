"""Run a campaign: prepare the store, do what is missing, fold the summary."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import TYPE_CHECKING

from msgspec import structs

from farm.campaign.campaign import Campaign
from farm.execution.executors import on_dask, serial
from farm.execution.hearing import Hearing
from farm.execution.isolate import Killed
from farm.execution.rollcall import Errand
from farm.execution.stop import FINISH_SECONDS, Stop
from farm.planning.backlog import Backlog
from farm.planning.design import build, design, survey
from farm.planning.tasks import Task, block_costs, cells_missing, missing_blocks, plan
from farm.store.files import unwritable, writing
from farm.store.geometry import Block
from farm.store.place import Where, place_of
from farm.store.provenance import Foreign, origin, program
from farm.store.store import Store
from farm.store.summary import Refresher, Unfolded, fold
from farm.watching.events import (
    All,
    Begin,
    BlockDone,
    End,
    Event,
    EventLog,
    Lost,
    Said,
    Watcher,
    now,
)

if TYPE_CHECKING:
    from distributed import Client


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
    missing : mapping of Block to int
        Cells that each block of the tasks still needs.
    mended : list of str
        What of the store had been damaged and was made again, a sentence each.
    """

    store: Store
    tasks: list[Task]
    before: int
    missing: Mapping[Block, int]
    mended: list[str] = field(default_factory=list)


@dataclass
class Count:
    """Count the cells that a run has simulated, and those that no record tells as failed.

    These are cells whose task was lost, and ones that are done but could not learn; `told` is why
    they could not, and what else is said once only.
    """

    done: int = 0
    lost: int = 0
    told: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Outcome:
    """Say how a run ended.

    Parameters
    ----------
    store : Store
        Where the results are.
    cells : int
        Cells of the campaign.
    before : int
        Cells that earlier runs had done.
    done : int
        Cells that this run simulated.
    failed : int
        Cells of the campaign that have failed.
    interrupted : bool
        Whether the run was asked to stop before the end.
    """

    store: Store
    cells: int
    before: int
    done: int
    failed: int
    interrupted: bool


def run(
    campaign: Campaign,
    store: Where,
    client: Client | None = None,
    *,
    watch: Watcher | None = None,
    retry_failed: bool = False,
) -> Outcome:
    """Simulate every cell of a campaign that its store does not hold yet.

    Parameters
    ----------
    campaign : Campaign
        What to simulate.
    store : str or path
        Folder, or address such as ``s3://BUCKET/NAME``; made where it is missing, grown where the
        campaign has grown.
    client : distributed.Client, optional
        Any Dask client; by default the cells run one after the other in this process.
    watch : Watcher, optional
        Told of progress; by default nobody.
    retry_failed : bool
        Whether cells that failed before run again.

    Returns
    -------
    Outcome
        Counts of cells, and whether the run was interrupted (first SIGINT or SIGTERM: what ends
        within `FINISH_SECONDS` is finished, the rest is left; second: all is abandoned. What has
        no record is simulated again by the next run).

    Raises
    ------
    InputError
        If the campaign or the store is unusable; nothing is written then. Also if the store
        cannot be written any more, say since the disk is full; or, once all is simulated, if there
        is no room for the temporary files of the summary.
    SchedulerLost
        If the scheduler is lost. After either the next run goes on from the records.

    Examples
    --------
    >>> import tempfile, farm
    >>> c = farm.Campaign(name="tiny", traces=(farm.Trace(name="m", model="lublin", processors=64,
    ...                   jobs=50),), policies=("fcfs+easy", "saf+easy"), resamples=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first, again = farm.run(c, folder), farm.run(c, folder)
    >>> (first.cells, first.done), (again.before, again.done)
    ((4, 4), (4, 0))
    """
    with begin(campaign, store, retry_failed=retry_failed) as prepared:
        return carry_out(prepared, client, watch or All())


@contextmanager
def begin(campaign: Campaign, store: Where, *, retry_failed: bool = False) -> Iterator[Prepared]:
    """Make a campaign's store ready, lock it, and find what is missing in it.

    Parameters
    ----------
    campaign, store, retry_failed
        As for `run`.

    Yields
    ------
    Prepared
        To be carried out while the store is locked.

    Raises
    ------
    InputError
        As for `run`.
    """
    extents = survey(campaign)
    design(store, campaign, extents)  # refuses bad input before anything is written
    with place_of(store).locked() as name:
        # Again, since another run may have grown the store until it was locked.
        mended: list[str] = []
        designed = design(store, campaign, extents)
        heads = designed.old.heads() if designed.old else {}
        if designed.old:
            # Before it grows: a store that is refused stays as it is.
            designed.old.check_definitions(heads.values())
        built = build(designed, mended.append)
        with writing(built.place):
            built.place.tidy()
        blocks = missing_blocks(built, heads, retry_failed=retry_failed)
        missing = {b: cells_missing(built, b, heads.get(b)) for b in blocks}
        before = built.cells - sum(missing.values())
        own = program()
        tasks = [replace(task, run=name, program=own) for task in plan(built, campaign, blocks)]
        yield Prepared(built, tasks, before, missing, mended)


def carry_out(prepared: Prepared, client: Client | None, watch: Watcher) -> Outcome:
    """Carry out what `begin` has prepared, and fold the summary.

    Parameters
    ----------
    prepared : Prepared
        From `begin`.
    client, watch
        As for `run`.

    Returns
    -------
    Outcome
        As for `run`.
    """
    store = prepared.store
    watchers = All(watch, EventLog(store.place))
    watchers.see(Begin(cells=store.cells, before=prepared.before, pid=os.getpid(), origin=origin()))
    for text in prepared.mended:
        watchers.see(Said(text=text))
    count = Count()
    with ExitStack() as stack:
        stack.callback(lambda: watchers.see(End()))
        stack.callback(_settle, store)
        stop = stack.enter_context(interruptible(watchers))
        _work(prepared, client, stop, watchers, count)
        # Workers that were killed leave half a file; those of an abandoned run may still write.
        store.place.tidy()
    failed = count.lost + sum(len(h.failed) for b, h in store.heads().items() if b.product.policies)
    return Outcome(store, store.cells, prepared.before, count.done, failed, stop.wished)


def _settle(store: Store) -> None:
    with writing(store.place):
        fold(store)


@contextmanager
def interruptible(watch: Watcher) -> Iterator[Stop]:
    """Turn the first SIGINT or SIGTERM into a wish to stop, the second into KeyboardInterrupt."""
    stop = Stop()

    def handle(number: int, frame: FrameType | None) -> None:
        if stop.wished:
            raise KeyboardInterrupt
        stop.wish()
        text = (
            f"stopping: finishing the blocks that end within {FINISH_SECONDS:.0f} s, leaving the "
            "others; interrupt again to abandon all"
        )
        watch.see(Said(text=text))

    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    old = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    except KeyboardInterrupt:
        stop.wish()
        watch.see(Said(text="abandoned what was running; the next run simulates it again"))
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def _work(prepared: Prepared, client: Client | None, stop: Stop, watch: All, count: Count) -> None:
    lost = _carry_out(prepared, prepared.tasks, client, stop, watch, count)
    # A task is lost when its worker died too often: its blocks run again one by one, their cells
    # in processes of their own, so that the one which kills its process fails alone.
    alone = [
        replace(task, portions=((block,),), careful=True)
        for task, _ in lost
        for block in task.blocks
    ]
    lost = _carry_out(prepared, alone, client, stop, watch, count)
    # What killed its process wherever it was tried has failed.
    deadly = [replace(task, last=True) for task, error in lost if isinstance(error, Killed)]
    lost = [one for one in lost if not isinstance(one[1], Killed)]
    for task, error in lost + _carry_out(prepared, deadly, client, stop, watch, count):
        block = task.blocks[0]
        # Where none is missing, all are there and stay without what they were to learn.
        cells = prepared.missing[block] or cells_missing(prepared.store, block, None)
        count.lost += cells
        watch.see(Lost(cells=cells, why=f"{block}: {error!r}"))


def _carry_out(
    prepared: Prepared,
    tasks: list[Task],
    client: Client | None,
    stop: Stop,
    watch: All,
    count: Count,
) -> list[tuple[Task, BaseException]]:
    lost, summary = [], Refresher(prepared.store)

    def say(text: str) -> None:
        watch.see(Said(text=text))

    backlog = Backlog(tasks, block_costs(prepared.store, (b for t in tasks for b in t.blocks)))
    run, hearing = tasks[0].run if tasks else "", Hearing(backlog, stop, watch)
    if client:
        errand = Errand(prepared.store.place, run, tasks[0].program if tasks else None)
        results = on_dask(client, backlog, stop, errand, hearing.hear, say)
    else:
        results = serial(backlog, stop, run, hearing.hear, say)
    # Where an error ends the run, workers are told now: no thread starts at the interpreter's end.
    with closing(results):
        for task, result in results:
            if isinstance(result, OSError):
                raise unwritable(prepared.store.place, result) from result
            if isinstance(result, Foreign):
                raise result
            if isinstance(result, BaseException):
                lost.append((task, result))
                continue
            for done in result:
                backlog.learn(done.block, done.seconds)
                _tell(done, count, watch)
            # By the clock of this machine, and by what all its blocks took.
            here, left, told = now(), hearing.left(), list[Event]()
            for done in result:
                # Not what this attempt simulated: one whose worker died may have left blocks done.
                cells = 0 if done.why else prepared.missing[done.block]
                count.done += cells
                told.append(structs.replace(done, cells=cells, time=here, left=left))
            watch.see_all(told)
            if not stop.wished:
                # A worker whose job ends soon has left some.
                backlog.give_back_rest(task, {done.block for done in result})
            _refresh(summary, prepared.store, count, watch)
    return lost


def _refresh(summary: Refresher, store: Store, count: Count, watch: Watcher) -> None:
    try:
        with writing(store.place):
            summary.look()
    except Unfolded as error:
        # A folder that is full now may have room at the end.
        _say_once(str(error), str(error), count, watch)


def _tell(done: BlockDone, count: Count, watch: Watcher) -> None:
    """Count what could not learn, and say why: once for each reason, as blocks may be many."""
    if not done.why:
        return
    count.lost += done.failed
    text = f"{done.block} is left without what it lacks: {done.why}"
    _say_once(done.why, text, count, watch)


def _say_once(why: str, text: str, count: Count, watch: Watcher) -> None:
    if why not in count.told:
        count.told.add(why)
        watch.see(Said(text=text))
