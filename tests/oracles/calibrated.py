"""Generated sites with known parameters: how often the interval of the fit contains them.

Each site has a random capacity, half-life and weight of fair share. Its log is exported as the dump
of a Slurm site, without the half-life and with another weight, and calibrated. A site whose jobs
start in a random order must be reported as not matched.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from schedfarm.core.policy.multifactor import Multifactor
from schedfarm.farm.site.calibration import Fit, fit, period_of
from schedfarm.farm.site.example import Truth, write_dump
from schedfarm.farm.site.judgement import Judgement, judge
from schedfarm.farm.site.model import read_site
from schedfarm.farm.site.parameters import start

NAMES = ("processors", "halflife", "fairshare")
"""Parameters that are fitted together."""

RANDOM = "((procs * 7919 + submit * 7901) - floor((procs * 7919 + submit * 7901) / 10007) * 10007)"
"""Order by a number that depends on nothing that a scheduler knows."""

UNOFFERED = {
    "random": f"{RANDOM}+slurm,bf_max_job_test=50",
    "shortest first": "(estimate)+slurm,bf_max_job_test=50",
}
"""Policies that slurm.conf of a generated site does not describe."""


@dataclass(frozen=True)
class Known:
    """Hold a site's parameters by name, and what calibration made of its dump."""

    values: dict[str, int]
    fit: Fit

    @property
    def held(self) -> dict[str, bool]:
        """Whether each interval contains the true value."""
        found = self.fit.parameters
        return {name: found[name].low <= self.values[name] <= found[name].high for name in NAMES}


def known_site(seed: int, jobs: int = 8000) -> Known:
    """Simulate a site of a seed, dump it, and calibrate the dump."""
    random = np.random.default_rng(seed)
    order = Multifactor(
        age=1000,
        fairshare=int(10_000 * np.exp(random.uniform(-1, 1))),
        size=300,
        qos=2000,
        partition=500,
        halflife=int(np.exp(random.uniform(0, np.log(30))) * 24) * 3600,
    )
    truth = Truth(
        jobs=jobs, weeks=jobs / 670, nodes=24, load=0.7, seed=seed, order=order,
        usable=float(random.uniform(0.8, 0.98)),
    )  # fmt: skip
    with TemporaryDirectory() as folder:
        path = Path(folder)
        write_dump(path, truth, hidden=("PriorityDecayHalfLife", "PriorityWeightFairshare"))
        with (path / "slurm.conf").open("a") as conf:
            conf.write("PriorityWeightFairshare=10000\n")
        site = read_site(path)
        found = fit(site, period_of(site), NAMES, seed=seed)
    values = {
        "processors": truth.processors, "halflife": order.halflife, "fairshare": order.fairshare,
    }  # fmt: skip
    return Known(values, found)


def judged(policy: str, seed: int, jobs: int = 8000) -> Judgement:
    """Calibrate and judge a site that follows a policy, or its slurm.conf if that is empty."""
    truth = Truth(jobs=jobs, weeks=jobs / 500, nodes=24, load=0.7, seed=seed, policy=policy)
    with TemporaryDirectory() as folder:
        write_dump(Path(folder), truth)
        site = read_site(Path(folder))
        period = period_of(site)
        return judge(site, fit(site, period, seed=seed).setting, period)


def with_cancelled(seeds: int) -> Iterator[str]:
    """Yield the bias and error of sites at their capacity, without and with cancelled jobs."""
    limits = {"low": {"GrpTRES": "cpu=160"}, "high": {"MaxJobsPU": "8"}}
    for seed in range(1, seeds + 1):
        truth = Truth(seed=seed, outages=0.04, limits=limits, impatient=0.3)
        with TemporaryDirectory() as folder:
            schedule = write_dump(Path(folder), truth)
            said = f"{seed}: {int((schedule.start < 0).sum())} jobs cancelled"
            for how in ("drop", "queue"):
                site = read_site(Path(folder), processors=truth.processors, cancelled=how)
                found = judge(site, start(site), period_of(site))
                said += f"; {how}: bias {found.groups[0].bias.value:.3f}"
                said += f", error {found.error.value:.3f}"
        yield said


def lines(seeds: int) -> Iterator[str]:
    """Yield a line for each site, and the counts."""
    held = dict.fromkeys(NAMES, 0)
    for seed in range(1, seeds + 1):
        known = known_site(seed)
        for name, one in known.fit.parameters.items():
            held[name] += known.held[name]
            said = "" if known.held[name] else "  MISSED"
            found = f"{one.value} ({one.low} to {one.high})"
            yield f"{seed} {name}: {known.values[name]}, fitted {found}{said}"
    yield f"intervals that contain the truth, of {seeds}: {held}"
    for kind, policy in {"as configured": "", **UNOFFERED}.items():
        found = [judged(policy, seed) for seed in range(1, max(2, seeds // 4))]
        errors = ", ".join(f"{one.error.value:.2f}/{one.agreement.value:.2f}" for one in found)
        yield f"{kind}: matched {sum(one.matched for one in found)} of {len(found)}: {errors}"


def main() -> None:
    """Print as the command line says."""
    parser = argparse.ArgumentParser(
        description=str(__doc__), formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--cancelled", action="store_true", help="compare --cancelled instead")
    asked = parser.parse_args()
    for line in (with_cancelled if asked.cancelled else lines)(asked.seeds):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
