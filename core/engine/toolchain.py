"""Choice between this package's compiler of kernels and numba's plain `njit`.

This package's compiler (`compiler`, `contexts`, `cache`) uses internals of numba, and is tested
with the versions in `TESTED`. With other versions, `njit` compiles the kernels by its documented
interface: the results are the same, compilation takes longer, and no kernel is cached on disk.
"""

from __future__ import annotations

import os

import numba

TESTED = ((0, 66), (0, 70))
"""First tested version of numba, and first later version that is not tested."""

VARIABLE = "SCHEDFARM_PLAIN_NJIT"
"""Environment variable; the value 1 selects plain `njit`, for tests and comparisons."""


def is_tested(version: str) -> bool:
    """Return whether this package's compiler is tested with a version of numba.

    Examples
    --------
    >>> is_tested("0.68.1"), is_tested("1.0.0")
    (True, False)
    """
    major, minor = (int("".join(filter(str.isdigit, one))) for one in version.split(".")[:2])
    first, end = TESTED
    return first <= (major, minor) < end


PLAIN = not numba.config.DISABLE_JIT and (
    os.environ.get(VARIABLE) == "1" or not is_tested(numba.__version__)
)
"""Whether this process compiles kernels by plain `njit`."""
