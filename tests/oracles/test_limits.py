"""Slurm's limits: planted violations, and refusals; random cases are in `exhaustive`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from schedfarm.core.audit import audit
from schedfarm.core.audit.limits import COUNTED
from schedfarm.core.engine.limiting import check_limits, counters_of
from schedfarm.core.engine.limits import add, exceeds
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.errors import InputError
from schedfarm.core.machines.resources.platform import Resources
from schedfarm.core.policy.limits import MEANINGS
from schedfarm.core.policy.policy import Policy
from schedfarm.core.reference.loop import simulate_reference
from schedfarm.core.workload.workload import Workload

NAMES = {"user": {1: "ann"}, "group": {7: "physics"}, "queue": {5: "high"}}


def jobs(**columns: list[int]) -> Workload:
    """Return three jobs of 1 of 4 processors that would start at once."""
    given: dict[str, list[int]] = {
        "run": [9, 9, 9],
        "estimate": [9, 9, 9],
        "procs": [1, 1, 1],
        "user": [1, 1, 1],
        "group": [7, 7, 7],
        "queue": [5, 5, 5],
        "gpus": [1, 1, 1],
        "memory": [2**20 + 1] * 3,
    }
    columns = {"submit": [0, 0, 0], **given, **columns}
    return Workload.from_columns(**columns, processors=4, names=NAMES)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "limit",
    [
        "root.MaxJobs=2",
        "account.physics.MaxJobs=2",
        "user.ann@physics.MaxJobs=2",
        "qos.high.MaxJobsPerUser=2",
        "qos.high.MaxJobsPerAccount=2",
        "qos.high.MaxTRESPerUser=cpu=2",
        "qos.high.MaxTRESPerAccount=gres/gpu=2",
        "qos.high.MaxTRESRunMinsPerUser=cpu=1",
        "qos.high.MaxTRESRunMinsPerAccount=cpu=1",
        "root.GrpJobs=2",
        "account.physics.GrpTRES=cpu=2",
        "root.GrpTRES=mem=4",
        "qos.high.GrpTRES=mem=5M",
        "root.GrpTRESRunMins=cpu=1",
    ],
)
@pytest.mark.parametrize("rule", ["none", "aggressive", "easy", "depth(2)", "conservative"])
def test_the_audit_finds_a_job_above_a_limit(limit: str, rule: str) -> None:
    """Of three jobs that would start at 0, the third waits for the first two; it is moved to 0."""
    work = jobs(run=[29] * 3, estimate=[29] * 3) if "RunMins" in limit else jobs()
    policy = f"fcfs+{rule},limits=({limit})"
    schedule = simulate_reference(work, policy)
    assert schedule.start.tolist() == [0, 0, work.run[0]]
    assert audit(schedule, policy).ok
    verdict = audit(replace(schedule, start=np.zeros(3, np.int64)), policy)
    assert (verdict.ok, verdict.job, verdict.instant) == (False, 2, 0)
    canonical = Policy.parse(policy).limits or ""
    assert f"more it would exceed {canonical[1:-1]}" in verdict.why


@pytest.mark.parametrize("limit", ["root.MaxSubmitJobs=2", "qos.high.GrpSubmitJobs=2"])
def test_the_audit_finds_a_job_from_outside_of_the_queue(limit: str) -> None:
    policy = f"fcfs+easy,limits=({limit})"
    schedule = simulate_reference(jobs(), policy)
    assert schedule.start.tolist() == [0, 0, 9]
    verdict = audit(replace(schedule, start=np.zeros(3, np.int64)), policy)
    assert (verdict.job, verdict.instant) == (2, 0)
    assert verdict.why.endswith("keeps it out of the queue")


def test_the_auditor_counts_every_limit() -> None:
    assert {*COUNTED} == {*MEANINGS}


@pytest.mark.parametrize(
    ("limit", "wrong", "users"),
    [
        ("qos.high.GrpTRESRunMins=cpu=1", {"counts": "tres"}, [1, 1, 1]),
        ("qos.high.MaxTRESRunMinsPerUser=cpu=1", {"counts": "tres"}, [1, 1, 1]),
        ("qos.high.MaxJobsPerUser=1", {"each": "account"}, [1, 2, 1]),
        ("qos.high.MaxSubmitJobsPerUser=1", {"each": "account"}, [1, 2, 1]),
        ("qos.high.MaxTRESPerUser=cpu=1", {"each": ""}, [1, 2, 1]),
    ],
)
def test_the_auditor_does_not_use_the_rows_of_the_simulators(
    monkeypatch: pytest.MonkeyPatch, limit: str, wrong: dict[str, str], users: list[int]
) -> None:
    """A row that counts something else would mislead the kernel and the reference together."""
    work = jobs(run=[29] * 3, estimate=[29] * 3, user=users)
    policy = Policy.parse(f"fcfs+easy,limits=({limit})")
    right = simulate_reference(work, policy)
    assert right.start.tolist() == [0, 0, 29]
    name = limit.split("=")[0].split(".")[-1]
    monkeypatch.setitem(MEANINGS, name, replace(MEANINGS[name], **wrong))
    assert audit(right, policy).ok
    misled = replace(right, start=simulate_reference(work, policy).start)
    assert misled.start.tolist() != right.start.tolist()
    assert not audit(misled, policy).ok


def test_the_audit_finds_a_job_above_a_limit_of_gpus() -> None:
    """On a machine with several resources, where passes are those of the reference."""
    work = replace(jobs(), platform=Resources(4, {"gpus": 4, "memory": 2**30}))
    for limit, why in (
        ("root.GrpTRES=gres/gpu=2", "the limit root.GrpTRES=gres/gpu=2 is reached"),
        ("root.MaxSubmitJobs=2", "a limit keeps it out of the queue"),
    ):
        policy = f"fcfs+conservative,limits=({limit})"
        schedule = simulate_reference(work, policy)
        assert schedule.start.tolist() == [0, 0, 9]
        assert audit(schedule, policy).ok
        verdict = audit(replace(schedule, start=np.zeros(3, np.int64)), policy)
        assert (verdict.job, verdict.instant) == (2, 0)
        assert why in verdict.why


def test_the_audit_finds_a_job_that_a_limit_did_not_hold() -> None:
    policy = "fcfs+easy,limits=(root.MaxJobs=2)"
    work = jobs()
    late = replace(simulate_reference(work, policy), start=np.array([0, 9, 18]))
    verdict = audit(late, policy)
    assert (verdict.job, verdict.instant) == (1, 0)
    assert "was left waiting" in verdict.why


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ("root.MaxJobs=8", "give a list in parentheses, such as"),
        ("()", "is empty; leave it out"),
        ("(root.MaxJobs)", "is not of the form qos.NAME.LIMIT=VALUE"),
        ("(root.MaxJobs=-1)", "'-1' is not a limit; give a whole number from 0"),
        ("(root.MaxJob=1)", "a root has no limit 'MaxJob'; did you mean 'MaxJobs'?"),
        ("(qos.high.MaxJobs=1)", "a qos has no limit 'MaxJobs'; did you mean 'MaxJobsPerUser'?"),
        ("(partition.x.MaxJobs=1)", "'partition' has no limits; known: root, account, user, qos"),
        ("(qos.MaxJobsPerUser=1)", "write qos.NAME.MaxJobsPerUser="),
        ("(user.ann.MaxJobs=1)", "write user.NAME@ACCOUNT.MaxJobs="),
        ("(qos.a b.GrpJobs=1)", "'a b' is not a name"),
        ("(root.GrpTRES=node=1)", "resource 'node' is unknown; known: cpu, gres/gpu, mem, license"),
        ("(root.GrpTRES=cpu)", "give an amount, such as cpu=512"),
        ("(root.GrpTRES=mem=1X)", "'1X' is not an amount of memory; give one such as 512G"),
        ("(root.GrpTRES=mem=1000000000000T)", "give less than 10^18 MB"),
        ("(root.GrpJobs=1, root.grpjobs=2)", "'root.GrpJobs' is given twice"),
    ],
)
def test_a_wrong_limit_is_refused(limits: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        Policy.parse(f"fcfs+easy,limits={limits}")
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("fcfs+planned,limits=(root.MaxJobs=1)", "is an option of rules 'none'"),
        ("fcfs+easy,limits=(root.MaxJobs=1),predict=last2", "leave out predict=last2"),
        ("fcfs+depth(2),limits=(root.MaxJobs=1),events=per-event", "leave out events=per-event"),
        ("fcfs+conservative,limits=(root.MaxJobs=1),events=per-event", "leave out events"),
    ],
)
def test_limits_do_not_go_with_everything(policy: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        Policy.parse(policy)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("limits", "columns", "said"),
    [
        ("root.MaxJobs=1", {"user": [-1] * 3}, "needs the user of each job"),
        ("qos.high.GrpJobs=1", {"queue": [-1] * 3}, "needs the qos of each job"),
        ("account.physics.GrpJobs=1", {"group": [-1] * 3}, "needs the account of each job"),
        ("qos.hihg.GrpJobs=1", {}, "qos 'hihg' is unknown; known: high"),
        ("user.eve@physics.GrpJobs=1", {}, "user 'eve' is unknown; known: ann"),
        ("account.77.GrpJobs=1", {}, "account '77' is unknown; known: 7, physics"),
        ("qos.-5.GrpJobs=1", {}, "qos '-5' is unknown; known: high"),
        ("user.²@7.MaxJobs=1", {}, "user '²' is unknown; known: ann"),
        ("account.7.GrpJobs=1, account.physics.GrpJobs=2", {}, "are the same in this log"),
        ("root.GrpTRES=license=1", {}, "limits licences, which no job of the log requests"),
        ("root.GrpTRES=cpu=3", {"procs": [1, 4, 1]}, "job 2 alone exceeds root.GrpTRES=cpu=3"),
        ("root.MaxSubmitJobs=0", {}, "job 1 alone exceeds root.MaxSubmitJobs=0"),
        (
            "root.GrpTRESRunMins=gres/gpu=1",
            {"gpus": [2**60] * 3},
            "the requests of all jobs exceed 2^62 in all",
        ),
    ],
)
def test_limits_that_do_not_go_with_a_log(
    limits: str, columns: dict[str, list[int]], said: str
) -> None:
    policy = Policy.parse(f"fcfs+easy,limits=({limits})")
    with pytest.raises(InputError) as refused:
        counters_of(jobs(**columns), policy)
    assert said in str(refused.value)


def test_names_of_the_order_are_known() -> None:
    """A file of a site lists QOS and accounts of which the log may have no jobs."""
    order = "multifactor(accounts=(all=1, physics=all/1), qos_priority=(low=1), users=(bob@all=1))"
    limits = "account.all.GrpJobs=2, qos.low.GrpJobs=1, user.bob@all.MaxJobs=1"
    policy = Policy.parse(f"{order}+easy,limits=({limits})")
    running, submitted = counters_of(jobs(), policy)
    assert (running.most.tolist(), submitted.most.tolist()) == ([2], [])


@pytest.mark.parametrize(
    "limit",
    ["account.7.GrpJobs=2", "user.1@physics.MaxJobs=2", "user.ann@7.MaxJobs=2", "qos.5.GrpJobs=2"],
)
def test_numbers_of_named_users_accounts_and_qos_are_theirs(limit: str) -> None:
    """As in a campaign, whose stores hold no names."""
    policy = f"fcfs+easy,limits=({limit})"
    for program in (simulate, simulate_reference):
        schedule = program(jobs(), policy)
        assert schedule.start.tolist() == [0, 0, 9]
    assert audit(schedule, policy).ok
    assert not audit(replace(schedule, start=np.zeros(3, np.int64)), policy).ok


def test_a_number_that_is_a_name_is_that_of_the_name() -> None:
    work = replace(jobs(group=[1, 1, 2]), names={"group": {1: "2", 2: "1"}})
    schedule = simulate(work, "fcfs+easy,limits=(account.2.GrpJobs=1)")
    assert schedule.start.tolist() == [0, 9, 0]
    assert audit(schedule, schedule.policy).ok


def test_numbers_are_those_of_a_whole_log() -> None:
    """Samples and windows may be without jobs of a number, a whole log may not."""
    policy = Policy.parse("fcfs+easy,limits=(account.77.GrpJobs=1)")
    plain = replace(jobs(), names={})
    assert counters_of(plain, policy)[0].most.size == 0
    with pytest.raises(InputError, match="account '77' is unknown; known: 7"):
        check_limits(plain, policy)
    check_limits(plain, Policy.parse("fcfs+easy,limits=(account.7.GrpJobs=1)"))


def test_the_text_of_memory_is_readable_again() -> None:
    """In any case of its name, and in MB."""
    name = Policy.parse("fcfs+easy,limits=(root.GrpTRES=MEM=900000000000T)").name
    assert "root.GrpTRES=mem=943718400000000000" in name
    assert Policy.parse(name).name == name


def test_late_and_large_requests_stay_within_64_bits() -> None:
    """Products of instants and requests would not; numpy warns of them without the JIT."""
    late = [10**9, 10**9 + 1, 10**9 + 2]
    work = jobs(submit=late, memory=[2**58] * 3)
    limits = "root.GrpTRESRunMins=mem=60000000000"
    running, _ = counters_of(work, Policy.parse(f"fcfs+easy,limits=({limits})"))
    used = []
    with np.errstate(over="raise"):
        for j, now in enumerate(late):
            exceeds(running, j, now)
            add(running, j, now, now, 1)
            used.append(int(running.used[0]))
        add(running, 0, late[0], late[0] + 9, -1)
    assert used == [9 * 2**38, 17 * 2**38, 24 * 2**38]
    assert int(running.used[0]) == (1 + 2) * 2**38
