"""Options that choose the cluster, and their combination with a campaign's [cluster]."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from schedfarm.farm.cli import words

if TYPE_CHECKING:
    from schedfarm.cluster import ClusterSpec

COORDINATOR = "coordinator."
"""Prefix of options that apply to the coordinator's job only."""

KEYS = ("on", "scheduler_file", "workers", "options", "certificates", "insecure")


def where(takes: Callable[..., None]) -> Callable[..., None]:
    """Add the cluster options to a command, and pass them as one `ClusterOptions`."""

    @wraps(takes)
    def handed(**given: Any) -> None:
        takes(cluster=ClusterOptions(**{key: given.pop(key) for key in KEYS}), **given)

    for option in reversed(OPTIONS):
        handed = option(handed)
    return handed


OPTIONS = (
    click.option(
        "--on",
        metavar="SPEC",
        shell_complete=words.listed(lambda: _kinds()),
        help="Cluster: local (the default), tls://HOST:PORT, scheduler-file:PATH, a launcher such "
        "as slurm, or a TOML file with the keys of [cluster]; see `farm clusters`.",
    ),
    click.option(
        "--scheduler-file",
        type=click.Path(path_type=Path),
        help="Same as --on scheduler-file:PATH.",
    ),
    click.option(
        "--workers",
        type=int,
        help="Number of worker processes: by default one per core of this machine, or 1 with a "
        "launcher.",
    ),
    click.option(
        "--option",
        "options",
        multiple=True,
        metavar="NAME=VALUE",
        help="Launcher option, such as walltime=02:00:00; repeatable. The prefix coordinator. "
        "limits it to the coordinator's job: coordinator.memory=2GB.",
    ),
    click.option(
        "--certificates",
        metavar="FOLDER",
        help="Folder made by `farm certificates`; by default the certificates set in Dask's "
        "configuration, or else those in your configuration folder.",
    ),
    click.option(
        "--insecure",
        is_flag=True,
        help="Accept an unencrypted scheduler on a network, where anyone can use it.",
    ),
)


def _kinds() -> list[str]:
    from schedfarm.cluster.launchers import LAUNCHERS

    return [*LAUNCHERS]


class ClusterOptions:
    """Hold the cluster options of a command line."""

    def __init__(
        self,
        on: str | None,
        scheduler_file: Path | None,
        workers: int | None,
        options: tuple[str, ...],
        certificates: str | None = None,
        insecure: bool = False,
    ) -> None:
        from schedfarm.cluster import ClusterError

        if on is not None and scheduler_file is not None:
            raise ClusterError(
                f"--on {on} and --scheduler-file {scheduler_file} both name the cluster; give one"
            )
        self._on = on if scheduler_file is None else f"scheduler-file:{scheduler_file}"
        self._workers, self._given = workers, options
        given = dict(_option(one) for one in options)
        self._options = {key: v for key, v in given.items() if not key.startswith(COORDINATOR)}
        self._coordinator = {
            key.removeprefix(COORDINATOR): v for key, v in given.items() if key not in self._options
        }
        self._secured: dict[str, Any] = {"insecure": True} if insecure else {}
        if certificates is not None:
            self._secured["certificates"] = str(Path(certificates).absolute())

    @property
    def _file(self) -> Path | None:
        """TOML file given with --on, if any."""
        from schedfarm.cluster.launchers import recognised

        on = self._on or ""
        return Path(on) if on.endswith(".toml") and recognised(on) is None else None

    @property
    def workers(self) -> int | None:
        """Number of workers given with --workers, if any."""
        return self._workers

    def words(self) -> list[str]:
        """Return command-line arguments for the same cluster that are valid in any folder."""
        on = str(self._file.absolute()) if self._file else self._on
        found = ["--on", on] if on else []
        found += ["--workers", str(self._workers)] if self._workers is not None else []
        found += ["--insecure"] if "insecure" in self._secured else []
        if "certificates" in self._secured:
            found += ["--certificates", self._secured["certificates"]]
        return found + [word for one in self._given for word in ("--option", one)]

    def spec(self, table: Mapping[str, Any]) -> ClusterSpec:
        """Return the cluster, combining the command line with a campaign's [cluster].

        The command line takes precedence. The table applies if it names the same launcher, or if
        the command line names no launcher.
        """
        from schedfarm.cluster import ClusterSpec
        from schedfarm.cluster.spec import table_of

        if self._file:
            given: Mapping[str, Any] = table_of(self._file)
        elif self._on is None or self._on == table.get("on"):
            given = table or {"on": "local"}
        else:
            given = {"on": self._on}
        said: dict[str, Any] = {} if self._workers is None else {"workers": self._workers}
        table_s = given.get("coordinator", {})
        if self._coordinator and isinstance(table_s, Mapping):
            said["coordinator"] = {**table_s, **self._coordinator}
        spec = ClusterSpec.of({**given, **self._options, **said, **self._secured})
        if given is table:
            _show_options(table)
        return spec


SECRET = re.compile("pass|secret|token", re.IGNORECASE)
"""Pattern of option names whose values are not printed."""


def _show_options(table: Mapping[str, Any]) -> None:
    """Print a campaign's launcher options before they are used, since some are commands."""
    from schedfarm.cluster.spec import KEYS

    options = {key: table[key] for key in table if key not in KEYS or key == "coordinator"}
    if options:
        shown = "; ".join(f"{key} = {value!r}" for key, value in _without_secrets(options).items())
        click.echo(f"note: the campaign's [cluster] sets {shown}", err=True)


def _without_secrets(table: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: "***"
        if SECRET.search(key)
        else _without_secrets(value)
        if isinstance(value, Mapping)
        else value
        for key, value in table.items()
    }


def _option(text: str) -> tuple[str, Any]:
    """Parse NAME=VALUE; the value is parsed as TOML if possible, else kept as text.

    Examples
    --------
    >>> _option("cores=4"), _option("walltime=02:00:00"), _option("queue=short")
    (('cores', 4), ('walltime', '02:00:00'), ('queue', 'short'))
    """
    from schedfarm.cluster import ClusterError

    name, equals, value = text.partition("=")
    if not name or not equals:
        raise ClusterError(f"--option {text}: give NAME=VALUE, such as walltime=02:00:00")
    try:
        read = tomllib.loads(f"value = {value}")
    except tomllib.TOMLDecodeError:
        return name, value
    found = read.get("value", value)
    # A TOML time of day is a walltime.
    plain = isinstance(found, str | int | float | bool | list | dict) and read.keys() == {"value"}
    return name, found if plain else value
