"""Messages of a run under --quiet."""

from __future__ import annotations

import io

from schedfarm.farm.watching.events import Lost, Said
from schedfarm.farm.watching.progress import Quiet


def test_progress_is_left_out() -> None:
    """Losses and other messages are printed, rounds are not."""
    stream = io.StringIO()
    quiet = Quiet(stream)
    for event in (
        Said(text="round 1", progress=True),
        Said(text="a block is computed again"),
        Lost(cells=1, why="no memory"),
    ):
        quiet.see(event)
    assert stream.getvalue() == "a block is computed again\n1 cell lost: no memory\n"
