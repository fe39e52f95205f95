"""Every command and every Python block of the README runs, in order, in one folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.default_port import default_port
from tests.support.pages import ENDING, commands
from tests.support.paths import DOCS, ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
OF_ITS_STORE = {"comparisons": "compare.tex", "export": "spf.swf", "report": "page.html"}
"""Pages whose commands take the store of the README's campaign, and a file that each writes."""

SETS_UP = "python3 -m venv"
"""The two commands that set everything up are run by continuous integration itself."""


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.S)


@pytest.fixture(scope="module")
def folder(traces: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the campaign of the README and the log it names."""
    path = tmp_path_factory.mktemp("readme")
    (path / "kth.toml").write_text(blocks("toml")[0], encoding="utf-8")
    log = "KTH-SP2-1996-2.1-cln.swf.gz"
    (path / log).symlink_to(traces / log)
    return path


def run(folder: Path, *command: str) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with default_port():
        done = subprocess.run(
            command, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True
        )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_two_commands_do_all_the_set_up() -> None:
    """The first screen has exactly one command for the main job and one for the tests."""
    set_up = [b for b in blocks("sh") if SETS_UP in b]
    assert len(set_up) == 2
    assert all(len(b.splitlines()) == 1 for b in set_up)
    assert README.index(set_up[1]) < 2500


def test_links_lead_to_files() -> None:
    """Each link and picture that is no address is a file of the project."""
    links = re.findall(r"\]\((?!https?:)([^)#]+)", README)
    assert "docs/semantics.md" in links
    assert [link for link in links if not (ROOT / link).is_file()] == []


def test_commands_and_examples_run(folder: Path) -> None:
    """What the README shows is what happens, and its blocks agree with each other."""
    said, examples = [], []
    for block in blocks("sh"):
        if SETS_UP not in block:
            said.append(run(folder, "bash", "-ec", f"{ENDING}\n{block}"))
    for block in blocks("python"):
        examples.append(run(folder, sys.executable, "-W", "error", "-c", block))
    (table,) = blocks("text")
    assert table in said[1]
    assert numbers(table, 2, 4) == series(examples[0])
    assert (folder / "wait.png").stat().st_size > 10_000
    assert (folder / "on-cluster" / "figures" / "bands.png").exists()
    for page, written in OF_ITS_STORE.items():
        for command in commands(DOCS / f"{page}.md", folder):
            run(folder, *command)
        assert (folder / written).stat().st_size > 0


def numbers(table: str, median: int, log: int) -> list[tuple[str, int]]:
    """Policies and numbers of two columns of a printed table, the log's first."""
    rows = [re.split(" {2,}", line) for line in table.splitlines()[2:]]
    return [(row[0], int(row[at].replace(" ", ""))) for at in (log, median) for row in rows]


def series(text: str) -> list[tuple[str, int]]:
    """Policies and rounded numbers of what an example prints as pandas series."""
    return [(p, round(float(x))) for p, x in re.findall(r"^(\w+\+\S+) +([\d.]+)$", text, re.M)]
