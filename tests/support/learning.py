"""A campaign whose store gets plug-in metrics, which fail or kill their process on request."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from schedfarm import farm
from schedfarm.core.logs.swf import write_swf
from schedfarm.core.metrics.declared import METRICS
from schedfarm.core.metrics.metric import USER, WEEK, WIDTH, Metric
from schedfarm.core.models.lublin import lublin
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.execution.run import Outcome
from schedfarm.farm.verify import Again, verify
from tests.support.growing import assert_same_by_label, counts
from tests.support.made import MadeStores

NEW = (
    Metric("new_cell", "s", "sum of waits", lambda c: float(c.waited)),
    Metric("new_shared", "1", "widest job", lambda jobs: jobs.procs.max(), shared=True),
    Metric(
        "new_week", "s", "waits of the week's jobs",
        lambda c: np.bincount(c.week, weights=c.wait, minlength=c.weeks), over=WEEK,
    ),
    Metric("new_user", "s", "waits of the user's jobs", lambda c: c.by_user.wait, over=USER),
    Metric(
        "new_width", "1", "twice the jobs of the width",
        lambda c: 2 * c.by_width.jobs, over=WIDTH, dtype="int64",
    ),
)  # fmt: skip
"""One more metric of each kind."""

BEHAVIOUR = "TEST_METRIC_DOES"
"""Environment variable with the behaviour of the metric: `kill`, `fail`, or by default none."""

MINE = f'''
"""Metrics of a user's own."""
import os
import signal

import numpy as np

asked = 0


def longest(counted):
    """Longest wait times two."""
    global asked
    asked += 1
    does = os.environ.get("{BEHAVIOUR}", "")
    if does == "kill" and asked > 4:
        os.kill(os.getpid(), signal.SIGKILL)
    if does == "fail" and counted.workload.processors == 32:
        raise ArithmeticError("not this machine")
    return 2.0 * counted.wait.max()


longest.unit = "s"


def waits(counted):
    """Waits of the user's jobs that count."""
    return counted.by_user.wait


waits.over = "user"
'''

CELLS = 12


def learner(made_store: MadeStores) -> Campaign:
    """Return a campaign on a log and a model, in several blocks; the ends left out are a setting.

    Half of its cells are of the model, on 32 processors.
    """

    def write(folder: Path) -> None:
        folder.mkdir()
        write_swf(lublin(64, weeks=2, seed=3, users=5), folder / "log.swf")

    log = made_store.once("log-to-learn-from", write) / "log.swf"
    return Campaign(
        name="learn",
        traces=(
            Trace(name="log", file=str(log), jobs=120),
            Trace(name="model", model="lublin", processors=32, jobs=60),
        ),
        policies=("fcfs+easy", "saf+conservative"),
        loads=("0.9",),
        resamples=3,
        draw="users",
        warmup=0.1,
        cooldown=True,
        block_seconds=1.5e-3,
    )


def grown(campaign: Campaign, folder: Path, *metrics: str) -> Campaign:
    """Return the campaign with metrics of the file `mine.py` in a folder."""
    if not (folder / "mine.py").exists():
        (folder / "mine.py").write_text(MINE)
    return dataclasses.replace(campaign, metrics=metrics, folder=folder)


def learnt(campaign: Campaign, store: Path, **options: Any) -> Outcome:
    """Run a campaign while every simulation would raise."""

    def refuse(*_: Any) -> None:
        raise AssertionError("nothing is to be simulated")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(farm.execution.cell, "simulate", refuse)
        return farm.run(campaign, store, **options)


def learn(patch: pytest.MonkeyPatch) -> None:
    """Add the new metrics to the program."""
    for metric in NEW:
        patch.setitem(METRICS, metric.name, metric)


LONGER: dict[str, Any] = {
    "policies": ("fcfs+easy", "saf+conservative", "spf+none"),
    "loads": ("0.9", "0.7"),
    "resamples": 5,
}
"""Other values of the campaign's keys, with which it is larger."""


def assert_grows_and_learns(campaign: Campaign, folder: Path, axis: str) -> None:
    """Grow the store `s` along an axis and by metrics; assert that it equals one made at once."""
    another = Trace(name="n", model="lublin", processors=16, jobs=70)
    value = LONGER.get(axis, (*campaign.traces, another))
    larger = dataclasses.replace(campaign, **{axis: value})
    new = larger.cells - CELLS
    assert counts(farm.run(larger, folder / "s")) == (larger.cells, CELLS, new, 0)
    farm.run(larger, folder / "at-once")
    assert_same_by_label(folder / "s", folder / "at-once")
    assert list(verify(folder / "s", Again(100))) == []
