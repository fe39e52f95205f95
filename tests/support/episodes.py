"""A log of some weeks, and episodes of it."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from schedfarm.core.workload.resample_weeks import WEEK
from schedfarm.core.workload.workload import Workload
from schedfarm.learning import SchedulingEnv


@cache
def log() -> Workload:
    """Return about eight weeks of few jobs, which take the machine twice a day."""
    random = np.random.default_rng(3)
    n = 900
    run = random.integers(1, 20_000, n)
    return Workload.from_columns(
        submit=np.sort(random.integers(0, 8 * WEEK, n)),
        run=run,
        estimate=run + random.integers(0, 5_000, n),
        procs=random.integers(1, 17, n),
        user=random.integers(0, 9, n),
        group=random.integers(-1, 2, n),
        processors=16,
    )


def played(env: SchedulingEnv, sample: int) -> tuple[float, dict[str, Any]]:
    """Play a sample with the first possible actions."""
    _, info = env.reset(seed=sample)
    ended = False
    while not ended:
        _, reward, ended, _, info = env.step(int(info["action_mask"].argmax()))
    return float(reward), info
