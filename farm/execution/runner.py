"""Run a campaign: prepare the store, do what is missing, fold the summary."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from types import FrameType
from typing import TYPE_CHECKING

from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.execution.spotchecks import SHARE
from schedfarm.farm.execution.stop import FINISH_SECONDS, Stop
from schedfarm.farm.execution.work import Prepared, Work
from schedfarm.farm.planning.design import build, design, survey
from schedfarm.farm.planning.tasks import cells_missing, missing_blocks, plan
from schedfarm.farm.store.files import writing
from schedfarm.farm.store.place import Where, place_of
from schedfarm.farm.store.provenance import origin, program
from schedfarm.farm.store.store import Store
from schedfarm.farm.store.summary import fold
from schedfarm.farm.watching.events import (
    All,
    Begin,
    End,
    EventLog,
    Said,
    Watcher,
)

if TYPE_CHECKING:
    from distributed import Client


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
    compared : int
        Cells that a second worker has simulated, too.
    """

    store: Store
    cells: int
    before: int
    done: int
    failed: int
    interrupted: bool
    compared: int = 0


def run(
    campaign: Campaign,
    store: Where,
    client: Client | None = None,
    *,
    watch: Watcher | None = None,
    retry_failed: bool = False,
    spot_checks: float = SHARE,
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
    spot_checks : float
        Share of the cells that a second worker simulates, too, 0 to 1: at least one of each worker
        unless it is 0. A worker whose results are wrong is put in quarantine, and what it has done
        in this run is simulated again.

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
        return carry_out(prepared, client, watch or All(), spot_checks=spot_checks)


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
        heads = designed.old.headers() if designed.old else {}
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
        kept = {b: heads[b].succeeded for b in blocks if b in heads}
        yield Prepared(built, tasks, before, missing, kept, mended)


def carry_out(
    prepared: Prepared, client: Client | None, watch: Watcher, *, spot_checks: float = SHARE
) -> Outcome:
    """Carry out what `begin` has prepared, and fold the summary.

    Parameters
    ----------
    prepared : Prepared
        From `begin`.
    client, watch, spot_checks
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
    with ExitStack() as stack:
        stack.callback(lambda: watchers.see(End()))
        stack.callback(_settle, store)
        stop = stack.enter_context(interruptible(watchers))
        work = Work(prepared, client, stop, watchers, spot_checks if client else 0.0)
        work.run()
        # Workers that were killed leave half a file; those of an abandoned run may still write.
        store.place.tidy()
    failed = work.lost + sum(
        len(h.failed) for b, h in store.headers().items() if b.product.policies
    )
    return Outcome(
        store, store.cells, prepared.before, work.done, failed, stop.wished, work.compared
    )


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
