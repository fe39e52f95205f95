"""Every command and every Python block of the README runs, in order, in one folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
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
    """What the README shows is what happens."""
    for block in blocks("sh"):
        if SETS_UP not in block:
            run(folder, "bash", "-ec", f"trap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n{block}")
    for block in blocks("python"):
        run(folder, sys.executable, "-W", "error", "-c", block)
    assert (folder / "wait.png").stat().st_size > 10_000
    assert (folder / "on-cluster" / "figures" / "bands.png").exists()
