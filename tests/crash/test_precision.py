"""A campaign that asks for precision, killed between its rounds on a local cluster."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from schedfarm import farm
from tests.support.growing import assert_same_by_label, tree
from tests.support.harness import Command, counts, wait_for
from tests.support.precise import PRECISE, values_of, with_relative


@pytest.mark.usefixtures("compiled")
def test_killed_between_rounds__the_same_rounds_and_bytes(tmp_path: Path) -> None:
    """Resumed, it makes the rounds of a run in one process, and begins a longer store."""
    (tmp_path / "c.toml").write_text(PRECISE.to_toml())
    farm.run(PRECISE, tmp_path / "once")
    store = tmp_path / "killed"
    words = ("run", "c.toml", "--json", "--store", str(store), "--workers", "2")
    first = Command(tmp_path, *words)
    wait_for(lambda: first.process.poll() is not None or "round 1, " in first.err, "a round")
    os.kill(first.process.pid, signal.SIGKILL)
    first.finish()
    again = Command(tmp_path, *words)
    assert again.finish() == 0, again.err
    found = counts(again.out)
    cells = 2 * tree(store).sizes["resample"]
    assert 40 <= found["before"] < found["cells"] == cells == found["before"] + found["done"]
    rounds = [json.loads(tree(one).attrs["precision"]) for one in (store, tmp_path / "once")]
    assert rounds[0] == rounds[1]
    assert len(rounds[0]["rounds"]) == 3
    assert_same_by_label(store, tmp_path / "once")
    shorter = values_of(store)
    assert shorter == values_of(tmp_path / "once")
    farm.run(with_relative(0.08), store)
    longer = values_of(store)
    assert len(longer) > len(shorter) > 6
    assert {name: longer[name] for name in shorter} == shorter
