"""TOML files of machines; each has the name of the table of jobs next to it."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from schedfarm.core.arrays import HORIZON
from schedfarm.core.checks import whole
from schedfarm.core.errors import InputError
from schedfarm.core.files import write_whole
from schedfarm.core.folded import MOST, folded, plain, unfolded
from schedfarm.core.machines.nodes.platform import Nodes
from schedfarm.core.machines.platform import Platform
from schedfarm.core.names import choices

KEYS = ("epoch", "max_walltime", "nodes", "sets", "down")
"""Keys of a file for a machine of nodes."""

END = ".toml"

_BARE = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)


P = TypeVar("P", bound=Platform)


class Machine(NamedTuple, Generic[P]):
    """Hold the content of a machine's file.

    platform: the nodes or clusters. epoch: Unix time of instant 0, s; -1 if unknown. limit: largest
    estimate on the machine, s; -1 for the largest estimate of the jobs.
    """

    platform: P
    epoch: int = -1
    limit: int = -1


def machine_file(log: str | os.PathLike[str]) -> Path:
    """Return the path of the machine's file of a log.

    Examples
    --------
    >>> machine_file("logs/icluster2.csv.gz").as_posix()
    'logs/icluster2.toml'
    """
    path = Path(log)
    return path.with_name(path.name.removesuffix(".gz")).with_suffix(END)


def read_machine(path: str | os.PathLike[str]) -> Machine[Nodes]:
    r"""Read a machine of nodes from a TOML file with the keys `KEYS`.

    ``[[nodes]]`` has `names` and `capacity`. ``[sets]`` has a list of names for each set.
    ``[[down]]`` has `names`, `from` and `until`, s. Names are one text, or a list of texts, for
    `core.folded.unfolded`.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "small.toml"
    ...     _ = path.write_text('[[nodes]]\nnames = "n[1-3]"\ncapacity = 2\n'
    ...                         '[sets]\nfast = ["n[2-3]"]')
    ...     read_machine(path).platform
    Nodes(capacities=(2, 2, 2), names=('n1', 'n2', 'n3'), sets=(('fast', ('n2', 'n3')),), down=())
    """
    source = os.fspath(path)
    plain_text = parsed(source, "nodes")
    try:
        check_keys(plain_text, KEYS, "the file")
        names, capacities = _nodes(plain_text.get("nodes"))
        return Machine(
            Nodes(capacities, names, _sets(plain_text.get("sets", {})), _down(plain_text)),
            time_of(plain_text, "epoch"),
            time_of(plain_text, "max_walltime"),
        )
    except InputError as error:
        raise InputError(f"{source}: {error}") from None


def machine_text(machine: Machine[Nodes], notes: Mapping[str, str]) -> str:
    """Return the content of a file for `read_machine`, with notes as comments at its head.

    Examples
    --------
    >>> print(machine_text(Machine(Nodes([2, 2], ["n1", "n2"]), 0, -1), {}), end="")
    epoch = 0
    <BLANKLINE>
    [[nodes]]
    names = ["n[1-2]"]
    capacity = 2
    """
    platform = machine.platform
    parts = head_of(machine, "max_walltime", notes)
    for name in platform.names:
        plain(name, "the name of a node")
    sized = zip(platform.capacities, platform.names, strict=True)
    for capacity, group in groupby(sized, lambda one: one[0]):
        names = _listed([name for _, name in group])
        parts.append(f"[[nodes]]\nnames = {names}\ncapacity = {capacity}")
    sets = platform.to_dict()["configuration"]["sets"]
    if sets:
        lines = (f"{_key(name)} = {_listed(nodes)}" for name, nodes in sets.items())
        parts.append("\n".join(["[sets]", *lines]))
    for name, first, until in platform.down:
        parts.append(f"[[down]]\nnames = {quoted(name)}\nfrom = {first}\nuntil = {until}")
    return "\n\n".join(parts) + "\n"


def write_beside(log: Path, jobs: bytes, machine: bytes) -> None:
    """Write the machine's file, then the table of jobs."""
    try:
        # A missing folder is usually a misspelling, and is therefore not created.
        log.parent.stat()
        write_whole(machine_file(log), machine)
        write_whole(log, jobs)
    except OSError as error:
        raise InputError(f"{log}: cannot write the log ({error.strerror})") from None


def head_of(machine: Machine[Any], limit: str, notes: Mapping[str, str]) -> list[str]:
    """Return the head of a machine's file: notes as comments, then times; empty without both."""
    times = {"epoch": machine.epoch, limit: machine.limit}
    lines = [f"# {key}: {' '.join(note.split())}" for key, note in notes.items()]
    lines += [f"{key} = {value}" for key, value in times.items() if value >= 0]
    return ["\n".join(lines)] if lines else []


def parsed(source: str, places: str) -> dict[str, Any]:
    """Return the parsed TOML file of a machine; `places` names its parts, such as nodes."""
    try:
        with open(source, "rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise InputError(
            f"{source}: cannot read the machine's {places} ({error.strerror}); a log of jobs on "
            f"{places} needs them in a TOML file of its name next to it, and a table of other "
            "columns needs a map"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{source}: not TOML ({error})") from None


def check_keys(table: object, known: Sequence[str], where: str) -> None:
    """Raise an error for a value that is not a table or has an unknown key."""
    if not isinstance(table, Mapping):
        raise InputError(f"{where} is {table!r}; give a table of {', '.join(known)}")
    for key in table:
        if key not in known:
            raise InputError(f"{where} has the unknown key {key!r}; {choices(key, known)}")


def _nodes(groups: object) -> tuple[list[str], list[int]]:
    if not isinstance(groups, list) or not groups:
        raise InputError(
            f"nodes is {groups!r}; give [[nodes]] with names = 'ita[001-104]' and capacity = 2"
        )
    names: list[str] = []
    capacities: list[int] = []
    for place, group in enumerate(groups, 1):
        where = f"[[nodes]] {place}"
        check_keys(group, ("names", "capacity"), where)
        found = _names(group.get("names"), f"{where}: names")
        names += found
        capacity = whole(f"{where}: capacity", group.get("capacity"), least=1)
        capacities += [capacity] * len(found)
        if len(names) > MOST:
            raise InputError(f"{where}: {len(names)} nodes so far; give at most {MOST}")
    return names, capacities


def _sets(table: object) -> dict[str, list[str]]:
    if not isinstance(table, Mapping):
        raise InputError(f"sets is {table!r}; give [sets] with NAME = ['ita[001-052]'] each")
    return {
        plain(name, "a set's name"): _names(given, f"set {name!r}") for name, given in table.items()
    }


def _down(table: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    rows: list[tuple[str, Any, Any]] = []
    given = table.get("down", [])
    if not isinstance(given, list):
        raise InputError(f"down is {given!r}; give [[down]] with names, from and until")
    for place, one in enumerate(given, 1):
        where = f"[[down]] {place}"
        check_keys(one, ("names", "from", "until"), where)
        first, until = (
            whole(f"{where}: {key}", one.get(key), least=0, most=HORIZON)
            for key in ("from", "until")
        )
        rows += [(name, first, until) for name in _names(one.get("names"), f"{where}: names")]
    return rows


def _names(given: object, where: str) -> list[str]:
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not texts:
        raise InputError(f"{where} is {given!r}; give names such as 'ita[001-104]', or a list")
    return [name for text in texts for name in unfolded(text, where)]


def time_of(table: Mapping[str, Any], key: str) -> int:
    """Return an optional time of a machine's file, s; -1 if it is missing."""
    return whole(key, table[key], least=0, most=HORIZON) if key in table else -1


def _listed(names: Sequence[str]) -> str:
    return f"[{', '.join(map(quoted, folded(names)))}]"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else quoted(plain(name, "a set's name"))


def quoted(text: str) -> str:
    """Return a text as a TOML string, by JSON, which escapes the same characters."""
    return json.dumps(text, ensure_ascii=False)
