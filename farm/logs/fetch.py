"""Fetching of logs over the network: files are kept only if they are complete and checked."""

from __future__ import annotations

import errno
import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from schedfarm.core.checks import printable
from schedfarm.core.errors import InputError
from schedfarm.core.files import write_whole
from schedfarm.core.logs.read import read_log
from schedfarm.core.names import choices
from schedfarm.farm.logs.registry import (
    ENDS,
    ENVIRONMENT,
    NOTE,
    cache_folder,
    checked,
    content_hash,
    entries,
    find,
    here,
    note_of,
)

TIMEOUT = (10.0, 60.0)
"""Timeout of a connection, and of the next bytes, s."""

CHUNK = 2**16
"""Bytes received in one step."""

PATIENCE = 1.0
"""Duration of a download after which its progress is shown on a terminal, s."""

LARGEST = 2**32
"""Bytes after which a download is abandoned: the archive's largest log has 2^27."""

WIDEST = 2**31
"""Number of processors for a trial reading, enough for any job of a log."""


def locate(name: str, given: Path | None = None) -> Path:
    """Return the checked file of a named log, after fetching it if no folder has it."""
    path = here(name, given)
    if path is not None:
        return checked(path, name)
    entry = find(name)
    if entry is None:
        known = choices(name, [e.short for e in entries()], aliases=[e.name for e in entries()])
        raise InputError(
            f"log {name!r} is not known; {known}, and logs fetched with 'farm traces fetch "
            "URL'; or give a file"
        )
    return download(entry.url, entry.file)


def fetch(what: str, given: Path | None = None) -> Path:
    """Return the checked file of a log by its name or URL, after fetching it if necessary.

    The digest of a log outside the registry is noted at the first fetch; later fetches from the
    same URL must have the same content.
    """
    if "://" not in what:
        return locate(what, given)
    file = _file_of(what)
    path = here(file, given)
    if path is None:
        return download(what, file)
    noted = note_of(path).get("url")
    if find(file) is None and noted != what:
        whence = noted or "elsewhere"
        raise InputError(f"{path} exists already, from {whence}; move it away to fetch {what}")
    return checked(path, file)


def download(url: str, file: str) -> Path:
    """Fetch a URL into a file of the cache folder; keep the file only if its content is right."""
    import pooch

    folder = cache_folder()
    # Pooch logs every step on standard error; the errors below contain the relevant step.
    pooch.get_logger().setLevel("ERROR")

    def receive(source: str, temporary: str, _: Any) -> None:
        pooch.HTTPDownloader(
            progressbar=_progress(file, Path(temporary)), chunk_size=CHUNK, timeout=TIMEOUT
        )(source, temporary, None)
        _check(Path(temporary), url, folder / file)

    made = [one for one in (folder, *folder.parents) if not one.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"the folder of logs {folder} cannot be made ({error.strerror}); set {ENVIRONMENT} to "
            "another"
        ) from None
    try:
        pooch.retrieve(url, known_hash=None, fname=file, path=folder, downloader=receive)
        (folder / file).chmod(0o644)
    except OSError as error:
        raise InputError(
            f"{file} cannot be fetched from {url} ({_reason(error)}); get it in another way and "
            f"put it into {folder} under the name {file}, or into a folder that --traces names"
        ) from None
    finally:
        with suppress(OSError):
            # Only empty folders are removed.
            for one in made:
                one.rmdir()
    return folder / file


def _check(temporary: Path, url: str, target: Path) -> None:
    """Refuse wrong content; note the digest of a log outside the registry.

    The note is written before the file is renamed, so that every kept log has a note.
    """
    entry = find(target.name)
    known = entry.sha256 if entry else note_of(target).get("sha256")
    try:
        found = content_hash(temporary)
        if known is None:
            read_log(temporary, processors=WIDEST)
    except InputError as error:
        reason = str(error).replace(str(temporary), "its content")
        raise InputError(f"{url} does not give a log; {reason}") from None
    if known is None:
        note = json.dumps({"url": url, "sha256": found}, indent=1)
        write_whole(target.with_name(target.name + NOTE), note.encode())
    elif found != known:
        whence = "in the registry" if entry else f"when it was first fetched ({target.name}{NOTE})"
        raise InputError(
            f"{url} has other content than expected, and was not kept: its SHA-256 is "
            f"{found[:12]}..., and {known[:12]}... {whence}"
        )


def _file_of(url: str) -> str:
    parts = urlsplit(url)
    if parts.username is not None or parts.password is not None:
        # The URL goes into a note next to the log, and into sentences such as this one.
        raise InputError(
            f"the URL of a log at {printable(parts.hostname or '')} names a user or a password, "
            "which would be kept with the log; get it in another way and name the file"
        )
    file = unquote(parts.path.rpartition("/")[2])
    plain = "/" not in file and not file.startswith(".")
    if parts.scheme not in ("http", "https") or not plain or not file.lower().endswith(ENDS):
        raise InputError(
            f"{url!r} is not the URL of a log; it must begin with http:// or https:// and end in "
            f"one of {', '.join(ENDS)}"
        )
    return file


def _progress(file: str, growing: Path) -> Any:
    from tqdm import tqdm

    class Bounded(tqdm):  # type: ignore[type-arg]
        def __bool__(self) -> bool:
            # Otherwise the bar counts as False while no total is known, and is never updated.
            return True

        def update(self, n: float | None = 1) -> bool | None:
            # The length reported by a server may be wrong or missing.
            if growing.stat().st_size > LARGEST:
                raise OSError(errno.EFBIG, f"it has more than {LARGEST:,} bytes")
            return super().update(n)

    return Bounded(
        desc=file,
        total=0,
        unit="B",
        unit_scale=True,
        delay=PATIENCE,
        leave=False,
        disable=None,
        file=sys.stderr,
    )


def _reason(error: OSError) -> str:
    """Return the reason for a failed connection, without the wrappers of libraries."""
    response = getattr(error, "response", None)
    if response is not None:
        # Pooch leaves the connection of a refused request open.
        response.close()
        return f"the server answers {response.status_code} {response.reason}"
    if error.strerror:
        return error.strerror
    inner: Any = error
    while inner.args and isinstance(inner.args[0], BaseException):
        inner = inner.args[0]
    reason = getattr(inner, "reason", None) or inner
    words = str(reason).rpartition(": ")[2].rpartition("] ")[2].rstrip(")'\" ")
    return words or type(error).__name__
