"""Keys of slurm.conf that are not simulated: one row each, with the effect on accuracy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from schedfarm.farm.site.dump.conf import Conf


@dataclass(frozen=True)
class Unsupported:
    """Declare an option of slurm.conf that is not simulated.

    key: name of the option. place: whether the option is in the file, in PARTITION lines, or in
    SchedulerParameters. harmless: pattern of the lower-case values without effect here. effect:
    effect on the simulated waits. on_hosts: effect on a machine of hosts, if it differs.
    """

    key: str
    harmless: str
    effect: str
    place: str = "keys"
    on_hosts: str = ""


_OFF = "no|0|none|"

UNSUPPORTED = (
    Unsupported(
        "PreemptType", "preempt/none", "preempted jobs wait longer at the site than simulated"
    ),
    Unsupported(
        "PriorityUsageResetPeriod",
        "none|",
        "usage is never reset here, so that heavy users wait longer after a reset",
    ),
    Unsupported(
        "PriorityWeightAssoc", _OFF, "priorities of associations are 0, and their jobs wait longer"
    ),
    Unsupported("PrioritySiteFactorPlugin", _OFF, "the site's own factor of priority is 0"),
    Unsupported(
        "JobSubmitPlugins", _OFF, "a change of jobs at submission is seen only in sacct's columns"
    ),
    Unsupported(
        "SuspendTime", "-1|infinite|none|", "nodes power up at once, so that waits are shorter"
    ),
    Unsupported("OverSubscribe", "no|exclusive", "no job shares processors", "partitions"),
    Unsupported(
        "TRESBillingWeights",
        _OFF,
        "usage counts processors alone, so that fair shares of users of GPUs or memory differ",
        "partitions",
    ),
    Unsupported(
        "QOS", _OFF + "|n/a|\\(null\\)",
        "limits of the partition's QOS do not apply to its jobs, which wait less", "partitions",
    ),
    Unsupported(
        "MaxCPUsPerNode", "unlimited|infinite|",
        "a job that exceeds it waits at the site, and starts here", "partitions",
    ),
    Unsupported("PreemptMode", "off", "preempted jobs wait longer than simulated", "partitions"),
    Unsupported(
        "preempt_youngest_first", "no such value", "preempted jobs wait longer", "parameters"
    ),
    Unsupported(
        "delay_boot", "no such value", "nodes are ready at once, so that waits are shorter",
        "parameters",
    ),
    Unsupported(
        "reduce_completing_frag", "no such value", "completing jobs hold no node", "parameters"
    ),
    Unsupported(
        "assoc_limit_stop", "no such value", "a job at a limit blocks none behind it", "parameters"
    ),
    *(
        Unsupported(key, harmless, effect, "parameters")
        for key, harmless, effect in (
            ("bf_max_job_start", "0", "a cycle starts any number of jobs"),
            ("bf_max_job_part", "0", "a cycle tests any number of jobs of a partition"),
            ("bf_max_job_assoc", "0", "a cycle tests any number of jobs of an association"),
            ("bf_max_job_user_part", "0", "a cycle tests any number of jobs of a user's partition"),
            ("bf_min_age_reserve", "0", "each tested job has a reservation"),
            ("bf_min_prio_reserve", "0", "each tested job has a reservation"),
            ("bf_job_part_count_reserve", "0", "each tested job has a reservation"),
            ("partition_job_depth", "0", "the main scheduler looks at all jobs of a partition"),
            ("sched_max_job_start", "0", "the main scheduler starts any number of jobs"),
            ("defer", "no such value", "arrivals have a pass, so that waits are shorter"),
        )
    ),
    Unsupported(
        "bf_busy_nodes", "no such value", "no nodes are chosen, so that fragmentation is missing",
        "parameters", "jobs take hosts of the lowest numbers, whether or not others run there",
    ),
)  # fmt: skip
"""Options in the order of their notes."""

FLAGS = {
    "accrue_always": "the age grows only while a job is eligible",
    "depth_oblivious": "the fair shares are those of the fair tree or the classic formula",
    "incr_only": "priorities can fall here",
    "calculate_running": "priorities of running jobs are not used",
    "max_tres": "billing of the largest resource is not simulated",
    "max_tres_gres": "billing of the largest resource is not simulated",
    "no_normal_all": "priority factors are normalised here",
    "no_normal_assoc": "priority factors are normalised here",
    "no_normal_part": "priority factors are normalised here",
    "no_normal_qos": "priority factors are normalised here",
    "no_normal_tres": "priority factors are normalised here",
}
"""Values of PriorityFlags that are not simulated, and their effects."""


def _of_partitions(conf: Conf, row: Unsupported, effect: str) -> Iterator[tuple[str, str, str]]:
    """Yield each unsimulated value of a key of PARTITION lines, with its partitions."""
    found: dict[str, dict[str, str]] = {}
    for name, line in conf.partitions.items():
        value = line.value.get(row.key.lower())
        if value is not None and not re.fullmatch(row.harmless, value.split(":")[0].lower()):
            found.setdefault(value, {})[name] = line.source
    for value, sources in found.items():
        names = f"partition{'s' * (len(sources) > 1)} {', '.join(sources)}"
        yield f"{row.key}={value} of {names}", next(iter(sources.values())), effect


def unsupported(conf: Conf, *, hosts: bool = False) -> Iterator[tuple[str, str, str]]:
    """Yield text, source and effect of each option in force that is not simulated.

    hosts: whether the machine consists of hosts.
    """
    for row in UNSUPPORTED:
        effect = row.on_hosts if hosts and row.on_hosts else row.effect
        key, harmless = row.key.lower(), re.compile(row.harmless)
        if row.place == "partitions":
            yield from _of_partitions(conf, row, effect)
            continue
        given = (conf.keys if row.place == "keys" else conf.parameters).get(key)
        if given is not None and not harmless.fullmatch(given.value.lower()):
            text = f"{row.key}={given.value}" if given.value else row.key
            yield text, given.source, effect
    tres = conf.get("PriorityWeightTRES", "")
    for part in tres.value.split(","):
        name, equals, weight = part.partition("=")
        if equals and name.strip().lower() != "cpu" and weight.strip() != "0":
            effect = f"a request of {name.strip()} does not raise the priority"
            yield f"PriorityWeightTRES={part.strip()}", tres.source, effect
    flags = conf.get("PriorityFlags", "")
    for flag in flags.value.lower().split(","):
        if flag.strip() in FLAGS:
            yield f"PriorityFlags={flag.strip().upper()}", flags.source, FLAGS[flag.strip()]
