"""The launchers, their options, and the files to start from."""

from __future__ import annotations

import tomllib
from importlib.util import find_spec

import pytest
from click.testing import CliRunner

from schedfarm.cluster import ClusterError, ClusterSpec, connect
from schedfarm.cluster.examples import examples
from schedfarm.cluster.launchers import LAUNCHERS
from schedfarm.cluster.queues import GONE, QUEUES, is_over, parse_states, walltime_of
from schedfarm.cluster.spec import table_of
from schedfarm.cluster.walltime import ending, margin, walltime_seconds
from schedfarm.farm.cli import cli
from tests.support.paths import ROOT
from tests.support.refusals import Said

HERE = [kind for kind, row in LAUNCHERS.items() if row.extra and row.extra not in ("kubernetes",)]


@pytest.mark.parametrize("kind", [kind for kind, row in LAUNCHERS.items() if row.package])
def test_every_launcher_has_a_file_to_start_from(kind: str) -> None:
    """It names its launcher, and parses."""
    assert tomllib.loads(examples()[kind].read_text())["cluster"]["on"] == kind


@pytest.mark.parametrize("kind", HERE)
def test_example_is_a_spec(kind: str) -> None:
    """All its keys are the launcher's own."""
    if find_spec(LAUNCHERS[kind].package) is None:
        pytest.skip(f"{LAUNCHERS[kind].package} is not installed")
    assert ClusterSpec.of(table_of(examples()[kind])).kind == kind


def test_misspelt_option__the_nearest_is_named() -> None:
    with pytest.raises(ClusterError, match=r"slurm has no option 'wallime'; did you mean 'wallt"):
        ClusterSpec.of({"on": "slurm", "wallime": "01:00:00"})
    with pytest.raises(ClusterError, match=r"no option 'workes'; did you mean 'workers'"):
        ClusterSpec.of({"on": "slurm", "workes": 3})
    with pytest.raises(ClusterError, match=r"no option 'que'; did you mean 'queue'"):
        ClusterSpec.of({"on": "pbs", "coordinator": {"que": "long"}})


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({}, "lacks 'on'"),
        ({"on": "slum"}, "'slum' is unknown; did you mean 'slurm'"),
        ({"on": "local", "cores": 2}, "local has no option 'cores'"),
        ({"on": "slurm", "workers": "many"}, "workers is 'many'; it must be at least 1"),
        ({"on": "slurm", "workers": 2, "minimum": 3}, "minimum is 3, but workers is 2"),
        ({"on": "slurm", "coordinator": 3}, "coordinator is 3; it must be a table"),
        ({"on": "local", "coordinator": {"cores": 1}}, "local has no batch system"),
        ({"on": "tls://h:1", "queue": "q"}, "tls://h:1 has no option 'queue'"),
    ],
)
def test_wrong_table__is_one_sentence(table: dict[str, object], words: str) -> None:
    with pytest.raises(ClusterError, match=words.replace("[", r"\[")):
        ClusterSpec.of(table)


@pytest.mark.parametrize("kind", [kind for kind, row in LAUNCHERS.items() if row.package])
def test_missing_package__its_extra_is_named(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is started, or an option is looked at."""
    monkeypatch.setattr("schedfarm.cluster.launchers.find_spec", lambda name: None)
    extra = LAUNCHERS[kind].extra
    with (
        pytest.raises(ClusterError, match=rf"{kind} needs .*; pip install 'schedfarm\[{extra}\]'"),
        connect(kind),
    ):
        raise AssertionError


def test_extras_are_declared() -> None:
    """Each extra that is named is one of the project's, and brings the package that is needed."""
    path = ROOT / "pyproject.toml"
    extras = tomllib.loads(path.read_text())["project"]["optional-dependencies"]
    for row in LAUNCHERS.values():
        if row.extra:
            assert any(one.startswith(row.package.replace("_", "-")) for one in extras[row.extra])


def test_batch_system_that_is_not_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its command is named, and nothing waits for workers that cannot come."""
    monkeypatch.setenv("PATH", "")
    with (
        pytest.raises(ClusterError, match="slurm: the command sbatch is not on this machine"),
        connect("slurm"),
    ):
        raise AssertionError


LISTS = {
    "slurm": "12 RUNNING\n13 CANCELLED\n",
    "pbs": "Job id      Name   User  Time Use S Queue\n----------- ------ ----- -------- - -----\n"
    "12.host     farm-k me    00:00:01 R workq\n13.host     farm-k me    00:00:01 C workq\n",
    "sge": "job-ID  prior   name  user state submit/start at  queue  slots\n--------\n"
    "     12 0.55500 farm-k me  r  01/01/2026 10:00:00 all.q@h 4\n",
    "lsf": "12 RUN\n13 EXIT\n",
    "htcondor": "12.0 2\n13.0 3\n",
    "oar": "Job id    Name           User           Submission Date     S Queue\n"
    "--------- -------------- -------------- ------------------- - --------\n"
    "12        farm           me             2026-01-01 10:00:00 R default\n",
}
"""What the commands of batch systems print of job 12, which runs, and 13, which has ended."""


@pytest.mark.parametrize("kind", QUEUES)
def test_list_of_jobs_is_read(kind: str) -> None:
    """The one is there and has begun, the other is over or not listed any more."""
    queue, dot = QUEUES[kind], ".0" if kind == "htcondor" else ""
    found = parse_states(queue, LISTS[kind])
    running = found[f"12{dot}"]
    assert not is_over(queue, running)
    assert running not in queue.waiting
    assert is_over(queue, found.get(f"13{dot}", GONE))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("00:30:00", 1800), ("1-00:00:00", 86_400), ("1-06:30", 109_800), ("", None), (None, None)],
)
def test_walltime(text: object, seconds: int | None) -> None:
    assert walltime_seconds(text) == seconds


@pytest.mark.parametrize(
    ("kind", "number", "pair"),
    [
        ("slurm", 60, 90), ("pbs", 1, 90), ("sge", 1, 90), ("lsf", 60, 5400), ("oar", 3600, 5400),
    ],
)  # fmt: skip
def test_walltime__in_the_units_of_the_batch_system(kind: str, number: int, pair: int) -> None:
    """One number, and 1:30, mean another time to each: sbatch(1), bsub(1), oarsub(1), qsub(1)."""
    queue = QUEUES[kind]
    assert walltime_of(queue, {"walltime": 2}) == 2 * number
    assert walltime_of(queue, {"walltime": "1:30"}) == pair


@pytest.mark.parametrize("walltime", [60, 600, 3600, 86_400, 7 * 86_400])
def test_all_ends_lie_within_the_walltime(walltime: int) -> None:
    """What is begun ends first, then Dask's lifetime, then the job; ends are spread."""
    (line,), words = ending(walltime)
    last, spread = (int(part) for part in line.replace(")", "").split("+")[2].split("- RANDOM %"))
    lifetime, stagger = (int(word.rstrip("s")) for word in words[1::2])
    assert 0 < last - spread < last <= lifetime - stagger
    assert lifetime + stagger < walltime
    assert spread == margin(walltime)


def test_clusters__lists_and_prints(said: Said) -> None:
    """The list has every launcher; a file is printed as it is."""
    listed, printed = (CliRunner().invoke(cli, ["clusters", *name]) for name in ((), ("slurm",)))
    assert all(row.form in listed.stdout for row in LAUNCHERS.values())
    assert printed.stdout == examples()["slurm"].read_text()
    assert "did you mean 'slurm'" in said("clusters", "slum")
