"""Where a command line and a campaign say to run, and which of them counts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from schedfarm.cluster import ClusterError, ClusterSpec
from schedfarm.cluster.coordinator import Coordinator
from schedfarm.cluster.opening import Opening
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.cli import cli
from schedfarm.farm.cli.where import ClusterOptions
from tests.support.refusals import Said

CAMPAIGN = """
name = "tiny"
policies = ["fcfs+easy"]

[[traces]]
name = "m"
model = "lublin"
processors = 64
jobs = 50
"""

TABLE = {"on": "slurm", "workers": 8, "queue": "long", "walltime": "02:00:00"}


def place(*options: str, on: str | None = None, workers: int | None = None) -> ClusterOptions:
    return ClusterOptions(on, None, workers, options)


def test_nothing_said__here() -> None:
    assert place().spec({}) == ClusterSpec("local")


def test_a_campaigns_table_counts() -> None:
    spec = place().spec(TABLE)
    assert (spec.kind, spec.workers, spec.options["queue"]) == ("slurm", 8, "long")


def test_options_of_a_campaign__are_printed_without_passwords(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Options of the command line are not repeated."""
    hops = {"proxy_command": "nc %h %p", "password": "sesame"}
    place().spec({"on": "ssh", "hosts": ["a"], "connect_options": hops})
    printed = capsys.readouterr().err
    assert "connect_options = {'proxy_command': 'nc %h %p', 'password': '***'}" in printed
    place(on="local").spec(TABLE)
    assert capsys.readouterr().err == ""


def test_the_command_line_goes_first() -> None:
    """The table of the same launcher is the ground, what the command line says lies above."""
    spec = place("queue=short", "cores=4", on="slurm", workers=2).spec(TABLE)
    assert spec.workers == 2
    assert spec.options == {"queue": "short", "walltime": "02:00:00", "cores": 4}


def test_another_launcher__nothing_of_the_table() -> None:
    assert place(on="local").spec(TABLE) == ClusterSpec("local")


def test_a_file_of_its_own(tmp_path: Path) -> None:
    """With the table's name or without; instead of the campaign's."""
    for head in ("", "[cluster]\n"):
        (tmp_path / "c.toml").write_text(f'{head}on = "pbs"\nworkers = 3\nqueue = "q"\n')
        one = place(on=str(tmp_path / "c.toml"))
        spec = one.spec(TABLE)
        assert (spec.kind, spec.workers, dict(spec.options)) == ("pbs", 3, {"queue": "q"})
        assert one.words() == ["--on", str(tmp_path / "c.toml")]


def test_words_mean_the_same_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = ClusterOptions("c.toml", None, 3, ("a=1", "b=x y")).words()
    assert words == [
        "--on", str(tmp_path / "c.toml"), "--workers", "3", "--option", "a=1", "--option", "b=x y",
    ]  # fmt: skip


@pytest.mark.parametrize("option", ["queue", "=short"])
def test_option_without_a_value__is_refused(option: str) -> None:
    with pytest.raises(ClusterError, match="give NAME=VALUE"):
        place(option)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a=1", 1),
        ("a=true", True),
        ("a=01:00:00", "01:00:00"),
        ("a=4 GB", "4 GB"),
        ('a=["-r n"]', ["-r n"]),
        ('a={host="h"}', {"host": "h"}),
        ("a=b=c", "b=c"),
    ],
)
def test_values(text: str, value: object) -> None:
    """TOML where it is TOML, and a text otherwise."""
    (one,) = place(text)._options.values()
    assert one == value


def test_table_is_part_of_no_store(tmp_path: Path) -> None:
    """Where a campaign ran changes nothing of it."""
    (tmp_path / "a.toml").write_text(CAMPAIGN)
    (tmp_path / "b.toml").write_text(f'{CAMPAIGN}\n[cluster]\non = "local"\nworkers = 1\n')
    bare, told = (Campaign.from_toml(tmp_path / name) for name in ("a.toml", "b.toml"))
    assert told == bare
    assert told.to_toml() == bare.to_toml()
    assert told.located().cluster == {"on": "local", "workers": 1}
    assert bare.cluster == {}


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ('cluster = "slurm"', "cluster is 'slurm'; it must be a table"),
        ('[cluster]\non = "slrum"', "'slrum' is unknown; did you mean 'slurm'"),
        (
            '[cluster]\non = "local"\nwrokers = 1',
            "local has no option 'wrokers'; did you mean 'wor",
        ),
        ("[cluster]\nworkers = 1", "lacks 'on'"),
    ],
)
def test_wrong_table__is_one_sentence(tmp_path: Path, said: Said, table: str, words: str) -> None:
    """And nothing is written."""
    top, _, rest = CAMPAIGN.partition("[[traces]]")
    text = f"{top}{table}\n[[traces]]{rest}" if "[" not in table else f"{CAMPAIGN}\n{table}\n"
    (tmp_path / "c.toml").write_text(text)
    assert words in said("run", "c.toml")


def test_submit_where_there_is_no_batch_system(tmp_path: Path, said: Said) -> None:
    """The refusal names what would do; `--print-script` needs no commands and leaves no trace."""
    (tmp_path / "c.toml").write_text(CAMPAIGN)
    assert "local has no batch system to submit to" in said("submit", "c.toml")
    shown = CliRunner().invoke(cli, ["submit", "c.toml", "--on", "lsf", "--print-script"])
    assert shown.exit_code == 0, shown
    assert "#BSUB" in shown.stdout
    assert f"{sys.executable} -P -m schedfarm run" in shown.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.toml"]


def test_stop_after_no_time__is_refused(tmp_path: Path, said: Said) -> None:
    (tmp_path / "c.toml").write_text(CAMPAIGN)
    for text in ("0s", "soon", "-1m"):
        expected = f"--stop-after {text}: give a time above 0"
        assert expected in said("run", "c.toml", f"--stop-after={text}")


def test_options_of_the_coordinator_alone() -> None:
    """By `coordinator.` before the name, beside those of the campaign's table."""
    given = ("memory=8GB", "coordinator.memory=2GB")
    options = ClusterOptions("slurm", None, None, given)
    spec = options.spec({"on": "slurm", "coordinator": {"memory": "4GB", "queue": "long"}})
    assert spec.options == {"memory": "8GB"}
    assert spec.coordinator == {"memory": "2GB", "queue": "long"}
    assert options.words()[-4:] == ["--option", given[0], "--option", given[1]]


def test_a_coordinator_that_is_refused_says_its_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And how to ask for less of it."""
    spec = ClusterSpec.of({"on": "slurm", "memory": "2GB", "coordinator": {"memory": "3GB"}})
    job = Coordinator(spec, Opening(folder=tmp_path, title="farm-c"))

    async def refuse(_path: str) -> str:
        raise RuntimeError("Memory specification can not be satisfied")

    monkeypatch.setattr(job._job, "_submit_job", refuse)
    monkeypatch.setattr("schedfarm.cluster.coordinator.check_command", lambda *_: None)
    with pytest.raises(
        ClusterError, match=r"coordinator's job, with 3GB: .*coordinator.memory=2GB"
    ):
        job.submit(["true"])
