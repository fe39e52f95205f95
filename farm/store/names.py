"""Names of the users, groups, queues and partitions of a trace, stored on request.

Each trace has its own file. In a folder, only the owner can read the file; in a bucket, the
bucket's permissions apply. Arrays, attributes and records of a store contain no names. A store can
therefore be published without its folder `names`.
"""

from __future__ import annotations

import json

import numpy as np

from schedfarm.core.errors import InputError
from schedfarm.core.workload.workload import Workload
from schedfarm.farm.store.place import Where, place_of

FOLDER = "names"
"""Folder of the files with names in a store."""


def keep_names(store: Where, trace: str, log: Workload | None) -> None:
    """Write the names of a trace's log to its store, or delete them if there is no log."""
    place, name = place_of(store), _name(trace)
    if log is None:
        place.remove(name)
        return
    plain = {
        column: {str(n): known[n] for n in np.unique(getattr(log, column)).tolist() if n in known}
        for column, known in log.names.items()
    }
    place.write(name, json.dumps(plain, indent=1).encode(), private=True)


class NoNamesError(InputError):
    """Report a trace without names: its campaign did not request them, or the store is missing."""


def names_of(store: Where, trace: str) -> dict[str, dict[int, str]]:
    """Return the names of a trace's users, groups, queues and partitions by their numbers.

    Parameters
    ----------
    store : str or path
        The folder or address.
    trace : str
        Label of the trace.

    Returns
    -------
    dict of str to dict of int to str
        For each column with names, such as ``user``, the name of each number.

    Raises
    ------
    NoNamesError
        If the store has no names of the trace.
    InputError
        If the names cannot be read.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> log = Workload.from_columns(submit=[0], run=[1], estimate=[1], procs=[1], user=[1],
    ...                             names={"user": {1: "ann", 2: "bob"}}, processors=1)
    >>> with TemporaryDirectory() as folder:
    ...     keep_names(folder, "site", log)
    ...     names_of(folder, "site")
    {'user': {1: 'ann'}}
    """
    place, name = place_of(store), _name(trace)
    try:
        plain = json.loads(place.read(name))
        return {column: {int(n): str(v) for n, v in t.items()} for column, t in plain.items()}
    except (FileNotFoundError, NotADirectoryError):
        raise NoNamesError(
            f"store {store} has no names of trace {trace!r}; request them with names = true for "
            "the trace, and run the campaign again"
        ) from None
    except PermissionError:
        raise InputError(f"{place.at(name)} may not be read by this user; its owner can") from None
    except (OSError, ValueError, AttributeError):
        raise InputError(
            f"{place.at(name)} cannot be read; run the campaign again to create it"
        ) from None


def _name(trace: str) -> str:
    return f"{FOLDER}/{trace}.json"
