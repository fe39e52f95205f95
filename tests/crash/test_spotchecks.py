"""A worker that gives wrong results: a second one finds it, and its cells are simulated again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from distributed import Client

from schedfarm import farm
from schedfarm.cluster import ClusterSpec, connect
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.watching.events import BlockDone, Retracted, Said, read_events
from tests.support.harness import assert_same_results

CAMPAIGN = Campaign(
    name="faulty",
    traces=(Trace(name="m", model="lublin", processors=64, jobs=50),),
    policies=("fcfs+easy", "saf+easy"),
    loads=("0.8",),
    resamples=6,
    block_seconds=1e-9,
)

HOST_DEPENDENT = """
import os

def pid(submit):
    return submit * 7919 * os.getpid() % 10007
"""
"""An order that differs from process to process."""


def flip_waits() -> None:
    """Flip a bit of the wait of the first job that a schedule of this process has."""
    from schedfarm.farm.execution.cell import Simulations

    right = Simulations.values

    def values(self, block, cell, stored):  # type: ignore[no-untyped-def]
        count, rows, figures = right(self, block, cell, stored)
        if "wait" in rows:
            wait = np.array(rows["wait"])
            wait[0] ^= 1
            rows = {**rows, "wait": wait}
        return count, rows, figures

    Simulations.values = values  # type: ignore[method-assign]


def flip_means() -> None:
    """Flip the last bit of each mean wait that this process computes."""
    from schedfarm.farm.execution.cell import Simulations

    right = Simulations.values

    def values(self, block, cell, stored):  # type: ignore[no-untyped-def]
        count, rows, figures = right(self, block, cell, stored)
        if "wait" in figures:
            figures = {**figures, "wait": float(np.nextafter(figures["wait"], np.inf))}
        return count, rows, figures

    Simulations.values = values  # type: ignore[method-assign]


def flip_records() -> None:
    """Flip a bit of each record of this process before its checksum is made."""
    from schedfarm.farm.store import block

    right = block.Payload

    def payload(**columns):  # type: ignore[no-untyped-def]
        for column in columns["figures"].values():
            column.view(np.int64)[0] ^= 1
        return right(**columns)

    block.Payload = payload  # type: ignore[assignment,misc]


def fail() -> None:
    """Let each simulation of this process fail."""
    from schedfarm.farm.execution.cell import Simulations

    def values(self, block, cell, stored):  # type: ignore[no-untyped-def]
        raise ValueError("no bit is as it was")

    Simulations.values = values  # type: ignore[method-assign]


@pytest.fixture
def faulty() -> Iterator[Client]:
    with connect(ClusterSpec.parse("local", 3)) as client:
        client.wait_for_workers(3)
        yield client


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with connect(ClusterSpec.parse("local", 3)) as client:
        client.wait_for_workers(3)
        yield client


def events(store: Path, kind: type) -> list:  # type: ignore[type-arg]
    return [event for event in read_events(store)[0] if isinstance(event, kind)]


def quarantined(store: Path) -> list[str]:
    texts = [event.text for event in events(store, Said)]
    return [text.split()[1] for text in texts if "is in quarantine" in text]


@pytest.mark.parametrize("fault", [flip_waits, flip_means, flip_records, fail])
def test_a_worker_that_is_wrong__is_quarantined_and_its_cells_are_simulated_again(
    fault: Callable[[], None], faulty: Client, tmp_path: Path
) -> None:
    """No number of it is left: the store is that of a sound cluster, to the bit."""
    address = next(iter(faulty.scheduler_info()["workers"]))
    faulty.run(fault, workers=[address])
    pid = faulty.run(os.getpid, workers=[address])[address]
    ended = farm.run(CAMPAIGN, tmp_path / "s", faulty)
    assert [name.rpartition(":")[2] for name in quarantined(tmp_path / "s")] == [str(pid)]
    assert (ended.done, ended.failed) == (CAMPAIGN.cells, 0)
    farm.run(CAMPAIGN, tmp_path / "sound")
    assert_same_results(tmp_path / "s", tmp_path / "sound")
    done = sum(event.cells for event in events(tmp_path / "s", BlockDone))
    assert done - sum(one.cells for one in events(tmp_path / "s", Retracted)) == CAMPAIGN.cells


def test_sound_workers__one_cell_of_each_is_compared_at_least(
    client: Client, tmp_path: Path
) -> None:
    ended = farm.run(CAMPAIGN, tmp_path / "s", client)
    worked = {event.worker for event in events(tmp_path / "s", BlockDone)}
    assert ended.compared >= len(worked)
    assert not quarantined(tmp_path / "s")
    assert not events(tmp_path / "s", Retracted)


def test_a_share_of_one__every_cell_is_compared(client: Client, tmp_path: Path) -> None:
    """Those that policies share, too: the workloads."""
    ended = farm.run(CAMPAIGN, tmp_path / "s", client, spot_checks=1.0)
    assert ended.compared == CAMPAIGN.cells + CAMPAIGN.resamples * len(CAMPAIGN.loads)


def test_a_share_of_zero__nothing_is_compared(client: Client, tmp_path: Path) -> None:
    assert farm.run(CAMPAIGN, tmp_path / "s", client, spot_checks=0.0).compared == 0


def test_a_policy_that_is_not_deterministic__no_worker_is_blamed(tmp_path: Path) -> None:
    """Three simulations give three results, which is reported."""
    (tmp_path / "host.py").write_text(HOST_DEPENDENT)
    # Few jobs may start at the same instants in any order.
    [trace] = CAMPAIGN.traces
    crowded = {"traces": (replace(trace, jobs=500),), "loads": ("1.5",), "overload": True}
    plain = {**vars(CAMPAIGN), **crowded, "policies": ("host:pid+easy",), "folder": tmp_path}
    with connect(ClusterSpec.parse("local", 2)) as client:
        ended = farm.run(Campaign(**plain), tmp_path / "s", client)
    texts = [event.text for event in events(tmp_path / "s", Said)]
    assert any("policy host:pid+easy is not deterministic" in text for text in texts)
    assert not quarantined(tmp_path / "s")
    assert ended.failed == 0


def test_one_worker__nothing_can_be_compared(tmp_path: Path) -> None:
    with connect(ClusterSpec.parse("local", 1)) as client:
        ended = farm.run(CAMPAIGN, tmp_path / "s", client)
    assert (ended.done, ended.compared) == (CAMPAIGN.cells, 0)
