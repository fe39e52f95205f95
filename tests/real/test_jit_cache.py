"""Compiled kernels on disk: workers that start together, no folder to write, changed steps."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from schedfarm.core.engine import jit
from schedfarm.core.engine.sources import closure
from tests.support.harness import PATIENCE, wait_for
from tests.support.paths import PACKAGE

KERNELS = Path(jit.__file__).parent

STEP = """
from toy.jit import verb

@verb
def step(x):
    return x + {number}
"""

SUM = """
import sys
import numpy as np
from toy.jit import kernel
from toy.step import step

@kernel
def total(values):
    result = 0
    for x in values:
        result += step(x)
    return result

print(total(np.arange(4)), sum(total.stats.cache_hits.values()))
"""

PICK = """
import numpy as np
from toy.jit import kernel

@kernel
def pick(values, i):
    return values[i]

try:
    found = pick(np.arange(8)[4:], -1)
except IndexError:
    found = "outside"
print(found, sum(pick.stats.cache_hits.values()))
"""

REAL = """
from schedfarm.core.engine.compiling import each_compiled
from schedfarm.core.engine.fair_start import fair_start_times
from schedfarm.core.workload.workload import Workload
work = Workload.from_columns(submit=[0, 1], run=[9, 9], estimate=[9, 9], procs=[1, 1], processors=1)
compiled = []
with each_compiled(lambda: compiled.append(1)):
    assert fair_start_times(work, "fcfs+none").tolist() == [0, 9]
print("compiled" if compiled else "found")
"""
"""A real simulation, with all of its steps and routines."""

FAILS = """
import signal
from toy import jit

def fail(*given):
    raise MemoryError

jit.KernelCompiler.compile_extra = fail
try:
    import toy.total
except MemoryError:
    print("failed", flush=True)
    signal.pause()
"""


def toy(folder: Path) -> Path:
    """Write a package of one kernel and one step, in two files, with our decorators."""
    package = folder / "toy"
    package.mkdir()
    (package / "__init__.py").touch()
    shutil.copy(KERNELS / "jit.py", package)
    (package / "step.py").write_text(STEP.format(number=1))
    (package / "total.py").write_text(SUM)
    return package


def start(source: list[str], cache: Path, path: Path, **environment: str) -> subprocess.Popen[str]:
    # Without optimisation a kernel is compiled in two thirds of the time.
    where = {"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(path), "NUMBA_OPT": "0"}
    return subprocess.Popen(
        [sys.executable, *source],
        env={**os.environ, **where, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(worker: subprocess.Popen[str]) -> str:
    out, errors = worker.communicate(timeout=PATIENCE)
    assert worker.returncode == 0, errors
    return out.strip()


def has_open(pid: int, folder: Path) -> bool:
    """Return whether a process has a file below a folder open."""
    files = psutil.Process(pid).open_files()
    return any(Path(one.path).is_relative_to(folder) for one in files)


def test_second_process_finds_the_kernel_compiled(tmp_path: Path) -> None:
    """The kernel is kept with its steps inside, though they are in another file."""
    toy(tmp_path)
    run = ["-m", "toy.total"]
    assert finish(start(run, tmp_path / "cache", tmp_path)) == "10 0"
    assert finish(start(run, tmp_path / "cache", tmp_path)) == "10 1"


def test_changed_step_compiles_its_kernel_anew(tmp_path: Path) -> None:
    """Numba would look at the kernel's own file only, and answer 10 again."""
    package = toy(tmp_path)
    run = ["-m", "toy.total"]
    assert finish(start(run, tmp_path / "cache", tmp_path)) == "10 0"
    (package / "step.py").write_text(STEP.format(number=100))
    assert finish(start(run, tmp_path / "cache", tmp_path)) == "406 0"


def test_changed_name_of_an_imported_module_compiles_its_kernel_anew(tmp_path: Path) -> None:
    """The step takes a number from a module two imports away, by a relative import."""
    package = toy(tmp_path)
    run = ["-m", "toy.total"]
    (package / "step.py").write_text("from .number import NUMBER\n" + STEP.format(number="NUMBER"))
    (package / "number.py").write_text("NUMBER = 1\n")
    assert finish(start(run, tmp_path / "cache", tmp_path)) == "10 0"
    (package / "number.py").write_text("NUMBER = 100\n")
    assert finish(start(run, tmp_path / "cache", tmp_path)) == "406 0"


def test_changed_module_that_a_kernel_does_not_import_leaves_it_compiled(tmp_path: Path) -> None:
    """A change of plans compiles no EASY anew."""
    package = toy(tmp_path)
    run = ["-m", "toy.total"]
    assert finish(start(run, tmp_path / "cache", tmp_path)) == "10 0"
    (package / "other.py").write_text(STEP.format(number=100))
    assert finish(start(run, tmp_path / "cache", tmp_path)) == "10 1"


def test_a_checked_kernel_and_an_unchecked_one_are_kept_in_one_folder(tmp_path: Path) -> None:
    """Neither replaces the other; a negative place is an error in one, and read in the other."""
    (toy(tmp_path) / "pick.py").write_text(PICK)
    for hits in (0, 1):
        for checked, found in (("0", "3"), ("1", "outside")):
            run = start(["-m", "toy.pick"], tmp_path / "cache", tmp_path, NUMBA_BOUNDSCHECK=checked)
            assert finish(run) == f"{found} {hits}"


def test_closures_of_kernels_hold_what_they_import() -> None:
    """EASY is made of its queue and its clock, and not of plans."""
    easy = {path.relative_to(PACKAGE).as_posix() for path in closure(KERNELS / "fixed_order.py")}
    assert {"core/engine/queue.py", "core/engine/clock.py", "core/arrays.py"} <= easy
    assert {"core/engine/compiler.py", "core/engine/sources.py"} <= easy
    assert not {"core/engine/plan.py", "core/engine/planned.py"} & easy
    assert KERNELS / "plan.py" in closure(KERNELS / "reservations.py")


def test_no_kernel_imports_what_its_sources_do_not_say() -> None:
    """Names that are found at run time would be compiled in, and not looked at."""
    for path in KERNELS.rglob("*.py"):
        assert "importlib" not in path.read_text(), path


def test_step_called_from_python_is_compiled_alone() -> None:
    """It has no function to call, but numba can make it a kernel."""
    doubled = jit.verb(_twice)
    assert doubled(21) == 42
    assert doubled(4) == 8


def _twice(x: int) -> int:
    return 2 * x


_doubled: Any = jit.verb(_twice)


def _grow(most: int) -> int:
    x = 0
    while x < most:
        x = _doubled(x) + 1
    return x


def test_step_is_compiled_for_numbers_once() -> None:
    """And not for the 0 as well that a variable begins with."""
    assert jit.verb(_grow)(5) == 7
    assert len(_doubled.overloads) == 1


def test_of_workers_that_start_together_one_compiles(tmp_path: Path) -> None:
    """Four processes on an empty cache: three of them wait, and find it on the disk."""
    toy(tmp_path)
    run = ["-m", "toy.total"]
    workers = [start(run, tmp_path / "cache", tmp_path) for _ in range(4)]
    assert sorted(finish(worker) for worker in workers) == ["10 0", "10 1", "10 1", "10 1"]
    assert finish(start(run, tmp_path / "cache", tmp_path)) == "10 1"


def test_a_worker_that_dies_while_it_compiles_leaves_the_turn_to_others(tmp_path: Path) -> None:
    """One that is stopped there holds them up until it is killed."""
    package = toy(tmp_path)
    slow = "from toy import jit\nimport os, signal\n"
    slow += "jit.KernelCompiler.compile_extra = lambda *_: os.kill(os.getpid(), signal.SIGSTOP)\n"
    (package / "slow.py").write_text(slow + "import toy.total\n")
    stopped = start(["-m", "toy.slow"], tmp_path / "cache", tmp_path)
    os.waitid(os.P_PID, stopped.pid, os.WSTOPPED)
    waiting = start(["-m", "toy.total"], tmp_path / "cache", tmp_path)
    wait_for(lambda: has_open(waiting.pid, tmp_path / "cache"), "the wish for the turn")
    with pytest.raises(subprocess.TimeoutExpired):
        waiting.wait(1)
    stopped.kill()
    assert finish(waiting) == "10 0"
    stopped.communicate()


def test_a_worker_that_cannot_compile_leaves_the_turn_to_others(tmp_path: Path) -> None:
    """It goes on with something else, and they do not wait for that."""
    (toy(tmp_path) / "fails.py").write_text(FAILS)
    failed = start(["-m", "toy.fails"], tmp_path / "cache", tmp_path)
    assert failed.stdout is not None
    try:
        assert failed.stdout.readline() == "failed\n"
        other = start(["-m", "toy.total"], tmp_path / "cache", tmp_path)
        assert other.wait(PATIENCE) == 0
        assert finish(other) == "10 0"
    finally:
        failed.kill()
        failed.communicate()


def test_of_workers_that_start_together_one_compiles_real_kernels(tmp_path: Path) -> None:
    """With all steps and routines: the others, and whoever comes later, compile nothing."""
    workers = [start(["-c", REAL], tmp_path / "cache", PACKAGE.parent) for _ in range(3)]
    assert sorted(finish(worker) for worker in workers) == ["compiled", "found", "found"]
    assert finish(start(["-c", REAL], tmp_path / "cache", PACKAGE.parent)) == "found"


def test_cache_folder_that_cannot_be_made(tmp_path: Path) -> None:
    """Where the folder named lies below a file, kernels are compiled and run all the same."""
    toy(tmp_path)
    (tmp_path / "file").touch()
    assert finish(start(["-m", "toy.total"], tmp_path / "file" / "cache", tmp_path)) == "10 0"


def test_function_without_a_file_is_compiled_without_a_cache() -> None:
    """No folder can hold its code: the decorator compiles it in memory."""
    names: dict[str, object] = {"kernel": jit.kernel}
    source = "@kernel\ndef double(x):\n    return 2 * x\n"
    exec(compile(source, "<nowhere>", "exec"), names)
    double = names["double"]
    assert callable(double)
    assert double(21) == 42
