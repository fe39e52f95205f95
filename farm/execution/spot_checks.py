"""Spot checks: a second worker simulates a sample of cells, which exposes faulty workers.

Volunteer computing uses spot checks, quarantine and withdrawal against faulty hosts: L. Sarmenta,
Sabotage-tolerance mechanisms for volunteer computing systems, 2002, section 3.2.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeGuard

from schedfarm.core.format.geometry import Block, Cell
from schedfarm.farm.execution.messages import FAULTS, Checked
from schedfarm.farm.planning.tasks import Spot, Task, block_costs
from schedfarm.farm.store.fingerprint import Fingerprint, recorded
from schedfarm.farm.store.records import read_record
from schedfarm.farm.watching.events import BlockDone

SHARE = 0.001
"""Default share of the cells that a second worker simulates."""

BUNDLE = 16
"""Number of spot checks of one worker and trace in one task for another worker. A task costs
coordinator, scheduler and worker 13 ms in addition to its cells, which may take 3 ms each."""

BUNDLE_SECONDS = 1.0
"""Planned CPU time from which an incomplete bundle is given to a worker, s."""

MOST_NAMED = 3
"""Largest number of differences named for a cell."""

WHOLE = 2**32
"""Exclusive upper bound of a CRC-32."""

_Drawn = tuple[BlockDone, Cell]

Arbiter = Callable[[Task], Fingerprint]
"""Simulates the cell of a spot check on the coordinator's machine."""


@dataclass(frozen=True)
class Withdrawn:
    """Hold the tasks to simulate again, the worker in quarantine, and a sentence for the user."""

    worker: str
    tasks: list[Task]
    why: str


@dataclass
class _Bundle:
    """Gather spot checks of one worker and trace; `urgent` if one of them is the worker's first."""

    task: Task
    spots: list[Spot] = field(default_factory=list)
    seconds: float = 0.0
    urgent: bool = False

    @property
    def is_due(self) -> bool:
        """Whether another worker should get the checks now."""
        return self.urgent or len(self.spots) >= BUNDLE or self.seconds >= BUNDLE_SECONDS

    def made(self, maker: str) -> Task:
        """Return the checks of one worker as a task."""
        # Cells with the same jobs share the drawing; kinds of blocks of a policy share its
        # schedule.
        spots = tuple(sorted(self.spots, key=lambda spot: (spot[1], str(spot[0]))))
        blocks = tuple(dict.fromkeys(block for block, _ in spots))
        return replace(self.task, batches=(blocks,), seconds=self.seconds, spots=spots, maker=maker)


class SpotChecks:
    """Draw cells for a second worker, and identify faulty workers.

    share: share of the cells, 0 to 1; above 0, at least one cell of each worker is drawn. kept:
    cells of earlier runs, which are not drawn. arbiter: function that simulates a cell a third time
    if two workers differ. say: function that reports differences without quarantine. The attribute
    `quarantined` holds the faulty workers (host and process); `compared` counts cells.
    """

    def __init__(
        self,
        share: float,
        kept: Mapping[Block, set[Cell]],
        arbiter: Arbiter,
        say: Callable[[str], None],
    ) -> None:
        self._share, self._kept = share, kept
        self._arbiter, self._say = arbiter, say
        self.quarantined: set[str] = set()
        self.compared = 0
        self._drawn_of: set[str] = set()
        self._pending: dict[Spot, str] = {}
        self._bundles: dict[tuple[str, str, bool], _Bundle] = {}
        self._made = defaultdict[str, list[tuple[Task, Block]]](list)
        self._unsteady: set[str] = set()

    def draw(self, task: Task, done: Sequence[BlockDone]) -> None:
        """Draw spot checks among the blocks that a worker has done; `due` returns the checks."""
        found = list(self._sampled(task, done)) if self._share else []
        first = False
        for one in done:
            self._made[one.worker].append((task, one.block))
            fresh = one.worker not in self._drawn_of and one.block.product.simulates
            if self._share and fresh and not found:
                found = self._cheapest(task, done)
            if found:
                first |= one.worker not in self._drawn_of
                self._drawn_of.add(one.worker)
        costs = block_costs(task.store, {one.block for one, _ in found})
        for one, cell in found:
            key = one.worker, one.block.trace, task.isolate
            bundle = self._bundles.setdefault(key, _Bundle(task))
            bundle.spots.append((one.block, cell))
            bundle.seconds += costs[one.block] / len(task.store.span_of(one.block).cells)
            bundle.urgent |= first
            self._pending[one.block, cell] = one.worker

    def due(self, *, last: bool) -> list[Task]:
        """Return the bundles to be checked now: all bundles if no other task is waiting."""
        keys = [key for key, bundle in self._bundles.items() if last or bundle.is_due]
        return [self._bundles.pop(key).made(key[0]) for key in keys]

    def compare(self, check: Task, result: object) -> Iterator[Withdrawn]:
        """Compare the two results of each cell; yield the withdrawn blocks of wrong workers.

        Checks that the second worker could not perform are dropped.
        """
        found = {one.spot: one for one in result} if _is_checked(result) else {}
        for spot in check.spots:
            maker = self._pending.pop(spot, None)
            if maker is not None and spot in found:
                withdrawn = self._compare(check, spot, maker, found[spot])
                if withdrawn is not None:
                    yield withdrawn

    def _compare(self, check: Task, spot: Spot, maker: str, checked: Checked) -> Withdrawn | None:
        block, cell = spot
        if checked.worker in self.quarantined:
            # The next result of the worker is checked by another worker.
            self._drawn_of.discard(maker)
            return None
        record = read_record(check.store.place, block)
        if record is None or checked.worker == maker:
            return None
        first = recorded(record, record.header.span.cells.index(cell))
        self.compared += 1
        differences = first.differing(checked.fingerprint)
        if not differences:
            return None
        what = f"{', '.join(map(str, differences[:MOST_NAMED]))} of {cell} in {block}"
        try:
            third = self._arbiter(replace(check, batches=((block,),), spots=(spot,)))
        except FAULTS as error:
            self._say(
                f"{what}: workers {maker} and {checked.worker} differ, and the coordinator cannot "
                f"simulate the cell to find which is wrong ({error}); the block is simulated again"
            )
            return Withdrawn("", self._of_block(block, maker), "")
        if not third.differing(checked.fingerprint):
            return self._quarantine(maker, what, checked.worker)
        if not third.differing(first):
            return self._quarantine(checked.worker, what, maker)
        if cell[2] not in self._unsteady:
            self._unsteady.add(cell[2])
            self._say(
                f"{what}: three simulations gave three results; policy {cell[2]} is not "
                "deterministic, and its cells depend on the worker that simulates them"
            )
        return None

    def late(self, worker: str) -> Withdrawn | None:
        """Return the blocks that a worker has done since its quarantine; None for other workers."""
        if worker not in self.quarantined or not self._made[worker]:
            return None
        return Withdrawn(worker, self._withdraw(worker), "")

    def _quarantine(self, worker: str, what: str, other: str) -> Withdrawn:
        self.quarantined.add(worker)
        tasks = self._withdraw(worker)
        blocks = sum(len(task.blocks) for task in tasks)
        return Withdrawn(
            worker,
            tasks,
            f"worker {worker} is in quarantine: its {what} differ from those of worker {other} and "
            f"of the coordinator; its {blocks} blocks of this run are simulated "
            "again",
        )

    def _withdraw(self, worker: str) -> list[Task]:
        """Return tasks that repeat the blocks done by a worker, and drop their checks."""
        alike: dict[int, tuple[Task, set[Block]]] = {}
        for task, block in self._made.pop(worker, []):
            alike.setdefault(id(task), (task, set()))[1].add(block)
        gone = {block for _, blocks in alike.values() for block in blocks}
        self._forget(gone)
        return [_part(task, blocks) for task, blocks in alike.values()]

    def _of_block(self, block: Block, maker: str) -> list[Task]:
        found = [one for one in self._made[maker] if one[1] == block]
        self._made[maker] = [one for one in self._made[maker] if one[1] != block]
        self._forget({block})
        return [_part(task, {block}) for task, _ in found[-1:]]

    def _forget(self, blocks: set[Block]) -> None:
        self._pending = {k: v for k, v in self._pending.items() if k[0] not in blocks}
        for key, bundle in list(self._bundles.items()):
            bundle.spots = [spot for spot in bundle.spots if spot[0] not in blocks]
            if not bundle.spots:
                del self._bundles[key]

    def _sampled(self, task: Task, done: Sequence[BlockDone]) -> Iterator[_Drawn]:
        for one in done:
            for cell in self._fresh(task, one):
                if zlib.crc32(f"{task.run} {one.block} {cell}".encode()) < self._share * WHOLE:
                    yield one, cell

    def _cheapest(self, task: Task, done: Sequence[BlockDone]) -> list[_Drawn]:
        able = [one for one in done if one.block.product.simulates and self._fresh(task, one)]
        costs = block_costs(task.store, (one.block for one in able))
        for one in sorted(able, key=lambda one: costs[one.block])[:1]:
            return [(one, self._fresh(task, one)[0])]
        return []

    def _fresh(self, task: Task, one: BlockDone) -> list[Cell]:
        """Return the cells of a block that this run has simulated."""
        if one.why or (one.block.product.policies and not one.cells):
            return []
        kept = self._kept.get(one.block, set())
        return [cell for cell in task.store.span_of(one.block).cells if cell not in kept]


def _is_checked(result: object) -> TypeGuard[list[Checked]]:
    return isinstance(result, list) and all(isinstance(one, Checked) for one in result)


def _part(task: Task, blocks: set[Block]) -> Task:
    """Return a task with some of its blocks."""
    left = (tuple(b for b in batch if b in blocks) for batch in task.batches)
    return replace(task, batches=tuple(batch for batch in left if batch))
