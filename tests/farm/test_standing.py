"""What a store can tell of the time that was spent on it."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from prometheus_client.openmetrics.parser import text_string_to_metric_families

import farm
from farm.campaign.campaign import Campaign
from farm.campaign.trace import Trace
from farm.cli import cli
from farm.planning.block_shape import JOB_STEP
from farm.store import provenance


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


def test_origin__says_what_computed_the_blocks(tmp_path: Path) -> None:
    """Host, versions and commit of every record, the campaign's digest, and all that in words."""
    trace = Trace(name="m", model="lublin", processors=64, jobs=40)
    farm.run(Campaign(name="s", traces=(trace,), policies=("fcfs+easy",), resamples=1), tmp_path)
    found = farm.status(tmp_path)
    (origin,) = found.origins
    assert origin == {**provenance.origin(), "blocks": 2}
    assert origin["numpy"] == np.__version__
    text = (tmp_path / "campaign.toml").read_bytes()
    assert found.sha256 == hashlib.sha256(text).hexdigest()
    shown = CliRunner().invoke(cli, ["status", str(tmp_path)], catch_exceptions=False).output
    assert f"2 blocks by schedfarm {origin['schedfarm']} (commit {origin['commit']}), " in shown
    assert f", on {origin['host']}" in shown


def test_origin__of_a_block_that_two_programs_filled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was kept is still the older one's: both stand in the record."""
    trace = Trace(name="m", model="lublin", processors=64, jobs=40)
    three = tuple(f"{order}+easy" for order in ("fcfs", "spf", "saf"))
    campaign = Campaign(name="s", traces=(trace,), policies=three, resamples=1)
    monkeypatch.setattr("farm.planning.block_shape.SHARD_BYTES", 8 * JOB_STEP * 2)
    farm.run(campaign, tmp_path)
    other = {**provenance.origin(), "host": "another"}
    monkeypatch.setattr("farm.store.block.origin", lambda: other)
    farm.run(dataclasses.replace(campaign, policies=(*three, "sqf+easy")), tmp_path)
    found = {origin["host"]: origin["blocks"] for origin in farm.status(tmp_path).origins}
    # The workload's block, one of two policies, and one of a policy that was there and a new one.
    assert found == {provenance.origin()["host"]: 3, "another": 1}


def test_commit__is_that_of_the_checkout(tmp_path: Path) -> None:
    """It says so where files have been edited since; what is no checkout has none of its own."""
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b.c"]
    assert provenance.commit(tmp_path / "nothing") == provenance.commit(tmp_path)
    (tmp_path / "f").write_text("1")
    for step in (["init", "-q"], ["add", "f"], ["commit", "-q", "-m", "x"]):
        subprocess.run([*git, *step], check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    assert provenance.commit(tmp_path) == head.stdout.strip()
    (tmp_path / "f").write_text("2")
    assert provenance.commit(tmp_path) == head.stdout.strip() + "+changes"


def test_openmetrics__is_read_by_prometheus(tmp_path: Path) -> None:
    """Its own parser finds every count; a store half done says what is missing."""
    traces = tuple(Trace(name=n, model="lublin", processors=64, jobs=40) for n in "ab")
    campaign = Campaign(name="s", traces=traces, policies=("fcfs+easy",), resamples=3)
    farm.run(campaign, tmp_path)
    next((tmp_path / "records" / "a" / "cells").iterdir()).unlink()
    shown = CliRunner().invoke(cli, ["status", str(tmp_path), "--openmetrics"])
    families = {f.name: f for f in text_string_to_metric_families(shown.output)}
    assert set(families) == {
        f"schedfarm_{n}" for n in ("cells", "jobs", "cpu_seconds", "wall_seconds")
    }
    cells = {
        (s.labels["trace"], s.labels["state"]): s.value for s in families["schedfarm_cells"].samples
    }
    found = farm.status(tmp_path)
    assert cells == {
        (trace, state): counts[state]
        for trace, counts in found.traces.items()
        for state in ("done", "failed", "missing")
    }
    assert cells["a", "missing"] > 0
    (seconds,) = families["schedfarm_cpu_seconds"].samples
    assert (seconds.labels, seconds.value) == ({"campaign": "s"}, found.seconds)
