"""The tiers and their limits: what a default run collects, and what it does not let pass."""

from __future__ import annotations

import multiprocessing
import multiprocessing.forkserver
import signal
import subprocess
import sys
import threading
from collections.abc import Callable

import pytest

from tests.support import guards
from tests.support.guards import little_time, no_process, processes_allowed
from tests.support.paths import PACKAGE, ROOT, TESTS
from tests.support.tiers import EXHAUSTIVE, TIERS, is_default, is_limited, is_rest, tier_of


def test_every_folder_of_tests_is_a_tier() -> None:
    """A test in another folder would escape every choice of tiers."""
    folders = {path.relative_to(TESTS).parts[0] for path in TESTS.rglob("test_*.py")}
    assert folders - {"benchmarks"} == set(TIERS)


@pytest.mark.parametrize(
    ("path", "tier", "default"),
    [
        (TESTS / "unit" / "core" / "test_load.py", "unit", True),
        (TESTS / "oracles" / EXHAUSTIVE / "test_a.py", "oracles", False),
        (TESTS / "crash" / "test_a.py", "crash", False),
        (ROOT / "core" / "arrays.py", "unit", True),
        (PACKAGE / "core" / "arrays.py", "unit", True),
        (TESTS / "support" / "paths.py", None, True),
        (ROOT / "docs" / "index.md", None, True),
    ],
)
def test_the_folder_decides(path: object, tier: str | None, default: bool) -> None:
    """Nobody has to remember a marker."""
    assert (tier_of(path), is_default(path)) == (tier, default)  # type: ignore[arg-type]


def test_the_limits_are_those_of_tiers() -> None:
    """Benchmarks start processes and take long."""
    limited = [
        is_limited(TESTS / folder / "test_a.py") for folder in ("unit", "real", "benchmarks")
    ]
    assert limited == [True, False, False]


def test_nothing_is_left_out_of_both() -> None:
    """Each test file is run by default or is among the rest, not both."""
    files = [path for path in TESTS.rglob("test_*.py") if tier_of(path)]
    assert [path for path in files if is_default(path) == is_rest(path)] == []
    assert is_rest(TESTS / "unit")
    assert not is_rest(TESTS / "unit" / "core")


def with_subprocess() -> None:
    """Start one, and swallow any exception that a program would."""
    try:
        subprocess.run([sys.executable, "-c", ""], check=True)
    except Exception:
        return


def with_multiprocessing() -> None:
    multiprocessing.get_context("spawn").Process(target=print).start()


def with_fork_server() -> None:
    multiprocessing.get_context("forkserver").Process(target=print).start()


def with_running_fork_server() -> None:
    """Start one where another test has started the server."""
    with processes_allowed():
        multiprocessing.forkserver.ensure_running()
    with_fork_server()


def with_fork() -> None:
    multiprocessing.get_context("fork").Process(target=print).start()


def on_a_thread() -> None:
    """Start one where a failure ends the thread, not the test."""
    thread = threading.Thread(target=with_subprocess)
    thread.start()
    thread.join()


def guarded(start: Callable[[], None]) -> None:
    with no_process("a_test"):
        start()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize(
    "start",
    [
        with_subprocess,
        with_multiprocessing,
        with_fork_server,
        with_running_fork_server,
        with_fork,
        on_a_thread,
    ],
)
def test_a_process_fails_the_test(start: Callable[[], None]) -> None:
    """By whatever way it is started; the message names the folder for such a test."""
    with pytest.raises(pytest.fail.Exception, match="a_test starts a process .*: move it to tests"):
        guarded(start)


def test_a_process_may_be_allowed() -> None:
    """A fixture that is about a process says so."""
    with no_process("a_test"), processes_allowed():
        assert subprocess.run([sys.executable, "-c", ""], check=False).returncode == 0


def loops(runs: int) -> None:
    """Use the CPU time of five calibration loops a run."""
    with little_time("a_test"):
        for _ in range(runs):
            guards.loop_seconds()


def test_a_long_test_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """By its share of the processor, in calibration loops, not by the clock on the wall."""
    with monkeypatch.context() as patch:
        patch.setattr(guards, "MOST_LOOPS", 25)
        loops(1)
        with pytest.raises(pytest.fail.Exception, match=r"a_test uses .* loops, 25 are allowed"):
            loops(20)


def test_another_handler_of_interrupts_fails() -> None:
    """It is restored, so that it does not reach later tests."""
    before = signal.getsignal(signal.SIGINT)
    guards.check_handler("a_test", before)
    signal.signal(signal.SIGINT, lambda *_: None)
    with pytest.raises(pytest.fail.Exception, match="a_test leaves another handler of SIGINT"):
        guards.check_handler("a_test", before)
    assert signal.getsignal(signal.SIGINT) is before
