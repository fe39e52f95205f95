"""Own orders and compiled formulas, an empty workload, and an order that is unknown."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given

from schedfarm.core.engine.simulate import simulate
from schedfarm.core.errors import InputError
from schedfarm.core.workload.workload import Workload
from tests.support.strategies import workloads

Job = tuple[int, int, int, int]


def jobs(processors: int, *rows: Job) -> Workload:
    """Build a workload from rows of (submit, run, estimate, procs)."""
    submit, run, estimate, procs = zip(*rows, strict=True)
    return Workload.from_columns(
        submit=submit, run=run, estimate=estimate, procs=procs, processors=processors
    )


PAIR = jobs(2, (0, 5, 5, 1), (1, 3, 3, 2))


def by_width(submit, estimate, procs, user, now):  # type: ignore[no-untyped-def]
    return procs


def by_age(submit, estimate, procs, user, now):  # type: ignore[no-untyped-def]
    return submit - now + 0.5


def as_fixed(submit, estimate, procs, user, now):  # type: ignore[no-untyped-def]
    return estimate * procs


as_fixed.static = True  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("own", "ours"),
    [("by_width", "sqf"), ("by_age", "fcfs"), ("as_fixed", "saf")],
)
@pytest.mark.parametrize("rule", ["none", "aggressive", "easy"])
@given(work=workloads())
def test_own_order_equals_ours(own: str, ours: str, rule: str, work: Workload) -> None:
    """A function that returns our key, at each pass or once, gives our schedule."""
    sys.modules.setdefault("own_orders", sys.modules[__name__])
    mine = simulate(work, f"own_orders:{own}+{rule},threshold=5s")
    known = simulate(work, f"{ours}+{rule},threshold=5s")
    assert mine.start.tolist() == known.start.tolist()
    assert mine.backfilled.tolist() == known.backfilled.tolist()


@pytest.mark.parametrize("name", ["wfp3", "unicef", "f1", "f2", "f3", "f4"])
@given(work=workloads())
def test_compiled_order_equals_its_function(name: str, work: Workload) -> None:
    """The kernel's copy of a published formula sorts as the plain function does."""
    compiled = simulate(work, f"{name}+easy")
    plain = simulate(work, f"schedfarm.core.policy.functions:{name}+easy")
    assert compiled.start.tolist() == plain.start.tolist()


@given(work=workloads(max_jobs=30))
def test_smallest_first_never_backfills(work: Workload) -> None:
    """Proposition 1 of the SAF paper: behind a blocked narrowest job no one fits."""
    schedule = simulate(work, "sqf+easy")
    assert not schedule.backfilled.any()
    assert schedule.start.tolist() == simulate(work, "sqf+none").start.tolist()


@pytest.mark.parametrize("order", ["fcfs", "saf", "lxf"])
@pytest.mark.parametrize("rule", ["none", "aggressive", "easy", "conservative"])
def test_no_jobs_no_starts(order: str, rule: str) -> None:
    """An empty workload has an empty schedule."""
    empty = Workload.from_columns(submit=[], run=[], estimate=[], procs=[], processors=4)
    assert simulate(empty, f"{order}+{rule}").start.shape == (0,)


def test_unknown_function_is_refused() -> None:
    """An order that cannot be imported is refused by its name."""
    with pytest.raises(
        InputError, match=r"'schedfarm\.core\.policy\.functions:absent' cannot be imported"
    ):
        simulate(jobs(4, (0, 1, 1, 1)), "schedfarm.core.policy.functions:absent+easy")


def test_a_function_is_told_the_name_of_its_policy() -> None:
    """One that can be found by its name; the name that the sentence gives works."""
    with pytest.raises(InputError) as told:
        simulate(PAIR, by_width)
    name = str(told.value).split("'")[-2]
    assert name.endswith("test_simulate:by_width+easy")
    assert simulate(PAIR, name).policy == name


def test_what_names_no_policy_is_refused() -> None:
    """A function inside another has no name to be found by, and a number is none."""
    with pytest.raises(InputError, match="'<lambda>' cannot be found by its name; define it with"):
        simulate(PAIR, lambda procs: procs)  # type: ignore[arg-type, return-value]
    with pytest.raises(
        InputError, match="policy 7 is neither a Policy nor the name of one, such as 'saf"
    ):
        simulate(PAIR, 7)  # type: ignore[arg-type]
