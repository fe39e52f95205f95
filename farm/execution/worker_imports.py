"""The imports of a simulating worker, for the fork server of local workers.

The coordinator names this module but does not import it: numba alone takes 0.4 s of CPU.
"""

import zarr  # noqa: F401

import schedfarm.core.logs.swf_cache
import schedfarm.core.logs.table
import schedfarm.core.machines.network.simulation
import schedfarm.core.metrics.kernels.jobs
import schedfarm.core.metrics.kernels.ranks
import schedfarm.farm.execution.worker
import schedfarm.farm.execution.workers
import schedfarm.farm.store.shards  # noqa: F401
