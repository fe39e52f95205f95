"""Windows of machines on random small workloads, by every program."""

from __future__ import annotations

from tests.oracles.compare import check
from tests.oracles.windows import cases


def test_random_windows() -> None:
    """Kernel, reference and audit agree; `python -m tests.oracles.windows` tries more."""
    for work, policy in cases(400, seed=5):
        check(work, policy)
