"""Cleaning of a log's rows before they become jobs: processors, estimates and run times.

Simulators differ in this step, and most do not document it; a `Clean` value states each treatment.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from schedfarm.core.arrays import HORIZON, Bool, Int64
from schedfarm.core.checks import is_whole
from schedfarm.core.errors import InputError
from schedfarm.core.models.estimates import HOUR, draw_estimates
from schedfarm.core.workload.columns import UNKNOWN
from schedfarm.core.workload.options import Options, flag, one_of, option, whole_from

PROCESSORS = {
    "requested": "the requested ones, or the allocated ones if unknown",
    "allocated": "the allocated ones only",
}
"""Sources of the number of processors of a job."""

ESTIMATES = {
    "requested": "the requested time, or that of `no_estimate` if unknown",
    "exact": "the run time itself: no estimate is wrong, and no job is killed",
}
"""Sources of the requested time of a job."""

NO_ESTIMATE = {
    "run": "the run time itself, so that orders by estimate know it in advance",
    "f-model": "drawn by Mu'alem and Feitelson's model, factor 5",
    "tsafrir": "drawn by Tsafrir's model",
}
"""Sources of the estimate for a row without a requested time; a number of seconds is also valid."""

MOST_SECONDS = 10**9
"""Largest time of an option, s: sums with any run time within the clock fit int64."""

SUBMIT = {
    "submitted": "when the user submitted it",
    "eligible": "when a scheduler could first start it, as in sacct; its submit if unknown",
}
"""Definitions of the instant at which a job arrives."""

NO_WAIT = {"keep": "a job like others", "drop": "left out, and counted"}
"""Treatments of a row with an unknown wait."""

ZERO_RUN = {"keep": "a job like others", "drop": "left out, and counted"}
"""Treatments of a row with a run time of 0 s."""

CANCELLED = {
    "drop": "left out, and counted, if its run time is unknown",
    "queue": "in the queue until the log's instant of cancellation",
}
"""Treatments of a job that was cancelled before its start."""

RESERVED = {
    "keep": "a job like others",
    "drop": "left out, and counted",
}
"""Treatments of a job in a reservation, whose nodes other jobs could not use."""

OF_REQUESTS = ("no_estimate", "max_estimate", "estimate_factor")
"""Options that change estimates, and therefore contradict exact estimates."""


def _no_estimate(what: str, given: Any) -> object:
    sound = 1 <= int(given) <= MOST_SECONDS if is_whole(given) else given in list(NO_ESTIMATE)
    if not sound:
        raise InputError(
            f"{what} is {given!r}; it must be "
            f"{', '.join(map(repr, NO_ESTIMATE))} or seconds from 1 to {MOST_SECONDS}"
        )
    return given


@dataclass(frozen=True)
class Clean(Options):
    """Declare the conversion of a log's rows to jobs; the defaults are those of semantics.md.

    Parameters
    ----------
    processors : str
        Source of the number of processors of a job, a key of `PROCESSORS`.
    estimates : str
        Source of the estimate of a job, a key of `ESTIMATES`.
    no_estimate : str or int
        Estimate for a row without a requested time: a key of `NO_ESTIMATE`, or a number of seconds
        from 1 to 10^9. The run time replaces a shorter estimate of this kind.
    max_estimate : int
        Largest estimate, s, up to 10^9; 0 for no limit. Larger estimates are lowered to this limit,
        but not below the run time of the job.
    estimate_factor : int
        Least estimate as a multiple of the logged run time, 0 to 1000.
    kill : bool
        Whether jobs that ran longer than their estimates are killed at the estimate; otherwise the
        estimate is raised to the run time.
    run_plus : int
        Seconds added to the logged run time of every job, from 0 to 10^9.
    zero_run : str
        Treatment of rows with a run time of 0 s, a key of `ZERO_RUN`.
    submit : str
        Instant at which a job arrives, a key of `SUBMIT`.
    no_wait : str
        Treatment of rows with an unknown wait, a key of `NO_WAIT`.
    cancelled : str
        Treatment of jobs that were cancelled before they started, a key of `CANCELLED`.
    reserved : str
        Treatment of jobs that ran in a reservation, a key of `RESERVED`.

    Raises
    ------
    InputError
        If an option has an invalid value. The error names the option, the value, and a valid value.

    Examples
    --------
    The converter of Batsim (Dutot et al., JSSPP 2016) reads a log in this way:

    >>> batsim = Clean(processors="allocated", estimate_factor=2, kill=False, run_plus=1,
    ...                zero_run="drop")
    >>> run, asked = np.array([100, 100]), np.array([50, 900])
    >>> [column.tolist() for column in batsim.times(run, asked)]
    [[101, 101], [200, 900], [False, False]]
    >>> [column.tolist() for column in Clean().times(run, asked)]
    [[50, 100], [50, 900], [True, False]]
    """

    within = "clean"

    processors: str = option("requested", one_of(PROCESSORS))
    estimates: str = option("requested", one_of(ESTIMATES))
    no_estimate: str | int = option("run", _no_estimate)
    # With these bounds, sums and products with any run time within the clock fit int64, or an
    # overflow is detected in advance.
    max_estimate: int = option(0, whole_from(0, MOST_SECONDS))
    estimate_factor: int = option(0, whole_from(0, 1000))
    kill: bool = option(True, flag)
    run_plus: int = option(0, whole_from(0, MOST_SECONDS))
    zero_run: str = option("keep", one_of(ZERO_RUN))
    submit: str = option("submitted", one_of(SUBMIT))
    no_wait: str = option("keep", one_of(NO_WAIT))
    cancelled: str = option("drop", one_of(CANCELLED))
    reserved: str = option("keep", one_of(RESERVED))

    def _check_together(self) -> None:
        if self.estimates != "exact":
            return
        for key in OF_REQUESTS:
            if getattr(self, key) != getattr(type(self), key):
                raise InputError(
                    f"clean: {key} is {getattr(self, key)!r}, which changes estimates, and "
                    "estimates is 'exact'; leave one of them out"
                )
        if self.queues_cancelled:
            raise InputError(
                "clean: cancelled is 'queue', and estimates is 'exact', but a job that never "
                "started has no run time; leave one of them out"
            )

    def to_dict(self) -> dict[str, Any]:
        """Return the options that differ from the default, as plain values."""
        return {k: v for k, v in super().to_dict().items() if v != getattr(AS_HERE, k)}

    def procs(self, requested: Int64, allocated: Int64) -> Int64:
        """Return the processors of each row's job; 0 or less if unknown."""
        if self.processors == "allocated":
            return allocated
        return np.where(requested > 0, requested, allocated)

    def leaves_out(self, run: Int64) -> Bool:
        """Return the mask of rows left out for a run time of 0, bool[n]."""
        return np.asarray((run == 0) & (self.zero_run == "drop"))

    def submits(self, submit: Int64, eligible: Int64) -> Int64:
        """Return the arrival of each row's job, s; below 0 if the submission is unknown."""
        if self.submit == "submitted":
            return submit
        return np.where(submit < 0, submit, np.maximum(submit, eligible))

    def lacks_wait(self, wait: Int64) -> Bool:
        """Return the mask of rows left out for an unknown wait, bool[n]."""
        return np.asarray((wait == UNKNOWN) & (self.no_wait == "drop"))

    def was_reserved(self, reservation: Int64) -> Bool:
        """Return the mask of rows left out for a reservation, bool[n].

        `reservation` is 1 for rows with a reservation.
        """
        return np.asarray((reservation > 0) & self.drops_reserved)

    @property
    def drops_reserved(self) -> bool:
        """Whether jobs that ran in a reservation are left out."""
        return self.reserved == "drop"

    @property
    def queues_cancelled(self) -> bool:
        """Whether jobs that were cancelled before they started wait in the queue."""
        return self.cancelled == "queue"

    def queued(self, left: Int64, asked: Int64) -> Bool:
        """Return the mask of rows that wait until they are cancelled, bool[n].

        left: the waits of such rows, s; below 0 for other rows. A row without an estimate is left
        out, since its run time of 0 s cannot replace the estimate.
        """
        estimated = (asked > 0) | (self.no_estimate != "run")
        return np.asarray((left >= 0) & estimated & self.queues_cancelled)

    def unasked(self, asked: Int64) -> Bool:
        """Return the mask of rows with the run time as estimate for lack of a request, bool[n]."""
        # If all estimates are exact, a warning about single rows is pointless.
        silent = self.no_estimate == "run" and self.estimates == "requested"
        return np.asarray((asked <= 0) & silent)

    def limit(self, logged: int) -> int:
        """Return the largest estimate, s, from the limit in the log; -1 if it is unknown."""
        return min(logged, self.max_estimate) if self.max_estimate else logged

    def times(self, run: Int64, asked: Int64, name: str = "log") -> tuple[Int64, Int64, Bool]:
        """Return run times, estimates and killed jobs; no run time exceeds its estimate.

        `run` has the logged run times, s, at least 0. `asked` has the requested times, s; values up
        to 0 mean no request. `name` is the seed of models of estimates.
        """
        # A cached log may have int32 columns, in which products would overflow.
        run, asked = run.astype(np.int64, copy=False), asked.astype(np.int64, copy=False)
        # A value beyond the clock is kept here; the constructor of the workload refuses it.
        longer = np.where(run > HORIZON, run, run + self.run_plus)
        estimate = self._requests(longer, asked, name)
        if self.max_estimate:
            estimate = np.minimum(estimate, np.maximum(self.max_estimate, longer))
        if self.estimate_factor:
            most = HORIZON // self.estimate_factor
            times = np.where(run > most, HORIZON, run * self.estimate_factor)
            estimate = np.maximum(estimate, times)
        if not self.kill:
            estimate = np.maximum(estimate, longer)
        return np.minimum(longer, estimate), estimate, longer > estimate

    def _requests(self, run: Int64, asked: Int64, name: str) -> Int64:
        """Return each job's estimate, at least its run time if the row has no request."""
        if self.estimates == "exact":
            return run
        none = asked <= 0
        if self.no_estimate == "run" or not none.any():
            return np.where(none, run, asked)
        drawn = self._drawn(run[none], int(asked.max()), name)
        requests = asked.copy()
        requests[none] = np.maximum(drawn, run[none])
        return requests

    def _drawn(self, run: Int64, most: int, name: str) -> Int64 | int:
        if not isinstance(self.no_estimate, str):
            return int(self.no_estimate)
        # The workload, and not the model, refuses a run time beyond the clock.
        within = np.minimum(run, HORIZON // 10)
        most = self.max_estimate or most
        # Tsafrir's model is valid for limits of an hour or more; below, it uses its default limit.
        limit = most if self.no_estimate == "tsafrir" and most >= HOUR else None
        return draw_estimates(within, self.no_estimate, key=(name, 0, 0), max_estimate=limit)[0]


AS_HERE = Clean()
"""The default cleaning."""
