"""Hand-written cases on hosts that belong to partitions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from schedfarm.core.machines.hosts.platform import Hosts
from tests.oracles.case import Case

HOSTS, LEAVING, LIMITS = "Hosts", "Jobs cancelled while waiting", "Slurm's limits"
MAIN_SCHEDULER = "Slurm's schedulers"

A, B, AB, ALL = 7, 0, 5, 3
"""Numbers of partitions in jobs; they are not in the order of the names."""

RULES = ("none", "aggressive", "easy", "depth(2)", "conservative", "planned", "slurm")

MAIN = "fcfs+slurm,bf_interval=off"


class Job(NamedTuple):
    """A job that takes hosts of a partition, -1 for as few as possible."""

    submit: int
    run: int
    estimate: int
    procs: int
    partition: int
    hosts: int = -1
    gpus: int = 0
    leave: int = -1


def _parted(count: int, parts: Mapping[str, str | None]) -> Hosts:
    """Return hosts with 4 processors each, in partitions of the numbers above."""
    known = {"a": A, "b": B, "a,b": AB, "all": ALL}
    numbers = {name: known[name] for name in parts}
    if {"a", "b"} <= parts.keys():
        numbers["a,b"] = AB
    return Hosts([{"count": count, "processors": 4}], partitions=parts, numbers=numbers)


APART = _parted(4, {"a": "0-1", "b": "2-3"})

LAPPING = _parted(3, {"a": "0-1", "b": "1-2"})


def _cases() -> Iterator[Case]:
    yield from _in_partitions()
    yield from _of_lists()
    yield from _as_few_hosts_as_possible()
    yield from _past_reservations()
    yield from _reserved()
    yield from _exclusive()
    yield from _next_to_windows()
    yield from _limited()
    yield from _behind_blocked_jobs()
    yield from _in_cycles()


def _in_partitions() -> Iterator[Case]:
    name = "a partition is full while hosts of another are free, which none leaves idle"
    # The first has both hosts of a. The third, of b, is behind a job that does not fit.
    rows = [Job(0, 10, 10, 8, A), Job(1, 5, 5, 1, A), Job(2, 5, 5, 8, B)]
    for rule in RULES:
        last, passed = (10, []) if rule == "none" else (2, [] if rule == "slurm" else [2])
        yield Case(name, f"fcfs+{rule}", APART, rows, [0, 10, last], HOSTS, passed)
    name = "a job takes the hosts of the lowest numbers in its partition"
    # The first, of b, has host 1. So the second finds no GPU in a, and the third that of host 2.
    mixed = [{"count": 1, "processors": 4}, {"count": 2, "processors": 4, "gpus": 1}]
    machine = replace(LAPPING, groups=mixed)
    rows = [Job(0, 10, 10, 4, B), Job(0, 5, 5, 1, A, -1, 1), Job(0, 5, 5, 1, B, -1, 1)]
    for rule in RULES:
        last = 10 if rule == "none" else 0
        yield Case(name, f"fcfs+{rule}", machine, rows, [0, 10, last], HOSTS)
    name = "two partitions share a host, which a job of one takes from the other"
    # The first has hosts 0 and 1, so that of b only host 2 is free: too few for the second, and
    # until 10 long enough for the third.
    rows = [Job(0, 10, 10, 8, A), Job(0, 10, 10, 8, B), Job(1, 4, 4, 4, B)]
    for rule in RULES:
        last = 20 if rule in ("none", "slurm") else 1
        yield Case(name, f"fcfs+{rule}", LAPPING, rows, [0, 10, last], HOSTS)
    name = "jobs of all hosts spare those of a partition if they have the highest numbers"
    # The first, of all, has hosts 0 and 1. If host 2 is in a, the second starts there, and the
    # third follows it. If host 0 is in a, the second waits for it, and the third has host 2.
    rows = [Job(0, 9, 9, 8, ALL), Job(0, 5, 5, 4, A), Job(0, 5, 5, 4, ALL)]
    for rule in RULES:
        for hosts, second, third in (("2", 0, 5), ("0", 9, 9 if rule == "none" else 0)):
            machine = _parted(3, {"a": hosts, "all": None})
            yield Case(name, f"fcfs+{rule}", machine, rows, [0, second, third], HOSTS)
    name = "a host that is in no partition remains idle"
    # Host 0 is in none, and the others do not suffice for the third.
    rows = [Job(0, 9, 9, 4, A), Job(0, 9, 9, 4, B), Job(1, 5, 5, 4, A), Job(1, 5, 5, 1, B)]
    machine = _parted(3, {"a": "1", "b": "2"})
    for rule in RULES:
        yield Case(name, f"fcfs+{rule}", machine, rows, [0, 0, 9, 9], HOSTS, [])
    name = "one partition of all hosts changes nothing"
    # As on hosts without partitions: the third is reserved on host 0 at 10, and next to that the
    # fourth and the fifth fit on host 1, until there is no processor left for the sixth.
    rows = [
        *(Job(0, 10, 10, 3, ALL), Job(0, 20, 20, 2, ALL), Job(1, 5, 5, 4, ALL)),
        *(Job(1, 30, 30, 1, ALL), Job(1, 30, 30, 1, ALL), Job(1, 30, 30, 1, ALL)),
        Job(1, 9, 9, 1, ALL),
    ]
    for rule in RULES:
        others = {"none": [10, 10, 10, 15, 15], "aggressive": [31, 1, 1, 1, 10]}
        others["slurm"] = others["none"]
        starts = [0, 0, *others.get(rule, [10, 1, 1, 15, 1])]
        yield Case(name, f"fcfs+{rule}", _parted(2, {"all": None}), rows, starts, HOSTS)


def _of_lists() -> Iterator[Case]:
    name = "a job with a list of partitions takes hosts of both at the same time"
    # The second needs three hosts: 1, 3 and 4, one of a and two of b. Host 2 is in neither.
    machine = _parted(5, {"a": "0-1", "b": "3-4"})
    rows = [
        *(Job(0, 10, 10, 4, A), Job(0, 12, 12, 12, AB, 3)),
        *(Job(0, 5, 5, 4, A), Job(0, 5, 5, 4, B)),
    ]
    for rule in RULES:
        starts = [0, 0, 10, 12]
        yield Case(name, f"fcfs+{rule}", machine, rows, starts, HOSTS, [])
    name = "a job with a list takes the lowest numbers of all, not those of its first partition"
    # The first has host 0, of b, so that the second finds only one host of b, and the third a.
    machine = _parted(3, {"a": "2", "b": "0-1"})
    rows = [Job(0, 10, 10, 4, AB), Job(0, 5, 5, 8, B), Job(1, 5, 5, 4, A)]
    for rule in RULES:
        last = 10 if rule == "none" else 1
        yield Case(name, f"fcfs+{rule}", machine, rows, [0, 10, last], HOSTS)


def _as_few_hosts_as_possible() -> Iterator[Case]:
    name = "the fewest hosts are those of the partition that have the share"
    # 8 processors are one host of a, and two of b. The last, of b, finds none.
    groups = [{"count": 1, "processors": 8}, {"count": 2, "processors": 4}]
    machine = replace(_parted(3, {"a": "0", "b": "1-2"}), groups=groups)
    rows = [Job(0, 10, 10, 8, B), Job(0, 5, 5, 8, A), Job(0, 5, 5, 2, B)]
    for rule in RULES:
        yield Case(name, f"fcfs+{rule}", machine, rows, [0, 0, 10], HOSTS)
    name = "a host outside the partition is none of those that have the share"
    # 5 on two hosts are 3 on each: hosts 0 and 1 have that, but host 1 is not in a. So the first
    # takes 2 of hosts 0, 2 and 3. The second has host 1, the third the rest of host 0 until 5.
    groups = [{"count": 2, "processors": 4}, {"count": 2, "processors": 2}]
    machine = replace(_parted(4, {"a": "0,2-3", "all": None}), groups=groups)
    rows = [Job(0, 10, 10, 5, A), Job(0, 5, 5, 4, ALL), Job(0, 5, 5, 2, A), Job(0, 5, 5, 1, A)]
    for rule in RULES:
        yield Case(name, f"fcfs+{rule}", machine, rows, [0, 0, 0, 5], HOSTS)
    name = "the same request is of other numbers of hosts in other partitions"
    # 4 GPUs are on two hosts of a, on one of b, and, since that is the least, on one of a list of
    # both. So the third waits for host 2, though hosts 0 and 1 have 4 GPUs for it at 5.
    groups = [{"count": 2, "processors": 4, "gpus": 2}, {"count": 1, "processors": 4, "gpus": 4}]
    machine = replace(_parted(3, {"a": "0-1", "b": "2"}), groups=groups)
    rows = [Job(0, 10, 10, 2, B, -1, 4), Job(0, 5, 5, 2, A, -1, 4), Job(5, 5, 5, 2, AB, -1, 4)]
    for rule in RULES:
        yield Case(name, f"fcfs+{rule}", machine, rows, [0, 0, 10], HOSTS)

    name = "a host of both partitions of a list is one host"
    # 12 on two hosts are 6 on each, which only host 1 has, that of a and of b. So the first takes 4
    # of each host, the second the rest of host 1, and the third none until 5.
    groups = [{"count": 1, "processors": size} for size in (4, 6, 4)]
    machine = replace(LAPPING, groups=groups)
    rows = [Job(0, 10, 10, 12, AB), Job(0, 5, 5, 2, A), Job(0, 5, 5, 1, B)]
    for rule in RULES:
        yield Case(name, f"fcfs+{rule}", machine, rows, [0, 0, 5], HOSTS)


def _past_reservations() -> Iterator[Case]:
    name = "a long job uses a reserved host only if it is in its own partition"
    # The second needs 3 of hosts 0 and 1 at 10, which leaves 1 of each. The fourth, of b, takes
    # that of host 1. The fifth, of b, may not use the other one; the sixth, of a, may.
    rows = [
        *(Job(0, 10, 10, 6, A, 2), Job(1, 5, 5, 6, A, 2), Job(1, 30, 30, 4, B)),
        *(Job(1, 30, 30, 1, B), Job(1, 30, 30, 1, B), Job(1, 30, 30, 1, A)),
    ]
    for rule in ("depth(1)", *RULES):
        # At 1 the main scheduler starts the third only, at 10 also those that host 0 has room for.
        others = {"none": [0, 10, 10, 10, 15, 15], "slurm": [0, 10, 1, 10, 15, 10]}
        starts = others.get(rule, [0, 10, 1, 1, 15, 1])
        yield Case(name, f"fcfs+{rule}", LAPPING, rows, starts, HOSTS)
    name = "a job is reserved on the lowest hosts of its partition, not of the machine"
    # Each host has 1 processor left. At 10 the fourth, of b, is reserved on host 1, though host 0
    # is free then, too: the fifth takes that for long. The sixth finds host 0 full and host 1
    # reserved, the seventh has host 2, and the last, which ends by 10, host 1.
    rows = [
        *(Job(0, 10, 10, 3, A), Job(0, 10, 10, 3, B), Job(0, 20, 20, 3, B), Job(1, 5, 5, 4, B)),
        *(Job(1, 30, 30, 1, A), Job(1, 30, 30, 1, A), Job(1, 30, 30, 1, B), Job(1, 9, 9, 1, A)),
    ]
    for rule in ("depth(1)", *RULES):
        others = {
            "none": [10, 10, 10, 10, 10],
            "aggressive": [31, 1, 1, 1, 10],
            # All of b is left to the fourth, host 2 included, on which it would not fit.
            "slurm": [10, 1, 10, 10, 10],
        }
        starts = [0, 0, 0, *others.get(rule, [10, 1, 10, 1, 1])]
        promises = starts if rule in ("conservative", "planned") else None
        yield Case(name, f"fcfs+{rule}", LAPPING, rows, starts, HOSTS, promises=promises)
    name = "hosts of another partition that are free earlier are no reservation"
    # The third is reserved at 20 in a, though b has a host at 10. So the fourth would delay it by
    # 1 s, and the fifth ends by then. The last is in b.
    rows = [
        *(Job(0, 20, 20, 6, A, 2), Job(0, 10, 10, 6, B, 2), Job(1, 5, 5, 4, A)),
        *(Job(1, 20, 20, 2, A, 2), Job(1, 19, 19, 2, A, 2), Job(1, 30, 30, 2, B, 2)),
    ]
    for rule in ("depth(1)", *RULES):
        others = {
            "none": [20, 25, 25, 25],
            "aggressive": [39, 1, 20, 1],
            "slurm": [20, 25, 25, 1],
        }
        starts = [0, 0, *others.get(rule, [20, 25, 1, 1])]
        yield Case(name, f"fcfs+{rule}", APART, rows, starts, HOSTS)
    name = "there is one reservation under easy, not one for each partition"
    # At 10 the third needs all of a, and the fourth all of b. The last two have the processors
    # that are left until then, and run past it in the partition without a reservation.
    rows = [
        *(Job(0, 10, 10, 6, A, 2), Job(0, 10, 10, 6, B, 2), Job(1, 6, 6, 8, A)),
        *(Job(1, 5, 5, 8, B), Job(1, 30, 30, 1, A), Job(1, 30, 30, 1, B)),
    ]
    for policy, starts in (
        ("fcfs+none", [0, 0, 10, 10, 16, 16]),
        ("fcfs+aggressive", [0, 0, 31, 31, 1, 1]),
        ("fcfs+easy", [0, 0, 10, 31, 16, 1]),
        ("spf+easy", [0, 0, 31, 10, 1, 15]),
        ("fcfs+depth(1)", [0, 0, 10, 31, 16, 1]),
        ("fcfs+depth(2)", [0, 0, 10, 10, 16, 15]),
        ("fcfs+conservative", [0, 0, 10, 10, 16, 15]),
        ("fcfs+planned", [0, 0, 10, 10, 16, 15]),
        ("fcfs+slurm", [0, 0, 10, 10, 16, 15]),
    ):
        yield Case(name, policy, APART, rows, starts, HOSTS)


def _reserved() -> Iterator[Case]:
    name = "an early end moves the reservations of jobs that may use its hosts"
    # Host 2 is reserved for the third at 10, host 0 for the fourth at 20, and hosts 2 and 3 for the
    # last, which has a list, at 15. At 4 a is free, which does not help the third. If the fourth
    # is first, it has host 0 until 12, and the last hosts 1 and 3 at 10; by start, the last is
    # first, and has hosts 0 and 1 until 10.
    rows = [
        *(Job(0, 4, 20, 8, A), Job(0, 10, 10, 8, B), Job(1, 5, 5, 4, B)),
        *(Job(1, 8, 8, 4, A), Job(1, 6, 6, 8, AB, 2)),
    ]
    promises = [0, 0, 10, 20, 15]
    for policy, fourth, last in (
        ("none", 10, 10),
        ("aggressive", 4, 10),
        ("easy", 4, 10),
        ("conservative", 4, 10),
        ("planned", 10, 4),
        ("planned,walk=arrival", 4, 10),
        ("planned,walk=queue", 4, 10),
        ("slurm", 4, 10),
    ):
        starts = [0, 0, 10, fourth, last]
        promised = promises if policy[:2] in ("co", "pl") else None
        yield Case(name, f"fcfs+{policy}", APART, rows, starts, HOSTS, promises=promised)
    name = "the hosts of a withdrawn job are no longer left to it"
    # Until 5 the second would have all of a at 10. The main scheduler has no event then.
    rows = [
        *(Job(0, 10, 10, 4, A), Job(1, 0, 5, 8, A, leave=4)),
        *(Job(1, 20, 20, 4, A), Job(1, 3, 3, 4, B)),
    ]
    others = {"none": (5, 5), "aggressive": (1, 1), "slurm": (10, 1)}
    for rule in ("none", "aggressive", "easy", "conservative", "slurm"):
        third, last = others.get(rule, (5, 1))
        yield Case(name, f"fcfs+{rule}", APART, rows, [0, -1, third, last], LEAVING)


def _exclusive() -> Iterator[Case]:
    name = "an exclusive host of two partitions runs one job of either"
    # The first has host 0, the second host 1, and the third host 2 until 5.
    machine = replace(LAPPING, exclusive=True)
    rows = [
        *(Job(0, 10, 10, 1, A), Job(0, 10, 10, 1, A), Job(0, 5, 5, 1, B)),
        *(Job(0, 5, 5, 1, B), Job(0, 5, 5, 1, A)),
    ]
    for rule in RULES:
        yield Case(name, f"fcfs+{rule}", machine, rows, [0, 0, 0, 5, 10], HOSTS, [])
    name = "no long job starts on an exclusive host that is reserved for another partition"
    # At 10 hosts 1, 2 and 3 are reserved. Of the others, which are of a and of b, two end by then,
    # and the third would not.
    machine = replace(_parted(4, {"a": "0-2", "b": "1-3"}), exclusive=True)
    rows = [
        *(Job(0, 10, 10, 2, A, 2), Job(0, 5, 5, 3, B, 3), Job(0, 30, 30, 1, A)),
        *(Job(0, 10, 10, 1, A), Job(0, 10, 10, 1, B)),
    ]
    for rule in ("depth(1)", *RULES):
        others = {"none": [0, 10, 10, 15, 15], "aggressive": [0, 30, 0, 10, 0]}
        others["slurm"] = others["none"]
        starts = others.get(rule, [0, 10, 10, 0, 0])
        yield Case(name, f"fcfs+{rule}", machine, rows, starts, HOSTS)


def _next_to_windows() -> Iterator[Case]:
    name = "a window of a partition leaves its jobs no host, and those of a list others"
    # Hosts 0 and 1 are withheld from 5 to 9. The first, of a, would be cut off; the third ends by
    # then. The second has host 2 and the last host 3.
    closed = [{"from": 5, "until": 9, "hosts": "0-1"}]
    machine = replace(APART, windows=closed)
    rows = [Job(0, 6, 6, 4, A), Job(0, 6, 6, 4, B), Job(0, 5, 5, 8, A), Job(0, 6, 6, 4, AB)]
    for rule in ("depth(1)", *RULES):
        others = {"none": [9, 9, 15, 15], "slurm": [9, 0, 15, 0]}
        starts = others.get(rule, [9, 0, 0, 0])
        promises = starts if rule in ("conservative", "planned") else None
        yield Case(name, f"fcfs+{rule}", machine, rows, starts, HOSTS, promises=promises)
    name = "jobs next to a reservation behind a window use hosts of their partitions"
    # Host 1 is withheld from 10 to 14, when the second has it with host 2. So the third has host 0
    # at 10, the fourth is 1 s too long for host 2, and the last is not.
    machine = replace(LAPPING, windows=[{"from": 10, "until": 14, "hosts": "1"}])
    rows = [
        *(Job(0, 10, 10, 8, A), Job(1, 6, 6, 8, B), Job(1, 30, 30, 4, A)),
        *(Job(1, 14, 14, 4, B), Job(1, 13, 13, 4, B)),
    ]
    for rule in ("depth(1)", *RULES):
        others = {
            "none": [0, 14, 14, 20, 20],
            "aggressive": [0, 27, 10, 1, 14],
            "slurm": [0, 14, 10, 20, 20],
        }
        starts = others.get(rule, [0, 14, 10, 20, 1])
        promises = starts if rule in ("conservative", "planned") else None
        yield Case(name, f"fcfs+{rule}", machine, rows, starts, HOSTS, promises=promises)

    name = "behind a job that does not fit, the main scheduler tests windows, too"
    # Host 2 is withheld from 6 to 9. At 1 the third, of b, has both hosts for 5 s, not for 6 s.
    machine = replace(APART, windows=[{"from": 6, "until": 9, "hosts": "2"}])
    for estimate, start in ((5, 1), (6, 9)):
        rows = [Job(0, 9, 9, 4, A), Job(1, 5, 5, 8, A), Job(1, 5, estimate, 8, B)]
        yield Case(name, MAIN, machine, rows, [0, 9, start], MAIN_SCHEDULER, [])


def _limited() -> Iterator[Case]:
    name = "the main scheduler leaves no hosts to a job that a limit holds, nor does it count it"
    # With the first, the second would run 12 processors, the third 8. Without the limit the second
    # keeps host 1 from it.
    rows = [Job(0, 10, 10, 4, A), Job(0, 5, 5, 8, A), Job(0, 5, 5, 4, A)]
    for rule in ("none", "aggressive", "easy", "conservative", "slurm"):
        policy = f"fcfs+{rule},limits=(root.GrpTRES=cpu=10)"
        yield Case(name, policy, APART, rows, [0, 10, 0], LIMITS, [])
    policy = "fcfs+slurm,limits=(root.GrpTRES=cpu=10),default_queue_depth=2"
    yield Case(name, policy, APART, rows, [0, 10, 0], LIMITS, [])
    yield Case(name, "fcfs+slurm", APART, rows, [0, 10, 15], LIMITS, [])


def _behind_blocked_jobs() -> Iterator[Case]:
    name = "the main scheduler goes on with jobs of another partition"
    # At 1 the second does not fit, and the third, which would, is of its partition. The fourth
    # starts if it is one of the jobs that are considered: with two, it is so after 14.
    rows = [Job(0, 9, 9, 4, A), Job(1, 5, 5, 8, A), Job(1, 5, 5, 4, A), Job(1, 5, 5, 8, B)]
    for options, last in (
        ("", 1),
        (",default_queue_depth=3", 1),
        (",default_queue_depth=2", 14),
        # At 4 there is a tick, with all jobs.
        (",default_queue_depth=2,sched_interval=4s", 4),
    ):
        policy = f"{MAIN}{options}"
        yield Case(name, policy, APART, rows, [0, 9, 14, last], MAIN_SCHEDULER, [])
    name = "the main scheduler uses the other hosts of an overlapping partition"
    # The second keeps host 1 idle. The third, of b, has hosts 2 and 3; if it needs three it waits.
    machine = _parted(4, {"a": "0-1", "b": "1-3"})
    for third, start in ((Job(1, 20, 20, 8, B), 1), (Job(1, 5, 5, 12, B), 14)):
        rows = [Job(0, 9, 9, 4, A), Job(1, 5, 5, 8, A), third]
        yield Case(name, MAIN, machine, rows, [0, 9, start], MAIN_SCHEDULER, [])
    name = "a job that has hosts enough, but not outside the blocked partitions, blocks its own"
    # As before, the third would fit with host 1. So hosts 2 and 3 are left to it, and not used by
    # the fourth. The fifth, of all, has host 4.
    machine = _parted(5, {"a": "0-1", "b": "1-3", "all": None})
    rows = [*rows, Job(1, 5, 5, 4, B), Job(1, 5, 5, 4, ALL)]
    yield Case(name, MAIN, machine, rows, [0, 9, 14, 19, 1], MAIN_SCHEDULER, [])
    name = "a waiting job of all hosts keeps every other from starting, and others do not"
    # The second needs 3 hosts; then no job starts. If it is of a, of which it needs 2, the third,
    # of all, has host 2, and the last, of a, none.
    machine = _parted(3, {"a": "0-1", "all": None})
    for second, last in ((Job(1, 5, 5, 12, ALL), 14), (Job(1, 5, 5, 8, A), 1)):
        rows = [Job(0, 9, 9, 4, A), second, Job(1, 5, 5, 4, ALL), Job(1, 5, 5, 4, A)]
        yield Case(name, MAIN, machine, rows, [0, 9, last, 14], MAIN_SCHEDULER, [])
    name = "a waiting job with a list keeps jobs of each of its partitions from starting"
    rows = [Job(0, 9, 9, 4, A), Job(1, 5, 5, 16, AB), Job(1, 5, 5, 4, B), Job(1, 5, 5, 4, A)]
    yield Case(name, MAIN, APART, rows, [0, 9, 14, 14], MAIN_SCHEDULER, [])
    name = "a job with a list starts on hosts of the partition that is not blocked"
    # The second keeps host 1 idle. The third has hosts 2 and 3, and the fourth none until 6.
    rows = [Job(0, 9, 9, 4, A), Job(1, 5, 5, 8, A), Job(1, 5, 5, 8, AB), Job(1, 9, 9, 4, AB)]
    yield Case(name, MAIN, APART, rows, [0, 9, 1, 6], MAIN_SCHEDULER, [])


def _in_cycles() -> Iterator[Case]:
    name = "a cycle starts jobs of a partition that the main scheduler leaves to a waiting job"
    # At 30 the main scheduler starts the fifth, which arrives, but of a nothing. The cycle reserves
    # both hosts of a for the second at 120: the third ends by then, the fourth would not. At 100
    # the second starts.
    rows = [
        *(Job(0, 100, 100, 4, A), Job(1, 5, 5, 8, A), Job(1, 20, 20, 4, A)),
        *(Job(2, 100, 100, 4, A), Job(30, 100, 100, 4, B)),
    ]
    starts = [0, 100, 30, 105, 30]
    yield Case(name, "fcfs+slurm", APART, rows, starts, MAIN_SCHEDULER, [2])
    name = "a cycle counts tests of jobs of all partitions"
    # In the cycle at 30 the first starts, and keeps a from the second until 130. The third is
    # tested as the second job at 60, and as the first at 180.
    rows = [Job(0, 100, 100, 4, A), Job(1, 5, 5, 8, A), Job(1, 20, 20, 8, B)]
    for most, last, passed in ((1, 180, []), (2, 60, [2])):
        policy = f"fcfs+slurm,sched_interval=off,bf_max_job_test={most}"
        yield Case(name, policy, APART, rows, [30, 150, last], MAIN_SCHEDULER, passed)
    name = "a cycle reserves hosts of a job's partition only"
    # In the cycle at 30 the first has host 1, until 180 in the map. Then the second is reserved on
    # hosts 1 and 2, though host 0 is free at 30. That is for the third. Of host 2 the fourth would
    # have 10 s too many; the last ends by then. It does, at 180, and the second at 200.
    rows = [
        *(Job(0, 100, 100, 4, B), Job(1, 20, 20, 8, B), Job(1, 200, 200, 4, A)),
        *(Job(1, 160, 160, 4, B), Job(1, 150, 150, 4, B)),
    ]
    policy, starts = "fcfs+slurm,sched_interval=off", [30, 180, 30, 210, 30]
    yield Case(name, policy, LAPPING, rows, starts, MAIN_SCHEDULER, [2, 4])


ON_HOSTS_IN_PARTITIONS = tuple(_cases())
