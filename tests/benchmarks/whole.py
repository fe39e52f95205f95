"""Whole processes of a checkout: what they take from the first instant to the last, by stage."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import psutil

from tests.benchmarks.checkout import FARM, Checkout

FAIR_STARTS = """
import sys
from schedfarm.core import fair_start_times, read_swf
fair_start_times(read_swf(sys.argv[1]), "fcfs+easy", jobs=range(100))
"""

STARTS = {
    **{
        policy: (*FARM, "simulate", "--policy", policy)
        for policy in ("fcfs+easy", "lxf+easy", "fcfs+conservative", "fcfs+planned")
    },
    "fcfs+easy, 100 fair starts": ("-c", FAIR_STARTS),
}
"""Processes to start with nothing compiled, and again; what Python is given before a log."""

REAPER = """
import ctypes, os, sys
assert not ctypes.CDLL(None).prctl(36, 1)
first = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
ended = {}
while True:
    try:
        pid, state = os.wait()
    except ChildProcessError:
        sys.exit(abs(os.waitstatus_to_exitcode(ended[first])))
    ended[pid] = state
"""
"""Runs a command and waits for all processes that it leaves, whose CPU time counts, too: the server
that workers are forked from ends after the command. 36 is PR_SET_CHILD_SUBREAPER."""

WAIT_SECONDS = 0.01
"""How often a process is asked whether it has ended."""

LOOK_SECONDS = 0.25
"""How often the CPU time of a process and of those that it started is looked at."""

STAGES = {"start, plan": "begin", "cells": "block", "summary": "end"}
"""Stages of `farm run`, and the tag of the event at whose last occurrence each ends."""

REPORT = "tables, figures"
"""What comes after them, until the process has ended."""


@dataclass(frozen=True)
class Spent:
    """Say what something took, s.

    Parameters
    ----------
    wall, cpu : float
        On the clock, and of all cores.
    """

    wall: float
    cpu: float

    def __sub__(self, other: Spent) -> Spent:
        return Spent(self.wall - other.wall, self.cpu - other.cpu)


@dataclass
class Looks:
    """Note what a process and those that it started have used so far."""

    at: list[float] = field(default_factory=list)
    """Unix times, s."""
    cpu: list[float] = field(default_factory=list)
    """CPU times, s."""

    def __call__(self, pid: int) -> None:
        """Look, unless the last look was a moment ago."""
        if not self.at or time.time() - self.at[-1] >= LOOK_SECONDS:
            # One that has just ended is in nobody's sum until its parent has waited for it.
            last = self.cpu[-1] if self.cpu else 0.0
            self.at.append(time.time())
            self.cpu.append(max(used(pid), last))

    def when(self, instant: float) -> float:
        """Return the CPU time used up to a Unix time, s."""
        return float(np.interp(instant, self.at, self.cpu))


def used(pid: int) -> float:
    """Return the CPU time so far of a process and of those that it started, s."""
    total = 0.0
    try:
        process = psutil.Process(pid)
        for one in (process, *process.children(recursive=True)):
            times = one.cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    except psutil.NoSuchProcess:
        pass
    return total


def run(
    checkout: Checkout,
    words: Sequence[str],
    folder: Path,
    kernels: Path,
    look: Callable[[int], object] = lambda pid: None,
) -> Spent:
    """Run Python of a checkout in a folder, with what it compiles kept in another.

    Parameters
    ----------
    look : callable, optional
        Called with the process's number again and again while it runs.

    Raises
    ------
    RuntimeError
        If it fails, with what it said.
    """
    folder.mkdir(parents=True, exist_ok=True)
    said = folder / "said.txt"
    begin = time.time()
    with said.open("w") as out:
        process = subprocess.Popen(
            [sys.executable, "-SEc", REAPER, *checkout.command(*words)],
            cwd=folder,
            env=checkout.environment(kernels),
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    while True:
        pid, state, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        look(process.pid)
        time.sleep(WAIT_SECONDS)
    wall = time.time() - begin
    process.returncode = os.waitstatus_to_exitcode(state)
    if process.returncode:
        raise RuntimeError(f"{process.args} failed: {said.read_text()}")
    return Spent(wall, usage.ru_utime + usage.ru_stime)


def by_stage(
    checkout: Checkout, campaign: str, traces: Path, folder: Path, kernels: Path
) -> dict[str, Spent]:
    """Run a campaign; return what each stage of it took, and the whole."""
    looks, begin = Looks(), time.time()
    words = (*FARM, "run", campaign, "--traces", str(traces), "--store", "store", "--quiet")
    whole = run(checkout, words, folder, kernels, looks)
    looks.at.append(begin + whole.wall)
    looks.cpu.append(whole.cpu)
    lines = (folder / "store" / "events.jsonl").read_text().splitlines()
    return {**stages(map(json.loads, lines), begin, whole, looks.when), "whole": whole}


def stages(
    events: Iterable[dict[str, object]], begin: float, whole: Spent, when: Callable[[float], float]
) -> dict[str, Spent]:
    """Share what a run took out among its stages, by the times of its events.

    Parameters
    ----------
    events : iterable of dict
        Those of the store's log, in their order.
    begin : float
        Unix time at which it was started, s.
    whole : Spent
        What it took in all.
    when : callable
        Gives the CPU time that was used up to a Unix time.
    """
    last = {str(event["event"]): float(str(event["time"])) for event in events}
    reached, found = Spent(0.0, 0.0), {}
    for name, tag in STAGES.items():
        until = Spent(last[tag] - begin, when(last[tag]))
        found[name], reached = until - reached, until
    return {**found, REPORT: whole - reached}
