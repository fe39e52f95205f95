"""Moldable jobs: what an instance refuses, what a plan proves, the knapsack, bounds, lists."""

from __future__ import annotations

import re
import runpy
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from schedfarm.core import InputError
from schedfarm.offline.algorithms import ALGORITHMS
from schedfarm.offline.bounds import makespan_bound, minsum_bound
from schedfarm.offline.comparison import compare
from schedfarm.offline.draws import SPEEDUPS, draw_instance
from schedfarm.offline.instance import MOST_WORK, Instance
from schedfarm.offline.knapsack import knapsack
from schedfarm.offline.list_schedules import gang, listed, sequential
from schedfarm.offline.plan import Plan
from schedfarm.offline.times_file import read_times
from tests.support.moldable import instances, optima, random_instances
from tests.support.paths import ROOT


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (([[30, 16, 11, 10, 12]],), "job 1: 5 processors take 12 s and 4 take 10 s; more proc"),
        (([[5, 5], [30, 14]],), "job 2: 2 processors do 28 s x processors of work and 1 do 30"),
        (([[5, 0]],), "job 1: 2 processors take 0 s; give at least 1 s"),
        (([[5.0]],), "times are of float64: give whole numbers"),
        (([5],), "times has shape (1,): give a row for each job"),
        ((np.empty((0, 3), np.int64),), "times has shape (0, 3)"),
        (([[MOST_WORK, MOST_WORK]],), "give at most 144115188075855872 s for a machine of 2"),
        (([[5]], [0]), "weights are 0 to 0, 0 together: give at least 1"),
        (([[5], [5]], [1]), "weights has shape (1,) for 2 jobs: give one for each"),
        (([[5], [5]], [2**40, 1]), "at most 1099511627776 together"),
        (([[5]], [1], ("a", "b")), "2 names for 1 jobs: give one for each"),
        (([[5], [5]], [1, 1], ("a", "a")), "2 jobs are called 'a': give each a different name"),
    ],
)
def test_what_an_instance_refuses(arguments: tuple[object, ...], said: str) -> None:
    """One sentence names the job and the processors."""
    with pytest.raises(InputError) as error:
        Instance(*arguments)  # type: ignore[arg-type]
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_the_longest_jobs_are_exact() -> None:
    """Numbers at the end of the range give true sums in every algorithm."""
    jobs = Instance(np.full((4, 2), MOST_WORK // 8), np.full(4, 2**38))
    ends = {one.algorithm: one.plan.minsum for one in compare(jobs, ALGORITHMS.values())}
    assert ends["sequential"] == 2**38 * (1 + 1 + 2 + 2) * (MOST_WORK // 8)
    assert minsum_bound(jobs) <= min(ends.values())


def planned(start: list[int], procs: list[int]) -> Plan:
    jobs = Instance([[4, 2, 2], [6, 3, 2], [5, 5, 5]], [1, 2, 3], ("a", "b", "c"))
    return Plan(jobs, np.array(start), np.array(procs))


def test_what_a_plan_comes_to() -> None:
    """Ends from starts and processors; a job that ends makes room at once."""
    plan = planned([0, 2, 0], [2, 2, 1])
    plan.check()
    assert (plan.end.tolist(), plan.makespan, plan.minsum) == ([2, 5, 5], 5, 2 + 2 * 5 + 3 * 5)


@pytest.mark.parametrize(
    ("start", "procs", "said"),
    [
        ([0, 1, 0], [2, 2, 1], "at 1 s 5 of 3 processors are used, among others by jobs a, b, c"),
        ([0, -1, 0], [1, 1, 1], "job b: starts at -1 s on 1 processors"),
        ([0, 0, 9], [1, 4, 1], "job b: starts at 0 s on 4 processors; give an instant from 0"),
        ([0, 0, 9], [1, 0, 1], "job b: starts at 0 s on 0 processors"),
        ([0, 0], [1, 1, 1], "start has shape (2,) and procs (3,)"),
    ],
)
def test_what_is_no_plan(start: list[int], procs: list[int], said: str) -> None:
    """The first job or instant is named."""
    with pytest.raises(InputError) as error:
        planned(start, procs).check()
    assert said in str(error.value)


@given(jobs=instances(), data=st.data())
def test_a_check_counts_every_second(jobs: Instance, data: st.DataObject) -> None:
    """It passes just those plans that use no more processors at any second."""
    column = {"min_size": jobs.jobs, "max_size": jobs.jobs}
    start = np.array(data.draw(st.lists(st.integers(0, 60), **column)))
    procs = np.array(data.draw(st.lists(st.integers(1, jobs.processors), **column)))
    plan = Plan(jobs, start, procs)
    used = np.zeros(100, np.int64)
    for a, b, p in zip(start, plan.end, procs, strict=True):
        used[a:b] += p
    if used.max() <= jobs.processors:
        plan.check()
        compact = plan.compacted()
        compact.check()
        assert (compact.start <= plan.start).all()
    else:
        with pytest.raises(InputError, match="processors are used"):
            plan.check()


def test_knapsack_equals_brute_force() -> None:
    """On 600 small sets, no choice that fits is worth more."""
    random = np.random.default_rng(3)
    for _ in range(600):
        n, capacity = int(random.integers(0, 8)), int(random.integers(0, 12))
        sizes, profits = random.integers(1, 7, n), random.integers(0, 9, n)
        chosen = knapsack(sizes, profits, capacity)
        assert sizes[chosen].sum() <= capacity
        fits = [
            int(profits[list(some)].sum())
            for k in range(n + 1)
            for some in combinations(range(n), k)
            if sizes[list(some)].sum() <= capacity
        ]
        assert profits[chosen].sum() == max(fits)


def test_bounds_and_ratios_against_all_schedules() -> None:
    """On 250 tiny instances no bound is above the best schedule, and no algorithm below it."""
    for jobs in random_instances(5, 250, jobs=4, processors=3):
        makespan, minsum = optima(jobs)
        assert makespan_bound(jobs) <= makespan
        assert minsum_bound(jobs) <= minsum
        for one in compare(jobs, ALGORITHMS.values(), precision=0):
            assert one.makespan_bound <= makespan <= one.plan.makespan
            assert one.minsum_bound <= minsum <= one.plan.minsum
            assert min(one.makespan_ratio, one.minsum_ratio) >= 1
        assert gang(jobs).makespan == jobs.times[:, -1].sum()


def test_bounds_are_met() -> None:
    """Where jobs fill the machine evenly, or each has all of it to itself."""
    even = Instance(np.full((8, 4), 5))
    assert sequential(even).makespan == makespan_bound(even) == 10
    assert sequential(even).minsum == minsum_bound(even) == 4 * 5 + 4 * 10
    alone = Instance([[8, 4, 3, 3]], [7])
    assert gang(alone).minsum == minsum_bound(alone) == 21


def test_a_list_leaves_no_processor_idle_for_a_job_that_fits() -> None:
    """At every second, for random allotments and orders."""
    random = np.random.default_rng(8)
    for jobs in random_instances(8, 60):
        procs = random.integers(1, jobs.processors + 1, jobs.jobs)
        plan = listed(jobs, procs, random.permutation(jobs.jobs))
        plan.check()
        for instant in range(plan.makespan):
            running = (plan.start <= instant) & (instant < plan.end)
            waits = plan.start > instant
            free = jobs.processors - procs[running].sum()
            assert not (waits & (procs <= free)).any()


def test_lists_begin_in_their_order() -> None:
    """Four jobs on two processors: the third and the fourth follow whoever ends first."""
    jobs = Instance(np.array([[5, 4], [2, 2], [4, 4], [1, 1]]))
    plan = listed(jobs, np.ones(4, np.int64), np.array([0, 1, 2, 3]))
    assert plan.start.tolist() == [0, 0, 2, 5]
    assert listed(jobs, np.array([1, 2, 1, 1]), np.arange(4)).start.tolist() == [0, 5, 0, 4]


@pytest.mark.parametrize("model", SPEEDUPS)
def test_draws_are_keyed_by_seed_and_index(model: str) -> None:
    """The same again, others for other numbers; fewer jobs are the first of more."""

    def drawn(jobs: int = 30, **changes: int) -> list[list[int]]:
        return draw_instance(jobs, 16, model=model, **changes).times.tolist()

    assert drawn() == drawn()
    assert drawn(seed=1) != drawn() != drawn(index=1)
    assert drawn(12) == drawn()[:12]
    jobs = draw_instance(2000, 16, model=model)
    assert (jobs.weights.min(), jobs.weights.max()) == (1, 10)
    assert 600 <= jobs.times[:, 0].min() < 700
    assert 35_000 < jobs.times[:, 0].max() <= 36_000
    assert (jobs.times[:, 0] == draw_instance(2000, 16).times[:, 0]).all()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"jobs": 0}, "jobs=0: give a whole number, at least 1"),
        ({"processors": 0}, "processors=0"),
        ({"jobs": 10**5, "processors": 10**4}, "jobs=100000 on processors=10000: give at most"),
        ({"model": "downy"}, "did you mean 'downey'?"),
        ({"shortest": 5, "longest": 4}, "longest=4: give a whole number, at least 5"),
        ({"seed": "x"}, "seed='x': give a whole number"),
    ],
)
def test_what_cannot_be_drawn(changes: dict[str, object], said: str) -> None:
    """Each parameter is named."""
    with pytest.raises(InputError) as error:
        draw_instance(**{"jobs": 3, "processors": 2, **changes})  # type: ignore[arg-type]
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("job,weight,1,2\na,1,9,5\nb,1,9,4\n", "line 3, column 2: 2 processors do 8 s x proc"),
        ("job,weight,1,2,3\na,1,9,5,6\n", "line 2, column 3: 3 processors take 6 s and 2 take"),
        ("job,weight,1,2\n\na,1,9,x\n", "line 3, column 2: 'x' is given; give whole seconds"),
        ("job,weight,1\na,1,4.5\n", "line 2, column 1: '4.5' is given; give whole seconds"),
        ("job,weight,1\na,1,0\n", "line 2, column 1: '0' is given; give whole seconds"),
        ("job,weight,1\na,1,-3\n", "line 2, column 1: '-3' is given"),
        ("job,weight,1\na,1," + "9" * 5000 + "\n", "of at most 12 digits"),
        ("job,weight,1\na,,3\n", "line 2, weight: '' is given; give a whole number"),
        ("job,weight,1,2\na,1,9\n", "line 2: 3 fields below 4 columns"),
        ("job,weight,1,3\na,1,9,5\n", "line 1: the columns are not job,weight,1,2,3,..."),
        ("job,weight\na,1\n", "line 1: the columns are not"),
        ("", "line 1: the columns are not"),
        ("job,weight,1\n", "there is no job"),
        ("job,weight,1\na,1,3\na,1,4\n", "2 jobs are called 'a'"),
        ('job,weight,1\n"a,1,3\n', "cannot be read as CSV"),
        ("job,weight,1\nü,1,3\n".encode("latin-1"), "cannot be read as CSV"),
    ],
)
def test_files_that_are_refused(tmp_path: Path, text: str | bytes, said: str) -> None:
    """File, line and column are named."""
    file = tmp_path / "times.csv"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError) as error:
        read_times(file)
    assert str(error.value).startswith(str(file))
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_the_page_lists_every_algorithm_and_its_examples_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The table has the rows that there are, the file can be read, and the program prints."""
    page = (ROOT / "docs" / "offline.md").read_text(encoding="utf-8")
    table = page.partition("## Algorithms")[2].partition("##")[0].partition("A list")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, re.M) == list(ALGORITHMS)
    (text,) = re.findall(r"```text\n(.*?)```", page, re.S)
    (tmp_path / "times.csv").write_text(text)
    assert read_times(tmp_path / "times.csv").processors == 4
    (program,) = re.findall(r"```python\n(.*?)```", page, re.S)
    (tmp_path / "program.py").write_text(program)
    runpy.run_path(str(tmp_path / "program.py"))
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(ALGORITHMS)


def test_a_file_as_spreadsheets_write_it(tmp_path: Path) -> None:
    """With a mark of its encoding, carriage returns, quoted names and blanks."""
    file = tmp_path / "times.csv"
    file.write_bytes('﻿job,weight,1,2\r\n"a, b", 3, 9, 5\r\n\r\nc,1,2,2\r\n'.encode())
    jobs = read_times(file)
    assert jobs.names == ("a, b", "c")
    assert (jobs.times.tolist(), jobs.weights.tolist()) == ([[9, 5], [2, 2]], [3, 1])
    with pytest.raises(InputError, match=r"none.csv: cannot be read as CSV \(No such file"):
        read_times(tmp_path / "none.csv")
