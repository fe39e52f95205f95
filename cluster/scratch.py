"""Private scratch folders for Dask's processes.

Dask uses the folder `dask-scratch-space` in the temporary folder, even if this folder exists, and
puts one of its subfolders first on Python's path. If another user created `dask-scratch-space`,
that user could run code in every process.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from schedfarm.cluster.errors import ClusterError

KEY = "temporary-directory"
"""Key of the scratch folder in Dask's configuration."""

VARIABLE = "DASK_TEMPORARY_DIRECTORY"
"""Environment variable of the scratch folder, for one process and its children."""

SHELL = (
    "DASK_TEMPORARY_DIRECTORY=$(mktemp -d ${TMPDIR:-/tmp}/schedfarm-XXXXXXXXXX) || exit 1",
    "export DASK_TEMPORARY_DIRECTORY",
    r"trap rm\ -rf\ $DASK_TEMPORARY_DIRECTORY EXIT",
)
"""Lines of a job script that create a scratch folder on the node and remove it at the end. They
have no quotes, because HTCondor quotes the script itself."""


def scratch() -> Path:
    """Return the scratch folder of Dask's configuration, or else a private folder.

    Examples
    --------
    >>> oct(scratch().stat().st_mode & 0o777)
    '0o700'
    """
    import dask

    from schedfarm.core.caches import exposed, make_private, remedy

    named = dask.config.get(KEY, None)
    # The folder is per user, not per run, because Dask removes leftovers of killed runs in it.
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
    """Run Python with the given arguments and a private scratch folder on this host.

    ``python -m schedfarm.cluster.scratch -m distributed.cli.dask_worker ...`` starts Dask on SSH
    hosts, where the coordinator's folder may belong to another user.
    """
    try:
        place = scratch()
    except ClusterError:
        place = Path(tempfile.mkdtemp(prefix="schedfarm-"))
    os.environ[VARIABLE] = str(place)
    os.execv(sys.executable, [sys.executable, *sys.argv[1:]])


if __name__ == "__main__":
    main()
