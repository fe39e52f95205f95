"""Run times predicted by a regressor that is trained during a simulation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, cast

import numpy as np
import numpy.typing as npt

from schedfarm.core.arrays import Int64
from schedfarm.core.checks import whole
from schedfarm.core.errors import InputError

Columns = Mapping[str, Int64]
"""Columns of jobs by name, as predictors get them."""

DAY = 86_400

FEATURES = (
    "estimate", "procs", "user", "group", "queue", "partition", "second of the day",
    "day of the week", "last run time", "run time before it", "mean run time", "completed jobs",
)  # fmt: skip
"""Columns of a regressor's matrix. The last four describe the user's completed jobs at submission;
the estimate replaces missing times."""


class Retrained:
    """Predict run times by a regressor of scikit-learn, trained again after `every` completions.

    Name a subclass in ``predict=module:name``; each simulation makes its own instance. A training
    fits a new clone of `regressor` to all completed jobs, on one thread. Before the first training,
    the prediction is the estimate. A predictor gets only completed jobs, so that the regressor
    cannot use run times that a scheduler would not have.

    Attributes
    ----------
    regressor : estimator
        A regressor with the interface of scikit-learn, such as a pipeline. Its input is the columns
        `FEATURES`, and its output is in seconds.
    every : int
        Number of completions between trainings, from 1.

    Raises
    ------
    InputError
        If `regressor` is not a regressor, its results are not reproducible, or `every` is out of
        range.

    Examples
    --------
    >>> class Mean(Retrained):
    ...     regressor = "the mean"
    >>> Mean()
    Traceback (most recent call last):
    schedfarm.core.errors.InputError: Mean.regressor='the mean' is not a regressor of scikit-learn;
    give one, such as DecisionTreeRegressor(random_state=1)
    """

    regressor: ClassVar[Any] = None
    every: ClassVar[int] = 1000

    def __init__(self) -> None:
        name = type(self).__name__
        for part in ("fit", "predict", "get_params"):
            if not hasattr(self.regressor, part):
                raise InputError(
                    f"{name}.regressor={self.regressor!r} is not a regressor of scikit-learn; give "
                    "one, such as DecisionTreeRegressor(random_state=1)"
                )
        for key, value in self.regressor.get_params().items():
            if key.endswith("random_state") and value is None:
                raise InputError(f"{name}.regressor: {key}=None is random; give a number")
            if key.endswith("n_jobs") and value not in (None, 1):
                raise InputError(f"{name}.regressor: {key}={value} uses several cores; give 1")
        self._every = whole(f"{name}.every", self.every, least=1)
        self._seen = 0
        self._fitted: Any = None
        # The import is here because only subclasses, which import scikit-learn anyway, need it.
        from threadpoolctl import ThreadpoolController

        self._threads = ThreadpoolController()

    def __call__(self, job: Mapping[str, int], completed: Columns) -> float:
        """Return the predicted run time of a submitted job, s."""
        count = completed["run"].size
        with self._threads.limit(limits=1):
            if count - self._seen >= self._every:
                self._fitted, self._seen = self._trained(completed), count
            if self._fitted is None:
                return job["estimate"]
            own = np.flatnonzero(completed["user"] == job["user"])
            past = {name: completed[name][own] for name in ("start", "run")}
            one = {name: np.array([value]) for name, value in job.items()}
            return float(self._fitted.predict(features(one, past))[0])

    def _trained(self, completed: Columns) -> Any:
        """Return a regressor fitted to the completed jobs."""
        from sklearn.base import clone

        order = np.argsort(completed["user"], kind="stable")
        users = np.flatnonzero(np.diff(completed["user"][order])) + 1
        jobs = [{name: completed[name][of] for name in completed} for of in np.split(order, users)]
        rows = np.concatenate([features(of_user, of_user) for of_user in jobs])
        return clone(self.regressor).fit(rows, completed["run"][order])


def features(jobs: Columns, past: Columns) -> npt.NDArray[np.float64]:
    """Return the `FEATURES` of some jobs of a user, computed from the user's `past` jobs.

    Past jobs that had not completed by the submission of a job are ignored for this job. `past` is
    in order of completion.

    Examples
    --------
    >>> past = {"start": np.array([0, 5]), "run": np.array([10, 20])}
    >>> job = {name: np.array([90]) for name in ("estimate", "procs", "user", "group", "queue")}
    >>> job = {**job, "partition": np.array([1]), "submit": np.array([12])}
    >>> features(job, past)[0, 8:].tolist()
    [10.0, 90.0, 10.0, 1.0]
    >>> features({**job, "submit": np.array([25])}, past)[0, 8:].tolist()
    [20.0, 10.0, 15.0, 2.0]
    """
    run, estimate, submit = past["run"], jobs["estimate"], jobs["submit"]
    count = np.searchsorted(past["start"] + run, submit, side="right")
    # Two placeholder jobs precede the first one and are never selected.
    runs, total = np.concatenate([[0, 0], run]), np.concatenate([[0], np.cumsum(run)])
    columns = [
        *(jobs[name] for name in FEATURES[:6]),
        submit % DAY,
        submit // DAY % 7,
        np.where(count > 0, runs[count + 1], estimate),
        np.where(count > 1, runs[count], estimate),
        np.where(count > 0, total[count] / np.maximum(count, 1), estimate),
        count,
    ]
    return cast("npt.NDArray[np.float64]", np.stack(columns, axis=1).astype(np.float64))
