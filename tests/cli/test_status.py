"""What a store can tell of the work that was spent on it, and how a run is watched."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import shutil
import zlib
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from schedfarm.core.format.geometry import Block
from schedfarm.farm import run, status
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.planning.block_shape import JOB_STEP
from schedfarm.farm.store import provenance, records
from schedfarm.farm.watching.events import (
    Begin,
    BlockDone,
    Doing,
    End,
    EventLog,
    Lost,
    Running,
    Said,
    now,
    read_events,
)
from schedfarm.farm.watching.progress import Bar, Lines
from tests.support.command_line import Farm

TRACE = Trace(name="m", model="lublin", processors=64, jobs=40)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The finished store of one cell."""
    path = tmp_path_factory.mktemp("made") / "store"
    run(Campaign(name="s", traces=(TRACE,), policies=("fcfs+easy",), resamples=1), path)
    return path


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Path:
    """A copy of that store."""
    return Path(shutil.copytree(made, tmp_path / "store"))


EVENTS = """\
{"time": 100.0, "event": "begin", "cells": 9, "before": 0, "pid": 7, "host": "h", "commit": "c"}
{"time": 107.5, "event": "block", "block": {"trace": "m", "kind": "cells", "resample": 0, \
"load": 0, "policy": 0, "piece": 0}, "cells": 4, "failed": 1, "seconds": 0.5, "worker": "h:8"}
{"time": 108.0, "event": "block", "block": {"tra
{"event": "begin", "time": 900.0, "cells": 9, "before": 3, "pid": 9, "origin": {"host": "h"}}
{"time": 900.5, "event": "say", "text": "a word"}
{"time": 901.0, "event": "lost", "cells": 2, "why": "no memory"}
{"time": 901.5, "event": "of a later version"}
{"time": 902.0, "event": "end"}
"""
"""Of two runs: the first, of an older version, was killed in the middle of a line."""


def test_events__are_read_whatever_wrote_them(tmp_path: Path) -> None:
    """Lines that nobody finished, and kinds that are not known, are passed over."""
    (tmp_path / "events.jsonl").write_text(EVENTS + '{"time": 90')
    events, offset = read_events(tmp_path)
    block = BlockDone(
        time=107.5,
        block=Block("m", "cells", 0, 0, 0),
        cells=4,
        failed=1,
        seconds=0.5,
        worker="h:8",
    )
    assert events == [
        Begin(time=100.0, cells=9, before=0, pid=7),
        block,
        Begin(time=900.0, cells=9, before=3, pid=9, origin={"host": "h"}),
        Said(time=900.5, text="a word"),
        Lost(time=901.0, cells=2, why="no memory"),
        End(time=902.0),
    ]
    log = EventLog(tmp_path)
    log.see(block)
    log.see(End(time=903.0))
    assert read_events(tmp_path, offset)[0] == [block, End(time=903.0)]


@pytest.mark.parametrize("watch", [Lines, Bar])
def test_watchers__tell_a_run(watch: type[Lines | Bar], tmp_path: Path) -> None:
    """Counts, what was lost and what was said; lines by the events' own clock."""
    (tmp_path / "events.jsonl").write_text(EVENTS)
    stream = io.StringIO()
    teller = watch(stream)
    for event in read_events(tmp_path)[0][2:]:
        teller.see(event)
    text = stream.getvalue()
    assert "a word\n" in text
    assert "2 cells lost: no memory\n" in text
    assert "3/9" in text
    assert teller.meter.failed == 2


def test_watch__of_a_run_that_was_killed(farm: Farm, store: Path) -> None:
    """It is told as far as it came, at the rate that it had."""
    (store / "events.jsonl").write_text("".join(EVENTS.splitlines(keepends=True)[:2]))
    shown = farm("watch", store, "--once")
    assert "9 cells, 0 done before\n" in shown.output
    assert "4/9 cells, 1 failed, 32 cells/min\n" in shown.output


def test_watchers__tell_no_rate_and_no_time_left_that_mean_nothing() -> None:
    """A moment after the beginning there is neither; later, what the run has measured."""
    block = BlockDone(
        time=900.1, block=Block("m", "cells", 0, 0, 0), cells=3, failed=0, seconds=0.1, worker="h:1"
    )
    for watch in (Lines, Bar):
        stream = io.StringIO()
        teller = watch(stream)
        teller.see(Begin(time=900.0, cells=594, before=0))
        teller.see(block)
        teller.leave(900.1)
        assert "3/594 cells, 0 failed" in stream.getvalue()
        assert "cells/min" not in stream.getvalue()
        assert "left" not in stream.getvalue()
        teller.see(Begin(time=900.0, cells=594, before=0))
        teller.see(structs.replace(block, time=960.0, left=3_700.0))
        teller.leave(960.0)
        assert "0 failed, 6 cells/min, about 1 h 2 min left" in stream.getvalue()


def test_what_runs__is_told_by_watch_and_status(farm: Farm, store: Path) -> None:
    """With host and since when; not of a run that has ended, or of which nothing is heard."""
    assert status(store).running == ()
    doing = Doing(
        what="m resample 0 load 0.95 fcfs+conservative", worker="h:1", seconds=180.0,
        cell=1, cells=1, share=0.4, done=0.4,
    )  # fmt: skip
    log = EventLog(store)
    log.see(Begin(cells=9, before=0))
    log.see(Running(time=now() - 12, tasks=(doing,), count=1, left=300.0))
    found = status(store)
    assert [one.what for one in found.running] == [doing.what]
    assert 191 < found.running[0].seconds < 250
    assert found.to_dict()["running"][0]["share"] == 0.4
    shown = farm("status", store).output
    assert f"running: {doing.what} on h:1, 3 min 1" in shown
    shown = farm("watch", store, "--once").output
    assert "so far, 40 % of its jobs" in shown
    assert "about 5 min left" in shown
    log.see(End())
    assert status(store).running == ()
    log = EventLog(store)
    log.see(Begin(time=900.0, cells=9, before=0))
    log.see(Running(time=900.0, tasks=(doing,), count=1))
    assert status(store).running == ()
    log.see(End())


def test_wall__of_a_clock_that_was_set_back_is_not_negative(store: Path) -> None:
    """What cannot be known of it counts as nothing."""
    log = EventLog(store)
    (store / "events.jsonl").write_text("")
    log.see(Begin(time=900.0, cells=9, before=0))
    log.see(Said(time=300.0, text="a word"))
    log.see(End(time=302.0))
    assert status(store).wall == 2.0


def test_wall__is_the_time_of_the_runs_without_the_pauses(store: Path) -> None:
    """A run that was killed counts until its last event, the pause after it does not."""
    (store / "events.jsonl").write_text(EVENTS)
    found = status(store)
    assert found.wall == 9.5
    assert found.seconds > 0


def test_origin__says_what_computed_the_blocks(farm: Farm, store: Path) -> None:
    """Host, versions and commit of every record, the campaign's digest, and all that in words."""
    found = status(store)
    (origin,) = found.origins
    assert origin == {**provenance.origin(), "blocks": 2}
    assert origin["numpy"] == np.__version__
    text = (store / "campaign.toml").read_bytes()
    assert found.sha256 == hashlib.sha256(text).hexdigest()
    shown = farm("status", store).output
    assert f"2 blocks by schedfarm {origin['schedfarm']} (commit {origin['commit']}), " in shown
    assert f", on {origin['host']}" in shown


def test_origin__of_a_block_that_two_programs_filled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was kept is still the older one's: both stand in the record."""
    three = tuple(f"{order}+easy" for order in ("fcfs", "spf", "saf"))
    campaign = Campaign(name="s", traces=(TRACE,), policies=three, resamples=1)
    monkeypatch.setattr("schedfarm.farm.planning.block_shape.SHARD_BYTES", 8 * JOB_STEP * 2)
    run(campaign, tmp_path)
    other = {**provenance.origin(), "host": "another"}
    monkeypatch.setattr("schedfarm.farm.store.block.origin", lambda: other)
    run(dataclasses.replace(campaign, policies=(*three, "sqf+easy")), tmp_path)
    found = {origin["host"]: origin["blocks"] for origin in status(tmp_path).origins}
    # The workload's block, one of two policies, and one of a policy that was there and a new one.
    assert found == {provenance.origin()["host"]: 3, "another": 1}


def test_counts__are_those_of_the_heads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bodies are read where a head tells too little, or a cell has failed, and nowhere else."""
    campaign = Campaign(name="s", traces=(TRACE,), policies=("fcfs+easy",), resamples=3)
    run(dataclasses.replace(campaign, block_seconds=1e-6), tmp_path)
    expected, read = status(tmp_path), []
    assert (expected.done, expected.jobs) == (3, 120)
    assert expected.seconds > 0
    whole = records.Record.from_bytes

    def noted(data: bytes) -> records.Record:
        read.append(data)
        return whole(data)

    monkeypatch.setattr(records.Record, "from_bytes", noted)
    assert status(tmp_path) == expected
    assert read == []
    path = next((tmp_path / "records/m/cells").iterdir())
    head, body, _ = path.read_bytes().splitlines(keepends=True)
    plain = json.loads(head)
    del plain["tally"]
    older = json.dumps(plain).encode() + b"\n" + body
    path.write_bytes(older + json.dumps({"crc32": zlib.crc32(older)}).encode() + b"\n")
    assert status(tmp_path) == expected
    assert len(read) == 1


def test_openmetrics__is_read_by_prometheus(farm: Farm, tmp_path: Path) -> None:
    """Its own parser finds every count; a store half done says what is missing."""
    traces = tuple(Trace(name=n, model="lublin", processors=64, jobs=40) for n in "ab")
    campaign = Campaign(name="s", traces=traces, policies=("fcfs+easy",), resamples=3)
    run(campaign, tmp_path)
    next((tmp_path / "records" / "a" / "cells").iterdir()).unlink()
    shown = farm("status", tmp_path, "--openmetrics")
    families = {f.name: f for f in text_string_to_metric_families(shown.output)}
    assert set(families) == {
        f"schedfarm_{n}" for n in ("cells", "jobs", "cpu_seconds", "wall_seconds")
    }
    cells = {
        (s.labels["trace"], s.labels["state"]): s.value for s in families["schedfarm_cells"].samples
    }
    found = status(tmp_path)
    assert cells == {
        (trace, state): counts[state]
        for trace, counts in found.traces.items()
        for state in ("done", "failed", "missing")
    }
    assert cells["a", "missing"] > 0
    (seconds,) = families["schedfarm_cpu_seconds"].samples
    assert (seconds.labels, seconds.value) == ({"campaign": "s"}, found.seconds)
