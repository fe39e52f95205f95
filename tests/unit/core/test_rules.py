"""The rows of rules and orders: complete, and nowhere asked for by name."""

from __future__ import annotations

import ast
import re
from itertools import product
from pathlib import Path

import pytest

from schedfarm.core import own
from schedfarm.core.errors import InputError
from schedfarm.core.policy.orders import ORDERS
from schedfarm.core.policy.policy import Policy
from schedfarm.core.policy.rules import RULES, find_rule
from tests.support.paths import ROOT


def modules_of(room: str) -> list[Path]:
    """Modules of a folder of core, which exists."""
    found = sorted((ROOT / "core" / room).rglob("*.py"))
    assert found, room
    return found


PARTS = ("simulate", "promise", "fair_start", "refer", "audit")


def test_what_a_row_names_exists() -> None:
    """Every reference of a row can be loaded, for each platform that it knows."""
    for (name, row), part in product(RULES.items(), PARTS):
        known = row.fair_platforms if part == "fair_start" else row.platforms
        for platform in known if getattr(row, part) is not None else ():
            assert callable(row.find(part, platform)), (name, part, platform)


def test_rows_without_a_number_promise_or_kernel() -> None:
    """One reservation for the head is no promise, and neither is one that a cycle forgets."""
    assert [name for name, row in RULES.items() if row.promise is None] == [
        "none",
        "aggressive",
        "easy",
        "slurm",
        "isolated(K)",
        "ics",
        "icsb(K)",
        "logged",
    ]
    assert [name for name, row in RULES.items() if row.fair_start is None] == [
        "slurm",
        "tabu",
        "demt",
        "isolated(K)",
        "ics",
        "icsb(K)",
        "logged",
    ]
    assert [name for name, row in RULES.items() if row.keeps_plan] == ["planned", "tabu"]
    depths = [Policy("fcfs", name.replace("K", "3")).depth for name in RULES]
    assert depths == [0, 0, 1, 3, -1, -1, -1, -1, -1, 3, 0, 3, 0]


def test_codes_of_orders_differ() -> None:
    """No two orders share a kernel's code, and each order has something to sort by."""
    codes = [own.load(row.code) for row in ORDERS.values() if row.code]
    shares = [own.load(row.shares) for row in ORDERS.values() if row.shares]
    assert len(set(codes)) == len(codes) == 4
    assert len(set(shares)) == len(shares) == 2
    rows = ORDERS.values()
    assert all(row.fixed or row.function or row.code or row.shares or row.weighs for row in rows)


def test_rules_are_not_asked_for_by_name() -> None:
    """No comparison with the name of a rule: what differs between rules is in their rows."""
    names = {*RULES, "depth"}
    offenders = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for room in ("policy", "engine", "machines", "audit")
        for path in modules_of(room)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Compare)
        and names & {n.value for n in ast.walk(node) if isinstance(n, ast.Constant)}
    ]
    assert offenders == []


def imported(path: Path) -> set[str]:
    """Modules of core that a module imports."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = {
        f"{node.module}.{name.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }
    found |= {
        name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names
    }
    return {name for name in found if name.startswith("schedfarm.core.")}


def test_policies_import_no_kernel() -> None:
    """Policies name kernels and never import them."""
    known = {"policy", "own", "arrays", "durations", "errors", "names", "numerals", "workload"}
    for path in modules_of("policy"):
        assert {module.split(".")[2] for module in imported(path)} <= known, path


def test_kernels_know_no_table_of_policies() -> None:
    """Modules of kernels import none of the tables of orders and rules."""
    above = ("policy.orders", "policy.rules", "policy.policy")
    kernels = [
        path
        for room in ("engine", "machines", "metrics")
        for path in modules_of(room)
        if re.search(r"^@(rolled_kernel|kernel|routine|verb)$", path.read_text("utf-8"), re.M)
    ]
    assert len(kernels) > 50
    for path in kernels:
        for module in imported(path):
            assert not module.startswith(tuple(f"schedfarm.core.{name}" for name in above)), path


@pytest.mark.parametrize("name", ["depth", "depth(K)", "depth(k)", "icsb(K)"])
def test_a_rule_without_its_number__says_so(name: str) -> None:
    """The example has a number; names in other case are unknown as before."""
    with pytest.raises(InputError, match=r"needs a number of reservations; write \w+\(4\), say"):
        find_rule(name)
    with pytest.raises(InputError, match="unknown rule 'EASY'"):
        find_rule("EASY")
