"""The pictures of the pages show what the simulator does."""

from __future__ import annotations

from pathlib import Path

from schedfarm.core import simulate
from tests.docs.pictures import JOBS, NAMES, NOW, SHADOW, SHELVED, SHELVES, easy, shelves
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


def test_the_picture_of_shelves_shows_a_simulated_plan(tmp_path: Path) -> None:
    """The starts are worked out by hand from the shelves: with F before G they would be others."""
    starts = (simulate(SHELVED, "fcfs+demt").start // 60).tolist()
    assert starts == [0, 0, 10, 15, 40, 40, 15]
    assert simulate(SHELVED, "fcfs+conservative").start.tolist() != [60 * start for start in starts]
    procs = dict(zip("ABCDEFG", SHELVED.procs.tolist(), strict=True))
    assert all(sum(procs[name] for name in names) <= 8 for names in SHELVES.values())
    shelves().savefig(tmp_path / "shelves.png", metadata={"Software": None})
    kept = DOCS / "figures" / "shelves.png"
    assert (tmp_path / "shelves.png").read_bytes()[:24] == kept.read_bytes()[:24]
    assert kept.stat().st_size < 50_000
    assert "](figures/shelves.png)" in (DOCS / "semantics.md").read_text(encoding="utf-8")
