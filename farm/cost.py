"""CPU time to plan with: what a cell costs by its jobs, its rule and its load."""

from __future__ import annotations

from core.policy import Policy

RATES = {"none": 2e6, "aggressive": 2e6, "easy": 2e6, "conservative": 2e5, "planned": 2e5}
DEPTH_RATE = 4e5
FAIR_RATES = {"none": 1e5, "aggressive": 1e5, "easy": 1e5, "conservative": 1e4, "planned": 1e4}
RERUN_FACTOR = 10.0
FIXED = frozenset(
    {"fcfs", "lcfs", "spf", "lpf", "sqf", "lqf", "saf", "laf", "f1", "f2", "f3", "f4"}
)


def cell_seconds(jobs: int, policy: str, load: str) -> float:
    """Return the CPU time to plan with for one simulation, s."""
    return max(jobs, 1) / RATES.get(Policy.parse(policy).rule, DEPTH_RATE)


def fair_seconds(jobs: int, policy: str, load: str, kind: str = "strict") -> float:
    """Return the CPU time to plan with for one kind of a cell's fair start times, s."""
    parsed = Policy.parse(policy)
    rate = FAIR_RATES.get(parsed.rule, FAIR_RATES["conservative"])
    if parsed.threshold or parsed.order not in FIXED:
        rate /= RERUN_FACTOR
    return max(jobs, 1) / rate
