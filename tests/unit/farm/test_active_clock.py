"""Time in which nothing ran is no work, and a clock that is set back gives no negative time."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from schedfarm import farm
from schedfarm.farm import Campaign, Trace, clock
from schedfarm.farm.cli import cli
from schedfarm.farm.execution import task_progress
from schedfarm.farm.execution.cancellation import CancellationToken
from schedfarm.farm.execution.monitor import CLEAR_SECONDS, Monitor
from schedfarm.farm.execution.run import begin
from schedfarm.farm.execution.task_progress import TaskReport
from schedfarm.farm.planning.backlog import Backlog
from schedfarm.farm.planning.tasks import block_costs
from schedfarm.farm.watching import events
from schedfarm.farm.watching.events import Event, read_events
from schedfarm.farm.watching.progress import Lines

SLEPT = 640.0

CAMPAIGN = Campaign(
    name="slept",
    traces=(Trace(name="m", model="lublin", processors=64, jobs=40),),
    policies=("fcfs+easy", "saf+easy"),
    resamples=3,
    block_seconds=1e-6,
)


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Let a time pass at once."""
    now = [1000.0]
    here = clock.ActiveClock(lambda: now[0])
    monkeypatch.setattr(clock, "_PROCESS", here)

    def go_on(seconds: float) -> None:
        now[0] += seconds
        here.seconds()

    return go_on


def estimates(folder: Path, passes: Callable[[float], None], slept: float) -> list[float]:
    """Return the time left, that of a task, and what it has taken, half of the work done."""

    class Nobody:
        def see(self, event: Event) -> None:
            pass

    with begin(CAMPAIGN, folder) as prepared:
        costs = block_costs(prepared.store, (b for t in prepared.tasks for b in t.blocks))
        backlog = Backlog(prepared.tasks, costs)
        monitor = Monitor(backlog, CancellationToken(), Nobody())
        first, second, *_ = (t for t in prepared.tasks if t.blocks[-1].product.simulates)
        blocks = [block for block in second.blocks if block.product.simulates]
        cells = [(b, cell) for b in blocks for cell in prepared.store.span_of(b).cells]
        with task_progress.tracked(second) as progress:
            progress.enter(cells)
            for _ in range(int(CLEAR_SECONDS) + 3):
                passes(1.0)
            for block in first.blocks:
                backlog.learn(block, 2.0)
            passes(slept)
            passes(1.0)
            if len(cells) > 1:
                progress.advance()
            report: TaskReport = progress.report()
            monitor.update([report], 1)
            return [monitor.left(), progress.rest(), report.doing.seconds]


def test_time_in_which_nothing_ran__is_no_work(
    tmp_path: Path, passes: Callable[[float], None]
) -> None:
    """A freeze of 640 s changes no estimate: neither of the run nor of the task under way."""
    undisturbed = estimates(tmp_path / "a", passes, 0.0)
    assert undisturbed[0] > 0
    assert undisturbed[2] == CLEAR_SECONDS + 4
    assert estimates(tmp_path / "b", passes, SLEPT) == undisturbed


def test_a_clock_that_is_set_back__gives_no_negative_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever looks: the log of events, a plain line, the status, and who watches."""
    times = iter(range(10**9, 0, -7))
    monkeypatch.setattr(events.time, "time", lambda: float(next(times)))
    stream = io.StringIO()
    farm.run(CAMPAIGN, tmp_path, watch=Lines(stream))
    found, _ = read_events(tmp_path)
    assert found[0].time > found[-1].time
    for event in found:
        assert getattr(event, "seconds", 0.0) >= 0
        assert getattr(event, "left", 0.0) >= 0 or getattr(event, "left", 0.0) == events.UNKNOWN
    shown = stream.getvalue()
    for words in (["status"], ["status", "--json"], ["status", "--openmetrics"], ["watch"]):
        done = CliRunner().invoke(cli, [*words, str(tmp_path)], catch_exceptions=False)
        assert done.exit_code == 0
        shown += done.output
    assert farm.status(tmp_path).wall >= 0
    assert json.dumps(farm.status(tmp_path).seconds)
    assert not re.search(r"(?<![\w-])-\d", shown), shown
