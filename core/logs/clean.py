"""How a log's rows are cleaned before they become jobs: which processors, estimates and run times.

Simulators differ here, most of them silently; what one of them takes is one `Clean` value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from schedfarm.core.arrays import HORIZON, Bool, Int64
from schedfarm.core.checks import is_whole, whole
from schedfarm.core.errors import InputError
from schedfarm.core.models.estimates import HOUR, draw_estimates
from schedfarm.core.names import choices
from schedfarm.core.workload.columns import UNKNOWN

PROCESSORS = {
    "requested": "the requested ones, where unknown the allocated ones",
    "allocated": "the allocated ones alone",
}
"""Which processors a job takes."""

ESTIMATES = {
    "requested": "the requested time, where unknown what `no_estimate` says",
    "exact": "the run time itself: nobody is wrong, and nobody is killed",
}
"""What a job asks for."""

NO_ESTIMATE = {
    "run": "the run time itself, so that orders by estimate know it beforehand",
    "f-model": "drawn by Mu'alem and Feitelson's model, factor 5",
    "tsafrir": "drawn by Tsafrir's model",
}
"""What a job asks for whose row requests no time, if it is no number of seconds."""

MOST_SECONDS = 10**9
"""Largest time that an option may say, s: sums with any run time within the clock fit int64."""

SUBMIT = {
    "submitted": "when the user submitted it",
    "eligible": "when a scheduler could first start it, as sacct tells; where unknown its submit",
}
"""The instant at which a job arrives."""

NO_WAIT = {"keep": "a job like others", "drop": "left out, and counted"}
"""What becomes of a row whose wait is unknown."""

ZERO_RUN = {"keep": "a job like others", "drop": "left out, and counted"}
"""What becomes of a row whose run time is 0 s."""


CHOICES = {
    "processors": PROCESSORS,
    "estimates": ESTIMATES,
    "zero_run": ZERO_RUN,
    "submit": SUBMIT,
    "no_wait": NO_WAIT,
}
"""Options that have few values."""

OF_REQUESTS = ("no_estimate", "max_estimate", "estimate_factor")
"""Options that change estimates, and so go without exact ones."""


@dataclass(frozen=True)
class Clean:
    """Say how the rows of a log become jobs; the default is what a simulation means here.

    Parameters
    ----------
    processors : str
        A key of `PROCESSORS`.
    estimates : str
        A key of `ESTIMATES`.
    no_estimate : str or int
        What a job asks for whose row requests no time: a key of `NO_ESTIMATE`, or a number of
        seconds from 1 to 10^9; where it ran longer, its run time.
    max_estimate : int
        Largest estimate, s, up to 10^9; one that is larger becomes it, or the run time where the
        job ran longer. 0 for none.
    estimate_factor : int
        An estimate is at least so many times the run time as logged, 0 to 1000.
    kill : bool
        Whether a job that ran longer than its estimate is killed at it; else its estimate is
        its run time.
    run_plus : int
        Seconds that every job runs longer than the log says, from 0 to 10^9.
    zero_run : str
        A key of `ZERO_RUN`.
    submit : str
        A key of `SUBMIT`.
    no_wait : str
        A key of `NO_WAIT`.

    Raises
    ------
    InputError
        Naming the option, its value, and what would be right.

    Examples
    --------
    What the converter of Batsim (Dutot et al., JSSPP 2016) makes of a log:

    >>> batsim = Clean(processors="allocated", estimate_factor=2, kill=False, run_plus=1,
    ...                zero_run="drop")
    >>> run, asked = np.array([100, 100]), np.array([50, 900])
    >>> [column.tolist() for column in batsim.times(run, asked)]
    [[101, 101], [200, 900], [False, False]]
    >>> [column.tolist() for column in Clean().times(run, asked)]
    [[50, 100], [50, 900], [True, False]]
    """

    processors: str = "requested"
    estimates: str = "requested"
    no_estimate: str | int = "run"
    max_estimate: int = 0
    estimate_factor: int = 0
    kill: bool = True
    run_plus: int = 0
    zero_run: str = "keep"
    submit: str = "submitted"
    no_wait: str = "keep"

    def __post_init__(self) -> None:
        for key, known in CHOICES.items():
            # A list has no hash, so a look into the mapping itself would fail.
            if getattr(self, key) not in list(known):
                raise InputError(
                    f"clean: {key} is {getattr(self, key)!r}; it must be "
                    f"{' or '.join(map(repr, known))}"
                )
        if not isinstance(self.kill, bool):
            raise InputError(f"clean: kill is {self.kill!r}; it must be true or false")
        if not self._is_no_estimate():
            raise InputError(
                f"clean: no_estimate is {self.no_estimate!r}; it must be "
                f"{', '.join(map(repr, NO_ESTIMATE))} or seconds from 1 to {MOST_SECONDS}"
            )
        # Sums and products with any run time within the clock then fit int64, or are known not to.
        times = dict.fromkeys(("max_estimate", "run_plus"), MOST_SECONDS)
        for key, most in {"estimate_factor": 1000, **times}.items():
            number = whole(f"clean: {key}", getattr(self, key), least=0)
            if number > most:
                raise InputError(f"clean: {key}={number}: give a whole number, at most {most}")
            object.__setattr__(self, key, number)
        self._check_exact()

    def _check_exact(self) -> None:
        if self.estimates != "exact":
            return
        for key in OF_REQUESTS:
            if getattr(self, key) != getattr(type(self), key):
                raise InputError(
                    f"clean: {key} is {getattr(self, key)!r}, which changes estimates, and "
                    "estimates is 'exact'; leave one of them out"
                )

    def _is_no_estimate(self) -> bool:
        given = self.no_estimate
        if is_whole(given):
            return 1 <= int(given) <= MOST_SECONDS
        return given in list(NO_ESTIMATE)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Clean:
        """Build it from plain values; what is not named is the default.

        Raises
        ------
        InputError
            If a key is unknown or a value is wrong.

        Examples
        --------
        >>> Clean.from_dict({"kill": False})
        Clean(processors='requested', estimates='requested', no_estimate='run', max_estimate=0, \
estimate_factor=0, kill=False, run_plus=0, zero_run='keep', submit='submitted', no_wait='keep')
        """
        known = [field.name for field in fields(cls)]
        for key in plain:
            if key not in known:
                raise InputError(f"clean: unknown key {key!r}; {choices(key, known)}")
        return cls(**plain)

    def to_dict(self) -> dict[str, Any]:
        """Return what differs from the default, as plain values from which it can be built."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        return {key: value for key, value in given.items() if value != getattr(AS_HERE, key)}

    def procs(self, requested: Int64, allocated: Int64) -> Int64:
        """Return the processors that each row's job takes; 0 or less where they are not known."""
        if self.processors == "allocated":
            return allocated
        return np.where(requested > 0, requested, allocated)

    def leaves_out(self, run: Int64) -> Bool:
        """Return which rows are left out for a run time of 0, bool[n]."""
        return np.asarray((run == 0) & (self.zero_run == "drop"))

    def submits(self, submit: Int64, eligible: Int64) -> Int64:
        """Return when each row's job arrives, s; below 0 where its submit is unknown."""
        if self.submit == "submitted":
            return submit
        return np.where(submit < 0, submit, np.maximum(submit, eligible))

    def lacks_wait(self, wait: Int64) -> Bool:
        """Return which rows are left out since their wait is unknown, bool[n]."""
        return np.asarray((wait == UNKNOWN) & (self.no_wait == "drop"))

    def unasked(self, asked: Int64) -> Bool:
        """Return which rows' estimate is their run time, since they request no time, bool[n]."""
        # Where all are to be exact nobody needs to be told that some are.
        silent = self.no_estimate == "run" and self.estimates == "requested"
        return np.asarray((asked <= 0) & silent)

    def limit(self, logged: int) -> int:
        """Return the largest estimate of a platform that by its log allows so much; -1 unknown."""
        return min(logged, self.max_estimate) if self.max_estimate else logged

    def times(self, run: Int64, asked: Int64, name: str = "log") -> tuple[Int64, Int64, Bool]:
        """Return run times, estimates and who is killed; no run time exceeds its estimate.

        Parameters
        ----------
        run : int64[n]
            Run times as logged, s, at least 0.
        asked : int64[n]
            Requested times, s; who asks for none, 0 or less, asks for what `no_estimate` says.
        name : str
            What the rows belong to; under another name a model draws other estimates.
        """
        # A cached log may come in 32 bits, in which products would wrap around.
        run, asked = run.astype(np.int64, copy=False), asked.astype(np.int64, copy=False)
        # Beyond the clock a sum or product stays beyond it, for the workload to refuse.
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
        """Return what each job asks for, at least its run time where its row requests none."""
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
        # A run time beyond the clock is the workload's to refuse, not the model's.
        within = np.minimum(run, HORIZON // 10)
        most = self.max_estimate or most
        # Tsafrir's model is of platforms that allow an hour; it has a limit of its own.
        limit = most if self.no_estimate == "tsafrir" and most >= HOUR else None
        return draw_estimates(within, self.no_estimate, key=(name, 0, 0), max_estimate=limit)[0]


AS_HERE = Clean()
"""What a simulation means where nothing else is said."""
