"""Stores of jobs on hosts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

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


POLICIES = ("fcfs+easy", "saf+conservative", "fcfs+planned")


def trace_on_hosts(folder: Path, **more: Any) -> Trace:
    """Return a trace of 80 jobs with GPUs and a number of nodes, which begins at 1970-01-01."""
    log = folder / "a.csv"
    rows = (
        f"{k},{20 * k},0,{100 + 30 * (k % 4)},300,{1 + k % 7},{1 + k % 2},{k % 3 == 0:d}\n"
        for k in range(80)
    )
    log.write_text(COLUMNS + "".join(rows))
    seconds = {name: {"column": name, "unit": "s"} for name in TIMES}
    columns = {"job": "job", "procs": "processors", "nodes": "nodes", "gpus": "gpus", **seconds}
    return Trace(
        name="a",
        file=str(log),
        map={"columns": columns, "epoch": 0},
        hosts={"groups": GROUPS, **more},
    )


def test_a_store_has_the_hosts_and_gpus_of_its_jobs(tmp_path: Path) -> None:
    """Its schedules are those of a simulation of the log, on the machine of the campaign."""
    trace = trace_on_hosts(tmp_path)
    campaign = Campaign(name="a", traces=(trace,), policies=POLICIES, resamples=0, log=True)
    farm.run(campaign, tmp_path / "s")
    jobs = trace.read()
    assert jobs is not None
    assert jobs.platform == Hosts(GROUPS)
    assert set(jobs.hosts.tolist()) == {1, 2}
    for policy in POLICIES:
        stored = schedule_of(tmp_path / "s", trace="a", policy=policy, resample=0)
        assert stored.start.tolist() == simulate(jobs, policy).start.tolist()
        assert stored.workload.hosts.tolist() == jobs.hosts.tolist()
        assert stored.workload.gpus.tolist() == jobs.gpus.tolist()
        assert audit(stored, policy).ok
    assert not list(verify(tmp_path / "s"))


def test_windows_at_dates_are_the_same_in_every_run(tmp_path: Path) -> None:
    """From the file, from the store's copy of the campaign, grown, and simulated again."""
    window = {"from": "1970-01-01T00:10", "until": "1970-01-01T00:20", "hosts": [1, 3]}
    trace = trace_on_hosts(tmp_path, windows=[window, {"from": 5_000, "until": "2h"}])
    jobs = trace.read()
    assert jobs is not None
    closed = {"from": 600, "until": 1_200, "hosts": "1,3"}
    assert jobs.platform == Hosts(GROUPS, windows=[closed, {"from": 5_000, "until": 7_200}])
    campaign = Campaign(name="a", traces=(trace,), policies=POLICIES[:1], resamples=0, log=True)
    store = tmp_path / "s"
    farm.run(campaign, store)
    copy = Campaign.from_toml(store / "campaign.toml")
    assert copy.to_dict()["traces"][0]["hosts"] == campaign.to_dict()["traces"][0]["hosts"]
    more = farm.run(replace(copy, policies=POLICIES), store)
    assert (more.before, more.done) == (1, 2)
    plain = trace_on_hosts(tmp_path).read()
    assert plain is not None
    for policy in POLICIES:
        stored = schedule_of(store, trace="a", policy=policy, resample=0)
        assert stored.start.tolist() == simulate(jobs, policy).start.tolist()
        assert stored.start.tolist() != simulate(plain, policy).start.tolist()
        assert audit(stored, policy).ok
    assert not list(verify(store))
