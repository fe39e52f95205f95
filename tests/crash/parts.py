"""Parts as processes in random order, a third of them killed once, against a single run.

python -m tests.crash.parts [--parts 200] [--at-once 4] [--resamples 200] [--seed 1] [--store URL]

Processes are forked from this one, which has imported everything and opened nothing: that saves
them 2 s of CPU each, and is otherwise what a batch system starts.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import click

from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.execution.run import run
from schedfarm.farm.store.files import InUse

ENDED, KILLED, IN_USE = 0, -signal.SIGKILL, 7

LONGEST = 0.5
"""Longest time after which a part is killed, s: a part takes somewhat longer."""


def campaign_of(resamples: int) -> Campaign:
    """Return a campaign with a block for each resample and policy."""
    return Campaign(
        name="parts",
        traces=(Trace(name="m", model="lublin", processors=64, jobs=50),),
        policies=("fcfs+easy", "saf+easy"),
        loads=("0.8",),
        resamples=resamples,
        block_seconds=1e-9,
    )


@dataclass
class Parts:
    """Start parts as processes, a few at once, and kill some of them."""

    campaign: Campaign
    store: str
    of: int
    draw: random.Random
    killed: int = 0
    refused: int = 0
    _running: dict[int, int] = field(default_factory=dict)
    _doomed: dict[int, float] = field(default_factory=dict)

    def all(self, at_once: int) -> None:
        """Run each part to its end, in random order; a third of them are killed once before."""
        waiting = list(range(1, self.of + 1))
        self.draw.shuffle(waiting)
        doomed = self.draw.sample(waiting, self.of // 3)
        while waiting or self._running:
            while waiting and len(self._running) < at_once:
                part = waiting.pop()
                pid = self._fork(part)
                self._running[pid] = part
                if part in doomed:
                    doomed.remove(part)
                    self._doomed[pid] = time.monotonic() + self.draw.uniform(0, LONGEST)
            for pid, when in list(self._doomed.items()):
                if time.monotonic() > when:
                    del self._doomed[pid]
                    os.kill(pid, signal.SIGKILL)
            self._reap(waiting, doomed)
            time.sleep(0.005)

    def _reap(self, waiting: list[int], doomed: list[int]) -> None:
        for pid in list(self._running):
            found, status = os.waitpid(pid, os.WNOHANG)
            if not found:
                continue
            part = self._running.pop(pid)
            if self._doomed.pop(pid, None) is not None:
                doomed += waiting[-1:]  # it has ended before
            code = os.waitstatus_to_exitcode(status)
            self.killed += code == KILLED
            self.refused += code == IN_USE
            if code in (KILLED, IN_USE):
                # Later, among the others.
                waiting.insert(self.draw.randint(0, len(waiting)), part)
            elif code != ENDED:
                raise RuntimeError(f"part {part} ended with status {code}")

    def _fork(self, part: int) -> int:
        return forked(self.campaign, self.store, f"{part}/{self.of}")


def forked(campaign: Campaign, store: str, part: str | None) -> int:
    """Simulate a part, or everything, in a process of its own; return its number."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        run(campaign, store, part=part)
        code = ENDED
    except InUse:
        code = IN_USE
    except BaseException as error:  # the process ends here, whatever it is
        sys.stderr.write(f"part {part}: {error!r}\n")
    finally:
        with suppress(OSError):
            sys.stderr.flush()
        os._exit(code)


def finished(pids: Iterable[int]) -> list[int]:
    """Wait for processes; return their exit codes."""
    return [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]


def main() -> None:
    """Run the parts and a single run, and hold them equal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", type=int, default=200)
    parser.add_argument("--at-once", type=int, default=4)
    parser.add_argument("--resamples", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--store", help="address of a prefix in a bucket")
    asked = parser.parse_args()
    campaign = campaign_of(asked.resamples)
    with tempfile.TemporaryDirectory() as folder:
        store = asked.store or f"{folder}/parts"
        parts = Parts(campaign, store, asked.parts, random.Random(asked.seed))
        begun = time.monotonic()
        parts.all(asked.at_once)
        wall, cpu = time.monotonic() - begun, _children()
        if finished([forked(campaign, f"{folder}/single", None)]) != [ENDED]:
            raise RuntimeError("the single run has failed")
        single = _children() - cpu
        compare(store, Path(folder))
    click.echo(
        f"{asked.parts} parts of {campaign.cells} cells, {parts.killed} killed, {parts.refused} "
        f"refused since another process had them: equal to a single run; {wall:.0f} s, "
        f"CPU {cpu:.1f} s, of a single run {single:.1f} s"
    )


def compare(store: str, folder: Path) -> None:
    """Hold a store of parts equal to that of a single run, without another command."""
    from tests.support.harness import assert_same_results, records

    if "://" in store:
        from tests.real.test_bucket import assert_same_arrays, fetched, recorded

        copy = fetched(store, folder / "copy")
        assert_same_arrays(copy, folder / "single")
        assert recorded(copy) == recorded(folder / "single")
        return
    assert_same_results(Path(store), folder / "single")
    assert records(Path(store)).keys() == records(folder / "single").keys()
    assert not list(Path(store).glob("parts"))


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
