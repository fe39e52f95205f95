"""Checkpoints of fair starts that another thread writes while a kernel computes them."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from schedfarm.core import fair_start_times
from schedfarm.core.arrays import Int64
from schedfarm.core.engine.checkpoint import FAIR, Checkpoints
from schedfarm.core.models.lublin import lublin
from schedfarm.core.workload.load import scale_load


@pytest.mark.parametrize(
    ("policy", "kind", "count"),
    [
        ("fcfs+easy", "strict", 15_000),
        ("fcfs+easy", "relaxed", 20_000),
        ("spf+easy", "strict", 100_000),
        ("lxf+easy", "strict", 30_000),
        ("fcfs+conservative", "strict", 2_000),
        ("fcfs+planned", "strict", 1_000),
    ],
)
def test_checkpoints_while_a_kernel_runs__hold_final_values(
    policy: str, kind: str, count: int
) -> None:
    """The thread that writes them reads fair starts as the kernel fills them in."""
    work = scale_load(lublin(128, jobs=count, seed=3, index=1), 1.3)
    seen: list[Int64] = []
    checkpoints, ended = Checkpoints(str, lambda _: None), threading.Event()

    def look() -> None:
        while not ended.is_set():
            if FAIR in checkpoints.state:
                seen.append(checkpoints.state[FAIR].copy())
            ended.wait(0.002)

    fair_start_times(work.take(slice(50)), policy, kind)
    thread = threading.Thread(target=look)
    thread.start()
    try:
        with checkpoints:
            whole = fair_start_times(work, policy, kind)
    finally:
        ended.set()
        thread.join()
    partial = [one for one in seen if 0 < np.count_nonzero(one >= 0) < count]
    assert partial
    for one in partial:
        known = one >= 0
        np.testing.assert_array_equal(one[known], whole[known])
