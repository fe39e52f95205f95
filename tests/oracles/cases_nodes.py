"""Hand-written cases on nodes `a`, `b` and so on."""

from __future__ import annotations

from collections.abc import Iterator

from schedfarm.core.schedule import State
from tests.oracles.case import Case, NodeJob as Job
from tests.support.strategies import nodes_of

NODES = "Nodes"

PLANNED = "fcfs+conservative"

REFUSED, LOST = int(State.REFUSED), int(State.LOST)

TWO, SINGLE = nodes_of(2, 2), nodes_of(1, 1)

HOUR = 3600


def job(submit: int, estimate: int, nodes: int = 1, run: int = -1, **others: int) -> Job:
    """Return a job that runs for its estimate unless a run time is given."""
    return Job(submit, estimate if run < 0 else run, estimate, nodes, **others)


def _selection() -> Iterator[Case]:
    name = "a job takes the nodes with the least room, in the fewest sets, the first"
    platform = nodes_of(2, 1, 1, 1, sets=("bc", "b"))
    rows = [job(0, 10), job(0, 10), job(0, 10), job(0, 10, 2)]
    yield Case(name, PLANNED, platform, rows, [0, 0, 0, 10], NODES, on=["d", "c", "b", "cd"])
    name = "two small jobs share a node, so that a wide one finds the other"
    rows = [job(0, 9), job(1, 9), job(2, 5, weight=2), job(3, 5), job(4, 5, 2)]
    on = ["a", "a", "b", "b", "ab"]
    yield Case(name, PLANNED, TWO, rows, [0, 1, 2, 7, 9], NODES, on=on)
    name = "a job that asks for a set waits for it"
    platform = nodes_of(1, 1, 1, 1, sets=("ab", "a"))
    rows = [job(0, 9), job(0, 9, 2), job(1, 5, properties=1), job(2, 5, properties=0)]
    rows += [job(3, 5), job(6, 1, 2, properties=0)]
    on = ["c", "bd", "a", "a", "c", "ab"]
    yield Case(name, PLANNED, platform, rows, [0, 0, 1, 6, 9, 11], NODES, on=on)
    name = "a moldable job is rigid without shelves"
    rows = [job(0, 10, 2, serial=0), job(1, 10, 2, weight=2)]
    yield Case(name, PLANNED, TWO, rows, [0, 10], NODES, on=["ab", "ab"])


def _reservations() -> Iterator[Case]:
    name = "a reservation in advance is accepted and starts on time"
    rows = [job(0, 9, 2, weight=2), job(1, 9, weight=2), job(2, 5, 2, weight=2, reserved=8)]
    rows += [job(3, 1), job(4, 6)]
    starts, promises = [0, 15, 10, 9, 15], [0, 9, 10, 9, 15]
    yield Case(
        name, PLANNED, TWO, rows, starts, NODES, [3], promises, states=[0] * 5
    )  # fmt: skip
    rows = [job(0, 30, weight=2), job(1, 10, 2, weight=2, reserved=39), job(2, 10, reserved=40)]
    rows += [job(3, 20, 2, weight=2), job(4, 10, weight=2, reserved=25)]
    starts = [0, 40, -1, 50, 29]
    yield Case(
        name, PLANNED, TWO, rows, starts, NODES, promises=[0, 40, -1, 50, 29],
        on=["a", "ab", "", "ab", "b"], ends=[30, 50, -1, 70, 39], states=[0, 0, REFUSED, 0, 0],
    )  # fmt: skip
    name = "a reservation is refused where running jobs or accepted reservations leave no room"
    rows = [job(0, 9, 2), job(1, 5, 2, weight=2, reserved=7), job(2, 5, 2, weight=2, reserved=7)]
    rows += [job(3, 5, 2, reserved=9), job(4, 1, 2, reserved=9)]
    yield Case(
        name, PLANNED, TWO, rows, [0, -1, 9, -1, -1], NODES, promises=[0, -1, 9, -1, -1],
        on=["ab", "", "ab", "", ""], ends=[9, -1, 14, -1, -1],
        states=[0, REFUSED, 0, REFUSED, REFUSED],
    )  # fmt: skip
    name = "a reservation at once starts before the pass, one without length is given back"
    rows = [job(0, 3, 2, weight=2, reserved=0), job(0, 3), job(1, 0, 2, reserved=4)]
    yield Case(name, PLANNED, TWO, rows, [0, 3, 5], NODES, on=["ab", "a", "ab"])
    rows = [job(0, 5, 2, weight=2, reserved=2), job(0, 0, 2, weight=2, reserved=2)]
    yield Case(name, PLANNED, TWO, rows, [2, -1], NODES)
    name = "a reservation in advance of estimate 0 holds its nodes for a second"
    rows = [job(0, 0, weight=2, reserved=1), job(0, 2, run=0, weight=2)]
    yield Case(name, PLANNED, nodes_of(3), rows, [1, 1], NODES)
    name = "a reservation whose node is down when it is due is lost"
    platform = nodes_of(2, 2, down=(("a", 8, 30),))
    rows = [job(0, 5, 2, reserved=10)]
    yield Case(name, PLANNED, platform, rows, [10], NODES, on=[""], ends=[10], states=[LOST])


def _outages() -> Iterator[Case]:
    name = "a node that goes down takes its jobs along, but those that end then"
    platform = nodes_of(1, 1, down=(("a", 5, 9), ("b", 6, 8)))
    rows = [job(0, 8), job(0, 6), job(1, 2, reserved=6), job(1, 2, 2), job(1, 1, reserved=14)]
    yield Case(
        name, PLANNED, platform, rows, [0, 0, 7, 9, 15], NODES, on=["a", "b", "", "ab", "a"],
        ends=[5, 6, 7, 11, 16], states=[LOST, 0, LOST, 0, 0],
    )  # fmt: skip
    platform = nodes_of(1, 1, down=(("a", 10, 25), ("b", 10, 12)))
    rows = [job(0, 20, run=15), job(0, 20, run=10), job(1, 3, 2, reserved=21), job(2, 12)]
    yield Case(
        name, PLANNED, platform, rows, [0, 0, 22, 22], NODES, ends=[10, 10, 22, 34],
        states=[LOST, 0, LOST, 0],
    )  # fmt: skip
    platform = nodes_of(2, 2, down=(("a", 8, 30),))
    rows = [job(0, 20), job(0, 20, weight=2), job(1, 5, 2, weight=2)]
    yield Case(name, PLANNED, platform, rows, [0, 0, 30], NODES, states=[LOST, 0, 0])
    name = "a job without enough nodes that are up is in no plan"
    platform = nodes_of(1, 1, down=(("a", 1, 20),))
    rows = [job(0, 1), job(2, 5, 2), job(3, 30)]
    yield Case(name, PLANNED, platform, rows, [0, 33, 3], NODES, promises=[0, -1, 3])


def _times() -> Iterator[Case]:
    name = "a job of run 0 holds its node until the next pass of its instant"
    rows = [job(0, 0, 2, weight=2), job(0, 5, 2, weight=2), job(1, 5, 2, run=0)]
    yield Case(name, PLANNED, TWO, rows, [0, 0, 5], NODES, ends=[0, 5, 5])
    rows = [job(0, 0), job(0, 10), job(3, 0)]
    yield Case(name, PLANNED, nodes_of(1), rows, [0, 0, 10], NODES)
    name = "a job of estimate 0 holds nothing in the plan"
    rows = [job(0, 9), job(1, 0, 2, weight=2), job(2, 20, weight=2)]
    yield Case(name, PLANNED, TWO, rows, [0, 22, 2], NODES, promises=[0, 9, 2])
    name = "a job of estimate 0 need not find its nodes when another is put into the plan"
    rows = [job(0, 9), job(1, 0), job(1, 0, 2, weight=2), job(2, 20, weight=2), job(3, 3)]
    promises = [0, 1, 9, 2, 3]
    yield Case(name, PLANNED, TWO, rows, [0, 1, 22, 2, 3], NODES, promises=promises)
    name = "the end of a job in the plan is a candidate for those inserted later"
    # At 0 the second finds 5, where the first of the plan ends, and the third 10.
    rows = [job(0, 5), job(0, 5, weight=2), job(0, 9)]
    yield Case(name, PLANNED, nodes_of(2), rows, [0, 5, 10], NODES)
    name = "the plan is rebuilt at an early end"
    rows = [job(0, 50, 2, run=4), job(1, 5, 2, weight=2), job(2, 60)]
    yield Case(name, PLANNED, TWO, rows, [0, 4, 9], NODES)


def _shelves() -> Iterator[Case]:
    name = "short jobs that fit a short shelf go before longer ones that came earlier"
    rows = [job(0, 100, 2), job(1, 5000, 2), job(2, 600, 2), job(3, 900), job(4, 800), job(5, 9)]
    # Shelves: 2 h with the second job (15m doubled until it is long enough), and behind it, since
    # nothing fits beside it, 2 h with the third; 2 h with the fourth and fifth; 2 h with the sixth.
    starts = [0, 100, 5100, 5700, 5700, 6500]
    yield Case(name, "fcfs+demt", SINGLE, rows, starts, NODES)
    name = "a new shelf is twice the last one only while a longer job waits"
    rows = [job(0, 50, 2), job(1, 300, 2), job(2, 300, 2), job(3, 1800, 2), job(4, 200)]
    # 15m, 15m, 30m; the last goes to a new shelf of 30m, since the first two are full.
    yield Case(name, "fcfs+demt", SINGLE, rows, [0, 50, 350, 650, 2450], NODES)
    name = "at a reset most jobs go upon the first shelf"
    rows = [job(0, 100, 2), job(1, 800, 2), job(2, 700), job(3, 600), job(4, 2000, 2)]
    plain = [0, 100, 900, 900, 1600]
    yield Case(name, "fcfs+demt", SINGLE, rows, plain, NODES)
    # At 50 s nothing is free for 15m: the first selection takes no job.
    counts = {"selections": 4, "given_up": 0}
    starts = [0, 800, 100, 100, 1600]
    yield Case(name, "fcfs+demt,resets=50s", SINGLE, rows, starts, NODES, counts=counts)
    yield Case(name, "fcfs+demt,resets=50s,worth=procs", SINGLE, rows, plain, NODES)
    # At 5, when the first ends, both others need the node; their processors are the same.
    rows_of_two = [job(0, 5, weight=2), job(0, 6, run=0, weight=2), job(0, 7, run=1, weight=2)]
    policy, one = "fcfs+demt,shelf=5s,resets=5s", nodes_of(2)
    name = "worth=procs takes the first of jobs with equal processors, worth=area the longest"
    yield Case(name, f"{policy},worth=procs", one, rows_of_two, [0, 5, 5], NODES)
    yield Case(name, f"{policy},worth=area", one, rows_of_two, [0, 6, 5], NODES)
    # At 3, of 10 s, the third; of 20 s, since 11 s remain, the second and not the fourth.
    name = "a reset doubles the length where it is too short for a remaining job"
    rows_of_two = [job(0, 3, weight=2), job(0, 11, run=1, weight=2), job(0, 0)]
    rows_of_two += [job(0, 0, weight=2)]
    policy = "fcfs+demt,shelf=10s,resets=3s,worth=area"
    yield Case(name, policy, one, rows_of_two, [0, 3, 3, 4], NODES)
    # At 9 the reset puts the second on the first shelf: it takes a processor until the next pass.
    name = "jobs with equal starts are carried out in the order of insertion into the plan"
    rows_of_two = [job(7, 3, run=1, weight=3), job(7, 0)]
    policy, down = "fcfs+demt,shelf=2s,resets=9s", nodes_of(3, down=(("a", 7, 9),))
    yield Case(name, policy, down, rows_of_two, [9, 9], NODES)
    name = "without a budget a selection is the greedy one"
    counts = {"selections": 3, "given_up": 2}
    policy = "fcfs+demt,resets=50s,budget=0"
    yield Case(name, policy, SINGLE, rows[:4], [0, 800, 100, 100], NODES, counts=counts)
    name = "a reset fills the shortest shelf"
    rows = [job(0, 70, 2), job(1, 40, 2), job(2, 10), job(3, 9)]
    policy, counts = "fcfs+demt,shelf=10s,resets=1m", {"selections": 3, "given_up": 0}
    yield Case(name, policy, SINGLE, rows, [0, 80, 70, 70], NODES, counts=counts)
    policy = "fcfs+demt,shelf=80s,resets=2m"
    yield Case(name, policy, SINGLE, rows, [0, 70, 110, 110], NODES)
    yield Case("conservative knows no shelf", PLANNED, SINGLE, rows, [0, 70, 110, 110], NODES)
    name = "a moldable job has the fewest nodes that make the shelf"
    rows = [job(0, 400, 4, serial=0), job(0, 400, 4, serial=0, run=200)]
    on, four = ["ab", "cd"], nodes_of(1, 1, 1, 1)
    yield Case(name, "fcfs+demt", four, rows, [0, 0], NODES, on=on, ends=[800, 400])
    rows = [job(0, 100, 4, serial=0)]
    policy = "fcfs+demt,shelf=200s,resets=1m"
    yield Case(name, policy, four, rows, [0], NODES, on=["ab"], ends=[200])
    yield Case(name, PLANNED, four, rows, [0], NODES, on=["abcd"], ends=[100])
    # 1 s on three nodes is 1 x 3 x 1 / 1.4 = 2.1 s on one.
    name = "the run time of a moldable job on other nodes is rounded up"
    rows = [job(0, 1, 3, serial=200_000), job(0, 0, 4)]
    on, policy = ["a", "abcd"], "fcfs+demt,shelf=5s,resets=12s"
    yield Case(name, policy, four, rows, [0, 3], NODES, on=on, ends=[3, 3])
    # 11 s on one node are 6.6 s on two, of which one is down until 19.
    name = "a new shelf is as long as the last where more nodes make a moldable job short enough"
    rows = [job(13, 0), job(13, 11, run=0, serial=200_000)]
    policy, down = "fcfs+demt,shelf=10s,resets=5s", nodes_of(1, 1, down=(("b", 10, 19),))
    yield Case(name, policy, down, rows, [13, 19], NODES, on=["a", "ab"])
    name = "a moldable job has the fewest nodes that make the shelf"
    rows, policy = [Job(0, 20, 20, 2, 2, serial=0)], "fcfs+demt,shelf=40s,resets=1m"
    yield Case(name, policy, TWO, rows, [0], NODES, on=["a"], ends=[40])


def _local_times() -> Iterator[Case]:
    name = "resets are at local times"
    # The first job ends at 45 s; only a reset by then puts the short job first.
    for epoch, utc, starts in (
        (-1, "50s", [0, 45, 85]),
        (0, "0s", [0, 45, 85]),
        (7, "8s", [0, 55, 45]),
    ):
        rows = [job(0, 90, run=45), job(1, 40), job(2, 10)]
        policy = f"fcfs+demt,shelf=10s,resets=1m,utc={utc}"
        yield Case(name, policy, nodes_of(1), rows, starts, NODES, epoch=epoch)
    # Instant 0 is midnight; 1:00; 21:00, 11 h before the first reset; 11:00, 2 h before the second.
    for epoch, utc, first in (
        (-1, "0s", 8),
        (-1, "1h", 8),
        (0, "1h", 7),
        (5 * HOUR, "16h", 11),
        (6 * HOUR, "5h", 2),
    ):
        for late, relative in ((0, [0, 900, 200, 200]), (101, [101, 301, 1101, 1101])):
            begin = first * HOUR - 100
            rows = [job(0, 200, 2), job(1, 800, 2), job(2, 700), job(3, 600)]
            rows = [row._replace(submit=begin + late + row.submit) for row in rows]
            starts = [begin + start for start in relative]
            yield Case(name, f"fcfs+demt,utc={utc}", SINGLE, rows, starts, NODES, epoch=epoch)


ON_NODES = tuple(
    case
    for part in (_selection, _reservations, _outages, _times, _shelves, _local_times)
    for case in part()
)
