"""What users and the like of a trace are called, kept beside a store where that is asked for.

A file of its own for each trace, which its owner alone may read: no array, attribute or record of a
store has a name in it, so that a store without the folder `names` can be given away.
"""

from __future__ import annotations

import json
from pathlib import Path

from core.errors import InputError
from core.files import write_whole
from core.workload.workload import Names

FOLDER = "names"
"""The folder of a store that holds them."""


def keep_names(store: Path, trace: str, names: Names | None) -> None:
    """Write the names of a trace into a store's folder, or take them away.

    Parameters
    ----------
    store : Path
        The store's folder.
    trace : str
        Label of the trace.
    names : mapping of str to mapping of int to str, or None
        As `Workload.names`; None for no file.

    Raises
    ------
    OSError
        If the operating system refuses.
    """
    path = _path(store, trace)
    if names is None:
        path.unlink(missing_ok=True)
        return
    plain = {column: {str(n): name for n, name in known.items()} for column, known in names.items()}
    path.parent.mkdir(mode=0o700, exist_ok=True)
    write_whole(path, json.dumps(plain, indent=1).encode(), private=True)


def names_of(store: str | Path, trace: str) -> dict[str, dict[int, str]]:
    """Return what the numbers of a trace's users, groups, queues and partitions stand for.

    Parameters
    ----------
    store : str or Path
        The folder.
    trace : str
        Label of the trace.

    Returns
    -------
    dict of str to dict of int to str
        Of each column that has names, such as ``user``, the name of each number.

    Raises
    ------
    InputError
        If the store has no names of the trace, or they cannot be read.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     keep_names(Path(folder), "site", {"user": {1: "ann"}})
    ...     names_of(folder, "site")
    {'user': {1: 'ann'}}
    """
    path = _path(Path(store), trace)
    try:
        plain = json.loads(path.read_bytes())
        return {column: {int(n): str(v) for n, v in t.items()} for column, t in plain.items()}
    except FileNotFoundError:
        raise InputError(
            f"store {store} has no names of trace {trace!r}; ask for them with names = true of "
            "the trace, and run the campaign again"
        ) from None
    except (OSError, ValueError, AttributeError):
        raise InputError(f"{path} cannot be read; run the campaign again to have it made") from None


def _path(store: Path, trace: str) -> Path:
    return store / FOLDER / f"{trace}.json"
