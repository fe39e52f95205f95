"""The auditor over clusters, under any rule: its kernels take 10 s of CPU to compile."""

from __future__ import annotations

from hypothesis import assume, given, strategies as st

from schedfarm.core.audit import audit
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.policy.policy import Policy
from schedfarm.core.workload.workload import Workload
from tests.oracles.test_audit_grid import blamed, moved
from tests.support.strategies import simulations


@given(drawn=simulations("grid"), data=st.data())
def test_any_job_on_another_cluster_is_named(
    drawn: tuple[Workload, Policy], data: st.DataObject
) -> None:
    """Each job has one cluster on which the policy starts it."""
    work, policy = drawn
    good, count = simulate(work, policy), len(work.platform.clusters)
    job, place = data.draw(st.integers(0, len(work) - 1)), good.place.copy()
    place[job] = data.draw(st.integers(-1, count))
    assume(place[job] != good.place[job])
    rule, culprit, instant = blamed(audit(moved(good, place=place), policy))
    assert instant == good.start[job]
    if rule != "capacity":
        # Over its size a cluster is with the last of those that start together.
        assert culprit == job
