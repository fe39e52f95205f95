"""Each kind of block has a row in every table that is read by its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from schedfarm.core.format.geometry import KINDS
from schedfarm.farm.execution.cell import MAKERS
from schedfarm.farm.planning.cost import SECONDS
from schedfarm.farm.store.product import OPTIONAL, PRODUCTS


@pytest.mark.parametrize(
    "table", [PRODUCTS, SECONDS, MAKERS], ids=["arrays", "CPU time", "function"]
)
def test_tables_of_kinds__have_a_row_for_each(table: Mapping[str, Any]) -> None:
    assert list(table) == list(KINDS)


def test_jobs_and_schedules_are_computed_in_every_campaign() -> None:
    assert set(MAKERS) - set(OPTIONAL) == {"workload", "cells"}
