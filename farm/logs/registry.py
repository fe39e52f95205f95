"""Registry of named logs: their data, and the files of local copies."""

from __future__ import annotations

import hashlib
import json
import os
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from schedfarm.core.checks import printable
from schedfarm.core.errors import InputError
from schedfarm.core.logs.formats import file_ends
from schedfarm.core.logs.packed import read_bytes, unpacked
from schedfarm.core.logs.rows import log_name
from schedfarm.core.machines.grid.platform import Grid

ENVIRONMENT = "SCHEDFARM_TRACES"
"""Variable with the folder of logs; by default, or if it is empty, the user's cache folder."""

ENDS = file_ends()
"""Endings of the names of log files, the likeliest first."""

NOTE = ".origin.json"
"""Ending of the name of the file next to a fetched log, which has its URL and SHA-256."""

ARCHIVE_THANKS = "{} provided the log, Dror Feitelson's Parallel Workloads Archive publishes it"
"""Acknowledgement of a log of the archive."""


@dataclass(frozen=True)
class Entry:
    """Describe one log of the archive.

    Parameters
    ----------
    name : str
        The archive's name of the log, with its version.
    short : str
        A shorter name of the log.
    url : str
        URL in the archive.
    machine : str
        Recorded machine.
    processors, rows, weeks : int
        Size of the machine, number of rows of the file, and number of weeks with submissions.
    sha256 : str
        SHA-256 of the decompressed content.
    acknowledge : str
        Acknowledgement of the log's authors.
    clusters : tuple of int
        Processors of each cluster of the machine; empty where unknown.
    """

    name: str
    short: str
    url: str
    machine: str
    processors: int
    rows: int
    weeks: int
    sha256: str
    acknowledge: str
    clusters: tuple[int, ...] = ()

    @property
    def grid(self) -> Grid | None:
        """The machine as a grid of its clusters, named 1, 2 and so on; None without clusters."""
        if not self.clusters:
            return None
        return Grid(self.clusters, [f"cluster{i}" for i in range(1, len(self.clusters) + 1)])

    @property
    def file(self) -> str:
        """Name of the file in the archive."""
        return self.url.rpartition("/")[2]


@cache
def entries() -> tuple[Entry, ...]:
    """Return all logs of the registry.

    Examples
    --------
    >>> [e.short for e in entries()][:3]
    ['CTC-SP2', 'HPC2N', 'KTH-SP2']
    """
    text = Path(__file__).with_name("registry.toml").read_text(encoding="utf-8")
    plain = tomllib.loads(text)
    return tuple(_entry(plain["archive"], log) for log in plain["logs"])


def _entry(archive: str, log: dict[str, Any]) -> Entry:
    apart = ("folder", "acknowledge", "clusters")
    given = {key: value for key, value in log.items() if key not in apart}
    return Entry(
        **given,
        clusters=tuple(log.get("clusters", ())),
        url=f"{archive}/{log['folder']}/{log['name']}.swf.gz",
        acknowledge=ARCHIVE_THANKS.format(log["acknowledge"]),
    )


def find(name: str) -> Entry | None:
    """Return the log with this name, short name or file name; None for an unknown name.

    Examples
    --------
    >>> find("kth-sp2").name, find("KTH-SP2-1996-2.1-cln.swf").processors
    ('KTH-SP2-1996-2.1-cln', 100)
    """
    wanted = log_name(name).lower()
    return next((e for e in entries() if wanted in (e.name.lower(), e.short.lower())), None)


def is_path(text: str) -> bool:
    """Return whether a word looks like a file's path; otherwise it is the name of a log.

    Examples
    --------
    >>> is_path("KTH-SP2"), is_path("mine.swf"), is_path("logs/mine")
    (False, True, True)
    """
    return os.path.basename(text) != text or (text.endswith(ENDS) and find(text) is None)


def full_name(log: str) -> str:
    """Return the full name of a log; a path is unchanged.

    Examples
    --------
    >>> full_name("kth-sp2"), full_name("logs/mine.swf")
    ('KTH-SP2-1996-2.1-cln', 'logs/mine.swf')
    """
    if is_path(log):
        return log
    entry = find(log)
    return entry.name if entry else log_name(log)


def short_name(log: str) -> str:
    """Return the short name of a log, or of a log file.

    Examples
    --------
    >>> short_name("KTH-SP2-1996-2.1-cln"), short_name("logs/mine.swf")
    ('KTH-SP2', 'mine')
    """
    entry = None if is_path(log) else find(log)
    return entry.short if entry else log_name(log)


def cache_folder() -> Path:
    """Return the folder in which fetched logs are kept.

    Examples
    --------
    >>> import os
    >>> os.environ["SCHEDFARM_TRACES"] = "/var/tmp/logs"
    >>> str(cache_folder())
    '/var/tmp/logs'
    >>> del os.environ["SCHEDFARM_TRACES"]
    """
    named = os.environ.get(ENVIRONMENT)
    if named:
        return Path(named).expanduser()
    from platformdirs import user_cache_path

    try:
        folder = user_cache_path("schedfarm") / "traces"
    except RuntimeError:
        folder = Path("~")
    # Without a home folder, older versions of platformdirs return ~/.cache unexpanded.
    if not folder.is_absolute():
        raise InputError(f"there is no home folder; set {ENVIRONMENT} to a folder")
    return folder


def folders(given: Path | None = None) -> tuple[Path, ...]:
    """Return the folders to search for a log: the given folder, then the cache."""
    if given is not None and not given.is_dir():
        raise InputError(f"--traces {given}: there is no such folder")
    return (cache_folder(),) if given is None else (given, cache_folder())


def here(name: str, given: Path | None = None) -> Path | None:
    """Return the file of a named log, unchecked; None if no folder has it."""
    entry = find(name)
    files = [entry.file, entry.file.removesuffix(".gz")] if entry else _files(name)
    return next((f / file for f in folders(given) for file in files if (f / file).is_file()), None)


def _files(name: str) -> Sequence[str]:
    if not name or name != Path(name).name:
        return []
    return [name] if name.lower().endswith(ENDS) else [name + end for end in ENDS]


def kept(folder: Path) -> list[Path]:
    """Return the logs in a folder that users have fetched by URL."""
    notes = sorted(folder.glob(f"*{NOTE}"))
    logs = [note.with_name(note.name.removesuffix(NOTE)) for note in notes]
    return [log for log in logs if log.is_file()]


def note_of(path: Path) -> dict[str, str]:
    """Return the recorded URL and digest of a fetched log; empty without a record."""
    note = path.with_name(path.name + NOTE)
    try:
        plain = json.loads(note.read_bytes())
        return {key: str(plain[key]) for key in ("url", "sha256")}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(f"{note} cannot be read; delete it to have it made again") from None


def content_hash(path: Path) -> str:
    """Return the SHA-256 of a file's decompressed content."""
    return hashlib.sha256(unpacked(read_bytes(path), str(path))).hexdigest()


def checked(path: Path, name: str) -> Path:
    """Return the file of a named log if its content has the known digest."""
    entry = find(name)
    right = entry.sha256 if entry else note_of(path).get("sha256")
    found = content_hash(path) if right else None
    if found != right:
        raise InputError(
            f"{path} is not the log {log_name(path.name)}: its content has SHA-256 "
            f"{str(found)[:12]}..., not {str(right)[:12]}...; delete it to fetch it again, or name "
            "it as a file"
        )
    return path


def acknowledgement(path: str | os.PathLike[str]) -> str:
    """Return the acknowledgement for a log: by its name, else from its header; empty if none."""
    entry = find(os.path.basename(path))
    if entry:
        return entry.acknowledge
    found = []
    for line in unpacked(read_bytes(path), os.fspath(path)).splitlines():
        if line.strip() and not line.lstrip().startswith((b";", b"#")):
            break
        key, colon, value = line.lstrip(b";# \t").partition(b":")
        if colon and key.strip().lower() == b"acknowledge":
            words = value.decode("utf-8", errors="replace").split()
            found.append(printable(" ".join(words)))
    return "; ".join(found)
