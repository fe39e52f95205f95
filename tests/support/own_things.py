"""A campaign of plug-in orders, rules and metrics, next to the file that has them."""

from __future__ import annotations

from pathlib import Path

TEXT = '''
"""An order, a rule and two metrics."""
from dataclasses import dataclass

import numpy as np


@dataclass
class Weight:
    """Weighs what a user waited; found by a module of its own."""

    waited: float = 2.0


def by_history(waited, worked, submit, procs, now):
    """Who waited long for little work goes first."""
    return -Weight().waited * waited / (worked + 1) - (now - submit) * procs


def alone(workload, policy):
    """One job at a time, in order of arrival."""
    start, now = [], 0
    for submit, run in zip(workload.submit.tolist(), workload.run.tolist()):
        start.append(max(now, submit))
        now = start[-1] + run
    return start


def p95_wait(counted):
    """Wait that 95 percent do not exceed."""
    return float(np.percentile(counted.wait, 95, method="inverted_cdf"))


p95_wait.unit = "s"


def user_longest(counted):
    """Longest wait of the user."""
    index, longest = counted.users, np.zeros(counted.users.label.size)
    for place, wait in zip(index.place[counted.kept].tolist(), counted.wait.tolist()):
        if place < longest.size:
            longest[place] = max(longest[place], wait)
    return longest


user_longest.over = "user"
user_longest.unit = "s"
'''

TOML = """
name = "owned"
seed = 4
resamples = 2
loads = ["original", 0.9]
policies = ["{module}:by_history+easy", "fcfs+{module}:alone", "saf+easy,backfill={module}:by_history"]
metrics = ["{module}:p95_wait", "{module}:user_longest"]
block_seconds = 0.02

[[traces]]
name = "m"
model = "lublin"
processors = 64
jobs = {jobs}
parameters = {{ users = 4 }}
"""  # noqa: E501

MODULE = "mine_of_owned"
"""Of no module that can be imported."""


def lay(folder: Path, *, text: str = TEXT, module: str = MODULE, jobs: int = 80) -> Path:
    """Write a campaign and the file of its module into a new folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{module}.py").write_text(text)
    path = folder / "c.toml"
    path.write_text(TOML.format(module=module, jobs=jobs))
    return path
