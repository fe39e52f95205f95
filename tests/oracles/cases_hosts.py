"""Hand-written cases on hosts that jobs share, or take for themselves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from schedfarm.core.machines.hosts.platform import Hosts
from tests.oracles.case import Case, HostJob as Job

HOSTS, LEAVING, LIMITS = "Hosts", "Jobs cancelled while waiting", "Slurm's limits"
CLOCK = "The clock"

TWO = Hosts([{"count": 2, "processors": 4}])

WIDE = Hosts([{"count": 2, "processors": 8}])

GPUS = Hosts([{"count": 2, "processors": 4}, {"count": 2, "processors": 4, "gpus": 2}])

RULES = ("none", "aggressive", "easy", "depth(2)", "conservative", "planned")

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
    yield from _before_windows()
    yield from _on_other_hosts()
    yield from _reserved_past_windows()
    yield from _at_events_of_windows()


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


def _closed(machine: Hosts, *windows: tuple[int, int, str]) -> Hosts:
    """Return a machine with windows, each with its begin, end and hosts."""
    keys = ("from", "until", "hosts")
    return replace(machine, windows=[dict(zip(keys, one, strict=True)) for one in windows])


def _before_windows() -> Iterator[Case]:
    name = "a job that a window would cut off by 1 s waits, or takes a host of a higher number"
    # From 5 to 9 host 0 is withheld. So the first takes host 1, and the second, 1 s shorter, host 0
    # until 5. The third finds host 1 at 6, and the last host 0 at 9.
    rows = [Job(0, 6, 6, 4), Job(0, 5, 5, 4), Job(0, 6, 6, 2), Job(6, 3, 3, 4)]
    for rule in (*RULES, "slurm"):
        machine = _closed(TWO, (5, 9, "0"))
        yield Case(name, f"fcfs+{rule}", machine, rows, [0, 0, 6, 9], HOSTS, [])
    name = "windows of all hosts leave the time between them"
    # Withheld are 4 to 6 and 10 to 12. The first lasts longer than the 4 s between them; the second
    # and the third need both hosts for just these.
    rows = [Job(0, 5, 5, 1), Job(0, 4, 4, 8, 2), Job(0, 4, 4, 8, 2), Job(0, 1, 3, 4)]
    all_closed = replace(TWO, windows=[{"from": 4, "until": 6, "every": 6, "times": 2}])
    for rule in (*RULES, "slurm"):
        starts = [12, 17, 21, 25] if rule in ("none", "slurm") else [12, 0, 6, 12]
        yield Case(name, f"fcfs+{rule}", all_closed, rows, starts, HOSTS)
    name = "it is the estimate that a window cuts off, not the run time"
    # From 5 to 8 all is withheld. The first would end at 2, but is predicted to end at 6. From 8 on
    # it has host 0, by its estimate until 14, and in fact until 10.
    rows = [Job(0, 2, 6, 4), Job(0, 5, 5, 4), Job(1, 4, 4, 8, 2)]
    for rule in RULES:
        starts = [8, 8, 13] if rule == "none" else [8, 0, 10]
        promises = [8, 0, 14] if rule in ("conservative", "planned") else None
        machine = _closed(TWO, (5, 8, "0-1"))
        yield Case(name, f"fcfs+{rule}", machine, rows, starts, HOSTS, promises=promises)
    name = "a window may begin at 0"
    # If host 0 is withheld until 4, the second follows the first on host 1, and the third takes
    # host 0 at 4. If all is, the first two start at 4, and the third when the first ends.
    rows = [Job(0, 2, 2, 4), Job(0, 3, 3, 2), Job(0, 4, 4, 4)]
    for rule in (*RULES, "slurm"):
        yield Case(name, f"fcfs+{rule}", _closed(TWO, (0, 4, "0")), rows, [0, 2, 4], HOSTS, [])
        yield Case(name, f"fcfs+{rule}", _closed(TWO, (0, 4, "0-1")), rows, [4, 4, 6], HOSTS, [])
    name = "a job that arrives as a window begins waits, and one that arrives as it ends starts"
    rows = [Job(3, 1, 1, 4), Job(4, 1, 1, 4), Job(7, 2, 2, 4)]
    for rule in (*RULES, "slurm"):
        yield Case(name, f"fcfs+{rule}", _closed(TWO, (4, 7, "0-1")), rows, [3, 7, 7], HOSTS, [])
    name = "overlapping windows withhold a host until the last of them ends"
    # Host 0 is withheld from 4 to 12, which neither the end at 6 nor that at 9 changes, and both
    # hosts are from 12 to 14. At 14 the first has host 0, and the fourth half of host 1.
    machine = _closed(TWO, (4, 9, "0"), (5, 6, "0"), (7, 12, "0"), (12, 14, "0-1"))
    rows = [
        *(Job(0, 20, 20, 4), Job(0, 12, 12, 4), Job(0, 4, 4, 2), Job(0, 5, 5, 2)),
        Job(5, 1, 1, 4),
    ]
    for rule in RULES:
        starts = [14, 14, 26, 26, 31] if rule == "none" else [14, 0, 0, 14, 19]
        yield Case(name, f"fcfs+{rule}", machine, rows, starts, HOSTS)
    name = "repeated windows"
    # The host is withheld from 2, 7 and 12 on for 2 s each. The second fits from 4 to 7; the third
    # and the last, next to each other, from 9 to 12; the fourth until 2; and the first from 14.
    machine = replace(
        Hosts([{"count": 1, "processors": 2}]),
        windows=[{"from": 2, "until": 4, "every": 5, "times": 3, "hosts": [0]}],
    )
    rows = [
        *(Job(0, 4, 4, 1), Job(0, 3, 3, 2), Job(0, 3, 3, 1), Job(0, 2, 2, 1)),
        Job(0, 3, 3, 1),
    ]
    for rule in (*RULES, "slurm"):
        starts = [14, 18, 21, 21, 23] if rule in ("none", "slurm") else [14, 4, 9, 0, 9]
        yield Case(name, f"fcfs+{rule}", machine, rows, starts, HOSTS)
    # The first cycle is at 1, when 1 s is left. At 9 the fourth is tested before the last, which
    # then finds no 3 s before 14. The main scheduler starts it then, behind the first.
    policy, starts = "fcfs+slurm,bf_interval=1s,bf_resolution=1s", [14, 4, 9, 9, 14]
    yield Case(name, policy, machine, rows, starts, HOSTS, [1, 2, 3])


def _on_other_hosts() -> Iterator[Case]:
    name = "hosts of a job are on both sides of one that is withheld"
    # Host 1 is withheld from 4 to 9. So the first has hosts 0 and 2 until 6, and the second host 1
    # until 4. The third needs all three at 9. Until then the last is short enough for hosts 0 and
    # 2, and the fourth is not.
    rows = [
        *(Job(0, 6, 6, 8, 2), Job(0, 4, 4, 4), Job(4, 3, 3, 12, 3), Job(4, 4, 4, 8, 2)),
        Job(4, 3, 3, 8, 2),
    ]
    for exclusive in (False, True):
        three = Hosts([{"count": 3, "processors": 4}], exclusive)
        for rule in RULES:
            others = {"none": [0, 0, 9, 12, 16], "aggressive": [0, 0, 10, 6, 13]}
            expected = others.get(rule, [0, 0, 9, 12, 6])
            passed = {"none": [], "aggressive": [3]}.get(rule, [4])
            machine = _closed(three, (4, 9, "1"))
            yield Case(name, f"fcfs+{rule}", machine, rows, expected, HOSTS, passed)
    name = "an exclusive host that is withheld is neither free nor reserved before the end"
    # Host 1 is withheld from 3 to 8, and the second ends by then. The third waits for host 0, at 4
    # by the estimate of the first, and at 2 in fact. The fourth needs both hosts at 8. At 6 the
    # last has host 0 until then, and the fifth, 1 s longer, waits.
    machine = _closed(Hosts(TWO.groups, exclusive=True), (3, 8, "1"))
    rows = [
        *(Job(0, 2, 4, 1), Job(0, 3, 3, 1), Job(1, 4, 4, 1), Job(2, 5, 5, 2, 2)),
        *(Job(2, 3, 3, 1), Job(2, 2, 2, 1)),
    ]
    for rule, starts, promises in (
        ("none", [0, 0, 2, 8, 13, 13], None),
        ("aggressive", [0, 0, 2, 10, 6, 8], None),
        ("easy", [0, 0, 2, 8, 13, 6], None),
        ("depth(1)", [0, 0, 2, 8, 13, 6], [0, 0, 4, 8, -1, -1]),
        ("depth(2)", [0, 0, 2, 8, 13, 6], [0, 0, 4, 8, 13, -1]),
        ("conservative", [0, 0, 2, 8, 13, 6], [0, 0, 4, 8, 13, 6]),
        ("planned", [0, 0, 2, 8, 13, 6], [0, 0, 4, 8, 13, 6]),
    ):
        yield Case(name, f"fcfs+{rule}", machine, rows, starts, HOSTS, promises=promises)
    name = "a job needs the same hosts at every instant, though one is always open"
    # Host 0 is withheld from 4 to 8, host 1 until 4 and from 9 to 12. So 6 s are on host 0 from 8,
    # 5 s on host 1 from 4, and once more from 12, and 4 s on host 0 from 0.
    machine = _closed(TWO, (4, 8, "0"), (0, 4, "1"), (9, 12, "1"))
    rows = [Job(0, 6, 6, 4), Job(0, 5, 5, 4), Job(0, 4, 4, 4), Job(0, 5, 5, 4)]
    for rule in RULES:
        starts = [8, 12, 14, 17] if rule == "none" else [8, 4, 0, 12]
        promises = starts if rule in ("conservative", "planned") else None
        yield Case(name, f"fcfs+{rule}", machine, rows, starts, HOSTS, promises=promises)
    name = "a job waits for hosts with GPUs that are withheld, and others start without"
    # Hosts 2 and 3 are withheld from 5 to 9, when the first gets host 2, and the second may have
    # hosts 0, 1 and 3. The third uses both GPUs of host 2 until 5, and the fourth host 0 until 9.
    # The last would have host 1 until 10, and so delays the second, if that has a reservation.
    rows = [
        *(Job(0, 6, 6, 1, -1, 1), Job(0, 6, 6, 12, 3), Job(0, 5, 5, 1, -1, 2)),
        *(Job(0, 9, 9, 4), Job(0, 10, 10, 4)),
    ]
    for rule, starts in (
        ("none", [9, 9, 15, 15, 15]),
        ("aggressive", [9, 10, 0, 0, 0]),
        ("easy", [9, 10, 0, 0, 0]),
        ("depth(1)", [9, 10, 0, 0, 0]),
        ("depth(2)", [9, 9, 0, 0, 15]),
        ("conservative", [9, 9, 0, 0, 15]),
        ("planned", [9, 9, 0, 0, 15]),
    ):
        yield Case(name, f"fcfs+{rule}", _closed(GPUS, (5, 9, "2-3")), rows, starts, HOSTS)


def _reserved_past_windows() -> Iterator[Case]:
    name = "a later job that would delay nobody waits because of a window"
    # Host 1 is withheld from 10 to 20, and so the second has both hosts at 20. The third would be
    # cut off on host 1 from 1 to 13, and has host 0 from 8, when the first ends, to 20. The fourth
    # has host 1 until 10. The last is 1 s too long for host 0 at 8.
    rows = [
        *(Job(0, 8, 8, 4), Job(1, 5, 5, 8, 2), Job(1, 12, 12, 1), Job(1, 9, 9, 1)),
        Job(1, 13, 13, 1),
    ]
    for rule in ("none", "aggressive", "easy", "depth(1)", *RULES[3:]):
        others = {"none": [0, 20, 25, 25, 25], "aggressive": [0, 21, 8, 1, 8]}
        expected = others.get(rule, [0, 20, 8, 1, 25])
        passed = {"none": [], "aggressive": [2, 3, 4]}.get(rule, [2, 3])
        promises = expected if rule in ("conservative", "planned") else None
        machine = _closed(TWO, (10, 20, "1"))
        yield Case(name, f"fcfs+{rule}", machine, rows, expected, HOSTS, passed, promises)
    name = "a reservation begins at the end of a window, and a second one behind it"
    # Host 0 is withheld from 10, when the first ends, to 14. There the third is reserved until 20,
    # and the fourth from then on both hosts. The fifth has the last processor of host 1 at 1 if
    # nothing is reserved for the fourth; else the last has it until 20.
    rows = [
        *(Job(0, 10, 10, 4), Job(0, 20, 20, 3), Job(1, 6, 6, 4), Job(1, 5, 5, 8, 2)),
        *(Job(1, 25, 25, 1), Job(1, 19, 19, 1)),
    ]
    for rule, starts, promises in (
        ("none", [0, 0, 14, 20, 25, 25], None),
        ("aggressive", [0, 0, 14, 39, 1, 20], None),
        ("easy", [0, 0, 14, 26, 1, 31], None),
        ("depth(1)", [0, 0, 14, 26, 1, 31], [0, 0, 14, -1, -1, -1]),
        ("depth(2)", [0, 0, 14, 20, 25, 1], [0, 0, 14, 20, -1, -1]),
        ("conservative", [0, 0, 14, 20, 25, 1], [0, 0, 14, 20, 25, 1]),
        ("planned", [0, 0, 14, 20, 25, 1], [0, 0, 14, 20, 25, 1]),
    ):
        machine = _closed(TWO, (10, 14, "0"))
        yield Case(name, f"fcfs+{rule}", machine, rows, starts, HOSTS, promises=promises)
    name = "one of two later jobs ends before a window, as the order of backfills has it"
    # Host 0 is withheld from 8 to 12, and has the second then. Before that it has 7 s for one job.
    rows = [Job(0, 20, 20, 4), Job(1, 9, 9, 4), Job(1, 7, 7, 4), Job(1, 5, 5, 4)]
    for rule in ("aggressive", "easy", "depth(1)"):
        machine = _closed(TWO, (8, 12, "0"))
        yield Case(name, f"fcfs+{rule}", machine, rows, [0, 12, 1, 20], HOSTS, [2])
        policy = f"fcfs+{rule},backfill=spf"
        yield Case(name, policy, machine, rows, [0, 12, 20, 1], HOSTS, [3])
    name = "no reservation moves before a window that would cut its job off"
    # Host 0 is withheld from 8 to 12, and host 1 runs until 15: so the third is reserved at 12 and
    # the fourth at 15. At 3 host 0 is free: for 5 s, which is enough for the fourth.
    rows = [Job(0, 3, 8, 4), Job(0, 15, 15, 4), Job(1, 6, 6, 4), Job(1, 5, 5, 4)]
    machine, promises = _closed(TWO, (8, 12, "0")), [0, 0, 12, 15]
    for rule in RULES:
        starts = [0, 0, 12, 15] if rule == "none" else [0, 0, 12, 3]
        promised = promises if rule in ("conservative", "planned") else None
        yield Case(name, f"fcfs+{rule}", machine, rows, starts, HOSTS, promises=promised)
    # If the third lasts 5 s, too, it moves to 3, and the fourth to 12.
    rows = [*rows[:2], Job(1, 5, 5, 4), rows[3]]
    for rule in RULES:
        promised = promises if rule in ("conservative", "planned") else None
        yield Case(name, f"fcfs+{rule}", machine, rows, [0, 0, 3, 12], HOSTS, [], promised)
    name = "a reservation that a window keeps from moving keeps its host, too"
    # All is withheld from 10 to 14. The third has host 0 at 14, and so the fourth host 1. At 4 the
    # third moves to host 0 until 10, for which the fourth is too long. If it keeps host 1, the last
    # has the GPU of host 0 at 14; if reservations are made again, the fourth has host 0 until 23.
    first = Hosts([{"count": 1, "processors": 4, "gpus": 1}, {"count": 1, "processors": 4}])
    machine = _closed(first, (10, 14, "0-1"))
    rows = [
        *(Job(0, 4, 10, 3), Job(0, 10, 10, 3), Job(1, 6, 6, 3), Job(1, 9, 9, 3)),
        Job(5, 3, 3, 4, -1, 1),
    ]
    for rule in (*RULES, "slurm"):
        last = 14 if rule == "planned" else 23
        promised = [0, 0, 14, 14, last] if rule in ("conservative", "planned") else None
        yield Case(name, f"fcfs+{rule}", machine, rows, [0, 0, 4, 14, last], HOSTS, [], promised)
    name = "walks next to a window"
    # Host 1 is withheld from 6 to 10. There the third is reserved from 10, the last from 15, and
    # both hosts for the fourth from 20. At 3 host 0 is free: the third moves to 3, and the last to
    # 8. If the fourth comes after the last, it has both hosts at 13; else host 1 is still reserved
    # from 15 on, and it stays. Made again in queue order it is before the last, and has them at 10.
    rows = [
        *(Job(0, 3, 20, 4), Job(0, 6, 6, 4), Job(1, 5, 5, 4), Job(1, 8, 8, 8, 2)),
        Job(2, 5, 5, 2),
    ]
    promises = [0, 0, 10, 20, 15]
    for policy, fourth, last, passed in (
        ("fcfs+planned", 13, 8, [4]),
        ("fcfs+planned,walk=arrival", 20, 8, [4]),
        ("fcfs+planned,walk=queue", 20, 8, [4]),
        ("spf+planned,walk=queue", 13, 8, []),
        ("lpf+planned,walk=queue", 20, 8, [2, 4]),
        ("fcfs+conservative", 10, 18, []),
    ):
        starts, machine = [0, 0, 3, fourth, last], _closed(TWO, (6, 10, "1"))
        yield Case(name, policy, machine, rows, starts, HOSTS, passed, promises)


def _at_events_of_windows() -> Iterator[Case]:
    name = "each begin and end is an event, though the host is withheld before and after it"
    # Host 1 has one processor left until 12, and host 0 is withheld from 5. The third, shortest, is
    # the head and needs two. From 7 on both starve, and the second is first: at the next event.
    rows = [Job(0, 12, 12, 3), Job(1, 7, 7, 1), Job(1, 5, 5, 2)]
    for machine, second in (
        (_closed(TWO, (5, 12, "0")), 12),
        (_closed(TWO, (5, 9, "0"), (9, 12, "0")), 9),
        (_closed(TWO, (5, 12, "0"), (7, 9, "0")), 7),
        (replace(TWO, windows=[{"from": 5, "until": 9, "every": 4, "times": 2, "hosts": "0"}]), 9),
    ):
        yield Case(name, "spf+none,threshold=5s", machine, rows, [0, second, 12], HOSTS, [])
    name = "the main scheduler sees a window begin or end, but no withdrawal"
    # The second leaves at 7. Host 1 has had a processor for the third all the time.
    rows = [Job(0, 12, 12, 3), Job(1, 0, 5, 2, leave=6), Job(1, 7, 7, 1)]
    one, adjacent = _closed(TWO, (5, 12, "0")), _closed(TWO, (5, 9, "0"), (9, 12, "0"))
    for rule, machine, last in (("none", one, 7), ("slurm", one, 12), ("slurm", adjacent, 9)):
        yield Case(name, f"fcfs+{rule}", machine, rows, [0, -1, last], LEAVING)
    name = "no job starts at the end of a window if it leaves then"
    # If it stays 1 s longer it starts, has run at once, and leaves its hosts to the second.
    for leave, start in ((8, -1), (9, 8)):
        rows = [Job(0, 0, 5, 8, 2, leave=leave), Job(0, 5, 5, 4)]
        for rule in ("none", "aggressive", "easy", "conservative", "slurm"):
            machine = _closed(TWO, (0, 8, "0-1"))
            yield Case(name, f"fcfs+{rule}", machine, rows, [start, 8], LEAVING)
    name = "a cycle knows windows to the second, and jobs until rounded ends"
    # Host 0 is withheld from 70 to 95, and host 1 runs until 200. In cycles the third is reserved
    # at 95, and so starts at this event. At 60 the last has just 10 s on host 0. If it expects 11,
    # it waits for host 1.
    machine = _closed(TWO, (70, 95, "0"))
    rows = [
        *(Job(0, 200, 200, 4), Job(0, 40, 40, 4), Job(1, 100, 100, 4), Job(1, 60, 60, 4)),
        Job(1, 10, 10, 4),
    ]
    yield Case(name, "fcfs+slurm", machine, rows, [0, 0, 95, 195, 60], HOSTS, [4])
    rows = [*rows[:4], Job(1, 10, 11, 4)]
    yield Case(name, "fcfs+slurm", machine, rows, [0, 0, 95, 195, 200], HOSTS, [])
    name = "a reservation whose rounded end is in a window has hosts for its job only"
    # In the cycle at 1 the first is reserved from 20 to 50 on both hosts, behind the window. Two of
    # the others end before that, although at 10 in the map; the last waits for the first to end.
    machine = _closed(TWO, (8, 20, "0-1"))
    rows = [Job(0, 30, 30, 8, 2), Job(0, 6, 6, 4), Job(0, 6, 6, 4), Job(0, 6, 6, 4)]
    policy = "fcfs+slurm,bf_interval=1s,bf_resolution=5s"
    yield Case(name, policy, machine, rows, [20, 1, 1, 50], HOSTS, [1, 2])
    name = "cycles reserve past a window of all hosts"
    # In the cycle at 5 the first would be cut off at 12, and is reserved from 18 to 28. The second
    # ends at 12, the third 1 s later. The cycle at 20 starts the first. With the main scheduler
    # that starts at 0, and the others at the end of the window.
    machine = _closed(Hosts(TWO.groups, exclusive=True), (12, 18, "0-1"))
    rows = [Job(0, 10, 10, 2, 2), Job(0, 7, 7, 1), Job(0, 8, 8, 1)]
    options = "bf_interval=5s,bf_resolution=4s"
    policy = f"fcfs+slurm,sched_interval=off,{options}"
    yield Case(name, policy, machine, rows, [20, 5, 30], HOSTS, [1])
    yield Case(name, f"fcfs+slurm,{options}", machine, rows, [0, 18, 18], HOSTS, [])


ON_HOSTS = tuple(_cases())
