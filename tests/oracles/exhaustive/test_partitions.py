"""Partitions: which jobs fit, against a maximum flow; planted faults; and what is refused."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from schedfarm.core.arrays import Int64
from schedfarm.core.audit import audit
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.errors import InputError
from schedfarm.core.machines.partitions.platform import Partitions, connected_unions
from schedfarm.core.machines.platform import platform_from_dict
from schedfarm.core.machines.pool.platform import Pool
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.workload import Workload
from tests.oracles.case import workload
from tests.oracles.cases_partitions import CLOSED, LONG, MACHINE, SHORT
from tests.oracles.limits import with_partitions
from tests.oracles.priorities import workload as some_jobs


def machines(count: int) -> Iterator[tuple[random.Random, Partitions]]:
    """Return random machines of one to five partitions, with a list of two of them."""
    dice = random.Random(7)
    for _ in range(count):
        names = "abcde"[: dice.randrange(1, 6)]
        regions = {
            ",".join(sorted(dice.sample(names, dice.randrange(1, len(names) + 1)))):
            dice.randrange(1, 9)
            for _ in range(dice.randrange(1, 7))
        }  # fmt: skip
        known = sorted({name for label in regions for name in label.split(",")})
        if len(known) > 1 and dice.random() < 0.5:
            known.append(",".join(dice.sample(known, 2)))
        more = dice.choice((0, 0, 3))
        numbers = {name: number for number, name in enumerate(known)}
        yield dice, Partitions(sum(regions.values()) + more, {}, regions, numbers)


def placeable(machine: Partitions, procs: Int64) -> bool:
    """Whether processors of each partition, int64[k], can be placed on its nodes: a flow."""
    regions, numbers = list(machine.nodes), list(machine.labels)
    source, sink = 0, 1 + len(numbers) + len(regions)
    capacity = np.zeros((sink + 1, sink + 1), np.int32)
    for k, (label, number) in enumerate(numbers):
        capacity[source, 1 + k] = procs[number]
        for r, (region, _) in enumerate(regions):
            if {*label.split(",")} & {*region.split(",")}:
                capacity[1 + k, 1 + len(numbers) + r] = procs.sum()
    for r, (_, size) in enumerate(regions):
        capacity[1 + len(numbers) + r, sink] = size
    return bool(maximum_flow(csr_array(capacity), source, sink).flow_value == procs.sum())


def needs(machine: Partitions, procs: Int64) -> Int64:
    """Return the vector that jobs of all partitions take together, int64[resources]."""
    some = np.flatnonzero(procs)
    jobs = Workload.from_columns(
        submit=some, run=some, estimate=some, procs=procs[some], partition=some,
        processors=int(procs.sum()) + 1,
    )  # fmt: skip
    total: Int64 = machine.requests(jobs).sum(axis=0)
    return total


def test_unions_say_what_a_maximum_flow_says() -> None:
    """Of jobs in random partitions, near the capacity of some union."""
    found = {True: 0, False: 0}
    for dice, machine in machines(2000):
        room = machine.size
        procs = np.array([dice.randrange(room // 2 + 2) for _ in machine.numbers], np.int64)
        if not procs.any():
            continue
        fits = bool((needs(machine, procs) <= np.array(machine.amounts)).all())
        assert fits == placeable(machine, procs), (machine, procs)
        found[fits] += 1
    assert min(found.values()) > 200


def test_no_union_follows_from_the_others() -> None:
    """Without it, more processors of jobs would fit within it than it has."""
    tried = 0
    for _, machine in machines(300):
        each = np.eye(len(machine.numbers), dtype=np.int64)
        rows = np.array([needs(machine, one) for one in each]).T
        for r in range(machine.shared, len(machine.names)):
            others = np.arange(len(rows)) != r
            limits = np.array(machine.amounts)[others]
            best = linprog(-rows[r], A_ub=rows[others], b_ub=limits, method="highs")
            assert -best.fun > machine.amounts[r] + 1e-6, (machine, machine.names[r])
            tried += 1
    assert tried > 300


def test_names_of_unions() -> None:
    """The largest partitions within a union name it; the whole machine is no union."""
    machine = Partitions(
        14, {"gpus": 2}, {"a": 1, "a,b": 2, "b,c": 3, "c": 4, "all": 4},
        {"a": 1, "b": 2, "c": 3, "all": 4},
    )  # fmt: skip
    found = ("processors", "gpus", "a", "b", "c", "all", "a+b", "b+c", "a+b+c")
    assert machine.names == found
    assert machine.amounts[2:] == (3, 5, 7, 4, 6, 9, 10)
    assert machine.units[-1] == "processors of a+b+c"


def test_it_is_its_plain_form() -> None:
    """Also with regions in another order."""
    plain = MACHINE.to_dict()
    assert platform_from_dict(plain) == MACHINE
    regions = {"long": 4, "short,long": 2, "short": 2}
    assert Partitions(8, {}, regions, {"long": LONG, "short": SHORT}) == MACHINE
    assert hash(replace(MACHINE, processors=9)) != hash(MACHINE)


def test_digests_count_the_partition_of_jobs_here() -> None:
    """On a pool they do not."""
    one = Workload.from_columns(
        submit=[0], run=[1], estimate=[1], procs=[1], partition=[SHORT], platform=MACHINE
    )
    other = Workload.from_columns(
        submit=[0], run=[1], estimate=[1], procs=[1], partition=[LONG], platform=MACHINE
    )
    assert one.digest() != other.digest()
    pools = [replace(work, platform=Pool(8)) for work in (one, other)]
    assert pools[0].digest() == pools[1].digest()


def moved(schedule: Schedule, job: int, start: int) -> Schedule:
    """Return a schedule with another start of one job."""
    starts = schedule.start.copy()
    starts[job] = start
    return replace(schedule, start=starts)


@pytest.mark.parametrize(
    ("procs", "partitions", "job", "rule", "why"),
    [
        ((3, 2), (SHORT, SHORT), 1, "partitions", "need 5 of 4 processors of short"),
        ((4, 5), (SHORT, LONG), 1, "capacity", "need 9 of 8 processors"),
        ((4, 3), (LONG, LONG), 1, "partitions", "job 2 (3 processors; partition long)"),
    ],
)
def test_too_much_of_a_partition_is_found(
    procs: tuple[int, int], partitions: tuple[int, int], job: int, rule: str, why: str
) -> None:
    """By the starts alone."""
    work = Workload.from_columns(
        submit=[0, 0], run=[9, 9], estimate=[9, 9], procs=procs, partition=partitions,
        platform=MACHINE,
    )  # fmt: skip
    good = simulate(work, "fcfs+conservative")
    assert good.start.tolist() == [0, 9]
    assert audit(good, "fcfs+conservative").ok
    verdict = audit(moved(good, job, 5), "fcfs+conservative")
    assert (verdict.ok, verdict.rule) == (False, rule)
    assert why in verdict.why


def test_a_job_on_nodes_of_a_window_is_found() -> None:
    """A window takes its nodes from each of their partitions."""
    work = Workload.from_columns(
        submit=[0, 0], run=[9, 9], estimate=[9, 9], procs=[3, 4], partition=[LONG, LONG],
        platform=replace(CLOSED, windows=[{"from": 10, "until": 20, "regions": {"long": 3}}]),
    )  # fmt: skip
    good = simulate(work, "fcfs+conservative")
    assert good.start.tolist() == [0, 20]
    verdict = audit(moved(good, 1, 11), "fcfs+conservative")
    assert (verdict.ok, verdict.rule) == (False, "windows")
    assert "when windows and the running jobs need 7 of 6 processors of long" in verdict.why


def test_a_wrong_order_is_found() -> None:
    """A job of another partition that a reservation would have held back."""
    rows = [(0, 9, 9, 3), (1, 5, 5, 4), (2, 50, 50, 5)]
    work = replace(workload(8, rows), platform=MACHINE, partition=_fixed([SHORT, SHORT, LONG]))
    good = simulate(work, "fcfs+easy")
    assert good.start.tolist() == [0, 9, 14]
    verdict = audit(moved(good, 2, 2), "fcfs+easy")
    assert (verdict.ok, verdict.rule, verdict.job) == (False, "fcfs+easy", 2)


def _fixed(values: list[int]) -> Int64:
    array = np.array(values, np.int64)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize("rule", ["easy", "conservative", "slurm"])
def test_where_all_nodes_are_in_all_partitions_it_is_a_pool(rule: str) -> None:
    """Bit by bit."""
    dice = random.Random(3)
    for _ in range(30):
        work = some_jobs(dice)
        if work.platform.name != "pool":
            continue
        numbers = {str(one): one for one in range(3)}
        platform = Partitions(work.processors, {}, {"0,1,2": work.processors}, numbers)
        partition = _fixed([dice.randrange(3) for _ in range(len(work))])
        here = replace(work, platform=platform, partition=partition)
        policy = f"fcfs+{rule}"
        assert simulate(here, policy).start.tolist() == simulate(work, policy).start.tolist()


def test_partitions_apart_are_machines_of_their_own_under_depth() -> None:
    """With a reservation for each job, no job waits for one of another partition."""
    dice = random.Random(5)
    differing = 0
    for _ in range(60):
        work = some_jobs(dice)
        if work.platform.name != "pool":
            continue
        partition = _fixed([dice.randrange(2) for _ in range(len(work))])
        size = work.processors
        platform = Partitions(2 * size, {}, {"0": size, "1": size}, {"0": 0, "1": 1})
        here = simulate(replace(work, platform=platform, partition=partition), "fcfs+conservative")
        for number in (0, 1):
            mine = partition == number
            if mine.any():
                alone = simulate(replace(work, names={}).take(mine), "fcfs+conservative")
                assert here.start[mine].tolist() == alone.start.tolist()
        differing += here.start.tolist() != simulate(work, "fcfs+conservative").start.tolist()
    assert differing > 10


def test_larger_machines_admit_at_least_the_same_jobs() -> None:
    """Regions grow with the machine."""
    dice = random.Random(9)
    for _ in range(50):
        work = some_jobs(dice)
        if work.platform.name != "pool":
            continue
        work = with_partitions(dice, work)
        assert isinstance(work.platform, Partitions)
        for more in range(4):
            platform = work.platform.sized(work.processors + more)
            assert platform.admits(work).all()
            assert platform.size == work.processors + more


REGIONS = {"a": 2, "a,b": 1}


@pytest.mark.parametrize(
    ("regions", "numbers", "why"),
    [
        ({}, {"a": 1}, "give a table with a number of processors for each"),
        (REGIONS, {}, "give a table with a number of the log for each"),
        ({"a": 0}, {"a": 1}, "regions has 'a' = 0; give a number of processors from 1"),
        (REGIONS, {"a": 1}, "regions lists 'a,b', but 'b' has no number; known: 'a'"),
        (REGIONS, {"a": 1, "b": 1}, "two partitions have the same number"),
        (REGIONS, {"a": 1, "b": 2, "c": 3}, "partition 'c' has no nodes; give it a region"),
        ({"a,b": 2, "b,a": 1}, {"a": 1, "b": 2}, "two regions list the same partitions"),
        ({"a": 7}, {"a": 1}, "regions have 7 processors, and the machine has 4"),
    ],
)
def test_wrong_machines_are_refused(
    regions: dict[str, int], numbers: dict[str, int], why: str
) -> None:
    """In one sentence with the value."""
    with pytest.raises(InputError, match=why):
        Partitions(4, {}, regions, numbers)


def test_too_many_unions_are_refused() -> None:
    """Partitions with a node in common have a union for each set of them."""
    names = "abcdefg"
    regions = {",".join(names): 1, **dict.fromkeys(names, 1)}
    with pytest.raises(InputError, match="the 7 partitions overlap in more than 64 unions"):
        Partitions(99, {}, regions, {name: ord(name) for name in names})
    assert connected_unions([1 << k | 1 for k in range(1, 7)], 63) is not None


def test_jobs_of_other_partitions_are_refused() -> None:
    """By the first job."""
    with pytest.raises(InputError, match="1 job, job 2 first, with partition 7, which the machine"):
        Workload.from_columns(
            submit=[0, 0], run=[1, 1], estimate=[1, 1], procs=[1, 1], partition=[1, 7],
            platform=MACHINE,
        )  # fmt: skip


def test_jobs_larger_than_their_partition_are_refused() -> None:
    """Although the machine has as many processors."""
    with pytest.raises(
        InputError, match="machine's 8; of partitions, at most 4 of short, 6 of long"
    ):
        Workload.from_columns(
            submit=[0], run=[1], estimate=[1], procs=[5], partition=[SHORT], platform=MACHINE
        )
