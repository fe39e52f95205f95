"""`farm what-if`: from a log to the verdict, resumed and refined, and what it refuses."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from schedfarm.analysis import compare, open_trace, verdicts
from schedfarm.analysis.report import script
from schedfarm.core import Schedule, Workload, simulate, write_swf
from schedfarm.core.machines.pool.platform import Pool
from schedfarm.core.models import poisson
from schedfarm.farm import Campaign, Outcome
from tests.support.command_line import Farm
from tests.support.refusals import LOG, Said, unlike

COMMAND = import_module("schedfarm.farm.cli.what_if")
"""The module: the package has the command under this name."""

WORDS = ("what-if", "site.swf", "--instead-of", "fcfs+easy", "--use", "spf+easy")

BEGUN = re.compile(r"(\d+) cells, (\d+) done before")


def site(path: str = "site.swf", weeks: int = 10) -> None:
    write_swf(poisson(64, jobs=40 * weeks, seed=3, per_week=40, users=8), path)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder, without pages."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(script, "find_spec", lambda name: None)
    return tmp_path


def test_one_command_leads_from_a_log_to_the_verdict(farm: Farm) -> None:
    """The campaign runs with other commands, and no cell is simulated twice."""
    site()
    done = farm(*WORDS, "--samples", 16)
    found = compare("site.farm", "fcfs+easy", ["spf+easy"])
    assert done.stdout.splitlines()[0].startswith(verdicts(found)[0])
    rounds = [(int(cells), int(before)) for cells, before in BEGUN.findall(done.stderr)]
    assert [before for _, before in rounds] == [0, *(cells for cells, _ in rounds[:-1])]
    assert rounds[-1][0] == 2 * 17
    so_far = re.findall(r"after (\d+) of 16 samples: spf\+easy: mean wait .*", done.stderr)
    assert [2 * (int(samples) + 1) for samples in so_far] == [cells for cells, _ in rounds[:-1]]
    campaign = Campaign.from_toml("site.toml")
    assert (campaign.policies, campaign.loads) == (("fcfs+easy", "spf+easy"), ("original",))
    assert (campaign.resamples, campaign.log, campaign.draw) == (16, True, "weeks")
    assert "no page: " in done.stderr
    assert "34 cells: 34 done before, 0 simulated now" in farm("run", "site.toml").stdout


def test_campaign_and_page_are_next_to_the_store(farm: Farm, here: Path) -> None:
    """Named after it, with the log by its path from there."""
    site()
    (here / "runs").mkdir()
    farm(*WORDS, "--samples", 2, "--store", "runs/mine.farm", "--quiet")
    campaign = Campaign.from_toml("runs/mine.toml")
    assert campaign.name == "mine"
    assert Path(campaign.traces[0].file or "") == here / "site.swf"
    assert sorted(path.name for path in here.iterdir()) == ["runs", "site.swf"]


def test_the_same_command_repeats_the_answer(farm: Farm) -> None:
    """Without options it keeps to the samples of the campaign."""
    site()
    first = farm(*WORDS, "--samples", 3)
    again = farm(*WORDS)
    assert again.stdout == first.stdout
    assert BEGUN.findall(again.stderr) == [("8", "8")]


def test_more_samples_policies_and_loads_extend_campaign_and_store(farm: Farm) -> None:
    """The lines of the file stay with their comments, and the values with their bits."""
    site()
    farm(*WORDS, "--samples", 3, "--quiet")
    text = Path("site.toml").read_text(encoding="utf-8")
    Path("site.toml").write_text(text + "# mine\n", encoding="utf-8")
    waits = open_trace("site.farm", "site")["wait"].load()
    done = farm(*WORDS, "--use", "saf+easy", "--load", "original", "--load", 0.9, "--samples", 5)
    campaign = Campaign.from_toml("site.toml")
    assert campaign.policies == ("fcfs+easy", "spf+easy", "saf+easy")
    assert (campaign.loads, campaign.resamples) == (("original", "0.9"), 5)
    lines = Path("site.toml").read_text(encoding="utf-8").splitlines()
    assert lines[-1] == "# mine"
    assert [line for line in text.splitlines() if line not in lines] == [
        line for line in text.splitlines() if line.startswith(("resamples", "loads"))
    ]
    grown = open_trace("site.farm", "site")["wait"].load()
    old = grown.sel(resample=waits["resample"], load=waits["load"], policy=waits["policy"])
    np.testing.assert_array_equal(old.values[..., : waits.sizes["job"]], waits.values)
    assert [line.partition(":")[0] for line in done.stdout.splitlines()[:2]] == [
        "spf+easy",
        "saf+easy",
    ]


def test_an_interrupted_command_continues(farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was simulated before stays."""
    site()
    real = COMMAND._round

    def stopped_round(*given: Any, **how: Any) -> Outcome:
        return replace(real(*given, **how), interrupted=True)

    with monkeypatch.context() as patched:
        patched.setattr(COMMAND, "_round", stopped_round)
        stopped = farm(*WORDS, "--samples", 4, status=130)
    assert stopped.stdout == ""
    assert stopped.stderr.endswith("interrupted; the same command resumes\n")
    before = int(BEGUN.findall(stopped.stderr)[0][0])
    resumed = farm(*WORDS)
    assert int(BEGUN.findall(resumed.stderr)[0][1]) == before > 0
    assert "4 pairs" in resumed.stdout.splitlines()[0]


def test_the_time_limits_the_samples(farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    """A round that would end too late is left to the next command."""
    site()
    monkeypatch.setattr("schedfarm.farm.planning.sizing.LEAST", 24)
    words = (*WORDS, "--load", 0.9, "--precision", 0.001)
    short = farm(*words, "--minutes", COMMAND.PAGE_SECONDS / 60)
    assert "note: the time is over after 20 samples; the same command continues" in short.stderr
    assert "20 pairs" in short.stdout
    assert "24 pairs" in farm(*words).stdout


def test_samples_are_added_until_the_answer_is_precise(farm: Farm) -> None:
    """The interval is as short as requested, and each round tightens the verdict."""
    site()
    # Whole weeks of this log wait equally long under both policies at its own load.
    done = farm(*WORDS, "--load", 0.9, "--precision", 0.01)
    campaign = Campaign.from_toml("site.toml")
    (request,) = campaign.precision
    assert (request.metric, request.policy, request.over) == ("wait", "spf+easy", "fcfs+easy")
    low, ratio, high = compare("site.farm", metrics=["wait"])["ratio"].values.ravel()
    samples = max(open_trace("site.farm", "site")["resample"].values)
    assert (high - low) / 2 / ratio <= 0.01
    assert 20 < samples < campaign.resamples
    so_far = [int(n) for n in re.findall(r"after (\d+) samples: spf\+easy: mean", done.stderr)]
    assert so_far[0] == 20
    assert max(so_far) < samples
    assert f"with {samples} samples, at the requested precision" in done.stderr
    assert BEGUN.findall(farm(*WORDS).stderr) == [(str(2 * (samples + 1)),) * 2]


def test_precision_is_refined_and_dropped(farm: Farm) -> None:
    """A shorter interval, a further policy, and a number of samples in its place."""
    site()
    farm(*WORDS, "--precision", 0.4)
    farm(*WORDS, "--use", "saf+easy", "--precision", 0.3)
    campaign = Campaign.from_toml("site.toml")
    assert [(one.policy, one.relative) for one in campaign.precision] == [
        ("spf+easy", 0.3),
        ("saf+easy", 0.3),
    ]
    farm(*WORDS, "--samples", 22)
    campaign = Campaign.from_toml("site.toml")
    assert (campaign.precision, campaign.resamples) == ((), 22)
    assert "22 pairs" in farm(*WORDS, "--precision", 0.9, "--minutes", 1).stdout
    assert Campaign.from_toml("site.toml").precision[0].relative == 0.9


def test_waits_of_zero_have_no_interval_and_an_answer(farm: Farm) -> None:
    """Sampling ends after the first round, with the reason; so does the same command."""
    jobs = poisson(64, jobs=400, seed=3, per_week=40, users=8)
    write_swf(replace(jobs, platform=Pool(2**16)), "site.swf")
    for _ in range(2):
        done = farm(*WORDS)
        assert "has no interval: of 20 finished pairs" in done.stderr
        assert "spf+easy" in done.stdout


def named_site(path: str = "site.sacct") -> None:
    jobs = poisson(64, jobs=400, seed=3, per_week=40, users=8)
    epoch = np.datetime64("2024-01-01T00:00:00")
    lines = ["JobIDRaw|User|Submit|Start|End|TimelimitRaw|AllocCPUS|State"]
    rows = zip(jobs.submit, jobs.run, jobs.estimate, jobs.procs, jobs.user, strict=True)
    for number, (submit, run, estimate, procs, user) in enumerate(rows, start=1):
        begun, ended = epoch + int(submit), epoch + int(submit + run)
        minutes = -(-int(estimate) // 60)
        lines.append(f"{number}|user{user}x|{begun}|{begun}|{ended}|{minutes}|{procs}|COMPLETED")
    Path(path).write_text("\n".join(lines) + "\n")


def test_users_have_names_on_request(farm: Farm) -> None:
    """In a file of the store for its owner; without the file they have numbers, and a caution."""
    named_site()
    words = ("what-if", "site.sacct", *WORDS[2:], "--processors", 64, "--load", 0.9, "--quiet")
    farm("init", "site.sacct", "--processors", 64)
    assert "# names = true" in Path("site.toml").read_text(encoding="utf-8")
    Path("site.toml").unlink()
    farm(*words, "--samples", 3)
    refused = farm(*words, "--samples", 3, "--names", status=2)
    assert "site.toml keeps no names; add names = true to its [[traces]]" in refused.stderr
    Path("site.toml").unlink()
    shutil.rmtree("site.farm")
    done = farm(*words, "--samples", 3, "--names")
    assert re.search(r"user\dx", done.stdout)
    assert Campaign.from_toml("site.toml").traces[0].names
    kept = Path("site.farm/names/site.json")
    assert json.loads(kept.read_text(encoding="utf-8"))["user"]["1"].startswith("user")
    kept.write_text("[]", encoding="utf-8")
    damaged = farm("compare", "site.farm")
    assert damaged.stderr.count("caution: site: numbers instead of names: ") == 1
    kept.write_text("[]", encoding="utf-8")
    again = farm(*words, "--samples", 3)
    # The run writes the file again.
    assert "numbers instead" not in again.stderr
    assert not re.search(r"user\dx", damaged.stdout)


def test_a_cluster_is_used_as_by_farm_run(farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    """--on and --workers reach the cluster, which is started once for all rounds."""
    site()
    asked: list[Any] = []

    @contextmanager
    def connected(spec: Any, opening: Any) -> Iterator[None]:
        asked.append((spec.kind, spec.workers))
        yield None

    monkeypatch.setattr("schedfarm.cluster.connect", connected)
    monkeypatch.setattr(COMMAND, "ALONE_SECONDS", 0.0)
    farm(*WORDS, "--samples", 4, "--on", "local", "--workers", 2)
    assert asked == [("local", 2)]


def test_a_given_number_of_samples_is_not_cut_short(
    farm: Farm, monkeypatch: pytest.MonkeyPatch
) -> None:
    site()
    monkeypatch.setattr(COMMAND, "MINUTES", COMMAND.PAGE_SECONDS / 60)
    assert "8 pairs" in farm(*WORDS, "--samples", 8).stdout


def test_a_budget_is_spent_up_to_a_limit(farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small log has as many samples as are of use."""
    site()
    monkeypatch.setattr("schedfarm.farm.planning.sizing.MOST", 12)
    farm(*WORDS)
    assert Campaign.from_toml("site.toml").resamples == 12


def test_a_short_log_is_compared_alone(farm: Farm) -> None:
    """Weeks cannot be drawn from two."""
    site(weeks=2)
    done = farm(*WORDS)
    assert Campaign.from_toml("site.toml").resamples == 0
    assert "in the log alone" in done.stdout.splitlines()[0]


def test_waits_of_the_log_that_are_far_from_the_baseline_are_a_note(farm: Farm) -> None:
    jobs = poisson(64, jobs=400, seed=3, per_week=40, users=8)
    wait = simulate(jobs, "fcfs+easy").wait
    logged = Schedule(jobs, "", jobs.submit + 10 * wait, np.zeros(len(jobs), np.bool_))
    write_swf(jobs, "site.swf", logged)
    said = farm(*WORDS, "--samples", 1).stderr
    numbers = re.search(r"far from .* mean wait (.+) s under fcfs\+easy, (.+) s in the log", said)
    assert numbers
    shown = [float(one.replace(" ", "")) for one in numbers.groups()]
    assert shown == pytest.approx([wait.mean(), 10 * wait.mean()], rel=1e-3)


def test_what_is_refused(said: Said, tmp_path: Path) -> None:
    site()
    unknown = poisson(64, jobs=400, seed=3, per_week=40, users=8)
    silent = Workload.from_columns(
        submit=unknown.submit, run=unknown.run, estimate=unknown.run, procs=unknown.procs,
        processors=64,
    )  # fmt: skip
    write_swf(silent, "silent.swf")
    rows = Path("silent.swf").read_text(encoding="utf-8").splitlines()
    Path("silent.swf").write_text(
        "\n".join(
            row if row.startswith(";") else " ".join([*row.split()[:8], "-1", *row.split()[9:]])
            for row in rows
        )
        + "\n",
        encoding="utf-8",
    )
    Path("empty.swf").write_text("; MaxProcs: 8\n", encoding="utf-8")
    Path("other.toml").write_text(
        'name = "other"\npolicies = ["fcfs+easy"]\n[[traces]]\nname = "m"\nmodel = "lublin"\n'
        "processors = 64\njobs = 50\n",
        encoding="utf-8",
    )
    Path("mine.toml").write_text(
        'name = "mine"\n"policies" = ["fcfs+easy"]\nresamples = 2\n[[traces]]\nname = "site"\n'
        'file = "site.swf"\n',
        encoding="utf-8",
    )
    (tmp_path / "taken.farm").mkdir()
    (tmp_path / "taken.farm" / "store.json").write_text("{}", encoding="utf-8")
    base = ["site.swf", "--instead-of", "fcfs+easy"]
    use = ["--use", "spf+easy"]
    table: list[tuple[list[str], tuple[str, ...]]] = [
        ([*base, "--use", "spf+esay"], ("spf+esay", "easy")),
        ([*base, "--use", "sjf+easy", "--use", "FCFS+easy"], ("both name fcfs+easy",)),
        ([*base, *use, "--load", "many"], ("'many'", "original")),
        ([*base, *use, "--store", "."], ("--store .", "has no name; give")),
        ([*base, *use, "--samples", "4", "--minutes", "2"], ("--minutes 2", "--samples 4")),
        ([*base, *use, "--samples", "4", "--precision", "0.1"], ("--precision 0.1", "--samples 4")),
        ([*base, *use, "--minutes", "0"], ("--minutes",)),
        ([*base, *use, "--precision", "2"], ("--precision", "0<x<1")),
        ([*base, *use, "--on", "slrum"], ("slrum", "slurm")),
        (["gone.swf", *base[1:], *use], ("gone.swf",)),
        (["empty.swf", *base[1:], *use], ("empty.swf", "no data row")),
        (["silent.swf", *base[1:], *use], ("400 of 400", "--clean no_estimate=f-model")),
        ([*base, *use, "--store", "other.farm"], ("other.toml", "campaign of m", "--store")),
        ([*base, *use, "--store", "taken.farm"], ("taken.farm", "taken.toml", "--store")),
        ([*base, *use, "--store", "mine.farm", "--samples", "2"], ("mine.toml", "'spf+easy'")),
        ([*base, "--use", "fcfs+ics"], ("ics", "pool")),
    ]
    assert unlike(table, lambda words: said("what-if", *words)) == []
    Path("tiny.swf").write_text(LOG, encoding="utf-8")
    assert "site.swf" not in said("what-if", "tiny.swf", *base[1:], *use, "--processors", "-1")
