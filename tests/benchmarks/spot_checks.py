"""CPU time of a run by the share of cells that a second worker simulates; run by hand.

python -m tests.benchmarks.spot_checks [--cells 1200] [--repeat 3]
"""

from __future__ import annotations

import argparse
import resource
import tempfile
from pathlib import Path
from statistics import median

import click

from schedfarm import farm
from schedfarm.cluster import connect
from schedfarm.farm.campaign.campaign import Campaign

SHARES = (0.0, 0.001, 0.1, 0.5)

CAMPAIGN = """
name = "spot-checks"
seed = 1
keep = "summary"
resamples = {resamples}
loads = [0.7, 0.9]
policies = ["fcfs+conservative", "saf+conservative"]

[[traces]]
name = "lublin"
model = "lublin"
processors = 128
jobs = 3300
"""


def used() -> float:
    """Return the CPU time of this process and of its children that have ended, s."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in both)


def spent(campaign: Campaign, share: float) -> tuple[float, int]:
    """Run a campaign in an empty store; return its CPU time, s, and the number of spot checks."""
    begin = used()
    with tempfile.TemporaryDirectory() as folder, connect("local") as client:
        outcome = farm.run(campaign, Path(folder) / "s", client, spot_checks=share)
    return used() - begin, outcome.compared


def main() -> None:
    """Print the median CPU time for each share, and its ratio to no spot checks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=1200)
    parser.add_argument("--repeat", type=int, default=3)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "c.toml"
        path.write_text(CAMPAIGN.format(resamples=asked.cells // 4))
        campaign = Campaign.from_toml(path)
    rounds = [[spent(campaign, share) for share in SHARES] for _ in range(asked.repeat)]
    for share, found in zip(SHARES, zip(*rounds, strict=True), strict=True):
        cpu = median(one for one, _ in found)
        ratio = median(one[0] / first[0][0] for one, first in zip(found, rounds, strict=True))
        counts = sorted({count for _, count in found})
        click.echo(f"share {share}: {counts} spot checks, CPU {cpu:.1f} s, ratio {ratio:.3f}")


if __name__ == "__main__":
    main()
