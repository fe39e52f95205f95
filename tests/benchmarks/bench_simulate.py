"""Jobs simulated per second of CPU, by log, order, rule and offered load; cost by queue length."""

from __future__ import annotations

import time
from itertools import product

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from schedfarm.core import Workload, scale_load, simulate, summarise
from schedfarm.core.workload.select import select_jobs
from tests.benchmarks.conftest import Log, Repeat, read

pytestmark = pytest.mark.benchmark(timer=time.process_time)

LOGS = ("KTH-SP2", "CTC-SP2", "SDSC-SP2", "HPC2N", "SDSC-BLUE")
ORDERS = ("fcfs", "spf", "saf", "lxf")
RULES = ("none", "aggressive", "easy", "depth(4)", "conservative", "planned")
POLICIES = tuple(
    f"{order}+{rule}"
    for order, rule in product(ORDERS, RULES)
    if rule != "planned" or order == "fcfs"
)
LOADS = (0.7, 0.8, 0.9, 1.0, 1.1)
LOADED = tuple(f"{order}+{rule}" for order, rule in product(ORDERS, ("easy", "conservative")))
QUEUES = (1.4, 2.0)
"""Offered loads at which the queue of the KTH log grows to thousands of jobs."""

FEW = 200
"""Jobs of a log that are simulated first, so that the kernels are compiled."""


def measured(
    benchmark: BenchmarkFixture, repeat: Repeat, jobs: Workload, policy: str, **facts: object
) -> None:
    """Measure a simulation, and note what the table needs to know of it."""
    simulate(select_jobs(jobs, FEW), policy)
    schedule = repeat(lambda: simulate(jobs, policy))
    assert len(schedule.start) == len(jobs)
    queue = summarise(schedule)["queue_length"]
    benchmark.extra_info.update(facts, policy=policy, jobs=len(jobs), queue=queue)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", LOGS)
def bench_original(
    benchmark: BenchmarkFixture, repeat: Repeat, log: Log, name: str, policy: str
) -> None:
    """Each log as it is."""
    measured(benchmark, repeat, read(log(name)), policy, table="policies", log=name)


@pytest.mark.parametrize("policy", LOADED)
@pytest.mark.parametrize("load", LOADS)
def bench_load(
    benchmark: BenchmarkFixture, repeat: Repeat, log: Log, load: float, policy: str
) -> None:
    """The KTH log with run times stretched or shrunk to a load."""
    jobs = scale_load(read(log("KTH-SP2")), load)
    measured(benchmark, repeat, jobs, policy, table="loads", load=load)


@pytest.mark.parametrize("policy", ["fcfs+easy", "saf+easy", "lxf+easy"])
@pytest.mark.parametrize("load", QUEUES)
def bench_queue(
    benchmark: BenchmarkFixture, repeat: Repeat, log: Log, load: float, policy: str
) -> None:
    """The KTH log overloaded, for the cost of long queues."""
    jobs = scale_load(read(log("KTH-SP2")), load)
    measured(benchmark, repeat, jobs, policy, table="queues", load=load)
