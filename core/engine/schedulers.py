"""Conversion of the options of the rule `slurm` to values for its kernel."""

from __future__ import annotations

import numpy as np

from schedfarm.core.durations import seconds_of
from schedfarm.core.engine.cadence import Cadence, CadenceClock, Users
from schedfarm.core.engine.jit import NEVER
from schedfarm.core.engine.record import Record, record
from schedfarm.core.errors import InputError
from schedfarm.core.policy.policy import Policy
from schedfarm.core.workload.workload import Workload


def cadence_of(policy: Policy, loosens: bool, parts: bool) -> Cadence:
    """Return the options of a policy.

    loosens: whether the use of the policy's limits falls with time. parts: whether the machine has
    partitions.

    Examples
    --------
    >>> cadence = cadence_of(Policy.parse("fcfs+slurm,bf_rate=9,bf_max_time=20s"), False, False)
    >>> cadence.interval, cadence.tests
    (30, 180)
    """
    interval, main = seconds_of(policy.bf_interval), seconds_of(policy.sched_interval)
    rate, tests = int(policy.bf_rate or 0), int(policy.bf_max_job_test)
    if rate:
        longest = seconds_of(policy.bf_max_time) if policy.bf_max_time else interval
        tests = min(tests, rate * (longest or 0))
    return Cadence(
        main or NEVER,
        int(policy.default_queue_depth),
        interval or NEVER,
        tests,
        int(policy.bf_max_job_user),
        seconds_of(policy.bf_window) or 0,
        seconds_of(policy.bf_resolution) or 1,
        rate,
        loosens,
        parts,
    )


def new_clock(cadence: Cadence, first: int) -> Record[CadenceClock]:
    """Return the clock before the first submission, s."""
    clock = record(CadenceClock)
    clock[0].cycle = NEVER if cadence.interval == NEVER else first + cadence.interval
    return clock


def users_of(workload: Workload, policy: Policy) -> Users:
    """Return the users of jobs, before any test; refuse a limit per user without known users."""
    if int(policy.bf_max_job_user) and (workload.user == -1).all():
        raise InputError(
            f"bf_max_job_user={policy.bf_max_job_user} needs the user of each job, which the log "
            f"{workload.name!r} does not give; leave it out"
        )
    known, which = np.unique(workload.user, return_inverse=True)
    user = np.where(workload.user < 0, -1, which.ravel())
    return Users(user, np.zeros(known.size, np.int64))
