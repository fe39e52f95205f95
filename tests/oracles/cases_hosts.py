"""Hand-written cases on hosts that jobs share, or take for themselves."""

from __future__ import annotations

from collections.abc import Iterator

from schedfarm.core.machines.hosts.platform import Hosts
from tests.oracles.case import Case, HostJob as Job

HOSTS, LEAVING, LIMITS = "Hosts", "Jobs cancelled while waiting", "Slurm's limits"
CLOCK = "The clock"

TWO = Hosts([{"count": 2, "processors": 4}])

WIDE = Hosts([{"count": 2, "processors": 8}])

GPUS = Hosts([{"count": 2, "processors": 4}, {"count": 2, "processors": 4, "gpus": 2}])

# The first two jobs leave 1 processor of host 0 from 0 s, all from 10 s, and 2 of host 1 until
# 20 s. The third needs all of a host: its shadow is 10 s, on host 0. Of the long jobs two may run
# past it on host 1, though host 0 is lower and has room now. The last ends by then.
PAST = (
    *(Job(0, 10, 10, 3), Job(0, 20, 20, 2), Job(1, 5, 5, 4)),
    *(Job(1, 30, 30, 1), Job(1, 30, 30, 1), Job(1, 30, 30, 1), Job(1, 9, 9, 1)),
)

# The second needs 6 processors of each host at 10 s, which leaves 2 of each. The third takes 1 of
# host 0, so that the fourth gets 2 of host 1. For the fifth host 1 has none left, for the sixth
# host 0 has the last, and the seventh finds none. The last ends by 10.
USED_UP = (
    *(Job(0, 10, 10, 10, 2), Job(1, 5, 5, 12, 2), Job(1, 30, 30, 1), Job(1, 30, 30, 2, 1)),
    *(Job(1, 30, 30, 2, 2), Job(1, 30, 30, 1), Job(1, 30, 30, 1), Job(1, 9, 9, 1)),
)


def _cases() -> Iterator[Case]:
    yield from _on_hosts()
    yield from _next_to_reservations()
    yield from _exclusive()
    yield from _in_time()
    yield from _moved()
    yield from _put_back()
    yield from _walks()


def _on_hosts() -> Iterator[Case]:
    name = "a job whose share no host has free waits, with processors enough in all"
    # Each host has 1 of 4 left: not for 2 on one host, but for 1 on each of two.
    rows = [Job(0, 10, 10, 3), Job(0, 12, 12, 3), Job(1, 5, 5, 2), Job(1, 20, 20, 2, 2)]
    rules = (("none", 10), ("aggressive", 1), ("easy", 1), ("conservative", 1), ("planned", 1))
    for rule, last in rules:
        yield Case(name, f"fcfs+{rule}", TWO, rows, [0, 0, 10, last], HOSTS)
    name = "a job takes the host of the lowest number, not the smallest"
    # The first takes half of the large host, which the second needs whole.
    rows = [Job(0, 10, 10, 2), Job(0, 5, 5, 4), Job(0, 10, 10, 2)]
    large, small = {"count": 1, "processors": 4}, {"count": 1, "processors": 2}
    for rule, machine, starts in (
        ("none", Hosts([large, small]), [0, 10, 10]),
        ("easy", Hosts([large, small]), [0, 10, 0]),
        ("none", Hosts([small, large]), [0, 0, 5]),
        ("easy", Hosts([small, large]), [0, 0, 5]),
    ):
        yield Case(name, f"fcfs+{rule}", machine, rows, starts, HOSTS)
    name = "shares are rounded up"
    # Shares are 3, 2 and 1: the first leaves 1 on each host, although 3 of 8 are not requested.
    rows = [Job(0, 10, 10, 5, 2), Job(0, 5, 5, 3, 2), Job(0, 20, 20, 2, 2)]
    rules = (("none", 10), ("aggressive", 0), ("easy", 0), ("conservative", 0), ("planned", 0))
    for rule, last in rules:
        yield Case(name, f"fcfs+{rule}", TWO, rows, [0, 10, last], HOSTS)
    name = "a job without a number of hosts takes the fewest that have its share"
    # 5 on two hosts would be 3 on each, which one has: so it is 2 on each of three. Host 0 has 2
    # left for the second; the third finds none.
    uneven = Hosts([large, {"count": 2, "processors": 2}])
    rows = [Job(0, 10, 10, 5), Job(0, 5, 5, 2), Job(0, 5, 5, 1)]
    for rule in ("none", "easy", "conservative", "planned"):
        yield Case(name, f"fcfs+{rule}", uneven, rows, [0, 0, 5], HOSTS)
    name = "hosts with GPUs, declared last, are taken last"
    # The first two share host 0. The third has the GPUs, and the last the rest of hosts 1 to 3.
    rows = [Job(0, 9, 9, 2), Job(0, 9, 9, 2), Job(0, 9, 9, 2, 2, 4), Job(0, 9, 9, 10, 3)]
    yield Case(name, "fcfs+none", GPUS, rows, [0, 0, 0, 9], HOSTS)
    yield Case(name, "fcfs+none", GPUS, [*rows[:3], Job(0, 9, 9, 9, 3)], [0] * 4, HOSTS)
    name = "a job waits for hosts with GPUs that are taken by jobs without"
    # The second has no other host than 3. The third needs a GPU: host 2 has none left.
    rows = [Job(0, 10, 10, 12, 3, 0), Job(0, 6, 6, 4), Job(1, 5, 5, 1, -1, 1), Job(1, 3, 3, 1)]
    yield Case(name, "fcfs+easy", GPUS, rows, [0, 0, 6, 6], HOSTS)
    name = "the fewest hosts are those that have the share of every resource"
    # 3 GPUs are 2 on each of hosts 2 and 3. The second, of share (3, 1), finds no GPU until 5. The
    # third takes 3 processors of all hosts, which would delay it.
    rows = [Job(0, 5, 5, 2, -1, 3), Job(0, 9, 9, 6, 2, 1), Job(0, 9, 9, 12, 4)]
    for rule, starts in (
        ("none", [0, 5, 14]),
        ("aggressive", [0, 9, 0]),
        ("easy", [0, 5, 14]),
        ("conservative", [0, 5, 14]),
        ("planned", [0, 5, 14]),
    ):
        yield Case(name, f"fcfs+{rule}", GPUS, rows, starts, HOSTS)
    name = "memory is a resource of each host, unknown requests are 0, and others unlimited"
    # The first two leave 2 of 8 bytes on each host. The last takes 6 of both hosts; at 10 the third
    # takes 4 of host 0 until 15. The machine has no GPUs, and so no limit of them.
    stored = Hosts([{"count": 2, "processors": 4, "memory": 8}])
    rows = [
        *(Job(0, 10, 10, 1, -1, 0, 6), Job(0, 10, 10, 1, -1, 9, 6), Job(0, 5, 5, 1, -1, 0, 4)),
        *(Job(0, 5, 5, 1, -1, 0, -1), Job(0, 5, 5, 1, -1, 0, 12)),
    ]
    for rule, fourth in (("none", 10), ("easy", 0), ("conservative", 0), ("planned", 0)):
        yield Case(name, f"fcfs+{rule}", stored, rows, [0, 0, 10, fourth, 15], HOSTS)


def _next_to_reservations() -> Iterator[Case]:
    name = "a long job runs past the reservation on hosts that this leaves it"
    for rule, starts in (
        ("none", [0, 0, 10, 10, 10, 15, 15]),
        ("aggressive", [0, 0, 31, 1, 1, 1, 10]),
        ("easy", [0, 0, 10, 1, 1, 15, 1]),
        ("depth(1)", [0, 0, 10, 1, 1, 15, 1]),
        ("depth(2)", [0, 0, 10, 1, 1, 15, 1]),
        ("conservative", [0, 0, 10, 1, 1, 15, 1]),
        ("planned", [0, 0, 10, 1, 1, 15, 1]),
    ):
        backfilled = {"none": [], "aggressive": [3, 4, 5, 6]}.get(rule, [3, 4, 6])
        yield Case(name, f"fcfs+{rule}", TWO, PAST, starts, HOSTS, backfilled=backfilled)
    name = "long jobs use up what the reservation leaves on each host"
    for rule in ("easy", "depth(1)", "conservative", "planned"):
        yield Case(name, f"fcfs+{rule}", WIDE, USED_UP, [0, 10, 1, 1, 15, 1, 15, 1], HOSTS)
    name = "a second reservation keeps a long job from starting"
    # The third is reserved on host 0 at 10, the fourth on both at 20. The fifth would run past 20
    # on host 1; the last is short enough.
    rows = [
        *(Job(0, 10, 10, 4), Job(0, 20, 20, 3), Job(1, 10, 10, 4), Job(1, 10, 10, 8, 2)),
        *(Job(1, 30, 30, 1), Job(1, 15, 15, 1)),
    ]
    for rule, starts, promises in (
        ("easy", [0, 0, 10, 31, 1, 41], None),
        ("depth(1)", [0, 0, 10, 31, 1, 41], [0, 0, 10, -1, -1, -1]),
        ("depth(2)", [0, 0, 10, 20, 30, 1], [0, 0, 10, 20, -1, -1]),
        ("conservative", [0, 0, 10, 20, 30, 1], [0, 0, 10, 20, 30, 1]),
        ("planned", [0, 0, 10, 20, 30, 1], [0, 0, 10, 20, 30, 1]),
    ):
        yield Case(name, f"fcfs+{rule}", TWO, rows, starts, HOSTS, promises=promises)
    name = "a third reservation keeps a long job from starting"
    # Reserved are host 0 at 10, host 0 at 20, and all three at 30: the last would keep 1 processor
    # of host 2 until 36.
    three = Hosts([{"count": 3, "processors": 4}])
    rows = [
        *(Job(0, 10, 10, 4), Job(0, 20, 20, 4), Job(0, 30, 30, 3), Job(1, 10, 10, 4)),
        *(Job(1, 10, 10, 4), Job(1, 10, 10, 12, 3), Job(1, 35, 35, 1)),
    ]
    for rule, starts in (
        ("depth(2)", [0, 0, 0, 10, 20, 36, 1]),
        ("depth(3)", [0, 0, 0, 10, 20, 30, 40]),
        ("conservative", [0, 0, 0, 10, 20, 30, 40]),
        ("planned", [0, 0, 0, 10, 20, 30, 40]),
    ):
        yield Case(name, f"fcfs+{rule}", three, rows, starts, HOSTS)
    name = "with one processor for each host, too, reservations are of particular hosts"
    # At 1 hosts 0 and 1 are idle, and 2 and 3 run until 5, when the third has 0, 1 and 2. Host 3 is
    # left, but not idle yet: on a pool the last would start at 1.
    ones = Hosts([{"count": 4, "processors": 1}])
    rows = [Job(0, 1, 1, 2), Job(0, 5, 5, 2), Job(1, 4, 4, 3), Job(1, 9, 9, 1)]
    rules = (("none", 5), ("aggressive", 1), ("easy", 5), ("conservative", 5), ("planned", 5))
    for rule, last in rules:
        yield Case(name, f"fcfs+{rule}", ones, rows, [0, 0, 5, last], HOSTS)


def _exclusive() -> Iterator[Case]:
    name = "an exclusive host runs one job at a time"
    two = Hosts([{"count": 2, "processors": 4}], exclusive=True)
    rows = [Job(0, 10, 10, 1), Job(0, 10, 10, 1), Job(0, 5, 5, 1)]
    for rule in ("none", "aggressive", "easy", "conservative", "planned"):
        yield Case(name, f"fcfs+{rule}", two, rows, [0, 0, 10], HOSTS)
    name = "no long job starts on an exclusive host that is reserved"
    # At 10 hosts 0 and 2 are reserved; host 1 runs until 20. The last ends by 10.
    three = Hosts([{"count": 3, "processors": 4}], exclusive=True)
    rows = [
        *(Job(0, 10, 10, 1), Job(0, 20, 20, 1), Job(0, 5, 5, 2, 2)),
        *(Job(0, 30, 30, 1), Job(0, 10, 10, 1)),
    ]
    for rule, starts in (
        ("none", [0, 0, 10, 15, 15]),
        ("aggressive", [0, 0, 20, 0, 10]),
        ("easy", [0, 0, 10, 15, 0]),
        ("conservative", [0, 0, 10, 15, 0]),
        ("planned", [0, 0, 10, 15, 0]),
    ):
        yield Case(name, f"fcfs+{rule}", three, rows, starts, HOSTS)
    name = "a long job starts on an idle exclusive host that is not reserved"
    # At 10 hosts 0, 1 and 2 are reserved: one long job starts on host 3, and none on host 2.
    four = Hosts([{"count": 4, "processors": 4}], exclusive=True)
    rows = [
        *(Job(0, 10, 10, 1), Job(0, 10, 10, 1), Job(0, 5, 5, 12, 3)),
        *(Job(0, 30, 30, 1), Job(0, 30, 30, 1)),
    ]
    for rule in ("easy", "depth(1)", "conservative", "planned"):
        yield Case(name, f"fcfs+{rule}", four, rows, [0, 0, 10, 0, 15], HOSTS)


def _in_time() -> Iterator[Case]:
    name = "an early end moves reservations to another host"
    # Until host 0 is free at 4, 16 s early, the third and the fourth have host 1 at 10 and at 15.
    rows = [Job(0, 4, 20, 4), Job(0, 10, 10, 4), Job(1, 5, 5, 4), Job(1, 8, 8, 4)]
    yield Case(name, "fcfs+easy", TWO, rows, [0, 0, 4, 9], HOSTS)
    promises = [0, 0, 10, 15]
    yield Case(name, "fcfs+conservative", TWO, rows, [0, 0, 4, 9], HOSTS, promises=promises)
    name = "jobs take hosts in queue order"
    # At 10 the widest and two others, for which one host is not enough, find two hosts.
    rows = [
        *(Job(0, 10, 10, 4), Job(0, 10, 10, 4)),
        *(Job(1, 9, 9, 4), Job(2, 3, 3, 2), Job(3, 2, 2, 3)),
    ]
    for policy, starts in (
        ("fcfs+easy", [0, 0, 10, 10, 13]),
        ("saf+easy", [0, 0, 12, 10, 10]),
        ("saf+none", [0, 0, 12, 10, 10]),
        ("lcfs+conservative", [0, 0, 12, 10, 10]),
    ):
        yield Case(name, policy, TWO, rows, starts, HOSTS)
    name = "later jobs are taken in the order of backfills"
    # One processor of host 0 is free until 10: for 9 s, or for 5 s and nobody after that.
    rows = [
        *(Job(0, 10, 10, 3), Job(0, 10, 10, 4), Job(1, 5, 5, 8, 2)),
        *(Job(1, 9, 9, 1), Job(1, 5, 5, 1)),
    ]
    yield Case(name, "fcfs+easy", TWO, rows, [0, 0, 10, 1, 15], HOSTS)
    yield Case(name, "fcfs+easy,backfill=spf", TWO, rows, [0, 0, 10, 15, 1], HOSTS)
    name = "a cycle reserves hosts until rounded ends"
    # In the cycle at 30 both hosts are free at 120, and the third gets host 0. The fourth would run
    # there until 130, the fifth ends at 120. At 70 the third starts on host 1, until 90.
    rows = [
        *(Job(0, 100, 100, 3), Job(0, 70, 70, 4), Job(1, 20, 20, 4)),
        *(Job(1, 100, 100, 1), Job(1, 90, 90, 1)),
    ]
    yield Case(name, "fcfs+slurm", TWO, rows, [0, 0, 70, 90, 30], HOSTS, backfilled=[4])
    name = "a cycle starts a job on hosts that stay free for it, not on the lowest free ones"
    # At 30 the third is reserved on host 0 at 120. So the fourth starts on host 1, and the fifth,
    # until 110, on host 0, where the third starts then.
    rows = [
        *(Job(0, 100, 100, 3), Job(0, 200, 200, 3), Job(1, 20, 20, 4)),
        *(Job(1, 100, 100, 1), Job(1, 80, 80, 1)),
    ]
    yield Case(name, "fcfs+slurm", TWO, rows, [0, 0, 110, 30, 30], HOSTS, backfilled=[3, 4])
    name = "the hosts of a withdrawn job are no longer reserved"
    # The third would have all of both hosts at 10; the fourth needs 1 processor of each.
    rows = [
        *(Job(0, 10, 10, 3), Job(0, 10, 10, 3)),
        *(Job(1, 0, 5, 8, 2, leave=4), Job(1, 20, 20, 2, 2)),
    ]
    rules = (("none", 5), ("aggressive", 1), ("easy", 5), ("conservative", 5), ("slurm", 10))
    for rule, last in rules:
        yield Case(name, f"fcfs+{rule}", TWO, rows, [0, 0, -1, last], LEAVING)
    name = "limits count what jobs request, not their shares"
    # The first takes 3 processors of each host, and counts 5. The second is held: it would add 2.
    rows = [Job(0, 10, 10, 5, 2), Job(0, 10, 10, 2, 2), Job(0, 5, 5, 1)]
    for rule in ("none", "easy", "conservative", "slurm"):
        policy = f"fcfs+{rule},limits=(root.GrpTRES=cpu=6)"
        yield Case(name, policy, TWO, rows, [0, 10, 0], LIMITS, backfilled=[])


def _moved() -> Iterator[Case]:
    name = "an early end moves reservations of the plan to another host"
    # The third and the fourth have host 1 at 10 and at 15. At 4 they move to host 0, the fourth
    # behind the third. At 5 host 0 is planned until 17, host 1 is free from 10.
    rows = [
        *(Job(0, 4, 20, 4), Job(0, 10, 10, 4), Job(1, 5, 5, 4), Job(1, 8, 8, 4)),
        Job(5, 3, 3, 4),
    ]
    promises = [0, 0, 10, 15, 10]
    yield Case(name, "fcfs+planned", TWO, rows, [0, 0, 4, 9, 10], HOSTS, promises=promises)
    name = "a reservation that moves leaves hosts that it had, and keeps others"
    # Processors enough are free at 1, but for 3 on each of two hosts only from 15, on hosts 1 and
    # 2. The fourth runs on host 2 before that. At 4 host 0 is free, and host 2 from 11. So at 5
    # host 1 is free from 15 for a job that hosts 0 and 2 have no room for until 16.
    three = Hosts([{"count": 3, "processors": 4}])
    rows = [
        *(Job(0, 4, 20, 3), Job(0, 15, 15, 3), Job(1, 5, 5, 6, 2), Job(2, 9, 9, 4)),
        Job(5, 20, 20, 4),
    ]
    starts, promises = [0, 0, 11, 2, 15], [0, 0, 15, 2, 15]
    yield Case(name, "fcfs+planned", three, rows, starts, HOSTS, [3], promises)
    name = "a compression lets a job overtake on a host that the one before it cannot use"
    # At 4 the third waits for host 1 until 20. The fourth would end at 21 on host 0, and is put
    # back; the last ends by then.
    rows = [
        *(Job(0, 4, 20, 4), Job(0, 20, 20, 4), Job(1, 5, 5, 8, 2), Job(2, 17, 17, 4)),
        Job(3, 9, 9, 4),
    ]
    promises = [0, 0, 20, 25, 25]
    for walk in ("start", "arrival", "queue"):
        policy = f"fcfs+planned,walk={walk}"
        yield Case(name, policy, TWO, rows, [0, 0, 20, 25, 4], HOSTS, [4], promises)
    # If its estimate is 1 s shorter the fourth ends at 20, and takes host 0 from the last.
    rows = [*rows[:3], Job(2, 16, 16, 4), rows[4]]
    yield Case(name, "fcfs+planned", TWO, rows, [0, 0, 20, 4, 25], HOSTS, [3], promises)
    name = "a reservation has the same hosts at every instant"
    # From 5 to 10 host 0 has 2 processors, from 10 on host 1 has: for 5 s, but not for 8 s. All the
    # time 2 of 6 are free.
    uneven = Hosts([{"count": 1, "processors": 4}, {"count": 1, "processors": 2}])
    rows = [
        *(Job(0, 5, 5, 2), Job(0, 10, 10, 2), Job(0, 10, 10, 2)),
        *(Job(1, 10, 10, 4), Job(1, 8, 8, 2), Job(1, 5, 5, 2)),
    ]
    for rule in ("conservative", "planned"):
        starts = [0, 0, 0, 10, 10, 5]
        yield Case(name, f"fcfs+{rule}", uneven, rows, starts, HOSTS, [5], starts)
    name = "a plan is of GPUs and memory, too"
    # Memory is full on hosts 0 and 1, and host 2 has 6 bytes left. At 4 the fourth moves from host
    # 1 at 10 to host 0. The fifth waits for GPUs until 12; the sixth has those bytes.
    # The last needs 5 bytes of each of two hosts: 0 and 1 at 20, and at 10 after the early end.
    stored = Hosts(
        [
            {"count": 2, "processors": 4, "memory": 8},
            {"count": 1, "processors": 4, "gpus": 2, "memory": 8},
        ]
    )
    rows = [
        *(Job(0, 4, 20, 1, -1, 0, 8), Job(0, 10, 10, 1, -1, 0, 8), Job(0, 12, 12, 1, -1, 2, 2)),
        *(Job(1, 6, 6, 1, -1, 0, 7), Job(1, 5, 5, 2, -1, 1), Job(1, 30, 30, 1, -1, 0, 6)),
        Job(2, 3, 3, 2, 2, 0, 9),
    ]
    starts, promises = [0, 0, 0, 4, 12, 1, 10], [0, 0, 0, 10, 12, 1, 20]
    yield Case(name, "fcfs+planned", stored, rows, starts, HOSTS, [5, 6], promises)
    name = "a compression comes before the arrivals of its instant"
    # At 5 the third moves to 5 before the last gets 9; in queue order it would be behind the last.
    rows = [Job(0, 5, 20, 4), Job(0, 30, 30, 4), Job(1, 4, 4, 4), Job(5, 2, 2, 4)]
    promises = [0, 0, 20, 9]
    for policy, passed in (("fcfs+planned", []), ("spf+planned,walk=queue", [2])):
        yield Case(name, policy, TWO, rows, [0, 0, 5, 9], HOSTS, passed, promises)
    name = "a job of run time 0 frees its hosts in the instant of its start"
    # Both hosts are planned from 5. The first ends at 0: the second moves to 2, the end of the
    # third, or to 0 if that ends at once, too.
    rows, promises = [Job(0, 0, 5, 4), Job(0, 3, 3, 8, 2), Job(0, 2, 2, 4)], [0, 5, 0]
    yield Case(name, "fcfs+planned", TWO, rows, [0, 2, 0], CLOCK, [2], promises)
    rows = [*rows[:2], Job(0, 0, 2, 4)]
    yield Case(name, "fcfs+planned", TWO, rows, [0, 0, 0], CLOCK, [2], promises)
    # After the first pass the second moves to 0, after the next one the third.
    rows, promises = [Job(0, 0, 5, 4), Job(0, 0, 5, 8, 2), Job(0, 3, 3, 8, 2)], [0, 5, 10]
    yield Case(name, "fcfs+planned", TWO, rows, [0, 0, 0], CLOCK, [], promises)


def _put_back() -> Iterator[Case]:
    name = "a reservation that cannot begin earlier keeps its hosts, though lower ones are free"
    # The fourth has host 1 at 10, when the first would still hold half of host 0. From 4 on host 0
    # is free at 10, too. The last has half of it from 5 to 25. If reservations are made again, the
    # fourth has host 0, and the last waits for host 1.
    rows = [
        *(Job(0, 4, 20, 2), Job(0, 10, 10, 2), Job(0, 10, 10, 4), Job(1, 5, 5, 4)),
        Job(5, 20, 20, 2),
    ]
    for rule, last, passed in (("planned", 5, [4]), ("conservative", 10, [])):
        starts = [0, 0, 0, 10, last]
        yield Case(name, f"fcfs+{rule}", TWO, rows, starts, HOSTS, passed, starts)
    name = "a job starts on the hosts of its reservation, not on lower ones that are free"
    # As before, the fourth starts on host 1 at 10, when both are free. At 11 the last finds the GPU
    # of host 0.
    first = Hosts([{"count": 1, "processors": 4, "gpus": 1}, {"count": 1, "processors": 4}])
    rows = [*rows[:4], Job(11, 3, 3, 4, -1, 1)]
    for rule, last in (("planned", 11), ("conservative", 15)):
        starts = [0, 0, 0, 10, last]
        yield Case(name, f"fcfs+{rule}", first, rows, starts, HOSTS, [], starts)
    name = "jobs that are due at one instant have the hosts that they reserved, in any order"
    # At 10 the fourth, on host 1, starts before the third, on host 0. The GPU is free at 13.
    second = Hosts([{"count": 1, "processors": 4}, {"count": 1, "processors": 4, "gpus": 1}])
    rows = [
        *(Job(0, 10, 10, 4), Job(0, 10, 10, 4), Job(1, 9, 9, 4), Job(1, 3, 3, 4)),
        Job(11, 2, 2, 4, -1, 1),
    ]
    starts, policy = [0, 0, 10, 10, 13], "spf+planned,walk=queue"
    yield Case(name, policy, second, rows, starts, HOSTS, [], starts)
    name = "an exclusive host stays reserved for a job that is put back"
    # The third and the fourth have host 1 at 10 and at 17. At 4 the shorter moves to host 0, until
    # 10; the third could have that host at 10, but keeps host 1, for whose GPU the last waits. If
    # the third moves first, it has host 0, and the fourth host 1 until 16.
    exclusive = Hosts(second.groups, exclusive=True)
    rows = [
        *(Job(0, 4, 20, 1), Job(0, 10, 10, 1), Job(1, 7, 7, 1), Job(2, 6, 6, 1)),
        Job(5, 3, 3, 1, -1, 1),
    ]
    yield Case(name, "spf+planned,walk=queue", exclusive, rows, [0, 0, 10, 4, 17], HOSTS, [2])
    yield Case(name, "fcfs+planned", exclusive, rows, [0, 0, 4, 10, 16], HOSTS, [])


def _walks() -> Iterator[Case]:
    name = "a compression goes by start, by arrival or in queue order"
    # The third has both hosts at 10, the fourth host 1 at 8. At 4 the fourth moves to host 0. If it
    # is the first to do so, the third has both hosts at 8; else it finds host 1 still reserved, and
    # starts at 10, where nothing ends or arrives.
    rows = [Job(0, 4, 10, 4), Job(0, 8, 8, 4), Job(1, 5, 5, 8, 2), Job(1, 2, 2, 4)]
    for policy, third, passed in (
        ("fcfs+planned", 8, [3]),
        ("fcfs+planned,walk=arrival", 10, [3]),
        ("fcfs+planned,walk=queue", 10, [3]),
        ("spf+planned,walk=queue", 8, []),
        ("lpf+planned,walk=queue", 10, [3]),
    ):
        starts, promises = [0, 0, third, 4], [0, 0, 10, 8]
        yield Case(name, policy, TWO, rows, starts, HOSTS, passed, promises)
    name = "the shortest, or one that starves, has the first choice of a host"
    # At 4 host 0 is free. The fourth, moved first, has it until 7. The third has waited 3 s then,
    # and the fourth 2 s.
    rows = [Job(0, 4, 10, 4), Job(0, 20, 20, 4), Job(1, 6, 6, 4), Job(2, 3, 3, 4)]
    promises, shortest = [0, 0, 10, 16], "spf+planned,walk=queue"
    for policy, starts in (
        ("fcfs+planned", [0, 0, 4, 10]),
        (shortest, [0, 0, 7, 4]),
        (f"{shortest},threshold=2s", [0, 0, 4, 10]),
        (f"{shortest},threshold=3s", [0, 0, 7, 4]),
    ):
        yield Case(name, policy, TWO, rows, starts, HOSTS, [], promises)
    name = "jobs that arrive at one instant get hosts by position, not in queue order"
    # The shortest comes last, and needs both hosts; at 10 it is first in the queue, and not due.
    rows = [
        *(Job(0, 10, 10, 4), Job(0, 10, 10, 4)),
        *(Job(1, 9, 9, 4), Job(1, 3, 3, 4), Job(1, 2, 2, 8, 2)),
    ]
    for policy, starts, passed in (
        ("spf+planned,walk=queue", [0, 0, 10, 10, 19], [2, 3]),
        ("spf+conservative", [0, 0, 12, 12, 10], []),
    ):
        yield Case(name, policy, TWO, rows, starts, HOSTS, passed, starts)
    name = "a job starts at a reserved instant without another event"
    # At 3 the third finds host 1 reserved until 12 for the fourth and the fifth, which then move to
    # host 0. The machine is idle from 9 to 12, but at 10 too short for the last. By start, those
    # two are moved before the third.
    rows = [
        *(Job(0, 3, 12, 4), Job(0, 9, 9, 4), Job(1, 5, 5, 8, 2), Job(1, 2, 2, 4)),
        *(Job(1, 1, 1, 4), Job(10, 4, 4, 4)),
    ]
    for policy, starts, last in (
        ("fcfs+planned,walk=arrival", [0, 0, 12, 3, 5, 17], 17),
        ("fcfs+planned", [0, 0, 9, 3, 5, 14], 14),
    ):
        promises = [0, 0, 12, 9, 11, last]
        yield Case(name, policy, TWO, rows, starts, CLOCK, [3, 4], promises)


ON_HOSTS = tuple(_cases())
