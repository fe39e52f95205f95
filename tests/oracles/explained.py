"""Check the sets of jobs that explanations name, on random small workloads.

    python -m tests.oracles.explained [PLATFORM ...] --cases 2000 --seed 1

For every job that waits, the reported set lets it start earlier, by kernel and reference; no
smaller set of any other jobs does, up to three, and no part of a larger one. The cases of a
platform are shared out among its rules; --golden checks the golden instances instead, of at most so
many jobs. Prints the smallest case that fails, and then exits with 1.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, combinations, product

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings

from schedfarm.core.engine.simulate import simulate
from schedfarm.core.explanation import explain
from schedfarm.core.policy.policy import Policy
from schedfarm.core.reference.loop import simulate_reference
from schedfarm.core.workload.workload import Workload
from tests.oracles.programs import described
from tests.support.golden import ORDERS, RULES as GOLDEN_RULES, micro, policy_of
from tests.support.strategies import RULES, is_close_call, simulations

LARGEST = 3
"""Size up to which all sets are tried here."""

WIDE = 16
"""Size above which not all parts of a set are tried."""

PLATFORMS = ("pool", "grid", "nodes")


def start_without(
    work: Workload, policy: Policy, job: int, removed: Iterable[int], program: object = simulate
) -> int:
    """Return when a job starts in the workload without some others."""
    kept = np.ones(len(work), np.bool_)
    kept[list(removed)] = False
    found = program(work.take(kept), policy)  # type: ignore[operator]
    return int(found.start[np.count_nonzero(kept[:job])])


def _label(size: int) -> str:
    """Return how a set of a size is labelled after a search without limit."""
    if size <= LARGEST + 1:
        return "smallest"
    return "minimal" if size <= WIDE else "reduced"


def sets_to_exclude(jobs: tuple[int, ...], others: list[int]) -> Iterator[tuple[int, ...]]:
    """Yield the sets that must not have the effect of one that is reported; empty for none."""
    most = min(len(jobs) - 1, LARGEST) if jobs else LARGEST
    smaller = (combinations(others, size) for size in range(1, most + 1))
    first = LARGEST + 1 if len(jobs) <= WIDE else len(jobs) - 1
    parts = (combinations(jobs, size) for size in range(first, len(jobs)))
    return chain.from_iterable(chain(smaller, parts))


def check(work: Workload, policy: Policy, seen: Counter[str] | None = None) -> None:
    """Assert everything about the set of every waiting job."""
    schedule = simulate(work, policy)
    if is_close_call(simulate_reference(work, policy), policy):
        return
    for job in np.flatnonzero(schedule.wait > 0).tolist():
        where = f"{policy.name}\n{described(work)}\njob {job}"
        found = explain(schedule, job, effort=math.inf)
        cause, start = found.cause, int(schedule.start[job])
        assert cause is not None, where
        others = [one for one in range(len(work)) if one != job]
        if cause.jobs:
            assert cause.kind == _label(len(cause.jobs)), where
            assert (start if cause.start is None else cause.start) < start, where
            for program in (simulate, simulate_reference):
                assert start_without(work, policy, job, cause.jobs, program) == cause.start, where
        else:
            assert cause.kind == "none", where
            assert start_without(work, policy, job, others) >= start, where
        for some in sets_to_exclude(cause.jobs, others):
            assert start_without(work, policy, job, some) >= start, f"{where}: {some}"
        if seen is not None:
            seen[f"{cause.kind} {len(cause.jobs)}"] += 1


def failures(platform: str, cases: int, first: int, seen: Counter[str]) -> Iterator[str]:
    """Yield the smallest failure of each rule of a platform for which one is found."""
    for rule in RULES[platform]:
        many = settings(
            max_examples=-(-cases // len(RULES[platform])),
            deadline=None,
            derandomize=False,
            database=None,
            report_multiple_bugs=False,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=[*HealthCheck],
        )

        def try_one(case: tuple[Workload, Policy]) -> None:
            check(*case, seen)

        try:
            seed(first)(many(given(simulations(platform, rule))(try_one)))()
        except Exception as error:  # Whatever goes wrong is a failure to show.
            yield f"{rule} on a {platform}\n{''.join(traceback.format_exception_only(error))}"


def main() -> int:
    """Check as the command line says; return 1 if anything fails."""
    parser = argparse.ArgumentParser(
        description=str(__doc__), formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("platforms", nargs="*", metavar="PLATFORM", help=", ".join(RULES))
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--golden", type=int, metavar="JOBS")
    asked = parser.parse_args()
    if unknown := {*asked.platforms} - RULES.keys():
        parser.error(f"{', '.join(sorted(unknown))}: no such platform; known: {', '.join(RULES)}")
    began, count, seen = time.process_time(), 0, Counter[str]()
    if asked.golden:
        for rule, order in product(GOLDEN_RULES, ORDERS):
            for work, run in micro(order, rule):
                if len(work) <= asked.golden:
                    check(work, policy_of(run), seen)
    for platform in () if asked.golden else asked.platforms or PLATFORMS:
        for failure in failures(platform, asked.cases, asked.seed, seen):
            count += 1
            sys.stdout.write(f"{failure}\n")
    sizes = ", ".join(f"{kind}: {n}" for kind, n in sorted(seen.items()))
    cases = f"{asked.cases} workloads of seed {asked.seed} for each platform"
    sys.stdout.write(
        f"{'golden instances' if asked.golden else cases}: {count} rules fail, "
        f"{sum(seen.values())} jobs explained ({sizes}), {time.process_time() - began:.0f} s of "
        "CPU\n"
    )
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
