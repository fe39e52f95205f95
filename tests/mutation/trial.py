"""The tests of one mutant, in a copy of the tree."""

from __future__ import annotations

import os
import resource
import shlex
import sys
from collections.abc import Sequence
from typing import Any

from cosmic_ray.mutating import mutate_and_test
from cosmic_ray.work_item import MutationSpec

CPU_SECONDS = 500
"""CPU time after which a mutant counts as noticed: its loop is endless; all tests take 130, s."""

TIMEOUT = 7200.0
"""Wall time that no mutant takes, however busy the machine, s."""


def enter(copies: Any) -> None:
    """Let this process work in a copy of the tree that no other process has."""
    os.chdir(copies.get())
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    os.environ.update(NUMBA_DISABLE_JIT="1", HYPOTHESIS_PROFILE="few")


def outcome_of(mutant: MutationSpec, tests: Sequence[str]) -> tuple[str, str]:
    """Return whether the tests notice a mutant, and the mutant as a diff."""
    words = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    result = mutate_and_test([mutant], shlex.join(words), TIMEOUT)
    return str(getattr(result.test_outcome, "value", result.worker_outcome)), str(result.diff)
