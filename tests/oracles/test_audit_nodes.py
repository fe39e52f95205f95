"""The auditor on nodes: it passes what the reference makes, and names who breaks which rule."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from schedfarm.core.audit import Verdict, audit
from schedfarm.core.audit.times import Evidence, overload
from schedfarm.core.errors import InputError
from schedfarm.core.machines.nodes.audit import naming
from schedfarm.core.policy.policy import Policy
from schedfarm.core.policy.rules import RULES
from schedfarm.core.reference.loop import simulate_reference
from schedfarm.core.schedule import Schedule, Segments, State
from schedfarm.core.workload.workload import Workload
from tests.oracles.case import NodeJob as Row, workload
from tests.oracles.programs import segments
from tests.support.strategies import nodes_of, simulations

FCFS, DEMT = "fcfs+conservative", "fcfs+demt,shelf=10s,resets=1m"


def case(*rows: Row, capacities: tuple[int, ...] = (2, 2), **others: Any) -> Workload:
    return workload(nodes_of(*capacities, **others), rows)


def made(one: Workload, policy: str = FCFS) -> Schedule:
    schedule = simulate_reference(one, policy)
    verdict = audit(schedule, policy)
    assert verdict.ok, verdict.why
    return schedule


def changed(schedule: Schedule, job: int, **new: Any) -> Schedule:
    """Return the schedule in which a job has another start, end, state, or nodes (as a word)."""
    columns = {name: getattr(schedule, name).copy() for name in ("start", "end", "state")}
    parts = segments(schedule)
    if "start" in new and "end" not in new and new["start"] >= 0:
        columns["end"][job] += new["start"] - columns["start"][job]
    if "nodes" in new:
        weight = new.pop("weight", int(schedule.workload.weight[job]))
        places = ["abcdefgh".index(letter) for letter in new.pop("nodes")]
        parts = sorted([p for p in parts if p[0] != job] + [(job, p, weight) for p in places])
    for name, value in new.items():
        columns[name][job] = value
    return Schedule(
        schedule.workload,
        "",
        columns["start"],
        schedule.backfilled,
        end=columns["end"],
        state=columns["state"],
        segments=Segments(*np.array(parts, np.int64).reshape(-1, 3).T),
    )


def blamed(verdict: Verdict) -> tuple[str | None, int | None, int | None]:
    assert not verdict.ok
    return verdict.rule, verdict.job, verdict.instant


# What is passed.


@given(drawn=simulations("nodes"), data=st.data())
def test_any_job_on_other_nodes_is_named(
    drawn: tuple[Workload, Policy], data: st.DataObject
) -> None:
    """Each job has its nodes by the rule; another that is as good in itself is not permitted."""
    work, policy = drawn
    good = simulate_reference(work, policy)
    job = data.draw(st.integers(0, len(work) - 1))
    names = "".join(work.platform.places)
    word = "".join(sorted(data.draw(st.sets(st.sampled_from(names)))))
    had = "".join(names[node] for one, node, _ in segments(good) if one == job)
    assume(word != had)
    rule, culprit, instant = blamed(audit(changed(good, job, nodes=word), policy))
    assert instant is not None
    # A reservation is at fault when it asks; a node is too full when the next job comes to it.
    if rule not in ("capacity", "end"):
        assert culprit == job
        assert instant <= max(good.start[job], 0)


# What is refuted, of every kind.


TWO = case(Row(0, 10, 20, 2, 2), Row(1, 5, 5, 1, 2), Row(2, 5, 5, 1))
"""The first takes both nodes; the others start when it ends."""


def test_a_second_too_late() -> None:
    """The plan of the pass has room for it at once."""
    verdict = audit(changed(made(TWO), 1, start=11), FCFS)
    assert blamed(verdict) == (FCFS, 1, 10)
    assert verdict.why == (
        "at 10 s job 2 (1 x 2 processors) was left waiting, but its start in the plan of the pass "
        "is this instant on a"
    )


def test_a_start_before_its_submission() -> None:
    """Whatever the rule."""
    verdict = audit(changed(made(TWO), 1, start=0, end=5), FCFS)
    assert blamed(verdict) == ("submit", 1, 0)


def test_a_start_at_which_nothing_happened() -> None:
    """There is no pass but at events."""
    one = case(Row(0, 10, 10, 1, 2), Row(1, 5, 5, 2, 2), Row(2, 30, 30, 1, 2))
    verdict = audit(changed(made(one), 2, start=3, nodes="b"), FCFS)
    assert blamed(verdict) == (FCFS, 2, 3)
    assert "nothing arrived or ended at that instant, so there was no pass" in verdict.why


def test_an_overtaking_that_the_plan_forbids() -> None:
    """The long job would delay the one before it, though its node is free."""
    one = case(Row(0, 10, 10, 1, 2), Row(1, 5, 5, 2, 2), Row(2, 30, 30, 1, 2))
    verdict = audit(changed(made(one), 2, start=2, nodes="b"), FCFS)
    assert blamed(verdict) == (FCFS, 2, 2)
    assert verdict.why == (
        "at 2 s job 3 (1 x 2 processors) started, but its start in the plan of the pass is 15"
    )


def test_another_node_than_the_one_with_the_least_room() -> None:
    """The half-full node is to be filled first."""
    one = case(Row(0, 10, 10, 1), Row(1, 5, 5, 1))
    verdict = audit(changed(made(one), 1, nodes="b"), FCFS)
    assert blamed(verdict) == (FCFS, 1, 1)
    assert verdict.why == (
        "at 1 s job 2 (1 x 1 processors) was given b, but the rule gives it a: its start in the "
        "plan of the pass is this instant on a"
    )


def test_a_node_over_its_capacity() -> None:
    """In all there is room, on the one node there is none; whatever the rule, that is found."""
    good = made(case(Row(0, 9, 9, 1, 2), Row(0, 9, 9, 1)))
    evidence = Evidence(changed(good, 1, nodes="a"), Policy.parse(FCFS), naming)
    fault = overload(evidence)
    assert fault is not None
    assert (fault.rule, fault.job, fault.instant) == ("capacity", 1, 0)
    assert fault.why == (
        "job 2 (1 x 1 processors) started at 0 s, when the running jobs on a need 3 of 2 processors"
    )


@pytest.mark.parametrize(
    ("nodes", "weight", "says"),
    [
        ("a", 1, "on a, which has 1 processors and is not in its set"),
        ("bd", 1, "on 2 nodes, where it requests 1"),
        ("", 1, "on 0 nodes, where it requests 1"),
        ("e", 1, "on node 4; there are nodes 0 to 3"),
        ("b", 2, "takes 2 processors of a node"),
    ],
)
def test_nodes_that_a_job_may_not_have(nodes: str, weight: int, says: str) -> None:
    """Those of its set, as many as it asks for, with its processors on each."""
    one = case(Row(3, 5, 5, 1, properties=0), capacities=(1, 2, 3, 1), sets=("bcd",))
    verdict = audit(changed(made(one), 0, nodes=nodes, weight=weight), FCFS)
    assert blamed(verdict) == ("segments", 0, 3)
    assert says in verdict.why


ADVANCE = case(
    Row(0, 10, 10, 2, 2), Row(1, 5, 5, 1, 2, reserved=4), Row(2, 5, 5, 2, 2, reserved=18)
)
"""The second is refused; the third starts at 20 s."""


def test_a_reservation_that_is_late() -> None:
    """It was accepted for an instant, and that is when it starts."""
    verdict = audit(changed(made(ADVANCE), 2, start=21), FCFS)
    assert blamed(verdict) == ("reserved", 2, 20)
    assert verdict.why == ("job 3 (2 x 2 processors) started at 21 s, but it was accepted for 20 s")


def test_a_reservation_refused_or_accepted_wrongly() -> None:
    """There is room for the one, and none for the other."""
    bad = changed(made(ADVANCE), 2, start=-1, end=-1, state=State.REFUSED, nodes="")
    verdict = audit(bad, FCFS)
    assert blamed(verdict) == (FCFS, 2, 2)
    assert verdict.why == (
        "at 2 s job 3 (2 x 2 processors) was refused, but there was room for it at 20 s on a, b"
    )
    bad = changed(made(ADVANCE), 1, start=5, end=10, state=State.DONE, nodes="a")
    verdict = audit(bad, FCFS)
    assert blamed(verdict) == (FCFS, 1, 1)
    assert "was accepted, but it requested 5 s, when too few nodes have room for it" in verdict.why


def test_a_job_that_is_refused_without_having_asked() -> None:
    """Every other job starts."""
    verdict = audit(changed(made(TWO), 1, start=-1, end=-1, state=State.REFUSED, nodes=""), FCFS)
    assert blamed(verdict) == ("start", 1, 1)
    assert verdict.why == (
        "job 2 (1 x 2 processors) never started after its submission at 1 s, and it requested no "
        "start in advance"
    )


DOWN = case(Row(0, 20, 20, 1), Row(0, 20, 20, 1, 2), Row(1, 5, 5, 2, 2), down=(("a", 8, 30),))
"""The first is lost at 8 s; the third waits until a is up again."""


@pytest.mark.parametrize(
    ("job", "new", "rule", "instant", "says"),
    [
        (0, {"end": 20, "state": State.DONE}, "down", 8, "ran on a, which was down from 8 s"),
        (0, {"end": 9}, "down", 8, "ran on a, which was down from 8 s until 30"),
        (0, {"end": 5}, "end", 5, "is lost at 5 s, when none of its nodes went down"),
        (1, {"end": 8, "state": State.LOST}, "end", 8, "is lost at 8 s, when none"),
        (1, {"end": 19}, "end", 19, "ends at 19 s, but its run time is over at 20 s"),
        (1, {"end": 25}, "end", 20, "ends at 25 s, but its run time is over at 20 s"),
        (1, {"state": State.KILLED}, "end", 20, "ends killed, not done"),
        (2, {"start": 20}, "down", 20, "ran on a, which was down from 8 s until 30"),
        (2, {"start": 31}, FCFS, 30, "was left waiting"),
    ],
)
def test_nodes_that_are_down(
    job: int, new: dict[str, int], rule: str, instant: int, says: str
) -> None:
    """Who runs there is lost at that instant and nobody else is; nobody starts there."""
    schedule = made(DOWN)
    assert [State(code).name for code in schedule.state] == ["LOST", "DONE", "DONE"]
    verdict = audit(changed(schedule, job, **new), FCFS)
    assert blamed(verdict) == (rule, job, instant), verdict.why
    assert says in verdict.why


def test_a_reservation_that_meets_a_node_that_is_down() -> None:
    """It is lost when it is due, and so it is told."""
    one = case(Row(0, 5, 5, 2, reserved=10), down=(("a", 8, 30),))
    lost = made(one)
    assert (lost.start.tolist(), lost.end.tolist(), segments(lost)) == ([10], [10], [])
    verdict = audit(changed(lost, 0, end=15, state=State.DONE, nodes="ab"), FCFS)
    assert blamed(verdict)[1:] == (0, 10)
    up = made(case(Row(0, 5, 5, 2, reserved=10)))
    verdict = audit(changed(up, 0, end=10, state=State.LOST, nodes=""), FCFS)
    assert blamed(verdict) == (FCFS, 0, 10)
    assert verdict.why == (
        "at 10 s job 1 (2 x 1 processors) was lost, but of the nodes kept for it, a, b, none of "
        "them is down"
    )


def test_a_moldable_job_has_the_end_that_follows_from_its_nodes() -> None:
    """20 s on two nodes are 40 s on one."""
    one = case(Row(0, 20, 20, 2, 2, serial=0))
    good = made(one, "fcfs+demt,shelf=40s,resets=1m")
    assert (good.end.tolist(), segments(good)) == ([40], [(0, 0, 2)])
    verdict = audit(changed(good, 0, end=20), "fcfs+demt,shelf=40s,resets=1m")
    assert blamed(verdict) == ("end", 0, 20)
    # By conservative backfilling it has what it asks for.
    assert blamed(audit(good, FCFS))[1:] == (0, 0)
    verdict = audit(changed(good, 0, end=20, nodes="ab"), "fcfs+demt,shelf=40s,resets=1m")
    assert blamed(verdict)[1:] == (0, 0)


SHELVES = case(
    *(Row(0, 70, 70, 2), Row(1, 40, 40, 2), Row(2, 10, 10, 1), Row(3, 9, 9, 1)),
    capacities=(1, 1),
)
"""At 60 s a shelf of 10 s is filled with the two short jobs."""


def test_shelves_are_made_again() -> None:
    """Who is in the first shelf starts first, and by first come first served it is the other."""
    good = made(SHELVES, DEMT)
    assert good.start.tolist() == [0, 80, 70, 70]
    verdict = audit(good, FCFS)
    assert blamed(verdict) == (FCFS, 2, 70)
    served = made(SHELVES, FCFS)
    assert served.start.tolist() == [0, 70, 110, 110]
    verdict = audit(served, DEMT)
    assert blamed(verdict) == (DEMT, 1, 70)
    assert "its start in the plan of the pass is 80" in verdict.why
    assert audit(served, "fcfs+demt,shelf=80s,resets=2m").ok


def test_a_rule_without_an_auditor(monkeypatch: pytest.MonkeyPatch) -> None:
    """What holds for every rule is judged, and the verdict says that the passes are not."""
    good = made(SHELVES, DEMT)
    monkeypatch.setitem(RULES, "demt", replace(RULES["demt"], refer=None))
    assert "rule 'demt' has no auditor: its passes are not judged" in audit(good, DEMT).why
    bad = changed(good, 1, start=75)
    assert blamed(audit(bad, DEMT))[0] == "capacity"


def test_without_its_nodes__is_refused() -> None:
    """No nodes are made up."""
    good = made(TWO)
    bare = Schedule(good.workload, "", good.start, good.backfilled, end=good.end, state=good.state)
    with pytest.raises(InputError, match=r"does not give the segments of each job"):
        audit(bare, FCFS)
