"""Cautions: where an answer is unsafe, said once by every command and kept in the store."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import tomli_w
import xarray as xr

from schedfarm.analysis.store import named_values
from schedfarm.core import InputError, Workload, read_log
from schedfarm.core.format.names import COPY, MANIFEST
from schedfarm.core.machines.resources.platform import Resources
from schedfarm.core.policy.policy import Policy
from schedfarm.core.workload.select import select
from schedfarm.farm import Campaign, Trace, run
from schedfarm.farm.campaign.warnings import WARNINGS, Case, ignored_shares, warnings_of
from schedfarm.farm.store.store import sealed, unsealed
from tests.support.command_line import Farm
from tests.support.paths import DOCS
from tests.support.refusals import Said
from tests.support.swf_texts import row

DAY = 86_400

JOBS: dict[int, dict[str, int]] = {
    k: {"submit": k * DAY, "run": 100, "procs": 2, "time": 200} for k in range(1, 31)
}
"""A job a day for 30 days, on 4 processors: nothing to say of it."""

EVERY_THIRD = range(1, 31, 3)

LOGS = {
    "sound": JOBS,
    "no_estimate": {**JOBS, 7: {**JOBS[7], "time": -1}},
    "long_estimate": {**JOBS, 7: {**JOBS[7], "time": 2**31 - 1}},
    "killed": {**JOBS, **{k: {**JOBS[k], "time": 99} for k in EVERY_THIRD}},
    "short": {k: JOBS[k] for k in range(1, 22)},
    "few_weeks": {k: JOBS[k] for k in range(1, 29)},
    "overload": {k: {**job, "run": 2 * DAY, "time": 2 * DAY} for k, job in JOBS.items()},
    "too_wide": {**JOBS, 7: {**JOBS[7], "procs": 3}},
    "too_small": {
        **JOBS,
        7: {**JOBS[7], "wait": 0},
        8: {**JOBS[8], "submit": 7 * DAY + 99, "wait": 0},
    },
    "ignored": JOBS,
}
"""A log for each caution, by its key, that calls for no other."""

SLURM = ("ignored",)
"""Logs that sacct printed."""

ALMOST = {
    "no_estimate": {
        k: {"submit": k * DAY // 7, "run": 100, "procs": 2, "time": 200 if k > 2 else -1}
        for k in range(1, 202)
    },
    "long_estimate": {**JOBS, 7: {**JOBS[7], "time": 366 * DAY}},
    "killed": {**JOBS, **{k: {**JOBS[k], "time": 99} for k in list(EVERY_THIRD)[1:]}},
    "short": {k: JOBS[k] for k in range(1, 23)},
    "few_weeks": {k: JOBS[k] for k in range(1, 30)},
    "overload": {k: {**job, "run": DAY, "time": DAY} for k, job in JOBS.items()},
    "too_small": {
        **JOBS,
        7: {**JOBS[7], "wait": 0},
        8: {**JOBS[8], "submit": 7 * DAY + 100, "wait": 0},
    },
}
"""The same, for which the numbers fall just short."""

TOLD = {
    "no_estimate": "1 of 30 jobs (3 %) request no time, so that their estimate follows from",
    "long_estimate": "is 2 147 483 647 s, 68 years, so that threshold=3x is 204 years; clean with",
    "killed": "10 of 30 jobs (33 %) are killed at their estimate",
    "short": "submissions last 20.0 days, under three weeks",
    "few_weeks": "submissions last 3.9 weeks, under four: samples drawn from so few weeks",
    "overload": "offered load 1.03 of the log as it is: from 1 on",
    "too_wide": "1 of 30 jobs (3.3 %) are wider than the 2 processors given, and left out",
    "too_small": "the log has up to 4 processors in use at once, more than the 2 processors given",
    "ignored": "ignores, 33 % outside the largest partition, 10 % with GPUs; to come closer, ",
}

SIZE = {"too_wide": 2, "too_small": 2, "ignored": 4}
"""Processors that the user gives."""


def file_of(name: str) -> str:
    return f"{name}.sacct" if name in SLURM else f"{name}.swf"


def write_sacct(path: Path, jobs: dict[int, dict[str, int]]) -> None:
    """Every third job in another partition, and every tenth with a GPU."""
    lines = ["JobID|User|Partition|QOS|Submit|Elapsed|Timelimit|ReqCPUS|AllocTRES|Priority"]
    for k, job in jobs.items():
        submit = datetime.fromtimestamp(job["submit"], UTC).strftime("%Y-%m-%dT%H:%M:%S")
        part = "fat" if k in EVERY_THIRD else "thin"
        tres = "cpu=2,gres/gpu:a100=1" if k % 10 == 0 else "cpu=2,gres/gpu=0"
        lines.append(f"{k}|ann|{part}|normal|{submit}|00:01:40|00:03:20|{job['procs']}|{tres}|7")
    path.write_text("\n".join(lines) + "\n")


def write(path: Path, jobs: dict[int, dict[str, int]]) -> Path:
    lines = [row(job, **columns) for job, columns in jobs.items()]
    path.write_text("; MaxProcs: 4\n" + "\n".join(lines) + "\n")
    return path


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, jobs in LOGS.items():
        (write_sacct if name in SLURM else write)(tmp_path / file_of(name), jobs)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def campaign(*names: str, **keys: object) -> Path:
    """Write a campaign of these logs as `KEY-log`, one cheap policy and one sample each."""
    machine = {name: {"processors": size} for name, size in SIZE.items()}
    traces = [
        {"name": f"{name}-log", "file": file_of(name), **machine.get(name, {})} for name in names
    ]
    plain = {"name": "c", "resamples": 1, "policies": ["fcfs+easy"], "traces": traces, **keys}
    Path("c.toml").write_text(tomli_w.dumps(plain))
    return Path("c.toml")


def kept(store: str | Path, trace: str) -> dict[str, Any]:
    """Return the attributes of a trace's group, its cautions by their keys."""
    attrs = dict(xr.open_zarr(Path(store, "results.zarr"), group=trace).attrs)
    return {**attrs, "cautions": named_values(attrs, "cautions")} if "cautions" in attrs else attrs


def test_every_caution_has_a_log_that_calls_for_it() -> None:
    """And a row in the docs."""
    assert list(TOLD) == [caution.key for caution in WARNINGS]
    text = (DOCS / "logs.md").read_text(encoding="utf-8")
    table = text.partition("\n## Cautions\n")[2]
    assert [line.split("`")[1] for line in table.splitlines() if line.startswith("| `")] == [*TOLD]


def test_info_and_simulate_print_it(farm: Farm) -> None:
    """Each once, as text and as JSON, and of its log alone."""
    for key in LOGS:
        machine = ("--processors", SIZE[key]) if key in SIZE else ()
        expected = [key] if key in TOLD else []
        one = ("simulate", file_of(key), "--policy", "fcfs+easy", "--resample", 1, *machine)
        for words in (("traces", "info", file_of(key), *machine), one):
            lines = [x for x in farm(*words).output.splitlines() if x.startswith("caution: ")]
            assert len(lines) == len(expected), words
            assert all(TOLD[k] in line for k, line in zip(expected, lines, strict=True))
            facts = json.loads(farm(*words, "--json").stdout)
            assert list(facts["cautions"]) == expected
            assert all(TOLD[k] in facts["cautions"][k] for k in expected)


def test_plan_prints_it(farm: Farm) -> None:
    """On standard error, naming the trace; in JSON, by trace and key."""
    words = ("plan", campaign(*LOGS), "--no-probe")
    told = farm(*words).stderr.splitlines()
    assert [line.split(": ")[:2] for line in told] == [["caution", f"{key}-log"] for key in TOLD]
    assert all(TOLD[key] in line for key, line in zip(TOLD, told, strict=True))
    planned = json.loads(farm(*words, "--json").stdout)["cautions"]
    assert {trace: list(said) for trace, said in planned.items()} == {
        f"{key}-log": [key] if key in TOLD else [] for key in LOGS
    }


def test_traces_with_one_caution_share_its_line(farm: Farm) -> None:
    """As the sizes of a machine do; JSON has it of each."""
    trace = {"name": "log", "file": "killed.swf"}
    path = campaign(traces=[trace], axes={"processors": [4, 8]})
    (line,) = farm("plan", path, "--no-probe").stderr.splitlines()
    assert line.startswith("caution: log.processors-4, log.processors-8: ")
    planned = json.loads(farm("plan", path, "--no-probe", "--json").stdout)["cautions"]
    assert {name: [*said] for name, said in planned.items()} == {
        "log.processors-4": ["killed"],
        "log.processors-8": ["killed"],
    }


def test_the_store_keeps_it(farm: Farm) -> None:
    """By trace and key, as `farm plan` prints it; so does a run's JSON, which warns nobody else."""
    path = campaign("sound", "killed", "too_wide")
    planned = json.loads(farm("plan", path, "--no-probe", "--json").stdout)["cautions"]
    assert [list(said) for said in planned.values()] == [[], ["killed"], ["too_wide"]]
    run(Campaign.from_toml(path), "c.farm")
    again = farm("run", path, "--quiet", "--json")
    assert again.stderr == ""
    assert json.loads(again.stdout)["cautions"] == planned
    assert {trace: kept("c.farm", trace).get("cautions") for trace in planned} == planned
    assert json.loads(farm("verify", "c.farm", "--json").stdout)["sound"]


def test_run_prints_it_first(farm: Farm) -> None:
    """Before whatever else it prints on standard error."""
    path = campaign("killed")
    run(Campaign.from_toml(path), "c.farm")
    planned = farm("plan", path, "--no-probe").stderr
    assert planned.startswith("caution: killed-log: ")
    assert farm("run", path, "--quiet").stderr.startswith(planned)


def test_a_store_of_before_goes_on_and_learns_them(farm: Farm) -> None:
    """Nothing runs again; sound before and after."""
    path, store = campaign("killed"), Path("c.farm").resolve()
    run(Campaign.from_toml(path), store)
    plain = unsealed(store, (store / MANIFEST).read_bytes())
    del plain["cautions"]
    for name in (MANIFEST, COPY):
        (store / name).write_bytes(sealed(plain))
    # What a store holds of its arrays follows from store.json.
    farm("verify", store, "--repair", "--sample", 0, status=1)
    assert "cautions" not in kept(store, "killed-log")
    assert json.loads(farm("verify", store, "--sample", 0, "--json").stdout)["sound"]
    counts = json.loads(farm("run", path, "--quiet", "--json").stdout)
    assert (counts["before"], counts["done"]) == (1, 0)
    assert list(kept(store, "killed-log")["cautions"]) == ["killed"]
    assert json.loads(farm("verify", store, "--json").stdout)["sound"]


def test_what_falls_just_short_is_not_said(tmp_path: Path) -> None:
    """Thresholds are where the docs have them."""
    almost = {key: write(tmp_path / f"{key}-.swf", jobs) for key, jobs in ALMOST.items()}
    assert {key: list(warnings_of(Case(read_log(path)))) for key, path in almost.items()} == {
        key: ["few_weeks"] if key == "short" else [] for key in ALMOST
    }


def test_what_was_not_asked_for_is_not_said() -> None:
    """The log alone has no resamples, whole users differ; a header's size is not one given."""
    short, small = read_log("short.swf"), read_log("too_wide.swf", processors=2)
    assert list(warnings_of(Case(short, method="weeks,block=2"))) == ["short"]
    assert warnings_of(Case(short, method="")) == warnings_of(Case(short, method="users")) == {}
    assert list(warnings_of(Case(small, sized=True))) == ["too_wide"]
    assert "the 2 processors of the log" in warnings_of(Case(small))["too_wide"]
    many = {"submit": range(0, 100 * DAY, DAY), "run": [9] * 100, "estimate": [9] * 100}
    for dropped, said in ((1, []), (2, ["too_wide"])):
        log = Workload.from_columns(
            **many, procs=[1] * 100, processors=2, dropped={"too wide": dropped}
        )
        assert list(warnings_of(Case(log))) == said
    over = read_log("overload.swf")
    assert warnings_of(Case(over, loads=("0.9",))) == {}


def test_loads_from_one_on_are_said_of_models_too(farm: Farm) -> None:
    """They are what a campaign asks for; below they are not."""
    model = {"name": "m", "model": "lublin", "processors": 64, "jobs": 40}
    path = campaign(traces=[model], loads=["original", 0.9, 1, 1.2])
    (line,) = farm("plan", path, "--no-probe").stderr.splitlines()
    assert line.startswith("caution: m: offered load 1.0, 1.2: from 1 on")


def test_remedies_help(farm: Farm) -> None:
    """What a sentence says to do, done, leaves it out."""
    for key, words in {
        "no_estimate": "no_estimate=3600",
        "long_estimate": "max_estimate=3600",
        "killed": "kill=false",
    }.items():
        for model in (words, "no_estimate=f-model") if key == "no_estimate" else (words,):
            told = farm("traces", "info", f"{key}.swf", "--clean", model, "--json").stdout
            assert json.loads(told)["cautions"] == {}, model


def one(*loads: object, **keys: object) -> Campaign:
    trace = Trace(name="m", model="lublin", processors=64, jobs=40)
    return Campaign(
        name="c",
        traces=(trace,),
        policies=("fcfs+easy",),
        loads=loads,  # type: ignore[arg-type]
        **keys,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("load", "sentence"),
    [
        (90, "load 90.0 is above 2: did you mean 0.9? if not, set overload = true in the campaign"),
        (2.1, "load 2.1 is above 2: set overload = true in the campaign, or --overload"),
    ],
    ids=["a slip", "meant"],
)
def test_a_load_above_two_needs_saying_twice(
    said: Said, farm: Farm, load: float, sentence: str
) -> None:
    """It is a slip more often than meant."""
    with pytest.raises(InputError, match="^" + re.escape(sentence)):
        one(0.9, load)
    assert one(0.9, load, overload=True).loads == ("0.9", str(float(load)))
    assert one(2).loads == ("2.0",)
    words = ("simulate", "sound.swf", "--policy", "fcfs+easy", "--load", str(load))
    assert re.match(r"farm: load .* is above 2", said(*words))
    assert "offered load" in farm(*words, "--overload").stderr


def test_overload_changes_no_cell() -> None:
    """A store goes on, whether a campaign says it or not."""
    assert one(0.9, overload=True).settings == one(0.9).settings


def test_the_load_of_an_example_is_no_caution(farm: Farm) -> None:
    """A log of a few jobs is one; from twenty jobs on it is told."""
    for jobs, told_of in ((19, 0), (20, 1)):
        job = {"run": 3 * DAY, "time": 3 * DAY}
        write(Path("few.swf"), {k: {**JOBS[k], **job} for k in range(1, jobs + 1)})
        text = farm("simulate", "few.swf", "--policy", "easy").output
        assert text.count("offered load") == 1 + told_of


def test_info_lists_shares(farm: Farm) -> None:
    """Of partitions, and of what no policy considers; of one partition alone GPUs are left."""
    facts = json.loads(farm("traces", "info", "ignored.sacct", "--processors", 4, "--json").stdout)
    assert facts["shares"] == {
        "partition": {"thin": 20 / 30, "fat": 10 / 30},
        "ignored": {"outside the largest partition": 10 / 30, "with GPUs": 0.1},
    }
    text = farm("traces", "info", "ignored.sacct", "--processors", 4).stdout
    assert re.search(r"^share of jobs by partition\n  thin +66\.7 %\n  fat +33\.3 %$", text, re.M)
    log = read_log("ignored.sacct", processors=4)
    assert ignored_shares(select(log, partitions=["thin"])) == {"with GPUs": 0.1}


ATTRIBUTES = ("partition", "quality of service", "priority", "GPUs", "restarted", "limit")
"""Words of the attributes of every third job of `attributed`."""


def attributed(path: Path) -> Path:
    lines = ["JobID|User|Partition|QOS|Submit|Elapsed|Timelimit|ReqCPUS|AllocTRES|Priority|"]
    lines[0] += "Restarts|Reason"
    for k in range(1, 10):
        usual = k % 3
        part, qos, priority = ("thin", "normal", 7) if usual else ("fat", "high", 9)
        more = "cpu=2|7|0|None" if usual else "cpu=2,gres/gpu=1|9|1|QOSGrpCpuLimit"
        time = f"2024-01-0{k}T00:00:00|00:01:40|00:03:20|2"
        lines.append(f"{k}|ann|{part}|{qos}|{time}|{more}")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(
    ("policies", "gpus", "considered"),
    [
        ((), None, ()),
        (("fcfs+easy",), None, ()),
        (("multifactor+easy",), None, ()),
        (("multifactor(age=5)+easy",), None, ("priority",)),
        (
            ("multifactor(qos=5, qos_priority=(1=3))+easy",),
            None,
            ("priority", "quality of service"),
        ),
        (("multifactor(partition=5, partitions=(1=3))+easy",), None, ("priority",)),
        (("fcfs+easy,limits=(qos.1.MaxJobsPerUser=8)",), None, ("quality of service", "limit")),
        (("fcfs+easy", "fcfs+easy,limits=(root.MaxJobs=8)"), None, ("limit",)),
        (("fcfs+easy",), 4, ("GPUs",)),
    ],
)
def test_considered_attributes_are_not_ignored(
    policies: tuple[str, ...], gpus: int | None, considered: tuple[str, ...]
) -> None:
    """By any policy, or by the machine; no policy knows the nodes of partitions."""
    log = read_log(attributed(Path("site.sacct")), processors=4)
    if gpus:
        log = replace(log, platform=Resources(4, {"gpus": gpus}))
    case = Case(log, method="", policies=tuple(map(Policy.parse, policies)))
    told, _, remedy = warnings_of(case)["ignored"].partition("; ")
    assert [word for word in ATTRIBUTES if word not in told] == [
        word for word in ATTRIBUTES if word in considered
    ]
    assert ("resources.gpus" in remedy) == ("GPUs" not in considered)


def test_a_campaign_names_what_its_policies_ignore(farm: Farm) -> None:
    """As `farm simulate` does for its one policy."""
    attributed(Path("site.sacct"))
    policy = "multifactor(qos=5, qos_priority=(1=3))+easy,limits=(root.MaxJobs=8)"
    trace = {"name": "site", "file": "site.sacct", "processors": 4, "resources": {"gpus": 4}}
    path = campaign(resamples=0, policies=[policy], traces=[trace])
    planned = json.loads(farm("plan", path, "--no-probe", "--json").stdout)["cautions"]["site"]
    assert planned["ignored"] == (
        "jobs of the log have attributes that the simulation ignores, 33 % outside the largest "
        "partition, 33 % that were restarted; to come closer, declare the nodes of 'partitions', "
        "or hosts.partitions, or select one with its own processors"
    )
    words = ("simulate", "site.sacct", "--processors", 4, "--policy", policy, "--json")
    assert "33 % with GPUs" in json.loads(farm(*words).stdout)["cautions"]["ignored"]
    trace |= {"select": {"partitions": ["thin"]}}
    path = campaign(resamples=0, policies=[policy], traces=[trace])
    planned = json.loads(farm("plan", path, "--no-probe", "--json").stdout)["cautions"]["site"]
    assert planned["ignored"] == (
        "jobs of the log have attributes that the simulation ignores, 33 % that were restarted; no "
        "policy considers them"
    )
