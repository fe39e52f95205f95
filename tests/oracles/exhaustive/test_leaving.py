"""Jobs that leave the queue, on random small workloads, by every program."""

from __future__ import annotations

from tests.oracles.compare import check
from tests.oracles.leaving import cases, changed


def test_random_departures() -> None:
    """Kernels, reference and audit agree; `python -m tests.oracles.leaving` tries more."""
    found = list(cases(80, seed=5))
    for work, policy in found:
        check(work, policy)
    assert sum(changed(work, policy) for work, policy in found) > 20
