"""All hand-written cases."""

from __future__ import annotations

from tests.oracles.cases_grid import GRID
from tests.oracles.cases_network import NETWORK
from tests.oracles.cases_nodes import ON_NODES
from tests.oracles.cases_pool import POOL

CASES = {"pool": POOL, "grid": GRID, "nodes": ON_NODES, "network": NETWORK}
"""Cases by kind of platform."""
