"""Measure decisions per CPU-second: the compiled loop, one environment, and a batch.

    python -m tests.benchmarks.stepping KTH-SP2-1996-2.1-cln.swf.gz

The agent always takes the first possible action. Lines with samples include the draw of each new
sample and the metric at its end; the others play samples that are in memory.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

from schedfarm.core.arrays import Int64
from schedfarm.core.engine.jit import kernel
from schedfarm.core.logs.read import read_log
from schedfarm.core.stepping.decisions import play_row
from schedfarm.core.stepping.fields import BEGIN, COMPACT, DECISIONS, JOBS, STARTED, WAITING
from schedfarm.core.stepping.observation import Float32, Mask, allow, show_compact
from schedfarm.core.stepping.state import episode_of
from schedfarm.core.workload.workload import Workload
from schedfarm.learning.batch import Batch
from schedfarm.learning.environment import SchedulingEnv
from schedfarm.learning.samples import Samples
from schedfarm.learning.vector import SchedulingVectorEnv

KNOWN = 64
"""Samples that are played again where their draw is not to be measured."""


@kernel
def whole_episode(
    columns: Int64,
    row: Int64,
    visible: Int64,
    rule: int,
    still: Float32,
    seen: Float32,
    mask: Mask,
    looks: bool,
) -> None:
    """Play a whole episode with the first possible action, observing each decision if asked to."""
    play_row(columns, row, visible, BEGIN, rule)
    while row[STARTED] < row[JOBS]:
        episode = episode_of(columns, row)
        shown = show_compact(episode, still, visible, seen) if looks else visible.size
        shown = min(shown, row[WAITING])
        allow(episode, rule, visible, shown, mask)
        action = 0
        while mask[action] == 0:
            action += 1
        play_row(columns, row, visible, action, rule)


def rate(decisions: Callable[[], int], seconds: float = 1.0) -> float:
    """Return decisions per second of CPU time, after a call to warm up."""
    decisions()
    count, begun = 0, time.process_time()
    while time.process_time() - begun < seconds:
        count += decisions()
    return count / (time.process_time() - begun)


def compiled(log: Workload, rule: str, looks: bool) -> float:
    """Measure the compiled loop."""
    batch = Batch(1, Samples.of(log, "train", 0.7, 1, None, 1), rule, "compact", None, "wait", 10.0)
    assert batch.view.code == COMPACT
    visible = np.arange(batch.slots)

    def decisions() -> int:
        count = 0
        for sample in range(1, KNOWN + 1):
            batch.load(0, sample)
            arrays = (batch.still[0], batch.seen[0], batch.mask[0])
            whole_episode(batch.columns[0], batch.states[0], visible, batch.rule, *arrays, looks)
            count += int(batch.states[0, DECISIONS])
        return count

    return rate(decisions)


def single(log: Workload, rule: str, known: bool) -> float:
    """Measure one environment through Gymnasium's interface."""
    env, number = SchedulingEnv(log, rule=rule), 0

    def decisions() -> int:
        nonlocal number
        number += 1
        _, info = env.reset(seed=number % KNOWN if known else number)
        count, ended = 0, False
        while not ended:
            _, _, ended, _, info = env.step(info["action_mask"].argmax())
            count += 1
        return count

    for _ in range(KNOWN if known else 1):
        decisions()
    return rate(decisions)


def batched(log: Workload, rule: str, known: bool, size: int) -> float:
    """Measure the vector environment."""
    envs = SchedulingVectorEnv(
        log, size, rule=rule, samples=KNOWN if known else None, copy=False, slots=16
    )
    _, infos = envs.reset(seed=1)

    def decisions() -> int:
        nonlocal infos
        for _ in range(64):
            infos = envs.step(infos["action_mask"].argmax(1))[4]
        return 64 * size

    for _ in range(40):
        decisions()
    return rate(decisions)


def main(arguments: list[str]) -> int:
    """Print a table."""
    log = read_log(arguments[0])
    rows: list[tuple[str, Callable[[str], float]]] = [
        ("compiled loop, no observation", lambda rule: compiled(log, rule, False)),
        ("compiled loop, observation of 64 slots", lambda rule: compiled(log, rule, True)),
        ("`SchedulingEnv.step`, samples in memory", lambda rule: single(log, rule, True)),
        ("`SchedulingEnv.step`, new samples", lambda rule: single(log, rule, False)),
        ("batch of 256, 16 slots, in memory", lambda rule: batched(log, rule, True, 256)),
        ("batch of 256, 16 slots, new samples", lambda rule: batched(log, rule, False, 256)),
    ]
    sys.stdout.write("| decisions per CPU-second | free | none | easy |\n|---|---:|---:|---:|\n")
    for name, measure in rows:
        found = " | ".join(f"{measure(rule):,.0f}" for rule in ("free", "none", "easy"))
        sys.stdout.write(f"| {name} | {found} |\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
