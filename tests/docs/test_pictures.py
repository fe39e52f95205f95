"""The pictures of the pages show what the simulator does."""

from __future__ import annotations

from pathlib import Path

from schedfarm.core import simulate
from tests.docs.pictures import JOBS, NAMES, NOW, SHADOW, easy
from tests.support.paths import DOCS


def test_the_picture_of_easy_shows_a_simulated_pass(tmp_path: Path) -> None:
    """As the text next to it says: D and E are backfilled, F is not, and C starts as reserved."""
    starts = dict(zip(NAMES, simulate(JOBS, "fcfs+easy").start.tolist(), strict=True))
    assert starts == {"A": 0, "B": 0, "C": SHADOW, "D": 2, "E": NOW, "F": 10}
    easy().savefig(tmp_path / "easy.png", metadata={"Software": None})
    kept = DOCS / "figures" / "easy.png"
    assert (tmp_path / "easy.png").read_bytes()[:24] == kept.read_bytes()[:24]
    assert kept.stat().st_size < 50_000
    assert "](figures/easy.png)" in (DOCS / "semantics.md").read_text(encoding="utf-8")
