"""Errors of calibrated sites whose jobs need room on nodes: as one pool, and as hosts.

    python -m tests.benchmarks.site_hosts --seeds 5
    python -m tests.benchmarks.site_hosts --seeds 5 --exclusive

A site is that of `farm site --example`, except that its jobs need room on nodes, several of them on
one, or each on nodes of its own. It has as much work as nodes have time for 75 % of it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from schedfarm.farm.cli.site import LIMITS, OUTAGES
from schedfarm.farm.site.calibration import fit, period_of
from schedfarm.farm.site.example import Truth, write_dump
from schedfarm.farm.site.judgement import judge
from schedfarm.farm.site.model import read_site

LOAD = {False: 0.75, True: 0.54}
"""Offered load by whether nodes are exclusive, when 28 % of their processors are idle."""


def lines(seed: int, *, exclusive: bool) -> Iterator[str]:
    """Yield the fitted capacity, the error and the agreement of each machine of a site."""
    truth = Truth(
        seed=seed, load=LOAD[exclusive], outages=OUTAGES, limits=LIMITS, placed=True,
        exclusive=exclusive,
    )  # fmt: skip
    with TemporaryDirectory() as folder:
        write_dump(Path(folder), truth)
        for name, hosts in (("pool", False), ("hosts", True)):
            site = read_site(Path(folder), hosts=hosts)
            period = period_of(site)
            found = fit(site, period)
            judged = judge(site, found.setting, period)
            error = judged.error
            yield (
                f"{seed} {name}: {found.setting.processors} processors, error {error.value:.3f} "
                f"({error.low:.3f} to {error.high:.3f}), agreement {judged.agreement.value:.3f}, "
                f"bias {judged.groups[0].bias.value:.3f}"
            )


def main() -> None:
    """Print as the command line says."""
    parser = argparse.ArgumentParser(
        description=str(__doc__), formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--exclusive", action="store_true", help="a node runs one job at a time")
    asked = parser.parse_args()
    for seed in range(asked.first, asked.first + asked.seeds):
        for line in lines(seed, exclusive=asked.exclusive):
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
