"""What the reference simulator refuses, its keys, and what it imports."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

import schedfarm.core.reference
from schedfarm.core.errors import InputError
from schedfarm.core.policy.multifactor import NAME
from schedfarm.core.policy.orders import ORDERS
from schedfarm.core.policy.policy import Policy
from schedfarm.core.reference.job import jobs_of
from schedfarm.core.reference.loop import simulate_reference
from schedfarm.core.reference.orders import KEYS, SHARES
from schedfarm.core.reference.rules import Strict
from schedfarm.core.workload.workload import Workload
from tests.oracles.case import workload as jobs_on
from tests.support.strategies import grid_of


def workload(rows: list[tuple[int, ...]], processors: int) -> Workload:
    return jobs_on(processors, rows)


def test_nobody_waits_for_ever() -> None:
    """A rule that forgets a job is refused, with the job's number; so is a plan that misses one."""

    class Forgetful(Strict):
        def queue(self, order: str | None = None) -> list[schedfarm.core.reference.job.Job]:
            return [job for job in super().queue(order) if job.number != 2]

    with pytest.raises(RuntimeError, match=r"job 2 \(4 processors, submitted at 1 s\) would wait"):
        Forgetful(workload([(0, 10, 10, 3), (1, 5, 5, 4)], 4), Policy("fcfs", "none")).run()


def unheard_of(worked: np.ndarray) -> np.ndarray:
    """Return no number for anyone."""
    return np.full(worked.size, np.nan)


def test_an_order_without_a_number_for_a_user_is_refused() -> None:
    """Not a number is none."""
    policy = "tests.oracles.test_reference:unheard_of+none"
    with pytest.raises(InputError, match="returned NaN for job 1; it must return a number"):
        simulate_reference(workload([(0, 1, 1, 1)] * 5, 1), policy)


def test_a_grid_has_one_clock() -> None:
    """The clock of the pyss family is for pools."""
    work = jobs_on(grid_of(1), [(0, 1, 1, 1)])
    with pytest.raises(InputError, match="events=per-event is for pools only"):
        simulate_reference(work, "fcfs+easy,events=per-event")


@pytest.mark.parametrize(
    ("order", "key"),
    [
        ("fcfs", 10),
        ("spf", 100),
        ("sqf", 4),
        ("saf", 400),
        ("lxf", -3),
        ("sxf", 3),
        ("wfp3", -32),
        ("unicef", -1),
        ("f1", 2 * 4 + 870),
        ("f2", 10 * 4 + 25_600),
        ("f3", 400 + 6_860_000),
        ("f4", 100 * 2 + 530_000),
    ],
)
def test_keys_by_hand(order: str, key: float) -> None:
    """A job of 4 processors and 100 s, submitted at 10, has waited 200 s."""
    (job,) = jobs_of(workload([(10, 7, 100, 4)], 4))
    assert KEYS[order](job, 210) == pytest.approx(key, rel=1e-15)


def test_ties_of_a_cube_fall_as_in_the_formula() -> None:
    """A third cubed times 27 is 1 by products, and was less by a power."""
    one, other = jobs_of(workload([(0, 3, 3, 1), (2, 3, 3, 27)], 27))
    assert KEYS["wfp3"](one, 3) == KEYS["wfp3"](other, 3) == -1


def test_every_order_has_a_key_of_its_own() -> None:
    """The reference takes no formula from elsewhere."""
    assert {*KEYS, *SHARES, NAME} == {*ORDERS}


def test_it_shares_nothing_with_the_fast_simulator() -> None:
    """The reference imports the shared types, and what finds a user's own order."""
    names: set[str | None] = set()
    core = Path(schedfarm.core.reference.__file__).parents[1]
    for path in [*core.glob("reference/*.py"), *core.glob("machines/*/reference/*.py")]:
        tree = ast.parse(path.read_text())
        names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module == "schedfarm.core.policy.orders":
                assert [alias.name for alias in node.names] == ["order_function"]
    ours = {
        n for n in names if n and n.startswith("schedfarm.core") and "reference" not in n.split(".")
    }
    assert ours == {
        "schedfarm.core.arrays",
        "schedfarm.core.durations",
        "schedfarm.core.errors",
        "schedfarm.core.machines.hosts.platform",
        "schedfarm.core.machines.network.platform",
        "schedfarm.core.machines.nodes.platform",
        "schedfarm.core.machines.partitions.platform",
        "schedfarm.core.machines.resources.platform",
        "schedfarm.core.policy.limits",
        "schedfarm.core.policy.multifactor",
        "schedfarm.core.policy.orders",
        "schedfarm.core.policy.policy",
        "schedfarm.core.policy.predictions",
        "schedfarm.core.schedule",
        "schedfarm.core.workload.workload",
    }
