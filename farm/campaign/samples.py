"""Which jobs a cell meets, and how many there can be: resample and load together."""

from __future__ import annotations

from core.errors import InputError
from core.models import MODELS
from core.workload.load import scale_arrivals, scale_load
from core.workload.resample_users import resample_users, resample_users_size, users_for_load
from core.workload.resample_weeks import resample_size, resample_weekly
from core.workload.select import on_platform
from core.workload.workload import Workload
from farm.campaign.campaign import ORIGINAL, Campaign
from farm.campaign.trace import Trace


def sample(
    trace: Trace,
    log: Workload | None,
    *,
    seed: int,
    resample: int,
    draw: str,
    users: float = 1.0,
) -> Workload:
    """Return the jobs of one resample of a trace; a pure function of its arguments.

    Parameters
    ----------
    trace : Trace
        The source.
    log : Workload or None
        What `trace.read()` gave.
    seed, resample : int
        The campaign's seed, and the resample's number; 0 is the log itself.
    draw : {"replace", "permute", "users"}
        How each user's weeks are drawn, or whole users.
    users : float
        Users for each one of the log, where whole users are drawn.

    Returns
    -------
    Workload
        The jobs, at their original load.
    """
    if log is None:
        try:
            drawn = MODELS[trace.model or ""](
                trace.machine.size if trace.machine else None,
                jobs=trace.jobs,
                weeks=trace.weeks,
                seed=seed,
                index=resample,
                **trace.parameters,
            )
            return drawn if trace.machine is None else on_platform(drawn, trace.machine)
        except InputError as error:
            raise InputError(f"trace {trace.name!r}: {error}") from None
    if resample < 0:
        raise InputError(
            f"resample is {resample}; it must be 0 for the log itself, or a number from 1"
        )
    if resample == 0:
        return log
    if draw == "users":
        return resample_users(log, seed=seed, index=resample, weeks=trace.weeks, users=users)
    return resample_weekly(log, seed=seed, index=resample, weeks=trace.weeks, draw=draw)


def at_load(workload: Workload, load: str, load_by: str = "runtime") -> Workload:
    """Return the jobs at a labelled load; one that users set has been reached by drawing them."""
    if load == ORIGINAL or load_by == "users":
        return workload
    if load_by == "interarrival":
        return scale_arrivals(workload, float(load))
    return scale_load(workload, float(load))


def jobs_of(
    trace: Trace,
    log: Workload | None,
    *,
    seed: int,
    resample: int,
    draw: str,
    load: str,
    load_by: str,
) -> Workload:
    """Return the jobs of one resample of a trace at one load; a pure function of its arguments.

    Parameters
    ----------
    trace, log, seed, resample, draw
        As for `sample`.
    load : str
        Label of the load.
    load_by : {"runtime", "interarrival", "users"}
        What reaches it.

    Returns
    -------
    Workload
        The jobs.

    Raises
    ------
    InputError
        If they cannot be brought to the load.
    """
    users = users_at(trace, log, resample=resample, draw=draw, load=load, load_by=load_by)
    one = sample(trace, log, seed=seed, resample=resample, draw=draw, users=users)
    return at_load(one, load, load_by)


def users_at(
    trace: Trace, log: Workload | None, *, resample: int, draw: str, load: str, load_by: str
) -> float:
    """Return how many users to draw for each one of the log: all that a load changes in a sample.

    Parameters
    ----------
    trace, log, resample, draw, load, load_by
        As for `jobs_of`.

    Raises
    ------
    InputError
        If users are to bring a load to what is not a resample of users.
    """
    if load_by == "users" and load != ORIGINAL and (log is None or not resample or draw != "users"):
        raise InputError(
            f"trace {trace.name!r}: users can bring only a resample of users to load {load}, "
            'with draw = "users"'
        )
    return _users(log, load, load_by)


def most_jobs(trace: Trace, log: Workload | None, campaign: Campaign) -> int:
    """Return the jobs of the largest cell of a trace.

    Raises
    ------
    InputError
        If the log cannot be resampled, or the model cannot be drawn.
    """
    if log is None and trace.jobs is not None:
        return trace.jobs
    numbers = {_users(log, load, campaign.load_by) for load in campaign.loads}
    return max(_size(trace, log, campaign, r, numbers) for r in campaign.resample_axis)


def _size(
    trace: Trace, log: Workload | None, campaign: Campaign, resample: int, numbers: set[float]
) -> int:
    seed, weeks = campaign.seed, trace.weeks
    if log is None:
        return len(sample(trace, log, seed=seed, resample=resample, draw=campaign.draw))
    if resample == 0:
        return len(log)
    if campaign.draw != "users":
        return resample_size(log, seed=seed, index=resample, weeks=weeks, draw=campaign.draw)
    return max(
        resample_users_size(log, seed=seed, index=resample, weeks=weeks, users=users)
        for users in numbers
    )


def _users(log: Workload | None, load: str, load_by: str) -> float:
    if log is None or load == ORIGINAL or load_by != "users":
        return 1.0
    return users_for_load(log, float(load))
