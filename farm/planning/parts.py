"""Parts of a campaign: shares of its blocks for processes without a coordinator."""

from __future__ import annotations

import heapq
import math
import re
from collections import defaultdict
from dataclasses import dataclass

from schedfarm.core.errors import InputError
from schedfarm.core.format.geometry import Block
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.planning.backlog import WRITE_SECONDS
from schedfarm.farm.planning.tasks import block_costs, plan
from schedfarm.farm.store.store import Store

MOST = 100_000
"""Largest number of parts of a campaign; batch systems allow arrays of some thousand jobs."""

_TEXT = re.compile(r"(\d{1,9})/(\d{1,9})", re.ASCII)


@dataclass(frozen=True)
class Part:
    """Identify one of several parts, numbered from 1.

    Examples
    --------
    >>> part = Part.parse("7/200")
    >>> str(part), part.name
    ('7/200', '7-of-200')
    """

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Part:
        """Parse K/N; the `InputError` for wrong numbers names the valid ones."""
        found = _TEXT.fullmatch(text)
        if found is None:
            raise InputError(f"--part {text}: give its number and their count, such as 7/200")
        number, of = map(int, found.groups())
        if not 1 <= of <= MOST:
            raise InputError(f"--part {text}: there are 1 to {MOST:,} parts, such as 7/200")
        if not 1 <= number <= of:
            raise InputError(f"--part {text}: parts are numbered 1 to {of}")
        return cls(number, of)

    @property
    def name(self) -> str:
        """Name of the part's lock."""
        return f"{self.number}-of-{self.of}"

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def check_parts(campaign: Campaign, option: str) -> None:
    """Refuse parts of a campaign with requested precision: one process must decide on rounds."""
    if campaign.precision:
        raise InputError(
            f"{option}: campaign {campaign.name!r} requests precision, whose rounds are judged by "
            "one process; leave the option out, or precision"
        )


def shares(store: Store, campaign: Campaign, of: int) -> dict[int, list[Block]]:
    """Return the blocks of each part, numbered from 1; parts have about equal planned time.

    The shares depend only on campaign and store, not on the finished blocks, so that parts that
    begin at different times do not overlap.
    """
    tasks = plan(store, campaign, store.blocks())
    batches = [batch for task in tasks for batch in task.batches]
    costs = block_costs(store, (block for batch in batches for block in batch))
    weights = [
        (len(batch) * WRITE_SECONDS + math.fsum(costs[block] for block in batch), batch)
        for batch in batches
    ]
    # The longest batch goes to the part with least work, so that no part is empty while another has
    # two batches.
    weights.sort(key=lambda one: -one[0])
    found: dict[int, list[Block]] = defaultdict(list)
    loads = [(0.0, number) for number in range(1, of + 1)]
    for weight, batch in weights:
        load, number = loads[0]
        found[number] += batch
        heapq.heapreplace(loads, (load + weight, number))
    return found
