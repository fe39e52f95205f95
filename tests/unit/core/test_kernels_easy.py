"""The chain of blocks and the running lists against plain sorted lists."""

from __future__ import annotations

import numpy as np
import pytest

import schedfarm.core.machines.pool.kernel  # noqa: F401  A pool's steps, of which passes consist.
from schedfarm.core.arrays import Int64
from schedfarm.core.engine.fixed_order import STARVED, backfill
from schedfarm.core.engine.jit import NEVER
from schedfarm.core.engine.leaving import STAYING
from schedfarm.core.engine.queue import (
    BLOCK,
    MERGE,
    Queue,
    close_cell,
    dequeue,
    empty_queue,
    enqueue,
    head_of,
    still_waits,
    take_out,
    tidy,
)
from schedfarm.core.engine.ranking import ratio_exceeds
from schedfarm.core.engine.running import Jobs, find_shadow, idle_machine, launch, next_end, release
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.engine.world import empty_world
from schedfarm.core.workload.workload import Workload


def some_jobs(n: int, seed: int = 3) -> Jobs:
    random = np.random.default_rng(seed)
    estimate = random.integers(1, 40, n)
    return Jobs(
        np.sort(random.integers(0, 50, n)),
        random.integers(0, estimate + 1),
        estimate,
        random.integers(1, 9, n),
        np.full(n, -1),
        np.zeros(n, np.bool_),
        np.zeros(1, np.int64),
        STAYING,
    )


def contents(queue: Queue) -> list[int]:
    """Return the chain's jobs, having checked every block on the way."""
    found = []
    for b in queue.order[: queue.state[0].blocks]:
        cells = slice(queue.first[b], queue.first[b] + queue.length[b])
        assert b * BLOCK <= cells.start
        assert cells.stop <= (b + 1) * BLOCK
        assert queue.length[b] > 0
        assert queue.least_need[b] <= queue.need[cells].min()
        assert queue.least_estimate[b] <= queue.estimate[cells].min()
        for cell in range(cells.start, cells.stop):
            assert still_waits(queue, int(queue.job[cell]), cell)
        found += queue.job[cells].tolist()
    assert sorted(queue.order) == list(range(queue.order.size))
    return found


@pytest.mark.parametrize("span", [1, 5, 10_000])
def test_chain_keeps_queue_order(span: int) -> None:
    """After any insertions and removals: by key, equals by index, in sound blocks."""
    random = np.random.default_rng(span)
    n = 700
    jobs, key, queue = some_jobs(n), random.integers(0, span, n), empty_queue(n)
    waiting: list[int] = []
    for j in range(n):
        enqueue(queue, jobs, key, j)
        waiting.append(j)
        while waiting and random.random() < (0.2 if j < n // 2 else 0.7):
            dequeue(queue, key, waiting.pop(random.integers(len(waiting))))
        if j % 50 == 0 or j > n - 20:
            assert contents(queue) == sorted(waiting, key=lambda i: (key[i], i))


@pytest.mark.parametrize("seed", range(20))
def test_a_block_starts_who_may_in_order(seed: int) -> None:
    """As a look at each job in turn would by what is left then, and its bounds are exact after."""
    random = np.random.default_rng(seed)
    n, now = int(random.integers(1, BLOCK + 1)), 100
    free, shadow, extra = (int(x) for x in random.integers((1, 100, 0), (60, 130, 20)))
    if seed == 0:
        n, free, shadow = BLOCK, 8 * BLOCK, NEVER
    jobs = some_jobs(n, seed)
    world = empty_world(jobs, idle_machine(free, n), np.zeros(n, np.int64))
    for j in range(n):
        enqueue(world.queue, jobs, world.key, j)
    # Heads have left since the bounds were exact.
    for _ in range(min(seed % 3, n - 1)):
        close_cell(world.queue, 0, head_of(world.queue))
    hold = world.hold[0]
    hold.known, hold.shadow, hold.extra = 1, shadow, extra
    waiting, started = contents(world.queue), []
    for j in waiting:
        need, beside = int(jobs.procs[j]), now + jobs.estimate[j] > shadow
        if need <= free and (not beside or need <= extra):
            started.append(j)
            free -= need
            extra -= need * beside
    backfill(world, now, 0)
    left = [j for j in waiting if j not in started]
    assert np.flatnonzero(jobs.start == now).tolist() == started
    assert np.flatnonzero(jobs.backfilled).tolist() == started
    assert (world.machine.free[0], hold.extra) == (free, extra)
    if left:
        assert contents(world.queue) == left
    assert world.queue.length[0] == len(left)
    for bounds, needs in (("least_need", jobs.procs), ("least_estimate", jobs.estimate)):
        assert getattr(world.queue, bounds)[0] == min(needs[left], default=NEVER)


def test_chain_taken_out_of_has_exact_minima() -> None:
    """Cells that leave one by one, in any order, leave each block with what its jobs need least."""
    random, n = np.random.default_rng(2), 700
    jobs, key, queue = some_jobs(n), np.zeros(n, np.int64), empty_queue(n)
    waiting = list(range(n))
    for j in waiting:
        enqueue(queue, jobs, key, j)
    while waiting:
        j = waiting.pop(random.integers(len(waiting)))
        chain = queue.order[: queue.state[0].blocks]
        cells = np.concatenate([np.arange(queue.length[b]) + queue.first[b] for b in chain])
        cell = int(cells[queue.job[cells] == j][0])
        take_out(queue, cell)
        assert not still_waits(queue, j, cell)
        assert contents(queue) == waiting
        for b in queue.order[: queue.state[0].blocks]:
            cells = slice(queue.first[b], queue.first[b] + queue.length[b])
            assert queue.least_need[b] == queue.need[cells].min()
            assert queue.least_estimate[b] == queue.estimate[cells].min()
            assert (queue.submit[cells] == jobs.submit[queue.job[cells]]).all()


def test_chain_in_order_of_arrival_fills_its_blocks() -> None:
    """First come, first served leaves no half-empty block behind."""
    n = 10 * BLOCK
    jobs, key, queue = some_jobs(n), np.arange(n), empty_queue(n)
    for j in range(n):
        enqueue(queue, jobs, key, j)
    assert queue.state[0].blocks == 10
    assert contents(queue) == list(range(n))


def test_small_neighbours_become_one_block() -> None:
    """Two blocks that hold MERGE jobs together are joined, so that the chain stays short."""
    n = 2 * BLOCK
    jobs, key, queue = some_jobs(n), np.arange(n), empty_queue(n)
    for j in range(n):
        enqueue(queue, jobs, key, j)
    for j in range(n - MERGE):
        close_cell(queue, int(queue.order[0]), int(queue.first[queue.order[0]]))
        tidy(queue)
        assert contents(queue) == list(range(j + 1, n))
    assert queue.state[0].blocks == 1


def test_starving_mark_goes_before_every_key() -> None:
    """A starving job is taken out and put back before all others."""
    jobs, key, queue = some_jobs(4), np.array([-(2**62), 3, 2, 1]), empty_queue(4)
    for j in range(4):
        enqueue(queue, jobs, key, j)
    for j in (1, 2):
        dequeue(queue, key, j)
        key[j] = STARVED
        enqueue(queue, jobs, key, j)
    assert contents(queue) == [1, 2, 0, 3]


def shadow_by_sorting(jobs: Jobs, running: list[int], free: int, need: int) -> tuple[int, int]:
    for end in sorted({int(jobs.start[j] + jobs.estimate[j]) for j in running}):
        ended = [j for j in running if jobs.start[j] + jobs.estimate[j] <= end]
        level = free + int(jobs.procs[ended].sum())
        if level >= need:
            return end, level - need
    raise AssertionError("the machine is smaller than the need")


def test_running_lists_against_sorting() -> None:
    """Jobs leave by true end, then by index; the shadow follows predicted ends, ties counted."""
    jobs, machine = some_jobs(200, seed=8), idle_machine(2_000, 200)
    running: list[int] = []
    free = 2_000
    for j in range(200):
        launch(jobs, machine, j, int(jobs.submit[j]))
        running.append(j)
        free -= int(jobs.procs[j])
        if j % 3 == 0:
            end, first = min((int(jobs.start[i] + jobs.run[i]), i) for i in running)
            assert next_end(machine) == end
            assert machine.job[machine.count[0] - 1] == first
            release(jobs, machine)
            running.remove(first)
            free += int(jobs.procs[first])
        need = free + 1 + j % 7
        if running and need <= free + jobs.procs[running].sum():
            assert find_shadow(machine, need) == shadow_by_sorting(jobs, running, free, need)
    assert machine.free[0] == free


@pytest.mark.parametrize("scale", [1, 2**30, 2**50])
def test_ratios_compare_as_fractions(scale: int) -> None:
    """Small numbers by product, large ones by Euclid's steps: never a rounding."""
    random = np.random.default_rng(5)
    for _ in range(300):
        a, b, c, d = (int(x) * scale + int(y) for x, y in random.integers(0, 6, (4, 2)))
        b, d = b + 1, d + 1
        assert ratio_exceeds(a, b, c, d) == (a * d > c * b)
        assert not ratio_exceeds(a, b, a, b)


def burst(order: Int64) -> Workload:
    """One job holds most of the machine; the rest arrive at once and queue over many blocks."""
    n = order.size
    return Workload.from_columns(
        submit=np.concatenate(([0], np.full(n, 1))),
        run=np.concatenate(([10], np.full(n, 1))),
        estimate=np.concatenate(([10], order + 1)),
        procs=np.concatenate(([4], np.full(n, 4))),
        processors=4,
    )


def test_long_queue_starts_in_order() -> None:
    """Over many blocks the shortest goes first, one a second."""
    order = np.random.default_rng(2).permutation(500)
    start = simulate(burst(order), "spf+easy").start
    assert start[1:].tolist() == (10 + order).tolist()
