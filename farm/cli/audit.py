"""`farm audit`: prove or refute that a schedule follows a policy."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from schedfarm.farm.cli import words
from schedfarm.farm.cli.command import COUNT, command
from schedfarm.farm.cli.own import brought_policy
from schedfarm.farm.cli.traces import CLEAN

if TYPE_CHECKING:
    from schedfarm.core.audit import LoggedSchedule, Verdict
    from schedfarm.core.policy.policy import Policy

REFUTED = 1


@command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--policy",
    "name",
    required=True,
    shell_complete=words.policies,
    help="ORDER+RULE[,option=value], such as saf+easy; a rule alone implies fcfs.",
)
@click.option(
    "--processors", type=COUNT, help="Processors of the machine; by default those in FILE."
)
@CLEAN
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def audit(
    file: Path, name: str, processors: int | None, clean: dict[str, Any], as_json: bool
) -> None:
    """Check whether the times of a schedule in FILE follow a policy; report the first violation.

    FILE is a log in the Standard Workload Format with wait times, from any source, such as `farm
    simulate --out`. For jobs on nodes, or on clusters with links, FILE is a CSV with the columns
    start, end, state and on; a TOML file of the same name has the machine. A violation is reported
    with its job, instant and reason. The events option of the policy selects the clock: use
    events=per-event for schedules of the pyss family. Rules and orders that the auditor does not
    implement are listed as unaudited.

    Exit status: 0 sound, 1 refuted, 2 bad input.
    """
    from schedfarm.core.audit import audit as judge, read_schedule
    from schedfarm.core.logs.clean import Clean

    schedule = read_schedule(file, processors, Clean.from_dict(clean))
    with brought_policy(name) as policy:
        verdict = judge(schedule, policy)
    facts = _facts(file, policy, schedule, verdict)
    click.echo(json.dumps(facts, indent=1) if as_json else _as_text(facts))
    if not verdict.ok:
        sys.exit(REFUTED)


def _facts(
    file: Path, policy: Policy, schedule: LoggedSchedule, verdict: Verdict
) -> dict[str, Any]:
    from schedfarm.core.audit import CLOCKS

    jobs, keeps = schedule.workload, verdict.keeps
    return {
        "file": str(file),
        "processors": jobs.processors,
        "policy": policy.name,
        "events": policy.events,
        "clock": CLOCKS[policy.events],
        "jobs": len(jobs),
        "dropped": dict(jobs.dropped),
        "sound": verdict.ok,
        "checked": list(verdict.checked),
        "unaudited": list(verdict.unaudited),
        "rule": verdict.rule,
        "job": None if verdict.job is None else int(jobs.job[verdict.job]),
        "instant": verdict.instant,
        "why": verdict.why,
        "keeps": None if keeps is None else keeps.name,
        "keeps_clock": None if keeps is None else CLOCKS[keeps.events],
    }


def _as_text(facts: dict[str, Any]) -> str:
    from schedfarm.core.numerals import counted

    jobs, machine = counted(facts["jobs"], "job"), counted(facts["processors"], "processor")
    lines = [f"{facts['file']}: {jobs} on {machine} against {facts['policy']}"]
    dropped = facts["dropped"].items()
    lines += [f"  left out: {counted(count, 'row')}, {why}" for why, count in dropped]
    lines.append(f"  checked: {', '.join(facts['checked'])}")
    if facts["unaudited"]:
        lines.append(f"  unaudited: {', '.join(facts['unaudited'])}")
    lines.append(f"  events {facts['events']}: {facts['clock']}")
    if facts["sound"]:
        lines.append(f"sound: {facts['why']}")
    else:
        lines.append(f"refuted: {facts['rule']} is broken first by job {facts['job']}")
        lines.append(f"  {facts['why']}")
    if facts["keeps"]:
        lines.append(f"it conforms to {facts['keeps']}: {facts['keeps_clock']}")
    return "\n".join(lines)
