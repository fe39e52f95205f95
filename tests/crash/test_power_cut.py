"""What a power failure cannot take: everything, once a run has ended."""

from __future__ import annotations

import random
from pathlib import Path

from schedfarm.farm.verify import Again, verify
from tests.crash.stages import Recording
from tests.support.harness import assert_same_results
from tests.support.recorded import Step, cut


def test_the_record_is_whole(recording: Recording, tmp_path: Path) -> None:
    """Without a failure it gives the store that the run left, metadata and values alike."""
    for number, (end, store) in enumerate(zip(recording.ends, recording.stores, strict=True)):
        steps = recording.steps[:end]
        everything = [*steps, *_syncs(steps)]
        cut(everything, len(everything), tmp_path / str(number), random.Random(0))
        made = tmp_path / str(number) / "s"
        assert list(verify(made, Again(0))) == []
        assert_same_results(made, store)


def _syncs(steps: list[Step]) -> list[Step]:
    """Sync all that is there at the end."""
    there = {""}
    for step in steps:
        if step.what in ("create", "mkdir"):
            there.add(step.path)
        elif step.what == "remove":
            there.discard(step.path)
        elif step.what == "rename":
            there.discard(step.path)
            there.add(step.more)
    return [Step("sync", path) for path in sorted(there, reverse=True)]


def test_completed_work_stays(recording: Recording, tmp_path: Path) -> None:
    """After a run has ended nothing is lost: not even the summary, for those who read at once."""
    for number, (end, store) in enumerate(zip(recording.ends, recording.stores, strict=True)):
        for seed in range(3):
            left = tmp_path / f"{number}-{seed}"
            cut(recording.steps, end, left, random.Random(seed))
            assert list(verify(left / "s", Again(0))) == []
            assert_same_results(left / "s", store)
