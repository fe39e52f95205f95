"""Slurm's schedulers on random small workloads, by every program."""

from __future__ import annotations

from schedfarm.core.policy.multifactor import is_multifactor
from tests.oracles.cadence import cases
from tests.oracles.compare import check


def test_random_cadences() -> None:
    """Kernel, reference and audit agree; `python -m tests.oracles.cadence` tries all orders.

    One kind of order, since the kernel of each takes seconds to compile.
    """
    found = [(work, policy) for work, policy in cases(200, seed=5) if is_multifactor(policy.order)]
    assert len(found) > 40
    for work, policy in found:
        check(work, policy)
