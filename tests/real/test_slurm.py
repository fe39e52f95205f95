"""A campaign on a real Slurm, which takes away jobs, nodes and the coordinator."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from schedfarm.farm.planning.cost import cell_seconds
from tests.support.harness import (
    Command,
    assert_same_results,
    counts,
    farm as farm_process,
    recorded_cells,
)
from tests.support.paths import DOCS
from tests.support.slurm import Slurm, missing, slurm, wait

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "Slurm is here")

POLICIES = ("fcfs+easy", "spf+easy")
RESAMPLES = 40
CELLS = RESAMPLES * len(POLICIES)

CAMPAIGN = f"""
name = "jobs"
resamples = {RESAMPLES}
policies = {list(POLICIES)}
metrics = ["slow:pause"]
block_seconds = {1.01 * sum(cell_seconds(1000, policy, "original") for policy in POLICIES)}

[[traces]]
name = "m"
model = "lublin"
processors = 64
jobs = 1000

[cluster]
on = "slurm"
workers = 2
scheduler_options = {{host = "127.0.0.1"}}
memory = "1 GB"

[cluster.coordinator]
memory = "1 GB"
walltime = "00:20:00"
"""
"""A block of two cells for each resample."""

SLOW = "SCHEDFARM_TEST_SLOW"
"""Environment variable that names a file: while it is there, each cell takes three seconds."""

METRIC = f'''
"""A metric that takes its time."""

import os
import time


def pause(counted):
    """Nothing, slowly."""
    end = time.monotonic() + 3
    while time.monotonic() < end and os.path.exists(os.environ.get("{SLOW}", "")):
        time.sleep(0.05)
    return 1.0
'''


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    """A Slurm of three nodes."""
    with slurm(tmp_path_factory.mktemp("slurm")) as one:
        yield one


@pytest.fixture(autouse=True)
def without_jobs(here: Slurm) -> Iterator[None]:
    """Leave no job to the next test."""
    yield
    here.end_jobs()


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The campaign's store, made on this machine without a batch system."""
    folder = lay(tmp_path_factory.mktemp("local"))
    done = farm_process(folder, "run", "c.toml", "--on", "local", "--workers", "2", "--json")
    assert done.returncode == 0, done
    return folder / "jobs.farm"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the campaign."""
    return lay(tmp_path)


@pytest.fixture
def slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file with which cells are slow."""
    path = tmp_path / "slow"
    path.touch()
    monkeypatch.setenv(SLOW, str(path))
    return path


def lay(folder: Path) -> Path:
    (folder / "c.toml").write_text(CAMPAIGN)
    (folder / "slow.py").write_text(METRIC)
    return folder


def jobs_of(store: Path, role: str = "workers") -> list[str]:
    """Return the ids of a store's jobs as it has them."""
    path = store / f"jobs.{role}.json"
    ids: list[str] = json.loads(path.read_text())["ids"] if path.exists() else []
    return ids


def began(store: Path) -> None:
    """Wait for the first cells of a run, and for the jobs of both of its workers."""
    wait(lambda: store.exists() and recorded_cells(store) > 0, "the first cells")
    wait(lambda: len(jobs_of(store)) > 1, "both jobs")


def failed_node(here: Slurm, jobs: list[str]) -> str:
    """Fail the node of a running job; return it, or "" if the job has ended in another way.

    On a busy machine a job may reach its walltime before its node is down.
    """
    job = next((job for job in jobs if here.state(job) == "RUNNING"), "")
    node = here.said("squeue", "-h", "-j", job, "-o", "%N").strip() if job else ""
    if not node:
        return ""
    here.said("scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=tried")
    wait(lambda: here.state(job) not in ("RUNNING", "COMPLETING"), "the job's end")
    if here.state(job) == "NODE_FAIL":
        return node
    here.said("scontrol", "update", f"NodeName={node}", "State=RESUME")
    return ""


def test_whatever_is_taken_away__the_campaign_is_complete(
    here: Slurm, folder: Path, local: Path, slow: Path
) -> None:
    """A job is cancelled, another runs into its walltime, a node fails: the run goes on."""
    store = folder / "jobs.farm"
    # A lifetime of the user's own, longer than the walltime: nobody ends the job in peace.
    own = 'worker_extra_args=["--lifetime", "9m"]'
    run = Command(
        folder, "run", "c.toml", "--json", "--option", own, "--option", "walltime=00:01:00"
    )
    try:
        began(store)
        first, second = jobs_of(store)
        here.said("scancel", first)
        node = wait(lambda: failed_node(here, jobs_of(store)[2:]), "the end of a job's node")
        wait(lambda: here.state(second) == "TIMEOUT", "the walltime's end")
        wait(lambda: len(jobs_of(store)) > 4, "jobs in their places")
        here.said("scontrol", "update", f"NodeName={node}", "State=RESUME")
        slow.unlink()
        assert run.wait() == 0, run.err
    finally:
        run.kill()
    assert counts(run.out) == {"cells": CELLS, "before": 0, "done": CELLS, "failed": 0}
    assert_same_results(store, local)
    assert here.jobs("RUNNING", "PENDING") == []


def test_submitted__nothing_is_left_on_the_submitting_side(
    here: Slurm, folder: Path, local: Path, slow: Path
) -> None:
    """The coordinator is a job: refused twice, killed, submitted again, cancelled, and again."""
    store = folder / "jobs.farm"
    first = farm_process(folder, "submit", "c.toml", "--json")
    assert first.returncode == 0, first
    job = json.loads(first.stdout)["job"]
    assert jobs_of(store, "coordinator") == [job]
    twice = farm_process(folder, "submit", "c.toml")
    assert twice.returncode == 2, twice
    assert f"job {job} of slurm is already submitted for it" in twice.stderr

    began(store)
    said = farm_process(folder, "status", "jobs.farm")
    assert f"coordinator (slurm): RUNNING {job}" in said.stdout
    assert f"workers (slurm): RUNNING {' '.join(jobs_of(store))}" in said.stdout

    here.said("scancel", "--batch", "--signal=KILL", job)
    wait(lambda: here.state(job) == "FAILED", "the coordinator's end")
    old = set(jobs_of(store))
    again = json.loads(farm_process(folder, "submit", "c.toml", "--json").stdout)["job"]
    wait(lambda: set(jobs_of(store)) - old, "jobs of its own")
    before = recorded_cells(store)
    wait(lambda: recorded_cells(store) > before, "further cells")
    ended = farm_process(folder, "cancel", "jobs.farm")
    assert ended.returncode == 0, ended
    assert f"coordinator {again} has stopped" in ended.stdout
    assert here.jobs("RUNNING", "PENDING") == []
    assert 0 < recorded_cells(store) < CELLS

    slow.unlink()
    last = farm_process(folder, "submit", "c.toml")
    assert last.returncode == 0, last
    wait(lambda: not here.jobs("RUNNING", "PENDING", "COMPLETING"), "the campaign's end")
    assert_same_results(store, local)
    said = farm_process(folder, "status", "jobs.farm")
    assert f"{CELLS} cells, {CELLS} done, 0 failed" in said.stdout
    assert "coordinator (slurm): COMPLETED" in said.stdout


def test_an_array_of_parts__is_one_run(here: Slurm, folder: Path, local: Path, slow: Path) -> None:
    """Without a coordinator; the last part completes the summary."""
    slow.unlink()
    first = farm_process(folder, "submit", "c.toml", "--array", "3", "--json")
    assert first.returncode == 0, first
    assert json.loads(first.stdout)["parts"] == 3
    wait(lambda: not here.jobs("RUNNING", "PENDING", "COMPLETING"), "the array's end")
    store = folder / "jobs.farm"
    assert_same_results(store, local)
    assert jobs_of(store, "coordinator") == []


def test_a_refused_job__is_one_sentence(folder: Path) -> None:
    """What sbatch says is passed on."""
    for command in ("run", "submit"):
        done = farm_process(folder, command, "c.toml", "--option", "queue=none")
        assert done.returncode == 2, done
        assert "slurm did not accept" in done.stderr
        assert "invalid partition" in done.stderr
        assert "Traceback" not in done.stderr


def test_page_of_the_docs(here: Slurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it shows runs, one block after the other."""
    page = DOCS / "howto" / "slurm.md"
    # The only thing that a page for real clusters does not say.
    monkeypatch.setenv("DASK_JOBQUEUE__SLURM__SCHEDULER_OPTIONS", "{'host': '127.0.0.1'}")
    text = page.read_text(encoding="utf-8")
    (tmp_path / "slurm.toml").write_text(re.findall(r"```toml\n(.*?)```", text, re.S)[0])
    said = []
    for block in re.findall(r"```sh\n(.*?)\n```", text, re.S):
        _, *words = block.split()
        done = farm_process(tmp_path, *words)
        assert done.returncode == 0, done
        said.append(done.stdout)
    assert "--stop-after 28740s" in said[0]
    assert "job " in said[1]
    assert "coordinator (slurm)" in said[2]
    assert "coordinator" in said[3]
    wait(lambda: not here.jobs("RUNNING", "PENDING", "COMPLETING"), "the campaign's end")
    assert "160 done" in farm_process(tmp_path, "status", "quickstart.farm").stdout


def test_pbs_commands__start_and_stop(here: Slurm, folder: Path, local: Path) -> None:
    """Through Slurm's own qsub and qdel: two jobs, and none at the end."""
    if missing("qsub", "qdel", "qstat"):
        pytest.skip(missing("qsub", "qdel", "qstat"))
    done = farm_process(
        folder, "run", "c.toml", "--on", "pbs", "--workers", "2",
        "--option", 'scheduler_options={host = "127.0.0.1"}', "--option", 'memory="1 GB"',
        "--option", 'resource_spec="nodes=1:ppn=1"', "--option", "job_extra_directives=[]",
    )  # fmt: skip
    assert done.returncode == 0, done
    assert counts(done.stdout) == {"cells": CELLS, "before": 0, "done": CELLS, "failed": 0}
    assert_same_results(folder / "jobs.farm", local)
    assert len(jobs_of(folder / "jobs.farm")) == 2
    wait(lambda: here.jobs("RUNNING", "PENDING", "COMPLETING") == [], "the jobs' end")
