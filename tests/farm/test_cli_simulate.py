"""`farm simulate` with an order or a rule of the user's own."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from core import InputError
from farm.cli import cli, main
from tests.farm import refusals
from tests.farm.refusals import Said

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


def test_a_draw_may_have_options() -> None:
    """A cell of a campaign whose draw has them can be had again; what they bound is said."""
    week = 604_800
    rows = [f"{j} {at} -1 30 4{13 * ' -1'}\n" for j, at in enumerate((0, week, 2 * week - 1), 1)]
    Path("long.swf").write_text("; MaxProcs: 4\n" + "".join(rows))
    words = ["simulate", "long.swf", "--policy", "fcfs+easy", "--resample", "1", "--json"]
    told = [
        json.loads(CliRunner().invoke(cli, [*words, "--draw", draw], catch_exceptions=False).output)
        for draw in ("weeks,block=2", "weeks, block=2")
    ]
    assert told[0] == told[1]
    assert len(told[0]["sha256_starts"]) == 64
    with pytest.raises(InputError, match="block=3: workload 'long' has 2 whole weeks"):
        CliRunner().invoke(cli, [*words, "--draw", "weeks,block=3"], catch_exceptions=False)


RAISES = '''
def oldest(submit, now):
    """Raises when it is called."""
    raise KeyError("no such\\ncolumn")
'''


def test_an_order_of_a_package_that_raises_is_one_sentence(
    said: Said, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the exception and the line, be it named by an entry point or by its module."""
    package = tmp_path / "site"
    folder = package / "plugin-1.0.dist-info"
    folder.mkdir(parents=True)
    (package / "order_that_raises.py").write_text(RAISES)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: plugin\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text("[schedfarm.orders]\nold = order_that_raises:oldest\n")
    monkeypatch.syspath_prepend(package)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    Path("a.swf").write_text(refusals.LOG)
    for order in ("old", "order_that_raises:oldest"):
        text = said("simulate", "a.swf", "--policy", f"{order}+easy")
        assert "order_that_raises.py, line 4, in oldest raised KeyError: 'no such" in text
        assert text.endswith("; mend it there")
