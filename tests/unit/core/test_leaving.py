"""Jobs that are cancelled while they wait: read, simulated, audited, measured and written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from schedfarm.core.audit import audit, read_schedule
from schedfarm.core.engine.fair_start import fair_start_times
from schedfarm.core.engine.promises import promises
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.errors import InputError
from schedfarm.core.explanation.explain import explain
from schedfarm.core.logs.clean import Clean
from schedfarm.core.logs.read import read_log
from schedfarm.core.logs.schedules import LoggedSchedule
from schedfarm.core.logs.swf import write_swf
from schedfarm.core.machines.grid.platform import Grid
from schedfarm.core.metrics.summary import summarise
from schedfarm.core.reference.loop import simulate_reference
from schedfarm.core.schedule import State
from schedfarm.core.stepping.stepping import Stepping
from schedfarm.core.workload.workload import Workload

QUEUE = Clean(cancelled="queue")

SWF = """; MaxProcs: 4
1 0 0 10 4 -1 -1 4 20 -1 1 7 -1 -1 -1 -1 -1 -1
2 1 5 -1 4 -1 -1 4 20 -1 5 7 -1 -1 -1 -1 -1 -1
3 2 30 0 4 -1 -1 4 20 -1 5 7 -1 -1 -1 -1 -1 -1
4 3 -1 -1 4 -1 -1 4 20 -1 5 7 -1 -1 -1 -1 -1 -1
5 4 3 -1 4 -1 -1 4 -1 -1 5 7 -1 -1 -1 -1 -1 -1
6 5 9 -1 4 -1 -1 4 20 -1 0 7 -1 -1 -1 -1 -1 -1
"""

_DAY = "2024-01-01T00:"

SACCT = f"""JobID|User|Submit|Eligible|Start|End|Elapsed|Timelimit|ReqCPUS|State
1|a|{_DAY}00:00|{_DAY}00:00|{_DAY}00:00|{_DAY}59:00|00:59:00|02:00:00|4|COMPLETED
2|a|{_DAY}00:10|{_DAY}00:30|Unknown|{_DAY}01:00|00:00:00|02:00:00|4|CANCELLED by 7
3|a|{_DAY}00:10|{_DAY}10:00|None|{_DAY}01:00|00:00:00|02:00:00|4|CANCELLED
4|a|{_DAY}00:10|{_DAY}00:10|None|Unknown|00:00:00|02:00:00|4|CANCELLED
"""


def jobs(**columns: object) -> Workload:
    """Return a job of the whole machine, one that leaves at 5, and a narrow one."""
    given: dict[str, object] = {
        "submit": [0, 1, 2],
        "run": [10, 0, 20],
        "estimate": [10, 5, 20],
        "procs": [3, 4, 1],
        "leave": [-1, 4, -1],
        "processors": 4,
    }
    return Workload.from_columns(**{**given, **columns})  # type: ignore[arg-type]


def test_swf(tmp_path: Path) -> None:
    """Cancelled, without a run time, with a wait and an estimate; other rows as by default."""
    path = tmp_path / "log.swf"
    path.write_text(SWF)
    plain, queued = read_log(path), read_log(path, clean=QUEUE)
    assert (plain.job.tolist(), dict(plain.dropped)) == ([1, 3], {"no run": 4})
    assert (queued.job.tolist(), dict(queued.dropped)) == ([1, 2, 3], {"no run": 3})
    assert queued.leave.tolist() == [-1, 5, 30]
    assert (queued.run.tolist(), queued.estimate.tolist()) == ([10, 0, 0], [20, 20, 20])
    assert queued.logged_wait.tolist() == [0, -1, -1]
    assert simulate(queued, "fcfs+logged").start.tolist() == [0, -1, -1]
    assert not plain.has_leaving
    drops = Clean(cancelled="queue", zero_run="drop", no_wait="drop", no_estimate=9)
    more = read_log(path, clean=drops)
    assert (more.job.tolist(), more.leave.tolist()) == ([1, 2, 3, 5], [-1, 5, 30, 3])
    assert more.estimate.tolist() == [20, 20, 20, 9]


def test_sacct(tmp_path: Path) -> None:
    """From submission, or from eligibility, to the end; those without an end are counted."""
    path = tmp_path / "site.sacct"
    path.write_text(SACCT)
    assert dict(read_log(path, processors=4).dropped) == {"cancelled": 3}
    queued = read_log(path, processors=4, clean=QUEUE)
    assert (queued.leave.tolist(), dict(queued.dropped)) == ([-1, 50, 50], {"cancelled": 1})
    eligible = read_log(path, processors=4, clean=replace(QUEUE, submit="eligible"))
    assert (eligible.leave.tolist(), dict(eligible.dropped)) == ([-1, 30], {"cancelled": 2})


def test_map(tmp_path: Path) -> None:
    """Rows with an end and without a start."""
    path, unit = tmp_path / "log.csv", {"unit": "s"}
    path.write_text("id,s,b,e,l,n\n1,100,100,200,300,4\n2,110,,150,300,4\n")
    columns = {name: {"column": name[0], **unit} for name in ("submit", "end")}
    columns |= {"start": {"column": "b", **unit}, "estimate": {"column": "l", **unit}}
    given = {"columns": {**columns, "job": "id", "procs": "n"}}
    queued = read_log(path, processors=4, columns=given, clean=QUEUE)
    assert (queued.leave.tolist(), queued.run.tolist()) == ([-1, 40], [100, 0])
    del given["columns"]["end"], given["columns"]["start"]
    given["columns"]["run"] = {"column": "l", **unit}
    with pytest.raises(InputError, match="needs the instant at which a job was cancelled"):
        read_log(path, processors=4, columns=given, clean=QUEUE)


def test_schedule_and_metrics() -> None:
    """A job that left has no start; no job that could leave is in a mean."""
    found = simulate(jobs(), "fcfs+easy")
    assert (found.start.tolist(), found.end.tolist()) == ([0, -1, 5], [10, -1, 25])
    assert (found.wait.tolist(), found.taken.tolist()) == ([0, 0, 3], [3, 0, 1])
    assert State(found.state[1]).name == "WITHDRAWN"
    told = summarise(found)
    assert [told[name] for name in ("jobs", "counted", "withdrawn", "refused")] == [3, 2, 1, 0]
    assert told["wait"] == 1.5
    started = simulate(jobs(leave=[-1, 10, -1]), "fcfs+easy")
    assert started.start.tolist() == [0, 10, 10]
    assert [summarise(started)[name] for name in ("counted", "withdrawn", "wait")] == [2, 0, 4]


@pytest.mark.parametrize(
    ("start", "instant", "why"),
    [
        ([0, -1, -1], 2, "job 3 (1 processors) never started"),
        ([0, 5, 25], 5, "job 2 (4 processors) started at 5 s, and left the queue at 5 s"),
        ([0, -1, 10], 5, "job 3 (1 processors) was left waiting"),
        ([0, -1, 3], 3, "nothing arrived or ended at that instant"),
        ([-1, -1, 2], 0, "job 1 (3 processors) never started"),
    ],
)
def test_planted_faults(start: list[int], instant: int, why: str) -> None:
    """The audit names the job and the instant."""
    work, nothing = jobs(), np.zeros(3, np.int64)
    assert audit(simulate(work, "fcfs+easy"), "fcfs+easy").ok
    wrong = LoggedSchedule(work, "", np.array(start), nothing > 0, overrun=nothing)
    verdict = audit(wrong, "fcfs+easy")
    assert (verdict.ok, verdict.instant) == (False, instant)
    assert why in verdict.why


def test_a_job_that_could_start_was_withdrawn() -> None:
    """It was left waiting at its arrival."""
    work = jobs(leave=[-1, 4, 9])
    bad = replace(simulate(work, "fcfs+easy"), start=np.array([0, -1, -1]))
    verdict = audit(bad, "fcfs+easy")
    assert (verdict.ok, verdict.job, verdict.instant) == (False, 2, 5)


def test_a_written_schedule_is_audited(tmp_path: Path) -> None:
    """Rows of jobs that left have status 5, and their wait."""
    found, path = simulate(jobs(), "fcfs+easy"), tmp_path / "out.swf"
    write_swf(found.workload, path, found)
    read = read_schedule(path, clean=QUEUE)
    assert read.start.tolist() == [0, -1, 5]
    assert audit(read, "fcfs+easy").ok
    write_swf(found.workload, path)
    assert read_log(path, clean=QUEUE).digest() == found.workload.digest()


@pytest.mark.parametrize(
    ("policy", "what"),
    [
        ("fcfs+easy,events=per-event", "events=per-event"),
        ("fcfs+easy,predict=last2", "predict=last2"),
        ("fcfs+planned", "rule 'planned' on a platform of kind 'pool'"),
    ],
)
def test_what_cannot_simulate_them_refuses(policy: str, what: str) -> None:
    """One sentence names it, the jobs and the remedy."""
    why = (
        f"workload 'workload': 1 job of the log left the queue before a start, which {what} cannot "
        "simulate; clean the log with cancelled = 'drop'"
    )
    for run in (simulate, simulate_reference):
        with pytest.raises(InputError) as refused:
            run(jobs(), policy)
        assert str(refused.value) == why


def test_other_machines_and_questions_refuse() -> None:
    """No question about a schedule ignores that jobs leave."""
    grid = jobs(processors=None, platform=Grid([4, 1], ["a", "b"]))
    with pytest.raises(InputError, match="rule 'easy' on a platform of kind 'grid'"):
        simulate(grid, "fcfs+easy")
    work = jobs()
    for ask in (
        lambda: promises(work, "fcfs+planned"),
        lambda: fair_start_times(work, "fcfs+easy"),
        lambda: explain(simulate(work, "fcfs+easy"), 2),
        lambda: Stepping(work),
    ):
        with pytest.raises(InputError, match="1 job of the log left the queue"):
            ask()


def test_wrong_instants_are_refused() -> None:
    """Below -1, or past the clock."""
    with pytest.raises(InputError, match="leave"):
        jobs(leave=[-1, -2, -1])
    with pytest.raises(InputError, match="leave goes to 4611686018427387904 s"):
        jobs(leave=[-1, 2**62, -1])
