"""Schedules of the pyss family, start for start: 240 jobs of a model, in `tests/data/pyss.csv`.

They were made by a program of its own, written after those simulators' event loop: an event is a
(time, kind, number) with submissions before terminations before starts, and each calls the
scheduler once. Jobs are drawn by the Lublin-Feitelson model (seed 3, 64 processors), their times
squeezed fivefold and rounded to 300 s, so that much happens at one instant.
"""

from __future__ import annotations

import numpy as np
import pytest

from schedfarm.core.audit import audit
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.policy.policy import Policy
from schedfarm.core.reference.loop import simulate_reference
from schedfarm.core.schedule import Schedule
from schedfarm.core.workload.workload import Workload
from tests.support.paths import DATA

FILE = DATA / "pyss.csv"

FAMILY = {
    "fcfs": "fcfs+none",
    "easy": "fcfs+easy",
    "sjbf": "fcfs+easy,backfill=spf",
    "conservative": "fcfs+planned,walk=arrival",
}
"""Names of its schedulers in the file, and the policies that they are but for the clock."""


def published(name: str) -> Schedule:
    """Return the schedule that a scheduler of the family made."""
    told = np.genfromtxt(FILE, delimiter=",", names=True, dtype=np.int64)
    work = Workload.from_columns(
        submit=told["submit"],
        run=told["run"],
        estimate=told["estimate"],
        procs=told["procs"],
        processors=64,
    )
    return Schedule(work, "", told[name], np.zeros(len(work), np.bool_))


def per_event(name: str) -> Policy:
    return Policy.parse(f"{FAMILY[name]},events=per-event")


@pytest.mark.parametrize("name", FAMILY)
def test_simulations_agree_in_every_start(name: str) -> None:
    """Per event, the compiled simulator makes the family's schedule."""
    theirs = published(name)
    assert simulate(theirs.workload, per_event(name)).start.tolist() == theirs.start.tolist()


@pytest.mark.parametrize("name", FAMILY)
def test_the_reference_agrees_in_every_start(name: str) -> None:
    """And so does the slow one."""
    theirs = published(name)
    ours = simulate_reference(theirs.workload, per_event(name))
    assert ours.start.tolist() == theirs.start.tolist()


@pytest.mark.parametrize("name", FAMILY)
def test_the_audit_passes_them(name: str) -> None:
    """As what they are; but for fcfs not by our own clock, and then it says by which."""
    theirs = published(name)
    verdict = audit(theirs, per_event(name))
    assert verdict.ok, verdict.why
    assert verdict.keeps is None
    plain = audit(theirs, FAMILY[name])
    assert plain.ok == (name == "fcfs")
    assert plain.keeps == (None if plain.ok else per_event(name))
