"""All hand-written cases."""

from __future__ import annotations

from tests.oracles.cases_grid import GRID
from tests.oracles.cases_hosts import ON_HOSTS
from tests.oracles.cases_hosts_partitions import ON_HOSTS_IN_PARTITIONS
from tests.oracles.cases_network import NETWORK
from tests.oracles.cases_nodes import ON_NODES
from tests.oracles.cases_orders import OF_ORDERS
from tests.oracles.cases_partitions import ON_PARTITIONS
from tests.oracles.cases_pool import POOL
from tests.oracles.cases_resources import ON_RESOURCES

CASES = {
    "pool": (*POOL, *OF_ORDERS),
    "grid": GRID,
    "resources": ON_RESOURCES,
    "partitions": ON_PARTITIONS,
    "hosts": (*ON_HOSTS, *ON_HOSTS_IN_PARTITIONS),
    "nodes": ON_NODES,
    "network": NETWORK,
}
"""Cases by kind of platform."""
