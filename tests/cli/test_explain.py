"""`farm explain`: a job of a store, of a log, of a recorded schedule, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from schedfarm.core import poisson, read_swf, simulate, write_swf
from schedfarm.farm import Campaign, Trace, run
from schedfarm.farm.store.reading import schedule_of
from tests.support.command_line import Farm, run_farm
from tests.support.refusals import Said, unlike

TWO = ("fcfs+easy", "spf+easy")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a log, its schedule, and three stores."""
    folder = tmp_path_factory.mktemp("explained")
    log = poisson(64, jobs=150, seed=3, per_week=900, users=8)
    write_swf(log, folder / "log.swf")
    write_swf(log, folder / "out.swf", simulate(log, "fcfs+easy"))
    trace = Trace(name="A", file=str(folder / "log.swf"))
    for name, policies, keys in (
        ("two", TWO, {"resamples": 1, "loads": (0.9,), "log": True}),
        ("one", TWO[:1], {"resamples": 0, "log": True}),
        ("light", TWO[:1], {"resamples": 1, "keep": "summary"}),
    ):
        campaign = Campaign(name=name, traces=(trace,), policies=policies, **keys)  # type: ignore[arg-type]
        run(campaign, folder / f"{name}.farm")
    return folder


@pytest.fixture(autouse=True)
def here(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(made)


def facts(*words: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run_farm("explain", *words, "--json").stdout)
    return found


def test_the_job_that_waited_longest(farm: Farm) -> None:
    """By default; its text and its facts are of the simulation on the spot."""
    schedule = simulate(read_swf("log.swf"), "fcfs+easy")
    found = facts("log.swf", "--policy", "fcfs+easy")
    assert found["job"]["wait"] == schedule.wait.max()
    assert found["cause"]["kind"] in ("smallest", "minimal")
    assert found["cause"]["start"] < found["job"]["start"]
    lines = farm("explain", "log.swf", "--policy", "fcfs+easy").stdout.splitlines()
    assert lines[0] == "log on 64 processors under fcfs+easy"
    assert lines[1].startswith(f"job {found['job']['number']}: ")


def test_a_recorded_schedule_is_explained_as_the_simulated_one() -> None:
    simulated = facts("log.swf", "--policy", "fcfs+easy")
    recorded = facts("out.swf", "--policy", "fcfs+easy", "--recorded")
    del simulated["trace"], recorded["trace"]
    for other in simulated["others"] + recorded["others"]:
        # A log does not record which jobs were backfilled.
        del other["backfilled"]
    assert simulated == recorded


def test_a_recorded_schedule_of_another_policy(farm: Farm) -> None:
    """The first job whose start differs is named; the machine around the job is still shown."""
    text = farm("explain", "out.swf", "--policy", "spf+none", "--recorded").stdout
    assert "the schedule is not that of spf+none: job " in text
    assert "at its submission, " in text
    assert "smallest set" not in text
    assert "delayed" not in text


@pytest.mark.parametrize("resample", [0, 1])
@pytest.mark.parametrize("policy", TWO)
def test_a_cell_of_a_store(policy: str, resample: int) -> None:
    schedule = schedule_of("two.farm", "A", policy, resample, "0.9")
    found = facts("two.farm", "--policy", policy, "--sample", resample, "--load", "0.9")
    assert found["policy"] == policy
    assert found["job"]["wait"] == schedule.wait.max()


def test_a_store_of_one_policy_needs_no_options() -> None:
    wait = facts("one.farm")["job"]["wait"]
    assert wait == facts("log.swf", "--policy", "fcfs+easy")["job"]["wait"]


def test_a_job_that_never_waited(farm: Farm) -> None:
    schedule = simulate(read_swf("log.swf"), "fcfs+easy")
    number = schedule.workload.job[schedule.wait == 0][0]
    text = farm("explain", "log.swf", number, "--policy", "fcfs+easy").stdout
    assert text.splitlines()[-1].endswith("started at once: it never waited")
    assert facts("log.swf", number, "--policy", "fcfs+easy")["cause"] is None


def test_users_of_a_log_have_no_file_of_names(farm: Farm) -> None:
    """The command gives no caution about one."""
    done = farm("explain", "log.swf", "--policy", "fcfs+easy", "--by", "user")
    assert "names" not in done.stderr


def test_groups_that_let_each_other_wait(farm: Farm) -> None:
    """A row for each user with much work, and the same numbers as JSON."""
    words = ("explain", "log.swf", "--policy", "easy", "--by", "user", "--top", 3)
    found = json.loads(farm(*words, "--json").stdout)
    assert found["groups"][-1] == "others"
    waiting = simulate(read_swf("log.swf"), "fcfs+easy")
    total = (waiting.wait * waiting.workload.procs).sum() / 3600
    assert sum(found["waiting_processor_hours"]) == pytest.approx(total)
    lines = farm(*words).stdout.splitlines()
    assert lines[0] == "log under fcfs+easy: waiting by user, in processor-hours"
    assert [line.split()[0] for line in lines[3:7]] == found["groups"]


@pytest.mark.parametrize("name", ["why.png", "why.svg", "-"])
def test_the_chart(farm: Farm, tmp_path: Path, name: str) -> None:
    target = name if name == "-" else tmp_path / name
    done = farm("explain", "log.swf", "--policy", "fcfs+easy", "--plot", target, "--top", 4)
    data = done.stdout_bytes if name == "-" else (tmp_path / name).read_bytes()
    assert data.startswith(b"<?xml" if name.endswith("svg") else b"\x89PNG")
    assert "smallest set" in (done.stderr if name == "-" else done.stdout)


def test_what_cannot_be_explained(said: Said, made: Path) -> None:
    """One sentence names the option or job, and what would be right."""
    rows = [
        ("log.swf", ("log.swf is a log", "give --policy")),
        ("log.swf --policy fcfs+eazy", ("unknown rule 'eazy'", "easy")),
        ("log.swf 9999 --policy easy", ("log: there is no job 9999", "150 jobs", "from 1 to 150")),
        ("log.swf 5 --submit 1 --policy easy", ("there is no job 5", "submitted at 1 s")),
        ("log.swf --submit 5 --policy easy", ("--submit 5 does nothing",)),
        ("log.swf x --policy easy", ("'x' is not a valid integer",)),
        ("none.swf 1 --policy easy", ("none.swf",)),
        ("two.farm", ("several", "--policy", "fcfs+easy, spf+easy")),
        ("two.farm --policy saf+easy", ("unknown policy 'saf+easy'", "fcfs+easy")),
        ("one.farm --trace B", ("unknown trace 'B'", "known: A")),
        ("one.farm --sample 7", ("unknown resample", "7")),
        ("light.farm", ("has no jobs of its cells", "keep = 'jobs'")),
        ("one.farm --processors 8", ("--processors is an option for a log",)),
        ("log.swf --load 0.9", ("--load is an option for a store",)),
        (
            "out.swf --policy easy --recorded --jobs 9",
            ("--jobs cannot be combined with --recorded",),
        ),
        ("out.swf --policy fcfs+logged", ("decides nothing", "fcfs+easy")),
        ("log.swf --policy easy --top -1", ("--top",)),
        ("log.swf --policy easy --by colour", ("by='colour'", "user")),
        ("log.swf --policy easy --by queue", ("by='queue'", "the queue of no job of log is known")),
        ("log.swf 3 --policy easy --by user", ("JOB does nothing with --by",)),
        ("log.swf --policy easy --plot a.gif", ("a.gif", ".png, .pdf or .svg")),
        ("log.swf --policy easy --plot - --json", ("give one",)),
    ]
    assert unlike(rows, lambda words: said("explain", *f"{made}/{words}".split())) == []
