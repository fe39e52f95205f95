"""Workload models: each draws workloads of any size from a seed, with its published parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from core.models.downey import downey
from core.models.jann import jann
from core.models.lublin import lublin
from core.models.poisson import poisson
from core.workload.workload import Workload

MODELS: Mapping[str, Callable[..., Workload]] = MappingProxyType(
    {"lublin": lublin, "downey": downey, "jann": jann, "poisson": poisson}
)
"""Every model by its name; each takes processors, and by name jobs or weeks, seed and index."""
