"""`farm simulate` with an order or a rule of the user's own."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from tests.support import refusals
from tests.support.command_line import Farm
from tests.support.refusals import Said, unlike
from tests.support.swf_texts import row as swf_row

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


def starts(farm: Farm, *words: str) -> str:
    """Return the digest of a schedule."""
    digest: str = json.loads(farm("simulate", *words, "--json").stdout)["sha256_starts"]
    assert len(digest) == 64
    return digest


def test_a_module_in_the_current_folder_is_found(farm: Farm) -> None:
    """It need not be installed, nor on any path."""
    for own, ours in (("beside:shortest+easy", "spf+easy"), ("fcfs+beside:in_turn", "fcfs+none")):
        mine, known = (starts(farm, "log.swf", "--policy", policy) for policy in (own, ours))
        assert mine == known, own


def test_a_formula_is_an_order(farm: Farm) -> None:
    """In quotes; its mistakes are pointed at, below a copy of it."""
    mine, known = (
        starts(farm, "log.swf", "--policy", p) for p in ("(2*estimate)+easy", "spf+easy")
    )
    assert mine == known
    refused = farm("simulate", "log.swf", "--policy", "(2 * estimte)+easy", status=2)
    assert refused.stderr.endswith("\n  (2 * estimte)\n       ^\n")
    assert "character 6 of the order's expression: 'estimte' is not a known name" in refused.stderr


def test_schedules_with_resources_are_not_written_as_logs(said: Said) -> None:
    """A log without requests would read as a pool, whose audit refutes right waits."""
    for out in ("out.swf", "out.csv"):
        words = ("log.swf", "--policy", "fcfs+easy", "--resource", "gpus=4", "--out", out)
        assert "'resources'; run a campaign, and write its jobs with farm export as csv or" in said(
            "simulate", *words
        )
        assert not Path(out).exists()


def test_partitions_are_those_of_a_file(farm: Farm, said: Said) -> None:
    """By number in SWF; a mistake names the file."""
    rows = (f"{k} 0 -1 9 2{10 * ' -1'} {k % 2} -1 -1\n" for k in range(1, 5))
    Path("parts.swf").write_text("; MaxProcs: 4\n" + "".join(rows))
    words = ("parts.swf", "--policy", "fcfs+aggressive")
    given = (*words, "--partitions", "given.toml")
    Path("given.toml").write_text('[regions]\n"0,1" = 4\n')
    assert starts(farm, *given) == starts(farm, *words)
    Path("given.toml").write_text('cpus = 1\n[nodes]\n0 = "n[1-2]"\n1 = "n[3-4]"\n')
    # Two jobs of each partition, one after the other, as two by two on the pool.
    assert starts(farm, *given) == starts(farm, *words)
    Path("given.toml").write_text("[regions]\n0 = 1\n1 = 2\n")
    told = json.loads(farm("simulate", *given, "--json").stdout)
    assert (told["processors"], told["dropped"]) == (3, {"larger than their partition": 2})
    Path("given.toml").write_text("[regions]\nother = 4\n")
    assert "'0', which is not declared" in said("simulate", *given)
    Path("given.toml").write_text("[region]\nother = 4\n")
    assert "given.toml: partitions: unknown key 'region'" in said("simulate", *given)


def test_hosts_are_those_of_a_file(farm: Farm, said: Said) -> None:
    """Two jobs of 3 processors find 4 on one host each; a mistake names the file."""
    rows = (f"{k} 0 -1 9 3{10 * ' -1'} -1 -1 -1\n" for k in range(1, 5))
    Path("wide.swf").write_text("; MaxProcs: 16\n" + "".join(rows))
    words = ("wide.swf", "--policy", "fcfs+easy")

    def mean_wait(*words: str) -> float:
        return float(json.loads(farm("simulate", *words, "--json").stdout)["metrics"]["wait"])

    given = (*words, "--hosts", "given.toml")
    Path("given.toml").write_text("groups = [{count = 2, processors = 4}]\n")
    assert mean_wait(*words) == 0
    assert mean_wait(*given) == (0 + 0 + 9 + 9) / 4
    Path("given.toml").write_text("groups = [{count = 3, processors = 1}]\nexclusive = true\n")
    assert mean_wait(*given) == (0 + 9 + 18 + 27) / 4
    Path("given.toml").write_text("groups = [{count = 2, processors = 1}]\n")
    assert "rows dropped: 4 too wide" in said("simulate", *given)
    Path("given.toml").write_text("group = []\n")
    assert "given.toml: hosts: unknown key 'group'; did you mean 'groups'" in said(
        "simulate", *given
    )
    Path("given.toml").write_text("groups = [{count = 2, processors = 4}]\n")
    assert "'hosts' is the whole machine; give it or 'processors', not both" in said(
        "simulate", *given, "--processors", "8"
    )


def test_a_misspelt_name_is_one_sentence(said: Said) -> None:
    """Of a function, a module or a rule."""
    rows = [
        ("beside:shortst+easy", ["beside:shortst"]),
        ("absent:order+easy", ["'absent'"]),
        ("fcfs+beside:no", ["beside:no"]),
    ]
    assert unlike(rows, lambda policy: said("simulate", "log.swf", "--policy", policy)) == []


def test_a_draw_may_have_options(farm: Farm, said: Said) -> None:
    """A cell of a campaign whose draw has them can be had again; their bounds are named."""
    week = 604_800
    rows = [f"{j} {at} -1 30 4{13 * ' -1'}\n" for j, at in enumerate((0, week, 2 * week - 1), 1)]
    Path("long.swf").write_text("; MaxProcs: 4\n" + "".join(rows))
    words = ("long.swf", "--policy", "fcfs+easy", "--resample", "1", "--draw")
    assert starts(farm, *words, "weeks,block=2") == starts(farm, *words, "weeks, block=2")
    refused = said("simulate", *words, "weeks,block=3")
    assert "block=3: workload 'long' has 2 whole weeks" in refused


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
        text = said("simulate", "a.swf", "--policy", f"{order}+easy", "--quiet")
        assert "order_that_raises.py, line 4, in oldest raised KeyError: 'no such" in text
        assert text.endswith("; correct it there")


@pytest.mark.parametrize("more", [(), ("--all",)])
def test_what_is_printed_fits_a_terminal(farm: Farm, tmp_path: Path, more: tuple[str, ...]) -> None:
    """80 letters, with the log's own waits beside, and numbers aligned at their ends."""
    log = tmp_path / "logged.swf"
    log.write_text(
        "; MaxProcs: 8\n"
        + "".join(refusals.ROW.format(k, 9 * k) for k in range(1, 40)).replace(
            " -1 10 2 ", " 70 10 2 ", 39
        )
    )
    lines = farm("simulate", log, "--policy", "easy", *more).stdout.splitlines()
    assert max(map(len, lines)) <= 80
    (head,) = [line for line in lines if line.endswith("as logged")]
    rows = [line for line in lines if re.search(r"  [\d.]+$", line)]
    assert {len(line) for line in rows} == {len(head)} == {80}
    assert any(line.startswith("  mean wait, s ") for line in rows)


def test_errors_beside_the_log(farm: Farm, tmp_path: Path) -> None:
    """Three jobs of 4 processors on 4 wait 0, 10 and 20 s, and 5, 10 and 60 s in the log."""
    rows = [
        swf_row(k + 1, wait=wait, procs=4, user=7 + k % 2) for k, wait in enumerate((5, 10, 60))
    ]
    path = tmp_path / "told.swf"
    path.write_text("; MaxProcs: 4\n" + "\n".join([*rows, swf_row(4, 99, procs=1, wait=0)]) + "\n")
    facts = json.loads(farm("simulate", path, "--policy", "fcfs+none", "--json").stdout)
    assert facts["wait_errors"] == {
        "mean_error": -11.25,
        "mean_absolute_error": 11.25,
        "absolute_error_p50": 2.5,
        "absolute_error_p90": pytest.approx(29.5),
    }
    assert facts["waits_by"]["width"] == [
        {"name": "1", "jobs": 1, "simulated": 0, "logged": 0, "mean_absolute_error": 0},
        {"name": "3-4", "jobs": 3, "simulated": 10, "logged": 25, "mean_absolute_error": 15},
    ]
    assert [group["jobs"] for group in facts["waits_by"]["user"]] == [2, 1, 1]
    assert facts["waits_by"]["partition"] == []
    assert facts["as_logged"]["backfilled"] is None
    text = farm("simulate", path, "--policy", "fcfs+none").stdout
    assert re.search(r"^  number of jobs backfilled +0 +-$", text, re.M)
    assert re.search(r"^  mean absolute error, s +11\.25$", text, re.M)
    assert re.search(r"^  width 3-4, 3 jobs: mean wait, s +10 +25$", text, re.M)


def test_no_errors_where_the_log_does_not_know_the_waits(farm: Farm, tmp_path: Path) -> None:
    """One of two jobs is not enough."""
    path = tmp_path / "half.swf"
    path.write_text(f"; MaxProcs: 4\n{swf_row(1, wait=5)}\n{swf_row(2)}\n")
    facts = json.loads(farm("simulate", path, "--policy", "fcfs+none", "--json").stdout)
    assert facts["as_logged"] is facts["wait_errors"] is facts["waits_by"] is None
    assert "its wait in the log" not in farm("simulate", path, "--policy", "fcfs+none").stdout
