"""Check rules that are called at each pass: against the kernels, and with mistakes of every kind.

    python -m tests.oracles.custom_rules --cases 2000 --passes 10000 --seed 1

EASY, conservative and depth(2) in tests/support/custom_rules.py have the starts, backfills and
promises of the kernels on random workloads, compiled and in plain Python; and rules that make a
mistake at a random pass end in one sentence that names the second and a job. Prints the first
case that fails, and then exits with 1.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter

import numpy as np

from schedfarm.core.engine.promises import promises
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.errors import InputError
from schedfarm.core.workload.workload import Workload
from tests.support import custom_rules
from tests.support.mistaken_rules import QUICK, SLOW, Mistaken

MODULE = custom_rules.__name__

RULES = {"easy": "easy", "conservative": "conservative", "depth_2": "depth(2)"}
"""The kernel's rule by the name of its copy."""

ORDERS = (
    "fcfs",
    "spf",
    "laf",
    "lxf",
    "wfp3",
    "fair-share",
    "(-(now - submit) * procs / max(estimate, 1))",
    "tests.support.strategies:by_share",
    "tests.support.strategies:least_served",
)

THRESHOLDS = ("", "", ",threshold=3s", ",threshold=1x")


def random_workload(rng: np.random.Generator, most: int = 14) -> Workload:
    """Return small jobs with many ties, estimates of 0, and widths with a common divisor."""
    n, unit = int(rng.integers(1, most + 1)), int(rng.choice([1, 1, 2]))
    estimate = rng.integers(0, 9, n)
    return Workload.from_columns(
        submit=np.sort(rng.integers(0, 16, n)),
        run=np.minimum(rng.integers(0, 9, n), estimate),
        estimate=estimate,
        procs=unit * rng.integers(1, 5, n),
        user=rng.integers(-1, 3, n),
        processors=4 * unit,
    )


def difference(work: Workload, order: str, rule: str, options: str, kind: str) -> str | None:
    """Return the names of a policy and of its copy if they differ, else None."""
    ours, own = f"{order}+{RULES[rule]}{options}", f"{order}+{MODULE}:{rule}{kind}{options}"
    known, found = simulate(work, ours), simulate(work, own)
    equal = np.array_equal(known.start, found.start)
    equal &= np.array_equal(known.backfilled, found.backfilled)
    if rule == "conservative":
        equal &= np.array_equal(promises(work, ours), promises(work, own))
    return None if equal else f"{own} differs from {ours}"


def compare(cases: int, seed: int) -> str | None:
    """Return the first of some random cases in which a copy differs from its kernel."""
    rng = np.random.default_rng(seed)
    for case in range(cases):
        work = random_workload(rng)
        rule, kind = str(rng.choice(list(RULES))), str(rng.choice(["", "_plain"]))
        order, options = str(rng.choice(ORDERS)), str(rng.choice(THRESHOLDS))
        if wrong := difference(work, order, rule, options, kind):
            return (
                f"case {case}: {wrong}\n{work.submit=} {work.run=} {work.estimate=} {work.procs=}"
            )
    return None


SENTENCE = re.compile(r"^rule '[^\n]*\b\d+ s\b[^\n]*$")


def mistake(work: Workload, kind: str, at: int) -> str:
    """Return the sentence of a mistake at a pass; empty if the simulation ends before."""
    Mistaken.kind, Mistaken.at = kind, at
    try:
        simulate(work, f"fcfs+{Mistaken.__module__}:Mistaken")
    except InputError as error:
        return str(error)
    return ""


def make_mistakes(passes: int, seed: int) -> tuple[str | None, Counter[str]]:
    """Return the first answer that is no sentence, and how often each kind of mistake ended in one.

    A hundredth of the mistakes loops for ever.
    """
    rng, found = np.random.default_rng(seed), Counter[str]()
    kinds = list(QUICK)
    for case in range(passes):
        work = random_workload(rng)
        slow = case % 100 == 99
        kind = str(rng.choice(list(SLOW) if slow else kinds))
        said = mistake(work, kind, int(rng.integers(0, 3 if slow else 12)))
        if said and not (SENTENCE.match(said) and "job" in said):
            return f"case {case}, {kind}: {said!r}", found
        found[kind if said else "ended before"] += 1
    return None, found


def main() -> int:
    """Run both checks."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--passes", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if wrong := compare(given.cases, given.seed):
        sys.stdout.write(f"{wrong}\n")
        return 1
    sys.stdout.write(f"{given.cases} random cases: all starts, backfills, promises are equal\n")
    wrong, found = make_mistakes(given.passes, given.seed)
    done = f"{given.passes} mistakes: each ended in one sentence, or was not reached"
    sys.stdout.write(f"{wrong or done}\n{dict(found)}\n")
    return wrong is not None


if __name__ == "__main__":
    sys.exit(main())
