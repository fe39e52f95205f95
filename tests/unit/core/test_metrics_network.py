"""Metrics of several clusters: what participants wait, give, receive, and ask of their links."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from schedfarm.core import Pool, Workload, by_origin, simulate, summarise
from schedfarm.core.machines.network.platform import Network
from schedfarm.core.metrics.declared import metrics_over
from schedfarm.core.metrics.links import cut_pairs, link_demands, link_loads, link_peaks
from schedfarm.core.metrics.metric import ORIGIN
from schedfarm.core.metrics.participants import node_time
from schedfarm.core.metrics.window import window_of
from schedfarm.core.schedule import Schedule, Segments

NETWORK = Network([4, 2, 3], ["north", "south", "west"], [1000, 500, 250])


def five() -> Schedule:
    """At home, migrated to the south, on north and west, on all three (from the west), at home.

    The third and the fourth run at the same time for 2 s, and the fourth was slowed down to 12 s.
    """
    work = Workload.from_columns(
        submit=[0, 0, 2, 5, 20],
        run=[10, 6, 8, 10, 5],
        estimate=[10, 6, 8, 10, 5],
        procs=[1, 2, 4, 4, 1],
        origin=[0, 0, 0, 2, 1],
        communication=[0, 500, 500, 500, 0],
        bandwidth=[900, 900, 90, 30, 0],
        alltoall=[1000, 1000, 1000, 0, 0],
        user=[1, 1, 2, 2, 3],
        platform=NETWORK,
    )
    return Schedule(
        work,
        "fcfs+ics",
        np.array([0, 1, 2, 8, 20]),
        np.zeros(5, np.bool_),
        end=np.array([10, 7, 10, 20, 25]),
        segments=Segments(
            np.array([0, 1, 2, 2, 3, 3, 3, 4]),
            np.array([0, 1, 0, 2, 0, 1, 2, 1]),
            np.array([1, 2, 3, 1, 1, 1, 2, 1]),
        ),
    )


def neighbours(n: int) -> list[tuple[int, int]]:
    """Pairs of a mesh, one by one, as the text has them."""
    row = math.isqrt(n) + (math.isqrt(n) ** 2 < n)
    places = [divmod(i, row) for i in range(n)]
    return [
        (i, k)
        for (i, (y, x)), (k, there) in itertools.combinations(enumerate(places), 2)
        if there in ((y, x + 1), (y + 1, x))
    ]


def test_cuts_are_those_of_every_pair() -> None:
    """Of every run of processors of every mesh of up to 27."""
    for n in range(1, 28):
        pairs = neighbours(n)
        for first in range(n):
            for count in range(1, n - first + 1):
                run = range(first, first + count)
                due = sum((a in run) != (b in run) for a, b in pairs)
                found = cut_pairs(np.array([n]), np.array([first]), np.array([count]))
                assert found.tolist() == [due], (n, first, count)


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=4),
    st.integers(0, 10**9),
    st.integers(0, 1000),
)
def test_demands_are_exact(sizes: list[int], bandwidth: int, alltoall: int) -> None:
    """As the formula in fractions, rounded up once; nothing inside one cluster."""
    n = sum(sizes)
    work = Workload.from_columns(
        submit=[0], run=[1], estimate=[1], procs=[n], bandwidth=[bandwidth],
        alltoall=[alltoall], platform=Network([9] * 5, list("abcde")),
    )  # fmt: skip
    # Not in the order of clusters: processors are counted off in that all the same.
    parts = Segments(
        np.zeros(len(sizes), np.int64), np.arange(len(sizes))[::-1] + 1, np.array(sizes[::-1])
    )
    made = Schedule(work, "fcfs+ics", work.submit, work.killed, segments=parts)
    due, first = [], 0
    for k in sizes:
        run = range(first, first + k)
        cut = sum((a in run) != (b in run) for a, b in neighbours(n))
        everywhere = Fraction(alltoall * k * (n - k), n - 1) if n > 1 else 0
        whole = bandwidth * (everywhere + Fraction((1000 - alltoall) * cut, 4)) / 1000
        due.append(math.ceil(whole) if 0 < k < n else 0)
        first += k
    assert link_demands(made).tolist() == due[::-1]


def test_the_widest_demand_fits() -> None:
    """At the bound of bandwidth x procs^2 nothing overflows."""
    work = Workload.from_columns(
        submit=[0], run=[1], estimate=[1], procs=[2**20], bandwidth=[2**11 - 1],
        alltoall=[1000], platform=Network([2**19, 2**19], ["a", "b"]),
    )  # fmt: skip
    parts = Segments(np.zeros(2, np.int64), np.arange(2), np.full(2, 2**19))
    made = Schedule(work, "fcfs+ics", work.submit, work.killed, segments=parts)
    due = math.ceil(Fraction((2**11 - 1) * 2**38, 2**20 - 1))
    assert link_demands(made).tolist() == [due, due]


def test_what_the_five_ask_of_links() -> None:
    """Three and one of four: all to all 90 x 3 x 1 / 3; one, one and two of a mesh of 2 x 2."""
    asked = link_demands(five())
    assert asked.tolist() == [0, 0, 90, 90, 15, 15, 15, 0]
    window = window_of(five())
    loads = [(90 * 8 + 15 * 12) / 25, 15 * 12 / 25, (90 * 8 + 15 * 12) / 25]
    assert link_loads(five(), asked, window).tolist() == [
        loads[0] / 1000, loads[1] / 500, loads[2] / 250,
    ]  # fmt: skip
    assert link_peaks(five(), asked, window).tolist() == [105 / 1000, 15 / 500, 105 / 250]
    # After the first three have ended, the fourth is the only one.
    late = window_of(five(), 0.6)
    assert (late.begin, late.end) == (10, 25)
    assert link_peaks(five(), asked, late).tolist() == [15 / 1000, 15 / 500, 15 / 250]
    assert link_loads(five(), asked, late).tolist() == [
        15 * 10 / (1000 * 15), 15 * 10 / (500 * 15), 15 * 10 / (250 * 15),
    ]  # fmt: skip


def test_one_that_ends_makes_room_for_one_that_starts() -> None:
    """At one instant completions come first: the peak is of one of them."""
    after = replace(five(), start=np.array([0, 1, 2, 10, 20]))
    assert link_peaks(after, link_demands(after), window_of(after)).tolist() == [0.09, 0.03, 0.36]


def test_links_without_a_limit_have_no_load() -> None:
    """And nothing else changes."""
    free = replace(five(), workload=replace(five().workload, platform=replace(NETWORK, links=())))
    found, due = by_origin(free), by_origin(five())
    for name in found:
        if "link" in name:
            assert np.isnan(found[name]).all()
        else:
            assert found[name].tolist() == due[name].tolist()


def test_every_participant_has_its_own() -> None:
    """Worked out by hand: waits, responses, slowdowns, and who went where."""
    found = by_origin(five(), tau=1)
    assert list(found) == [metric.name for metric in metrics_over(ORIGIN, NETWORK)]
    assert found["origin_jobs"].tolist() == [3, 1, 1]
    assert found["origin_wait"].tolist() == [1 / 3, 0, 3]
    assert found["origin_response"].tolist() == [(10 + 7 + 8) / 3, 5, 15]
    assert found["origin_bounded_slowdown"].tolist() == [(1 + 7 / 6 + 1) / 3, 1, 1.5]
    assert found["origin_migrated_share"].tolist() == [1 / 3, 0, 0]
    assert found["origin_coallocated_share"].tolist() == [1 / 3, 0, 1]
    # Of the north's jobs the south had 6 x 2 and the west 8 x 1; of the west's north and south 12.
    assert node_time(five(), window_of(five())).tolist() == [[34, 12, 8], [0, 5, 0], [12, 12, 24]]
    assert found["origin_given"].tolist() == [12, 24, 8]
    assert found["origin_received"].tolist() == [20, 0, 24]
    assert found["origin_utilisation"].tolist() == [46 / 100, 29 / 50, 32 / 75]
    mean = (found["origin_jobs"] * found["origin_wait"]).sum() / 5
    assert summarise(five())["wait"] == pytest.approx(mean)


def test_the_whole_says_how_many_went_away() -> None:
    """Shares of the jobs; capacity and areas take all clusters as one pool."""
    found = summarise(five(), tau=1)
    assert (found["migrated_share"], found["coallocated_share"]) == (1 / 5, 2 / 5)
    assert found["utilisation"] == (10 + 12 + 32 + 48 + 5) / (9 * 25)
    assert found["response"] == (10 + 7 + 8 + 15 + 5) / 5


def test_what_is_left_out_counts_for_nobody() -> None:
    """Means are of jobs that count; what was held is that of the time between."""
    found = by_origin(five(), warmup=0.6)
    assert found["origin_jobs"].tolist() == [0, 1, 1]
    assert math.isnan(found["origin_wait"][0])
    assert found["origin_coallocated_share"].tolist()[1:] == [0, 1]
    assert found["origin_given"].tolist() == [10, 10, 0]
    assert found["origin_received"].tolist() == [0, 0, 20]
    assert found["origin_utilisation"].tolist() == [10 / 60, 15 / 30, 20 / 45]
    assert summarise(five(), warmup=0.6)["coallocated_share"] == 1 / 2


def test_no_job_at_all() -> None:
    """Numbers are 0, and all else is missing."""
    nobody = five().workload.take(slice(0))
    none = np.zeros(0, np.int64)
    empty = Schedule(
        nobody, "fcfs+ics", none, none.astype(np.bool_), end=none,
        segments=Segments(none, none, none),
    )  # fmt: skip
    found = by_origin(empty)
    for name, values in found.items():
        sums = name in ("origin_jobs", "origin_given", "origin_received")
        assert (values == 0).all() if sums else np.isnan(values).all(), name
    assert math.isnan(summarise(empty)["migrated_share"])


def test_other_platforms_have_no_participants() -> None:
    """Neither the numbers of each nor the shares of the whole."""
    work = five().workload.take(slice(None), platform=Pool(9))
    made = simulate(work, "fcfs+easy")
    assert by_origin(made) == {}
    assert not {"migrated_share", "coallocated_share"} & set(summarise(made))
    assert not any(metric.over == ORIGIN for metric in metrics_over("cell"))
