"""Accounts, partitions, names and waits of a site's log, through a campaign and its store."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from schedfarm import farm
from schedfarm.core import InputError, read_log, simulate, summarise
from schedfarm.core.machines.partitions.platform import Partitions
from schedfarm.farm import Campaign, Trace
from schedfarm.farm.cli import cli
from schedfarm.farm.store.reading import schedule_of
from schedfarm.farm.verify import verify
from tests.unit.core.test_sacct import SITE


@pytest.fixture
def site(tmp_path: Path) -> Path:
    path = tmp_path / "site.sacct"
    path.write_text(SITE)
    return path


def campaign(site: Path, *policies: str, **keys: Any) -> Campaign:
    trace = Trace(file=str(site), processors=128, **keys)
    return Campaign(name="site", traces=(trace,), policies=policies or ("fcfs+easy",))


def text_of(folder: Path) -> bytes:
    return b"".join(p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file())


def test_names_stay_out_of_a_store_unless_asked_for(site: Path, tmp_path: Path) -> None:
    """Then they are in one file, of the owner's alone, and gone when nobody asks any more."""
    store = tmp_path / "s"
    farm.run(campaign(site), store)
    assert not (store / "names").exists()
    assert b"physics" not in text_of(store)
    with pytest.raises(InputError, match="no names of trace 'site'; request them with names"):
        farm.names_of(store, "site")

    chosen = campaign(site, names=True, select={"groups": ["chem"]})
    other = tmp_path / "t"
    farm.run(chosen, other)
    path = other / "names" / "site.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    names = farm.names_of(other, "site")
    assert names["user"] == {2: "bob", 3: "cat"}
    assert names["partition"] == {1: "cpu", 2: "gpu"}
    assert farm.run(campaign(site, select={"groups": ["chem"]}), other).failed == 0
    assert not path.exists()
    assert b"physics" not in text_of(other)


def test_a_damaged_file_of_names_is_one_sentence(site: Path, tmp_path: Path) -> None:
    """And made again by the next run."""
    asked = campaign(site, names=True)
    farm.run(asked, tmp_path / "s")
    (tmp_path / "s" / "names" / "site.json").write_text("[]")
    with pytest.raises(InputError, match="cannot be read; run the campaign again"):
        farm.names_of(tmp_path / "s", "site")
    farm.run(asked, tmp_path / "s")
    assert farm.names_of(tmp_path / "s", "site")["user"][1] == "ann"


def test_a_trace_without_names_says_what_it_said() -> None:
    """The texts, and so the digests, of campaigns of before stay."""
    assert "names" not in Trace(file="a.swf").to_dict()
    assert Trace(file="a.swf", names=True).to_dict()["names"] is True
    with pytest.raises(InputError, match="'names' is for logs only"):
        Trace(name="m", model="lublin", processors=4, jobs=5, names=True)


def test_the_log_as_it_was_is_a_policy(site: Path, tmp_path: Path) -> None:
    """Every metric of it stands beside those of simulations."""
    farm.run(campaign(site, "fcfs+logged", "fcfs+easy"), tmp_path / "s")
    log = read_log(site, processors=128)
    with farm.open(tmp_path / "s") as tree:
        for policy in ("fcfs+logged", "fcfs+easy"):
            cell = tree.to_dataset().sel(trace="site", resample=0, load="original", policy=policy)
            expected = summarise(simulate(log, policy))
            for name in ("wait", "bounded_slowdown", "utilisation", "backfilled"):
                assert float(cell[name]) == pytest.approx(expected[name])
    assert simulate(log, "fcfs+logged").wait.tolist() == log.logged_wait.tolist()


@pytest.mark.parametrize("more", [{"resamples": 2}, {"loads": ("original", 0.5)}])
def test_there_is_no_sample_as_it_was(site: Path, more: dict[str, Any]) -> None:
    """It is refused before a cell runs."""
    trace = Trace(file=str(site), processors=128)
    with pytest.raises(InputError, match="'fcfs.logged' takes the starts of a log; it needs"):
        Campaign(name="a", traces=(trace,), policies=("fcfs+easy", "fcfs+logged"), **more)


OWN = """
def gpu_wait(counted):
    "Longest wait in partition 2."
    return counted.wait[counted.column("partition") == 2].max()
"""


def test_metrics_of_ones_own_know_partitions(site: Path, tmp_path: Path) -> None:
    """In the run that simulates, and in one that learns the metric later."""
    (tmp_path / "mine.py").write_text(OWN)
    log = read_log(site, processors=128)
    expected = int(simulate(log, "fcfs+easy").wait[np.asarray(log.partition) == 2].max())
    given = campaign(site)
    asked = Campaign(
        name="site",
        traces=given.traces,
        policies=given.policies,
        metrics=("mine:gpu_wait",),
        folder=tmp_path,
    )
    farm.run(asked, tmp_path / "at-once")
    farm.run(given, tmp_path / "later")
    farm.run(asked, tmp_path / "later")
    for store in ("at-once", "later"):
        with farm.open(tmp_path / store) as tree:
            assert float(tree["gpu_wait"].squeeze()) == expected


def told(*words: str) -> str:
    done = CliRunner().invoke(cli, ["simulate", *words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_simulate_shows_what_was_beside(site: Path) -> None:
    """The same metrics of the same jobs; nothing where the jobs are others."""
    words = (str(site), "--processors", "128", "--policy", "easy")
    text = told(*words)
    (line,) = (line for line in text.splitlines() if line.startswith("  mean wait"))
    assert line.startswith("  mean wait, s ")
    assert line.endswith("   1 963")
    assert "as logged: with the starts of the log and the simulated run times" in text
    plain = json.loads(told(*words, "--json"))
    expected = summarise(simulate(read_log(site, processors=128), "fcfs+logged"))
    assert plain["as_logged"]["wait"] == expected["wait"] == pytest.approx(11_777 / 6)
    for more in (("--load", "0.5"), ("--resample", "1")):
        assert json.loads(told(*words, *more, "--json"))["as_logged"] is None
        assert "as logged" not in told(*words, *more)


@pytest.mark.parametrize(("unknown", "shown"), [(5, True), (6, False)])
def test_few_unknown_waits_are_left_out_and_counted(
    tmp_path: Path, unknown: int, shown: bool
) -> None:
    """Of 100 jobs 5, and no more."""
    rows = [f"{j} {j} {-1 if j <= unknown else 7} 10 1{13 * ' -1'}\n" for j in range(1, 101)]
    (tmp_path / "a.swf").write_text("; MaxProcs: 4\n" + "".join(rows))
    text = " ".join(told(str(tmp_path / "a.swf"), "--policy", "easy").split())
    assert (f"without {unknown} jobs whose wait is unknown" in text) is shown
    assert ("as logged" in text) is shown


def test_partitions_come_back_from_a_store(site: Path, tmp_path: Path) -> None:
    """With the jobs' partitions, at another size of the machine too; a what-if changes a region."""
    regions = {"cpu": 60, "cpu,gpu": 4, "gpu": 4}
    trace = Trace(file=str(site), partitions={"regions": regions})
    asked = Campaign(
        name="site",
        traces=(trace,),
        policies=("fcfs+easy", "fcfs+slurm"),
        loads=("original", "0.9"),
        axes={"processors": [68, 136]},
    )
    assert farm.run(asked, tmp_path / "s").failed == 0
    assert [*verify(tmp_path / "s")] == []
    jobs = trace.read()
    assert jobs is not None
    assert jobs.platform == Partitions(68, {}, regions, {"cpu": 1, "gpu": 2})
    twice = {name: 2 * size for name, size in regions.items()}
    for name, platform in (
        ("site.processors-68", jobs.platform),
        ("site.processors-136", Partitions(136, {}, twice, {"cpu": 1, "gpu": 2})),
    ):
        for policy in asked.policies:
            found = schedule_of(tmp_path / "s", name, policy, 0)
            assert found.workload.platform == platform
            assert found.workload.partition.tolist() == jobs.partition.tolist()
            made = simulate(replace(jobs, platform=platform, names={}), policy)
            assert found.start.tolist() == made.start.tolist()
    # A job of 64 processors waits for the other one in any case, and for 8 of gpu here.
    larger = Trace(file=str(site), partitions={"regions": {"cpu": 64, "gpu": 4, "cpu,gpu": 4}})
    more = larger.read()
    assert more is not None
    assert simulate(more, "fcfs+none").start[2] < simulate(jobs, "fcfs+none").start[2]


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ({"partitions": {"regions": {"cpu": 64}}}, "3 jobs of 'site' have the partition 'gpu'"),
        ({"partitions": {"regions": {"cpu": 999}}, "processors": 128}, "processors is 128, and"),
        ({"partitions": {"region": {}}}, "partitions: unknown key 'region'"),
        ({"partitions": {"regions": {"cpu": 9}}, "nodes": {"capacity": 2}}, "give it or 'nodes'"),
    ],
)
def test_wrong_partitions_of_a_trace_are_refused(
    site: Path, keys: dict[str, Any], why: str
) -> None:
    """By the trace's name, in a sentence."""
    with pytest.raises(InputError, match=f"trace 'site': .*{why}"):
        Trace(file=str(site), **keys).read()
