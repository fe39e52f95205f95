"""Which jobs a cell meets, and how many there can be: resample and load together."""

from __future__ import annotations

from schedfarm.core.arrays import MOST_JOBS
from schedfarm.core.errors import InputError
from schedfarm.core.models import MODELS
from schedfarm.core.workload.resample_users import users_for_load
from schedfarm.core.workload.select import on_platform
from schedfarm.core.workload.workload import Workload
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.draws import find_draw
from schedfarm.farm.campaign.loads import LOAD_BY, ORIGINAL
from schedfarm.farm.campaign.trace import Trace


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
    draw : str
        How a log is resampled: what `farm.campaign.draws.find_draw` takes.
    users : float
        Users for each one of the log, where whole users are drawn.

    Returns
    -------
    Workload
        The jobs, at their original load.
    """
    if log is None:
        try:
            assert trace.machine is not None, "a trace of a model has a machine"
            drawn = MODELS[trace.model or ""].draw(
                trace.machine,
                jobs=trace.jobs,
                weeks=trace.weeks,
                seed=seed,
                index=resample,
                **trace.parameters,
            )
        except InputError as error:
            raise InputError(f"trace {trace.name!r}: {error}") from None
        return trace.placed(on_platform(drawn, trace.machine))
    if resample < 0:
        raise InputError(
            f"resample is {resample}; it must be 0 for the log itself, or a number from 1"
        )
    if resample == 0:
        return log
    return find_draw(draw).resample(log, users, seed=seed, index=resample, weeks=trace.weeks)


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
    load_by : str
        What reaches it: a key of `LOAD_BY`.

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
    return LOAD_BY[load_by].bring(one, load)


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
    drawn = log is not None and resample and find_draw(draw).users
    if LOAD_BY[load_by].users and load != ORIGINAL and not drawn:
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
        If the log cannot be resampled, the model cannot be drawn, or a resample has too many jobs.
    """
    if log is None and trace.jobs is not None:
        return trace.jobs
    numbers = {_users(log, load, campaign.load_by) for load in campaign.loads}
    most = 0
    for resample in campaign.resample_axis:
        most = max(most, _size(trace, log, campaign, resample, numbers))
        if most > MOST_JOBS and resample:
            raise InputError(
                f"trace {trace.name!r}: resample {resample} has {most} jobs, and a cell at most "
                f"{MOST_JOBS}; give fewer weeks or a lower load"
            )
    return most


def _size(
    trace: Trace, log: Workload | None, campaign: Campaign, resample: int, numbers: set[float]
) -> int:
    seed, weeks = campaign.seed, trace.weeks
    if log is None:
        return len(sample(trace, log, seed=seed, resample=resample, draw=campaign.draw))
    if resample == 0:
        return len(log)
    row = find_draw(campaign.draw)
    return max(row.jobs(log, users, seed=seed, index=resample, weeks=weeks) for users in numbers)


def _users(log: Workload | None, load: str, load_by: str) -> float:
    if log is None or load == ORIGINAL or not LOAD_BY[load_by].users:
        return 1.0
    return users_for_load(log, float(load))
