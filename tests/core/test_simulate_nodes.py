"""Rules on nodes: cases by hand, what always holds, and nodes of one processor as a pool."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError, Left
from core.platform.nodes import Nodes
from core.policy.orders import ORDERS
from core.policy.policy import Policy
from core.schedule import Schedule, State
from core.simulation.promises import promises
from core.simulation.simulate import simulate
from core.simulation.underway import Underway
from core.workload.workload import Workload
from tests.golden import read_log
from tests.strategies import THRESHOLDS, by_share, by_width_then_wait, crowd, workloads

CALLED = tuple(f"tests.strategies:{f.__name__}" for f in (by_share, by_width_then_wait))

KEPT = tuple(name for name, row in ORDERS.items() if row.shares is None)
"""Orders that nodes know."""


def as_nodes(work: Workload) -> Workload:
    """Bring a pool's jobs to as many nodes of one processor each."""
    names = [f"n{i}" for i in range(work.processors)]
    return replace(work, platform=Nodes([1] * work.processors, names))


def timed(work: Workload) -> Workload:
    """Let every estimate be above 0.

    With 0 it is not enough that as many nodes are free: they must be those that a job has found.
    """
    return replace(work, estimate=np.maximum(work.estimate, 1))


def assert_same(work: Workload, policy: Policy) -> None:
    """Nodes of one processor are a pool: start for start, flag for flag, promise for promise."""
    nodes, pool = simulate(as_nodes(work), policy), simulate(work, policy)
    assert nodes.start.tolist() == pool.start.tolist()
    assert nodes.end.tolist() == pool.end.tolist()
    assert nodes.backfilled.tolist() == pool.backfilled.tolist()
    assert promises(as_nodes(work), policy).tolist() == promises(work, policy).tolist()


@given(workloads(), st.sampled_from((*KEPT, *CALLED)), st.none() | st.sampled_from(THRESHOLDS))
def test_single_processors__are_a_pool(work: Workload, order: str, threshold: str | None) -> None:
    """In any order, with thresholds, with jobs that end at once."""
    assert_same(timed(work), Policy(order, "conservative", threshold=threshold))


@pytest.mark.parametrize("order", ["fcfs", "saf", "lxf,threshold=9s"])
def test_single_processors__are_a_pool_in_a_crowd(order: str) -> None:
    """Queues of hundreds."""
    order, _, options = order.partition(",")
    policy = Policy.parse(f"{order}+conservative" + (f",{options}" if options else ""))
    assert_same(timed(crowd(7, 60)), policy)


def test_single_processors__are_a_pool_on_kth(traces: Path) -> None:
    """A whole log, to the last bit: 2 s."""
    work = read_log(traces, "KTH-SP2-1996-2.1-cln.swf.gz")
    nodes, pool = simulate(as_nodes(work), "fcfs+conservative"), simulate(work, "fcfs+conservative")
    assert nodes.digest() == pool.digest()
    assert (nodes.backfilled == pool.backfilled).all()


Job = dict[str, int]

TWO = Nodes([2, 2], ["a", "b"])

FOUR = Nodes([1, 1, 1, 1], ["a", "b", "c", "d"], {"left": ["a", "b"], "first": ["a"]})


def job(submit: int, estimate: int, nodes: int = 1, **others: int) -> Job:
    """Describe a job by its nodes; `run` is the estimate unless it is given."""
    return {"submit": submit, "estimate": estimate, "run": estimate, "nodes": nodes, **others}


def hand(platform: Nodes, *jobs: Job, epoch: int = -1) -> Workload:
    """Build a workload of jobs."""
    usual = {"weight": 1, "properties": -1, "reserved": -1, "serial": -1}
    rows = [{**usual, **one} for one in jobs]
    columns = {name: [row[name] for row in rows] for name in rows[0] if name != "nodes"}
    procs = [row["nodes"] * row["weight"] for row in rows]
    return Workload.from_columns(**columns, procs=procs, platform=platform, epoch=epoch)


def nodes_of(schedule: Schedule) -> list[list[int]]:
    """Return the nodes of each job, as the platform declares them."""
    parts = schedule.segments
    assert parts is not None
    return [parts.place[parts.job == j].tolist() for j in range(len(schedule.workload))]


def outcome(work: Workload, policy: str = "fcfs+conservative") -> tuple[list[int], list[list[int]]]:
    """Return starts and nodes."""
    schedule = simulate(work, policy)
    return schedule.start.tolist(), nodes_of(schedule)


def test_weights__share_a_node() -> None:
    """The least room first: two small jobs fill a node, so that a wide one finds the other."""
    work = hand(TWO, job(0, 9), job(1, 9), job(2, 5, weight=2), job(3, 5), job(4, 5, 2))
    assert outcome(work) == ([0, 1, 2, 7, 9], [[0], [0], [1], [1], [0, 1]])


def test_sets__are_kept() -> None:
    """Nodes in fewer sets go first, of these the first declared; who asks for a set waits."""
    work = hand(
        FOUR, job(0, 9), job(0, 9, 2), job(1, 5, properties=1), job(2, 5, properties=0),
        job(3, 5), job(6, 1, 2, properties=0),
    )  # fmt: skip
    assert outcome(work) == ([0, 0, 1, 6, 9, 11], [[2], [1, 3], [0], [0], [2], [0, 1]])


def test_reservation__is_accepted_and_starts_on_time() -> None:
    """Who waits plans around it, and has no right before it."""
    work = hand(
        TWO, job(0, 9, 2, weight=2), job(1, 9, weight=2), job(2, 5, 2, weight=2, reserved=8),
        job(3, 1, 1), job(4, 6, 1),
    )  # fmt: skip
    schedule = simulate(work, "fcfs+conservative")
    assert schedule.start.tolist() == [0, 15, 10, 9, 15]
    assert schedule.state.tolist() == [0] * 5
    assert schedule.backfilled.tolist() == [False, False, False, True, False]
    assert promises(work, "fcfs+conservative").tolist() == [0, 9, 10, 9, 15]


def test_reservation__is_refused() -> None:
    """Beside who runs, and beside reservations accepted before; never for who waits."""
    work = hand(
        TWO, job(0, 9, 2), job(1, 5, 2, weight=2, reserved=7), job(2, 5, 2, weight=2, reserved=7),
        job(3, 5, 2, reserved=9), job(4, 1, 2, reserved=9),
    )  # fmt: skip
    schedule = simulate(work, "fcfs+conservative")
    assert schedule.start.tolist() == [0, -1, 9, -1, -1]
    assert schedule.end.tolist() == [9, -1, 14, -1, -1]
    assert schedule.state.tolist() == [0, State.REFUSED, 0, State.REFUSED, State.REFUSED]
    assert nodes_of(schedule) == [[0, 1], [], [0, 1], [], []]
    assert promises(work, "fcfs+conservative").tolist() == [0, -1, 9, -1, -1]


def test_reservation__at_once_and_without_length() -> None:
    """It starts before the pass; nodes are kept for it for a second, and given back at once."""
    work = hand(TWO, job(0, 3, 2, weight=2, reserved=0), job(0, 3), job(1, 0, 2, reserved=4))
    assert outcome(work) == ([0, 3, 5], [[0, 1], [0], [0, 1]])
    work = hand(TWO, job(0, 5, 2, weight=2, reserved=2), job(0, 0, 2, weight=2, reserved=2))
    assert simulate(work, "fcfs+conservative").start.tolist() == [2, -1]


def test_node_down__loses_jobs_and_reservations() -> None:
    """Jobs end there and then, but for those that end at that instant; nobody plans on the node."""
    down = Nodes([1, 1], ["a", "b"], down=[["a", 5, 9], ["b", 6, 8]])
    work = hand(
        down, job(0, 8), job(0, 6), job(1, 2, reserved=6), job(1, 2, 2), job(1, 1, reserved=14)
    )
    schedule = simulate(work, "fcfs+conservative")
    assert schedule.start.tolist() == [0, 0, 7, 9, 15]
    assert schedule.end.tolist() == [5, 6, 7, 11, 16]
    assert schedule.state.tolist() == [State.LOST, 0, State.LOST, 0, 0]
    assert nodes_of(schedule) == [[0], [1], [], [0, 1], [0]]


def test_nodes_down__leave_jobs_out_of_the_plan() -> None:
    """Who does not find enough nodes that are up is in no plan, and keeps nobody waiting."""
    down = Nodes([1, 1], ["a", "b"], down=[["a", 1, 20]])
    work = hand(down, job(0, 1), job(2, 5, 2), job(3, 30))
    assert simulate(work, "fcfs+conservative").start.tolist() == [0, 33, 3]
    assert promises(work, "fcfs+conservative").tolist() == [0, -1, 3]


def test_end_at_once__gives_the_nodes_to_the_next() -> None:
    """A job of run time 0 holds its node until the next pass of its instant."""
    work = hand(TWO, job(0, 0, 2, weight=2), job(0, 5, 2, weight=2), job(1, 5, 2, run=0))
    schedule = simulate(work, "fcfs+conservative")
    assert schedule.start.tolist() == [0, 0, 5]
    assert schedule.end.tolist() == [0, 5, 5]


def test_without_estimate__binds_nobody() -> None:
    """A job with estimate 0 has a start in the plan and holds nothing there."""
    work = hand(TWO, job(0, 9), job(1, 0, 2, weight=2), job(2, 20, weight=2))
    assert simulate(work, "fcfs+conservative").start.tolist() == [0, 22, 2]
    assert promises(work, "fcfs+conservative").tolist() == [0, 9, 2]


def test_early_end__plans_anew() -> None:
    """Who could not start beside a job that ends early does so at its end."""
    work = hand(TWO, job(0, 50, 2, run=4), job(1, 5, 2, weight=2), job(2, 60))
    assert simulate(work, "fcfs+conservative").start.tolist() == [0, 4, 9]


def test_moldable__is_rigid_without_shelves() -> None:
    """Under `conservative` it has the nodes that it asks for."""
    work = hand(TWO, job(0, 10, 2, serial=0), job(1, 10, 2, weight=2))
    assert outcome(work) == ([0, 10], [[0, 1], [0, 1]])


HOUR = 3600

SINGLE = Nodes([1, 1], ["a", "b"])


def test_newcomers__join_the_first_shelf_they_fit() -> None:
    """Short jobs that fit a short shelf go before longer ones that came earlier."""
    work = hand(
        SINGLE, job(0, 100, 2), job(1, 5000, 2), job(2, 600, 2), job(3, 900), job(4, 800), job(5, 9)
    )
    # Shelves: 2 h with the second job (15m doubled until it is long enough), and behind it, since
    # nobody fits beside it, 2 h with the third; 2 h with the fourth and fifth; 2 h with the sixth.
    assert simulate(work, "fcfs+demt").start.tolist() == [0, 100, 5100, 5700, 5700, 6500]


def test_newcomers__double_the_last_shelf_for_longer_ones() -> None:
    """A new shelf is twice the last one only while somebody who waits is longer than that one."""
    work = hand(SINGLE, job(0, 50, 2), job(1, 300, 2), job(2, 300, 2), job(3, 1800, 2), job(4, 200))
    # 15m, 15m, 30m; the last goes to a new shelf of 30m, since the first two are full.
    assert simulate(work, "fcfs+demt").start.tolist() == [0, 50, 350, 650, 2450]


def test_reset__fills_shelves_by_number() -> None:
    """At a reset the most jobs that fit go upon the first shelf, however late they came."""
    work = hand(SINGLE, job(0, 100, 2), job(1, 800, 2), job(2, 700), job(3, 600), job(4, 2000, 2))
    assert simulate(work, "fcfs+demt").start.tolist() == [0, 100, 900, 900, 1600]
    renewed = simulate(work, "fcfs+demt,resets=50s")
    assert renewed.start.tolist() == [0, 800, 100, 100, 1600]
    # At 50 s nothing is free for 15m: the first selection takes nobody.
    assert renewed.counts == {"selections": 4, "given_up": 0}
    assert simulate(work, "fcfs+demt,resets=50s,worth=procs").start.tolist() == [
        0, 100, 900, 900, 1600
    ]  # fmt: skip


def test_reset__is_given_up_for_the_greedy_choice() -> None:
    """Without a budget what is worth most per processor is taken first."""
    work = hand(SINGLE, job(0, 100, 2), job(1, 800, 2), job(2, 700), job(3, 600))
    given_up = simulate(work, "fcfs+demt,resets=50s,budget=0")
    assert given_up.counts == {"selections": 3, "given_up": 2}
    assert given_up.start.tolist() == [0, 800, 100, 100]


@pytest.mark.parametrize(
    ("epoch", "utc", "first"),
    [(-1, "0s", 8), (-1, "1h", 8), (0, "1h", 7), (5 * HOUR, "16h", 11), (6 * HOUR, "5h", 2)],
)
def test_resets__are_at_local_times(epoch: int, utc: str, first: int) -> None:
    """At 8:00 and 13:00 by the day of the log, where it says when it began, and its zone.

    Instant 0 is midnight; 1:00; 21:00, 11 h before the first reset; 11:00, 2 h before the second.
    """
    begin = first * HOUR - 100
    jobs = (job(begin, 200, 2), job(begin + 1, 800, 2), job(begin + 2, 700), job(begin + 3, 600))
    starts = simulate(hand(SINGLE, *jobs, epoch=epoch), f"fcfs+demt,utc={utc}").start - begin
    assert starts.tolist() == [0, 900, 200, 200]
    later = (dict(one, submit=one["submit"] + 101) for one in jobs)
    starts = simulate(hand(SINGLE, *later, epoch=epoch), f"fcfs+demt,utc={utc}").start - begin
    assert starts.tolist() == [101, 301, 1101, 1101]


def test_moldable__has_the_fewest_nodes_that_do() -> None:
    """Half the nodes, twice as long, as long as that is no longer than its shelf."""
    nodes = Nodes([1] * 4, ["a", "b", "c", "d"])
    work = hand(nodes, job(0, 400, 4, serial=0), job(0, 400, 4, serial=0, run=200))
    schedule = simulate(work, "fcfs+demt")
    assert nodes_of(schedule) == [[0, 1], [2, 3]]
    assert schedule.start.tolist() == [0, 0]
    assert schedule.end.tolist() == [800, 400]


def test_shelves__want_an_order_that_stays() -> None:
    """Orders that change while jobs wait are refused, and so is what is for pools."""
    work = hand(TWO, job(0, 9))
    with pytest.raises(InputError, match=r"order 'lxf' changes while jobs wait"):
        simulate(work, "lxf+demt")
    with pytest.raises(InputError, match=r"events=per-event is for one pool"):
        simulate(work, "fcfs+conservative,events=per-event")
    with pytest.raises(InputError, match=r"order 'fair-share' goes by what users have got"):
        simulate(work, "fair-share+conservative")


def test_simulation__is_left_when_asked() -> None:
    """Between two instants, as any other."""
    under = Underway()
    under.leave()
    with under, pytest.raises(Left):
        simulate(hand(TWO, job(0, 9)), "fcfs+conservative")
    with Underway() as under:
        simulate(hand(TWO, job(0, 9)), "fcfs+demt")
    assert under.share == 1.0
