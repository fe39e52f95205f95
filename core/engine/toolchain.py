"""Choice between the kernels' own compiler and numba's plain `njit`.

The own compiler (`compiler`, `contexts`, `cache`) uses internals of numba and is tested with the
versions in `TESTED`. Outside of them kernels are compiled by `njit` as documented: the results are
the same, compilation takes longer, and no kernel is cached on the disk.
"""

from __future__ import annotations

import os

import numba

TESTED = ((0, 66), (0, 70))
"""First tested version of numba, and first untested one."""

VARIABLE = "SCHEDFARM_PLAIN_NJIT"
"""Environment variable that selects plain `njit` if it is 1, for tests and comparisons."""


def is_tested(version: str) -> bool:
    """Return whether the own compiler is tested with a version of numba.

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
