"""A worker killed in a long simulation: the next one continues from its checkpoint."""

from __future__ import annotations

import io
from contextlib import suppress
from pathlib import Path

import numpy as np

from schedfarm.core.format.names import CHECKPOINTS
from tests.support.dask_processes import site
from tests.support.harness import Command, assert_same_results, campaign_of, counts, wait_for
from tests.support.made import MadeStores

JOBS = 7000

LONG = f"""
name = "long"
seed = 3
resamples = 1
loads = [1.3]
policies = ["fcfs+tabu"]

[[traces]]
name = "m64"
model = "lublin"
processors = 64
jobs = {JOBS}
"""
"""One cell of several seconds."""

OFTEN = """
from schedfarm.core.engine import checkpoint

checkpoint.EVERY_SECONDS, checkpoint.POLL_SECONDS, checkpoint.SHARE = 0.2, 0.1, 1.0
"""
"""Makes checkpoints in a worker within seconds."""


def newest(store: Path) -> bytes:
    """Return the only checkpoint of a store, empty if there is none."""
    for path in (store / CHECKPOINTS).rglob("*.npz"):
        with suppress(FileNotFoundError):
            return path.read_bytes()
    return b""


def started(checkpoint: bytes) -> int:
    """Return how many jobs have started by a checkpoint."""
    if not checkpoint:
        return 0
    with np.load(io.BytesIO(checkpoint), allow_pickle=False) as found:
        return int(np.count_nonzero(found["jobs.start"] >= 0))


def test_worker_killed_in_a_long_cell__the_next_one_continues(
    tmp_path: Path, made_store: MadeStores
) -> None:
    undisturbed = made_store(campaign_of(LONG))
    store = tmp_path / "long.farm"
    (tmp_path / "long.toml").write_text(LONG)
    (tmp_path / "often.py").write_text(OFTEN)
    preload = ("--preload", str(tmp_path / "often.py"))
    with site(tmp_path) as there:
        worker = there.worker(options=preload)
        run = Command(tmp_path, "run", "long.toml", "--json", "--on", there.address)
        try:
            wait_for(lambda: started(newest(store)) > JOBS / 2, "a checkpoint of half of the cell")
            worker.kill()
            worker.wait()
            left = newest(store)
            there.worker(options=preload)
            following = wait_for(lambda: {newest(store)} - {left, b""}, "the next checkpoint")
            # From the start it would be of fewer jobs.
            assert started(following.pop()) >= started(left) > JOBS / 2
            assert run.finish() == 0, run.err
        finally:
            run.kill()
    assert counts(run.out) == {"cells": 1, "before": 0, "done": 1, "failed": 0}
    assert not (store / CHECKPOINTS).exists()
    assert_same_results(store, undisturbed)
