"""Hand-written cases on a pool with GPUs and licences."""

from __future__ import annotations

from collections.abc import Iterator

from schedfarm.core.machines.resources.platform import Resources
from tests.oracles.case import Case, ResourceJob as Job

RESOURCES, LEAVING = "Resources", "Jobs cancelled while waiting"

WINDOWS = "Windows"

MACHINE = Resources(4, {"gpus": 2, "licences": 1})

# The third job needs both GPUs, which one job holds until 10 s, and the licence, which another
# holds until 20 s: its shadow is 20 s, the latest of both, with 1 processor, no GPU and no licence
# to spare. The fourth job may run past it without GPUs, the fifth may not with one, and the last
# ends by then.
EXTRA = (
    *(Job(0, 10, 10, 1, 1), Job(0, 20, 20, 1, 0, 1), Job(1, 5, 5, 3, 2, 1)),
    *(Job(1, 30, 30, 1), Job(1, 30, 30, 1, 1), Job(1, 19, 19, 1, 1)),
)


def _cases() -> Iterator[Case]:
    name = "a job that requests nothing of a resource passes where its extra is 0"
    for rule, starts in (
        ("none", [0, 0, 20, 20, 25, 25]),
        ("aggressive", [0, 0, 31, 1, 1, 10]),
        ("easy", [0, 0, 20, 1, 25, 1]),
        ("depth(1)", [0, 0, 20, 1, 25, 1]),
        ("conservative", [0, 0, 20, 1, 25, 1]),
        ("planned", [0, 0, 20, 1, 25, 1]),
    ):
        yield Case(name, f"fcfs+{rule}", MACHINE, EXTRA, starts, RESOURCES)
    name = "a job that lacks one resource takes none of the others"
    # At 1 the third needs the licence until 9; the last finds the GPUs that it does not hold.
    rows = [Job(0, 9, 9, 1, 0, 1), Job(1, 5, 5, 1, 2, 1), Job(2, 7, 7, 1, 2)]
    yield Case(name, "fcfs+easy", MACHINE, rows, [0, 9, 2], RESOURCES)
    name = "a long backfill uses the extra of each resource up"
    # At 9 the second leaves a processor and a GPU: the third takes the GPU, the fourth lacks one.
    rows = [Job(0, 9, 9, 2), Job(1, 5, 5, 3, 1), Job(1, 30, 30, 1, 1), Job(1, 30, 30, 1, 1)]
    yield Case(name, "fcfs+easy", MACHINE, rows, [0, 9, 1, 14], RESOURCES)
    name = "an early end moves reservations to gaps in every resource"
    # At 4 the first job ends early. Of the reservations at 10, 15 and 10 the second and the fourth
    # move to 4; the third waits for a GPU until the second ends.
    rows = [Job(0, 4, 10, 4), Job(1, 5, 5, 2, 2), Job(2, 5, 5, 2, 1), Job(3, 3, 3, 2)]
    promises = [0, 10, 15, 10]
    yield Case(name, "fcfs+planned", MACHINE, rows, [0, 4, 9, 4], RESOURCES, promises=promises)
    name = "the request of a withdrawn job is no longer in the way"
    # The second needs both GPUs, of which the first has one until 10; the third needs the other.
    rows = [Job(0, 10, 10, 3, 1), Job(1, 0, 5, 1, 2, 0, 4), Job(2, 20, 20, 1, 1)]
    rules = (("none", 5), ("aggressive", 2), ("easy", 5), ("conservative", 5), ("slurm", 10))
    for rule, third in rules:
        yield Case(name, f"fcfs+{rule}", MACHINE, rows, [0, -1, third], LEAVING)
    name = "a job that a window would cut off waits for its end"
    # From 5 s until 8 s two of four processors are withheld: the second job would run until 6. At
    # 8 it leaves one processor of those that the first does not hold until 9.
    half = Resources(4, {}, windows=[{"from": 5, "until": 8, "processors": 2}])
    rows = [Job(0, 9, 9, 2), Job(1, 5, 5, 1), Job(1, 4, 4, 2), Job(2, 9, 9, 1)]
    for rule, starts in (
        ("none", [0, 8, 9, 9]),
        ("aggressive", [0, 8, 1, 8]),
        ("easy", [0, 8, 1, 8]),
        ("conservative", [0, 8, 1, 8]),
        ("planned", [0, 8, 1, 8]),
    ):
        yield Case(name, f"fcfs+{rule}", half, rows, starts, WINDOWS)
    name = "windows of the whole machine leave the time between them"
    # Withheld are 4 to 6 and 10 to 12: the first job lasts longer than the 4 s between them. The
    # others need all processors, the last one at an instant only.
    whole = Resources(4, {"gpus": 2}, windows=[{"from": 4, "until": 6, "every": 6, "times": 2}])
    rows = [Job(0, 5, 5, 1, 1), Job(0, 4, 4, 4), Job(0, 4, 4, 4, 2), Job(0, 0, 0, 4)]
    for rule, starts in (("none", [12, 17, 21, 25]), ("easy", [12, 0, 6, 17])):
        yield Case(name, f"fcfs+{rule}", whole, rows, starts, WINDOWS)


ON_RESOURCES = tuple(_cases())
