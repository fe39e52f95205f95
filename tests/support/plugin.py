"""A plugin of pytest: which tiers are run, and the limits of those that are run by default.

Hooks of a conftest.py do not reach the examples in docstrings, which lie outside its folder.
"""

from __future__ import annotations

import gc
import os
import signal
from contextlib import ExitStack, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.guards import PROCESSES, check_handler, little_time, no_process
from tests.support.paths import PACKAGE, ROOT
from tests.support.profiles import load_profile
from tests.support.tiers import PACKAGES, TIERS, is_default, is_limited, is_rest, tier_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _typeshed import HasFileno


HANDLER = pytest.StashKey[Any]()
"""Handler of SIGINT before a test."""

CORES = os.sched_getaffinity(0)

_WORKER = os.environ.get("PYTEST_XDIST_WORKER", f"gw{os.getpid()}").removeprefix("gw")

ONE_CORE = {sorted(CORES)[int(_WORKER) % len(CORES)]}
"""The core of this process for tests that start no other.

Zarr hands each of its calls to a thread and waits: across two virtual cores a test of a store took
two to nine times as long as on one, and up to three times the CPU.
"""


def keep_to(cores: set[int]) -> None:
    """Let the threads of this process, and those that they start, run on some cores only."""
    if os.sched_getaffinity(0) == cores:
        return
    for thread in os.listdir("/proc/self/task"):
        with suppress(ProcessLookupError):
            os.sched_setaffinity(int(thread), cores)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("schedfarm", "tiers of schedfarm's tests")
    group.addoption("--all", action="store_true", help="run every tier")
    group.addoption("--rest", action="store_true", help="run what a run without options leaves out")
    group.addoption(
        "--tier",
        action="append",
        choices=sorted(TIERS),
        help="run this tier as a whole; may be repeated",
    )
    group.addoption(
        "--rounds",
        type=int,
        default=1,
        help="how many times as many rounds of random failures to run (default 1)",
    )


def pytest_configure() -> None:
    # A shell starts what it runs in the background with SIGINT ignored, and programs hand that on.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # What a killed process wrote stays in the kernel's cache: only a loss of power needs the disk,
    # for which the tests of stores waited a third of their time.
    os.fsync = _without_the_disk
    # With Python's own thresholds, searches for garbage took a fifth of the tests of stores.
    gc.set_threshold(50_000, 20, 100)
    PROCESSES.install()
    load_profile()


def _without_the_disk(handle: int | HasFileno) -> None:
    """Accept a request to write a file to the disk."""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[object]:
    """Collect without searching for garbage, which took a fifth of the time and found little."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out tiers that are neither default nor requested by an option or a path."""
    tier = tier_of(collection_path)
    if tier is None or config.getoption("--all") or _is_named(collection_path, config):
        return None
    asked = config.getoption("--tier")
    if config.getoption("--rest"):
        wanted = is_rest(collection_path)
    else:
        wanted = tier in asked if asked else is_default(collection_path)
    return None if wanted else True


def _is_named(path: Path, config: pytest.Config) -> bool:
    """Return whether an argument names this path, something inside it, or a folder around it."""
    here = config.invocation_params.dir
    named = {(here / argument.partition("::")[0]).resolve() for argument in config.args}
    named -= {PACKAGE, *(ROOT / package for package in PACKAGES)}
    return any(
        path.is_relative_to(one) or one.is_relative_to(path) for one in named if tier_of(one)
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    tier = tier_of(item.path)
    item.stash[HANDLER] = signal.getsignal(signal.SIGINT)
    keep_to(ONE_CORE if tier and TIERS[tier].default else CORES)
    with no_process(item.name) if is_limited(item.path) else nullcontext():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    with ExitStack() as stack:
        if is_limited(item.path):
            stack.enter_context(no_process(item.name))
            stack.enter_context(little_time(item.name))
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """Fail a test that leaves another handler of SIGINT."""
    try:
        return (yield)
    finally:
        check_handler(item.name, item.stash[HANDLER])
