"""Cells that fail are data, told with their tracebacks, and take no others along."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from schedfarm import farm
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.planning.cost import cell_seconds
from tests.support.command_line import farm_in
from tests.support.growing import LARGER_TRACE, SMALL, counts, tree
from tests.support.harness import records

ORDERS = '''
def picky(submit, estimate, procs, user, now):
    """Order by submission; refuse the logs of one of the two traces."""
    if submit.size == 60:
        raise RuntimeError("not these")
    return submit

picky.static = True
'''


@pytest.fixture
def picky(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Campaign:
    """A campaign in which the cells of one policy on one trace fail."""
    (tmp_path / "picky_order.py").write_text(ORDERS)
    monkeypatch.syspath_prepend(tmp_path)
    return dataclasses.replace(
        SMALL,
        traces=(*SMALL.traces, LARGER_TRACE),
        policies=("fcfs+easy", "picky_order:picky+easy"),
    )


def test_failed_cells__are_data(tmp_path: Path, picky: Campaign) -> None:
    """The other cells are done, the failed are told with their traceback and run again if asked."""
    store = tmp_path / "s"
    assert counts(farm.run(picky, store)) == (24, 0, 24, 6)
    found = farm.status(store)
    assert (found.done, found.failed, found.missing) == (18, 6, 0)
    assert {(f.trace, f.policy) for f in found.failures} == {("m", "picky_order:picky+easy")}
    assert "not these" in found.failures[0].error
    assert "in picky" in found.failures[0].traceback
    summary = tree(store).to_dataset()["wait"]
    assert summary.isnull().sum() == 6
    assert summary.sel(trace="m", policy="picky_order:picky+easy").isnull().all()
    waits = tree(store)["m/wait"].sel(policy="picky_order:picky+easy")
    assert (waits == -1).all()
    assert counts(farm.run(picky, store)) == (24, 24, 0, 6)
    before = records(store)
    assert counts(farm.run(picky, store, retry_failed=True)) == (24, 18, 6, 6)
    again = {name for name, written in records(store).items() if written != before[name]}
    assert {name.split("/")[:2] == ["m", "cells"] for name in again} == {True}
    grown = dataclasses.replace(picky, resamples=4)
    assert farm.run(grown, store).failed == 8


def test_failed_cells__command_line(tmp_path: Path, picky: Campaign) -> None:
    """Exit status 1, and `farm status --failed` says why."""
    (tmp_path / "c.toml").write_text(picky.to_toml())
    farm.run(picky, tmp_path / "grow.farm")
    ended = farm_in(tmp_path, "run", "c.toml")
    assert ended.exit_code == 1, ended
    assert "24 cells: 24 done before, 0 simulated now, 6 failed" in ended.stdout
    said = farm_in(tmp_path, "status", "grow.farm", "--failed")
    assert said.exit_code == 0
    assert said.stdout.count("RuntimeError: not these") >= 6
    assert "Traceback" in said.stdout
    plain = farm_in(tmp_path, "status", "grow.farm", "--json")
    assert json.loads(plain.stdout)["failed"] == 6


def test_load_that_cannot_be_reached__fails_its_cells_alone(tmp_path: Path) -> None:
    """Jobs submitted at one instant have no offered load; the original load needs none."""
    row = "{} 0 -1 10 2 -1 -1 2 20 -1 1 7 -1 -1 -1 -1 -1 -1\n"
    (tmp_path / "a.swf").write_text("; MaxProcs: 8\n" + "".join(row.format(k) for k in range(9)))
    campaign = dataclasses.replace(SMALL, traces=(Trace(file=str(tmp_path / "a.swf")),))
    assert counts(farm.run(campaign, tmp_path / "s")) == (12, 0, 12, 6)
    failures = farm.status(tmp_path / "s").failures
    assert {f.load for f in failures} == {"0.9"}
    assert "offered load" in failures[0].error
    assert tree(tmp_path / "s")["wait"].sel(load="original").notnull().all()
    assert (tree(tmp_path / "s")["a/submit"].sel(load="original") == 0).all()


def test_a_lost_task_fails_what_it_was_to_add(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cells of its blocks that were done before are still done."""
    each = cell_seconds(60, "fcfs+easy", "original")
    few = dataclasses.replace(
        SMALL,
        policies=("fcfs+easy",),
        loads=("original",),
        resamples=3,
        block_seconds=2.01 * each,
    )
    assert farm.run(few, tmp_path / "s").done == 3

    def lose(task: object) -> None:
        raise RuntimeError("worker died")

    monkeypatch.setattr("schedfarm.farm.execution.executors.run_task", lose)
    # The second block has one of its two resamples already.
    outcome = farm.run(dataclasses.replace(few, resamples=4), tmp_path / "s")
    assert counts(outcome) == (4, 3, 0, 1)
    assert counts(farm.run(few, tmp_path / "t")) == (3, 0, 0, 3)
