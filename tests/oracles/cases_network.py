"""Hand-written cases on networks of clusters `a`, `b` and so on."""

from __future__ import annotations

from collections.abc import Iterator

from tests.oracles.case import Case, NetworkJob as Job
from tests.support.strategies import network_of

NETWORKS = "Networks"

ALONE = 2**10
"""Seconds in which no other job ends."""

BESIDE = Job(0, 2, 2, 2, 0), Job(0, ALONE, ALONE, 2, 1)
"""On clusters of 4 they leave two and two processors; from 2 s on there are two more on a."""

RESERVED = Job(0, 10, 10, 2, 0), Job(0, 30, 30, 2, 1), Job(1, 5, 5, 3, 0)
"""On clusters of 3 and 2: at 10 s the third is reserved on a, of which one processor is free."""

LEAVING = (
    *(Job(0, 10, 10, 1, 0), Job(0, 2, 2, 2, 1), Job(0, 7, 7, 1, 1), Job(0, 30, 30, 1, 2)),
    *(Job(1, 5, 5, 3, 1), Job(1, 20, 20, 1, 2), Job(1, 5, 5, 2, 0)),
)
"""On clusters of 2, 3 and 1: at 2 s the last, reserved on a, migrates to b until 7 s."""


def talking(submit: int, run: int, procs: int = 3, communication: int = 1000) -> Job:
    """Return a job that asks 100 kbit/s of each link if it is split into two and one."""
    return Job(submit, run, run, procs, 0, communication, 100, 1000)


def crossing(submit: int, estimate: int, origin: int, run: int = -1) -> Job:
    """Return a job whose three processors on two clusters ask 10 kbit/s of each link."""
    return Job(submit, estimate if run < 0 else run, estimate, 3, origin, 1000, 10, 1000)


IGNORED = "fcfs+ics,links=ignored"

TALKING = (*BESIDE, talking(0, 10), talking(2, 3))
"""Two that ask links of 100 for 100 each."""

FOLLOWING = Job(3, 1, 1, 2), Job(3, 1, 1, 4)
"""On clusters of 4 they start on a when the second, then both of `TALKING` have ended."""

CROSSING = crossing(0, 10, 0), crossing(4, 3, 1)
"""Both ask for all of the middle of three links."""


def _links() -> Iterator[Case]:
    # The two share links of 100 from 2 s on, and each has half of what it asks for. What was done
    # stays done: at 8 s the second has done its 3 s, the first 5 of its 10.
    name = "jobs that ask for too much are slowed down"
    linked, free = network_of(4, 4, links=(100, 100)), network_of(4, 4)
    on, starts = ["aa", "bb", "aab", "aab"], [0, 0, 0, 2]
    rows, on_all = (*TALKING, *FOLLOWING), [*on, "aa", "aaaa"]
    for network, first, second in ((linked, 13, 8), (free, 10, 5)):
        ends = [2, ALONE, first, second, second + 1, first + 1]
        later = [*starts, second, first]
        yield Case(name, IGNORED, network, rows, later, NETWORKS, on=on_all, ends=ends)
    name = "computation takes as long as ever"
    # Half of the time is communication: at half the share 3 s take 4.5, which ends at 7 s.
    rows = (*BESIDE, talking(0, 10, communication=0), talking(2, 3, communication=500), *FOLLOWING)
    ends = [2, ALONE, 10, 7, 8, 11]
    yield Case(name, IGNORED, linked, rows, [*starts, 7, 10], NETWORKS, ends=ends)
    # Of 5 s 125/1000 are communication, which takes 13/5 as long: 4.375 s and 1.625 s.
    name = "a job that is slowed down to a whole second ends at it"
    mesh = network_of(3, 3, 1, links=(20, 50, 5))
    rows = (Job(11, 0, 0, 2), Job(11, 0, 0, 7), Job(11, 5, 5, 5, 0, 125, 25))
    on = ["aa", "aaabbbc", "abbbc"]
    yield Case(name, IGNORED, mesh, rows, [11, 17, 11], NETWORKS, on=on, ends=[11, 17, 17])
    # Processors 0 1 2 / 3 4 in parts of 1, 3 and 1: 2, 4 and 2 neighbours, so 6, 11 and 6 kbit/s.
    name = "the mesh has rows of ceil(sqrt n)"
    rows = (*rows[:2], Job(11, 1, 1, 5, 0, 1, 11))
    yield Case(name, IGNORED, mesh, rows, [11, 13, 11], NETWORKS, on=on, ends=[11, 13, 13])
    # Of nine in rows of three the second part has 5 neighbours, 25 / 4 kbit/s: 7 of 5. The 6 s
    # take 6 x (0.583 + 0.417 x 7/5) = 7.0008 s; with a demand of 6 it would be 6.5 s.
    name = "a demand is rounded up"
    four = network_of(4, 2, 1, 2, links=(20, 5, 50, 200))
    rows = (Job(0, 6, 6, 9, 0, 417, 5), Job(1, 0, 0, 2))
    yield Case(name, IGNORED, four, rows, [0, 8], NETWORKS, ends=[8, 8])
    # Of nine the second part has 5 neighbours: 45 / 4 kbit/s of 20.
    name = "a neighbour in the mesh has a quarter of a processor's rate"
    four = network_of(3, 2, 1, 3, links=(20, 20, 20, 50))
    yield Case(name, "fcfs+ics", four, [Job(0, 0, 0, 9, 0, 0, 9)], [0], NETWORKS)
    # One of three has 2 neighbours: 9 x (0.112 x 1 x 2 / 2 + 0.888 x 2 / 4) = 5.004 kbit/s of 5.
    name = "the mesh adds to the all-to-all part of a demand"
    three = network_of(1, 3, 2, links=(5, 50, 5))
    rows = (Job(7, 2, 2, 3), Job(8, 0, 0, 3, 0, 0, 9, 112))
    yield Case(name, "fcfs+ics", three, rows, [7, 9], NETWORKS)
    name = "a job waits for links that are kept"
    on = ["aa", "bb", "aab", "aaa"]
    later, ends, starts = [0, 0, 0, 10], [2, ALONE, 10, 13], [0, 0, 0, 2]
    yield Case(name, "fcfs+ics", linked, TALKING, later, NETWORKS, on=on, ends=ends)
    plenty, on = network_of(4, 4, links=(200, 200)), ["aa", "bb", "aab", "aab"]
    yield Case(name, "fcfs+ics", plenty, TALKING, starts, NETWORKS, on=on)
    # From 4 s on both do half a second's work each second; at 10 s one is through.
    name = "ends slide later and earlier"
    three = network_of(2, 2, 2, links=(10, 10, 10))
    on = ["aab", "bcc"]
    rows = (*CROSSING, Job(5, 1, 1, 2, 2), Job(5, 1, 1, 5))
    starts, ends = [0, 4, 10, 13], [13, 10, 11, 14]
    yield Case(name, IGNORED, three, rows, starts, NETWORKS, on=[*on, "cc", "aabbc"], ends=ends)
    yield Case("one link, one job", "fcfs+ics", three, CROSSING, [0, 10], NETWORKS, ends=[10, 13])
    # The last is reserved when the first is predicted to end: at 16 s, then at 13 s again. It
    # could not start at 6 s on its own cluster before the second job's end.
    name = "predicted ends slide with the others"
    rows = (*CROSSING, Job(5, 9, 9, 2, 0, 1000, 0, 1000))
    policy = "fcfs+icsb(1),links=ignored"
    yield Case(name, policy, three, rows, [0, 4, 10], NETWORKS, on=[*on, "cc"])
    # At 3 s the first is predicted to end at 18; by then a job is reserved on b. What ends at 18
    # may start beside; what ends at 19 waits for processors of a.
    uneven = network_of(4, 5, links=(100, 100))
    for estimate, start, last, wide in ((15, 3, "b", "aab"), (16, 8, "a", "abb")):
        rows = (*BESIDE, Job(0, 3, 3, 1, 1), talking(0, 10), talking(2, 3))
        rows += (Job(3, 5, 5, 3, 1), Job(3, estimate, estimate, 1, 1))
        on = ["aa", "bb", "b", "aab", "aab", wide, last]
        ends = [2, ALONE, 3, 13, 8, 13, start + estimate]
        starts = [0, 0, 0, 0, 2, 8, start]
        # A wide job of 5 s that asks for nothing takes as long as ever.
        yield Case(name, policy, uneven, rows, starts, NETWORKS, on=on, ends=ends)
    name = "a job that ends at once slows none"
    rows = (crossing(0, 10, 0), crossing(4, 3, 1, run=0), crossing(6, 0, 2), Job(7, 1, 1, 5))
    yield Case(name, IGNORED, three, rows, [0, 4, 6, 10], NETWORKS, ends=[10, 4, 6, 11])
    name = "a job of run 0 ends before another pass"
    rows = (Job(0, 0, 5, 4), Job(0, 3, 3, 4), Job(0, 4, 4, 4))
    on = ["aabb"] * 3
    pair = network_of(2, 2)
    yield Case(name, "fcfs+ics", pair, rows, [0, 0, 3], NETWORKS, on=on, ends=[0, 3, 7])
    name = "a job that no split serves is slowed where links are ignored"
    narrow = network_of(2, 2, links=(9, 9))
    rows = (crossing(0, 8, 0), Job(1, 1, 1, 4))
    yield Case(name, IGNORED, narrow, rows, [0, 9], NETWORKS, ends=[9, 10])


def _migration() -> Iterator[Case]:
    name = "jobs of a cluster go first there"
    rows = Job(0, 9, 9, 2, 0), Job(1, 5, 5, 2, 0), Job(1, 5, 5, 2, 1)
    pair = network_of(2, 2)
    yield Case(name, "fcfs+ics", pair, rows, [0, 6, 1], NETWORKS, on=["aa", "bb", "bb"])
    policy = "fcfs+isolated(1)"
    yield Case(name, policy, pair, rows, [0, 9, 1], NETWORKS, on=["aa", "aa", "bb"])
    name = "in one queue of all clusters the first to arrive goes first"
    policy = "fcfs+ics,queue=global"
    yield Case(name, policy, pair, rows, [0, 1, 6], NETWORKS, on=["aa", "bb", "bb"])
    # The third needs all of d, and the last all of b, or of d at 3 s.
    rows = Job(0, 9, 9, 2, 0), Job(1, 5, 5, 2, 0), Job(2, 1, 1, 5, 3), Job(2, 1, 1, 4, 1)
    for to, there, starts, last in (
        ("most", "dd", [0, 1, 6, 2], "bbbb"),
        ("least", "cc", [0, 1, 2, 2], "bbbb"),
        ("first", "bb", [0, 1, 2, 3], "dddd"),
    ):
        name, four = "a job migrates as the option says", network_of(2, 4, 3, 5)
        policy, on = f"fcfs+ics,links=unused,to={to}", ["aa", there, "ddddd", last]
        yield Case(name, policy, four, rows, starts, NETWORKS, on=on)
    # At 1 three processors are free on b and on c; the last needs all four of c, free at 3 s.
    rows = Job(0, 9, 9, 2, 0), Job(0, 3, 3, 1, 2), Job(1, 9, 9, 2, 0), Job(2, 1, 1, 4, 2)
    for to in ("most", "least"):
        name, three = "ties of room go by declared order", network_of(2, 3, 4)
        policy, on = f"fcfs+ics,links=unused,to={to}", ["aa", "c", "bb", "cccc"]
        yield Case(name, policy, three, rows, [0, 0, 1, 3], NETWORKS, on=on)
    rows = Job(0, 9, 9, 2, 0), Job(1, 5, 5, 2, 0)
    name = "a job gives a reservation up for a start elsewhere"
    for policy, starts in (("fcfs+icsb(10)", [0, 1]), ("fcfs+isolated(10)", [0, 9])):
        yield Case(name, policy, pair, rows, starts, NETWORKS)
    # At 12 two of a are free: the last passes the sixth, which needs three there, before the
    # seventh, of c, could take one.
    name = "under ics jobs of a cluster pass one that does not fit there"
    rows = (Job(2, 7, 7, 3), Job(4, 4, 4, 3), Job(4, 4, 4, 3), Job(5, 8, 8, 1), Job(5, 4, 4, 1))
    rows += (Job(5, 1, 1, 3), Job(12, 0, 0, 1, 2), Job(12, 1, 1, 2))
    on, starts = ["aaa", "bbb", "bbb", "c", "a", "bbb", "c", "aa"], [2, 4, 8, 5, 9, 12, 13, 12]
    policy = f"{IGNORED},to=least"
    yield Case(name, policy, network_of(3, 3, 1), rows, starts, NETWORKS, on=on)
    rows = Job(0, 9, 9, 2, 0), Job(1, 5, 5, 2, 0), Job(1, 4, 4, 2, 0)
    name = "the queue order decides which job migrates"
    yield Case(name, "fcfs+ics", pair, rows, [0, 1, 6], NETWORKS, on=["aa", "bb", "bb"])


def _splits() -> Iterator[Case]:
    name = "a split has few parts, most on the first clusters, and fits the links"
    for procs, links, parts in (
        (3, (), "ccc"),  # It migrates.
        (4, (), "aabb"),  # Two clusters, and most on the first ones.
        (5, (), "aaccc"),
        (5, (150, 150, 150, 150), "aaccc"),  # 100 x 2 x 3 / 4, on either side.
        (5, (149, 150, 150, 150), "bbccc"),
        (5, (149, 149, 150, 150), "abccc"),
        (8, (), "aabbcccd"),
    ):
        four = network_of(2, 2, 3, 1, links=links)
        rows = [Job(0, 5, 5, procs, 0, 0, 100, 1000)]
        yield Case(name, "fcfs+ics", four, rows, [0], NETWORKS, on=[parts])
    # Four of a and two of c, 6 of 5 kbit/s: it ends at 2 s. With one each of b and c at 1 s.
    name = "a split has the fewest clusters, however slow their links are"
    three = network_of(4, 1, 3, links=(20, 20, 5))
    rows = [Job(0, 1, 1, 6, 0, 1, 7), Job(1, 0, 0, 3)]
    yield Case(name, IGNORED, three, rows, [0, 2], NETWORKS, on=["aaaacc", "aaa"])
    name = "without links a job waits for one cluster"
    rows = [Job(0, 9, 9, 1, 1), Job(0, 5, 5, 3, 0)]
    pair = network_of(2, 3)
    yield Case(name, "fcfs+ics", pair, rows, [0, 0], NETWORKS, on=["b", "aab"])
    policy = "fcfs+ics,links=unused"
    yield Case(name, policy, pair, rows, [0, 9], NETWORKS, on=["b", "bbb"])
    rows = [Job(0, 9, 9, 1, 0), Job(1, 9, 9, 2, 0), Job(2, 4, 4, 1, 0), Job(3, 5, 5, 2, 0)]
    yield Case(name, policy, network_of(2, 2), rows, [0, 1, 2, 9], NETWORKS)


def _reservations() -> Iterator[Case]:
    name = "a job of another origin comes if it is gone when a reservation begins"
    for rule, estimate, start in (
        ("icsb(1)", 9, 1),
        ("icsb(1)", 10, 15),
        ("ics", 10, 1),
        ("isolated(1)", 9, 30),
    ):
        rows = (*RESERVED, Job(1, estimate, estimate, 1, 1))
        third = 11 if rule == "ics" else 10
        starts = [0, 0, third, start]
        yield Case(name, f"fcfs+{rule}", network_of(3, 2), rows, starts, NETWORKS)
    rows = (Job(0, 5, 5, 1, 1), Job(0, 20, 20, 2, 0), Job(1, 9, 9, 2, 1))
    rows += (Job(2, 4, 4, 1, 0), Job(2, 3, 3, 1, 0))
    pair = network_of(2, 2)
    yield Case(name, "fcfs+icsb(1)", pair, rows, [0, 0, 5, 14, 2], NETWORKS)
    yield Case(name, "fcfs+ics", pair, rows, [0, 0, 8, 2, 5], NETWORKS)
    # One of a and one of c, up to the reservation on a; or two of a when it has ended.
    name = "parts keep reservations too"
    for estimate, start, parts in ((9, 1, "ac"), (10, 15, "aa")):
        rows = (*RESERVED[:2], Job(0, 20, 20, 1, 2), RESERVED[2], Job(1, estimate, estimate, 2, 2))
        starts, on = [0, 0, 0, 10, start], ["aa", "bb", "c", "aaa", parts]
        yield Case(name, "fcfs+icsb(1)", network_of(3, 2, 2), rows, starts, NETWORKS, on=on)
    # At 0 the last would run on b beside the second until 2, beyond the reservations at 1.
    name = "elsewhere a reservation of estimate 0 holds its second"
    rows = (Job(0, 1, 1, 2, 0), Job(0, 1, 1, 2, 1), Job(0, 0, 0, 2, 1), Job(0, 0, 0, 2, 1))
    rows += (Job(0, 0, 2, 1, 0),)
    policy = "fcfs+icsb(2),to=first"
    yield Case(name, policy, network_of(2, 3), rows, [0, 0, 1, 1, 1], NETWORKS)
    # The second, of estimate 0, takes three of a: one is left for the first, and four of b.
    name = "room is no more than the processors that are free now"
    rows = (Job(14, 0, 0, 5), Job(14, 0, 0, 3), Job(14, 1, 1, 11))
    policy, on = "lpf+icsb(2),links=ignored", ["abbbb", "aaa", "aaaabbbbccc"]
    yield Case(name, policy, network_of(4, 4, 4), rows, [14, 14, 14], NETWORKS, on=on)
    name = "a job wider than its cluster holds no reservation and is not counted"
    rows = (Job(0, 10, 10, 2, 0), Job(0, 10, 10, 2, 1), Job(1, 5, 5, 4, 0), Job(1, 5, 5, 2, 0))
    on = ["aa", "bb", "aabb", "aa"]
    starts = [0, 0, 15, 10]
    yield Case(name, "fcfs+icsb(1)", network_of(2, 2), rows, starts, NETWORKS, [3], on=on)


def _overtaking() -> Iterator[Case]:
    three = network_of(2, 3, 1)
    # The sixth job was before the last in the queue, and in the third part has room on a alone;
    # the fifth, of b, finds three processors there when the last has ended.
    name = "a job that starts elsewhere leaves its reservation"
    on = ["a", "bb", "b", "c", "bbb", "a", "bb"]
    starts = [0, 0, 0, 0, 7, 2, 2]
    yield Case(name, "fcfs+icsb(1)", three, LEAVING, starts, NETWORKS, [], on=on)
    name = "only a waiting job of its own origin is overtaken"
    rows, starts = (*LEAVING, Job(1, 1, 1, 1, 0)), [*starts, 1]
    yield Case(name, "fcfs+icsb(1)", three, rows, starts, NETWORKS, [7], on=[*on, "a"])
    rows = (Job(0, 9, 9, 2, 0), Job(0, 9, 9, 1, 1), Job(1, 5, 5, 3, 0), Job(2, 3, 3, 1, 0))
    rows += (Job(2, 3, 3, 1, 1),)
    # The fourth migrates to the processor of b that is free at 2 s, before the fifth, if the
    # fifth had not gone first on its own cluster.
    name = "a job of another cluster overtakes none of its own"
    starts = [0, 0, 9, 5, 2]
    yield Case(name, "fcfs+ics", network_of(2, 2), rows, starts, NETWORKS, [3])
    # The second migrates at 1 s, so the third is reserved where the fourth was: nothing of another
    # origin delays the fourth, and yet it starts later than on its cluster alone.
    name = "a holder that leaves may delay another"
    rows = (Job(0, 5, 5, 3, 0), Job(0, 10, 10, 2, 0), Job(0, 10, 10, 3, 0), Job(0, 10, 10, 2, 0))
    rows += (Job(0, 1, 1, 2, 1),)
    pair = network_of(4, 2)
    for rule, starts, on in (
        ("isolated(3)", [0, 5, 15, 5, 0], ["aaa", "aa", "aaa", "aa", "bb"]),
        ("icsb(3)", [0, 1, 5, 11, 0], ["aaa", "bb", "aaa", "bb", "bb"]),
    ):
        yield Case(name, f"fcfs+{rule}", pair, rows, starts, NETWORKS, on=on)


NETWORK = tuple(
    case for part in (_links, _migration, _splits, _reservations, _overtaking) for case in part()
)
