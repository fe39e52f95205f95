"""A cell that kills its process fails alone; what watches a run tells what happened."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest
from click.testing import CliRunner

from schedfarm import farm
from schedfarm.cluster import connect
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.cli import cli
from schedfarm.farm.execution.messages import Killed
from schedfarm.farm.execution.worker import isolated
from schedfarm.farm.watching.events import Begin, BlockDone, End, read_events

POISON = '''
"""An order that kills the process where the machine has 13 processors' worth of jobs."""
import os, signal

def deadly(submit, estimate, procs, user, now):
    if int(procs.max()) > 64:
        os.kill(os.getpid(), signal.SIGKILL)
    return submit
'''


def die(number: int) -> None:
    os.kill(os.getpid(), number)


def fail(text: str) -> None:
    raise ValueError(text)


def test_answer_and_exception_pass_through() -> None:
    """What the function returns or raises arrives as it would from a plain call."""
    assert isolated(divmod, 7, 2) == (3, 1)
    with pytest.raises(ValueError, match="as it is"):
        isolated(fail, "as it is")


def test_death_is_an_error_that_names_the_signal() -> None:
    """A process killed by a signal leaves the caller alive and told."""
    with pytest.raises(Killed, match="SIGKILL"):
        isolated(die, signal.SIGKILL)


@pytest.fixture
def campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Campaign:
    (tmp_path / "poison.py").write_text(POISON, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return Campaign(
        name="poison",
        traces=(
            Trace(name="small", model="lublin", processors=32, jobs=60),
            Trace(name="large", model="lublin", processors=256, jobs=200),
        ),
        policies=("fcfs+easy", "poison:deadly+easy"),
        resamples=2,
    )


def test_poisonous_cells_take_no_healthy_one_with_them(campaign: Campaign, tmp_path: Path) -> None:
    """Cells that kill their worker end as failures with the reason; all the others are done."""
    store = tmp_path / "store"
    with connect("local") as client:
        outcome = farm.run(campaign, store, client)
    assert (outcome.cells, outcome.failed, outcome.done) == (8, 2, 8)
    failures = farm.status(store).failures
    assert {(f.trace, f.policy) for f in failures} == {("large", "poison:deadly+easy")}
    assert all("SIGKILL" in f.error for f in failures)
    events, _ = read_events(store)
    assert isinstance(events[0], Begin)
    assert isinstance(events[-1], End)
    blocks = [e.block for e in events if isinstance(e, BlockDone)]
    assert len(blocks) == len(set(blocks)) == 4


def test_watch_tells_what_the_run_told(campaign: Campaign, tmp_path: Path) -> None:
    """`farm watch` on a finished run counts its cells and ends."""
    calm = Campaign(name="calm", traces=campaign.traces, policies=("fcfs+easy",), resamples=2)
    farm.run(calm, tmp_path / "store")
    result = CliRunner().invoke(cli, ["watch", str(tmp_path / "store")])
    assert result.exit_code == 0, result.output
    assert "4 cells, 0 done before" in result.output
    assert "4/4 cells, 0 failed" in result.output


def test_plan_counts_without_writing(tmp_path: Path) -> None:
    """`farm plan` says what a run would do, and makes no store."""
    result = CliRunner().invoke(
        cli, ["plan", "quickstart", "--store", str(tmp_path / "none"), "--json"]
    )
    assert result.exit_code == 0, result.output
    facts = json.loads(result.stdout)
    assert (facts["cells"], facts["cells_to_simulate"], facts["blocks"]) == (160, 160, 2)
    assert not (tmp_path / "none").exists()
