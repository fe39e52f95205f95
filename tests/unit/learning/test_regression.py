"""Predictors that are trained in the course of a simulation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from schedfarm.core.engine.predicted import predictions
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.errors import InputError
from schedfarm.core.reference.loop import simulate_reference
from schedfarm.core.workload.workload import Workload
from schedfarm.learning import Retrained
from schedfarm.learning.regression import features
from tests.support.episodes import log

pytest.importorskip("sklearn")

from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeRegressor

TRAINED: list[Any] = []
"""The matrix and the run times of each training."""


class Noting(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Note what it is trained on; predict the mean."""

    def fit(self, rows: Any, run: Any) -> Noting:
        TRAINED.append((rows, run))
        self.mean_ = run.mean()
        return self

    def predict(self, rows: Any) -> Any:
        return np.full(len(rows), self.mean_)


class Mean(Retrained):
    regressor = Noting()
    every = 100


class Tree(Retrained):
    regressor = DecisionTreeRegressor(min_samples_leaf=5, random_state=1)
    every = 100


HERE = "tests.unit.learning.test_regression:"


def users_of_one(workload: Workload, user: int, count: int) -> dict[str, Any]:
    names = ("submit", "estimate", "procs", "user", "group", "queue", "partition", "run")
    mine = np.flatnonzero(workload.user == user)[:count]
    return {name: getattr(workload, name)[mine] for name in names}


def test_trainings_see_completed_jobs_only() -> None:
    from tests.unit.learning import test_regression as imported

    imported.TRAINED.clear()
    schedule = simulate(log(), f"fcfs+easy,predict={HERE}Mean,correct=estimate")
    trained = imported.TRAINED
    assert [run.size // 100 for _, run in trained] == list(range(1, len(trained) + 1))
    assert len(trained) == 8
    ends, made = np.sort(schedule.end), predictions(schedule)
    for (_, run), (_, later) in zip(trained, trained[1:], strict=False):
        # The jobs that came between two trainings were predicted by the first.
        first = np.searchsorted(log().submit, ends[run.size - 1])
        last = np.searchsorted(log().submit, ends[later.size - 1])
        between = slice(first, last)
        expected = np.minimum(int(run.mean()), log().estimate[between])
        assert made[between].tolist() == expected.tolist()
        done = schedule.end <= log().submit[first]
        assert sorted(run.tolist()) == sorted(log().run[done].tolist())


def test_a_simulation_repeats_and_agrees_with_the_reference() -> None:
    policy = f"fcfs+easy,predict={HERE}Tree"
    small = log().take(slice(300))
    first, second = (simulate(small, policy) for _ in range(2))
    assert first.start.tolist() == second.start.tolist()
    assert first.start.tolist() == simulate_reference(small, policy).start.tolist()
    made = predictions(first)
    assert made.tolist() == predictions(second).tolist()
    assert len(set((small.estimate - made).tolist())) > 20


def test_the_prediction_is_the_estimate_before_the_first_training() -> None:
    small = log().take(slice(90))
    schedule = simulate(small, f"fcfs+easy,predict={HERE}Tree")
    assert schedule.start.tolist() == simulate(small, "fcfs+easy").start.tolist()


def test_features_are_those_of_the_submission() -> None:
    """The row of a job is the same when it is submitted and at any later training."""
    work = users_of_one(log(), 3, 60)
    past = {"start": work["submit"], "run": work["run"]}
    order = np.argsort(past["start"] + past["run"], kind="stable")
    past = {name: column[order] for name, column in past.items()}
    whole = features(work, past)
    for j, submit in enumerate(work["submit"].tolist()):
        done = past["start"] + past["run"] <= submit
        then = {name: column[done] for name, column in past.items()}
        one = {name: column[j : j + 1] for name, column in work.items()}
        np.testing.assert_array_equal(features(one, then)[0], whole[j])
        assert whole[j, 11] == done.sum()


@pytest.mark.parametrize(
    ("regressor", "every", "sentence"),
    [
        (None, 1, "Own.regressor=None is not a regressor of scikit-learn; give one"),
        (DecisionTreeRegressor(), 1, "Own.regressor: random_state=None is random; give a number"),
        (
            make_pipeline(DecisionTreeRegressor()),
            1,
            "Own.regressor: decisiontreeregressor__random_state=None is random",
        ),
        (LinearRegression(n_jobs=2), 1, "Own.regressor: n_jobs=2 uses several cores; give 1"),
        (LinearRegression(), 0, "Own.every=0: give a whole number, at least 1"),
    ],
)
def test_bad_predictors_are_refused(regressor: Any, every: int, sentence: str) -> None:
    own = type("Own", (Retrained,), {"regressor": regressor, "every": every})
    with pytest.raises(InputError, match=sentence):
        own()
