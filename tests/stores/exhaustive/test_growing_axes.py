"""A value that is added to an axis of a campaign is one more label."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from schedfarm.analysis.axes import axes_of
from schedfarm.core.errors import InputError
from schedfarm.farm import run
from schedfarm.farm.verify import verify
from tests.stores.exhaustive.test_axes import WIDE
from tests.support.growing import assert_same_by_label, counts
from tests.support.made import MadeStores

GROWN = replace(WIDE, axes={"processors": [80, 64, 96], "depth": [8, 1, 20]})


def test_values_added_to_axes_cost_their_cells_only(tmp_path: Path, made_store: MadeStores) -> None:
    """The grown store is that of a campaign with all values at once, and is sound."""
    store = made_store.copy(WIDE, tmp_path / "s")
    assert counts(run(GROWN, store)) == (48, 24, 24, 0)
    assert_same_by_label(store, made_store(GROWN))
    assert axes_of(store) == {"processors": [64, 80, 96], "depth": [1, 8, 20]}
    assert list(verify(store)) == []
    with pytest.raises(InputError, match="a campaign may grow, not shrink"):
        run(WIDE, store)
