"""Hand-written cases on a pool whose nodes are in partitions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from schedfarm.core.machines.partitions.platform import Partitions
from tests.oracles.case import Case, PartitionJob as Job

PARTITIONS = "Partitions"

SHORT, LONG = 1, 2

MACHINE = Partitions(
    8, {}, {"short": 2, "long,short": 2, "long": 4}, {"short": SHORT, "long": LONG}
)
"""`short` has 4 processors and `long` 6, of which they share 2."""

APART = Partitions(6, {}, {"short": 2, "long": 4}, {"short": SHORT, "long": LONG})
"""`short` has 2 processors and `long` 4 others."""

CLOSED = Partitions(
    8, {}, MACHINE.regions, MACHINE.numbers,
    windows=[{"from": 10, "until": 20, "regions": {"short": 2, "long,short": 2}}],
)  # fmt: skip
"""The nodes of `short` are withheld in [10, 20), so that `long` has 4 processors then."""


def _cases() -> Iterator[Case]:
    name = "a partition is full while processors of another are free"
    rows = [Job(0, 9, 9, 4, SHORT), Job(1, 5, 5, 1, SHORT), Job(2, 5, 5, 4, LONG)]
    for rule, starts in (("none", [0, 9, 9]), ("aggressive", [0, 9, 2]), ("easy", [0, 9, 2])):
        yield Case(name, f"fcfs+{rule}", MACHINE, rows, starts, PARTITIONS)
    name = "two partitions together are full while each of them is not"
    # With 3 of short, long has 5 of its 6: the third of short takes one of the shared ones.
    rows = [Job(0, 9, 9, 3, SHORT), Job(0, 5, 5, 6, LONG), Job(0, 5, 5, 5, LONG)]
    yield Case(name, "fcfs+aggressive", MACHINE, rows, [0, 9, 0], PARTITIONS)
    name = "running jobs count as if they could be moved"
    # Whichever processors the first two took, 2 of short and 4 of long can hold them.
    rows = [Job(0, 9, 9, 4, LONG), Job(0, 9, 9, 2, SHORT), Job(1, 9, 9, 2, LONG)]
    yield Case(name, "fcfs+none", MACHINE, rows, [0, 0, 1], PARTITIONS)
    name = "a reservation does not keep the nodes that it cannot use"
    # At 9 the second takes all of short and 2 of long; the third is left 4 until then, and after.
    rows = [Job(0, 9, 9, 1, SHORT), Job(1, 5, 5, 4, SHORT), Job(2, 99, 99, 4, LONG)]
    rows += [Job(3, 99, 99, 1, LONG)]
    for rule in ("easy", "depth(1)", "conservative"):
        yield Case(name, f"fcfs+{rule}", MACHINE, rows, [0, 9, 2, 14], PARTITIONS)
    name = "the main scheduler goes on with jobs of other partitions"
    # At 1 the second does not fit, nor does the third behind it, which would; the fourth starts.
    rows = [Job(0, 9, 9, 1, SHORT), Job(1, 5, 5, 2, SHORT), Job(1, 5, 5, 1, SHORT)]
    rows += [Job(1, 5, 5, 4, LONG)]
    policy = "fcfs+slurm,bf_interval=off"
    yield Case(name, policy, APART, rows, [0, 9, 14, 1], PARTITIONS)
    # The queue depth counts the jobs that do not fit: at 9 the second and the third.
    yield Case(name, f"{policy},default_queue_depth=2", APART, rows, [0, 9, 14, 14], PARTITIONS)
    name = "the main scheduler leaves the nodes of a waiting job to it"
    # At 1 the second could take 3 of short, 1 of them shared: long is left 4 of the other 7.
    for procs, start in ((5, 14), (4, 1)):
        rows = [Job(0, 9, 9, 1, SHORT), Job(1, 5, 5, 4, SHORT), Job(1, 5, 5, procs, LONG)]
        yield Case(name, policy, MACHINE, rows, [0, 9, start], PARTITIONS)
    name = "a window withholds nodes from all of their partitions"
    # The first and the last would run into it; the second has the other 4 of long.
    rows = [Job(0, 9, 15, 1, SHORT), Job(1, 30, 30, 4, LONG), Job(2, 5, 5, 2, LONG)]
    rows += [Job(3, 9, 9, 2, LONG)]
    for rule in ("aggressive", "easy", "conservative"):
        yield Case(name, f"fcfs+{rule}", CLOSED, rows, [20, 1, 2, 20], PARTITIONS)
    name = "behind a job that does not fit, the main scheduler tests windows, too"
    # At 1 the second could take 3 of short, which leaves 4 to long, but 3 of them from 10 on.
    half = replace(CLOSED, windows=[{"from": 10, "until": 20, "regions": {"long": 3}}])
    for estimate, start in ((9, 1), (10, 20)):
        rows = [Job(0, 9, 9, 1, SHORT), Job(1, 5, 10, 4, SHORT), Job(1, 5, estimate, 4, LONG)]
        yield Case(name, "fcfs+slurm,bf_interval=off", half, rows, [0, 9, start], PARTITIONS)
    name = "cycles reserve on the nodes of each partition"
    # In the cycle at 30 the third starts beside the second's reservation; the fourth is too wide.
    rows = [Job(0, 90, 90, 1, SHORT), Job(1, 50, 50, 4, SHORT), Job(2, 90, 90, 5, LONG)]
    rows += [Job(3, 90, 90, 4, LONG)]
    policy = "fcfs+slurm,sched_interval=off,bf_resolution=1s"
    yield Case(name, policy, MACHINE, rows, [30, 120, 30, 120], PARTITIONS)


ON_PARTITIONS = tuple(_cases())
