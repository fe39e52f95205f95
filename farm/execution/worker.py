"""Execution of tasks on a worker: simulate cells, commit each block, drain, isolate cells.

The environment variable `DEADLINE` has the time at which a worker in a batch job drains. Cells that
may kill their process are simulated in a fresh interpreter.
"""

from __future__ import annotations

import math
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, TypeVar

from schedfarm.core.engine.cancel import underway
from schedfarm.core.errors import InputError, Left
from schedfarm.core.format.geometry import Block, Cell
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.execution.cancellation import WORKER_POLL_SECONDS
from schedfarm.farm.execution.cell import Figures, Simulations
from schedfarm.farm.execution.messages import (
    FAULTS,
    Checked,
    Done,
    Killed,
    TaskMessage,
    WorkerFault,
    decoded,
    fault_behind,
    publish,
    worker_name,
)
from schedfarm.farm.execution.task_progress import TaskProgress, is_stopping, tracked
from schedfarm.farm.planning.tasks import Batch, Spot, Task
from schedfarm.farm.store.block import OpenBlock, Rows, commit
from schedfarm.farm.store.fingerprint import Fingerprint, fingerprint_of
from schedfarm.farm.store.provenance import check_program
from schedfarm.farm.store.store import Store
from schedfarm.farm.watching.events import BlockDone

T = TypeVar("T")

DEADLINE = "SCHEDFARM_WORKER_ENDS"
"""Environment variable that the launcher sets from the walltime of the job: the time, s since 1970,
after which this process begins no more blocks."""

PUBLISH_SECONDS = 0.2
"""Time until the result of a task has left this process, s."""

CHILD = "from schedfarm.farm.execution.worker import child; child()"
"""Program of an isolated process."""

Request = tuple[Block, Cell, Rows | None]
"""A block, one of its cells, and the rows that the store already holds of the cell."""

Answer = tuple[int, Rows, Figures, float] | Exception
"""Jobs, rows and figures of a cell and its CPU time, s; or the error of a failed cell."""


def run_message(message: TaskMessage) -> Done | WorkerFault:
    """Run a serialised task and publish its result; another worker takes over after a fault."""
    task = decoded(message)
    try:
        result: Done | WorkerFault = run_task(task)
    except FAULTS as error:
        result = WorkerFault(error, worker_name(), _address())
    publish(result)
    return result


def _address() -> str:
    from distributed import get_worker

    try:
        return str(get_worker().address)
    except ValueError:
        return ""


def run_task(task: Task) -> Done:
    """Simulate a task's cells and store them; write the record of each block last.

    Returns an entry for each block, except blocks that are left when the run stops or the worker
    drains, and one `Checked` for each spot check. Raises one of `FAULTS` if this worker cannot do
    the task. A cell that fails by itself does not raise an error: its error is recorded.
    """
    check_program(task.program)
    if is_stopping(task.run):
        return []
    if task.spots:
        return _check(task)
    done: list[BlockDone] = []
    # All batches share one object, since the next batch may have the same jobs.
    simulations = Simulations(task.store, task.trace, task.run)
    with tracked(task) as progress:
        for batch in task.batches:
            if not _may_begin(batch, progress):
                break
            done += _run_batch(batch, simulations, progress)
    return done


def _may_begin(batch: Batch, progress: TaskProgress) -> bool:
    """Return whether to begin a batch: not if the run stops or the batch would outlive the worker.

    If time is short, the worker drains, since it would otherwise return one task after another.
    """
    if is_stopping(progress.task.run):
        return False
    return progress.ends_within(batch, seconds_left()) or not drain()


def seconds_left() -> float:
    """Return the time until this process begins no more blocks, s; infinite without a deadline.

    Examples
    --------
    >>> seconds_left()
    inf
    """
    try:
        return float(os.environ[DEADLINE]) - time.time()
    except (KeyError, ValueError):
        return math.inf


def drain() -> bool:
    """Close this worker gracefully, so that its job ends early and its launcher starts another job.

    Returns False in the run's own process, since no other worker could continue.
    """
    from distributed import get_worker

    try:
        worker = get_worker()
    except ValueError:
        return False
    # The worker closes after the result of the current task has left.
    close = partial(worker.close_gracefully, reason="its job ends soon")
    worker.loop.add_callback(worker.loop.call_later, PUBLISH_SECONDS, close)
    return True


def _run_batch(batch: Batch, simulations: Simulations, progress: TaskProgress) -> list[BlockDone]:
    """Simulate the cells of a batch and commit its blocks, except blocks that are cancelled."""
    task = progress.task
    blocks = [OpenBlock(task.store, block, task.run) for block in batch]
    wanted = [(block, place) for block in blocks for place in (*block.missing, *block.backfill)]
    # Cells that share jobs or a schedule are consecutive.
    wanted.sort(key=lambda one: one[0].cells[one[1]])
    requests = [(b.block, b.cells[place], b.backfill.get(place)) for b, place in wanted]
    progress.enter([(block, cell) for block, cell, _ in requests])
    answered = _answers_of(task, simulations, requests)
    try:
        for (block, place), answer in zip(wanted, answered, strict=True):
            if isinstance(answer, Exception):
                block.fail(place, answer)
            else:
                block.add(place, *answer)
            progress.advance()
    except Left:
        unfinished = {id(block) for block, _ in wanted[progress.at :]}
        blocks = [block for block in blocks if id(block) not in unfinished]
    commit(blocks)
    if simulations.kept:
        simulations.kept.drop()
    return [_block_done(block) for block in blocks]


def _block_done(block: OpenBlock) -> BlockDone:
    counts = (len(block.missing), block.failed) if block.block.product.policies else (0, 0)
    reasons = block.backfill_errors
    return BlockDone(
        block=block.block,
        cells=0 if reasons else counts[0],
        failed=len(reasons) or counts[1],
        seconds=round(block.seconds, 6),
        worker=worker_name(),
        why=reasons[0] if reasons else "",
    )


def _check(task: Task) -> list[Checked]:
    """Simulate the cells of spot checks; in a stopping run, skip cells that take too long."""
    simulations = Simulations(task.store, task.trace)
    requests: list[Request] = [(block, cell, None) for block, cell in task.spots]
    checked: list[Checked] = []
    with tracked(task) as progress:
        progress.enter(task.spots)
        answered = _answers_of(task, simulations, requests)
        try:
            for spot, answer in zip(task.spots, answered, strict=True):
                checked.append(Checked(worker_name(), spot, _fingerprint(task.store, spot, answer)))
                progress.advance()
        except Left:
            pass
    return checked


def isolated_fingerprint(task: Task) -> Fingerprint:
    """Return the fingerprint of the only cell of a spot check, simulated in a separate process.

    Raises one of `FAULTS` if the cell cannot be simulated on this host.
    """
    return isolated(_own_fingerprint, task)


def _own_fingerprint(task: Task) -> Fingerprint:
    (spot,) = task.spots
    (answer,) = answers(Simulations(task.store, task.trace), [(*spot, None)])
    return _fingerprint(task.store, spot, answer)


def _fingerprint(store: Store, spot: Spot, answer: Answer) -> Fingerprint:
    if isinstance(answer, Exception):
        return Fingerprint(failed=True)
    jobs, rows, figures, _ = answer
    return fingerprint_of(store, spot[0], jobs, rows, figures)


def answers(simulations: Simulations, requests: Iterable[Request]) -> Iterator[Answer]:
    """Yield the values of cells in the order of the requests; an error of a failed cell is data.

    Consecutive cells with the same jobs or schedule share the drawing and the simulation. Raises
    one of `FAULTS` if this worker cannot simulate the cells.
    """
    for block, cell, stored in requests:
        try:
            if stored is None:
                simulations.jobs(*cell[:2])
            begun = time.process_time()
            values = simulations.values(block, cell, stored)
            yield *values, time.process_time() - begun
        except FAULTS:
            raise
        except InputError as error:
            if fault := fault_behind(error):
                raise fault from error
            yield error
        except Exception as error:  # any error that follows from the cell itself is data
            yield error


def _answers_of(task: Task, simulations: Simulations, requests: list[Request]) -> Iterator[Answer]:
    """Return the values of cells, simulated in this process or in isolation."""
    if task.isolate:
        return _isolated_answers(simulations, requests, last=task.last)
    return answers(simulations, requests)


def _isolated_answers(
    simulations: Simulations, requests: list[Request], *, last: bool
) -> Iterator[Answer]:
    """Yield the answers of separate processes; bisect the cells of a killed process."""
    if not requests:
        return
    try:
        run = simulations.kept.run if simulations.kept else None
        yield from isolated(_all_answers, simulations.store, simulations.trace, run, requests)
    except Killed as error:
        half = len(requests) // 2
        if half:
            yield from _isolated_answers(simulations, requests[:half], last=last)
            yield from _isolated_answers(simulations, requests[half:], last=last)
        elif last:
            yield error
        else:
            raise


def _all_answers(
    store: Store, trace: Trace, run: str | None, requests: list[Request]
) -> list[Answer]:
    return list(answers(Simulations(store, trace, run), requests))


def isolated(function: Callable[..., T], *arguments: Any) -> T:
    """Call a module's function in a fresh interpreter; raise its exceptions.

    Raises `Killed` if the process ends without an answer. Raises `Left` and kills the process if
    this thread's simulations are cancelled. The interpreter is a subprocess, because
    multiprocessing does not allow children of a Dask worker. Pickles pass through a pipe and are
    never stored.
    """
    # Without -P, Python would search the current folder first, even if this process does not.
    command = [sys.executable, "-P", "-c", CHILD]
    searched = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, env=os.environ | searched, stdin=pipe, stdout=pipe, stderr=pipe
    ) as process:
        try:
            output = _exchange(process, pickle.dumps((function, arguments)))
        except BaseException:
            process.kill()
            raise
    if process.returncode != 0 or not output:
        raise Killed(f"the simulation killed its process ({_cause(process.returncode)})")
    result, error = pickle.loads(output)
    if error is not None:
        raise error
    answer: T = result
    return answer


def _exchange(process: subprocess.Popen[bytes], data: bytes) -> bytes:
    token, unsent = underway(), data or None
    while True:
        try:
            return process.communicate(unsent, timeout=WORKER_POLL_SECONDS)[0]
        except subprocess.TimeoutExpired:
            # The next call of `communicate` sends the unsent bytes by itself, and does not accept
            # them as an argument again.
            unsent = None
            token.check()


def child() -> None:
    """Answer one call: read it from standard input, and write the answer to standard output."""
    function, arguments = pickle.load(sys.stdin.buffer)
    answer: tuple[Any, Exception | None]
    try:
        answer = function(*arguments), None
    except Exception as error:
        answer = None, error
    sys.stdout.buffer.write(pickle.dumps(answer))


def _cause(code: int) -> str:
    if code < 0:
        return signal.Signals(-code).name
    return f"exit status {code}"
