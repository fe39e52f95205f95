"""Origin of a result: host, versions, and the commit of the program."""

from __future__ import annotations

import hashlib
import json
import platform
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution, version
from pathlib import Path

from schedfarm.core.errors import InputError

PACKAGE = "schedfarm"

PACKAGES = (PACKAGE, "numpy", "numba", "zarr")
"""Packages whose version can change a result or its bytes in the store."""

UNKNOWN = "unknown"
"""Commit of a program that was installed from a package index."""

CHANGED = "+changes"
"""Suffix of a commit if files have been edited since."""

CODE = ("core", "farm")
"""Packages that determine the content of a store."""


class Foreign(InputError):
    """Report a worker whose program differs from the program of the run."""


@dataclass(frozen=True)
class Program:
    """Identify the programs that determine the bytes of a store.

    Parameters
    ----------
    code : str
        SHA-256 of the files of `CODE`.
    versions : mapping of str to str
        Versions of Python, without the last number, and of the packages that compute and write
        values.
    """

    code: str
    versions: Mapping[str, str]


@cache
def program() -> Program:
    """Return the program of this process; it is read once per process, in 8 ms.

    Examples
    --------
    >>> sorted(program().versions)
    ['Python', 'numba', 'numpy', 'zarr']
    """
    root, found = Path(__file__).resolve().parents[2], hashlib.sha256()
    for package in CODE:
        for path in sorted((root / package).rglob("*.py")):
            text = path.read_bytes()
            found.update(f"{path.relative_to(root).as_posix()} {len(text)}\n".encode() + text)
    versions = {package: _version(package) for package in PACKAGES if package != PACKAGE}
    python = ".".join(platform.python_version_tuple()[:2])
    return Program(found.hexdigest(), {"Python": python} | versions)


def check_program(asked: Program | None) -> None:
    """Raise `Foreign`, naming host and difference, if this process has another program than a run.

    None stands for a run in this process.
    """
    own = program()
    if asked is None or asked == own:
        return
    host = platform.node()
    if asked.code != own.code:
        raise Foreign(
            f"{host} has another program than this run ({own.code[:8]} instead of "
            f"{asked.code[:8]}, a digest of {' and '.join(CODE)}); install the same schedfarm there"
        )
    others = [
        f"{name} {own.versions.get(name)} instead of {version}"
        for name, version in asked.versions.items()
        if own.versions.get(name) != version
    ]
    raise Foreign(f"{host} has {', '.join(others)}; install the same versions there")


@cache
def origin() -> dict[str, str]:
    """Return the host's name, the versions of Python and of `PACKAGES`, and the commit.

    Examples
    --------
    >>> sorted(origin())
    ['commit', 'host', 'numba', 'numpy', 'python', 'schedfarm', 'zarr']
    """
    versions = {p: _version(p) for p in PACKAGES}
    found = commit(Path(__file__).resolve().parents[2])
    return {
        "host": platform.node(),
        "python": platform.python_version(),
        "commit": found,
    } | versions


def commit(folder: Path) -> str:
    """Return the commit of the checkout in a folder, or of the installed program's source."""
    if (folder / ".git").exists():
        return _of_checkout(folder)
    try:
        return _of_installed(distribution(PACKAGE))
    except PackageNotFoundError:
        return UNKNOWN


def _of_checkout(folder: Path) -> str:
    ask = ["git", "--no-optional-locks", f"--git-dir={folder / '.git'}", f"--work-tree={folder}"]
    try:
        head = subprocess.run([*ask, "rev-parse", "HEAD"], capture_output=True, check=True)
        edited = subprocess.run([*ask, "diff", "--quiet", "HEAD"], capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return UNKNOWN
    return head.stdout.decode().strip() + CHANGED * bool(edited.returncode)


def _of_installed(found: Distribution) -> str:
    source = json.loads(found.read_text("direct_url.json") or "{}")
    known: str = source.get("vcs_info", {}).get("commit_id", UNKNOWN)
    return known


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
