"""`farm simulate` with an order or a rule of the user's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from farm.cli import cli, main

LOG = "; MaxProcs: 4\n" + "".join(
    f"{job} 0 -1 {run} 4{13 * ' -1'}\n" for job, run in enumerate([30, 20, 10], 1)
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "log.swf").write_text(LOG)
    (tmp_path / "beside.py").write_text(
        "def shortest(estimate): return estimate\n"
        "def in_turn(workload, policy):\n"
        "    return workload.run.cumsum() - workload.run\n"
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("own", "ours"), [("beside:shortest+easy", "spf+easy"), ("fcfs+beside:in_turn", "fcfs+none")]
)
def test_a_module_in_the_current_folder_is_found(own: str, ours: str) -> None:
    """It need not be installed, nor on any path."""
    told = []
    for policy in (own, ours):
        words = ["simulate", "log.swf", "--policy", policy, "--json"]
        done = CliRunner().invoke(cli, words, catch_exceptions=False)
        assert done.exit_code == 0, done.output
        told.append(json.loads(done.output)["sha256_starts"])
    assert told[0] == told[1]


@pytest.mark.parametrize("policy", ["beside:shortst+easy", "absent:order+easy", "fcfs+beside:no"])
def test_a_misspelt_name_is_one_sentence(
    policy: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit status 2, as for any bad input."""
    monkeypatch.setattr("sys.argv", ["farm", "simulate", "log.swf", "--policy", policy])
    with pytest.raises(SystemExit) as done:
        main()
    assert done.value.code == 2
    assert "Traceback" not in capsys.readouterr().err
