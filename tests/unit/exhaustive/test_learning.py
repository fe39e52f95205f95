"""Environments for learning against simulations of policies, whose kernels they compile."""

from __future__ import annotations

import pytest

from schedfarm.core.engine.simulate import simulate
from schedfarm.core.metrics.summary import summarise
from schedfarm.learning import SchedulingEnv, evaluate
from tests.support.episodes import log, played


@pytest.mark.parametrize(("rule", "policy"), [("none", "fcfs+none"), ("easy", "fcfs+easy")])
def test_schedules_and_rewards_are_those_of_policies(rule: str, policy: str) -> None:
    for name, sign in (("bounded_slowdown", -1), ("wait", -1), ("utilisation", 1)):
        env = SchedulingEnv(log(), rule=rule, reward=name, tau=60.0)
        reward, info = played(env, 2)
        schedule = simulate(env.workload, policy)
        assert env.schedule().start.tolist() == schedule.start.tolist()
        assert env.schedule().backfilled.tolist() == schedule.backfilled.tolist()
        assert reward == sign * info["value"] == sign * summarise(schedule, 60.0)[name]
        assert info["refused"] == 0


def test_agents_are_compared_on_the_test_weeks() -> None:
    from schedfarm.analysis import compare

    env = SchedulingEnv(log(), part="test", rule="easy")
    found = evaluate(
        env, {"fcfs+easy": "fcfs+easy", "oldest": lambda seen, mask: 0}, range(1, 7), ["wait"]
    )
    answer = compare(found, metrics=["wait"])
    # Pairs of one ratio have no interval.
    assert answer["difference"].squeeze().fillna(-1).values.tolist() == [-1, 0, -1]
    assert int(answer["pairs"].squeeze()) == 6
