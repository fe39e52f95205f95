"""The description of a cluster as a value, a short text or a table."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from schedfarm.cluster.errors import ClusterError
from schedfarm.cluster.launchers import LAUNCHERS, Launcher, recognised
from schedfarm.cluster.walltime import is_walltime

TABLE = "cluster"
"""Name of the table of the cluster in a campaign or TOML file."""

KEYS = ("on", "workers", "minimum", "coordinator", "certificates", "insecure")
"""Keys of the table of the cluster other than the launcher's own options."""


@dataclass(frozen=True)
class ClusterSpec:
    """Describe a cluster: ``local``, a scheduler's address, or a launcher with its options.

    Parameters
    ----------
    kind : str
        Launcher, a key of `schedfarm.cluster.launchers.LAUNCHERS`.
    target : str
        Address or scheduler file of an existing scheduler; empty otherwise.
    workers : int, optional
        Largest number of worker processes; by default one per core for a local cluster. It is
        invalid for existing clusters.
    options : mapping
        Options of the launcher.
    minimum : int, optional
        Number of worker processes to keep when there is less work; by default all.
    coordinator : mapping
        Options of a submitted coordinator's job that differ from those of the workers' jobs.
    certificates : str, optional
        Folder made by `farm certificates`; by default the certificates of Dask's configuration, or
        else the user's own.
    insecure : bool
        Whether to accept an unencrypted scheduler on a network.

    Raises
    ------
    ClusterError
        If the parts contradict each other, an option is unknown, or a package is missing.

    Examples
    --------
    >>> ClusterSpec.parse("tcp://10.0.0.1:8786").kind
    'address'
    """

    kind: str
    target: str = ""
    workers: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    minimum: int | None = None
    coordinator: Mapping[str, Any] = field(default_factory=dict)
    certificates: str | None = None
    insecure: bool = False

    def __post_init__(self) -> None:
        for key in ("workers", "minimum"):
            self._check_count(key, getattr(self, key))
        if self.minimum is not None and self.minimum > (self.workers or 0):
            raise ClusterError(
                f"minimum is {self.minimum}, but workers is {self.workers}; give at least as many"
            )
        if not isinstance(self.coordinator, Mapping):
            raise ClusterError(
                f"coordinator is {self.coordinator!r}; it must be a table of options"
            )
        if self.coordinator and self.launcher.queue is None:
            raise ClusterError(
                f"coordinator is given, but {self.name} has no batch system to submit one to"
            )
        self._check_security()
        if self.options or self.coordinator:
            self._check_options()

    def _check_count(self, key: str, count: object) -> None:
        if count is None:
            return
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            raise ClusterError(f"{key} is {count!r}; it must be at least 1")
        if self.launcher.found:
            raise ClusterError(
                f"{key} is {count}, but {self.target} has its own workers; leave it out"
            )

    def _check_security(self) -> None:
        if self.certificates is not None and not isinstance(self.certificates, str):
            raise ClusterError(
                f"certificates is {self.certificates!r}; it must be the name of a folder"
            )
        if not isinstance(self.insecure, bool):
            raise ClusterError(f"insecure is {self.insecure!r}; it must be true or false")

    def _check_options(self) -> None:
        from schedfarm.core.names import choices

        self.launcher.check_package(self.kind)
        known = self.launcher.options()
        for option in (*self.options, *self.coordinator):
            if option not in known and not self.launcher.others:
                raise ClusterError(
                    f"{self.name} has no option {option!r}; {choices(option, (*KEYS, *known))}"
                )
        for what, options in (("", self.options), ("coordinator: ", self.coordinator)):
            if self.launcher.queue and not is_walltime(value := options.get("walltime", 1)):
                raise ClusterError(
                    f"{self.name}: {what}walltime is {value!r}; give a length of time such as "
                    "02:00:00, or 1-12:00:00 for a day and a half"
                )

    def at_most(self, workers: int) -> ClusterSpec:
        """Return the spec with at most this many workers.

        Examples
        --------
        >>> ClusterSpec.parse("local", 8).at_most(3).workers
        3
        """
        least, most = (count and min(count, workers) for count in (self.minimum, self.workers))
        return replace(self, workers=most, minimum=least)

    @property
    def launcher(self) -> Launcher:
        """The launcher, a row of `LAUNCHERS`."""
        return LAUNCHERS[self.kind]

    @property
    def folder(self) -> Path | None:
        """Folder of the certificates, if given."""
        return None if self.certificates is None else Path(self.certificates).expanduser()

    @property
    def name(self) -> str:
        """Name of the cluster in messages: the address or path, or the launcher."""
        return self.target or self.kind

    @classmethod
    def parse(cls, text: str, workers: int | None = None) -> ClusterSpec:
        """Parse the short text of a spec.

        Raises
        ------
        ClusterError
            If the text has none of the known forms.
        """
        found = recognised(text)
        if found is None:
            from schedfarm.core.names import choices

            forms = [row.form for row in LAUNCHERS.values()]
            raise ClusterError(f"cluster {text!r} is unknown; {choices(text, forms)}, FILE.toml")
        return cls(*found, workers=workers)

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> ClusterSpec:
        """Build a spec from a table: ``on``, `KEYS`, and the launcher's own options.

        Raises
        ------
        ClusterError
            If the table lacks ``on``, or has a key that the launcher does not support.

        Examples
        --------
        >>> ClusterSpec.of({"on": "local", "workers": 2})
        ClusterSpec(kind='local', target='', workers=2, options={}, minimum=None, coordinator={}, \
certificates=None, insecure=False)
        """
        if "on" not in table:
            raise ClusterError("[cluster] lacks 'on', such as on = \"slurm\"")
        given = {key: table[key] for key in KEYS[1:] if key in table}
        options = {key: value for key, value in table.items() if key not in KEYS}
        return replace(cls.parse(str(table["on"])), options=options, **given)


def table_of(path: Path) -> Mapping[str, Any]:
    """Return the cluster table of a TOML file: its top level, or [cluster]."""
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise ClusterError(f"cluster {path}: {error}") from None
    table = given.get(TABLE, given)
    if not isinstance(table, Mapping):
        raise ClusterError(f"cluster {path}: {TABLE} is {table!r}; it must be a table")
    return table
