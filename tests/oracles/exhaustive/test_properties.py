"""Rules and platforms that are special cases of others, whatever the jobs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numba
import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from schedfarm.core.engine.simulate import simulate
from schedfarm.core.machines.network.platform import LONGEST_ON_LINKS
from schedfarm.core.machines.nodes.platform import Nodes
from schedfarm.core.machines.platform import Platform
from schedfarm.core.machines.pool.platform import Pool
from schedfarm.core.policy.policy import Policy
from schedfarm.core.reference.fair_start import fair_start_reference
from schedfarm.core.reference.loop import simulate_reference
from schedfarm.core.workload.workload import Workload
from tests.oracles import programs
from tests.support.golden import read_log
from tests.support.strategies import (
    FIXED,
    OPTIONS,
    RULES,
    crowd,
    grid_of,
    grid_workloads,
    network_of,
    network_workloads,
    nodes_of,
    orders_of,
    policies,
    simulations,
    workloads,
    workloads_on,
)

WHOLE = ("start", "end", "backfilled", "promises")

PLACED = (*WHOLE, "place")

PROGRAMS = pytest.mark.parametrize("program", [programs.kernel, programs.reference])

PLATFORMS = pytest.mark.parametrize("platform", ["pool", "grid"])

JOBS: dict[str, Callable[..., st.SearchStrategy[Workload]]] = {
    "pool": workloads,
    "grid": grid_workloads,
}


def only(answers: programs.Answers, names: tuple[str, ...]) -> dict[str, object]:
    return {name: answers[name] for name in names}


def options(platform: str, *names: str) -> st.SearchStrategy[dict[str, str | None]]:
    """Draw an order and options that go with every rule on a kind of platform."""
    known = names if platform == "pool" else tuple(name for name in names if name != "events")
    drawn = {name: st.sampled_from(OPTIONS[name]) for name in known}
    return st.fixed_dictionaries({"order": st.sampled_from(orders_of(platform, "easy")), **drawn})


@PROGRAMS
@PLATFORMS
@given(data=st.data())
def test_easy_is_depth_one(program: programs.Program, platform: str, data: st.DataObject) -> None:
    """One reservation is easy's, except that easy does not promise it.

    Not on clusters where an estimate is 0: such a job holds its cluster until the next pass and
    reserves nothing there, so that the next one is reserved there now, where easy looks elsewhere.
    """
    work = data.draw(JOBS[platform]())
    assume(platform == "pool" or (work.estimate > 0).all())
    given = data.draw(options(platform, "threshold", "backfill", "events"))
    easy, one = (program(work, Policy(rule=rule, **given)) for rule in ("easy", "depth(1)"))  # type: ignore[arg-type]
    assert easy["promises"] == [-1] * len(work)
    names = ("start", "backfilled", "place")
    assert only(easy, names) == only(one, names)


@PROGRAMS
@PLATFORMS
@given(data=st.data())
def test_conservative_is_depth_of_all(
    program: programs.Program, platform: str, data: st.DataObject
) -> None:
    """As many reservations as jobs are conservative's, and so are the promises."""
    work = data.draw(JOBS[platform]())
    given = data.draw(options(platform, "threshold", "events"))
    rules = "conservative", f"depth({max(len(work), 1)})"
    every, deep = (program(work, Policy(rule=rule, **given)) for rule in rules)  # type: ignore[arg-type]
    assert only(every, PLACED) == only(deep, PLACED)


@PROGRAMS
@PLATFORMS
@given(data=st.data())
def test_planned_is_conservative_with_exact_estimates(
    program: programs.Program, platform: str, data: st.DataObject
) -> None:
    """Where nothing ends early no reservation moves, and no job starts after its promise."""
    work = data.draw(JOBS[platform](exact=True))
    work = replace(work, run=np.maximum(work.run, 1), estimate=np.maximum(work.estimate, 1))
    planned, anew = (program(work, Policy("fcfs", rule)) for rule in ("planned", "conservative"))
    assert only(planned, PLACED) == only(anew, PLACED)
    assert planned["start"] == planned["promises"]


@PROGRAMS
@PLATFORMS
@given(data=st.data())
def test_planned_keeps_its_promises(
    program: programs.Program, platform: str, data: st.DataObject
) -> None:
    """Compression moves a reservation only earlier; a job of estimate 0 reserves nothing."""
    work = data.draw(JOBS[platform]())
    planned = program(work, Policy("fcfs", "planned"))
    late = np.array(planned["start"]) > np.array(planned["promises"])
    assert not (late & (work.estimate > 0)).any()


@PROGRAMS
@PLATFORMS
@given(data=st.data())
def test_tabu_without_iterations_is_planned(
    program: programs.Program, platform: str, data: st.DataObject
) -> None:
    """Ticks alone change nothing, nor do other options."""
    policy = data.draw(policies(rule="tabu", platform=platform))
    work = data.draw(workloads_on(platform, policy))
    still, plain = (
        program(work, one) for one in (replace(policy, iterations="0"), Policy("fcfs", "planned"))
    )
    assert only(still, PLACED) == only(plain, PLACED)


@PROGRAMS
@pytest.mark.parametrize("rule", RULES["grid"])
@given(data=st.data())
def test_a_grid_of_one_cluster_is_a_pool(
    program: programs.Program, rule: str, data: st.DataObject
) -> None:
    """Start for start, flag for flag, promise for promise."""
    policy = data.draw(policies(rule=rule, platform="grid"))
    work = data.draw(workloads_on("pool", policy))
    alone = replace(work, platform=grid_of(work.processors))
    assert only(program(alone, policy), PLACED) == only(program(work, policy), PLACED)


@PROGRAMS
@given(work=workloads(), policy=policies(rule="conservative", platform="nodes"))
def test_nodes_of_one_processor_are_a_pool(
    program: programs.Program, work: Workload, policy: Policy
) -> None:
    """Only their number matters, unless a job of estimate 0 has found a node that is taken."""
    work = replace(work, estimate=np.maximum(work.estimate, 1))
    alone = replace(work, platform=nodes_of(*[1] * work.processors))
    assert only(program(alone, policy), WHOLE) == only(program(work, policy), WHOLE)


ALIKE = (
    ("icsb(1)", "depth(1)"),
    ("icsb(1)", "easy"),
    ("icsb(3)", "depth(3)"),
    ("icsb(10)", "depth(10)"),
    ("isolated(2)", "depth(2)"),
    ("ics", "aggressive"),
    ("ics,queue=global", "aggressive"),
)
"""Rules of a network, and those of a pool that they are where it has one cluster."""

UNPROMISED = ("start", "end", "backfilled")


@PROGRAMS
@pytest.mark.parametrize(("rule", "of_pool"), ALIKE)
@given(work=workloads(), order=st.sampled_from(FIXED), links=st.sampled_from(((), (10,))))
def test_a_network_of_one_cluster_is_a_pool(
    program: programs.Program,
    rule: str,
    of_pool: str,
    work: Workload,
    order: str,
    links: tuple[int, ...],
) -> None:
    """A job has nowhere else to go."""
    assume(work.estimate.max(initial=0) < LONGEST_ON_LINKS)
    alone = replace(work, platform=network_of(work.processors, links=links))
    there = program(alone, Policy.parse(f"{order}+{rule}"))
    here = program(work, Policy(order, of_pool))
    assert only(there, UNPROMISED) == only(here, UNPROMISED)
    assert there["segments"] == [(job, 0, procs) for job, procs in enumerate(work.procs.tolist())]


@PROGRAMS
@given(data=st.data())
def test_in_one_queue_of_all_clusters_the_origin_of_a_job_decides_nothing(
    program: programs.Program, data: st.DataObject
) -> None:
    """There is no local phase: jobs keep starts, places, and who is backfilled."""
    to = data.draw(st.sampled_from(("most", "least", "first")))
    policy = Policy(data.draw(st.sampled_from(FIXED)), "ics", to=to, queue="global")
    work = data.draw(network_workloads(policy))
    origins = st.integers(0, len(work.platform.sizes) - 1)
    other = data.draw(st.lists(origins, min_size=len(work), max_size=len(work)))
    elsewhere = replace(work, origin=np.array(other, np.int64))
    names = (*UNPROMISED, "segments")
    assert only(program(elsewhere, policy), names) == only(program(work, policy), names)


def assert_same(work: Workload, policy: str, alone: Workload, there: str | None = None) -> None:
    """A pool and a platform that is one in other words have the same schedule."""
    pool, other = simulate(work, policy), simulate(alone, there or policy)
    assert other.digest() == pool.digest()
    assert (other.backfilled == pool.backfilled).all()


def test_one_place_is_a_pool_in_a_crowd() -> None:
    """Queues of more than a block, in fixed and moving orders, with jobs that starve."""
    work = crowd(7, 50 if numba.config.DISABLE_JIT else 400)
    for rule in ("none", "aggressive", "easy", "depth(1)", "depth(3)", "conservative"):
        for options in ("saf+{}", "lxf+{},threshold=9s", "spf+{},threshold=20s"):
            assert_same(work, options.format(rule), on_one(work, grid_of(work.processors)))
    for rule, of_pool in ALIKE:
        for order in ("fcfs", "saf"):
            there, here = f"{order}+{rule}", f"{order}+{of_pool}"
            assert_same(work, here, on_one(work, network_of(work.processors)), there)
    few = crowd(7, 60)
    few = replace(few, estimate=np.maximum(few.estimate, 1))
    for policy in ("fcfs+conservative", "saf+conservative", "lxf+conservative,threshold=9s"):
        assert_same(few, policy, on_one(few, Nodes([1] * 16, [f"n{i}" for i in range(16)])))


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="28,000 jobs take minutes without the JIT")
def test_one_place_is_a_pool_on_a_log(traces: Path) -> None:
    """A whole log, to the last bit."""
    work = read_log(traces, "KTH-SP2-1996-2.1-cln.swf.gz")
    for policy in ("fcfs+none", "saf+aggressive", "spf+easy,threshold=3x", "fcfs+conservative"):
        assert_same(work, policy, on_one(work, grid_of(work.processors)))
    for rule, of_pool in (("icsb(10)", "depth(10)"), ("isolated(10)", "depth(10)"), ("ics", "bf")):
        one = on_one(work, network_of(work.processors))
        assert_same(work, f"fcfs+{of_pool}", one, f"fcfs+{rule}")
    names = [f"n{i}" for i in range(work.processors)]
    assert_same(work, "fcfs+conservative", on_one(work, Nodes([1] * work.processors, names)))


def on_one(work: Workload, platform: Platform) -> Workload:
    return replace(work, platform=platform)


@given(data=st.data())
def test_no_cluster_is_over_its_size(data: st.DataObject) -> None:
    """No job is wider than its cluster, and at no start do those that run need more."""
    rule = data.draw(st.sampled_from(RULES["grid"]))
    work, policy = data.draw(simulations("grid", rule))
    schedule = simulate(work, policy)
    sizes = np.array(work.platform.clusters)
    assert (work.procs <= sizes[schedule.place]).all()
    assert (schedule.start >= work.submit).all()
    for place, size in enumerate(sizes):
        here = (schedule.place == place) & (work.run > 0)
        for instant in schedule.start[here]:
            runs = here & (schedule.start <= instant) & (instant < schedule.end)
            assert work.procs[runs].sum() <= size


@PLATFORMS
@given(data=st.data())
def test_a_fair_start_is_that_of_the_trace_cut_behind_the_job(
    platform: str, data: st.DataObject
) -> None:
    """Also under a searched plan: no later job has a part in a number drawn before."""
    work, policy = data.draw(simulations(platform, data.draw(st.sampled_from(RULES[platform]))))
    work = work.take(slice(8))
    everyone = np.arange(len(work))
    fair = fair_start_reference(work, policy, False, everyone, everyone)
    for job in range(len(work)):
        cut = work.take(slice(job + 1), max_estimate=work.max_estimate)
        assert simulate_reference(cut, policy).start[job] == fair[job], policy.name


@PLATFORMS
def test_a_seed_is_a_schedule(platform: str) -> None:
    """The same seed again gives the same schedule; another seed may give another."""
    work = crowd(2, 30)
    work = replace(work, platform=grid_of(16, 8) if platform == "grid" else Pool(16))

    def starts(seed: int) -> list[int]:
        policy = f"fcfs+tabu,every=5s,iterations=20,seed={seed}"
        found: list[int] = simulate_reference(work, policy).start.tolist()
        return found

    assert starts(4) == starts(4)
    assert len({tuple(starts(seed)) for seed in (4, 5, 6)}) > 1
