"""`farm site`: dumps of Slurm sites, the files made of them, and refusals."""

from __future__ import annotations

import json
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest

from schedfarm.core import read_log
from schedfarm.core.errors import InputError
from schedfarm.core.machines.partitions.platform import Partitions
from schedfarm.core.machines.pool.platform import Pool
from schedfarm.core.machines.resources.platform import Resources
from schedfarm.core.policy.policy import Policy
from schedfarm.core.schedule import Schedule
from schedfarm.farm import Campaign
from schedfarm.farm.site.calibration import DAY, fit, period_of
from schedfarm.farm.site.dump.facts import tres
from schedfarm.farm.site.dump.kinds import KINDS
from schedfarm.farm.site.example import site_jobs, write_files
from schedfarm.farm.site.judgement import Range, _agreement, judge
from schedfarm.farm.site.limits import Limited
from schedfarm.farm.site.model import read_site
from schedfarm.farm.site.parameters import PARAMETERS, Setting, jobs_at
from tests.support.command_line import Farm
from tests.support.refusals import sentence
from tests.support.slurm_dumps import SMALL, change, nested

PAGE = Path(__file__).parents[2] / "docs" / "site.md"


def test_the_files_name_the_source_of_each_line(dump: Path, farm: Farm) -> None:
    """Both files are read by the commands that they are for; every value has a comment."""
    farm("site", dump, "--no-fit")
    found = Policy.parse(farm("policies", "--site", dump / "site.toml").stdout.strip())
    assert (found.rule, found.given) == ("slurm", {"bf_max_job_test": "50"})
    assert "accounts=(science=60, physics=science/2" in found.order
    assert "qos_priority=(normal=10, high=100, low=0)" in found.order
    campaign = Campaign.from_toml(dump / "campaign.toml")
    assert [trace.processors for trace in campaign.traces] == [128, 128]
    assert campaign.policies[0].endswith("+slurm,bf_max_job_test=50")
    assert campaign.policy_names == {campaign.policies[0]: "site"}
    lines = (dump / "site.toml").read_text().splitlines()
    values = [line for line in lines if "=" in line and not line.startswith("#")]
    assert [line for line in values if "  # " not in line] == []
    assert "fairshare = 10000                     # slurm.conf:11" in lines
    assert 'parent = "science"                    # assoc.txt:4, Share' in lines


@pytest.mark.parametrize(
    ("weeks", "resamples", "said"),
    [(2.5, 0, "under three weeks"), (3.5, 10, "weeks, under four"), (6, 10, "")],
)
def test_a_short_dump_is_not_resampled_or_has_a_caution(
    tmp_path: Path, farm: Farm, weeks: float, resamples: int, said: str
) -> None:
    """On standard error and in the campaign, as of `farm init`."""
    truth = replace(SMALL, weeks=weeks)
    jobs = site_jobs(truth)
    never = np.zeros(len(jobs), np.bool_)
    write_files(tmp_path, truth, Schedule(jobs, "fcfs+none", jobs.submit, never))
    stderr = farm("site", tmp_path, "--no-fit").stderr
    text = (tmp_path / "campaign.toml").read_text()
    assert Campaign.from_toml(tmp_path / "campaign.toml").resamples == resamples
    for where in (stderr, text):
        found = [one for one in ("under three weeks", "weeks, under four") if one in where]
        assert found == [said] * bool(said)


def test_the_campaign_has_the_order_of_the_site(dump: Path) -> None:
    """Numbers in place of names give the same schedule."""
    site = read_site(dump)
    assert site.order is not None
    names = site.names["user"]
    number = {name: n for n, name in names.items()}
    shares = {user: shares for (user, _), shares in site.order.users.items()}
    assert shares[str(number["user02"])] == 2
    assert (
        site.order.qos_priorities[
            str(next(n for n, x in site.names["queue"].items() if x == "high"))
        ]
        == 100
    )


def test_the_script_prints_every_file(farm: Farm) -> None:
    text = farm("site", "--script").stdout
    assert text in PAGE.read_text(encoding="utf-8")
    for kind in KINDS.values():
        assert f"> {kind.file}\n" in text


def test_an_option_that_is_not_simulated_is_a_caution(dump: Path, farm: Farm) -> None:
    """It is named with its line and its effect, and the files are written."""
    with (dump / "slurm.conf").open("a") as conf:
        conf.write(
            "PreemptType=preempt/qos\nSchedulerParameters=bf_max_job_test=50,assoc_limit_stop\n"
        )
    change(dump / "slurm.conf", "SchedulerParameters=bf_max_job_test=50\n", "")
    said = farm("site", dump, "--no-fit").stderr
    assert "of qos high" not in said
    assert "PreemptType=preempt/qos (slurm.conf:16)" in said
    assert "preempted jobs wait longer" in said
    assert "assoc_limit_stop" in said


def test_the_cadence_is_that_of_slurm_conf(dump: Path, farm: Farm) -> None:
    """Each option has its line, or is Slurm's default; others of the schedulers are cautions."""
    given = (
        "bf_max_job_test=50,sched_interval=-1,bf_interval=60,bf_max_job_user=20,bf_window=2880,"
        "bf_resolution=60,bf_max_job_start=9,bf_continue"
    )
    change(dump / "slurm.conf", "bf_max_job_test=50", given)
    said = farm("site", dump, "--no-fit").stderr
    assert "bf_max_job_start=9 (slurm.conf:4, bf_max_job_start)" in said
    lines = (dump / "site.toml").read_text().splitlines()
    assert 'bf_window = "2d"                      # slurm.conf:4, bf_window' in lines
    default = "# slurm.conf has no default_queue_depth: Slurm's default"
    assert f'default_queue_depth = "100"           {default}' in lines
    tables = tomllib.loads("\n".join(lines))
    assert tables["scheduler"] == {
        "rule": "slurm",
        "sched_interval": "off",
        "default_queue_depth": "100",
        "bf_interval": "1m",
        "bf_max_job_test": "50",
        "bf_max_job_user": "20",
        "bf_window": "2d",
        "bf_resolution": "1m",
    }
    policy = Campaign.from_toml(dump / "campaign.toml").policies[0]
    options = "sched_interval=off,bf_interval=1m,bf_max_job_test=50,bf_max_job_user=20,bf_window=2d"
    assert policy.endswith(f"+slurm,{options}")
    found = Policy.parse(farm("policies", "--site", dump / "site.toml").stdout.strip())
    assert found.given == Policy.parse(f"fcfs+slurm,{options}").given


def test_the_builtin_scheduler_has_no_cycles(dump: Path) -> None:
    change(dump / "slurm.conf", "sched/backfill", "sched/builtin")
    change(dump / "slurm.conf", "bf_max_job_test=50", "default_queue_depth=7,bf_interval=9")
    policy = Policy.parse(read_site(dump).policy())
    assert policy.given == {"default_queue_depth": "7", "bf_interval": "off"}


def test_without_cycles_their_options_do_not_count(dump: Path, farm: Farm) -> None:
    change(dump / "slurm.conf", "bf_max_job_test=50", "bf_interval=-1,bf_window=9")
    assert Policy.parse(read_site(dump).policy()).given == {"bf_interval": "off"}
    said = farm("site", dump, "--fit", "bf_rate", status=2).stderr
    assert "--fit bf_rate: the site has no backfill cycles (slurm.conf:4, bf_interval)" in said


def test_resources_that_jobs_run_short_of_are_those_of_the_machine(dump: Path, farm: Farm) -> None:
    """GPUs and memory are limited where some job requests more than its processors' part."""
    change(dump / "sinfo.txt", "|64000|(null)|", "|64000|gpu:a100:2(S:0-1)|")
    said = farm("site", dump, "--no-fit").stderr
    assert "the GPUs of all jobs (slurm.conf has no AccountingStorageTRES" in said
    assert read_site(dump).jobs.platform == Pool(128)
    change(
        dump / "sacct.txt", "|cpu=1,mem=1G|cpu=1,mem=1G|", "|cpu=1,mem=9G,gres/gpu=1|cpu=1,mem=9G|"
    )
    change(dump / "sacct.txt", "|cpu=2,mem=2G|cpu=2,mem=2G|1Gc|", "|cpu=2|cpu=2||")
    done = farm("site", dump, "--no-fit", "--json")
    lacking = "caution: not simulated: the memory of "
    assert lacking in done.stderr
    assert "the GPUs and memory of each node (sinfo.txt): the machine has one stock" in done.stderr
    memory = 8 * 64_000 * 2**20
    assert json.loads(done.stdout)["resources"] == {
        "gpus": {"value": 16, "source": "sinfo.txt: GPUs of 8 nodes"},
        "memory": {"value": memory, "source": "sinfo.txt: memory of 8 nodes"},
    }
    site = read_site(dump)
    assert site.jobs.platform == Resources(128, {"gpus": 16, "memory": memory})
    assert jobs_at(site, Setting(120, site.order)).platform.size == 120
    small, large = Campaign.from_toml(dump / "campaign.toml").traces
    assert small.resources == {"gpus": 16, "memory": memory}
    jobs = small.placed(read_log(site.log, processors=128))
    assert (jobs.gpus == site.jobs.gpus).all()
    assert large.resized(jobs).platform == Resources(141, {"gpus": 16, "memory": memory})
    change(
        dump / "slurm.conf",
        "SelectType=",
        "SelectTypeParameters=CR_Core\nDefMemPerCPU=9\nSelectType=",
    )
    assert read_site(dump).jobs.platform == Resources(128, {"gpus": 16})


def test_a_resource_that_nodes_lack_is_a_caution(dump: Path) -> None:
    change(dump / "sacct.txt", "|cpu=1,mem=1G|cpu=1,mem=1G|", "|cpu=1,gres/gpu=1|cpu=1|")
    site = read_site(dump)
    assert site.jobs.platform == Pool(128)
    (note,) = [one for one in site.notes if one.what == "the GPUs of nodes"]
    assert "requests 1, and there are 0; jobs wait less" in note.effect


def test_limits_are_simulated_or_a_caution(dump: Path, farm: Farm) -> None:
    """A limit that policies know is one of the policy and an axis, with its line."""
    change(dump / "qos.txt", "high|100|||||", "high|100||cpu=64,energy=9|4||")
    change(dump / "assoc.txt", "user02|2|||", "user02|2|||3")
    said = farm("site", dump, "--no-fit").stderr
    assert "grptres of qos high (energy) (qos.txt:3, grptres): its jobs wait less" in said
    tables = tomllib.loads((dump / "site.toml").read_text())
    assert tables["qos"]["high"] == {"priority": 100, "GrpTRES": "cpu=64", "GrpJobs": 4}
    assert tables["users"]["user02@biology"]["MaxJobs"] == 3
    axes = tomllib.loads((dump / "campaign.toml").read_text())["axes"]
    assert axes["qos_high_GrpTRES_cpu"] == [64]
    assert axes["qos_high_GrpJobs"] == [4]
    policy = Campaign.from_toml(dump / "campaign.toml").policies[0]
    number = next(n for n, name in read_site(dump).names["queue"].items() if name == "high")
    assert f"qos.{number}.GrpTRES=cpu=64" in policy
    assert "MaxJobs=3" in policy


def test_partitions_of_other_nodes_are_left_out(dump: Path, farm: Farm) -> None:
    """The set of partitions with most work is simulated, or the one that is asked for."""
    rows = (dump / "sinfo.txt").read_text().splitlines()
    own = [row.replace("n00", "d00") if "|debug|" in row else row for row in rows]
    (dump / "sinfo.txt").write_text("\n".join(own) + "\n")
    facts = json.loads(farm("site", dump, "--no-fit", "--json").stdout)
    assert facts["processors"]["value"] == 128
    assert "8 nodes of batch" in facts["processors"]["source"]
    assert "other partitions" in facts["dropped"]
    assert any("partition debug" in note["what"] for note in facts["not_simulated"])
    other = farm("site", dump, "--no-fit", "--json", "--partition", "debug")
    assert "8 nodes of debug" in json.loads(other.stdout)["processors"]["source"]


def test_partitions_that_overlap_are_simulated(dump: Path, farm: Farm) -> None:
    """With their limits and tiers, each line with its source; the campaign has the same machine."""
    nested(dump, "n001", "n002")
    change(
        dump / "slurm.conf",
        "PriorityJobFactor=2",
        "PriorityJobFactor=2 PriorityTier=3 MaxTime=30-0",
    )
    change(dump / "slurm.conf", "PriorityJobFactor=1", "PriorityJobFactor=1 MaxTime=5 MaxNodes=8")
    site = read_site(dump)
    assert isinstance(site.jobs.platform, Partitions)
    assert site.jobs.platform.nodes == (("batch", 96), ("batch,debug", 32))
    assert [union.name for union in site.jobs.platform.unions] == ["debug"]
    said = farm("site", dump, "--no-fit").stderr
    assert "MaxTime=5 of partition batch (slurm.conf:15)" in said
    assert "the nodes of each job within its partition (sinfo.txt)" in said
    text = (dump / "campaign.toml").read_text()
    for line in (
        "partitions.regions.batch = 96         # sinfo.txt: CPUs of 6 nodes",
        'partitions.regions."batch,debug" = 32  # sinfo.txt: CPUs of 2 nodes',
        'partitions.max_time.debug = "30d"     # slurm.conf:16',
        "partitions.max_nodes.batch = 8        # slurm.conf:15",
    ):
        assert f"\n{line}\n" in text
    small, large = Campaign.from_toml(dump / "campaign.toml").traces
    jobs = small.read()
    assert jobs is not None
    assert jobs.platform == site.jobs.platform
    assert jobs.digest() == site.jobs.digest()
    larger = large.resized(jobs).platform
    assert isinstance(larger, Partitions)
    assert larger.nodes == (("batch", 105), ("batch,debug", 35))
    policy = farm("policies", "--site", dump / "site.toml").stdout
    assert "tiers=(batch=1, debug=3)" in policy
    assert "tier = 3                              # slurm.conf:16, PriorityTier" in (
        (dump / "site.toml").read_text()
    )
    number = next(n for n, name in site.names["partition"].items() if name == "debug")
    assert site.order is not None
    assert site.order.tiers[str(number)] == 3


def test_fewer_usable_processors_are_fewer_in_each_region(dump: Path) -> None:
    """Each job still fits into its partition with the fewest."""
    nested(dump, "n001", "n002")
    site = read_site(dump, processors=120)
    assert isinstance(site.jobs.platform, Partitions)
    assert site.jobs.platform.nodes == (("batch", 90), ("batch,debug", 30))
    assert site.divided is not None
    rows = {name: (value, why) for _, name, value, why in site.divided.lines(site.jobs, 60)}
    assert rows["batch"] == (45, "sinfo.txt: CPUs of 6 nodes; its part of 96")
    least = int(PARAMETERS["processors"].bounds(site)[0])
    assert jobs_at(site, Setting(least, site.order)).platform.size == least


def test_tiers_without_priorities_are_a_caution(dump: Path, farm: Farm) -> None:
    """The order is first come, first served, then."""
    change(dump / "slurm.conf", "PriorityJobFactor=2", "PriorityJobFactor=2 PriorityTier=3")
    change(dump / "slurm.conf", "priority/multifactor", "priority/basic")
    said = farm("site", dump, "--no-fit").stderr
    assert "PriorityTier of partitions (batch 1, debug 3) (slurm.conf:15, PriorityTier)" in said


def test_the_campaign_has_no_names_of_users(dump: Path, farm: Farm) -> None:
    """Axes of users have numbers; the table of names is a file that only its owner can read."""
    change(dump / "assoc.txt", "user02|2|||", "user02|2||cpu=4|3")
    lines = (dump / "assoc.txt").read_text().splitlines()
    kept = [line for line in lines if "|user03|" not in line]
    (dump / "assoc.txt").write_text("\n".join(kept) + "\n")
    farm("site", dump, "--no-fit")
    made = (dump / "campaign.toml").read_text()
    assert "user0" not in made
    names = read_site(dump).names
    user = next(n for n, name in names["user"].items() if name == "user02")
    group = next(n for n, name in names["group"].items() if name == "biology")
    assert f"user_{user}_{group}_MaxJobs" in tomllib.loads(made)["axes"]
    tables = dump / "site.toml"
    assert f"#   {user} user02\n" in tables.read_text()
    assert tables.stat().st_mode & 0o777 == 0o600


def test_the_campaign_of_odd_names_is_readable(dump: Path, farm: Farm) -> None:
    """Names that differ in signs only, a partition without jobs, control characters."""
    change(dump / "qos.txt", "high|100|||||", "a.b|100|||5||")
    change(dump / "qos.txt", "low|0|||||", "a-b|0|||6||")
    change(dump / "sacct.txt", "|high|", "|a.b|")
    change(dump / "sacct.txt", "|low|", "|a-b|")
    with (dump / "sinfo.txt").open("a") as sinfo:
        sinfo.write("n001|unused|16|64000|(null)|idle\nd001|other|16|64000|(null)|idle\n")
    with (dump / "slurm.conf").open("a") as conf:
        conf.write('PreemptType="preempt/\x1b[2Jqos"\n')
    farm("site", dump, "--no-fit")
    made = Campaign.from_toml(dump / "campaign.toml")
    assert "PreemptType=preempt/?[2Jqos" in (dump / "campaign.toml").read_text()
    assert {"qos_a_b_GrpJobs", "qos_a_b_GrpJobs_2"} < {*made.axes}
    assert made.traces[0].select["partitions"] == ["batch", "debug"]


def test_edited_files_and_links_are_kept(dump: Path, farm: Farm, tmp_path: Path) -> None:
    """Only files that are as the command wrote them are replaced."""
    farm("site", dump, "--no-fit")
    farm("site", dump, "--no-fit", "--processors", 200)
    campaign = dump / "campaign.toml"
    change(campaign, "resamples = 10", "resamples = 5")
    edited = campaign.read_text()
    assert "was edited" in sentence(farm("site", dump, "--no-fit", status=2).stderr)
    assert campaign.read_text() == edited
    farm("site", dump, "--no-fit", "--replace")
    assert "resamples = 10" in campaign.read_text()
    campaign.rename(tmp_path / "elsewhere")
    campaign.symlink_to(tmp_path / "elsewhere")
    refused = farm("site", dump, "--no-fit", "--replace", status=2)
    assert "campaign.toml is a link" in sentence(refused.stderr)


def test_an_example_replaces_no_dump(dump: Path, farm: Farm) -> None:
    """A real dump is never replaced."""
    log = (dump / "sacct.txt").read_text()
    said = sentence(farm("site", "--example", dump, status=2).stderr)
    assert "has sacct.txt already" in said
    assert (dump / "sacct.txt").read_text() == log


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("d1", "--example", "d2", "--script"), "--example d2 does nothing with --script"),
        (("--script", "--jobs", 5000), "--jobs 5000 does nothing with --script; leave one out"),
        (("d1", "--example", "d2"), "DUMPDIR d1 does nothing with --example; leave one out"),
        (("--example", "x", "--no-fit"), "--no-fit does nothing with --example; leave one out"),
        (("d1", "--no-fit", "--trials", 20), "--trials 20 does nothing with --no-fit"),
        (("d1", "--no-fit", "--fit", "age"), "--fit does nothing with --no-fit; leave one out"),
        (("d1", "--jobs", 5000), "--jobs 5000 does nothing without --example; give both"),
    ],
)
def test_options_without_effect_are_refused(
    farm: Farm, words: tuple[object, ...], said: str
) -> None:
    assert said in sentence(farm("site", *words, status=2).stderr)


def test_an_interrupted_fit_writes_nothing(
    dump: Path, farm: Farm, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One sentence, and status 130."""

    def interrupted(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr("schedfarm.farm.site.calibration._Losses.of", interrupted)
    monkeypatch.setattr("schedfarm.farm.cli.os._exit", sys.exit)
    said = farm("site", dump, "--trials", 10, status=130).stderr.splitlines()[-1]
    assert said == "farm: interrupted; no file was written; the same command starts over"
    assert not (dump / "site.toml").exists()


def test_agreement_is_counted_from_the_judged_period(dump: Path) -> None:
    """Weeks before it are not counted: the judged one is too few for an interval."""
    site = read_site(dump)
    jobs = replace(site.jobs, logged_wait=np.full(len(site.jobs), DAY))
    begin = int(jobs.submit[-1]) - 2 * DAY
    known = jobs.submit >= begin
    start = (jobs.submit + jobs.logged_wait)[known]
    found = _agreement(replace(site, jobs=jobs), known, start, begin)
    assert found == Range(1, None, None)


def test_facts_have_no_nan(dump: Path) -> None:
    """Waits of 0 s have no relative error, and groups without jobs are left out."""
    site = read_site(dump)
    facts = judge(site, Setting(128, site.order), period_of(site)).facts()
    assert facts["groups"][0]["bias"] == {"value": None, "low": None, "high": None}
    assert all(group["jobs"] for group in facts["groups"])
    json.dumps(facts, allow_nan=False)


REFUSED = [
    ("slurm.conf", "ClusterName=example", "ClusterName=other", "assoc.txt of 'example'"),
    ("assoc.txt", "example|physics||", "second|physics||", "associations of 2 clusters"),
    ("sacct.txt", "example|1001|", "second|1001|", "the jobs of 2 clusters, example, second"),
    ("qos.txt", "normal|10", "usual|10", "the QOS 'normal', which qos.txt does not list"),
    ("sinfo.txt", "|debug|", "|test|", "partition 'debug' (slurm.conf:"),
    ("sinfo.txt", "n002|debug|16|", "n002|debug|32|", "'n002' has 32 CPUs, and 16 in sinfo.txt:4"),
    ("sinfo.txt", "|64000|", "|-64000|", "sinfo.txt:2: node 'n001' has -64000 MiB of memory"),
    ("qos.txt", "high|100||", "high|100||cpu=8,mem=500", "mem=500 has no unit; write mem=500M"),
    ("qos.txt", "high|100||", "high|100||mem=-5G", "mem=-5G is negative"),
    ("qos.txt", "high|100", "high|x", "qos.txt:3, Priority: 'x' is not a whole number"),
    ("assoc.txt", "|biology|science|", "|biology|none|", "'none', above 'biology', has no row"),
    ("slurm.conf", "sched/backfill", "sched/wiki", "sched/wiki; it must be"),
    ("slurm.conf", "CalcPeriod=5", "CalcPeriod=soon", "PriorityCalcPeriod=soon; give"),
    ("slurm.conf", "job_test=50", "job_test=x", "bf_max_job_test=x; give a whole number"),
    ("slurm.conf", "Age=1000", "Age=many", "PriorityWeightAge=many; give"),
    ("reservations.txt", "Name|", "ReservationName=a StartTime=x\n", "Time='x' is not"),
    ("reservations.txt", "|NodeName\n", "|NodeName\na|x|x|MAINT|n1\n", ":2: StartTime='x' is"),
    ("reservations.txt", "|NodeName\n", "\na|x|x|MAINT\n", "names no column 'nodename'"),
    ("reservations.txt", "|Flags", "", "names no column 'flags'"),
    (
        "reservations.txt", "|NodeName\n",
        "|NodeName\na|2024-01-02T00:00:00|2024-01-03T00:00:00|MAINT|n[1\n", "nodes is 'n[1'",
    ),
    ("qos.txt", "Name|", "QOS|", "names no column 'name'"),
    ("slurm.conf", "HalfLife=7-0", "HalfLife=²-0", "DecayHalfLife=²-0; give a time"),
    ("slurm.conf", "JobFactor=2", "JobFactor=²", "PriorityJobFactor=²; give a whole number"),
    ("slurm.conf", "job_test=50", "job_test=50,bf_interval=x", "bf_interval='x'; give a time"),
    ("slurm.conf", "job_test=50", "job_test=5,bf_max_job_user=6", "is above bf_max_job_test=5"),
    ("slurm.conf", "job_test=50", "job_test=²", "bf_max_job_test=²; give a whole number"),
]  # fmt: skip
"""A file, a text in it, what it becomes, and a part of the sentence that refuses the dump."""


@pytest.mark.parametrize(("file", "old", "new", "said"), REFUSED)
def test_a_wrong_dump_is_refused(
    dump: Path, farm: Farm, file: str, old: str, new: str, said: str
) -> None:
    change(dump / file, old, new)
    assert said in sentence(farm("site", dump, "--no-fit", status=2).stderr)


def test_wrong_calls_are_refused(dump: Path, farm: Farm) -> None:
    """One sentence each."""
    assert "give the folder of a dump" in sentence(farm("site", status=2).stderr)
    assert "--fit 'half' is unknown" in farm("site", dump, "--fit", "half", status=2).stderr
    assert "is not a folder" in farm("site", dump / "qos.txt", status=2).stderr
    assert "--partition 'x' is unknown" in farm("site", dump, "--partition", "x", status=2).stderr
    narrow = farm("site", dump, "--processors", 2, status=2).stderr
    assert "and there are 2 (--processors)" in narrow
    long = farm("site", dump, "--warmup", 5, status=2).stderr
    assert "of which 5.0 are the warm-up" in long
    endless = farm("site", dump, "--warmup", "nan", status=2).stderr
    assert "--warmup nan: give a finite number of weeks" in endless
    (dump / "qos.txt").unlink()
    assert "has no qos.txt" in sentence(farm("site", dump, status=2).stderr)


def test_all_columns_of_limits_are_read(dump: Path, farm: Farm) -> None:
    """Those of the root are of the policy; a column that is not simulated is a caution."""
    change(dump / "qos.txt", "Name|Priority|", "Name|MaxWall|Flags|UsageFactor|MyOwn|Priority|")
    change(dump / "qos.txt", "normal|", "normal|1-0|DenyOnLimit|1.000000||")
    change(dump / "qos.txt", "high|", "high|2-0||2.000000||")
    change(dump / "qos.txt", "low|", "low||||x|")
    change(dump / "qos.txt", "GrpJobs", "MaxTRESRunMinsPA")
    change(dump / "qos.txt", "low||||x|0|||", "low||||x|0|||cpu=9999999")
    change(dump / "assoc.txt", "|root|||1||", "|root|||1|40|")
    (dump / "slurm.conf").write_text(
        (dump / "slurm.conf").read_text() + "PriorityWeightTRES=CPU=5,GRES/gpu=7\n"
        "PartitionName=DEFAULT MaxTime=7-0 QOS=part\n"
        "PartitionName=batch\nPartitionName=debug\n"
    )
    said = farm("site", dump, "--no-fit").stderr
    for part in (
        "MaxWall=1-0 of qos normal, high (qos.txt:2, maxwall): a job that exceeds it waits",
        "Flags=DenyOnLimit of qos normal (qos.txt:2, flags): the rules",
        "UsageFactor=2.000000 of qos high (qos.txt:3, usagefactor): usage counts once",
        "myown=x of qos low (qos.txt:4, myown): it has no effect here",
        "PriorityWeightTRES=GRES/gpu=7 (slurm.conf:",
        "QOS=part of partitions batch, debug (slurm.conf:",
    ):
        assert f"caution: not simulated: {part}" in said
    site = read_site(dump)
    assert [(one.kind, one.key) for one in site.limits] == [
        ("qos", "MaxTRESRunMinsPerAccount"), ("root", "GrpJobs")
    ]  # fmt: skip
    assert "root.GrpJobs=40" in Policy.parse(site.policy()).limits
    assert "root.GrpJobs=40" in farm("policies", "--site", dump / "site.toml").stdout


def test_limits_that_the_site_does_not_enforce_are_left_out(dump: Path, farm: Farm) -> None:
    change(dump / "qos.txt", "high|100|||||", "high|100|||4||")
    assert [one.key for one in read_site(dump).limits] == ["GrpJobs"]
    change(dump / "slurm.conf", "=limits,qos", "=associations,qos")
    said = farm("site", dump, "--no-fit").stderr
    assert "AccountingStorageEnforce=associations,qos): Slurm enforces limits only with" in said
    assert read_site(dump).limits == ()
    change(dump / "slurm.conf", "AccountingStorageEnforce=associations,qos\n", "")
    assert (
        "AccountingStorageEnforce=): Slurm enforces limits" in farm("site", dump, "--no-fit").stderr
    )
    assert read_site(dump).limits == ()


def test_limits_of_accounts_need_their_tree(dump: Path, farm: Farm) -> None:
    """Under priority/basic there is none, and a caution says so."""
    change(dump / "slurm.conf", "PriorityType=priority/multifactor", "PriorityType=priority/basic")
    change(dump / "assoc.txt", "|physics|science||2|||", "|physics|science||2|9||")
    said = farm("site", dump, "--no-fit").stderr
    assert "limits of account physics (assoc.txt:4, grpjobs): its jobs wait less" in said


def test_a_limit_below_a_job_is_left_out(dump: Path, farm: Farm) -> None:
    """The caution names the limit, a job and the effect; a limit that jobs allow stays."""
    change(dump / "qos.txt", "normal|10|||||", "normal|10||cpu=1|4||")
    said = farm("site", dump, "--no-fit").stderr
    assert "GrpTRES cpu=1 of qos normal (qos.txt:2, grptres): job 10" in said
    assert "alone exceeds it" in said
    change(dump / "qos.txt", "high|100|||||", "high|100||cpu=1|||")
    site = read_site(dump)
    assert [one.key for one in site.limits] == ["GrpJobs"]
    assert [note.what for note in site.notes if "cpu=1" in note.what] == [
        "GrpTRES cpu=1 of qos normal", "GrpTRES cpu=1 of qos high"
    ]  # fmt: skip


def test_a_refused_setting_ends_the_fit_in_its_sentence(dump: Path) -> None:
    """scipy would make a RuntimeError of it."""
    limit = Limited("qos", "1", "normal", "GrpTRES", "cpu", 1, "qos.txt:2")
    site = replace(read_site(dump), limits=(limit,))
    with pytest.raises(InputError, match="alone exceeds"):
        fit(site, period_of(site))


def test_a_value_of_0_is_not_fitted(dump: Path, farm: Farm) -> None:
    change(dump / "slurm.conf", "PriorityWeightAge=1000", "PriorityWeightAge=0")
    change(dump / "slurm.conf", "HalfLife=7-0", "HalfLife=0")
    for name in ("age", "halflife"):
        said = farm("site", dump, "--fit", name, status=2).stderr
        assert f"--fit {name}: its value is 0 (slurm.conf:" in said


def test_default_lines_hold_for_the_partitions_after_them(dump: Path) -> None:
    """A later one adds to the earlier, and DEFAULT is not a partition."""
    change(
        dump / "slurm.conf",
        "PartitionName=debug",
        "PartitionName=DEFAULT PriorityJobFactor=7\nPartitionName=default State=UP\n"
        "PartitionName=debug",
    )
    change(dump / "slurm.conf", " PriorityJobFactor=2", "")
    factors = read_site(dump).factors
    assert {name: fact.value for name, fact in factors.items()} == {"batch": 1, "debug": 7}
    assert "with DEFAULT of slurm.conf:" in factors["debug"].source


def test_a_partition_without_jobs_is_refused(dump: Path, farm: Farm) -> None:
    with (dump / "sinfo.txt").open("a") as table:
        table.write("x1|lonely|16|64000||idle\n")
    said = sentence(farm("site", dump, "--partition", "lonely", status=2).stderr)
    assert "--partition: " in said
    assert "has no job of lonely; give one of those with jobs: batch, debug" in said


AMOUNTS = [
    ("cpu=64", 64), ("cpu=1K", 1024), ("cpu=2M", 2 * 1024**2), ("gres/gpu=1.50K", 1536),
    ("mem=512K", 1), ("mem=2048K", 2), ("mem=1025K", 2), ("mem=3M", 3), ("mem=1.50G", 1536),
    ("mem=2T", 2 * 1024**2), ("mem=1P", 1024**3), ("mem=0M", 0),
]  # fmt: skip
"""Amounts as Slurm prints them, and numbers; memory in MiB."""


@pytest.mark.parametrize(("text", "number"), AMOUNTS)
def test_units_of_amounts(text: str, number: int) -> None:
    assert tres("qos.txt:2", text) == {text.partition("=")[0]: number}


def test_priority_basic_is_first_come_first_served(dump: Path, farm: Farm) -> None:
    change(dump / "slurm.conf", "PriorityType=priority/multifactor", "PriorityType=priority/basic")
    facts = json.loads(farm("site", dump, "--no-fit", "--json").stdout)
    assert facts["policy"] == "fcfs+slurm,bf_max_job_test=50"
    assert "no such parameter" in farm("site", dump, "--fit", "age", status=2).stderr


def test_cancelled_jobs_queue_as_an_option(tmp_path: Path, farm: Farm) -> None:
    """They leave at their End; those wider than every job that started are left out."""
    jobs = site_jobs(replace(SMALL, impatient=0.3))
    gone = jobs.leave >= 0
    start = np.where(gone, -1, jobs.submit)
    write_files(tmp_path, SMALL, Schedule(jobs, "fcfs+none", start, gone & False))
    assert read_site(tmp_path).jobs.dropped == {"cancelled": gone.sum()}
    change(tmp_path / "sacct.txt", "|1|0|1|cpu=1,mem=1G||", "|99|0|1|cpu=99,mem=1G||")
    facts = json.loads(farm("site", tmp_path, "--no-fit", "--cancelled", "queue", "--json").stdout)
    site = read_site(tmp_path, cancelled="queue")
    wide = gone & (jobs.procs == 1)
    assert site.jobs.leave.tolist() == jobs.leave[~wide].tolist()
    assert facts["dropped"] == {"outside widths": wide.sum()}
    assert facts["cancelled"] == (gone & ~wide).sum() > 20
    trace = Campaign.from_toml(tmp_path / "campaign.toml").traces[0]
    assert trace.read().digest() == site.jobs.digest()
