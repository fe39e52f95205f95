"""Fair start times of random workloads, by the kernels and by the reference."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, strategies as st

from schedfarm.core.engine.fair_start import fair_start_times
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.policy.orders import ORDERS
from schedfarm.core.policy.policy import Policy
from schedfarm.core.reference.fair_start import fair_start_reference
from schedfarm.core.workload.workload import Workload
from tests.oracles.programs import described
from tests.support.golden import ORDERS as GOLDEN_ORDERS, micro, policy_of
from tests.support.strategies import LOGARITHMIC, RULES, SHARING, WRITTEN, every_order, policies

KINDS = ("strict", "relaxed")

FAIR_RULES = [rule for rule in RULES["pool"] if rule != "tabu"]
"""Rules that have kernels for fair starts."""

DEFAULT = ("easy", "conservative")
"""Rules that the default tiers compare."""

ORDERS_BY_DEFAULT = ("fcfs", "lxf")
"""Orders that they compare: one of fixed keys and one of moving ones. Each order of another kind
compiles fair starts for 5 to 10 s of CPU per rule."""

ORDERS_OF_EACH_KIND = ("fcfs", "spf", "lxf", "saf", "wfp3", WRITTEN[0], *SHARING)


def ranks(work: Workload, later: str) -> np.ndarray:
    """Return the place of each job in a fair order, by sorting tuples."""
    keys = {
        "arrival": np.arange(len(work)),
        "spf": work.estimate,
        "lcfs": -work.submit,
        "sqf": work.procs,
    }[later]
    order = sorted(range(len(work)), key=lambda j: (keys[j], j))
    rank = np.empty(len(work), np.int64)
    rank[order] = np.arange(len(work))
    return rank


def check(work: Workload, policy: Policy, kind: str, later: str = "arrival") -> None:
    # Where the last place of a logarithm may decide, the two programs need not agree.
    assume(not {policy.order, policy.backfill} & LOGARITHMIC)
    fst = fair_start_times(work, policy, kind, later=later).tolist()
    everyone = range(len(work))
    expected = fair_start_reference(work, policy, kind == "relaxed", everyone, ranks(work, later))
    assert fst == expected, (policy.name, kind, later, described(work))


def check_orders(data: st.DataObject, work: Workload, rule: str, orders: tuple[str, ...]) -> None:
    """Check both kinds and clocks, with every option, in some orders."""
    for policy in data.draw(every_order("pool", rule)):
        if policy.order in orders:
            for kind in KINDS:
                check(work, policy, kind)


def check_cut_logs(data: st.DataObject, work: Workload, rule: str) -> None:
    """Check that a strict fair start is the start in the log cut after the job."""
    for orders in (ORDERS, SHARING):
        order = data.draw(st.sampled_from(tuple(orders)))
        policy = data.draw(policies(order=order, rule=rule))
        fst = fair_start_times(work, policy)
        for j in range(len(work)):
            cut = work.take(slice(j + 1))
            assert fst[j] == simulate(cut, policy).start[j], policy.name


def check_common_units(rule: str, kind: str) -> None:
    """Check that widths count in their greatest common divisor."""
    few = Workload.from_columns(
        submit=[0, 1, 2, 3],
        run=[4, 5, 2, 3],
        estimate=[6, 5, 4, 3],
        procs=[3, 4, 1, 1],
        processors=4,
    )
    many = Workload.from_columns(
        submit=few.submit,
        run=few.run,
        estimate=few.estimate,
        procs=few.procs * 2**40,
        processors=4 * 2**40,
    )
    of_few, of_many = (fair_start_times(w, f"fcfs+{rule}", kind).tolist() for w in (few, many))
    assert of_few == of_many


def check_golden(rule: str, which: slice) -> None:
    """Check the reference on some of the golden instances of a rule."""
    for order in GOLDEN_ORDERS:
        for work, run in micro(order, rule)[which]:
            everyone = np.arange(len(work))
            policy = policy_of(run)
            for kind in KINDS:
                fst = fair_start_reference(work, policy, kind == "relaxed", everyone, everyone)
                assert fst == run[f"fst_{kind}"], policy.name
