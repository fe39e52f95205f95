"""The user's cache folder, and checks that other users cannot write to files and folders."""

from __future__ import annotations

import grp
import os
import pwd
import shlex
import stat
from functools import cache
from pathlib import Path

ENVIRONMENT = "SCHEDFARM_CACHE"
"""Variable with the folder of cached files. Empty: no cache. Unset: the user's cache folder."""

_UNMAPPED = 65534
"""User id that a user namespace shows for unmapped owners, as in a rootless container."""


def user_folder() -> Path | None:
    """Return schedfarm's folder in the user's cache folder; None without a home folder.

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


def folder_of(kind: str) -> Path | None:
    """Return the folder for cached files of one kind; None without a cache.

    Examples
    --------
    >>> import os
    >>> os.environ["SCHEDFARM_CACHE"] = "/var/tmp/farm"
    >>> str(folder_of("swf"))
    '/var/tmp/farm/swf'
    >>> del os.environ["SCHEDFARM_CACHE"]
    """
    named = os.environ.get(ENVIRONMENT)
    own = user_folder() if named is None else Path(named) if named else None
    return None if own is None else own / kind


def exposed(place: Path) -> Path | None:
    """Return the first of a path and its parents that other users could write to or replace.

    Return None if no other user could have changed the contents. The superuser and this user's own
    group are trusted. A folder with the sticky bit, such as /tmp, is accepted as a parent only:
    other users can add entries there, but not rename the entries of this user.
    """
    place = place.resolve()
    for one in (place, *place.parents):
        about = one.stat()
        sticky = one != place and bool(about.st_mode & stat.S_ISVTX)
        if not is_own(about, sticky=sticky):
            return one
    return None


def is_own(about: os.stat_result, *, sticky: bool = False) -> bool:
    """Return whether no other user can write to a path; with sticky, accept a path like /tmp."""
    return not _is_foreign(about) and (sticky or not _others_write(about))


def remedy(place: Path) -> str:
    """Return a sentence on a path from `exposed`: the users that can write to it, and the remedy.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as place:
    ...     remedy(Path(place)).replace(place, "PLACE")
    'other users can write to PLACE: take that right from them with chmod go-w PLACE'
    """
    if _is_foreign(place.stat()):
        return f"another user owns {place}: use a copy in a folder of your own"
    return (
        f"other users can write to {place}: take that right from them with chmod go-w "
        f"{shlex.quote(str(place))}"
    )


def _is_foreign(about: os.stat_result) -> bool:
    if about.st_uid == _UNMAPPED and _in_namespace():
        return False
    return about.st_uid not in (os.geteuid(), 0)


@cache
def _in_namespace() -> bool:
    """Return whether a user namespace lacks users, which then all appear as user 65534."""
    try:
        return Path("/proc/self/uid_map").read_text().split() != ["0", "0", str(2**32 - 1)]
    except OSError:
        return False


def _others_write(about: os.stat_result) -> bool:
    if about.st_mode & stat.S_IWOTH:
        return True
    return bool(about.st_mode & stat.S_IWGRP) and not _is_private(about.st_gid)


def _is_private(group: int) -> bool:
    """Return whether this user is the only member of a group, as on systems with umask 002."""
    try:
        user, members = pwd.getpwuid(os.geteuid()).pw_name, grp.getgrgid(group)
    except KeyError:
        return False
    return members.gr_name == user and set(members.gr_mem) <= {user}


def make_private(folder: Path) -> None:
    """Create a folder and its missing parents for this user only.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as place:
    ...     make_private(Path(place, "a", "b"))
    ...     oct(Path(place, "a").stat().st_mode & 0o777)
    '0o700'
    """
    # mode= would apply to the last folder only; the umask could make the other folders writable.
    for one in (*reversed(folder.parents), folder):
        if not one.is_dir():
            one.mkdir(mode=0o700, exist_ok=True)
