"""The model of Jann et al. against its moments and the log that they are of."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from schedfarm.core import InputError, read_swf
from schedfarm.core.models.hyper_erlang import HyperErlang, fit
from schedfarm.core.models.jann import CTC, Class, jann
from schedfarm.core.philox import philox

N = 60_000
WORKLOAD = jann(322, jobs=N, seed=5, estimates="exact")
SUMMER = 842_587_200
"""The end of 1996-09-12 in the log's own time, as a Unix time."""


@given(
    order=st.integers(1, 9),
    first=st.floats(0.05, 0.95),
    slow=st.floats(1e-5, 1e-2),
    ratio=st.floats(2, 50),
)
def test_a_fit_has_the_moments(order: int, first: float, slow: float, ratio: float) -> None:
    """Three moments in, three moments out, with as many stages as needed or fewer."""
    h = HyperErlang(order, first, slow, slow * ratio)
    found = fit(*(h.moment(k) for k in (1, 2, 3)))
    assert found.order <= order
    assert [found.moment(k) for k in (1, 2, 3)] == pytest.approx([h.moment(k) for k in (1, 2, 3)])
    assert found.slow < found.fast


def test_a_fit_that_does_not_exist() -> None:
    """A constant has no spread that two branches could have."""
    with pytest.raises(InputError, match="no hyper-Erlang distribution of up to 100 stages"):
        fit(1.0, 1.0, 1.0)


def test_moments_of_known_distributions() -> None:
    """Exponential: k! / rate^k; Erlang of 3 stages: 3 x 4 x ... / rate^k."""
    assert [HyperErlang(1, 1.0, 0.5, 1.0).moment(k) for k in (1, 2, 3)] == [2, 8, 48]
    assert [HyperErlang(3, 1.0, 1.0, 9.0).moment(k) for k in (1, 2, 3)] == [3, 12, 60]


def close(values: np.ndarray, h: HyperErlang, extra: float = 0.0) -> None:
    """Assert two sample moments within six standard errors of the distribution's."""
    for k in (1, 2):
        error = (max(h.moment(2 * k) - h.moment(k) ** 2, 0.0) / values.size) ** 0.5
        power = np.asarray(values, float) ** k
        assert abs(power.mean() - h.moment(k)) < 6 * error + extra * h.moment(k)


@pytest.mark.parametrize("kind", CTC, ids=lambda kind: f"{kind.least}-{kind.most}")
def test_classes_have_their_moments(kind: Class) -> None:
    """Gaps and run times of each class, drawn 100,000 times and as found in a workload."""
    for h in (kind.gap, kind.run):
        close(h.draw(np.random.Generator(philox("test", kind.least)), 100_000), h)
    own = (WORKLOAD.procs >= kind.least) & (WORKLOAD.procs <= kind.most)
    gaps = np.diff(WORKLOAD.submit[own])
    # Whole seconds: a second moment gains at most 1/2 s^2, of gaps of hundreds of seconds.
    close(gaps, kind.gap, 0.001)
    close(WORKLOAD.run[own], kind.run, 0.001)


def test_sizes_of_a_class() -> None:
    """Uniform over the class, or its largest; a machine cuts a class, and leaves wider ones out."""
    own = WORKLOAD.procs[(WORKLOAD.procs >= 5) & (WORKLOAD.procs <= 8)]
    count = np.bincount(own, minlength=9)[5:]
    assert ((count - own.size / 4) ** 2 / (own.size / 4)).sum() < 30.7
    assert set(jann(100, jobs=5_000, sizes="largest").procs.tolist()) == {
        1, 2, 4, 8, 16, 32, 64, 100,
    }  # fmt: skip
    assert jann(64, jobs=5_000).procs.max() <= 64
    assert set(jann(1, jobs=50).procs.tolist()) == {1}


def test_parameters_are_fitted_to_the_log(traces: Path) -> None:
    """Each class's parameters, of five figures, are the fit to the log's days, within those."""
    w = read_swf(traces / "CTC-SP2-1996-3.1-cln.swf.gz")
    days = w.submit + w.epoch < SUMMER
    assert np.count_nonzero(days) == 17_826
    for kind in CTC:
        own = days & (w.procs >= kind.least) & (w.procs <= kind.most)
        for values, h in ((np.diff(w.submit[own]), kind.gap), (w.run[own], kind.run)):
            found = fit(*(float(np.mean(values.astype(float) ** k)) for k in (1, 2, 3)))
            assert found.order == h.order
            figures = [found.first, found.slow, found.fast]
            assert figures == pytest.approx([h.first, h.slow, h.fast], rel=1e-4)


def test_unknown_sizes_are_refused() -> None:
    """The known ones are listed."""
    with pytest.raises(InputError, match="sizes='even' is unknown; known: uniform, largest"):
        jann(64, jobs=5, sizes="even")
