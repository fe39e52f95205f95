"""Machines of hosts: their form, requests of jobs, logs on them, and faults of schedules."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from schedfarm.core.audit import audit
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.errors import InputError
from schedfarm.core.machines.hosts.platform import Hosts
from schedfarm.core.machines.platform import platform_from_dict
from schedfarm.core.machines.pool.platform import Pool
from schedfarm.core.reference.loop import simulate_reference
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.on_hosts import OnHosts, put_on_hosts
from schedfarm.core.workload.workload import Workload
from schedfarm.farm.campaign.trace import Trace

PLAIN = {"count": 2, "processors": 4}

MACHINE = Hosts([PLAIN, {"count": 1, "processors": 4, "gpus": 2}])


def jobs(machine: Hosts, **columns: list[int]) -> Workload:
    """Return jobs that are submitted at 0 and last 9 s, unless the columns say otherwise."""
    n = len(columns["procs"])
    given: dict[str, list[int]] = {"submit": [0] * n, "run": [9] * n, **columns}
    return Workload.from_columns(
        estimate=given.get("estimate", given["run"]),
        platform=machine,
        **{name: column for name, column in given.items() if name != "estimate"},
    )


@pytest.mark.parametrize(
    ("groups", "why"),
    [
        ([], "groups is []; give a list of tables"),
        ({"count": 1}, "give a list of tables"),
        ([4], "groups[0] is 4; give a table such as"),
        ([{"count": 2}], "groups[0] lacks processors"),
        ([{"processors": 2}], "groups[0] lacks count"),
        ([PLAIN, {**PLAIN, "gpu": 1}], "groups[1] has 'gpu'; did you mean 'gpus'"),
        ([{**PLAIN, "count": 0}], "groups[0] has count = 0; give a whole number from 1"),
        ([{**PLAIN, "gpus": -1}], "groups[0] has gpus = -1; give a whole number from 0"),
        ([{**PLAIN, "processors": 1.5}], "groups[0] has processors = 1.5"),
        ([PLAIN, {**PLAIN, "memory": 9}], "groups[1]: memory is in some groups only"),
        ([{**PLAIN, "count": 65_537}], "groups has 65537 hosts; give at most 65536"),
        ([{"count": 2, "processors": 2**61}], "groups has 4611686018427387904 processors in all"),
        ([{**PLAIN, "memory": 2**62 - 1}], "memory in all; give less than 2^62"),
    ],
)
def test_wrong_groups_are_refused(groups: object, why: str) -> None:
    """In one sentence with the group and the value."""
    with pytest.raises(InputError) as refused:
        Hosts(groups)  # type: ignore[arg-type]
    assert why in str(refused.value)


def test_exclusive_is_true_or_false() -> None:
    """A number would read as a share."""
    with pytest.raises(InputError, match="exclusive is 1; give true or false"):
        Hosts([PLAIN], 1)  # type: ignore[arg-type]


def test_the_plain_form_gives_an_equal_machine() -> None:
    """Whatever the order of the keys of a group."""
    machine = Hosts([{"gpus": 2, "processors": 4, "count": 1}, PLAIN], exclusive=True)
    assert platform_from_dict(machine.to_dict()) == machine
    assert replace(machine, exclusive=False) != machine
    assert machine.key == "exclusive hosts|count 1 processors 4 gpus 2|count 2 processors 4"


def test_requests_are_shares_of_as_few_hosts_as_possible() -> None:
    """Rounded up; a number of hosts that is given holds, and 0 hosts mean that a job cannot run."""
    pool = Workload.from_columns(
        submit=[0] * 8, run=[9] * 8, estimate=[9] * 8,
        procs=[4, 5, 12, 13, 3, 1, 2, 4], gpus=[-1, 0, -1, -1, -1, 2, 3, 1],
        hosts=[-1, -1, -1, -1, 2, -1, -1, 2], processors=16,
    )  # fmt: skip
    count, share = MACHINE.requests(pool)
    assert count.tolist() == [1, 2, 3, 0, 2, 1, 0, 0]
    assert share[:3].tolist() == [[4, 0], [3, 0], [4, 0]]
    assert share[4:6].tolist() == [[2, 0], [1, 2]]
    assert MACHINE.admits(pool).tolist() == [True, True, True, False, True, True, False, False]


def test_jobs_without_an_estimate_are_not_admitted() -> None:
    """A job that takes no time holds no host."""
    pool = Workload.from_columns(submit=[0], run=[0], estimate=[0], procs=[1], processors=4)
    assert dict(put_on_hosts(pool, OnHosts([PLAIN])).dropped) == {"not admitted": 1}


def test_a_log_gives_the_hosts_by_its_nodes() -> None:
    """0 and -1 nodes are unknown; jobs on another machine are refused."""
    pool = Workload.from_columns(
        submit=[0, 0, 0], run=[9, 9, 9], estimate=[9, 9, 9], procs=[2, 2, 2], nodes=[2, 0, -1],
        processors=8,
    )  # fmt: skip
    there = put_on_hosts(pool, OnHosts([PLAIN]))
    assert there.hosts.tolist() == [2, -1, -1]
    with pytest.raises(InputError, match="'hosts' is for jobs on a pool"):
        put_on_hosts(there, OnHosts([PLAIN]))


def test_hosts_are_the_whole_machine_of_a_trace() -> None:
    """Another size or kind of machine is refused next to them."""
    table = {"groups": [PLAIN]}
    trace = Trace(file="log.swf", hosts=table)
    assert trace.machine == Pool(8)
    others: dict[str, Any] = {
        "processors": 8,
        "resources": {"gpus": 1},
        "partitions": {"regions": {"a": 8}},
        "nodes": {"nodes": 2, "capacity": 4},
    }
    for key, value in others.items():
        with pytest.raises(InputError, match=f"'hosts' is|{key!r}"):
            Trace(file="log.swf", hosts=table, **{key: value})


def test_hosts_have_another_size_by_whole_hosts() -> None:
    """Samples and loads are those of the machine; a size that a job does not fit is refused."""
    pool = jobs(Pool(8), procs=[6, 2])
    trace = Trace(file="log.swf", hosts={"groups": [PLAIN]}, resize=13)
    assert trace.machine == Pool(8)
    placed = put_on_hosts(pool, OnHosts([PLAIN]))
    assert trace.resized(placed).platform == Hosts([{**PLAIN, "count": 3}])
    with pytest.raises(InputError, match="job 1 requests 6 processors, more than its partition or"):
        replace(trace, resize=7).resized(placed)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, "hosts: groups is []"),
        ({"group": []}, "hosts: unknown key 'group'; did you mean 'groups'"),
        ({"groups": [{**PLAIN, "memory": "2 TiBs"}]}, "hosts: groups[0]: memory is '2 TiBs'"),
        ({"groups": [PLAIN], "exclusive": 1}, "hosts: exclusive is 1; it must be true or false"),
        ({"groups": [{"count": 2}]}, "hosts: groups[0] lacks processors"),
        ({"groups": [PLAIN], "partitions": ["a"]}, "hosts: partitions is ['a']; give a table"),
        ({"groups": [PLAIN], "partitions": {"a,b": "0"}}, "has the name 'a,b'; give each"),
        ({"groups": [PLAIN], "partitions": {"a": "0-2"}}, "partitions: a has hosts = '0-2'; give"),
        (
            {"groups": [PLAIN], "max_time": {"a": "1h"}},
            "is for 'a'; declare it in hosts.partitions",
        ),
        ({"groups": [PLAIN], "partitions": {"a": "0", " a": "1"}}, "has 'a' twice; give its hosts"),
        ({"groups": [PLAIN], "max_nodes": {"a": 0}}, "max_nodes: a is 0; give a whole number from"),
    ],
)
def test_wrong_tables_are_refused(given: dict[str, object], why: str) -> None:
    """In one sentence that names the table."""
    with pytest.raises(InputError) as refused:
        OnHosts.from_dict(given)
    assert why in str(refused.value)


def test_the_number_of_hosts_counts_in_the_digest_only_here() -> None:
    """A pool's digest does not change because a log has hosts."""
    pool = Workload.from_columns(submit=[0], run=[9], estimate=[9], procs=[2], processors=8)
    two = replace(pool, hosts=np.array([2]))
    assert pool.digest() == two.digest()
    one, other = (replace(work, platform=Hosts([PLAIN])) for work in (pool, two))
    assert one.digest() != other.digest()


def moved(schedule: Schedule, job: int, start: int) -> Schedule:
    """Return a schedule with another start of one job."""
    starts = schedule.start.copy()
    starts[job] = start
    return replace(schedule, start=starts)


@pytest.mark.parametrize(
    ("columns", "job", "start", "rule", "why"),
    [
        # All hosts have 12 processors, and 14 are needed.
        (
            {"procs": [8, 6], "hosts": [2, 2]}, 1, 5, "capacity",
            "job 2 (2 hosts with 3 processors each) started at 5 s, when the running jobs need 14 "
            "of 12 processors",
        ),
        ({"procs": [1, 1], "gpus": [2, 1]}, 1, 5, "resources", "need 3 of 2 GPUs"),
        # 3 processors are free on each of two hosts, and the job wants 4 on one.
        ({"procs": [3, 4], "hosts": [3, 1]}, 1, 5, "fcfs+easy", "started, but "),
        ({"procs": [3, 4], "hosts": [3, 1]}, 1, 12, "fcfs+easy", "was left waiting, but "),
    ],
)  # fmt: skip
def test_planted_faults_are_found(
    columns: dict[str, list[int]], job: int, start: int, rule: str, why: str
) -> None:
    """Too much of all hosts together, too few hosts with the share, and a wait without a reason."""
    good = simulate_reference(jobs(MACHINE, **columns), "fcfs+easy")
    assert good.start.tolist() == [0, 9]
    assert audit(good, "fcfs+easy").ok
    verdict = audit(moved(good, job, start), "fcfs+easy")
    assert (verdict.ok, verdict.rule) == (False, rule), verdict.why
    assert why in verdict.why


def test_too_many_exclusive_hosts_are_found() -> None:
    """Although their processors are not all requested."""
    machine = Hosts([PLAIN], exclusive=True)
    good = simulate_reference(jobs(machine, procs=[2, 1], hosts=[2, 1]), "fcfs+none")
    assert good.start.tolist() == [0, 9]
    verdict = audit(moved(good, 1, 3), "fcfs+none")
    assert (verdict.rule, "need 3 of 2 hosts" in verdict.why) == ("capacity", True), verdict.why


def test_without_reservations_hosts_of_one_processor_are_a_pool() -> None:
    """Reservations hold certain hosts, so that their rules differ."""
    pool = Workload.from_columns(
        submit=[0, 0, 1, 1], run=[1, 5, 4, 9], estimate=[1, 5, 4, 9], procs=[2, 2, 3, 1],
        platform=Pool(4),
    )  # fmt: skip
    hosts = put_on_hosts(pool, OnHosts([{"count": 4, "processors": 1}]))
    starts = {
        rule: [simulate_reference(work, f"fcfs+{rule}").start.tolist() for work in (pool, hosts)]
        for rule in ("none", "aggressive", "easy")
    }
    assert starts["none"][0] == starts["none"][1]
    assert starts["aggressive"][0] == starts["aggressive"][1]
    assert starts["easy"] == [[0, 0, 5, 1], [0, 0, 5, 5]]


SHORT = {"from": 5, "until": 9}


@pytest.mark.parametrize(
    ("windows", "why"),
    [
        ("5d", "windows is '5d'; give a list of tables"),
        ([7], "windows[0] is 7; give a table with from and until"),
        ([SHORT, {**SHORT, "host": "1"}], "windows[1] has 'host'; did you mean 'hosts'"),
        ([{**SHORT, "hosts": "0-3"}], "hosts = '0-3'; give numbers of hosts from 0 to 2"),
        ([{**SHORT, "hosts": "2-1"}], "hosts = '2-1'; give numbers"),
        ([{**SHORT, "hosts": "n1"}], "hosts = 'n1'; give numbers"),
        ([{**SHORT, "hosts": []}], "hosts = []; give numbers"),
        ([{**SHORT, "hosts": [0, 1.5]}], "hosts = [0, 1.5]; give numbers"),
        ([{**SHORT, "hosts": -1}], "hosts = -1; give numbers"),
        ([{"from": 9, "until": 5}], "until must be later than from"),
        ([{**SHORT, "every": 3, "times": 2}], "longer than its period of 3s"),
        ([{**SHORT, "every": 10}], "has every alone; give both"),
        ([{**SHORT, "every": 10, "times": 10_001}], "give a whole number, 1 to 10,000"),
        ([{**SHORT, "every": 10, "times": 6_000}] * 2, "more than 10,000 intervals in all"),
    ],
)
def test_wrong_windows_are_refused(windows: Any, why: str) -> None:
    """In one sentence with the window and the value."""
    with pytest.raises(InputError) as refused:
        Hosts(MACHINE.groups, windows=windows)
    assert why in str(refused.value)


def test_windows_have_one_form() -> None:
    """Numbers of hosts as a list or text; in order of time; part of the machine's digest."""
    one = Hosts(MACHINE.groups, windows=[{**SHORT, "hosts": [2, 0, 1]}, {"from": 1, "until": 2}])
    other = Hosts(MACHINE.groups, windows=[{"from": 1, "until": 2, "hosts": "0, 1-2"}, SHORT])
    assert one == other
    assert one.key == other.key != MACHINE.key
    assert platform_from_dict(one.to_dict()) == one
    assert replace(one, exclusive=True).windows == one.windows
    assert one.to_dict()["configuration"]["windows"] == [{"from": 1, "until": 2}, SHORT]


def test_spans_of_a_host_are_apart() -> None:
    """Intervals that overlap or follow each other are one, as if looked at second by second."""
    windows = [
        {"from": 0, "until": 4, "hosts": "0,2"},
        {"from": 4, "until": 6, "hosts": "0"},
        {"from": 5, "until": 9},
        {"from": 7, "until": 8, "hosts": "1", "every": 6, "times": 3},
    ]
    machine = Hosts(MACHINE.groups, windows=windows)
    host, begin, end = machine.spans
    assert list(zip(host.tolist(), begin.tolist(), end.tolist(), strict=True)) == [
        (0, 0, 9),
        (1, 5, 9),
        (1, 13, 14),
        (1, 19, 20),
        (2, 0, 4),
        (2, 5, 9),
    ]
    for t in range(25):
        closed = {h for first, last, hosts in machine.intervals if first <= t < last for h in hosts}
        inside = (begin <= t) & (t < end)
        assert set(host[inside].tolist()) == closed


def test_a_log_meets_windows_at_dates() -> None:
    """Dates become instants of the log, next to others; the plain form keeps them as text."""
    windows = [{"from": "1970-01-02", "until": "1970-01-03", "hosts": "1"}, SHORT]
    how = OnHosts.from_dict({"groups": [PLAIN], "windows": windows})
    assert OnHosts.from_dict(how.to_dict()).to_dict() == how.to_dict()
    assert how.to_dict()["windows"][-1]["from"] == "1970-01-02T00:00:00"
    again = OnHosts.from_dict(
        {"groups": [PLAIN], "windows": [{**windows[0], "hosts": [1]}, windows[1]]}
    )
    assert again.to_dict() == how.to_dict()
    log = Workload.from_columns(submit=[0], run=[9], estimate=[9], procs=[1], processors=8)
    dated = log.take(slice(None), epoch=86_300)
    assert [one[:2] for one in put_on_hosts(dated, how).platform.windows] == [(5, 9), (100, 86_500)]
    with pytest.raises(
        InputError, match=r"hosts: windows\[0\] is from 1970-01-02.*, and the log has"
    ):
        put_on_hosts(log, how)
    with pytest.raises(InputError, match="hosts: windows is 7; give a list of tables"):
        OnHosts.from_dict({"groups": [PLAIN], "windows": 7})


def test_random_spans_are_those_of_each_second() -> None:
    """Also of intervals inside others, that follow each other, and of one host or all."""
    dice = random.Random(7)
    for _ in range(200):
        windows = [
            {
                "from": begin,
                "until": begin + dice.randrange(1, 9),
                "hosts": dice.sample(range(3), dice.randrange(1, 4)),
            }
            for begin in (dice.randrange(30) for _ in range(dice.randrange(6)))
        ]
        machine = Hosts(MACHINE.groups, windows=windows)
        host, begin, end = machine.spans
        assert (np.diff(host * 100 + begin) > 0).all()
        assert (begin[1:] > end[:-1])[host[1:] == host[:-1]].all()
        closed = {
            (h, t)
            for first, last, hosts in machine.intervals
            for h in hosts
            for t in range(first, last)
        }
        spans = zip(host.tolist(), begin.tolist(), end.tolist(), strict=True)
        assert {(h, t) for h, first, last in spans for t in range(first, last)} == closed


@pytest.mark.parametrize(
    ("exclusive", "procs", "unit"), [(False, 9, "processors"), (True, 2, "hosts")]
)
def test_a_job_in_a_window_is_found_by_its_amounts(exclusive: bool, procs: int, unit: str) -> None:
    """Where all hosts together have less than the running jobs need."""
    machine = Hosts(MACHINE.groups, exclusive, [{"from": 4, "until": 20, "hosts": "0-1"}])
    work = jobs(machine, procs=[procs], hosts=[3 if procs > 3 else 2], run=[9])
    good = simulate_reference(work, "fcfs+easy")
    assert good.start.tolist() == [20]
    assert "windows" in audit(good, "fcfs+easy").checked
    assert audit(good, "fcfs+easy").ok
    verdict = audit(moved(good, 0, 4), "fcfs+easy")
    assert (verdict.rule, verdict.instant) == ("windows", 4), verdict.why
    assert re.search(
        rf"runs at 4 s, when windows and the running jobs need .* {unit}$", verdict.why
    )


DIVIDED = OnHosts([{"count": 4, "processors": 4}], partitions={"a": "0-1", "b": [3, 1], "c": None})


def in_partitions(labels: list[str], **columns: list[int]) -> Workload:
    """Return jobs of a log with names of partitions on a pool."""
    known = sorted(set(labels))
    pool = jobs(Pool(16), partition=[known.index(one) for one in labels], **columns)
    return replace(pool, names={"partition": dict(enumerate(known))})


def test_a_log_gives_the_partitions_by_their_names() -> None:
    """Those without jobs are left out, and a list has a number of its own."""
    log = in_partitions(["b", "b,a", "b", "a"], procs=[8, 12, 9, 8], nodes=[2, 3, -1, -1])
    some = put_on_hosts(log, DIVIDED)
    assert some.job.tolist() == [1, 2, 4]
    assert dict(some.dropped) == {"not admitted": 1}
    assert some.platform == Hosts(
        DIVIDED.groups,
        partitions={"a": "0-1", "b": "1,3"},
        numbers={"a": 0, "b": 1, "a,b": 2},
    )
    assert platform_from_dict(some.platform.to_dict()) == some.platform
    assert OnHosts.from_dict(DIVIDED.to_dict()) == replace(
        DIVIDED, partitions=dict(DIVIDED.machine.parts) | {"c": "0-3"}
    )


def test_partitions_with_all_hosts_are_no_partitions() -> None:
    """The machine and its digest are those without, so that the column does not count."""
    log = in_partitions(["c", "c"], procs=[8, 9])
    without = put_on_hosts(log, replace(DIVIDED, partitions=None))
    assert put_on_hosts(log, DIVIDED).platform == without.platform
    assert put_on_hosts(log, DIVIDED).digest() == without.digest()
    two = put_on_hosts(in_partitions(["a", "c"], procs=[8, 8]), DIVIDED)
    other = put_on_hosts(in_partitions(["c", "a"], procs=[8, 8]), DIVIDED)
    assert two.digest() != other.digest()


def test_limits_of_partitions_drop_jobs() -> None:
    """The limit of a list is the largest of its partitions'."""
    how = replace(DIVIDED, max_time={"a": "5s"}, max_nodes={"a": 1, "b": 2})
    log = in_partitions(
        ["a", "a", "b,a", "b", "b"], procs=[1] * 5, run=[5, 6, 6, 9, 9], nodes=[1, 1, 2, 3, -1]
    )
    some = put_on_hosts(log, how)
    assert some.job.tolist() == [1, 3, 5]
    assert dict(some.dropped) == {
        "above the time limit of their partition": 1,
        "above the node limit of their partition": 1,
    }


@pytest.mark.parametrize(
    ("labels", "why"),
    [(["d"], "hosts: 1 job of 'a.swf' has the partition 'd', which is not declared"),
     ([""], "hosts: 1 job of 'a.swf' has no partition, which is not declared")],
)  # fmt: skip
def test_jobs_of_other_partitions_are_refused(labels: list[str], why: str) -> None:
    """With the partition's name."""
    log = replace(in_partitions(labels, procs=[1]), name="a.swf")
    with pytest.raises(InputError, match=re.escape(why)):
        put_on_hosts(log, DIVIDED)


@pytest.mark.parametrize(
    ("partitions", "numbers", "why"),
    [
        ({"a": "0"}, {}, "numbers is {}; give a table with the number of each partition"),
        ({}, {"a": 1}, "numbers is {'a': 1}; give a table with the number of each partition"),
        ({"a": "0"}, {"b": 1}, "numbers has 'b'; partitions are: 'a'"),
        ({"a": "0"}, {"a": -1}, "numbers has 'a' = -1; give a number of the log from 0"),
        ({"a": "0", "b": "1"}, {"a": 1, "b": 1}, "give each partition a number of its own"),
    ],
)
def test_wrong_numbers_of_partitions_are_refused(
    partitions: dict[str, str], numbers: dict[str, int], why: str
) -> None:
    """In one sentence that names the key."""
    with pytest.raises(InputError) as refused:
        Hosts([PLAIN], partitions=partitions, numbers=numbers)
    assert why in str(refused.value)


def test_jobs_of_a_number_without_a_partition_are_refused() -> None:
    """A job needs a partition where there are some."""
    machine = Hosts([PLAIN], partitions={"a": "0"}, numbers={"a": 1})
    with pytest.raises(InputError, match="1 job, job 2 first, with partition 2, which the machine"):
        jobs(machine, procs=[1, 1], partition=[1, 2])


def test_too_many_jobs_of_a_partition_are_found_by_its_processors() -> None:
    """All hosts together have enough."""
    machine = Hosts([{"count": 2, "processors": 4}], partitions={"a": "0", "b": "1"},
                    numbers={"a": 1, "b": 2})  # fmt: skip
    work = jobs(machine, procs=[3, 3], partition=[1, 1])
    verdict = audit(Schedule(work, "fcfs+easy", np.array([0, 0]), np.zeros(2, bool)), "fcfs+easy")
    assert verdict.rule == "partitions", verdict.why
    assert "partition a) started at 0 s, when the running jobs need 6 of 4" in verdict.why


@pytest.mark.parametrize("count", [5, 8, 10, 12])
def test_a_smaller_machine_has_no_larger_partition(count: int) -> None:
    """So that a job that a size admits is admitted by all larger ones."""
    for first in range(count):
        for last in range(first, count):
            parts = {"a": f"{first}-{last}"}
            machine = Hosts([{**PLAIN, "count": count}], partitions=parts, numbers={"a": 1})
            sizes = [machine.sized(4 * k).members.sum() for k in range(1, 2 * count)]
            assert sizes == sorted(sizes), parts
            assert machine.sized(machine.size) == machine


def test_a_size_with_too_many_hosts_is_refused_at_once() -> None:
    """With the largest that is possible, and before lists of hosts are made."""
    machine = Hosts([PLAIN], partitions={"a": "0"}, numbers={"a": 1})
    with pytest.raises(InputError, match="are 250 000 000 000 hosts; give at most 262 144, which"):
        machine.sized(10**12)


def test_a_model_on_hosts_has_sizes_but_no_partitions() -> None:
    """Its jobs have none."""
    platform: dict[str, Any] = {"name": "hosts", "configuration": {"groups": [PLAIN]}}
    trace = Trace(name="m", model="lublin", jobs=9, platform=platform, resize=13)
    assert trace.runs_on == Hosts([{**PLAIN, "count": 3}])
    platform["configuration"] |= {"partitions": {"a": "0"}, "numbers": {"a": 1}}
    with pytest.raises(InputError, match="draws jobs without a partition; leave the partitions"):
        Trace(name="m", model="lublin", jobs=9, platform=platform)


def test_disjoint_partitions_are_machines_of_their_own_without_a_common_queue() -> None:
    """Under aggressive and conservative, each job starts as on the hosts of its partition alone."""
    dice = random.Random(7)
    both = Hosts([{"count": 4, "processors": 4}], partitions={"a": "0,2", "b": "1,3"},
                 numbers={"a": 1, "b": 2})  # fmt: skip
    n = 60
    columns = {
        "submit": sorted(dice.randrange(90) for _ in range(n)),
        "run": [dice.randrange(1, 9) for _ in range(n)],
        "procs": [dice.randrange(1, 9) for _ in range(n)],
        "partition": [dice.choice((1, 2)) for _ in range(n)],
    }
    columns["estimate"] = [run + dice.randrange(9) for run in columns["run"]]
    work = jobs(both, **columns)
    for policy in ("fcfs+aggressive", "fcfs+conservative", "spf+conservative"):
        start = simulate(work, policy).start
        for number in (1, 2):
            mine = np.flatnonzero(work.partition == number)
            alone = jobs(
                Hosts([PLAIN]),
                **{name: [column[j] for j in mine] for name, column in columns.items()},
            )
            assert start[mine].tolist() == simulate(alone, policy).start.tolist()
