"""What a store promises of the platforms that the default tests leave out."""

from __future__ import annotations

from pathlib import Path

import xarray as xr

from schedfarm import farm
from schedfarm.farm.verify import Again, verify
from tests.stores.platforms import IN_POOL, KINDS, Kind
from tests.stores.test_store_contract import NETWORK, POOL, PlatformContract, kinds
from tests.support.growing import assert_same_by_label, counts
from tests.support.harness import records
from tests.support.made import MadeStores


@kinds(*(kind for kind in KINDS if kind not in (POOL, NETWORK)))
class TestOtherPlatforms(PlatformContract):
    """Nodes and grids."""


@kinds(*(kind for kind in KINDS if kind.on_pools and kind != POOL))
def test_a_pool_stays_as_it_was_when_a_trace_joins(
    platform: Kind, made_store: MadeStores, tmp_path: Path
) -> None:
    """None of its blocks is written again, and the grown store is one made at once."""
    alone, both = platform.on_a_pool(), platform.on_a_pool(platform.trace(made_store))
    store = made_store.copy(alone, tmp_path / "store")
    before = records(store)
    outcome = farm.run(both, store)
    assert counts(outcome) == (both.cells, alone.cells, both.cells - alone.cells, 0)
    assert {name: when for name, when in records(store).items() if name in before} == before
    assert list(verify(store, Again(0))) == []
    assert_same_by_label(store, made_store(both))
    pool = xr.open_zarr(store / "results.zarr", group=IN_POOL.name)
    assert {name for kind in KINDS for name in kind.special}.isdisjoint(pool.variables)
