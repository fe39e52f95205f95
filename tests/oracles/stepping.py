"""Play orders and rules through the stepping interface, against `simulate`, start for start.

    python -m tests.oracles.stepping --cases 1000 --seed 1
    python -m tests.oracles.stepping --log KTH-SP2-1996-2.1-cln.swf --jobs 5000

The player knows only what `Stepping` shows: EASY is written out with its reservation and its extra
processors. On random cases it also makes detours: it plays on from a clone or goes back to one.
Shows the first case that differs, and then exits with 1.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from itertools import product
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings, strategies as st

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.logs.read import read_log
from schedfarm.core.policy.orders import find_order
from schedfarm.core.stepping.fields import (
    BACKFILLED,
    BEGIN,
    EASY,
    IN_TURN,
    JOBS,
    START,
    STARTED,
    empty_rows,
    list_of,
    write_columns,
    write_start,
)
from schedfarm.core.stepping.stepping import Stepping
from schedfarm.core.workload.workload import Workload
from tests.support.strategies import workloads

ORDERS = ("fcfs", "spf", "saf", "f1")

RULES = ("none", "easy")


def play(work: Workload, order: str, rule: str, detours: random.Random | None = None) -> Int64:
    """Return the starts of an order and a rule, played decision by decision."""
    key, steps = find_order(order).fixed_key(work), Stepping(work)
    assert key is not None
    while not steps.done:
        if detours is not None:
            steps = _detour(steps, detours)
        job = chosen(steps, key, rule == "easy")
        if job is None:
            steps.wait()
        else:
            steps.start(job)
    return steps.started


def chosen(steps: Stepping, key: Int64, backfills: bool) -> int | None:
    """Return the next job that a pass starts, or None to wait.

    It is decided again after each start: a backfill moves neither the shadow time nor, if it ends
    by then, the extra processors.
    """
    waiting = sorted(steps.waiting.tolist(), key=lambda j: (key[j], j))
    procs, estimate, free = steps.workload.procs, steps.workload.estimate, steps.free
    head = waiting.pop(0)
    if procs[head] <= free:
        return head
    if backfills:
        shadow, extra = steps.reservation(head)
        for job in waiting:
            short = steps.now + estimate[job] <= shadow
            if procs[job] <= free and (short or procs[job] <= extra):
                return job
    return None


def _detour(steps: Stepping, dice: random.Random) -> Stepping:
    """Play some random decisions on a clone, and go on with one of the two from where it was."""
    other, before = steps.clone(), steps.clone()
    for _ in range(dice.randrange(4)):
        if not other.done:
            fitting = other.waiting[other.fits].tolist()
            if dice.random() < 0.3 and other.can_wait:
                other.wait()
            else:
                other.start(dice.choice(fitting))
    if dice.random() < 0.5:
        return steps
    other.rewind(before)
    return other


def check(work: Workload, dice: random.Random | None = None) -> None:
    """Compare all orders and rules on a workload."""
    for order, rule in product(ORDERS, RULES):
        found = play(work, order, rule, dice)
        assert found.tolist() == simulate(work, f"{order}+{rule}").start.tolist(), (order, rule)
    check_turns(work)


def check_turns(work: Workload) -> None:
    """Compare the rules by which the environment waits for a chosen job: always the oldest."""
    from schedfarm.core.stepping.decisions import play as kernel

    for code, rule in ((IN_TURN, "none"), (EASY, "easy")):
        columns, states = empty_rows(1, len(work))
        write_columns(work, columns[0])
        write_start(work, states[0])
        visible, action = np.arange(len(work))[None], np.array([BEGIN])
        kernel(columns, states, visible, action, code)
        action[0] = 0
        while states[0, STARTED] < states[0, JOBS]:
            kernel(columns, states, visible, action, code)
        known = simulate(work, f"fcfs+{rule}")
        assert list_of(states[0], START).tolist() == known.start.tolist(), rule
        assert list_of(states[0], BACKFILLED).tolist() == known.backfilled.tolist(), rule


def main(arguments: list[str]) -> int:
    """Run the comparison; return 1 if a case differs."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--jobs", type=int, default=5000)
    options = parser.parse_args(arguments)
    begun = time.process_time()
    if options.log is not None:
        check(read_log(options.log, jobs=options.jobs))
        what = f"{options.jobs} jobs of {options.log.name}"
        sys.stdout.write(f"{what} agree, {time.process_time() - begun:.0f} s\n")
        return 0

    @seed(options.seed)
    @settings(
        max_examples=options.cases,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(work=workloads(), dice=st.randoms(use_true_random=False))
    def compare(work: Workload, dice: random.Random) -> None:
        check(work, dice)

    compare()
    sys.stdout.write(f"{options.cases} cases agree, {time.process_time() - begun:.0f} s\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
