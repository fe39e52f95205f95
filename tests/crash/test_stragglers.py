"""A worker that hangs: a second worker gets its tasks, and a run that is to stop ends."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from distributed import Client

from schedfarm import farm
from schedfarm.cluster import ClusterSpec, connect
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.execution import cancellation, executors
from schedfarm.farm.watching.events import Said, read_events
from tests.support.harness import Command, assert_same_results, wait_for

HANGS = """
import os
import time
from pathlib import Path

def name(submit):
    marker, own = Path(os.environ["HANGS"]), str(os.getpid())
    if not marker.exists():
        marker.write_text(own)
    while marker.read_text() == own:
        time.sleep(0.1)
    return submit
"""
"""An order that does not return in the process that calls it first."""


@pytest.fixture
def campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Campaign:
    (tmp_path / "hangs.py").write_text(HANGS)
    monkeypatch.setenv("HANGS", str(tmp_path / "marker"))
    return Campaign(
        name="late",
        traces=(Trace(name="m", model="lublin", processors=64, jobs=50),),
        policies=("hangs:name+easy",),
        loads=("0.7",),
        resamples=12,
        block_seconds=1e-9,
        folder=tmp_path,
    )


@pytest.fixture
def client(campaign: Campaign) -> Iterator[Client]:
    with connect(ClusterSpec.parse("local", 2)) as client:
        yield client


def said(store: Path) -> list[str]:
    return [event.text for event in read_events(store)[0] if isinstance(event, Said)]


def test_a_worker_that_hangs__another_one_does_its_tasks(
    campaign: Campaign, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is named by host and process, and the results are those of an undisturbed run."""
    monkeypatch.setattr(executors, "STRAGGLER_SECONDS", 2.0)
    monkeypatch.setattr(executors, "HOLDERS_SECONDS", 0.5)
    ended = farm.run(campaign, tmp_path / "s", client)
    assert (ended.done, ended.failed) == (campaign.cells, 0)
    pid = (tmp_path / "marker").read_text()
    reported = [text for text in said(tmp_path / "s") if "second worker gets a copy" in text]
    assert any(f":{pid} has had " in text for text in reported)
    # The one that hangs is this process by now: no cell is done again, and none by it.
    farm.run(campaign, tmp_path / "undisturbed")
    assert_same_results(tmp_path / "s", tmp_path / "undisturbed")


def test_a_run_that_is_to_stop__ends_without_what_hangs(campaign: Campaign, tmp_path: Path) -> None:
    """In the drain that Ctrl-C has, on a cluster and in this process; SIGTERM is heard like it."""
    (tmp_path / "late.toml").write_text(campaign.to_toml())
    command = Command(tmp_path, "run", "late.toml", "--json", "--workers", "1")
    try:
        wait_for(lambda: (tmp_path / "marker").exists(), "the order's first call")
        command.process.send_signal(signal.SIGTERM)
        assert command.finish() == 130, command.err
    finally:
        command.kill()
    assert "abandoned what has not ended in 20 s" in command.err
    assert "Traceback" not in command.err


@pytest.mark.parametrize("clustered", [True, False], ids=["on a cluster", "in this process"])
def test_what_hangs_is_abandoned__and_simulated_by_the_next_run(
    campaign: Campaign,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    clustered: bool,
) -> None:
    client = request.getfixturevalue("client") if clustered else None
    for name in ("FINISH_SECONDS", "LATE_SECONDS"):
        monkeypatch.setattr(cancellation, name, 0.5)
    monkeypatch.setattr(executors, "COORDINATOR_POLL_SECONDS", 0.2)

    def strike() -> None:
        wait_for(lambda: (tmp_path / "marker").exists(), "the order's first call")
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=strike, daemon=True).start()
    ended = farm.run(campaign, tmp_path / "s", client)
    assert ended.interrupted
    assert any(text.startswith("abandoned what has not ended") for text in said(tmp_path / "s"))
    (tmp_path / "marker").write_text("nobody")
    again = farm.run(campaign, tmp_path / "s")
    assert again.before + again.done == campaign.cells
    assert again.done > 0
