"""Simulation of policies with partitions, by the kernels of a pool with several resources."""

from __future__ import annotations

from schedfarm.core.machines.resources.simulation import (
    STEPS,
    aggressive,
    easy,
    none,
    planned,
    promise_planned,
    promise_reserving,
    reserving,
    slurm,
)

__all__ = [
    "STEPS",
    "aggressive",
    "easy",
    "none",
    "planned",
    "promise_planned",
    "promise_reserving",
    "reserving",
    "slurm",
]
