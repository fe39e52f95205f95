"""Cells of a search: a sample under several policies, in this process or on a Dask cluster.

A value is a pure function of the trace, the sample and the policy. Candidates can therefore be
compared in pairs, and an interrupted search can repeat a request.
"""

from __future__ import annotations

import math
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from schedfarm.core.engine.simulate import simulate
from schedfarm.core.errors import InputError
from schedfarm.core.metrics.counted import Counted
from schedfarm.core.metrics.declared import find_metric
from schedfarm.core.workload.workload import Workload
from schedfarm.farm.campaign.samples import Samples
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.store.provenance import Program, check_program, program

if TYPE_CHECKING:
    from distributed import Client

RETRIES = 2
"""Number of further attempts at a task on a cluster after its worker was lost or failed."""


@dataclass(frozen=True)
class Sampling:
    """Hold the parameters of a sample's values, except its number and the policies."""

    trace: Trace
    seed: int
    draw: str
    load_by: str
    load: str
    metric: str
    tau: int
    digest: str = ""
    """Digest of the trace's jobs, which detects another file on a worker; empty for a model."""


class Runner(Protocol):
    """Calls a module's function with each tuple of arguments, and returns the results."""

    def __call__(self, function: Callable[..., Any], given: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Return the results in the order of the arguments."""


def here(function: Callable[..., Any], given: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Call a function in this process: the specification of runners."""
    return [function(*one) for one in given]


def on_cluster(client: Client) -> Runner:
    """Return a runner of tasks on a Dask cluster whose workers have the same program."""
    from distributed import as_completed

    own = program()

    def run(function: Callable[..., Any], given: Sequence[tuple[Any, ...]]) -> list[Any]:
        futures = [
            client.submit(_checked, own, function, one, pure=False, retries=RETRIES)
            for one in given
        ]
        try:
            # An interrupted `gather` would print a traceback for each task, but the wait of
            # `as_completed` is in a thread.
            for _ in as_completed(futures):
                pass
            found: list[Any] = client.gather(futures)
        except BaseException:
            client.cancel(futures, force=True)
            raise
        return found

    return run


def _checked(asked: Program, function: Callable[..., Any], given: tuple[Any, ...]) -> Any:
    check_program(asked)
    return function(*given)


def values_of(sampling: Sampling, sample: int, policies: Sequence[str]) -> list[float]:
    """Return the metric of a sample under each policy; the first policy is the baseline.

    The value is infinite for a candidate whose metric is not a number. Raises `InputError` if the
    baseline's metric is not a number.
    """
    jobs, (baseline, *candidates) = sample_of(sampling, sample), policies
    place = f"trace {sampling.trace.name!r}, sample {sample}, baseline {baseline}"
    try:
        found = [_value(sampling, jobs, baseline)]
    except InputError as error:
        raise InputError(f"{place}: {error}") from None
    if math.isinf(found[0]):
        raise InputError(
            f"{place}: {sampling.metric} is not a number; give another metric or baseline"
        )
    for policy in candidates:
        try:
            found.append(_value(sampling, jobs, policy))
        except InputError:
            found.append(math.inf)
    return found


def _value(sampling: Sampling, jobs: Workload, policy: str) -> float:
    """Return the metric under a policy, infinite if it is not a number."""
    measure = find_metric(sampling.metric).of
    value = float(measure(Counted(simulate(jobs, policy), sampling.tau)))
    return value if math.isfinite(value) else math.inf


_LOGS: dict[tuple[str, str], Workload | None] = {}
"""Logs that this process has read, by declaration, files and digest of their trace."""


def sample_of(sampling: Sampling, sample: int) -> Workload:
    """Return the jobs of a sample."""
    trace = sampling.trace
    key = (repr((trace, trace.files)), sampling.digest)
    if key not in _LOGS:
        log = trace.read()
        if log is not None and log.digest() != sampling.digest:
            raise InputError(
                f"trace {trace.name!r}: {', '.join(trace.files)} has other jobs on "
                f"{platform.node()} than on the coordinator; give each worker the same log"
            )
        _LOGS[key] = log
    settings = {"seed": sampling.seed, "draw": sampling.draw, "load_by": sampling.load_by}
    return Samples(trace, _LOGS[key], settings).at(sample, sampling.load)
