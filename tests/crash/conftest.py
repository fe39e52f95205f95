"""Stages of failures, and the servers and recordings that their tests share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from schedfarm import farm
from schedfarm.core.logs.swf import write_swf
from schedfarm.core.models.lublin import lublin
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.trace import Trace
from tests.crash.failures import BUILDS, RUNS, Failure, power_cuts
from tests.crash.stages import STRUCK, Build, FullDisk, PowerCut, Processes, Recording, Stage
from tests.support.dask_processes import Site
from tests.support.harness import campaign_of
from tests.support.made import MadeStores
from tests.support.recorded import recorded

GROUPS = {"outside", "power"}
"""Stages whose tests share what takes long to start or to make: see tests/support/scheduling.py."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "failure" in metafunc.fixturenames:
        failures = [*RUNS, *BUILDS, *power_cuts(metafunc.config.getoption("--rounds"))]
        metafunc.parametrize("failure", failures, ids=[name_of(one) for one in failures])


def name_of(failure: Failure) -> str:
    """Name the test of a failure, and the group that it belongs to."""
    return failure.name + (f" @{failure.stage}" if failure.stage in GROUPS else "")


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A scheduler and nannies of somebody else, started by the first run on them."""
    one = Site(tmp_path_factory.mktemp("outside"))
    yield one
    one.end()


@pytest.fixture(scope="session")
def recording(made_store: MadeStores, tmp_path_factory: pytest.TempPathFactory) -> Recording:
    """What a campaign on a log asked of the file system, and its growth along every axis."""
    log = made_store.once(
        "power.swf", lambda path: write_swf(lublin(32, weeks=2, seed=3, users=4), path)
    )
    small = Campaign(
        name="power",
        traces=(Trace(name="m", file=str(log)),),
        policies=("fcfs+easy", "saf+easy"),
        loads=("original",),
        resamples=2,
        block_seconds=1e-6,
    )
    grown = replace(
        small,
        policies=("fcfs+easy", "saf+easy", "spf+easy"),
        loads=("original", "0.9"),
        resamples=3,
        fairness=("resource",),
    )
    folder = tmp_path_factory.mktemp("recorded")
    stores = [made_store(small), made_store.copy(small, folder / "grown")]
    farm.run(grown, stores[1])
    (folder / "below").mkdir()
    campaigns = [small, grown]
    steps, ends = recorded(campaigns, folder / "below" / "s")
    return Recording(steps, campaigns, ends, stores)


@pytest.fixture
def run(tmp_path: Path, made_store: MadeStores) -> Iterator[Processes]:
    """A run as a process."""
    one = Processes(tmp_path, made_store)
    yield one
    one.end()


@pytest.fixture
def compiled(made_store: MadeStores) -> None:
    """Kernels of the struck campaign: no run has to compile them."""
    made_store(campaign_of(STRUCK))


@pytest.fixture
def stage(
    failure: Failure, tmp_path: Path, made_store: MadeStores, request: pytest.FixtureRequest
) -> Iterator[Stage]:
    """The stage of a failure."""
    match failure.stage:
        case "build" | "growth":
            yield Build(tmp_path, made_store, grows=failure.stage == "growth")
        case "power":
            yield PowerCut(tmp_path, request.getfixturevalue("recording"))
        case "full disk":
            yield from _ended(FullDisk(tmp_path, made_store))
        case "outside":
            yield from _ended(Processes(tmp_path, made_store, request.getfixturevalue("outside")))
        case "local":
            yield from _ended(Processes(tmp_path, made_store))


def _ended(processes: Processes) -> Iterator[Stage]:
    yield processes
    processes.end()
