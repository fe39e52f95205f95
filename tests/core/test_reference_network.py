"""The reference of networks, by hand where that can be done and by what must hold where not."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given

from core.audit.machine_of_network import demand
from core.errors import InputError
from core.policy.policy import Policy
from core.reference.job import WHOLE_SPEED, Job
from core.reference.links import LEAST_SHARE, demands, neighbours, shares, speed
from core.reference.network import Sharing, splits
from core.reference.processors import Claim
from core.reference.simulation import simulate_reference
from core.schedule import Schedule
from tests.core.network_cases import (
    NetworkCase,
    Row,
    draw_network,
    network_cases,
    on_network,
    where,
)

ALONE = 2**10
"""Seconds in which no other job ends."""


def made(
    policy: str, clusters: tuple[int, ...], *rows: Row, links: tuple[int, ...] = ()
) -> Schedule:
    return simulate_reference(on_network(clusters, links, rows), policy)


def starts(schedule: Schedule) -> list[tuple[int, str]]:
    """Return when each job starts, s, and where, a letter for each processor."""
    return list(zip(schedule.start.tolist(), where(schedule), strict=True))


# What is asked of links.


@pytest.mark.parametrize(
    ("procs", "pairs"),
    [
        (1, []),
        (2, [(0, 1)]),
        (3, [(0, 1), (0, 2)]),  # 0 1 / 2
        (4, [(0, 1), (2, 3), (0, 2), (1, 3)]),
        (6, [(0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5)]),
        (7, [(0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5), (3, 6)]),
    ],
)
def test_neighbours_in_a_mesh(procs: int, pairs: list[tuple[int, int]]) -> None:
    """Rows of ceil(sqrt n); the last may be short."""
    assert neighbours(procs) == pairs


@pytest.mark.parametrize(
    ("parts", "alltoall", "asked"),
    [
        # k (n - k) / (n - 1): 2 x 4 / 5, 1 x 5 / 5 and 3 x 3 / 5 of 1000.
        ((2, 1, 3), 1000, (1600, 1000, 1800)),
        # 0 1 2 / 3 4 5: of 0 and 1 three pairs are cut, of 2 two, of 3, 4 and 5 three.
        ((2, 1, 3), 0, (750, 500, 750)),
        ((2, 1, 3), 500, (1175, 750, 1275)),
        # Half and half: both clusters cut the same three pairs.
        ((3, 0, 3), 0, (750, 0, 750)),
        ((0, 6, 0), 700, (0, 0, 0)),
        # Of 333.33 the whole is asked for once.
        ((1, 1), 333, (1, 1)),
    ],
)
def test_demand(parts: tuple[int, ...], alltoall: int, asked: tuple[int, ...]) -> None:
    """So much to all others, and a quarter to each neighbour elsewhere; rounded up at the end."""
    bandwidth = 1 if len(parts) == 2 else 1000
    assert demands(parts, bandwidth, alltoall) == asked


def test_demand_is_rounded_up_once() -> None:
    """2/3 and 1/4 of 1 are below 1 together; each rounded up they would be 2."""
    # n = 3 as 0 1 / 2: k = 1 asks 1 x 2 / 2 = 1 of all to all; 0 has two neighbours, 2 has one.
    assert demands((1, 1, 1), 1, 500) == (1, 1, 1)
    assert demands((1, 1, 1), 2, 500) == (2, 2, 2)
    assert demands((1, 1, 1), 4, 500) == (3, 3, 3)


def test_the_auditor_knows_the_same_demands() -> None:
    """By a formula for what a row of processors cuts, not by counting pairs."""
    random = Random(1)
    for _ in range(3000):
        parts = [random.choice([0, 1, 2, 3, 7]) for _ in range(random.randint(1, 4))]
        n, bandwidth, alltoall = sum(parts), random.randint(0, 99), random.randint(0, 1000)
        last = np.cumsum(parts)
        found = demand(max(n, 1), last - parts, last, bandwidth, alltoall)
        assert found.tolist() == list(demands(parts, bandwidth, alltoall))


# What they get.


def draw_shares(random: Random) -> tuple[list[list[int]], list[int]]:
    links = random.randint(1, 4)
    most = random.choice([3, 50, 10**6, 10**9])
    asked = [
        [random.choice([0, random.randint(0, most)]) for _ in range(links)]
        for _ in range(random.randint(0, 6))
    ]
    return asked, [random.randint(1, random.choice([1, 2, 6]) * most) for _ in range(links)]


def test_shares_are_max_min() -> None:
    """No link is over its capacity; whoever lacks something has a link that is full, on which
    nobody has more: that is so of the max-min shares, and of no others."""
    random, lacking = Random(1), 0
    for _ in range(2000):
        asked, capacities = draw_shares(random)
        got = [Fraction(share) for share in shares(asked, capacities)]
        near = Fraction(1, 10**12)
        used = [
            sum(x * one[i] for x, one in zip(got, asked, strict=True))
            for i in range(len(capacities))
        ]
        assert all(u <= c * (1 + near) for u, c in zip(used, capacities, strict=True))
        for x, one in zip(got, asked, strict=True):
            assert 0 < x <= 1
            lacking += x < 1
            assert x == 1 or any(
                one[i]
                and used[i] >= capacities[i] * (1 - near)
                and all(
                    y <= x * (1 + near) for y, other in zip(got, asked, strict=True) if other[i]
                )
                for i in range(len(capacities))
            )
    assert lacking > 1000


def test_all_on_the_same_two_links_get_the_same() -> None:
    """The tighter link decides."""
    assert shares([(30, 30), (60, 60), (90, 90)], (120, 90)) == [0.5, 0.5, 0.5]
    assert shares([(30, 30), (60, 60)], (120, 90)) == [1.0, 1.0]
    assert shares([(30, 30), (60, 60)], ()) == [1.0, 1.0]
    assert shares([(0, 0), (60, 60)], (6, 9)) == [1.0, 0.1]


def test_nobody_gets_less_than_the_least() -> None:
    """Where one link has room for next to nothing."""
    assert shares([(2**50, 2**50)], (1, 2**52)) == [LEAST_SHARE]


def test_speed() -> None:
    """Communication takes 1 / x as long, computation as long as ever; rounded up."""
    assert speed(500, 0.5) == -(-WHOLE_SPEED * 1000 // 1500)
    assert speed(0, 0.001) == WHOLE_SPEED
    assert speed(1000, 0.5) == WHOLE_SPEED // 2
    assert speed(1000, LEAST_SHARE) == 1


# The clock.


def talking(submit: int, run: int, procs: int = 3, communication: int = 1000) -> Row:
    """Return a job that asks 100 kbit/s of each link if it is split into two and one."""
    return Row(submit, run, run, procs, 0, communication, 100, 1000)


BESIDE = Row(0, 2, 2, 2, 0), Row(0, ALONE, ALONE, 2, 1)
"""On clusters of 4 they leave two and two processors; from 2 s on there are two more on a."""


def test_who_asks_for_too_much_is_slowed_down() -> None:
    """The two share links of 100 from 2 s on, and each has half of what it asks for.

    What was done stays done: at 8 s the second has done its 3 s, the first 5 of its 10.
    """
    jobs = (*BESIDE, talking(0, 10), talking(2, 3))
    both = made("fcfs+ics,links=ignored", (4, 4), *jobs, links=(100, 100))
    assert starts(both)[2:] == [(0, "aab"), (2, "aab")]
    assert both.end.tolist()[2:] == [13, 8]
    without = made("fcfs+ics,links=ignored", (4, 4), *jobs)
    assert without.end.tolist()[2:] == [10, 5]


def test_computation_takes_as_long_as_ever() -> None:
    """Half of the time is communication: at half the share 3 s take 4.5, which ends at 7 s."""
    jobs = (*BESIDE, talking(0, 10, communication=0), talking(2, 3, communication=500))
    both = made("fcfs+ics,links=ignored", (4, 4), *jobs, links=(100, 100))
    assert both.end.tolist()[2:] == [10, 7]


def test_links_that_are_kept_slow_nobody_down() -> None:
    """The second waits for the first, and then fits one cluster."""
    jobs = (*BESIDE, talking(0, 10), talking(2, 3))
    kept = made("fcfs+ics", (4, 4), *jobs, links=(100, 100))
    assert starts(kept)[2:] == [(0, "aab"), (10, "aaa")]
    assert kept.end.tolist()[2:] == [10, 13]
    plenty = made("fcfs+ics", (4, 4), *jobs, links=(200, 200))
    assert starts(plenty)[2:] == [(0, "aab"), (2, "aab")]


@pytest.mark.parametrize(
    ("estimate", "start", "wide"), [(15, (3, "b"), "aab"), (16, (8, "a"), "abb")]
)
def test_predicted_ends_slide(estimate: int, start: tuple[int, str], wide: str) -> None:
    """At 3 s the first is predicted to end at 18; by then somebody is reserved on b.

    What ends at 18 may start beside; what ends at 19 waits for processors of a.
    """
    jobs = (*BESIDE, Row(0, 3, 3, 1, 1), talking(0, 10), talking(2, 3))
    late = Row(3, 5, 5, 3, 1), Row(3, estimate, estimate, 1, 1)
    both = made("fcfs+icsb(1),links=ignored", (4, 5), *jobs, *late, links=(100, 100))
    assert both.end.tolist()[3:5] == [13, 8]
    assert starts(both)[5:] == [(8, wide), start]


def test_a_job_of_run_time_0_ends_before_another_pass() -> None:
    """Who needs its processors starts at the same instant."""
    two = made("fcfs+ics", (2, 2), Row(0, 0, 5, 4), Row(0, 3, 3, 4), Row(0, 4, 4, 4))
    assert starts(two) == [(0, "aabb"), (0, "aabb"), (3, "aabb")]
    assert two.end.tolist() == [0, 3, 7]


# A pass.


def test_own_jobs_go_first() -> None:
    """The second would migrate to b, where the third, of b, starts before it."""
    rows = Row(0, 9, 9, 2, 0), Row(1, 5, 5, 2, 0), Row(1, 5, 5, 2, 1)
    assert starts(made("fcfs+ics", (2, 2), *rows)) == [(0, "aa"), (6, "bb"), (1, "bb")]
    alone = made("fcfs+isolated(1)", (2, 2), *rows)
    assert starts(alone) == [(0, "aa"), (9, "aa"), (1, "bb")]


@pytest.mark.parametrize(("to", "there"), [("most", "d"), ("least", "c"), ("first", "b")])
def test_where_a_job_migrates(to: str, there: str) -> None:
    """The most room, the least that is enough, or the first with enough."""
    rows = Row(0, 9, 9, 2, 0), Row(1, 5, 5, 2, 0)
    found = made(f"fcfs+ics,to={to}", (2, 4, 3, 5), *rows)
    assert starts(found)[1] == (1, there * 2)


@pytest.mark.parametrize("to", ["most", "least"])
def test_ties_of_room_go_by_declared_order(to: str) -> None:
    """b and c have three processors each."""
    rows = Row(0, 9, 9, 2, 0), Row(1, 5, 5, 2, 0)
    assert starts(made(f"fcfs+ics,to={to}", (2, 3, 3), *rows))[1] == (1, "bb")


@pytest.mark.parametrize(
    ("procs", "links", "parts"),
    [
        (3, (), "ccc"),  # It migrates.
        (4, (), "aabb"),  # Two clusters, and most on the first ones.
        (5, (), "aaccc"),
        (5, (150, 150, 150, 150), "aaccc"),  # 100 x 2 x 3 / 4, on either side.
        (5, (149, 150, 150, 150), "bbccc"),
        (5, (149, 149, 150, 150), "abccc"),
        (5, (149, 149, 149, 149), None),  # One of each is only four.
        (8, (), "aabbcccd"),
    ],
)
def test_how_a_job_is_split(procs: int, links: tuple[int, ...], parts: str | None) -> None:
    """As few parts as can be, none larger than its room, and no link is asked for too much."""
    job = Row(0, 5, 5, procs, 0, 0, 100, 1000)
    if parts is None:
        with pytest.raises(RuntimeError, match="would wait for ever"):
            made("fcfs+ics", (2, 2, 3, 1), job, links=links)
    else:
        assert starts(made("fcfs+ics", (2, 2, 3, 1), job, links=links)) == [(0, parts)]


def test_links_that_are_unused() -> None:
    """Nobody is spread: the second waits for a cluster that holds all of it."""
    rows = Row(0, 9, 9, 1, 1), Row(0, 5, 5, 3, 0)
    assert starts(made("fcfs+ics", (2, 3), *rows))[1] == (0, "aab")
    assert starts(made("fcfs+ics,links=unused", (2, 3), *rows))[1] == (9, "bbb")


def test_isolated_refuses_who_is_wider_than_its_cluster() -> None:
    """It would wait for ever."""
    with pytest.raises(InputError, match=r"job 1 asks for 3 processors; .* which has 2"):
        made("fcfs+isolated(1)", (2, 3), Row(0, 5, 5, 3, 0))


RESERVED = Row(0, 10, 10, 2, 0), Row(0, 30, 30, 2, 1), Row(1, 5, 5, 3, 0)
"""On clusters of 3 and 2: at 10 s the third is reserved on a, of which one processor is free."""


@pytest.mark.parametrize(
    ("rule", "estimate", "start"),
    [("icsb(1)", 9, 1), ("icsb(1)", 10, 15), ("ics", 10, 1), ("isolated(1)", 9, 30)],
)
def test_reservations_are_not_delayed(rule: str, estimate: int, start: int) -> None:
    """A job of b comes to a if it is gone when the reservation begins; without them, always."""
    found = made(f"fcfs+{rule}", (3, 2), *RESERVED, Row(1, estimate, estimate, 1, 1))
    assert found.start[3] == start
    assert found.start[2] == (11 if start == 1 and estimate == 10 else 10)


def test_parts_keep_reservations_too() -> None:
    """A split has no more of a cluster than is left by those who are reserved there."""
    # One of a and one of c, up to the reservation on a; or two of c from 20 s on.
    split = (3, 2, 2)
    busy = Row(0, 20, 20, 1, 2)
    for estimate, begin in ((9, (1, "ac")), (10, (15, "aa"))):
        job = Row(1, estimate, estimate, 2, 2)
        assert starts(made("fcfs+icsb(1)", split, *RESERVED, busy, job))[4] == begin


def test_wider_jobs_are_passed_over() -> None:
    """They hold no reservation and are not counted: the last has the one of its cluster."""
    rows = Row(0, 10, 10, 2, 0), Row(0, 10, 10, 2, 1), Row(1, 5, 5, 4, 0), Row(1, 5, 5, 2, 0)
    found = made("fcfs+icsb(1)", (2, 2), *rows)
    assert starts(found)[2:] == [(15, "aabb"), (10, "aa")]
    assert found.backfilled.tolist() == [False, False, False, True]


LEAVING = (
    *(Row(0, 10, 10, 1, 0), Row(0, 2, 2, 2, 1), Row(0, 7, 7, 1, 1), Row(0, 30, 30, 1, 2)),
    *(Row(1, 5, 5, 3, 1), Row(1, 20, 20, 1, 2), Row(1, 5, 5, 2, 0)),
)
"""On clusters of 2, 3 and 1: at 2 s the last, reserved on a, migrates to b until 7 s."""


def test_who_starts_elsewhere_leaves_its_reservation() -> None:
    """The sixth was before it in the queue, and in the third part has room on a alone."""
    assert starts(made("fcfs+icsb(1)", (2, 3, 1), *LEAVING))[5:] == [(2, "a"), (2, "bb")]


def test_only_who_stays_waiting_is_overtaken() -> None:
    """By one of its own origin: the fifth of LEAVING waits at 2 s, but is of b."""
    found = made("fcfs+icsb(1)", (2, 3, 1), *LEAVING)
    assert found.backfilled.tolist() == [False] * 7
    short = Row(1, 1, 1, 1, 0)
    overtaking = made("fcfs+icsb(1)", (2, 3, 1), *LEAVING, short)
    assert starts(overtaking)[7] == (1, "a")
    assert overtaking.backfilled.tolist() == [False] * 7 + [True]


def test_a_holder_that_leaves_may_delay_another() -> None:
    """The second migrates at 1 s, so the third is reserved where the fourth was.

    Nobody of another origin delays the fourth, and yet it starts later than on its cluster alone.
    """
    rows = (
        *(Row(0, 5, 5, 3, 0), Row(0, 10, 10, 2, 0), Row(0, 10, 10, 3, 0), Row(0, 10, 10, 2, 0)),
        Row(0, 1, 1, 2, 1),
    )
    alone = made("fcfs+isolated(3)", (4, 2), *rows)
    assert starts(alone)[1:4] == [(5, "aa"), (15, "aaa"), (5, "aa")]
    sharing = made("fcfs+icsb(3)", (4, 2), *rows)
    assert starts(sharing)[1:4] == [(1, "bb"), (5, "aaa"), (11, "bb")]


class Watching(Sharing):
    """Look at the reservations after part 1, and after the whole pass."""

    looked = 0

    def share(self, queue: list[Job]) -> None:
        """Hold those that stay, where they are; and anew, where nobody who holds one has left."""
        held, stands, anew = dict(self.held), self.standing(), self.anew(queue)
        super().share(queue)
        assert self.held.items() <= held.items()
        assert stands & self.held.keys() <= self.standing(), self.now
        for before, after in zip(anew, self.anew(queue), strict=True):
            if before.keys() == after.keys():
                assert before == after, self.now
                self.looked += len(before)

    def standing(self) -> set[Job]:
        """Return whose processors are free when it is reserved; those of no length may lack them.

        Who is put into the plan later may have the instant of one with estimate 0.
        """
        return {
            job
            for job, claim in self.held.items()
            if self.clusters[claim.place].are_free(
                job.procs, claim.begin, max(claim.end, claim.begin + 1), self.plan(claim.place, job)
            )
        }

    def anew(self, queue: list[Job]) -> list[dict[Job, int]]:
        """Return when each cluster's holders could start, made anew in queue order."""
        found: list[dict[Job, int]] = []
        for place, cluster in enumerate(self.clusters):
            claims = self.running_on(place)
            begins: dict[Job, int] = {}
            for job in queue:
                if job in self.held and self.held[job].place == place:
                    begins[job] = cluster.earliest(job, self.now, claims)
                    end = begins[job] + job.estimate
                    claims.append(Claim(begins[job], end, job.procs, place))
            found.append(begins)
        return found


def test_nobody_of_another_origin_delays_a_reservation() -> None:
    """Those that stay are where they were, and as good as new, in any pass, links kept."""
    random, looked = Random(7), 0
    for _ in range(1500):
        case = draw_network(random)
        policy = Policy.parse(case.policy)
        if policy.row.find("refer", "network") is Sharing and policy.depth:
            kept = Policy(policy.order, policy.rule, to=policy.to)
            try:
                work = case._replace(policy=kept.name).workload()
            except InputError:
                continue
            watching = Watching(work, kept)
            watching.run()
            looked += watching.looked
    assert looked > 500


@given(network_cases())
def test_what_holds_for_every_schedule(case: NetworkCase) -> None:
    """Everybody has all its processors, inside its room, and is never faster than alone."""
    work = case.workload()
    made_so = simulate_reference(work, case.policy)
    assert [len(word) for word in where(made_so)] == work.procs.tolist()
    assert (made_so.end >= made_so.start + work.run).all()
    if "links=ignored" not in case.policy:
        assert (made_so.end == made_so.start + work.run).all()
    for now in {*made_so.start.tolist()}:
        here = "".join(
            word
            for word, begin, end in zip(
                where(made_so), made_so.start.tolist(), made_so.end.tolist(), strict=True
            )
            if begin <= now < end
        )
        assert all(here.count("abcd"[i]) <= size for i, size in enumerate(case.clusters))


def test_splits_are_all_there_are() -> None:
    """As many as there are points with that sum in the box of the rooms."""
    for rooms in ([2, 3, 1], [0, 0], [4], [-1, 2], [1, 1, 1, 1]):
        for procs in range(1, 6):
            box = np.indices([max(room, 0) + 1 for room in rooms]).reshape(len(rooms), -1).T
            points = sorted(tuple(one) for one in box.tolist() if sum(one) == procs)
            assert sorted(splits(procs, rooms)) == points
