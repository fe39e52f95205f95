"""Mutate the program at random, and name the mutants that the default tiers do not notice.

    python -m tests.mutation --mutants 200 --seed 1

needs Cosmic Ray (`pip install '.[mutation]'`). Mutants are made in copies of the tree; those of
kernels run without the JIT, because each would be compiled first.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import zip_longest
from multiprocessing import get_context
from pathlib import Path
from typing import TypeAlias

from cosmic_ray.work_item import MutationSpec, TestOutcome

from tests.mutation.mutants import mutants_of, sample
from tests.mutation.subjects import SUBJECTS, Subject
from tests.mutation.trial import enter, outcome_of
from tests.support.paths import ROOT

Drawn: TypeAlias = tuple[Subject, MutationSpec]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--mutants", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--subject", action="append", choices=[one.name for one in SUBJECTS])
    given = parser.parse_args()
    wanted = [one for one in SUBJECTS if given.subject is None or one.name in given.subject]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        copies = [_copied(folder / str(number)) for number in range(given.processes)]
        drawn = _in_turn(
            [
                (subject, mutant)
                for mutant in sample(
                    mutants_of(subject, ROOT, folder / f"{number}.sqlite"),
                    _share(given.mutants, len(wanted), number),
                    f"{given.seed} {subject.name}",
                )
            ]
            for number, subject in enumerate(wanted)
        )
        queue = get_context("spawn").Manager().Queue()
        for copy in copies:
            queue.put(str(copy))
        counts: Counter[tuple[str, str]] = Counter()
        with ProcessPoolExecutor(
            given.processes, get_context("spawn"), initializer=enter, initargs=(queue,)
        ) as pool:
            futures = {
                pool.submit(outcome_of, mutant, subject): (subject, mutant)
                for subject, mutant in drawn
            }
            for done, future in enumerate(as_completed(futures), 1):
                (subject, mutant), (outcome, diff) = futures[future], future.result()
                counts[subject.name, outcome] += 1
                if outcome == TestOutcome.SURVIVED.value:
                    sys.stdout.write(f"survived: {subject.name}, {_named(mutant)}\n{diff}\n")
                sys.stderr.write(f"{done} of {len(futures)}: {outcome} {_named(mutant)}\n")
                sys.stdout.flush()
    for (name, outcome), count in sorted(counts.items()):
        sys.stdout.write(f"{name}: {count} {outcome}\n")
    return 0


def _in_turn(lists: Iterable[list[Drawn]]) -> list[Drawn]:
    """Return one element of each list, then the next of each: a run cut short is a sample too."""
    return [one for turn in zip_longest(*lists) for one in turn if one is not None]


def _share(total: int, parts: int, number: int) -> int:
    return total // parts + (number < total % parts)


def _copied(folder: Path) -> Path:
    """Copy the tree as git knows it."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True)
    for name in listed.stdout.decode().split("\0")[:-1]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
    return folder


def _named(mutant: MutationSpec) -> str:
    return f"{mutant.module_path}:{mutant.start_pos[0]} {mutant.operator_name}"


if __name__ == "__main__":
    sys.exit(main())
