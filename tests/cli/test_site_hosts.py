"""`farm site --hosts`: the nodes of a dump as hosts, in the fit and in the campaign."""

from __future__ import annotations

import json
from contextlib import chdir
from dataclasses import replace
from pathlib import Path

import pytest

from schedfarm.core.machines.hosts.platform import Hosts
from schedfarm.core.workload.workload import Workload
from schedfarm.farm import Campaign, Trace
from schedfarm.farm.site.calibration import fit, period_of
from schedfarm.farm.site.judgement import judge
from schedfarm.farm.site.model import Site, read_site
from schedfarm.farm.site.parameters import PARAMETERS, Setting, jobs_at
from schedfarm.farm.site.room import has_room
from schedfarm.farm.store.reading import schedule_of
from tests.support.command_line import Farm
from tests.support.refusals import sentence
from tests.support.slurm_dumps import change, clear, edit, nested, reserve

MIB, GIB = 2**20, 2**30


def on_hosts(dump: Path, processors: int | None = None) -> Site:
    return read_site(dump, hosts=True, processors=processors)


def machine_of(site: Site) -> Hosts:
    assert isinstance(site.jobs.platform, Hosts)
    return site.jobs.platform


def written(dump: Path) -> Trace:
    """Return the campaign's trace at the first size."""
    return Campaign.from_toml(dump / "campaign.toml").traces[0]


def read_of(trace: Trace) -> Workload:
    jobs = trace.read()
    assert jobs is not None
    return jobs


def said(site: Site) -> dict[str, str]:
    """Return the effect of each note."""
    return {note.what: note.effect for note in site.notes}


def test_equal_nodes_are_a_group_with_its_source(dump: Path, farm: Farm) -> None:
    """Without partitions, which all have all hosts; jobs have the log's number of nodes."""
    stdout = farm("site", dump, "--hosts", "--no-fit").stdout
    assert "  8 hosts: 16 processors, 64 000 MiB (sinfo.txt: 8 nodes, n[001-008])\n" in stdout
    site = on_hosts(dump)
    assert machine_of(site) == Hosts([{"count": 8, "processors": 16, "memory": 64_000 * MIB}])
    assert (site.jobs.hosts == -(-site.jobs.procs // 16)).all()
    text = (dump / "campaign.toml").read_text()
    for line in (
        "hosts.groups = [                      # sinfo.txt: CPUs of the 8 nodes of batch, debug",
        '  { count = 8, processors = 16, memory = "64000 MiB" },  # sinfo.txt: 8 nodes, n[001-008]',
        "processors = [128, 144]               # as it is, and 12 % more",
    ):
        assert f"\n{line}\n" in text
    small, large = Campaign.from_toml(dump / "campaign.toml").traces
    assert read_of(small).digest() == site.jobs.digest()
    assert large.resized(read_of(small)).platform.size == 144


def test_nodes_are_in_the_order_of_their_weights(dump: Path) -> None:
    """Then in that of sinfo, with equal ones together; those without CPUs are left out."""
    change(dump / "sinfo.txt", "n005|batch*|16|64000|", "n005|batch*|16|96000|")
    change(dump / "sinfo.txt", "n005|debug|16|64000|", "n005|debug|16|96000|")
    for name in ("n001", "n008"):
        for partition in ("batch*", "debug"):
            row = f"{name}|{partition}|16|64000|(null)|"
            change(dump / "sinfo.txt", row, f"{name}|{partition}|32|64000|gpu:a100:4(S:0)|")
    with (dump / "sinfo.txt").open("a") as table:
        table.write("n009|batch*|0|64000|(null)|down\n")
    with (dump / "slurm.conf").open("a") as conf:
        conf.write(
            "NodeName=DEFAULT Weight=3\nNodeName=n[001-002] CPUs=16\n"
            "NodeName=n[007-008] Weight=2\nNodeName=n[003-006] Weight=1\nNodeName=x[1-2]y[1-2]\n"
        )
    site = on_hosts(dump)
    assert site.hosts is not None
    small = {"processors": 16, "gpus": 0, "memory": 64_000 * MIB}
    large = {**small, "processors": 32, "gpus": 4}
    assert [fact.value for fact in site.hosts.groups] == [
        {"count": 3, **small},
        {"count": 1, **small, "memory": 96_000 * MIB},
        {"count": 1, **small},
        {"count": 2, **large},
        {"count": 1, **small},
    ]
    sources = [fact.source for fact in site.hosts.groups]
    assert sources[0].startswith(
        "sinfo.txt: 3 nodes, n[003-004], n006; slurm.conf:20, with DEFAULT"
    )
    assert sources[0].endswith("Weight=1")
    assert sources[2].startswith("sinfo.txt: 1 node, n007; slurm.conf:19, with DEFAULT")
    assert sources[3].startswith("sinfo.txt: 2 nodes, n008, n001; ")
    assert ["Weight=2;" in sources[3], "Weight=3" in sources[3]] == [True, True]
    assert "weight were 1" in said(site)["Weight=3 of nodes x[1-2]y[1-2]"]


def test_resources_of_nodes_are_those_that_slurm_allocates(dump: Path) -> None:
    """No memory under CR_Core; a request of GPUs that no node has is a caution."""
    with (dump / "slurm.conf").open("a") as conf:
        conf.write("SelectTypeParameters=CR_Core\n")
    edit(dump, 5, ReqTRES="cpu=1,gres/gpu=1")
    site = on_hosts(dump)
    assert machine_of(site) == Hosts([{"count": 8, "processors": 16}])
    assert "requests 1, and there are 0; jobs wait less" in said(site)["the GPUs of nodes"]


@pytest.mark.parametrize(
    ("old", "new", "source"),
    [
        ("select/cons_tres", "select/linear", "slurm.conf:5, SelectType=select/linear"),
        (" PriorityJobFactor=", " OverSubscribe=EXCLUSIVE PriorityJobFactor=",
         "slurm.conf:15, OverSubscribe=EXCLUSIVE; slurm.conf:16, OverSubscribe=EXCLUSIVE"),
        (" PriorityJobFactor=", " Shared=exclusive PriorityJobFactor=",
         "slurm.conf:15, Shared=exclusive; slurm.conf:16, Shared=exclusive"),
    ],
)  # fmt: skip
def test_nodes_of_one_job_are_exclusive(
    dump: Path, farm: Farm, old: str, new: str, source: str
) -> None:
    change(dump / "slurm.conf", old, new)
    stdout = farm("site", dump, "--hosts", "--no-fit").stdout
    assert f"  each host runs one job at a time ({source})" in stdout
    assert machine_of(on_hosts(dump)).exclusive
    line = f"hosts.exclusive = true                # {source}\n"
    assert line in (dump / "campaign.toml").read_text()
    assert read_of(written(dump)).platform == machine_of(on_hosts(dump))


def test_whole_nodes_in_one_partition_are_a_caution(dump: Path) -> None:
    change(
        dump / "slurm.conf", "PriorityJobFactor=2", "PriorityJobFactor=2 OverSubscribe=EXCLUSIVE"
    )
    site = on_hosts(dump)
    assert not machine_of(site).exclusive
    assert "all wait less" in said(site)["whole nodes of jobs of partition debug"]


def test_partitions_are_lists_of_hosts(dump: Path, farm: Farm) -> None:
    """With their limits; a cancelled job may name several."""
    nested(dump, "n003", "n004")
    change(dump / "slurm.conf", "PriorityJobFactor=2", "PriorityJobFactor=2 MaxTime=30-0")
    change(dump / "slurm.conf", "PriorityJobFactor=1", "PriorityJobFactor=1 MaxTime=5 MaxNodes=8")
    fields = {"Start": "None", "State": "CANCELLED", "Elapsed": "00:00:00"}
    edit(dump, 200, Partition="batch,debug", **fields)
    stderr = farm("site", dump, "--hosts", "--no-fit", "--cancelled", "queue").stderr
    assert "MaxTime=5 of partition batch (slurm.conf:15)" in stderr
    assert "of each job within its partition" not in stderr
    text = (dump / "campaign.toml").read_text()
    for line in (
        'hosts.partitions.batch = "0-7"        # sinfo.txt: 8 nodes',
        'hosts.partitions.debug = "2-3"        # sinfo.txt: 2 nodes',
        'hosts.max_time.debug = "30d"          # slurm.conf:16',
        "hosts.max_nodes.batch = 8             # slurm.conf:15",
    ):
        assert f"\n{line}\n" in text
    site = read_site(dump, hosts=True, cancelled="queue")
    machine = machine_of(site)
    assert dict(machine.parts) == {"batch": "", "debug": "2-3"}
    assert [label for label, _ in machine.labels if "," in label] == ["batch,debug"]
    assert read_of(written(dump)).digest() == site.jobs.digest()
    # Of its 4 hosts, the second stands for n003.
    half = machine_of(replace(site, jobs=jobs_at(site, Setting(64, site.order))))
    assert dict(half.parts) == {"batch": "", "debug": "1"}


def test_limits_need_the_names_of_partitions(dump: Path, farm: Farm) -> None:
    """Even if all have all hosts."""
    change(dump / "slurm.conf", "PriorityJobFactor=2", "PriorityJobFactor=2 MaxTime=30-0")
    farm("site", dump, "--hosts", "--no-fit")
    trace = written(dump)
    assert trace.hosts is not None
    assert trace.hosts["partitions"] == {"batch": "0-7", "debug": "0-7"}
    assert read_of(trace).platform == machine_of(on_hosts(dump))
    assert machine_of(on_hosts(dump)).parts == ()


def test_a_job_without_partition_lets_all_use_all_nodes(dump: Path) -> None:
    nested(dump, "n003", "n004")
    edit(dump, 5, Partition="")
    site = on_hosts(dump)
    assert machine_of(site).parts == ()
    assert "1 job of 'sacct.txt' has no partition" in said(site)["the nodes of each partition"]


def test_maintenance_and_reservations_withhold_hosts(dump: Path, farm: Farm) -> None:
    """Those of their nodes, each once; of all nodes, all."""
    clear(dump, "2024-01-10T00:00:00", "2024-01-11T12:00:00")
    clear(dump, "2024-01-20T00:00:00", "2024-01-20T06:00:00")
    edit(dump, 7, Reservation="course")
    reserve(
        dump,
        "fix|2024-01-10T00:00:00|2024-01-11T00:00:00|MAINT,SPEC_NODES|n[001-004]",
        "course|2024-01-10T12:00:00|2024-01-11T12:00:00||n[004-005],gone7",
        "all|2024-01-20T00:00:00|2024-01-20T06:00:00|MAINT,ALL_NODES|n[001-008]",
        "other|2024-01-20T00:00:00|2024-01-20T06:00:00|MAINT|m[1-9]",
    )
    farm("site", dump, "--hosts", "--no-fit")
    site = on_hosts(dump)
    assert site.jobs.dropped == {"reserved": 1}
    assert not [note for note in site.notes if "reservation" in note.what]
    windows = machine_of(site).to_dict()["configuration"]["windows"]
    assert [one.get("hosts") for one in windows] == ["0-3", "0-4", "3-4", None]
    text = (dump / "campaign.toml").read_text()
    assert "hosts.windows = [                     # seconds from the log's beginning" in text
    assert 'hosts = "3-4" },  # reservations.txt:3, course' in text
    assert read_of(written(dump)).digest() == site.jobs.digest()


def test_more_intervals_than_hosts_have_are_a_caution(
    dump: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Partitions remain."""
    monkeypatch.setattr("schedfarm.core.machines.hosts.windows.MOST_TIMES", 1)
    nested(dump, "n003", "n004")
    clear(dump, "2024-01-10T00:00:00", "2024-01-12T00:00:00")
    days = ["2024-01-10T00:00:00|2024-01-10T06:00:00", "2024-01-11T00:00:00|2024-01-11T06:00:00"]
    reserve(dump, *(f"fix|{day}|MAINT|n001" for day in days))
    site = on_hosts(dump)
    assert "more than 1 intervals" in said(site)["maintenance in 2 intervals"]
    assert machine_of(site).windows == ()
    assert [name for name, _ in machine_of(site).parts] == ["batch", "debug"]


def test_cautions_are_those_of_hosts(dump: Path) -> None:
    """The choice of nodes; not that there is one pool, or one stock."""
    change(dump / "sinfo.txt", "|64000|(null)|", "|64000|gpu:2|")
    edit(dump, 5, ReqTRES="cpu=1,gres/gpu=2,mem=30G")
    change(dump / "slurm.conf", "bf_max_job_test=50", "bf_max_job_test=50,bf_busy_nodes")
    pool, hosts = said(read_site(dump)), said(on_hosts(dump))
    assert "the GPUs and memory of each node" in pool
    assert set(pool) - set(hosts) == {"the GPUs and memory of each node"}
    assert set(hosts) - set(pool) == {"Slurm's choice of the nodes of a job"}
    assert "lowest numbers and equal shares" in hosts["Slurm's choice of the nodes of a job"]
    assert "fragmentation" in pool["bf_busy_nodes"]
    assert "lowest numbers" in hosts["bf_busy_nodes"]


def test_jobs_that_nodes_cannot_hold_are_dropped(dump: Path, farm: Farm) -> None:
    """A job of more processors than its nodes have; its number is in a caution."""
    edit(dump, 5, NNodes="1", ReqCPUS="20", AllocCPUS="20", ReqTRES="cpu=20,mem=1G")
    edit(dump, 6, NNodes="")
    done = farm("site", dump, "--hosts", "--no-fit", "--json")
    lost = "1 job that the nodes cannot hold (sacct.txt, job 1004 first): 20 processors, "
    assert f"{lost}{GIB} bytes of memory on 1 node; others wait less" in done.stderr
    assert "the number of nodes of 1 job (sacct.txt, NNodes): each takes the fewest" in done.stderr
    facts = json.loads(done.stdout)
    assert facts["dropped"] == {"not admitted": 1}
    assert facts["hosts"]["groups"][0]["count"] == 8
    assert read_of(written(dump)).digest() == on_hosts(dump).jobs.digest()


def test_a_log_without_nodes_takes_the_fewest(dump: Path) -> None:
    change(dump / "sacct.txt", "|NNodes|", "|Other|")
    site = on_hosts(dump)
    assert (site.jobs.hosts == -1).all()
    assert "fewest hosts" in said(site)["the number of nodes of all jobs"]
    assert (machine_of(site).requests(site.jobs)[0] == -(-site.jobs.procs // 16)).all()


def test_no_job_that_nodes_hold_is_an_error(dump: Path, farm: Farm) -> None:
    change(dump / "sinfo.txt", "|64000|", "|1|")
    stderr = farm("site", dump, "--hosts", "--no-fit", status=2).stderr
    assert "the nodes of sinfo.txt can hold none of the jobs" in sentence(stderr)


def test_a_wrong_weight_is_refused(dump: Path, farm: Farm) -> None:
    with (dump / "slurm.conf").open("a") as conf:
        conf.write("NodeName=n[001-002] Weight=low\n")
    stderr = farm("site", dump, "--hosts", "--no-fit", status=2).stderr
    assert "slurm.conf:17: Weight: 'low' is not a whole number" in sentence(stderr)
    farm("site", dump, "--no-fit")


def test_other_processors_are_whole_hosts(dump: Path, farm: Farm) -> None:
    """At most those that were asked for."""
    stdout = farm("site", dump, "--hosts", "--no-fit", "--processors", 200).stdout
    assert "on 192 processors (--processors)" in stdout
    site = on_hosts(dump, processors=200)
    assert machine_of(site).count == 12
    assert "n[001-008]; its part of 8\n" in (dump / "campaign.toml").read_text()
    assert read_of(written(dump)).digest() == site.jobs.digest()


def test_the_capacity_is_that_of_whole_hosts(dump: Path) -> None:
    """In the bounds, in the trials, and in a machine of several groups."""
    change(dump / "sinfo.txt", "n008|batch*|16|64000|", "n008|batch*|40|64000|")
    change(dump / "sinfo.txt", "n008|debug|16|64000|", "n008|debug|40|64000|")
    site = on_hosts(dump)
    parameter = PARAMETERS["processors"]
    assert parameter.bounds(site) == (88.0, 152.0)
    sizes = [parameter.near(site, one) for one in (88, 103, 104, 151, 152)]
    assert sizes == [88, 88, 104, 136, 152]
    for size in sizes:
        assert jobs_at(site, Setting(size, site.order)).platform.size == size


def test_the_least_capacity_holds_jobs_of_wide_nodes(dump: Path) -> None:
    """Jobs of 4 nodes need 4, whatever half of the processors would have."""
    site = on_hosts(dump)
    assert int(site.jobs.hosts.max()) == 4
    assert PARAMETERS["processors"].bounds(site) == (64.0, 128.0)
    edit(dump, 5, NNodes="6")
    assert PARAMETERS["processors"].bounds(on_hosts(dump)) == (96.0, 128.0)


def test_room_is_left_by_windows(dump: Path) -> None:
    """A job of 3 hosts has none while 2 are left, and that of a partition needs its own."""
    site = on_hosts(dump)
    hosts = replace(machine_of(site), windows=[{"from": 100, "until": 200, "hosts": "0-5"}])
    parts = replace(hosts, partitions={"a": "0-6", "b": "7"}, numbers={"a": 1, "b": 2})
    jobs = Workload.from_columns(
        submit=[0, 0, 0, 0], run=[150, 150, 90, 250], estimate=[300] * 4, procs=[32, 48, 48, 16],
        hosts=[2, 3, 3, 1], partition=[1, 1, 1, 2], logged_wait=[0, 0, 0, 0], platform=hosts,
    )  # fmt: skip
    assert has_room(jobs, hosts).tolist() == [True, False, True, True]
    assert has_room(jobs, parts).tolist() == [False, False, True, True]
    assert has_room(jobs, machine_of(site)).all()


def test_a_fit_writes_the_fitted_number_of_hosts(dump: Path, farm: Farm) -> None:
    """A trial is of each number of hosts, once; the campaign has the machine that is judged."""
    change(dump / "slurm.conf", "sched/backfill", "sched/builtin")
    stdout = farm("site", dump, "--hosts", "--trials", 10, "--json", "--quiet").stdout
    facts = json.loads(stdout)
    (fitted,) = facts["fitted"]
    assert facts["simulations"] <= 5
    assert fitted["value"] % 16 == fitted["low"] % 16 == fitted["high"] % 16 == 0
    assert (fitted["least"], fitted["most"]) == (64, 128)
    site = on_hosts(dump)
    setting = Setting(fitted["value"], site.order)
    judged = jobs_at(site, setting)
    trace = written(dump)
    assert read_of(trace).digest() == judged.digest()
    assert facts["judgement"] == json.loads(
        json.dumps(judge(site, setting, period_of(site)).facts())
    )
    interval = f"fitted: {fitted['low']} to {fitted['high']}, of 128 in sinfo.txt"
    assert (
        f"hosts.groups = [                      # {interval}"
        in (dump / "campaign.toml").read_text()
    )


def test_each_number_of_hosts_is_tried_once(dump: Path) -> None:
    change(dump / "slurm.conf", "sched/backfill", "sched/builtin")
    site = on_hosts(dump)
    seen: list[int] = []
    found = fit(site, period_of(site), progress=lambda done, _: seen.append(done))
    assert seen == list(range(1, found.trials + 1))
    assert found.trials <= 5


def test_the_campaign_runs(dump: Path, farm: Farm) -> None:
    """On the hosts of the site and on more, each verified."""
    nested(dump, "n003", "n004")
    change(dump / "slurm.conf", "sched/backfill", "sched/builtin")
    clear(dump, "2024-01-10T00:00:00", "2024-01-11T00:00:00")
    reserve(dump, "fix|2024-01-10T00:00:00|2024-01-11T00:00:00|MAINT|n[001-004]")
    farm("site", dump, "--hosts", "--no-fit")
    change(dump / "campaign.toml", "resamples = 10", "resamples = 1")
    with chdir(dump):
        farm("run", "campaign.toml", "--part", "1/1")
        farm("run", "campaign.toml", "--quiet")
        farm("verify", "site.farm")
        shown = farm("compare", "site.farm", "--axis", "processors", 128, 144).stdout
    assert "processors=144" in shown
    for name, size in (("site.processors-128", 128), ("site.processors-144", 144)):
        found = schedule_of(dump / "site.farm", name, "site", 0).workload.platform
        assert found == machine_of(on_hosts(dump)).sized(size)
