"""A campaign with requested precision, whose three rounds end with whole blocks, and its values."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from schedfarm.core.format.names import ARRAYS, CHUNKS
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.precision import Precision
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.planning.cost import CELL_SECONDS

PRECISE = Campaign(
    name="precise",
    seed=3,
    traces=(Trace(name="m", model="lublin", processors=64, jobs=60),),
    policies=("fcfs+easy", "spf+easy"),
    loads=("0.9",),
    resamples=400,
    precision=(Precision(metric="wait", policy="spf+easy", relative=0.1215),),
    block_seconds=5 * CELL_SECONDS,
)


def with_relative(relative: float) -> Campaign:
    """Return the campaign with another request."""
    return replace(PRECISE, precision=(replace(PRECISE.precision[0], relative=relative),))


def values_of(store: Path) -> dict[str, bytes]:
    """Return the files of submissions and waits of a store in a folder."""
    found = {}
    for name in ("wait", "submit", "week_wait"):
        folder = store / ARRAYS / "m" / name
        for file in folder.rglob("*"):
            if file.is_file() and CHUNKS in file.parts:
                found[str(file.relative_to(store))] = file.read_bytes()
    return found
