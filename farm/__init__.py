"""Campaigns: every combination of traces, resamples, loads and policies, simulated and stored.

Importing the package is instant; each name below is loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from schedfarm.farm.campaign.campaign import Campaign
    from schedfarm.farm.campaign.trace import Trace
    from schedfarm.farm.execution.run import Outcome, run
    from schedfarm.farm.store.names import names_of
    from schedfarm.farm.store.reading import job_table, open_store as open
    from schedfarm.farm.store.store import Store
    from schedfarm.farm.watching.status import Status, status

__all__ = [
    "Campaign",
    "Outcome",
    "Status",
    "Store",
    "Trace",
    "job_table",
    "names_of",
    "open",
    "run",
    "status",
]

_ROOMS = {
    "Campaign": "campaign.campaign.Campaign",
    "Outcome": "execution.run.Outcome",
    "Status": "watching.status.Status",
    "Store": "store.store.Store",
    "Trace": "campaign.trace.Trace",
    "job_table": "store.reading.job_table",
    "names_of": "store.names.names_of",
    "open": "store.reading.open_store",
    "run": "execution.run.run",
    "status": "watching.status.status",
}


def __dir__() -> list[str]:
    """Return the public names, for completion in shells and notebooks."""
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    if name not in _ROOMS:
        raise AttributeError(f"module 'farm' has no attribute {name!r}")
    from importlib import import_module

    room, _, thing = _ROOMS[name].rpartition(".")
    return getattr(import_module(f"schedfarm.farm.{room}"), thing)
