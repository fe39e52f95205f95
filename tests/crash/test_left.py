"""One long simulation is left when its run is asked to stop, and runs again as if it never had."""

from __future__ import annotations

import io
import os
import re
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from schedfarm import farm
from schedfarm.core import simulate
from schedfarm.core.engine.cancel import Underway
from schedfarm.core.models.lublin import lublin
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.load import scale_load
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.cli import simulation_progress
from schedfarm.farm.execution import executors, task_progress
from schedfarm.farm.execution.cancellation import FINISH_SECONDS, in_thread
from schedfarm.farm.execution.messages import Done
from schedfarm.farm.execution.run import begin
from schedfarm.farm.planning.tasks import Task
from schedfarm.farm.watching.events import Said, read_events
from tests.support.harness import Command, counts, recorded_cells, wait_for

JOBS = 60_000
LONG = f"""name = "long"
policies = ["fcfs+conservative"]
loads = [1.6]
resamples = 2
[[traces]]
name = "m"
model = "lublin"
processors = 128
jobs = {JOBS}
"""
"""Minutes of simulation for each of the two cells."""


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    simulate(lublin(128, jobs=20), "fcfs+conservative")


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Command]:
    (tmp_path / "long.toml").write_text(LONG)
    command = Command(tmp_path, "run", "long.toml", "--json", "--workers", "2")
    yield command
    command.kill()


def test_interrupted__what_takes_minutes_is_left(run: Command, tmp_path: Path) -> None:
    """The run says what it waits for, ends by itself, and has no record of what it left."""
    store = tmp_path / "long.farm"
    wait_for(lambda: "fcfs+conservative on " in run.err, "what runs")
    both = {f"m resample {n} load 1.6 fcfs+conservative" for n in (1, 2)}
    wait_for(lambda: {one.what for one in farm.status(store).running} == both, "both cells")
    run.process.send_signal(signal.SIGINT)
    assert run.finish() == 130
    assert "Traceback" not in run.err
    assert counts(run.out) == {"cells": 2, "before": 0, "done": 0, "failed": 0}
    assert recorded_cells(store) == 0


def test_in_this_process__a_signal_is_heard_while_the_kernel_runs(tmp_path: Path) -> None:
    """Without a cluster, too."""
    trace = Trace(name="m", model="lublin", processors=128, jobs=JOBS)
    campaign = Campaign(
        name="long", traces=(trace,), policies=("fcfs+conservative",), loads=("1.6",), resamples=2
    )

    def strike() -> None:
        wait_for(lambda: any(one.under.share for one in [*task_progress._running.values()]), "jobs")
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=strike, daemon=True).start()
    outcome = farm.run(campaign, tmp_path)
    assert outcome.interrupted
    assert (outcome.done, outcome.failed, recorded_cells(tmp_path)) == (0, 0, 0)
    said = [event.text for event in read_events(tmp_path)[0] if isinstance(event, Said)]
    assert said[0].startswith("stopping: finishing the blocks that end within 10 s")
    # Its tasks are over, or end at the next instant.
    wait_for(lambda: not task_progress._running, "the end of the simulation")


def test_what_ends_in_time_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A short task is not left: its blocks are there when the run has stopped."""
    trace = Trace(name="m", model="lublin", processors=64, jobs=300)
    campaign = Campaign(name="short", traces=(trace,), policies=("fcfs+easy",), resamples=3)
    run_task = executors.run_task

    def signalled(task: Task) -> Done:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.2)
        return run_task(task)

    # The wish comes when the task is there, but this process has not been told of it yet.
    monkeypatch.setattr(executors, "run_task", signalled)
    monkeypatch.setattr(executors, "COORDINATOR_POLL_SECONDS", 60.0)
    outcome = farm.run(campaign, tmp_path)
    assert outcome.interrupted
    assert outcome.done == recorded_cells(tmp_path) > 0


def test_the_rest_of_a_task__by_its_own_progress(tmp_path: Path) -> None:
    """A tenth after ten seconds leaves ninety; at the beginning nothing is known."""
    assert FINISH_SECONDS == 10
    campaign = Campaign(
        name="c",
        traces=(Trace(name="m", model="lublin", processors=64, jobs=300),),
        policies=("fcfs+easy",),
        resamples=10,
    )
    with begin(campaign, tmp_path) as prepared:
        task = max(prepared.tasks, key=lambda one: len(one.blocks))
        block = next(b for b in task.blocks if b.product.simulates)
        cells = [(block, cell) for cell in prepared.store.span_of(block).cells]
        with task_progress.tracked(task) as one:
            assert task_progress.reports(task.run) == []
            one.enter(cells)
            assert one.rest() == 0
            one._current = replace(one._current, entered=one._current.entered - 10)
            one._begun -= 10
            assert one.rest() > 1e6
            one.advance()
            assert one.rest() == pytest.approx(10 * (len(cells) - 1), rel=0.1)
            [report] = task_progress.reports(task.run)
            assert (report.doing.cell, report.doing.cells) == (2, len(cells))
            assert task_progress.reports("another run") == []
            assert not one.under.left
            task_progress.stop(task.run, 1.0)
            wait_for(lambda: one.under.left, "the wish")
        assert task_progress.is_stopping(task.run)
        assert executors.run_task(task) == []


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("kind", [io.StringIO, Terminal])
def test_one_simulation__tells_how_far_it_is(
    kind: type[io.StringIO], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a terminal in one line that is gone at the end, elsewhere in plain lines."""
    for name in ("FIRST_SECONDS", "LINE_SECONDS", "WORKER_POLL_SECONDS"):
        monkeypatch.setattr(simulation_progress, name, 0.02)
    jobs, stream = scale_load(lublin(128, jobs=4_000), 1.3), kind()

    def told_of(*arguments: Any) -> Schedule:
        schedule = simulate(*arguments)
        # It may take less than the time between two looks.
        wait_for(stream.getvalue, "a line")
        return schedule

    monkeypatch.setattr(simulation_progress, "simulate", told_of)
    found = simulation_progress.simulate_with_progress(jobs, "fcfs+conservative", stream)
    assert found.digest() == simulate(jobs, "fcfs+conservative").digest()
    text = stream.getvalue()
    assert re.search(r"[\d ]+ of 4 000 jobs have started \(\d+ %\), [\d.]+ s so far", text)
    if kind is Terminal:
        assert "\n" not in text
        assert text.endswith(simulation_progress.WIPE)
    else:
        assert text.endswith("so far\n")


def test_one_simulation__is_left_at_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C is heard while the kernel runs, which ends before all jobs have started."""
    begun: list[Underway] = []

    def underway() -> Underway:
        begun.append(Underway())
        return begun[-1]

    def strike() -> None:
        wait_for(lambda: begun and begun[0].share, "jobs")
        os.kill(os.getpid(), signal.SIGINT)

    jobs = scale_load(lublin(128, jobs=JOBS), 1.6)
    simulate(jobs.take(slice(20)), "fcfs+conservative")
    monkeypatch.setattr(simulation_progress, "Underway", underway)
    threading.Thread(target=strike, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        simulation_progress.simulate_with_progress(jobs, "fcfs+conservative", io.StringIO())
    assert 0 < begun[0].share < 1


def test_in_thread__raises_and_polls() -> None:
    """What the function raises is raised here; meanwhile this thread is free."""
    looks: list[float] = []

    def slow() -> int:
        time.sleep(0.2)
        return 3

    assert in_thread(slow, lambda: looks.append(1.0), 0.02) == 3
    assert looks
    with pytest.raises(ZeroDivisionError):
        in_thread(lambda: 1 / 0, lambda: None, 1.0)
