"""Functions that order the queue: published ones, and the interface for plug-ins.

A function returns a number for each job. Jobs with the smallest numbers come first, and ties are
broken by (submit, position). The names of the function's parameters select its inputs
(`ARGUMENTS`). A function with constant inputs only is called once, for all jobs. Any other function
is called at each pass, for the waiting jobs. A function that compares the waiting jobs must take
``now``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from schedfarm.core import own
from schedfarm.core.arrays import Float64, Int64
from schedfarm.core.errors import InputError
from schedfarm.core.numerals import counted
from schedfarm.core.policy.expression import Expression
from schedfarm.core.workload.workload import Workload

COLUMNS = ("submit", "estimate", "procs", "user", "group", "queue", "partition")
"""Columns of jobs as inputs, int64[k]; a value of the last four is -1 if the log lacks it."""

HISTORY = ("waited", "worked")
"""Sums over the completed jobs of each job's user, int64[k]: of waits, s, and of run x procs,
processor-seconds. Completions at the current instant are included, since they come first; with
``events=per-event``, only the completions that have been processed. All jobs with the unknown user,
-1, belong to one user."""

ARGUMENTS = (*COLUMNS, "now", *HISTORY)
"""All inputs; ``now`` is the time of the pass, int, s."""

SERIAL_LOG2 = 2.0**-40
"""Replacement for log2 of one processor in UNICEF, so that serial jobs come first, by wait /
estimate."""


def wfp3(submit: Int64, estimate: Int64, procs: Int64, now: int) -> Float64:
    """Order by (wait / estimate)^3 x procs, largest first.

    An estimate of 0 counts as 1 s. W. Tang, Z. Lan, N. Desai and D. Buettner, "Fault-aware,
    utility-based job scheduling on Blue Gene/P systems", IEEE Cluster 2009.

    Examples
    --------
    >>> import numpy as np
    >>> wfp3(np.array([0, 90]), np.array([50, 10]), np.array([2, 4]), 100)
    array([-16.,  -4.])
    """
    ratio = (now - submit) / np.maximum(estimate, 1)
    return -(ratio * ratio * ratio * procs)


def unicef(submit: Int64, estimate: Int64, procs: Int64, now: int) -> Float64:
    """Order by wait / (log2(procs) x estimate), largest first (Tang et al. 2009).

    An estimate of 0 counts as 1 s. log2 of a serial job's processors counts as `SERIAL_LOG2`.

    Examples
    --------
    >>> import numpy as np
    >>> unicef(np.array([0, 90]), np.array([50, 10]), np.array([2, 4]), 100)
    array([-2. , -0.5])
    """
    width = np.maximum(np.log2(procs), SERIAL_LOG2)
    return cast(Float64, -((now - submit) / (width * np.maximum(estimate, 1))))


def f1(submit: Int64, estimate: Int64, procs: Int64) -> Float64:
    """Order by log10(estimate) procs + 870 log10(submit), smallest first.

    0 counts as 1 under a logarithm. D. Carastan-Santos and R. Y. de Camargo, "Obtaining dynamic
    scheduling policies with simulation and machine learning", SC'17.

    Examples
    --------
    >>> import numpy as np
    >>> f1(np.array([0, 10]), np.array([100, 1]), np.array([2, 4]))
    array([  4., 870.])
    """
    return _log10(estimate) * procs + 870.0 * _log10(submit)


def f2(submit: Int64, estimate: Int64, procs: Int64) -> Float64:
    """Order by sqrt(estimate) procs + 25600 log10(submit), smallest first (as `f1`).

    Examples
    --------
    >>> import numpy as np
    >>> f2(np.array([0, 10]), np.array([4, 1]), np.array([2, 4]))
    array([4.0000e+00, 2.5604e+04])
    """
    return np.sqrt(estimate) * procs + 25_600.0 * _log10(submit)


def f3(submit: Int64, estimate: Int64, procs: Int64) -> Float64:
    """Order by estimate procs + 6860000 log10(submit), smallest first (as `f1`).

    Examples
    --------
    >>> import numpy as np
    >>> f3(np.array([0, 10]), np.array([4, 1]), np.array([2, 4]))
    array([8.000000e+00, 6.860004e+06])
    """
    return estimate.astype(np.float64) * procs + 6_860_000.0 * _log10(submit)


def f4(submit: Int64, estimate: Int64, procs: Int64) -> Float64:
    """Order by estimate sqrt(procs) + 530000 log10(submit), smallest first (as `f1`).

    Examples
    --------
    >>> import numpy as np
    >>> f4(np.array([0, 10]), np.array([4, 1]), np.array([4, 1]))
    array([8.00000e+00, 5.30001e+05])
    """
    return estimate * np.sqrt(procs) + 530_000.0 * _log10(submit)


def _log10(values: Int64) -> Float64:
    return np.log10(np.maximum(values, 1))


@dataclass(frozen=True)
class OrderFunction:
    """Hold a function that orders the queue, and its inputs.

    Parameters
    ----------
    name : str
        Name in a policy.
    call : callable
        Function that takes any of `ARGUMENTS` by name, and returns one number per job. With the
        attribute ``static = True`` it is called only once, even if it takes ``now``, which is then
        0.

    Raises
    ------
    InputError
        If `call` is not callable, or has a parameter with another name.

    Examples
    --------
    >>> def narrow(procs): return procs
    >>> OrderFunction("mine:narrow", narrow).moves
    False
    >>> OrderFunction("mine:narrow", lambda width: width)
    Traceback (most recent call last):
    schedfarm.core.errors.InputError: order 'mine:narrow' takes 'width'; it may take submit,
    estimate, \
procs, user, group, queue, partition, now, waited, worked
    """

    name: str
    call: Callable[..., npt.ArrayLike]

    def __post_init__(self) -> None:
        if not callable(self.call):
            raise InputError(
                f"order {self.name!r} is {type(self.call).__name__}; it must be a function"
            )
        unknown = [name for name in self.asks if name not in ARGUMENTS]
        if unknown:
            raise InputError(
                f"order {self.name!r} takes {', '.join(map(repr, unknown))}; "
                f"it may take {', '.join(ARGUMENTS)}"
            )
        if self._static and self.asks_history:
            raise InputError(
                f"order {self.name!r} is static but takes waited or worked, which change as "
                "jobs complete; leave out static"
            )

    @cached_property
    def asks(self) -> tuple[str, ...]:
        """Names of the parameters; ``*`` and ``/`` mark those that cannot be passed by name."""
        try:
            parameters = inspect.signature(self.call).parameters.values()
        except (TypeError, ValueError):
            return ("*",)
        kinds = inspect.Parameter
        marks: dict[Any, str] = {
            kinds.VAR_POSITIONAL: "*",
            kinds.VAR_KEYWORD: "**",
            kinds.POSITIONAL_ONLY: "/",
        }
        return tuple(marks.get(p.kind, "") + p.name for p in parameters)

    @cached_property
    def asks_history(self) -> bool:
        """Whether the function's inputs include sums over completed jobs."""
        return not set(HISTORY).isdisjoint(self.asks)

    @property
    def moves(self) -> bool:
        """Whether the order may change over time."""
        return not self._static and (self.asks_history or "now" in self.asks)

    @property
    def _static(self) -> bool:
        return bool(getattr(self.call, "static", False))

    def key(
        self,
        workload: Workload,
        jobs: Int64 | slice,
        now: int = 0,
        history: Mapping[str, Int64] | None = None,
    ) -> Int64:
        """Return a number for each of some jobs, int64[k]; the smallest comes first.

        Parameters
        ----------
        workload : Workload
            The jobs.
        jobs : int64[k] or slice
            Indices of the jobs.
        now : int
            The instant, s.
        history : mapping of str to int64[k], optional
            `HISTORY` of the jobs' users.
        """
        if self.asks_history and history is None:
            raise InputError(
                f"order {self.name!r} takes waited or worked, which are not tracked here"
            )
        known = {"now": now, **(history or {})}
        given = {
            name: getattr(workload, name)[jobs] if name in COLUMNS else known[name]
            for name in self.asks
        }
        try:
            values = self.call(**given)
        except Exception as error:  # A plug-in function may raise any error.
            raise own.RaisedError.of(
                f"order {self.name!r}", error, self._called_with(workload.job[jobs], now)
            ) from error
        return as_key(values, workload.job[jobs], self.name)

    def _called_with(self, numbers: Int64, now: int) -> str:
        """Describe a call for an error message, by its instant and jobs."""
        which = f"job {numbers[0]}" if numbers.size else "no job"
        if numbers.size > 1:
            which = f"{counted(numbers.size, 'job')}, the first of them job {numbers[0]}"
        return f"at {now} s, on {which}" if self.moves else f"before the first pass, on {which}"


def own_function(name: str) -> OrderFunction:
    """Find the plug-in function for the name of an entry point, or for ``module:name``.

    Examples
    --------
    >>> own_function("schedfarm.core.policy.functions:wfp3").asks
    ('submit', 'estimate', 'procs', 'now')
    """
    found = own.brought("order", own.ORDERS, name)
    if found is None:
        raise InputError(f"order {name!r} is not an entry point of group {own.ORDERS!r}")
    return OrderFunction(name, cast("Callable[..., Any]", found))


@lru_cache(maxsize=4096)
def expression_of(text: str) -> Expression:
    """Return the order of an expression in parentheses.

    Examples
    --------
    >>> expression_of("(estimate*procs)").text
    'estimate * procs'
    """
    return Expression.parse(text, ARGUMENTS)


def as_key(values: npt.ArrayLike, numbers: Int64, order: str) -> Int64:
    """Convert the return value of an order's function into int64 with the same order.

    Parameters
    ----------
    values : array_like
        The return value.
    numbers : int64[n]
        The jobs' numbers, for error messages.
    order : str
        The order's name.

    Examples
    --------
    >>> key = as_key([0.5, -2.0, 1e300, -0.0], np.arange(4), "mine")
    >>> key.argsort(kind="stable").tolist()
    [1, 3, 0, 2]
    """
    array, n = np.asarray(values), numbers.size
    if array.shape != (n,):
        raise InputError(
            f"order {order!r} returned shape {array.shape} for {n} jobs; it must return ({n},)"
        )
    if array.dtype.kind not in "iuf":
        raise InputError(
            f"order {order!r} returned {array.dtype}; it must return whole or floating numbers"
        )
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise InputError(
            f"order {order!r} returned NaN for job {numbers[np.isnan(array).argmax()]}; "
            "it must return a number for each job"
        )
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8:
        return _sortable(array.astype(np.float64))
    if array.dtype.kind == "i" and array.min(initial=0) > np.iinfo(np.int64).min:
        return array.astype(np.int64)
    return cast(Int64, np.unique(array, return_inverse=True)[1].astype(np.int64))


def _sortable(values: Float64) -> Int64:
    # By IEEE 754, the bits of floats sort like integers, but those of negative numbers in reverse.
    bits = (values + 0.0).view(np.int64)
    return cast(Int64, bits ^ ((bits >> 63) & np.int64(2**63 - 1)))
