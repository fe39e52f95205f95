"""A power failure loses what was not synced; the next run ends by itself with the right bytes.

`SCHEDFARM_CUTS=200` tries so many instead of 20.
"""

from __future__ import annotations

import os
import pickle
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import farm
from core.logs.swf import write_swf
from core.models.lublin import lublin
from farm.campaign.campaign import Campaign
from farm.campaign.trace import Trace
from farm.verify import Again, verify
from tests.farm.harness import ROOT, assert_same_results
from tests.farm.recorded import Step, cut

CUTS = int(os.environ.get("SCHEDFARM_CUTS", "20"))


@pytest.fixture(scope="module")
def campaigns(tmp_path_factory: pytest.TempPathFactory) -> list[Campaign]:
    """A campaign on a log, and what it grows to along every axis, and in what it asks."""
    log = tmp_path_factory.mktemp("log") / "small.swf"
    write_swf(lublin(32, weeks=2, seed=3, users=4), log)
    small = Campaign(
        name="power",
        traces=(Trace(name="m", file=str(log)),),
        policies=("fcfs+easy", "saf+easy"),
        loads=("original",),
        resamples=2,
        block_seconds=1e-6,
    )
    grown = replace(
        small,
        policies=("fcfs+easy", "saf+easy", "spf+easy"),
        loads=("original", "0.9"),
        resamples=3,
        fairness=("resource",),
    )
    return [small, grown]


@pytest.fixture(scope="module")
def recorded(
    campaigns: list[Campaign], tmp_path_factory: pytest.TempPathFactory
) -> tuple[list[Step], list[int]]:
    """What a run of either asked the file system, and where they ended."""
    folder = tmp_path_factory.mktemp("recorded")
    names = []
    for i, campaign in enumerate(campaigns):
        names.append(str(folder / f"{i}.toml"))
        Path(names[-1]).write_text(campaign.to_toml())
    (folder / "below").mkdir()
    words = [sys.executable, "-m", "tests.farm.recorded", str(folder / "below" / "s")]
    subprocess.run([*words, str(folder / "log"), *names], cwd=ROOT, check=True)
    steps, ends = pickle.loads((folder / "log").read_bytes())  # noqa: S301
    return [Step(*step) for step in steps], ends


@pytest.fixture(scope="module")
def whole(campaigns: list[Campaign], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """What they lead to undisturbed."""
    folder = tmp_path_factory.mktemp("whole")
    farm.run(campaigns[0], folder / "0")
    farm.run(campaigns[0], folder / "1")
    farm.run(campaigns[1], folder / "1")
    return [folder / "0", folder / "1"]


def test_the_record_is_whole(
    recorded: tuple[list[Step], list[int]], whole: list[Path], tmp_path: Path
) -> None:
    """Without a failure it gives the store that the run left, metadata and values alike."""
    steps, ends = recorded
    for number, (end, store) in enumerate(zip(ends, whole, strict=True)):
        everything = [*steps[:end], *_syncs(steps[:end])]
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


@pytest.mark.parametrize("number", range(CUTS))
def test_the_next_run_ends_with_the_right_bytes(
    recorded: tuple[list[Step], list[int]],
    whole: list[Path],
    campaigns: list[Campaign],
    tmp_path: Path,
    number: int,
) -> None:
    """Whenever the power fails, and whatever of what was not synced is left."""
    steps, ends = recorded
    draw = random.Random(number)
    at = draw.randrange(len(steps) + 1)
    cut(steps, at, tmp_path / "left", draw)
    which = 0 if at <= ends[0] else 1
    store = tmp_path / "left" / "s"
    farm.run(campaigns[which], store)
    assert list(verify(store, Again(0))) == []
    assert_same_results(store, whole[which])


def test_what_is_done_stays_done(
    recorded: tuple[list[Step], list[int]], whole: list[Path], tmp_path: Path
) -> None:
    """After a run has ended nothing is lost: not even the summary, for those who read at once."""
    steps, ends = recorded
    for number, end in enumerate(ends):
        for seed in range(3):
            left = tmp_path / f"{number}-{seed}"
            cut(steps, end, left, random.Random(seed))
            assert list(verify(left / "s", Again(0))) == []
            assert_same_results(left / "s", whole[number])
