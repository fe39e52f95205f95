"""Rules that every workload model of a pool keeps."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from schedfarm.core import InputError, offered_load
from schedfarm.core.models import MODELS
from schedfarm.core.models.estimates import ESTIMATES
from schedfarm.core.workload.resample_weeks import WEEK

NAMES = sorted(name for name, row in MODELS.items() if not row.clusters)


@pytest.mark.parametrize("name", NAMES)
def test_same_key_same_jobs(name: str) -> None:
    """A workload depends on its arguments alone; seed, index and machine each give another."""
    draw = MODELS[name].function
    first = draw(128, jobs=300, seed=1, index=2)
    assert first.digest() == draw(128, jobs=300, seed=1, index=2).digest()
    others = [draw(128, jobs=300, seed=2, index=2), draw(128, jobs=300, seed=1, index=3)]
    others.append(draw(64, jobs=300, seed=1, index=2))
    assert len({w.submit.tobytes() for w in (first, *others)}) == 4
    assert first.name == f"{name}-128"


@pytest.mark.parametrize("name", NAMES)
def test_fewer_jobs_are_the_first_of_more(name: str) -> None:
    """Sizes do not disturb draws: 300 jobs begin 9,000, and 2 weeks begin 9."""
    draw = MODELS[name].function
    for short, long in (
        (draw(100, jobs=300, seed=1), draw(100, jobs=9_000, seed=1)),
        (draw(100, weeks=2, seed=1), draw(100, weeks=9, seed=1)),
    ):
        for column in ("submit", "run", "procs", "user", "job", "estimate"):
            assert np.array_equal(getattr(short, column), getattr(long, column)[: len(short)])


@pytest.mark.parametrize("name", NAMES)
def test_weeks_hold_all_submissions(name: str) -> None:
    """All that are submitted in the weeks, and none after them."""
    w = MODELS[name].function(100, weeks=3, seed=1)
    more = MODELS[name].function(100, jobs=len(w) + 1, seed=1)
    assert w.submit[-1] < 3 * WEEK <= more.submit[-1]


@pytest.mark.parametrize("name", NAMES)
def test_load_is_scaled(name: str) -> None:
    """A load asked for is that of the workload, but for rounding to seconds."""
    assert offered_load(MODELS[name].function(100, jobs=2_000, load=0.7)) == pytest.approx(
        0.7, rel=1e-3
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("how", ESTIMATES)
def test_estimates_hold_the_runs(name: str, how: str) -> None:
    """No job outruns its estimate; one that would run past the platform's limit is killed at it."""
    w = MODELS[name].function(100, jobs=2_000, seed=3, estimates=how, max_estimate=7_200)
    assert int(w.estimate.max()) == w.max_estimate == 7_200
    free = MODELS[name].function(100, jobs=2_000, seed=3, estimates="exact")
    assert np.array_equal(w.killed, free.run > 7_200)
    assert np.array_equal(w.run, np.minimum(free.run, 7_200))
    assert np.array_equal(free.estimate, free.run)
    assert how != "tsafrir" or np.unique(w.estimate).size < 60


@pytest.mark.parametrize("name", NAMES)
def test_users_submit_in_proportion(name: str) -> None:
    """Of two users the first submits 2/3 of the jobs: binomial, six sigma."""
    w = MODELS[name].function(100, jobs=6_000, seed=1, users=2)
    assert abs(np.count_nonzero(w.user == 1) - 4_000) < 6 * (6_000 * 2 / 9) ** 0.5
    assert set(w.user.tolist()) == {1, 2}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"jobs": 5, "weeks": 1}, "a model needs exactly one of them"),
        ({}, "a model needs exactly one of them"),
        ({"jobs": 0}, "jobs=0: give a whole number, at least 1"),
        ({"weeks": 1.5}, "weeks=1.5: give a whole number, at least 1"),
        ({"jobs": 5, "processors": 0}, "processors=0: give a whole number, at least 1"),
        ({"jobs": 5, "seed": "a"}, "seed='a': give a whole number"),
        ({"jobs": 5, "users": 0}, "users=0: give a whole number, at least 1"),
        ({"jobs": 5, "estimates": "best"}, "estimates='best' is unknown; known: f-model, tsafrir"),
        ({"jobs": 5, "max_estimate": 5, "estimates": "exact"}, "max_estimate=5: give a whole"),
        ({"jobs": 5, "max_estimate": 999, "estimates": "tsafrir"}, "allow 3600 s or more"),
    ],
)
def test_bad_arguments_are_refused(change: dict[str, object], said: str) -> None:
    """Every model names the argument with its value and what would be right."""
    arguments = {"processors": 100} | change
    for name in NAMES:
        with pytest.raises(InputError) as error:
            MODELS[name].function(**arguments)
        assert said in str(error.value), name


def test_models_share_their_arguments() -> None:
    """A campaign names any model alike."""
    shared = {"jobs", "weeks", "seed", "index", "load", "users", "estimates", "f", "max_estimate"}
    for name, row in MODELS.items():
        first, *others = inspect.signature(row.function).parameters
        assert first == ("platform" if row.clusters else "processors"), name
        assert shared <= set(others), name
