"""slurm.conf: keys of the scheduler, and lines of nodes and partitions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from schedfarm.core.errors import InputError
from schedfarm.farm.site.dump.facts import Fact, is_whole, text_of

LISTED = ("nodename", "partitionname")
"""First keys of lines that may be repeated."""

DEFAULT = "DEFAULT"
"""Name of lines with defaults for later lines of their kind; further DEFAULT lines add to them."""

_PAIR = re.compile(r"(\S+?)\s*=\s*(\"[^\"]*\"|\S+)")


@dataclass(frozen=True)
class Conf:
    """Hold the configuration: values by key in small letters, lines of nodes and partitions.

    partitions, nodes: keys of these lines, by name or by expression of names. path: the file, for
    messages.
    """

    path: Path
    keys: Mapping[str, Fact[str]]
    partitions: Mapping[str, Fact[Mapping[str, str]]]
    nodes: Mapping[str, Fact[Mapping[str, str]]]
    included: tuple[Fact[str], ...] = ()

    def get(self, key: str, default: str) -> Fact[str]:
        """Return the value of a key; if the file lacks it, Slurm's default."""
        found = self.keys.get(key.lower())
        return found or Fact(default, f"{self.path.name} has no {key}: Slurm's default")

    @property
    def parameters(self) -> dict[str, Fact[str]]:
        """Entries of SchedulerParameters; an entry without an equals sign has the value ""."""
        given = self.get("SchedulerParameters", "")
        words = (word.partition("=") for word in given.value.split(",") if word.strip())
        return {
            name.strip().lower(): Fact(value.strip(), f"{given.source}, {name.strip()}")
            for name, _, value in words
        }


def seconds_in(key: str, given: Fact[str]) -> int:
    """Return a time of slurm.conf, s, written as minutes, D-H, D-H:M:S, H:M:S or M:S."""
    days, dash, rest = given.value.rpartition("-")
    words = rest.split(":")
    if not all(map(is_whole, [*words, *([days] if dash else [])])) or len(words) > 3:
        raise InputError(f"{given.source}: {key}={given.value}; give a time such as 7-0 or 5")
    units = (3600, 60, 1) if dash or len(words) == 3 else (60, 1)
    seconds = sum(int(word) * unit for word, unit in zip(words, units, strict=False))
    return seconds + (int(days) * 86_400 if dash else 0)


def read_conf(path: Path) -> Conf:
    """Read slurm.conf, or the output of `scontrol show config`."""
    keys: dict[str, Fact[str]] = {}
    listed: dict[str, dict[str, Fact[Mapping[str, str]]]] = {name: {} for name in LISTED}
    defaults: dict[str, Fact[dict[str, str]]] = {}
    included = []
    for number, line in _lines(path):
        where = f"{path.name}:{number}"
        if line.lower().startswith("include "):
            included.append(Fact(line.split(None, 1)[1], where))
            continue
        pairs = [(key.lower(), value.strip('"')) for key, value in _PAIR.findall(line)]
        if not pairs:
            # `scontrol show config` has titles, such as "Cgroup Support Configuration:".
            if "=" in line or line.endswith(":") or line.lower().startswith("configuration data"):
                continue
            raise InputError(f"{where}: {line[:40]!r} is not KEY=VALUE")
        first, name = pairs[0]
        if first in listed:
            before, line_keys = defaults.get(first), dict(pairs[1:])
            if before:
                line_keys = before.value | line_keys
                where = f"{where}, with {DEFAULT} of {before.source}"
            if name.upper() == DEFAULT:
                defaults[first] = Fact(line_keys, f"{path.name}:{number}")
            else:
                listed[first][name] = Fact(line_keys, where)
            continue
        for key, value in pairs:
            if key in keys and keys[key].value != value:
                raise InputError(
                    f"{where}: {key}={value}, and {keys[key].value} in {keys[key].source}; keep "
                    "the line that is in force"
                )
            keys[key] = Fact(value, where)
    return Conf(path, keys, listed["partitionname"], listed["nodename"], tuple(included))


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield numbered lines without comments; a line that ends with a backslash is continued."""
    kept, begun = "", 0
    for number, line in enumerate(text_of(path).splitlines(), 1):
        bare = line.partition("#")[0].rstrip()
        begun = begun or number
        if bare.endswith("\\"):
            kept += bare[:-1] + " "
            continue
        if found := (kept + bare).strip():
            yield begun, found
        kept, begun = "", 0
