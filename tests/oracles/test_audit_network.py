"""The auditor on networks: it passes what the reference makes, and names who breaks which rule."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from schedfarm.core.audit import Verdict, audit
from schedfarm.core.audit.times import Evidence, first_over, overload
from schedfarm.core.errors import InputError
from schedfarm.core.machines.network.audit import link_demands, naming, overasked
from schedfarm.core.policy.policy import Policy
from schedfarm.core.policy.rules import RULES
from schedfarm.core.reference.loop import simulate_reference
from schedfarm.core.schedule import Schedule, Segments, State
from schedfarm.core.workload.workload import Workload
from tests.oracles.case import NetworkJob as Row, words, workload
from tests.oracles.cases_network import BESIDE, LEAVING, RESERVED, TALKING, talking
from tests.oracles.programs import segments
from tests.support.strategies import NAMES, network_of, simulations

ICS, KEEPING = "fcfs+ics", "fcfs+icsb(1)"


def made(
    policy: str, clusters: tuple[int, ...], *rows: Row, links: tuple[int, ...] = ()
) -> Schedule:
    schedule = simulate_reference(workload(network_of(*clusters, links=links), rows), policy)
    verdict = audit(schedule, policy)
    assert verdict.ok, verdict.why
    return schedule


def where(schedule: Schedule) -> list[str]:
    """Return of each job a letter for each of its processors."""
    return words(schedule.workload, [], segments(schedule))


def changed(schedule: Schedule, job: int, **new: Any) -> Schedule:
    """Return the schedule in which a job has another start, end, or parts (as a word)."""
    columns = {name: getattr(schedule, name).copy() for name in ("start", "end")}
    parts = segments(schedule)
    if "start" in new and "end" not in new:
        columns["end"][job] += new["start"] - columns["start"][job]
    if "on" in new:
        word = new.pop("on")
        mine = [(job, NAMES.index(name), word.count(name)) for name in sorted({*word})]
        parts = sorted([p for p in parts if p[0] != job] + mine)
    if "parts" in new:
        mine = [(job, *part) for part in new.pop("parts")]
        parts = sorted([p for p in parts if p[0] != job] + mine)
    for name, value in new.items():
        columns[name][job] = value
    return with_parts(schedule, parts, **columns)


def with_parts(schedule: Schedule, parts: list[tuple[int, int, int]], **columns: Any) -> Schedule:
    told = {"start": schedule.start, "end": schedule.end} | columns
    return Schedule(
        schedule.workload,
        "",
        told.pop("start"),
        schedule.backfilled,
        segments=Segments(*np.array(parts, np.int64).reshape(-1, 3).T),
        **told,
    )


def evidence(schedule: Schedule, policy: str = ICS) -> Evidence:
    return Evidence(schedule, Policy.parse(policy), naming)


def blamed(verdict: Verdict) -> tuple[str | None, int | None, int | None]:
    assert not verdict.ok
    return verdict.rule, verdict.job, verdict.instant


# What is passed.


@given(drawn=simulations("network"), data=st.data())
def test_any_job_on_other_parts_is_named(
    drawn: tuple[Workload, Policy], data: st.DataObject
) -> None:
    """Each job has its parts by the rule; others that are as good in themselves are not."""
    work, policy = drawn
    good = simulate_reference(work, policy)
    job = data.draw(st.integers(0, len(work) - 1))
    names = st.sampled_from(work.platform.places)
    procs = int(work.procs[job])
    word = "".join(sorted(data.draw(st.lists(names, min_size=procs, max_size=procs))))
    assume(word != where(good)[job])
    verdict = audit(changed(good, job, on=word), policy)
    assert blamed(verdict)[1:] == (job, good.start[job]), verdict.why


@given(drawn=simulations("network"), data=st.data(), shift=st.sampled_from((-1, 1, 5)))
def test_any_end_that_is_moved_is_named(
    drawn: tuple[Workload, Policy], data: st.DataObject, shift: int
) -> None:
    """By a second or more, sooner or later, on one cluster or on several."""
    work, policy = drawn
    good = simulate_reference(work, policy)
    job = data.draw(st.integers(0, len(work) - 1))
    old = int(good.end[job])
    assume(old + shift >= good.start[job])
    verdict = audit(changed(good, job, end=old + shift), policy)
    rule, culprit, instant = blamed(verdict)
    assert (rule, culprit, instant) == ("end", job, min(old, old + shift)), verdict.why


# What is refuted, of every kind.


PAIR = Row(0, 10, 10, 2, 0), Row(1, 5, 5, 2, 0), Row(1, 5, 5, 1, 1)
"""On clusters of 2 and 2: the second waits for processors of a, or of b at 6 s."""


def test_a_job_that_never_started() -> None:
    """Nothing more can be said."""
    good = made(ICS, (2, 2), *PAIR)
    state = np.array([State.DONE, State.REFUSED, State.DONE], np.int8)
    bad = with_parts(good, segments(good), start=np.array([0, -1, 1]), state=state)
    verdict = audit(bad, ICS)
    assert blamed(verdict) == ("start", 1, 1)
    assert verdict.why == "job 2 (2 processors, of a) never started after its submission at 1 s"


def test_a_start_before_its_submission() -> None:
    """Whatever the rule."""
    assert blamed(audit(changed(made(ICS, (2, 2), *PAIR), 2, start=0), ICS)) == ("submit", 2, 0)


def test_a_second_too_late() -> None:
    """There was room for it."""
    verdict = audit(changed(made(ICS, (2, 2), *PAIR), 1, start=7), ICS)
    assert blamed(verdict) == (ICS, 1, 6)
    assert verdict.why == (
        "at 6 s job 2 (2 processors, of a) was left waiting, but b has room for 2 processors"
    )


def test_a_start_at_which_nothing_happened() -> None:
    """There is no pass but at arrivals and ends."""
    verdict = audit(changed(made(ICS, (2, 2), *PAIR), 2, start=3), ICS)
    assert blamed(verdict) == (ICS, 2, 1)
    one = made(KEEPING, (3, 2), *RESERVED, Row(1, 10, 10, 1, 1))
    verdict = audit(changed(one, 3, start=5), KEEPING)
    assert blamed(verdict) == (KEEPING, 3, 5)
    assert verdict.why == (
        "at 5 s job 4 (1 processors, of b) started, but nothing arrived or ended at that instant, "
        "so there was no pass"
    )


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ([(0, 1), (1, 1)], "with 2 processors in all, where it requests 3"),
        ([], "with 0 processors in all, where it requests 3"),
        ([(0, 4), (1, -1)], "with -1 processors of b; a part has at least 1"),
        ([(0, 1), (0, 2)], "on a cluster twice"),
        ([(0, 2), (2, 1)], "on cluster 2; there are clusters 0 to 1"),
    ],
)
def test_parts_that_nobody_may_have(parts: list[tuple[int, int]], says: str) -> None:
    """All of its processors, each on a cluster that there is."""
    verdict = audit(changed(made(ICS, (2, 2), Row(3, 5, 5, 3)), 0, parts=parts), ICS)
    assert blamed(verdict) == ("segments", 0, 3)
    assert verdict.why == f"job 1 (3 processors, of a) started at 3 s {says}"


def test_a_cluster_over_its_size() -> None:
    """In all there is room, on the one cluster there is none; whatever the rule."""
    bad = changed(made(ICS, (2, 2), *PAIR), 2, on="a")
    fault = overload(evidence(bad))
    assert fault is not None
    assert (fault.rule, fault.job, fault.instant) == ("capacity", 2, 1)
    assert fault.why == (
        "job 3 (1 processors, of b) started at 1 s, when the running jobs on a need 3 of 2 "
        "processors"
    )
    assert audit(bad, ICS).why == fault.why
    verdict = audit(changed(made(ICS, (5, 2), *PAIR), 2, on="a"), ICS)
    assert blamed(verdict) == (ICS, 2, 1)
    assert verdict.why == (
        "at 1 s job 3 (1 processors, of b) was given 1 of a, but the rule gives it 1 of b: it fits "
        "b, where 2 are free"
    )


def test_isolated_jobs_stay_at_home() -> None:
    """A schedule of sharing is none of clusters alone."""
    verdict = audit(made(ICS, (2, 2), *PAIR), "fcfs+isolated(1)")
    assert blamed(verdict) == ("fcfs+isolated(1)", 1, 6)
    assert verdict.why == (
        "at 6 s job 2 (2 processors, of a) started, but under isolated(1) it runs on its own "
        "cluster, a"
    )


def test_a_job_that_goes_first_on_its_own_cluster() -> None:
    """In one queue of all clusters it waits behind those that arrived before it."""
    rows = Row(0, 9, 9, 2, 0), Row(1, 5, 5, 2, 0), Row(1, 5, 5, 2, 1)
    first = made(ICS, (2, 2), *rows)
    assert where(first) == ["aa", "bb", "bb"]
    assert first.start.tolist() == [0, 6, 1]
    policy = ICS + ",queue=global"
    assert blamed(audit(first, policy)) == (policy, 2, 1)
    assert audit(made(policy, (2, 2), *rows), policy).ok


def test_links_that_are_not_to_be_used() -> None:
    """Nobody is spread, unless the policy lets them."""
    spread = made(ICS, (2, 2), Row(0, 5, 5, 1, 1), Row(1, 5, 5, 2, 0), Row(1, 5, 5, 2, 1))
    assert where(spread) == ["b", "aa", "bb"]
    both = made(ICS, (2, 3), Row(0, 9, 9, 1, 1), Row(2, 5, 5, 3, 0))
    verdict = audit(both, "fcfs+ics,links=unused")
    assert blamed(verdict) == ("fcfs+ics,links=unused", 1, 2)
    assert verdict.why == (
        "at 2 s job 2 (3 processors, of a) started, but under links=unused no job runs on several "
        "clusters"
    )


def test_a_link_that_is_asked_for_too_much() -> None:
    """By those that run at the same time, from the very instant."""
    slowed = made("fcfs+ics,links=ignored", (4, 4), *TALKING, links=(100, 100))
    assert audit(slowed, "fcfs+ics,links=ignored").ok
    fault = overasked(evidence(slowed))
    assert fault is not None
    assert (fault.rule, fault.job, fault.instant) == (ICS, 3, 2)
    verdict = audit(slowed, ICS)
    assert blamed(verdict) == (ICS, 3, 2)
    assert verdict.why == (
        "job 4 (3 processors, of a) started at 2 s, when the link of a has a demand of 200 kbit/s "
        "and a capacity of 100"
    )
    assert audit(made(ICS, (4, 4), *TALKING), ICS).ok


def test_what_parts_ask_of_links() -> None:
    """As the reference counts it, part by part, and nothing of those on one cluster."""
    slowed = made("fcfs+ics,links=ignored", (4, 4), *TALKING, links=(100, 100))
    assert link_demands(evidence(slowed)).tolist() == [0, 0, 100, 100, 100, 100]
    shuffled = with_parts(slowed, segments(slowed)[::-1])
    assert link_demands(evidence(shuffled)).tolist() == [100, 100, 100, 100, 0, 0]
    assert link_demands(evidence(made(ICS, (4, 4)))).tolist() == []


@pytest.mark.parametrize(
    ("job", "end", "instant", "says"),
    [
        (0, 3, 2, "ends at 3 s, but its run time is over at 2 s"),
        (2, 9, 9, "ends at 9 s, but its run time is over at 10 s, and not before"),
        (2, 12, 12, "ends at 12 s, but by its shares of the links its work is done at 13 s"),
        (2, 14, 13, "ends at 14 s, but by its shares of the links its work is done at 13 s"),
        (3, 7, 7, "ends at 7 s, but by its shares of the links its work is done at 8 s"),
        (3, 10, 8, "ends at 10 s, but by its shares of the links its work is done at 8 s"),
    ],
)
def test_ends_that_do_not_follow_from_the_shares(
    job: int, end: int, instant: int, says: str
) -> None:
    """On one cluster the run time decides, on several who else is on the links."""
    policy = "fcfs+ics,links=ignored"
    slowed = made(policy, (4, 4), *TALKING, links=(100, 100))
    verdict = audit(changed(slowed, job, end=end), policy)
    assert blamed(verdict) == ("end", job, instant)
    assert verdict.why.endswith(says)


def test_an_end_that_also_overloads_a_cluster() -> None:
    """The end is at fault: by its shares of the links the job with run 0 ends as it starts."""
    rows = Row(0, 1, 1, 2), Row(0, 0, 0, 2)
    good = made("spf+ics", (1, 1), *rows, links=(1, 1))
    assert good.start.tolist() == [0, 0]
    bad = changed(good, 1, end=1)
    fault = overload(evidence(bad))
    assert fault is not None
    assert (fault.rule, fault.instant) == ("capacity", 0)
    verdict = audit(bad, "spf+ics")
    assert blamed(verdict) == ("end", 1, 0)


def test_an_end_where_links_have_no_limit() -> None:
    """Nobody is slowed down there."""
    verdict = audit(changed(made(ICS, (4, 4), *TALKING), 2, end=11), ICS)
    assert blamed(verdict) == ("end", 2, 10)


def test_a_reservation_that_is_delayed_from_elsewhere() -> None:
    """At 10 s all of a is for the third; a job of b may not be there then."""
    policy, job = KEEPING, Row(1, 10, 10, 1, 1)
    without = made(ICS, (3, 2), *RESERVED, job)
    assert where(without)[3] == "a"
    verdict = audit(without, policy)
    assert blamed(verdict) == (policy, 3, 1)
    assert verdict.why == (
        "at 1 s job 4 (1 processors, of b) started, but by its estimate it takes 1 processors of a "
        "until 11, of which 0 are to spare at 10, when job 3 (3 processors, of a) is reserved there"
    )


def test_a_reservation_that_is_delayed_by_a_part() -> None:
    """One processor of a and one of c."""
    rows = *RESERVED, Row(0, 20, 20, 1, 2), Row(1, 10, 10, 2, 2)
    verdict = audit(changed(made(KEEPING, (3, 2, 2), *rows), 4, start=1, on="ac"), KEEPING)
    assert blamed(verdict) == (KEEPING, 4, 1)
    assert "it takes 1 processors of a until 11, of which 0 are to spare at 10" in verdict.why


def test_a_reservation_that_is_delayed_at_home() -> None:
    """Beyond the K-th nobody may be in the way of the holders, nor may a holder itself."""
    rows = *RESERVED, Row(1, 10, 10, 1, 0)
    good = made("fcfs+isolated(1)", (3, 2), *rows)
    bad = changed(good, 3, start=1)
    verdict = audit(bad, "fcfs+isolated(1)")
    assert blamed(verdict) == ("fcfs+isolated(1)", 3, 1)
    assert "it takes 1 processors of a until 11, of which 0 are to spare at 10" in verdict.why
    verdict = audit(bad, "fcfs+isolated(2)")
    assert blamed(verdict) == ("fcfs+isolated(2)", 3, 1)
    assert verdict.why == (
        "at 1 s job 4 (1 processors, of a) started, but its reservation on a, given those of the "
        "jobs before it, is 15"
    )


@pytest.mark.parametrize("to", ["most", "least", "first"])
def test_another_cluster_than_the_one_to_migrate_to(to: str) -> None:
    """The most room, the least that is enough, or the first."""
    rows = Row(0, 9, 9, 2, 0), Row(1, 5, 5, 2, 0)
    good = made(f"fcfs+ics,to={to}", (2, 4, 3, 5), *rows)
    for other in ("most", "least", "first"):
        verdict = audit(good, f"fcfs+ics,to={other}")
        assert verdict.ok == (other == to)
        if other != to:
            assert blamed(verdict)[1:] == (1, 1)
            assert "processors, of a) was given 2 of " in verdict.why


@pytest.mark.parametrize("on", ["abccc", "bbccc", "accc" + "d", "aacc" + "d"])
def test_another_split_than_the_one_to_take(on: str) -> None:
    """Few parts, and most on the first clusters."""
    good = made(ICS, (2, 2, 3, 1), Row(0, 5, 5, 5))
    verdict = audit(changed(good, 0, on=on), ICS)
    assert blamed(verdict) == (ICS, 0, 0)
    assert "but the rule gives it 2 of a and 3 of c: there is room for 2 of a and" in verdict.why


def test_a_split_of_a_job_that_could_migrate() -> None:
    """It goes over no link as long as one cluster has room for all of it."""
    good = made(ICS, (2, 3), Row(0, 9, 9, 1), Row(0, 5, 5, 2))
    assert where(good) == ["a", "bb"]
    verdict = audit(changed(good, 1, on="ab"), ICS)
    assert blamed(verdict) == (ICS, 1, 0)
    assert "was given 1 of a and 1 of b, but the rule gives it 2 of b" in verdict.why


def test_a_split_that_links_forbid() -> None:
    """Nobody else is on them, and this one alone asks for too much."""
    rows = BESIDE[0], BESIDE[1], talking(0, 10)._replace(bandwidth=101)
    good = made(ICS, (4, 4), *rows, links=(100, 100))
    bad = changed(good, 2, start=0, on="aab")
    assert good.start[2] == 2
    verdict = audit(bad, ICS)
    assert blamed(verdict) == (ICS, 2, 0)
    assert "the link of a has a demand of 101 kbit/s and a capacity of 100" in verdict.why


def test_shares_that_were_not_made_anew() -> None:
    """As if the second had gone on at half its share after the first had ended, or the other."""
    policy = "fcfs+ics,links=ignored"
    slowed = made(policy, (4, 4), *TALKING, links=(100, 100))
    verdict = audit(changed(slowed, 2, end=18), policy)
    assert blamed(verdict) == ("end", 2, 13)


def test_the_queue_order_decides_who_migrates() -> None:
    """Two that want the same processors of b: the first by the order gets them."""
    rows = Row(0, 9, 9, 2, 0), Row(1, 5, 5, 2, 0), Row(1, 4, 4, 2, 0)
    assert where(made(ICS, (2, 2), *rows)) == ["aa", "bb", "bb"]
    verdict = audit(made(ICS, (2, 2), *rows), "spf+ics")
    assert blamed(verdict) == ("spf+ics", 1, 1)
    assert verdict.why == (
        "at 1 s job 2 (2 processors, of a) started, but it takes 2 processors of b, 0 are free"
    )


def test_a_wider_job_holds_no_reservation() -> None:
    """Who was left waiting for its sake has a right."""
    rows = Row(0, 10, 10, 2, 0), Row(0, 10, 10, 2, 1), Row(1, 5, 5, 4, 0), Row(1, 5, 5, 2, 0)
    good = made(KEEPING, (2, 2), *rows)
    bad = changed(changed(good, 3, start=15), 2, start=10)
    verdict = audit(bad, KEEPING)
    assert blamed(verdict)[1:] == (2, 10)
    verdict = audit(changed(good, 3, start=15), KEEPING)
    assert blamed(verdict) == (KEEPING, 3, 10)
    assert verdict.why.endswith("was left waiting, but its reservation on a is this instant")


def test_who_starts_elsewhere_leaves_its_reservation() -> None:
    """The sixth has room on a as soon as the seventh has gone to b."""
    good = made(KEEPING, (2, 3, 1), *LEAVING)
    verdict = audit(changed(good, 5, start=7), KEEPING)
    assert blamed(verdict) == (KEEPING, 5, 2)
    assert "was left waiting, but there is room for 1 of a" in verdict.why


def test_everyone_who_is_within_his_rights_is_left_alone() -> None:
    """Who makes way for one that is elsewhere than it should be is not to blame."""
    rows = Row(0, 9, 9, 2, 0), Row(1, 5, 5, 2, 0), Row(1, 5, 5, 2, 0)
    good = made(ICS, (2, 4, 2), *rows)
    assert where(good) == ["aa", "bb", "bb"]
    bad = changed(changed(good, 1, on="cc"), 2, on="cc", start=6)
    assert blamed(audit(bad, ICS))[1:] == (1, 1)


def test_a_rule_without_an_auditor(monkeypatch: pytest.MonkeyPatch) -> None:
    """What holds for every rule is judged, and the verdict says that the passes are not."""
    good = made(ICS, (2, 2), *PAIR)
    monkeypatch.setitem(RULES, "ics", replace(RULES["ics"], refer=None))
    assert "rule 'ics' has no auditor: its passes are not judged" in audit(good, ICS).why
    assert blamed(audit(changed(good, 2, on="a"), ICS))[0] == "capacity"


def test_without_its_parts__is_refused() -> None:
    """No parts are made up."""
    good = made(ICS, (2, 2), *PAIR)
    bare = Schedule(good.workload, "", good.start, good.backfilled, end=good.end)
    with pytest.raises(InputError, match=r"does not give the segments of each job"):
        audit(bare, ICS)


def test_first_over() -> None:
    """Who ends at an instant makes room for who starts then."""
    start, end, asked = np.array([0, 5, 5]), np.array([5, 9, 9]), np.array([3, 2, 2])
    assert first_over(start, end, asked, 4) is None
    assert first_over(start, end, asked, 3) == (2, 5, 4)
    assert first_over(start[:0], end[:0], asked[:0], 0) is None


def test_a_wide_job_is_split_in_a_moment() -> None:
    """A job of 3,000 processors has as many ways to be split over two clusters as one has rooms."""
    platform = network_of(2_000, 2_000, links=(10**6, 10**6))
    good = made(ICS, platform.sizes, talking(0, 5)._replace(procs=3_000, bandwidth=1))
    assert segments(good) == [(0, 0, 2_000), (0, 1, 1_000)]
    verdict = audit(changed(good, 0, parts=[(0, 1_000), (1, 2_000)]), ICS)
    assert blamed(verdict) == (ICS, 0, 0)
