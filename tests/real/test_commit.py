"""The commit of a checkout, by git itself."""

from __future__ import annotations

import subprocess
from pathlib import Path

from schedfarm.farm.store import provenance


def test_commit__is_that_of_the_checkout(tmp_path: Path) -> None:
    """It says so where files have been edited since; what is no checkout has none of its own."""
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b.c"]
    assert provenance.commit(tmp_path / "nothing") == provenance.commit(tmp_path)
    (tmp_path / "f").write_text("1")
    for step in (["init", "-q"], ["add", "f"], ["commit", "-q", "-m", "x"]):
        subprocess.run([*git, *step], check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    assert provenance.commit(tmp_path) == head.stdout.strip()
    (tmp_path / "f").write_text("2")
    assert provenance.commit(tmp_path) == head.stdout.strip() + "+changes"
