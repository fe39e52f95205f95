"""What a store promises of every kind of platform; files of their own test what is special."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
import zarr

from schedfarm import farm
from schedfarm.core import Schedule, simulate
from schedfarm.core.errors import InputError
from schedfarm.farm.execution.run import begin
from schedfarm.farm.execution.worker import run_task
from schedfarm.farm.store.product import PRODUCTS
from schedfarm.farm.store.reading import job_table, schedule_of
from schedfarm.farm.store.store import Store
from schedfarm.farm.verify import Again, repair, verify
from tests.stores.platforms import IN_POOL, KINDS, LAST, LOAD, Kind
from tests.support.harness import assert_same_results, records
from tests.support.made import MadeStores

POOL, NETWORK = KINDS[0], KINDS[3]


def cell(platform: Kind, policy: str) -> dict[str, Any]:
    """Return the labels of one simulation."""
    name = platform.platform.name
    return {"trace": name, "policy": policy, "resample": LAST, "load": LOAD}


def column(schedule: Schedule, name: str) -> list[Any]:
    """Return a column of a schedule or of its jobs, by its name in a table."""
    owner = schedule if hasattr(schedule, name) else schedule.workload
    values: np.ndarray = getattr(owner, name.removeprefix("job_"))
    return values.tolist()


def columns(platform: Kind, schedule: Schedule) -> dict[str, Any]:
    """Return all that a store has to keep of a schedule."""
    found: dict[str, Any] = {name: column(schedule, name) for name in platform.columns}
    if schedule.segments is not None:
        parts = ("job", "place", "procs")
        found |= {f"segments.{name}": getattr(schedule.segments, name).tolist() for name in parts}
    return found | {"counts": dict(schedule.counts)}


def alter(store: Path, name: str, load: int) -> None:
    """Change a number of each cell of the last resample at a load."""
    array: Any = zarr.open_group(store / "results.zarr", mode="r+")[name]
    values = array[...]
    values[-1, load] = values[-1, load] + 1
    array[...] = values


def kinds(*some: Kind) -> pytest.MarkDecorator:
    """Run each test of a class on some kinds of platform."""
    return pytest.mark.parametrize("platform", some, ids=lambda kind: kind.platform.name)


class PlatformContract:
    """What a store promises of a platform; a class of tests says of which."""

    @pytest.fixture
    def sound(self, platform: Kind, made_store: MadeStores) -> Path:
        """Return a store of the platform that nothing has happened to."""
        return made_store(platform.campaign(made_store))

    def test_a_schedule_comes_back_whole(self, platform: Kind, sound: Path) -> None:
        """Every stored schedule is the one that the program makes of its jobs, column by column."""
        has_all = False
        for policy, resample in product(platform.policies, Store.open(sound).axes["resample"]):
            at = {**cell(platform, policy), "resample": resample}
            stored = schedule_of(sound, **at)
            assert stored.workload.platform == platform.platform
            has_all |= platform.has_all(stored)
            again = simulate(stored.workload, policy)
            assert columns(platform, stored) == columns(platform, again)
            table = job_table(sound, **at)
            for name in ("submit", *platform.special):
                if name in table:
                    assert table[name].tolist() == column(stored, name), name
        assert has_all

    def test_arrays_of_a_platform_are_in_its_traces_alone(
        self, platform: Kind, sound: Path
    ) -> None:
        """Plain xarray finds them on their own platform, and on no other."""
        group = xr.open_zarr(sound / "results.zarr", group=platform.platform.name)
        assert set(platform.special) <= set(group.variables)
        others = {name for kind in KINDS for name in kind.special} - {*platform.special}
        assert others.isdisjoint(group.variables)
        assert group.wait.dims == ("resample", "load", "policy", "job")

    def test_interrupted_and_resumed__is_the_same_store(
        self, platform: Kind, made_store: MadeStores, sound: Path, tmp_path: Path
    ) -> None:
        """What was done before stays, and the whole is that of an undisturbed run."""
        campaign, store = platform.campaign(made_store), tmp_path / "store"
        with begin(campaign, store) as prepared:
            for task in prepared.tasks[: len(prepared.tasks) // 2]:
                run_task(task)
        before = records(store)
        outcome = farm.run(campaign, store)
        assert 0 < outcome.before < outcome.cells
        assert (outcome.before + outcome.done, outcome.failed) == (outcome.cells, 0)
        assert {name: when for name, when in records(store).items() if name in before} == before
        assert_same_results(store, sound)

    def test_a_sound_store_has_no_fault(self, sound: Path) -> None:
        """Every cell is simulated again, and every stored number compared."""
        again = Again(100)
        assert list(verify(sound, again)) == []
        assert again.done == again.cells > 0

    def test_an_altered_number_is_found(
        self, platform: Kind, made_store: MadeStores, sound: Path, tmp_path: Path
    ) -> None:
        """It is named, not read, and run again."""
        campaign = platform.campaign(made_store)
        store = made_store.copy(campaign, tmp_path / "store")
        name = platform.platform.name
        # Only the first fault of a record is named: neighbours are altered at different loads.
        for place, array in enumerate(platform.altered):
            alter(store, f"{name}/{array}", load=1 - place % 2)
        faults = list(verify(store, Again(0)))
        assert {fault.name for fault in faults} == {
            f"results.zarr/{name}/{array}" for array in platform.altered
        }
        why = rf"{platform.altered[0]} of block {name}/cells/\S+ does not match its record"
        with pytest.raises(InputError, match=why):
            schedule_of(store, **cell(platform, platform.policies[0]))
        repair(store, faults)
        assert farm.run(campaign, store).failed == 0
        assert_same_results(store, sound)

    def test_a_metric_is_learnt_from_what_is_stored(
        self, platform: Kind, made_store: MadeStores, sound: Path, tmp_path: Path
    ) -> None:
        """A metric that a campaign gains takes no simulation, and changes no other figure."""
        campaign = platform.campaign(made_store)
        store = made_store.copy(campaign, tmp_path / "store")
        (tmp_path / "mine.py").write_text(f"def own(counted):\n    return {platform.metric}\n")
        more = replace(campaign, metrics=("mine:own",), folder=tmp_path)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("schedfarm.farm.execution.cell.simulate", None)
            assert (outcome := farm.run(more, store)).done == outcome.failed == 0
        root, before = (xr.open_zarr(path / "results.zarr").load() for path in (store, sound))
        for policy in platform.policies:
            at = cell(platform, policy)
            schedule = schedule_of(store, **at)
            assert float(root.own.sel(at)) == platform.by_hand(schedule)
            assert columns(platform, schedule) == columns(platform, schedule_of(sound, **at))
        xr.testing.assert_identical(root.drop_vars("own").drop_attrs(), before.drop_attrs())

    def test_a_pool_in_the_store_knows_nothing_of_it(
        self, platform: Kind, made_store: MadeStores
    ) -> None:
        """A pool's arrays and the digests of its blocks are those of a store of pools."""
        store = Store.open(made_store(POOL.on_a_pool()))
        text = store.to_bytes().decode()
        assert not [word for word in ('"node"', '"origin"', "origin_", "migrated") if word in text]
        trace = platform.platform.name
        sources: Mapping[str, Any] = {
            **store.sources,
            trace: {"platform": platform.platform.to_dict()},
        }
        machines = [store.platform(IN_POOL.name), platform.platform]
        grown = replace(
            store,
            axes={**store.axes, "trace": (IN_POOL.name, trace)},
            sources=sources,
            holds={name: PRODUCTS[name].holding((), machines) for name in store.holds},
        )
        for block in store.blocks():
            assert grown.holding_digest(block) == store.holding_digest(block)
        for kind in store.holds:
            assert grown.arrays_of(IN_POOL.name, kind) == store.arrays_of(IN_POOL.name, kind)
        assert grown.parts(IN_POOL.name) == {}


@kinds(POOL, NETWORK)
class TestPlatforms(PlatformContract):
    """Pools and networks; tests/stores/exhaustive has the others."""
