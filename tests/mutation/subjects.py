"""The parts of the program that are mutated, and the tests that have to notice."""

from __future__ import annotations

from typing import NamedTuple

from tests.support.paths import ROOT, TESTS

QUICKEST = ("tests/oracles/test_hand_cases.py", "tests/oracles/test_golden.py")

ORACLES = tuple(
    dict.fromkeys(
        (
            *QUICKEST,
            *(str(path.relative_to(ROOT)) for path in sorted(TESTS.glob("oracles/test_*.py"))),
        )
    )
)

STORES = tuple(
    f"tests/stores/test_{name}.py"
    for name in (
        "store_contract",
        "bad_stores",
        "verify",
        "failed_cells",
        "partial_results",
        "growth",
        "stored_users",
        "keep",
        "parts_of_runs",
        "place_contract",
    )
)

METRICS = tuple(
    f"tests/unit/core/test_{name}.py"
    for name in ("metrics", "metrics_network", "metrics_nodes", "fairness", "window", "windows")
)


class Subject(NamedTuple):
    """Modules that are about one thing.

    name: the thing. modules: patterns below the root of the tree. tests: those of the default
    tiers that are run for each mutant, quickest first. kernels: whether the modules are compiled.
    """

    name: str
    modules: tuple[str, ...]
    tests: tuple[str, ...]
    kernels: bool = False


SUBJECTS = (
    Subject(
        "orders",
        ("core/policy/orders.py", "core/policy/functions.py", "core/engine/ranking.py"),
        ("core/policy", "tests/unit/core/test_orders.py", *ORACLES),
        kernels=True,
    ),
    Subject(
        "rules",
        (
            "core/policy/rules.py",
            "core/engine/fixed_order.py",
            "core/engine/moving_order.py",
            "core/engine/reservations.py",
            "core/engine/plan.py",
            "core/engine/planned.py",
        ),
        ORACLES,
        kernels=True,
    ),
    Subject(
        "profiles",
        ("core/engine/profile.py",),
        ("tests/unit/core/test_profile.py", *ORACLES),
        kernels=True,
    ),
    Subject(
        "metrics",
        ("core/metrics/*.py",),
        ("core/metrics", *METRICS, "tests/stores/test_store_values.py"),
    ),
    Subject(
        "store records",
        (
            "farm/store/records.py",
            "farm/store/geometry.py",
            "farm/store/block.py",
            "farm/store/missing.py",
        ),
        STORES,
    ),
    Subject(
        "resume",
        ("farm/execution/coordinator.py", "farm/execution/cell.py", "farm/planning/tasks.py"),
        ("tests/unit/farm/test_plan.py", *STORES),
    ),
)
