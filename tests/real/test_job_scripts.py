"""The scripts of jobs, as each launcher of a batch system writes them: texts, compared whole."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from schedfarm.cluster.coordinator import Coordinator
from schedfarm.cluster.errors import ClusterError
from schedfarm.cluster.examples import examples
from schedfarm.cluster.jobs import job_options
from schedfarm.cluster.launchers import LAUNCHERS, imported
from schedfarm.cluster.opening import Opening
from schedfarm.cluster.scratch import SHELL
from schedfarm.cluster.spec import ClusterSpec, table_of
from tests.support.paths import DATA

GOLDEN = DATA

BATCH = [kind for kind, row in LAUNCHERS.items() if row.queue]

NEW = "SCHEDFARM_NEW_SCRIPTS"
"""Environment variable under which the texts are written anew, to be read before they are kept."""


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder, and no configuration of Dask's but the shipped one."""
    if find_spec("dask_jobqueue") is None:
        pytest.skip("dask-jobqueue is not installed")
    # It adds its defaults to Dask's configuration, and replaces the handler of SIGINT, which
    # `imported` restores.
    imported("dask_jobqueue:SLURMCluster")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("dask.config.paths", [])
    return tmp_path


def compared(name: str, text: str, folder: Path) -> None:
    """Hold a script equal to the one that is kept."""
    text = text.replace(sys.executable, "/env/bin/python").replace(str(folder), "/home/me")
    path = GOLDEN / name
    if os.environ.get(NEW):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert text == path.read_text()


def nested(flat: dict[str, Any]) -> dict[str, Any]:
    """Return dotted keys as tables within tables."""
    found: dict[str, Any] = {}
    for key, value in flat.items():
        *tables, last = key.split(".")
        inner = found
        for table in tables:
            inner = inner.setdefault(table, {})
        inner[last] = value
    return found


def opening(folder: Path) -> Opening:
    return Opening(folder=folder / "kth.farm.jobs", title="farm-kth")


@pytest.mark.parametrize("kind", BATCH)
def test_worker_of_the_example(kind: str, alone: Path) -> None:
    """The example's options come out as directives, and the worker's command with them."""
    spec = ClusterSpec.of(table_of(examples()[kind]))
    assert spec.launcher.queue
    job = imported(f"dask_jobqueue:{spec.launcher.queue.cluster}").job_cls
    options = job_options(spec, opening(alone))
    script = job("tls://10.0.0.1:8786", name="worker-0", protocol="tls://", **options)
    compared(f"{kind}.worker", script.job_script(), alone)


@pytest.mark.parametrize("kind", BATCH)
def test_coordinator_of_the_example(kind: str, alone: Path) -> None:
    """The coordinator's job takes the place of its shell, so that signals reach it."""
    spec = ClusterSpec.of(table_of(examples()[kind]))
    job = Coordinator(spec, opening(alone))
    words = [sys.executable, "-P", "-m", "schedfarm", "run", "a b.toml"]
    words += ["--stop-after", f"{job.lasts}s"] if job.lasts else []
    compared(f"{kind}.coordinator", job.script(words), alone)


@pytest.mark.parametrize("kind", BATCH)
def test_array_of_the_example(kind: str, alone: Path) -> None:
    """Each job runs one part, by the number that the batch system gives it."""
    spec = ClusterSpec.of(table_of(examples()[kind]))
    if kind in ("lsf", "htcondor"):
        with pytest.raises(ClusterError, match=f"{kind}: farm submit has no arrays for it"):
            Coordinator(spec, opening(alone), 200)
        return
    job = Coordinator(spec, opening(alone), 200)
    words = [sys.executable, "-P", "-m", "schedfarm", "run", "a b.toml"]
    compared(f"{kind}.array", job.script(words), alone)


def test_newcomer__says_only_slurm(alone: Path) -> None:
    """One core, 2 GB, and a walltime that is Dask's own: enough to begin with."""
    options = job_options(ClusterSpec.parse("slurm"), opening(alone))
    job = imported("dask_jobqueue:SLURMCluster").job_cls
    script = job("tls://10.0.0.1:8786", name="worker-0", protocol="tls://", **options)
    compared("slurm.newcomer", script.job_script(), alone)


def test_configuration_of_dask_is_kept(alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the user's own files say, of a batch system and of workers, is not said anew."""
    import dask

    own = {
        "jobqueue.slurm.cores": 4,
        "jobqueue.slurm.memory": "9 GB",
        "jobqueue.slurm.queue": "own",
        "jobqueue.slurm.log-directory": "mine",
        "distributed.worker.memory.spill": 0.5,
    }
    monkeypatch.setattr("dask.config.paths", [str(alone)])
    (alone / "own.yaml").write_text(json.dumps(nested(own)))
    with dask.config.set(own):
        options = job_options(ClusterSpec.parse("slurm"), opening(alone))
    assert (options["cores"], options["processes"]) == (4, 4)
    assert "memory" not in options
    assert "queue" not in options
    assert "log_directory" not in options
    said = "\n".join(options["job_script_prologue"])
    assert "MEMORY__TARGET=False" in said
    assert "MEMORY__SPILL" not in said


def test_a_job_has_a_scratch_folder_of_its_own(tmp_path: Path) -> None:
    """Made on its node as nobody could have before, known to Dask, and gone with the job."""
    ask = "import dask; print(dask.config.get('temporary-directory'))"
    lines = [*SHELL, f'"{sys.executable}" -c "{ask}"', 'stat -c %a "$DASK_TEMPORARY_DIRECTORY"']
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        ["bash", "-c", "\n".join(lines)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    place, mode = done.stdout.split()
    assert Path(place).parent == tmp_path
    assert mode == "700"
    assert list(tmp_path.iterdir()) == []


def test_every_job_makes_its_scratch_folder_first(alone: Path) -> None:
    options = job_options(ClusterSpec.parse("slurm"), opening(alone))
    assert tuple(options["job_script_prologue"][: len(SHELL)]) == SHELL
