"""The reference of networks, by hand where that can be done and by what must hold where not."""

from __future__ import annotations

import re
from fractions import Fraction
from math import ceil
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

from schedfarm.core.engine.simulate import simulate
from schedfarm.core.errors import InputError
from schedfarm.core.machines.network.reference.links import (
    LEAST_SHARE,
    demands,
    neighbours,
    shares,
    speed,
)
from schedfarm.core.machines.network.reference.rules import Parts, Sharing, best_split
from schedfarm.core.policy.policy import Policy
from schedfarm.core.reference.job import WHOLE_SPEED, Job
from schedfarm.core.reference.loop import simulate_reference
from schedfarm.core.reference.processors import Claim
from schedfarm.core.workload.workload import Workload
from tests.oracles.case import NetworkJob as Row, words, workload
from tests.oracles.programs import segments
from tests.support.strategies import network_of, simulations

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


def counted_demands(parts: Parts, bandwidth: int, alltoall: int) -> list[int]:
    """Return the demand on each link by its definition, pair by pair."""
    n = sum(parts)
    on = [place for place, procs in enumerate(parts) for _ in range(procs)]
    asked = []
    for place, k in enumerate(parts):
        crossing = sum((on[a] == place) != (on[b] == place) for a, b in neighbours(n)) if n else 0
        to_all = alltoall * Fraction(k * (n - k), max(n - 1, 1))
        to_neighbours = (1000 - alltoall) * Fraction(crossing, 4)
        asked.append(ceil(bandwidth * (to_all + to_neighbours) / 1000) if 0 < k < n else 0)
    return asked


def test_demands_are_those_of_all_pairs() -> None:
    """The formula for the cut of a row of processors counts the pairs of the definition."""
    random = Random(1)
    for _ in range(3000):
        parts = tuple(random.choice([0, 1, 2, 3, 7]) for _ in range(random.randint(1, 4)))
        bandwidth, alltoall = random.randint(0, 99), random.randint(0, 1000)
        found = demands(parts, bandwidth, alltoall)
        assert list(found) == counted_demands(parts, bandwidth, alltoall)


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


# What is refused, and what always holds.


WIDE = Row(0, 5, 5, 3, bandwidth=100, alltoall=1000)
"""Wider than its cluster, than every cluster, and asking more than links of 10 carry."""


@pytest.mark.parametrize(
    ("policy", "why", "stuck"),
    [
        (
            "fcfs+isolated(1)",
            "it runs on its own cluster, 'a', which has 2",
            "job 1 requests 3 processors; under 'isolated(1)' it runs on its own cluster",
        ),
        (
            "fcfs+ics,links=unused",
            "the widest cluster has 2, and jobs stay inside one cluster",
            "would wait for ever under fcfs+ics,links=unused",
        ),
        (
            "fcfs+ics",
            "the widest cluster has 2, and no split of it keeps every link within its capacity",
            "would wait for ever under fcfs+ics",
        ),
    ],
)
def test_a_job_that_would_wait_for_ever_is_refused(policy: str, why: str, stuck: str) -> None:
    """The kernel says why before it starts; the reference, where it is stuck."""
    work = workload(network_of(2, 2, links=(10, 10)), [WIDE])
    with pytest.raises(InputError, match=re.escape(f"job 1 requests 3 processors; {why}")):
        simulate(work, policy)
    with pytest.raises((InputError, RuntimeError), match=re.escape(stuck)):
        simulate_reference(work, policy)


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


def test_reservations_are_not_delayed_from_elsewhere() -> None:
    """Those that stay are where they were, and as good as new, in any pass, links kept."""
    looked = 0

    @settings(max_examples=10 * settings.default.max_examples)
    @given(simulations("network", "icsb"))
    def watch(drawn: tuple[Workload, Policy]) -> None:
        nonlocal looked
        work, policy = drawn
        kept = Policy(policy.order, policy.rule, to=policy.to)
        # Where links are ignored, a job may ask for more than they carry.
        assume(policy.links != "ignored")
        watching = Watching(work, kept)
        watching.run()
        looked += watching.looked

    watch()
    assert looked > 10


@given(drawn=simulations("network"))
def test_every_schedule_is_sound(drawn: tuple[Workload, Policy]) -> None:
    """Each job has all its processors, inside its room, and is never faster than alone."""
    work, policy = drawn
    schedule = simulate_reference(work, policy)
    on = words(work, [], segments(schedule))
    assert [len(word) for word in on] == work.procs.tolist()
    assert (schedule.end >= schedule.start + work.run).all()
    if policy.links != "ignored":
        assert (schedule.end == schedule.start + work.run).all()
    stays = list(zip(on, schedule.start.tolist(), schedule.end.tolist(), strict=True))
    for now in {*schedule.start.tolist()}:
        here = "".join(word for word, begin, end in stays if begin <= now < end)
        assert all(here.count("abcd"[i]) <= size for i, size in enumerate(work.platform.sizes))


def splits(procs: int, rooms: list[int]) -> list[Parts]:
    """Return every way to split processors into parts none of which is larger than its room."""
    box = np.indices([max(room, 0) + 1 for room in rooms]).reshape(len(rooms), -1).T
    return [tuple(parts) for parts in box.tolist() if sum(parts) == procs]


@given(
    rooms=st.lists(st.integers(-1, 5), min_size=1, max_size=4),
    spare=st.lists(st.sampled_from((0, 50, 70, 100, 150, 10**6)), min_size=4, max_size=4),
    procs=st.integers(1, 12),
    alltoall=st.integers(0, 1000),
    limited=st.booleans(),
)
def test_the_split_is_the_best_of_all(
    rooms: list[int], spare: list[int], procs: int, alltoall: int, limited: bool
) -> None:
    """Of all splits that the links carry: few clusters, then many processors on the first."""
    left = tuple(spare[: len(rooms)])
    found = [
        parts
        for parts in splits(procs, rooms)
        if not limited
        or all(d <= s for d, s in zip(demands(parts, 70, alltoall), left, strict=True))
    ]
    best = min(
        found,
        key=lambda parts: (sum(part > 0 for part in parts), [-part for part in parts]),
        default=None,
    )
    ours = best_split(procs, tuple(rooms), left if limited else (), 70, alltoall)
    assert ours == best
