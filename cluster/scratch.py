"""Scratch folders of Dask's processes, where no other user can put anything.

Dask makes `dask-scratch-space` in the temporary folder or takes the one that is there, and puts a
folder in it first on Python's path: whoever made it first could run code in every process.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from schedfarm.cluster.errors import ClusterError

KEY = "temporary-directory"
"""Of Dask's configuration."""

VARIABLE = "DASK_TEMPORARY_DIRECTORY"
"""Of the environment, where it is of one process and what this one starts."""

SHELL = (
    "DASK_TEMPORARY_DIRECTORY=$(mktemp -d ${TMPDIR:-/tmp}/schedfarm-XXXXXXXXXX) || exit 1",
    "export DASK_TEMPORARY_DIRECTORY",
    r"trap rm\ -rf\ $DASK_TEMPORARY_DIRECTORY EXIT",
)
"""Lines of a job's script that make one on its node and remove it at the end; without quotes,
because HTCondor wraps the script in its own."""


def scratch() -> Path:
    """Return the folder that Dask's configuration names, or else one of this user's own.

    Raises
    ------
    ClusterError
        If other users can replace what it holds, or it cannot be made.

    Examples
    --------
    >>> oct(scratch().stat().st_mode & 0o777)
    '0o700'
    """
    import dask

    from schedfarm.core.caches import exposed, make_private, remedy

    named = dask.config.get(KEY, None)
    # One for each user, not for each run: Dask removes in it what killed runs have left.
    place = Path(named or Path(tempfile.gettempdir(), f"schedfarm-{os.geteuid()}"))
    try:
        make_private(place)
        if exposed(place) is not None and not named:
            place = Path(tempfile.mkdtemp(prefix="schedfarm-"))
        open_to_others = exposed(place)
    except OSError as error:
        raise ClusterError(
            f"scratch folder {place} cannot be used ({error.strerror}); set TMPDIR to another one"
        ) from None
    if open_to_others is not None:
        raise ClusterError(
            f"scratch folder {place} is not safe, because {remedy(open_to_others)}, or set TMPDIR "
            "to a folder of your own"
        )
    return place


def main() -> None:
    """Run what the arguments say, as Python does, with a scratch folder that is safe on this host.

    ``python -m schedfarm.cluster.scratch -m distributed.cli.dask_worker ...`` is how hosts that SSH
    reaches start Dask: the folder that the coordinator chose need not be its user's there.
    """
    try:
        place = scratch()
    except ClusterError:
        place = Path(tempfile.mkdtemp(prefix="schedfarm-"))
    os.environ[VARIABLE] = str(place)
    os.execv(sys.executable, [sys.executable, *sys.argv[1:]])


if __name__ == "__main__":
    main()
