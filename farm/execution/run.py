"""Runs of campaigns or of parts: lock the store, execute its missing tasks, fold the summary."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from schedfarm.core.errors import InputError
from schedfarm.core.format.geometry import Block, Cell
from schedfarm.core.format.names import PARTS
from schedfarm.core.format.record import Header
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.execution.cancellation import cancelled_by_signals
from schedfarm.farm.execution.coordinator import Coordinator
from schedfarm.farm.execution.spot_checks import SHARE
from schedfarm.farm.planning.design import Design, build, design
from schedfarm.farm.planning.parts import Part, check_parts, shares
from schedfarm.farm.planning.rounds import Verdict
from schedfarm.farm.planning.survey import Survey, survey
from schedfarm.farm.planning.tasks import Task, cells_missing, missing_blocks, plan
from schedfarm.farm.store.checkpoints import remove_checkpoints
from schedfarm.farm.store.files import InUse, writing
from schedfarm.farm.store.place import Where
from schedfarm.farm.store.provenance import origin, program
from schedfarm.farm.store.records import check_definitions, headers_of, read_headers, record_names
from schedfarm.farm.store.store import Store
from schedfarm.farm.store.summary import fold
from schedfarm.farm.watching.events import All, Begin, End, EventLog, Said, Watcher

if TYPE_CHECKING:
    from distributed import Client


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
        Whether the summary has the values of all simulated cells; False after one part has ended
        while other parts are missing.
    """

    store: Store
    cells: int
    before: int
    done: int
    failed: int
    interrupted: bool
    compared: int = 0
    complete: bool = True


@dataclass(frozen=True)
class Prepared:
    """Hold a locked store with the tasks of one run or round.

    survey: survey of the campaign. lock: lock of the store, held while it is open. tasks: result of
    `plan`. cells: number of cells of the campaign or its part. before: number of cells done by
    earlier runs or rounds. missing: number of missing cells of each block. kept: cells of these
    blocks that earlier runs have simulated. share: blocks of the part, empty for a whole campaign.
    notes: a sentence for each damaged part of the store that was made again. verdict: a sentence on
    the last finished round, "" without any.
    """

    store: Store
    survey: Survey
    lock: ExitStack
    tasks: list[Task]
    cells: int
    before: int
    missing: dict[Block, int]
    kept: Mapping[Block, set[Cell]]
    share: Sequence[Block] = ()
    notes: list[str] = field(default_factory=list)
    verdict: str = ""


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
    """Simulate the missing cells of a campaign's store.

    Parameters
    ----------
    campaign : Campaign
        Campaign to simulate.
    store : str or path
        Folder, or address such as ``s3://BUCKET/NAME``. A missing store is created; a store grows
        with its campaign.
    client : distributed.Client, optional
        Client of any Dask cluster; by default the cells run one after the other in this process.
    watch : Watcher, optional
        Receives events of the run; by default they are only logged in the store.
    retry_failed : bool
        Whether to simulate failed cells again.
    spot_checks : float
        Share of the cells that a second worker simulates for comparison, 0 to 1. Above 0, at least
        one cell of each worker is checked. A worker with wrong results is put in quarantine, and
        its cells of this run are simulated again.
    part : str, optional
        Part of the blocks to simulate in this process, such as ``"7/200"``; other processes may
        simulate other parts at the same time. The part that ends last completes the summary. If
        that fails, the next run without `part` completes it.

    Returns
    -------
    Outcome
        Counts of cells, of the part if one was given, and whether the run was interrupted. At the
        first SIGINT or SIGTERM, tasks that end within 10 s are finished and other tasks are
        abandoned. At the second signal, all tasks are abandoned. The next run simulates the cells
        without a record.

    Raises
    ------
    InputError
        If the campaign or the store is unusable; nothing is written then. If another run is using
        the store, or another process simulates the same part. If the store can no longer be
        written, for example because the disk is full. If the temporary files of the summary do not
        fit on the disk at the end.
    SchedulerLost
        If the scheduler is lost. After either error, the next run continues from the records.

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


@contextmanager
def begin(campaign: Campaign, store: Where, *, retry_failed: bool = False) -> Iterator[Prepared]:
    """Prepare a campaign's store, lock it, and plan the missing tasks; arguments as for `run`."""
    # Bad input is refused before anything is written.
    designed = design(store, survey(campaign), retry_failed=retry_failed)
    with ExitStack() as lock:
        name = lock.enter_context(designed.store.place.locked())
        confirmed = designed.confirmed(retry_failed=retry_failed)
        yield _prepared(confirmed, lock, name, retry_failed=retry_failed)


def _prepared(
    designed: Design, lock: ExitStack, run: str, *, retry_failed: bool = False
) -> Prepared:
    """Build or grow the store of a design under its lock, and plan the missing tasks."""
    notes: list[str] = []
    heads = read_headers(designed.old) if designed.old else {}
    if designed.old:
        # The check precedes growth, so that a refused store remains unchanged.
        check_definitions(designed.old, heads.values())
    built = build(designed, notes.append)
    with writing(built.place):
        built.place.tidy()
    blocks = missing_blocks(built, heads, retry_failed=retry_failed)
    planned = _planned(designed, built, lock, run, heads, blocks, built.cells)
    of = designed.verdict
    return replace(planned, notes=notes, verdict=str(of) if of and of.rounds else "")


def _planned(
    designed: Design,
    store: Store,
    lock: ExitStack,
    run: str,
    heads: Mapping[Block, Header],
    blocks: list[Block],
    cells: int,
) -> Prepared:
    """Plan the tasks of the missing blocks of a locked store, which has `cells` cells."""
    missing = {b: cells_missing(store, b, heads.get(b)) for b in blocks}
    own, tasks = program(), plan(store, designed.campaign, blocks)
    return Prepared(
        store,
        designed.survey,
        lock,
        [replace(task, run=run, program=own) for task in tasks],
        cells,
        cells - sum(missing.values()),
        missing,
        {b: heads[b].succeeded for b in blocks if b in heads},
    )


@contextmanager
def begin_part(
    campaign: Campaign, store: Where, part: Part, *, retry_failed: bool = False
) -> Iterator[Prepared]:
    """Lock a part of a campaign's store, and plan its missing tasks; a missing store is built.

    Raises `InputError` if a run of the whole campaign holds the store, or another process holds the
    part.
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
        cells = sum(cells_missing(built, block, None) for block in share)
        planned = _planned(designed, built, lock, run, heads, blocks, cells)
        yield replace(planned, share=share)


def _built_for_parts(designed: Design) -> Design:
    """Return the design of the store, after building a missing store."""
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
            # Another part has built the store in the meantime, or is building it.
            designed = designed.confirmed()
            if not designed.standing:
                raise
        else:
            designed = designed.confirmed()
    return designed


def execute_part(prepared: Prepared, watch: Watcher) -> Outcome:
    """Execute the tasks of a part in this process; if no block is missing, complete the summary.

    Only runs write the log of events, since network file systems do not support appending by
    several hosts.
    """
    store, watchers = prepared.store, All(watch)
    with ExitStack() as stack:
        stack.callback(lambda: watchers.see(End()))
        watchers.see(_begin_event(prepared))
        with cancelled_by_signals(watchers) as token:
            coordinator = Coordinator(
                prepared.missing, prepared.kept, None, token, watchers, 0.0, refreshes=False
            )
            coordinator.run(prepared.tasks)
        heads = headers_of(store, prepared.share)
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
    """Fold the summary if no block is missing and no part is active; return whether it was folded.

    If several parts end at the same time, the last one to release its lock finds all records.
    """
    place = store.place
    if len(record_names(place)) < len(store.blocks()):
        return False
    if missing_blocks(store, read_headers(store), retry_failed=False):
        return False
    try:
        with place.locked(brief=True):
            place.tidy()
            remove_checkpoints(place)
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

    A campaign with requested precision continues with the next round until its intervals are short
    enough, or `goes_on` rejects the next round.
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
                _say_notes(prepared, watchers)
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


def _say_notes(prepared: Prepared, watchers: All) -> None:
    """Report repairs, and the last finished round."""
    for text in prepared.notes:
        watchers.see(Said(text=text))
    if prepared.verdict:
        watchers.see(Said(text=prepared.verdict, progress=True))


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
    _say_notes(prepared, watchers)
    with ExitStack() as stack:
        stack.callback(_fold, store)
        token = stack.enter_context(cancelled_by_signals(watchers))
        coordinator = Coordinator(prepared.missing, prepared.kept, client, token, watchers, share)
        coordinator.run(prepared.tasks)
        # Killed workers leave incomplete files, and workers of an abandoned run may still write.
        store.place.tidy()
        if not (token.requested or coordinator.lost):
            remove_checkpoints(store.place)
    return _Executed(coordinator.done, coordinator.lost, coordinator.compared, token.requested)


def _next_round(prepared: Prepared, goes_on: Callable[[Verdict], bool]) -> Prepared | None:
    """Judge a round, and return the next round; None if the round is unfinished.

    The next round has no tasks if sampling ends. A round with lost tasks is unfinished.
    """
    if not prepared.survey.campaign.precision:
        return None
    # The next round has a new name: a worker suspended in a block of this round may resume then.
    prepared.lock.close()
    run = prepared.lock.enter_context(prepared.store.place.locked())
    designed = design(prepared.store.place, prepared.survey)
    if designed.verdict is None or designed.standing:
        return None
    if not (designed.verdict.stopped or goes_on(designed.verdict)):
        return None
    return _prepared(designed, prepared.lock, run)


def _begin_event(prepared: Prepared) -> Begin:
    cells, before = prepared.cells, prepared.before
    return Begin(cells=cells, before=before, pid=os.getpid(), origin=origin())


def _fold(store: Store) -> None:
    with writing(store.place):
        fold(store)
        # Locks of parts tell readers that the summary may not be folded yet.
        store.place.remove_below(PARTS)
