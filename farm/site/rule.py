"""The rule of a site and its options, from SchedulerType and SchedulerParameters of slurm.conf."""

from __future__ import annotations

import re
from collections.abc import Mapping

from schedfarm.core.errors import InputError
from schedfarm.core.policy.options import OFF, OPTIONS
from schedfarm.core.policy.policy import Policy
from schedfarm.farm.site.dump.conf import Conf
from schedfarm.farm.site.dump.facts import Fact, is_whole

_MAIN = ("sched_interval", "default_queue_depth")

_CYCLES = ("bf_interval", "bf_max_job_test", "bf_max_job_user", "bf_window", "bf_resolution")

LONGEST = "bf_max_time"
"""Option that applies if cycles take time; its default in Slurm is bf_interval."""

_SECONDS = {"sched_interval": 1, "bf_interval": 1, "bf_resolution": 1, "bf_window": 60, LONGEST: 1}
"""Options that are times, and their units in seconds."""

_SWITCHED = ("sched_interval", "bf_interval")
"""Options that are switched off by -1."""


def rule_of(conf: Conf) -> tuple[Fact[str], dict[str, Fact[str]]]:
    """Return the rule and all its options; options missing in the file have Slurm's defaults."""
    kind = conf.get("SchedulerType", "sched/backfill")
    if kind.value.lower() not in ("sched/builtin", "sched/backfill"):
        raise InputError(
            f"{kind.source}: SchedulerType={kind.value}; it must be sched/backfill or sched/builtin"
        )
    options = {name: _option(name, conf) for name in _MAIN}
    if kind.value.lower() == "sched/builtin":
        if conf.parameters.keys().isdisjoint(_MAIN):
            return Fact("none", kind.source), {}
        options["bf_interval"] = Fact(OFF, kind.source)
    else:
        options["bf_interval"] = _option("bf_interval", conf)
    if options["bf_interval"].value != OFF:
        options |= {name: _option(name, conf) for name in _CYCLES}
        if LONGEST in conf.parameters:
            options[LONGEST] = _option(LONGEST, conf)
    given = ",".join(f"{name}={one.value}" for name, one in options.items() if name != LONGEST)
    try:
        Policy.parse(f"fcfs+slurm,{given}")
    except InputError as error:
        raise InputError(f"{conf.get('SchedulerParameters', '').source}: {error}") from error
    return Fact("slurm", kind.source), options


def in_policy(options: Mapping[str, Fact[str]], rate: int) -> dict[str, str]:
    """Return the options for a policy's name; rate: tests of a cycle per second, 0 for no time."""
    found = {
        name: one.value
        for name, one in options.items()
        if one.value != OPTIONS[name].default and (rate or name != LONGEST)
    }
    return found | ({"bf_rate": str(rate)} if rate else {})


def _option(name: str, conf: Conf) -> Fact[str]:
    """Return an option of the rule in the rule's spelling."""
    given = conf.parameters.get(name)
    if given is None:
        default = OPTIONS[name].default
        assert default is not None
        return Fact(default, f"{conf.path.name} has no {name}: Slurm's default")
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
