"""Preparation of a run or of a part: a locked store, and its missing tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace

from schedfarm.core.format.geometry import Block, Cell
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.planning.design import Design, build, design
from schedfarm.farm.planning.parts import Part, check_parts, shares
from schedfarm.farm.planning.survey import Survey, survey
from schedfarm.farm.planning.tasks import Task, cells_missing, missing_blocks, plan
from schedfarm.farm.store.files import InUse, writing
from schedfarm.farm.store.place import Where
from schedfarm.farm.store.provenance import program
from schedfarm.farm.store.records import check_definitions, headers_of, read_headers
from schedfarm.farm.store.store import Store


@dataclass(frozen=True)
class Prepared:
    """Hold a locked store with the tasks of one run or round.

    survey: survey of the campaign. lock: lock of the store, held while it is open. tasks: result of
    `plan`. cells: number of cells of the campaign or its part. before: number of cells done by
    earlier runs or rounds. missing: number of missing cells of each block. kept: cells of these
    blocks that earlier runs have simulated. notes: a sentence for each damaged part of the store
    that was made again. verdict: a sentence on the last finished round, "" without any.
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
    verdict: str = ""


@contextmanager
def begin(campaign: Campaign, store: Where, *, retry_failed: bool = False) -> Iterator[Prepared]:
    """Prepare a campaign's store, lock it, and plan the missing tasks; arguments as for `run`."""
    # Bad input is refused before anything is written.
    designed = design(store, survey(campaign), retry_failed=retry_failed)
    with ExitStack() as lock:
        name = lock.enter_context(designed.store.place.locked())
        confirmed = designed.confirmed(retry_failed=retry_failed)
        yield prepared_by(confirmed, lock, name, retry_failed=retry_failed)


def prepared_by(
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
    missing = {b: cells_missing(built, b, heads.get(b)) for b in blocks}
    before = built.cells - sum(missing.values())
    tasks = _tasks(built, designed.campaign, blocks, run)
    kept = {b: heads[b].succeeded for b in blocks if b in heads}
    of = designed.verdict
    verdict = str(of) if of and of.rounds else ""
    return Prepared(
        built, designed.survey, lock, tasks, built.cells, before, missing, kept, notes, verdict
    )


def _tasks(store: Store, campaign: Campaign, blocks: list[Block], run: str) -> list[Task]:
    own = program()
    return [replace(task, run=run, program=own) for task in plan(store, campaign, blocks)]


@dataclass(frozen=True)
class PreparedPart:
    """Hold the tasks of a part, and all its blocks."""

    part: Part
    prepared: Prepared
    blocks: list[Block]


@contextmanager
def begin_part(
    campaign: Campaign, store: Where, part: Part, *, retry_failed: bool = False
) -> Iterator[PreparedPart]:
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
        missing = {b: cells_missing(built, b, heads.get(b)) for b in blocks}
        cells = sum(cells_missing(built, block, None) for block in share)
        kept = {b: heads[b].succeeded for b in blocks if b in heads}
        tasks = _tasks(built, campaign, blocks, run)
        before = cells - sum(missing.values())
        prepared = Prepared(built, designed.survey, lock, tasks, cells, before, missing, kept)
        yield PreparedPart(part, prepared, share)


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
