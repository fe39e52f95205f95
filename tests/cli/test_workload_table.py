"""`farm traces info`: the workload table of one log and of several, as text, LaTeX and figures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from schedfarm.analysis.plots.kinds import JOBS, KINDS, STORE
from schedfarm.core import simulate, write_swf
from schedfarm.core.models import poisson
from tests.support.command_line import Farm
from tests.support.refusals import Said, unlike


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    jobs = poisson(64, jobs=60, seed=3, per_week=40, users=8)
    write_swf(jobs, "a.swf", simulate(jobs, "fcfs+easy"))
    write_swf(jobs, "bare.swf")


def test_one_log_has_the_table_below_its_description(farm: Farm) -> None:
    text = farm("traces", "info", "a.swf").stdout
    assert text.index("sha256 of columns") < text.index("workload table\n  processors ")
    facts = json.loads(farm("traces", "info", "a.swf", "--json").stdout)
    assert facts["table"]["jobs"] == facts["jobs"] == 60


def test_several_logs_are_columns(farm: Farm) -> None:
    done = farm("traces", "info", "a.swf", "bare.swf", "--latex", "t.tex")
    assert done.stdout.splitlines()[0].split() == ["a", "bare"]
    assert done.stdout.splitlines()[-1] == "table: t.tex"
    assert Path("t.tex").read_text().count(" & ") == 2 * Path("t.tex").read_text().count(r" \\")
    both = json.loads(farm("traces", "info", "a.swf", "bare.swf", "--json").stdout)
    assert [one["table"]["logged_utilisation"] is None for one in both] == [False, True]
    tex = farm("traces", "info", "a.swf", "--latex", "-")
    assert tex.stdout.startswith("\\begin{tabular}")
    assert "workload table" in tex.stderr


def test_figures_of_every_kind(farm: Farm) -> None:
    """Without waits only those of jobs, and a note for each other one."""
    farm("traces", "info", "a.swf", "--plots", "new/figures")
    kinds = [row.name for row in KINDS.values() if row.needs != STORE]
    names = {path.name for path in Path("new/figures").iterdir()}
    assert names == {f"a-{kind}.pdf" for kind in kinds}
    done = farm("traces", "info", "bare.swf", "--plots", "bare")
    names = {path.name for path in Path("bare").iterdir()}
    assert names == {f"bare-{kind}.pdf" for kind in kinds if KINDS[kind].needs == JOBS}
    assert "note: no gantt of bare, whose waits are unknown" in done.stderr


def test_what_is_refused(said: Said) -> None:
    Path("other").mkdir()
    Path("other/a.swf").write_bytes(Path("a.swf").read_bytes())
    rows = [
        (("a.swf", "--json", "--latex", "-"), ["both write to standard output"]),
        (("a.swf", "--plots", "a.swf"), ["--plots a.swf: cannot be created"]),
        (("a.swf", "other/a.swf"), ["logs a, a: two have the same name; rename one"]),
        (("a.swf", "--latex", "a.swf"), ["it is an input, and would be lost"]),
    ]
    assert unlike(rows, lambda words: said("traces", "info", *words)) == []
