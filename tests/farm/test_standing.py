"""What a store can tell of the time that was spent on it."""

from __future__ import annotations

import json
from pathlib import Path

import farm
from farm.campaign import Campaign
from farm.traces import Trace


def test_wall__is_the_time_of_the_runs_without_the_pauses(tmp_path: Path) -> None:
    """A run that was killed counts until its last event, the pause after it does not."""
    trace = Trace(name="m", model="lublin", processors=64, jobs=40)
    farm.run(Campaign(name="s", traces=(trace,), policies=("fcfs+easy",), resamples=1), tmp_path)
    (tmp_path / "events.jsonl").write_text(
        "".join(
            json.dumps({"time": time, "event": event}) + "\n"
            for time, event in (
                *((100.0, "begin"), (107.5, "block")),
                *((900.0, "begin"), (901.0, "block"), (902.0, "end")),
            )
        )
    )
    found = farm.status(tmp_path)
    assert found.wall == 9.5
    assert found.seconds > 0
