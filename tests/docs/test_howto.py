"""Every block of the pages runs, in order, in a folder of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from schedfarm.analysis.plots.kinds import KINDS
from schedfarm.core import Workload, read_log
from tests.support.default_port import default_port
from tests.support.pages import BLOCK, commands
from tests.support.paths import DOCS
from tests.support.seaweed import BUCKET, Seaweed, use

PAGES = DOCS / "howto"
KTH = "KTH-SP2-1996-2.1-cln.swf.gz"

ANSWERS = {
    "log-to-answer": "spf+easy,threshold=3x: mean wait",
    "slurm-log": "spf+easy,threshold=3x instead of fcfs+easy",
    "own-order": "mine:per_area+easy",
    "custom-rule": "free processors after the pass: 0",
    "search": "found: (procs**",
    "shared-machine": "0 failed",
    "job-arrays": "no block is missing, and the summary is complete",
    "object-store": "quickstart.farm is sound",
    "simulate-in-python": "3 saf+easy wait",
    "learning": "learned",
    "predictor": "fcfs+easy,predict=mine:Tree,correct=estimate",
    "../plots": "figure: heatmap.png",
    "../tutorial": "spf+easy: mean wait 35 % shorter than fcfs+easy, over 2 loads (31 to 40 %",
    "larger-machine": "processors=120: mean wait",
    "site": "processors=518: mean wait",
    "why-a-job-waited": "4 343 s (1 h 12 min) earlier: job 7831 (64 processors)",
    "../campaigns": "fcfs+mine:one_by_one",
    "../logs": "Name: user_nuwt",
    "../oar": "refused",
    "../offline": "shelves",
    "../site": "multifactor(",
}
"""What each page comes to."""

SACCT = """\
#!{python}
import pathlib, sys
asked = next(a for a in sys.argv if a.startswith("--format=")).partition("=")[2].split(",")
head, *rows = pathlib.Path({dump!r}).read_text().splitlines()
places = [head.split("|").index(name) for name in asked]
for row in (head, *rows):
    print("|".join(row.split("|")[place] for place in places))
"""
"""Stands for Slurm's command, of which these machines have no year of accounting."""


def stamp(seconds: int) -> str:
    from datetime import datetime, timedelta

    return (datetime(2024, 1, 1) + timedelta(seconds=seconds)).isoformat()


def span(seconds: int) -> str:
    days, rest = divmod(seconds, 86_400)
    return f"{days}-{rest // 3600:02}:{rest % 3600 // 60:02}:{rest % 60:02}"


def dump(jobs: Workload) -> str:
    """Write jobs as sacct does, each started at once."""
    lines = [
        "JobID|JobIDRaw|User|Submit|Start|End|Elapsed|Timelimit|ReqCPUS|AllocCPUS|State|Eligible"
        "|Partition|QOS|Account|NNodes|Group|ReqTRES|AllocTRES|ReqMem|Priority|Reason|Reservation"
        "|Restarts"
    ]
    for i in range(len(jobs)):
        submit, run = stamp(int(jobs.submit[i])), int(jobs.run[i])
        end, procs = stamp(int(jobs.submit[i]) + run), jobs.procs[i]
        lines.append(
            f"{i + 1}|{i + 1}|u{jobs.user[i]}|{submit}|{submit}|{end}|{span(run)}"
            f"|{span(int(jobs.estimate[i]))}|{procs}|{procs}|COMPLETED|{submit}|batch|normal|lab|1|g|||||||"
        )
    return "\n".join(lines) + "\n"


def with_accounts(accounting: str) -> str:
    """Give the jobs of a dump the accounts, user, QOS and partition that a page's file names."""
    first, *rest = accounting.splitlines()
    columns, changed = first.split("|"), []
    for k, line in enumerate(rest):
        row = dict(zip(columns, line.split("|"), strict=True))
        row["Account"] = "optics" if k % 3 else "physics"
        if row["Account"] == "optics" and row["User"] == "u1":
            row["User"] = "ann"
        if k % 7 == 0:
            row |= {"QOS": "high", "Partition": "debug"}
        changed.append("|".join(row.values()))
    return "\n".join([first, *changed]) + "\n"


@pytest.fixture
def folder(traces: Path, tmp_path: Path) -> Path:
    """Give a log, and a machine whose Slurm has run its jobs."""
    (tmp_path / KTH).symlink_to(traces / KTH)
    accounting = dump(read_log(traces / KTH, jobs=12_000))
    (tmp_path / "slurm.txt").write_text(accounting)
    # A reference page uses a dump before it shows the command that prints one.
    (tmp_path / "half-year.sacct").write_text(with_accounts(accounting))
    command = tmp_path / "bin" / "sacct"
    command.parent.mkdir()
    command.write_text(SACCT.format(python=sys.executable, dump=str(tmp_path / "slurm.txt")))
    command.chmod(0o755)
    return tmp_path


@pytest.fixture
def bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Give an S3 server to who has no other."""
    server = Seaweed(tmp_path / "server")
    server.start()
    use(server, monkeypatch)
    monkeypatch.setenv("BUCKET", BUCKET)
    yield
    server.kill()


def test_what_is_shown_of_a_bucket_runs(folder: Path, traces: Path, bucket: None) -> None:
    test_what_a_page_shows_runs(folder, traces, "object-store")


@pytest.mark.parametrize("page", [page for page in ANSWERS if page != "object-store"])
def test_what_a_page_shows_runs(folder: Path, traces: Path, page: str) -> None:
    """A block with a file's name before it is that file; others are run."""
    if page == "predictor":
        pytest.importorskip("sklearn")
    own = [str(folder / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
    environment = {**os.environ, "PATH": os.pathsep.join(own), "SCHEDFARM_TRACES": str(traces)}
    said = []
    for command in commands(PAGES / f"{page}.md", folder):
        with default_port():
            done = subprocess.run(
                command, cwd=folder, env=environment, capture_output=True, text=True
            )
        assert done.returncode == 0, command[-1] + done.stdout + done.stderr
        said.append(done.stdout)
        assert "is not encrypted" not in done.stderr or page != "shared-machine"
    assert ANSWERS[page] in "".join(said)


def test_every_kind_of_picture_is_shown() -> None:
    """A section each, with the command that draws the figure."""
    text = (DOCS / "plots.md").read_text(encoding="utf-8")
    for kind in KINDS:
        assert f"\n### {kind}\n\n```sh\nfarm plot {kind} " in text
        assert f"](figures/{kind}.png)" in text
        assert f"--out {kind}.png\n" in text
        assert (DOCS / "figures" / f"{kind}.png").stat().st_size < 100_000


def test_every_page_is_tried() -> None:
    """That of a batch system is tried where there is one, in tests/real/test_slurm.py.

    That of network file systems shows no command.
    """
    assert not BLOCK.search((PAGES / "network-file-systems.md").read_text(encoding="utf-8"))
    assert sorted(path.stem for path in PAGES.glob("*.md")) == [
        "custom-rule",
        "job-arrays", "larger-machine", "learning", "log-to-answer", "network-file-systems",
        "object-store", "own-order", "predictor", "search", "shared-machine", "simulate-in-python",
        "site", "slurm", "slurm-log", "why-a-job-waited",
    ]  # fmt: skip
