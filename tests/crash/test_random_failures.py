"""Random failures of one store, one after the other."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.crash.failures import RUNS, Failure
from tests.crash.stages import CELLS, RECORDS, Processes
from tests.support.dask_processes import Site
from tests.support.harness import partial, records

ROUNDS = 4
"""Random failures of one store; the option --rounds multiplies them."""

EARLY = 3.0
"""Every fourth of them strikes at most this long, s, after the run has locked its store: before
its cluster is up. The others strike once a random number of new records is there."""


def test_random_failures_in_a_row(
    run: Processes, outside: Site, request: pytest.FixtureRequest
) -> None:
    """Killed or interrupted at random again and again, a store loses nothing."""
    rounds, told = ROUNDS * request.config.getoption("--rounds"), []
    done: list[Path] = []
    for number in range(rounds):
        # Two on a cluster that outlives the run, two on one of the run's own.
        run.site = outside if number % 4 < 2 else None
        failure = struck_at_random(run)
        status = run.strike(failure)
        assert status in failure.ends, (failure, status, run.command.err)
        told.append(f"{failure.name}: status {status}, {len(run.acknowledged)} records")
        if status == 0:
            # Nothing would be left to strike; what was held so far holds for that store.
            assert partial(run.store) == [], failure
            done.append(run.store.rename(run.folder / f"done-{number}"))
            run.acknowledged = {}
    run.site = None
    assert run.resume()["cells"] == CELLS
    assert partial(run.store) == []
    run.assert_whole()
    for store in done:
        run.assert_same(store)
    # Shown by `pytest -rP`, so that a long run names what it struck.
    sys.stdout.write("\n".join(told) + "\n")


def struck_at_random(run: Processes) -> Failure:
    """Draw a failure for where a run is, and a moment for it."""
    stage = "outside" if run.site else "local"
    failure = run.draw.choice([one for one in RUNS if one.stage == stage and one.any_time])
    when = random_moment(run)
    return failure._replace(when=when, ends=failure.any_time, says="", orderly=False)


def random_moment(run: Processes) -> Callable[[Processes], bool]:
    """Draw a short time, or a number of new records."""
    before = len(records(run.store))
    seconds = run.draw.uniform(0, EARLY)
    new = run.draw.randint(1, max(1, RECORDS - before - 1))
    if run.draw.random() < 0.25:
        return lambda run: time.monotonic() - run.begun > seconds
    return lambda run: len(run.acknowledged) - before >= new
