"""Rules of offered load and of runtime expansion (SEMANTICS: metrics of a job)."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from schedfarm.core import InputError, Workload, offered_load, read_swf, scale_load
from schedfarm.core.arrays import HORIZON
from schedfarm.core.workload.load import work


def jobs(run: list[int], **changes: object) -> Workload:
    """Jobs one second apart on one processor of a machine of one."""
    n = len(run)
    columns: dict[str, object] = {
        "submit": list(range(n)),
        "run": run,
        "estimate": run,
        "procs": [1] * n,
        "processors": 1,
    }
    return Workload.from_columns(**(columns | changes))  # type: ignore[arg-type]


def test_offered_load_is_work_over_the_machines_time() -> None:
    """Load = sum(run x procs) / (machine x (last submit - first submit))."""
    w = jobs([10, 20, 30], submit=[100, 120, 150], procs=[1, 2, 1], processors=4)
    assert offered_load(w) == 80 / (4 * 50)


def test_work_is_exact_beyond_64_bits() -> None:
    """A sum that int64 cannot hold is still exact."""
    run = [2**57] * 5
    w = jobs(run, procs=[16] * 5, processors=16)
    assert work(w) == 5 * 2**61
    assert work(jobs([])) == 0


def test_known_loads_of_the_archive(traces: Path) -> None:
    """The offered load of two logs, computed once by hand."""
    assert offered_load(read_swf(traces / "KTH-SP2-1996-2.1-cln.swf.gz")) == 0.697120743707848
    assert offered_load(read_swf(traces / "CTC-SP2-1996-3.1-cln.swf.gz")) == 0.8360397199322421


def test_scaling_multiplies_run_and_estimate_and_rounds_half_up() -> None:
    """By a factor of 1/2: 5 s become 3, 4 s become 2, and the largest estimate goes along."""
    w = jobs([5, 4, 7], submit=[0, 1, 16], estimate=[9, 4, 8], max_estimate=11)
    assert offered_load(w) == 1.0
    s = scale_load(w, 0.5)
    assert s.run.tolist() == [3, 2, 4]
    assert s.estimate.tolist() == [5, 2, 4]
    assert s.max_estimate == 6


def test_a_decimal_load_means_the_decimal() -> None:
    """0.7 is seven tenths: 45 s x 0.7 = 31.5 s, which a float64 product puts below the half."""
    w = jobs([45, 955], submit=[0, 1000])
    assert 45 * 0.7 < 31.5
    assert scale_load(w, 0.7).run.tolist() == [32, 669]
    assert scale_load(w, np.float64(0.7)).run.tolist() == [32, 669]


def test_what_ran_a_second_still_does_and_0_stays_0() -> None:
    """Run and estimate are at least 1 where they were, and 0 where they were 0."""
    w = jobs([1, 0, 99], submit=[0, 1, 100], estimate=[2, 1, 99])
    s = scale_load(w, 0.001)
    assert s.run.tolist() == [1, 0, 1]
    assert s.estimate.tolist() == [1, 1, 1]


def test_scaling_keeps_all_else() -> None:
    """Submissions, sizes, users, numbers, kills, machine, name and dropped rows stay."""
    w = jobs([3, 5], user=[4, 2], job=[8, 9], killed=[True, False], name="n", dropped={"no run": 2})
    s = scale_load(w, 2)
    for column in ("submit", "procs", "user", "job", "killed"):
        assert np.array_equal(getattr(s, column), getattr(w, column))
    assert (s.name, s.processors, s.dropped) == ("n", 1, {"no run": 2})


@given(
    run=st.lists(st.integers(0, 2**40), min_size=2, max_size=20).filter(any),
    load=st.sampled_from([0.1, 0.25, 0.5, 0.7, 0.9, 1, 1.1, 1.5, 3, 1e-6, 0.123456789]),
    gap=st.integers(1, 1000),
)
def test_scaling_equals_exact_fractions(run: list[int], load: float, gap: int) -> None:
    """Every time is floor(time x load / offered + 1/2) exactly, and at least 1 if it was."""
    w = jobs(run, submit=[gap * j for j in range(len(run))])
    factor = Fraction(str(load)) * gap * (len(run) - 1) / sum(run)
    expected = [max(math.floor(r * factor + Fraction(1, 2)), min(r, 1)) for r in run]
    assert scale_load(w, load).run.tolist() == expected


def test_times_beyond_a_float_scale_exactly() -> None:
    """A run time of 57 bits times 3/2 keeps its last second."""
    run = 2**57 + 1
    w = jobs([run, 0], submit=[0, run])
    assert scale_load(w, 1.5).run.tolist() == [(3 * run + 1) // 2, 0]


def test_real_log_reaches_the_load(traces: Path) -> None:
    """Rounding to seconds moves a year's load by less than a millionth."""
    w = read_swf(traces / "KTH-SP2-1996-2.1-cln.swf.gz")
    s = scale_load(w, 1.1)
    assert offered_load(s) == pytest.approx(1.1, abs=1e-6)
    assert (s.run <= s.estimate).all()


@pytest.mark.parametrize("load", [0, -1, math.nan, math.inf, "0.9", None, True, 10**400])
def test_a_load_that_is_none_is_refused(load: object) -> None:
    """The load is a finite number above 0."""
    with pytest.raises(InputError, match="load=.*a finite number above 0") as error:
        scale_load(jobs([1, 1]), load)  # type: ignore[arg-type]
    assert repr(load)[:20] in str(error.value)


@pytest.mark.parametrize("run", [[], [5], [5, 5]])
def test_fewer_than_two_instants_have_no_load(run: list[int]) -> None:
    """No job, one job, or jobs of one instant: there is no time over which to offer load."""
    w = jobs(run, submit=[3] * len(run), name="short")
    for act in (offered_load, lambda w: scale_load(w, 0.9)):
        with pytest.raises(InputError, match=rf"'short' has {len(run)} jobs and fewer than two"):
            act(w)


def test_no_work_cannot_be_scaled() -> None:
    """Jobs of run time 0 have an offered load of 0, which no factor changes."""
    assert offered_load(jobs([0, 0])) == 0.0
    with pytest.raises(InputError, match="no job has any work"):
        scale_load(jobs([0, 0]), 0.9)


def test_scaling_past_the_clock_is_refused() -> None:
    """A factor that carries an estimate past the clock's horizon names the load."""
    with pytest.raises(InputError, match=rf"load=1e\+30: .* would pass the clock's {HORIZON} s"):
        scale_load(jobs([1, 1]), 1e30)
