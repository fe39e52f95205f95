"""Predictors of run times and corrections of their predictions, one row each."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from schedfarm.core import own
from schedfarm.core.errors import InputError
from schedfarm.core.names import choices

KNOWN_AT_SUBMISSION = (
    "submit",
    "estimate",
    "procs",
    "user",
    "group",
    "queue",
    "partition",
)
"""Columns of a job that a predictor receives, int64."""

MOST_JOBS = 64
"""Largest number of past jobs in a mean."""

_MEAN = re.compile(r"mean\((\d{1,3})\)")


def is_predicted(policy: str) -> bool:
    """Return whether a policy, given by name, plans with predictions instead of estimates.

    Examples
    --------
    >>> is_predicted("fcfs+easy,predict=last2"), is_predicted("fcfs+easy")
    (True, False)
    """
    return "predict=" in policy


@dataclass(frozen=True)
class Predictor:
    """Declare a predictor.

    Parameters
    ----------
    name : str
        Name of the predictor in a policy, with K for a number.
    meaning : str
        Definition of the prediction, in one line.
    code : str
        ``module:name`` of the code by which kernels evaluate the predictor.
    jobs : int
        Number of the user's last completed jobs in a prediction.
    """

    name: str
    meaning: str
    code: str
    jobs: int = 0


@dataclass(frozen=True)
class Correction:
    """Declare a correction of too short predictions; `code` is as for a predictor."""

    name: str
    meaning: str
    code: str


_KERNEL = "schedfarm.core.engine.predicting:"

_PREDICTORS = (
    Predictor("last2", "mean of the user's last two completed jobs", _KERNEL + "MEAN", 2),
    Predictor("mean(K)", "mean of the user's last K completed jobs", _KERNEL + "MEAN"),
    Predictor(
        "soft",
        "estimate x the used part of the estimates of the user's last five completed jobs",
        _KERNEL + "SOFT",
        5,
    ),
    Predictor("perfect", "the run time", _KERNEL + "PERFECT"),
)

PREDICTORS: dict[str, Predictor] = {row.name: row for row in _PREDICTORS}
"""The built-in predictors, by name."""

_CORRECTIONS = (
    Correction("steps", "1, 5, 15, 30 min, 1, 2, 5, 10, 20, 50, 100 h more", _KERNEL + "STEPS"),
    Correction("double", "twice as long", _KERNEL + "DOUBLE"),
    Correction("estimate", "the estimate", _KERNEL + "ESTIMATE"),
)

CORRECTIONS: dict[str, Correction] = {row.name: row for row in _CORRECTIONS}
"""The corrections by name, the default first."""


def find_predictor(name: str) -> Predictor:
    """Return the row of a predictor: a built-in predictor, or a user's ``module:name``.

    Examples
    --------
    >>> find_predictor("mean(5)").jobs, find_predictor("last2").jobs
    (5, 2)
    >>> find_predictor("last3")
    Traceback (most recent call last):
    schedfarm.core.errors.InputError: predict='last3' is unknown; did you mean 'last2'? known: \
last2, mean(K), soft, perfect, module:name
    """
    if ":" in name:
        return Predictor(name, name, _KERNEL + "CALLED")
    mean = _MEAN.fullmatch(name)
    if mean and 1 <= int(mean[1]) <= MOST_JOBS:
        return Predictor(name, PREDICTORS["mean(K)"].meaning, _KERNEL + "MEAN", int(mean[1]))
    if mean or name == "mean(K)":
        raise InputError(
            f"predict={name!r}; give the mean of 1 to {MOST_JOBS} jobs, such as mean(5)"
        )
    if name not in PREDICTORS:
        raise InputError(f"predict={name!r} is unknown; {choices(name, PREDICTORS, 'module:name')}")
    return PREDICTORS[name]


def canonical_predictor(option: str, text: str) -> str:
    """Return the canonical name of a predictor; raise InputError if it cannot be used.

    Examples
    --------
    >>> canonical_predictor("predict", "mean(2)"), canonical_predictor("predict", "mean(03)")
    ('last2', 'mean(3)')
    """
    if ":" in text:
        OwnPredictor(text)
        return text
    find_predictor(text)
    if mean := _MEAN.fullmatch(text):
        return "last2" if int(mean[1]) == 2 else f"mean({int(mean[1])})"
    return text


class OwnPredictor:
    """Call a user's predictor, and report its errors as sentences; instantiate a class.

    Examples
    --------
    >>> import numpy as np
    >>> half = OwnPredictor("schedfarm.core.policy.predictions:half_of_the_estimate")
    >>> half.ask({"estimate": np.array([9])}, {}, 1)
    4.5
    """

    def __init__(self, name: str) -> None:
        found = own.brought("predictor", "schedfarm.predictors", name)
        if not callable(found):
            raise InputError(
                f"predictor {name!r} is {type(found).__name__}; it must be a function or a class"
            )
        self.name = name
        self.call = cast(
            "Callable[..., Any]",
            own.guarded(f"predictor {name!r}", found)() if inspect.isclass(found) else found,
        )
        try:
            inspect.signature(self.call).bind({}, {})
        except (TypeError, ValueError):
            raise InputError(
                f"predictor {name!r} is not a function of (job, completed) that returns seconds"
            ) from None

    def ask(
        self,
        job: Mapping[str, npt.NDArray[np.int64]],
        completed: Mapping[str, npt.NDArray[np.int64]],
        number: int,
    ) -> float:
        """Return a prediction, s, for a job, given by its columns, of length 1, and its number."""
        one = {name: int(job[name][0]) for name in KNOWN_AT_SUBMISSION if name in job}
        seconds = own.guarded(f"predictor {self.name!r}", self.call)(one, completed)
        try:
            value = float(seconds)
        except (TypeError, ValueError):
            value = math.nan
        if not math.isfinite(value):
            raise InputError(
                f"predictor {self.name!r} returned {seconds!r} for job {number}; "
                "it must return a finite number of seconds"
            )
        return value


def half_of_the_estimate(job: Mapping[str, int], completed: Mapping[str, Any]) -> float:
    """Predict half of the estimate: an example of a predictor.

    Examples
    --------
    >>> half_of_the_estimate({"estimate": 9}, {})
    4.5
    """
    return job["estimate"] / 2
