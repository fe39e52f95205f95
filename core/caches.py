"""The user's cache folder, and whether other users could have written what it holds."""

from __future__ import annotations

import grp
import os
import pwd
import stat
from pathlib import Path

_UNMAPPED = 65534
"""Owner of whatever belongs to nobody inside a user namespace, the root folder of a rootless
container for one."""


def user_folder() -> Path | None:
    """Return the program's folder among this user's caches; None where there is no home folder.

    Examples
    --------
    >>> import os
    >>> os.environ["XDG_CACHE_HOME"] = "/var/tmp/caches"
    >>> str(user_folder())
    '/var/tmp/caches/schedfarm'
    >>> del os.environ["XDG_CACHE_HOME"]
    """
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "schedfarm"
    except RuntimeError:
        return None


def exposed(folder: Path) -> Path | None:
    """Return the first of a folder and those above it whose entries other users could replace.

    The superuser is trusted, and so is a group that is this user's own. A folder with the sticky
    bit, such as /tmp, may stand above the folder but not be the folder: there others can add
    entries, and cannot rename those of this user.

    Parameters
    ----------
    folder : Path
        A folder that exists; links are followed.

    Returns
    -------
    Path or None
        None where nobody else could have written what the folder holds.

    Raises
    ------
    OSError
        If the folder cannot be looked at.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as place:
    ...     before = exposed(Path(place))
    ...     Path(place).chmod(0o757)
    ...     after = exposed(Path(place))
    >>> before, after == Path(place).resolve()
    (None, True)
    """
    place = folder.resolve()
    for one in (place, *place.parents):
        about = one.stat()
        sticky = one != place and bool(about.st_mode & stat.S_ISVTX)
        foreign = about.st_uid not in (os.geteuid(), 0, _UNMAPPED)
        if foreign or (_others_write(about) and not sticky):
            return one
    return None


def _others_write(about: os.stat_result) -> bool:
    if about.st_mode & stat.S_IWOTH:
        return True
    return bool(about.st_mode & stat.S_IWGRP) and not _is_private(about.st_gid)


def _is_private(group: int) -> bool:
    """Tell whether a group is this user's own: where each has one, the umask is 002."""
    try:
        user, members = pwd.getpwuid(os.geteuid()).pw_name, grp.getgrgid(group)
    except KeyError:
        return False
    return members.gr_name == user and set(members.gr_mem) <= {user}


def make_private(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for this user alone.

    Raises
    ------
    OSError
        If the operating system refuses.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as place:
    ...     make_private(Path(place, "a", "b"))
    ...     oct(Path(place, "a").stat().st_mode & 0o777)
    '0o700'
    """
    # As mode=, it would hold for the last one only, and the umask could make the others writable.
    for one in (*reversed(folder.parents), folder):
        if not one.is_dir():
            one.mkdir(mode=0o700, exist_ok=True)
