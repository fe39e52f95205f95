"""What computed a result: versions of the program and of what its numbers depend on."""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("schedfarm", "numpy", "numba", "zarr")
"""Packages whose version can change a result or its bytes."""


@cache
def versions() -> dict[str, str]:
    """Return the versions of Python and of `PACKAGES`.

    Examples
    --------
    >>> sorted(versions())
    ['numba', 'numpy', 'python', 'schedfarm', 'zarr']
    """
    return {"python": platform.python_version(), **{p: _version(p) for p in PACKAGES}}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
