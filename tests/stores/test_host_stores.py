"""Stores of jobs on hosts."""

from __future__ import annotations

from pathlib import Path

from schedfarm import farm
from schedfarm.core import simulate
from schedfarm.core.audit import audit
from schedfarm.core.machines.hosts.platform import Hosts
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.store.reading import schedule_of
from schedfarm.farm.verify import verify

COLUMNS = "job,submit,wait,run,estimate,processors,nodes,gpus\n"

TIMES = ("submit", "wait", "run", "estimate")

GROUPS = [{"count": 3, "processors": 4}, {"count": 1, "processors": 4, "gpus": 2}]


def test_a_store_has_the_hosts_and_gpus_of_its_jobs(tmp_path: Path) -> None:
    """Its schedules are those of a simulation of the log, on the machine of the campaign."""
    log = tmp_path / "a.csv"
    rows = (
        f"{k},{20 * k},0,{100 + 30 * (k % 4)},300,{1 + k % 7},{1 + k % 2},{k % 3 == 0:d}\n"
        for k in range(80)
    )
    log.write_text(COLUMNS + "".join(rows))
    seconds = {name: {"column": name, "unit": "s"} for name in TIMES}
    columns = {"job": "job", "procs": "processors", "nodes": "nodes", "gpus": "gpus", **seconds}
    trace = Trace(
        name="a",
        file=str(log),
        map={"columns": columns, "epoch": 0},
        hosts={"groups": GROUPS},
    )
    policies = ("fcfs+easy", "saf+conservative", "fcfs+planned")
    campaign = Campaign(name="a", traces=(trace,), policies=policies, resamples=0, log=True)
    farm.run(campaign, tmp_path / "s")
    jobs = trace.read()
    assert jobs is not None
    assert jobs.platform == Hosts(GROUPS)
    assert set(jobs.hosts.tolist()) == {1, 2}
    for policy in policies:
        stored = schedule_of(tmp_path / "s", trace="a", policy=policy, resample=0)
        assert stored.start.tolist() == simulate(jobs, policy).start.tolist()
        assert stored.workload.hosts.tolist() == jobs.hosts.tolist()
        assert stored.workload.gpus.tolist() == jobs.gpus.tolist()
        assert audit(stored, policy).ok
    assert not list(verify(tmp_path / "s"))
