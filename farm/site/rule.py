"""The rule of a site and its options, from SchedulerType and SchedulerParameters of slurm.conf."""

from __future__ import annotations

import re

from schedfarm.core.errors import InputError
from schedfarm.core.policy.options import OFF, OPTIONS
from schedfarm.core.policy.policy import Policy
from schedfarm.farm.site.dump.conf import Conf
from schedfarm.farm.site.dump.facts import Fact, is_whole

TESTED = "500"
"""Slurm's default of bf_max_job_test."""

_MAIN = ("sched_interval", "default_queue_depth")

_BACKFILL = ("bf_interval", "bf_max_job_test", "bf_max_job_user", "bf_window", "bf_resolution")

_SECONDS = {"sched_interval": 1, "bf_interval": 1, "bf_resolution": 1, "bf_window": 60}
"""Options that are times, and the seconds in their unit."""

_SWITCHED = ("sched_interval", "bf_interval")
"""Options that -1 switches off."""


def rule_of(conf: Conf) -> tuple[Fact[str], dict[str, Fact[str]]]:
    """Return the rule and its options.

    Without an option of the cadence: Slurm's backfill reserves for the first jobs that it tests.
    """
    kind = conf.get("SchedulerType", "sched/backfill")
    known = {"sched/builtin": _MAIN, "sched/backfill": (*_MAIN, *_BACKFILL)}
    names = known.get(kind.value.lower())
    if names is None:
        raise InputError(
            f"{kind.source}: SchedulerType={kind.value}; it must be sched/backfill or sched/builtin"
        )
    given = {name: conf.parameters[name] for name in names if name in conf.parameters}
    if given.keys() <= {"bf_max_job_test"}:
        if names is _MAIN:
            return Fact("none", kind.source), {}
        default = Fact(TESTED, f"{conf.path.name} has no bf_max_job_test: Slurm's default")
        tested = _option("bf_max_job_test", given.get("bf_max_job_test", default))
        return Fact(f"depth({tested.value})", tested.source), {}
    options = {name: _option(name, fact) for name, fact in given.items()}
    if names is _MAIN:
        options["bf_interval"] = Fact(OFF, kind.source)
    options = {name: one for name, one in options.items() if one.value != OPTIONS[name].default}
    rule = Fact("slurm", next(iter(given.values())).source)
    text = ",".join(("fcfs+slurm", *(f"{name}={one.value}" for name, one in options.items())))
    try:
        Policy.parse(text)
    except InputError as error:
        raise InputError(f"{rule.source.partition(',')[0]}: {error}") from error
    return rule, options


def _option(name: str, given: Fact[str]) -> Fact[str]:
    """Return an option of the rule, in its own spelling."""
    text = given.value
    if name in _SECONDS:
        if text == "-1" and name in _SWITCHED:
            return Fact(OFF, given.source)
        text = f"{int(text) * _SECONDS[name]}s" if is_whole(text) else text
    elif not re.fullmatch("[0-9]+", text):
        raise InputError(f"{given.source}={text}; give a whole number")
    try:
        return Fact(OPTIONS[name].canonical(name, text), given.source)
    except InputError as error:
        raise InputError(f"{given.source}={given.value}: {error}") from error
