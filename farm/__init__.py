"""Campaigns: the cross product of traces, resamples, loads and policies, simulated and stored.

Importing the package is instant; each name below is loaded where it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from farm.campaign import Campaign
    from farm.reading import job_table
    from farm.reading import open_store as open
    from farm.runner import Outcome, run
    from farm.standing import Status, status
    from farm.store import Store
    from farm.traces import Trace

__all__ = ["Campaign", "Outcome", "Status", "Store", "Trace", "job_table", "open", "run", "status"]

_ROOMS = {
    "Campaign": "campaign.Campaign",
    "Outcome": "runner.Outcome",
    "Status": "standing.Status",
    "Store": "store.Store",
    "Trace": "traces.Trace",
    "job_table": "reading.job_table",
    "open": "reading.open_store",
    "run": "runner.run",
    "status": "standing.status",
}


def __getattr__(name: str) -> Any:
    if name not in _ROOMS:
        raise AttributeError(f"module 'farm' has no attribute {name!r}")
    from importlib import import_module

    room, _, thing = _ROOMS[name].partition(".")
    return getattr(import_module(f"farm.{room}"), thing)
