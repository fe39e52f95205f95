"""What a worker does: simulate the cells of a task, and commit its blocks as they are done."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from schedfarm.core.errors import InputError, Left
from schedfarm.core.format.geometry import Block, Cell
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.execution.cell import Figures, Simulations
from schedfarm.farm.execution.courses import Course, course, is_stopping
from schedfarm.farm.execution.faults import OF_WORKER, of_worker
from schedfarm.farm.execution.isolate import Killed, isolated
from schedfarm.farm.execution.lifetime import left, retire
from schedfarm.farm.planning.tasks import Portion, Task
from schedfarm.farm.store.block import OpenBlock, Rows, commit
from schedfarm.farm.store.fingerprint import Fingerprint, fingerprint_of
from schedfarm.farm.store.provenance import check_program
from schedfarm.farm.store.store import Store
from schedfarm.farm.watching.events import BlockDone

Question = tuple[Block, Cell, Rows | None]
"""A block, a cell of it, and what is stored of that already."""

Answer = tuple[int, Rows, Figures, float] | Exception
"""What a block keeps of a cell and the CPU time it took, s; or why there is nothing."""


@dataclass(frozen=True)
class Checked:
    """Hold the fingerprint of a cell that was simulated a second time.

    Parameters
    ----------
    worker : str
        Host and process that did it.
    fingerprint : Fingerprint
        What it came to.
    """

    worker: str
    fingerprint: Fingerprint


Done = list[BlockDone] | list[Checked]
"""What comes of a task that its worker could do."""


def run_task(task: Task) -> Done:
    """Simulate a task's cells and store them, each block's record last.

    Parameters
    ----------
    task : Task
        What to do.

    Returns
    -------
    list of BlockDone
        One entry per block; none of those that were left, since the run stops or this worker ends.
        Of a spot check, a list of one `Checked` instead.

    Raises
    ------
    OSError, MemoryError, ImportError, Foreign, Lacking, Killed
        If this worker cannot do it. A cell that fails by itself does not raise: that is recorded.
    """
    check_program(task.program)
    if is_stopping(task.run):
        return []
    if task.spot is not None:
        return _check(task, task.spot)
    done: list[BlockDone] = []
    # One for all portions: the next one may have the same jobs.
    made = Simulations(task.store, task.trace)
    with course(task) as here:
        for portion in task.portions:
            if not _may_begin(portion, here):
                break
            done += _carry_out(portion, made, here)
    return done


def _may_begin(portion: Portion, here: Course) -> bool:
    """Tell whether to begin a portion: not where the run stops, or it would outlive this worker.

    The worker then retires: it would be given one task after the other, and give each of them back.
    """
    if is_stopping(here.task.run):
        return False
    return here.ends_within(portion, left()) or not retire()


def _carry_out(portion: Portion, made: Simulations, here: Course) -> list[BlockDone]:
    """Simulate the cells of a portion and store its blocks, but for those that are to be left."""
    task = here.task
    blocks = [OpenBlock(task.store, block, task.run) for block in portion]
    wanted = [(block, place) for block in blocks for place in (*block.missing, *block.lacking)]
    # Cells that share jobs, or a schedule, follow one another.
    wanted.sort(key=lambda one: one[0].cells[one[1]])
    questions = [(b.block, b.cells[place], b.lacking.get(place)) for b, place in wanted]
    here.enter([(block, cell) for block, cell, _ in questions])
    if task.careful:
        answered = _answers_apart(made, questions, last=task.last)
    else:
        answered = answers(made, questions)
    try:
        for (block, place), answer in zip(wanted, answered, strict=True):
            if isinstance(answer, Exception):
                block.fail(place, answer)
            else:
                block.put(place, *answer)
            here.go_on()
    except Left:
        half_done = {id(block) for block, _ in wanted[here.at :]}
        blocks = [block for block in blocks if id(block) not in half_done]
    commit(blocks)
    return [_told(block) for block in blocks]


def _told(block: OpenBlock) -> BlockDone:
    counts = (len(block.missing), block.failed) if block.block.product.policies else (0, 0)
    reasons = block.unlearnt
    return BlockDone(
        block=block.block,
        cells=0 if reasons else counts[0],
        failed=len(reasons) or counts[1],
        seconds=round(block.seconds, 6),
        worker=_worker(),
        why=reasons[0] if reasons else "",
    )


def _worker() -> str:
    return f"{platform.node()}:{os.getpid()}"


def _check(task: Task, cell: Cell) -> list[Checked]:
    """Simulate one cell of a task's block for comparison; nothing where it is to be left."""
    (block,) = task.blocks
    made = Simulations(task.store, task.trace)
    questions: list[Question] = [(block, cell, None)]
    with course(task) as here:
        here.enter([(block, cell)])
        try:
            if task.careful:
                (answer,) = _answers_apart(made, questions, last=task.last)
            else:
                (answer,) = answers(made, questions)
        except Left:
            return []
    return [Checked(_worker(), _fingerprint(task.store, block, answer))]


def fingerprint_apart(task: Task) -> Fingerprint:
    """Return the fingerprint of a spot check's cell, simulated in a process of its own.

    Raises
    ------
    OSError, MemoryError, ImportError, Lacking, Killed
        If it cannot be simulated here.
    """
    return isolated(_fingerprint_here, task)


def _fingerprint_here(task: Task) -> Fingerprint:
    (block,), cell = task.blocks, task.spot
    if cell is None:
        raise ValueError("only a spot check has one cell")
    (answer,) = answers(Simulations(task.store, task.trace), [(block, cell, None)])
    return _fingerprint(task.store, block, answer)


def _fingerprint(store: Store, block: Block, answer: Answer) -> Fingerprint:
    if isinstance(answer, Exception):
        return Fingerprint(failed=True)
    jobs, rows, figures, _ = answer
    return fingerprint_of(store, block, jobs, rows, figures)


def answers(made: Simulations, questions: Iterable[Question]) -> Iterator[Answer]:
    """Yield what blocks keep of cells, one by one; a cell that fails is an answer, too.

    Parameters
    ----------
    made : Simulations
        Of the store and the trace of the blocks. Drawing and simulating is done once for all
        neighbours that share it.
    questions : iterable of Question
        What is asked.

    Yields
    ------
    Answer
        In the order of the questions.

    Raises
    ------
    OSError, MemoryError, ImportError, Lacking
        If this worker cannot do it.
    """
    for block, cell, stored in questions:
        try:
            if stored is None:
                made.jobs(*cell[:2])
            begun = time.process_time()
            values = made.values(block, cell, stored)
            yield *values, time.process_time() - begun
        except OF_WORKER:
            raise
        except InputError as error:
            if fault := of_worker(error):
                raise fault from error
            yield error
        except Exception as error:  # what the cell itself determines is data, whatever its kind
            yield error


def _answers_apart(made: Simulations, questions: list[Question], *, last: bool) -> Iterator[Answer]:
    """Yield the same from processes of their own, halving the cells that take theirs along."""
    if not questions:
        return
    try:
        yield from isolated(_all_answers, made.store, made.trace, questions)
    except Killed as error:
        half = len(questions) // 2
        if half:
            yield from _answers_apart(made, questions[:half], last=last)
            yield from _answers_apart(made, questions[half:], last=last)
        elif last:
            yield error
        else:
            raise


def _all_answers(store: Store, trace: Trace, questions: list[Question]) -> list[Answer]:
    return list(answers(Simulations(store, trace), questions))
