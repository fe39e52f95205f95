"""The tests of one mutant, in a copy of the tree."""

from __future__ import annotations

import os
import resource
import shlex
import subprocess
import sys
from typing import Any

from cosmic_ray.mutating import mutate_and_test
from cosmic_ray.work_item import MutationSpec

from tests.mutation.subjects import Subject

CPU_SECONDS = 500
"""CPU time after which a mutant counts as noticed: its loop is endless; all tests take 130, s."""

TIMEOUT = 7200.0
"""Wall time that no mutant takes, however busy the machine, s."""


def enter(copies: Any) -> None:
    """Move this process to its own copy of the tree, which its tests import.

    Without PYTHONPATH the tests would import the installed package: each mutant would survive.
    """
    copy = copies.get()
    os.chdir(copy)
    os.environ["PYTHONPATH"] = os.pathsep.join([os.path.join(copy, "src"), copy])
    words = [sys.executable, "-c", "import schedfarm; print(*schedfarm.__path__)"]
    imported = subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()
    if not imported.startswith(copy):
        raise RuntimeError(f"tests would import {imported}, not the mutants in {copy}")
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    os.environ.update(HYPOTHESIS_PROFILE="few")


def outcome_of(mutant: MutationSpec, subject: Subject) -> tuple[str, str]:
    """Return whether the tests notice a mutant, and the mutant as a diff."""
    os.environ["NUMBA_DISABLE_JIT"] = str(int(subject.kernels))
    words = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *subject.tests]
    result = mutate_and_test([mutant], shlex.join(words), TIMEOUT)
    return str(getattr(result.test_outcome, "value", result.worker_outcome)), str(result.diff)
