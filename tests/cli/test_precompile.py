"""`farm warm`: which kernels it compiles, and what it refuses."""

from __future__ import annotations

import pytest

from schedfarm.core.own import sources
from schedfarm.core.policy.rules import RULES
from schedfarm.farm.execution import precompile
from tests.support.refusals import Said


def test_every_rule_is_warmed_in_every_kind_of_order() -> None:
    """Those that stay, move, share, and are called; where a rule knows them."""
    policies = precompile.every_policy()
    with sources(precompile.OWN):
        assert {policy.row.name for policy in policies} == {*RULES, "precompile:greedy"}
    easy = {policy.order for policy in policies if policy.rule == "easy"}
    kinds = {"fcfs", "lxf", "fair-share", "multifactor", precompile.WRITTEN, precompile.CALLED}
    assert easy == kinds
    planned = {policy.order for policy in policies if policy.rule == "planned"}
    assert planned == easy


def test_limits_and_plug_in_rules_are_warmed() -> None:
    """Their kernels are others than those of the same rules without limits."""
    policies = precompile.every_policy()
    limited = {policy.rule for policy in policies if policy.limits}
    assert limited == {"none", "aggressive", "easy", "depth(2)", "conservative", "slurm"}
    assert precompile.DECIDED in {policy.name for policy in policies}


def test_there_is_a_machine_of_each_kind_that_rules_know() -> None:
    known = {platform for rule in RULES.values() for platform in rule.platforms}
    assert {machine.name for machine in precompile.MACHINES} == known


def test_a_policy_that_is_none_is_refused(said: Said) -> None:
    assert "esay" in said("warm", "fcfs+esay")


def test_no_folder_to_keep_kernels_in_is_refused(
    said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever was compiled would be gone with the process."""
    monkeypatch.setattr(precompile, "cache_folder", lambda: None)
    assert "set NUMBA_CACHE_DIR" in said("warm", "fcfs+easy")
