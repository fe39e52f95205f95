"""Predicted run times of the reference, from docs/semantics.md, section Predictions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from schedfarm.core.policy.policy import Policy
from schedfarm.core.policy.predictions import KNOWN_AT_SUBMISSION, OwnPredictor
from schedfarm.core.reference.job import Job
from schedfarm.core.workload.workload import Workload

HOUR = 3600

ADDED = [60, 5 * 60, 15 * 60, 30 * 60, *(h * HOUR for h in (1, 2, 5, 10, 20, 50, 100))]
"""Seconds that the successive corrections of `correct=steps` add."""


class Predictions:
    """Predict run times at submissions, and correct predictions that turn out too short."""

    def __init__(self, workload: Workload, policy: Policy) -> None:
        self.workload = workload
        self.predict = policy.predict or ""
        self.correct = policy.correct
        self.own = OwnPredictor(self.predict) if ":" in self.predict else None

    def predict_at_submission(self, job: Job, completed: list[Job]) -> None:
        """Set the prediction of a job from the completed jobs."""
        if self.predict == "perfect":
            job.prediction = job.run
            return
        # The sort is stable, so jobs with equal ends stay in the order of their positions.
        past = sorted(completed, key=lambda one: (one.end, one.position))
        same = [one for one in past if one.user == job.user]
        if self.own is not None:
            seconds: Any = self.own.ask(self._columns([job]), self._columns(past), job.number)
        elif self.predict == "soft":
            seconds = self._soft(job, same[-5:])
        else:
            seconds = self._mean(job, same, 2 if self.predict == "last2" else self._number())
        job.prediction = min(max(int(seconds // 1), 1), job.estimate)

    def _number(self) -> int:
        return int(self.predict.removeprefix("mean(").removesuffix(")"))

    def _mean(self, job: Job, same: list[Job], k: int) -> Fraction:
        last = same[-k:]
        if len(last) < k:
            return Fraction(job.estimate)
        return Fraction(sum(one.run for one in last), k)

    def _soft(self, job: Job, last: list[Job]) -> Fraction:
        asked = sum(one.estimate for one in last)
        if asked == 0:
            return Fraction(job.estimate)
        return job.estimate * Fraction(sum(one.run for one in last), asked)

    def _columns(self, jobs: list[Job]) -> dict[str, Any]:
        at = np.array([job.position for job in jobs], np.int64)
        columns = {name: getattr(self.workload, name)[at] for name in KNOWN_AT_SUBMISSION}
        columns["start"] = np.array([job.start for job in jobs], np.int64)
        columns["run"] = np.array([job.run for job in jobs], np.int64)
        return columns

    def correct_outlived(self, running: list[Job], now: int) -> None:
        """Raise predicted ends of running jobs that are not after now, at most to the estimate."""
        for job in running:
            while job.predicted_end <= now and job.prediction < job.estimate:
                job.prediction = min(self._corrected(job), job.estimate)
                job.corrections += 1

    def _corrected(self, job: Job) -> int:
        if self.correct == "double":
            return 2 * job.prediction
        if self.correct == "steps" and job.corrections < len(ADDED):
            return job.prediction + ADDED[job.corrections]
        return job.estimate
