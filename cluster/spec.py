"""What a user can say of where tasks run, as one value and one short text."""

from __future__ import annotations

import re
from dataclasses import dataclass


class ClusterError(ValueError):
    """Say in one sentence why there is no cluster to work on."""


_ADDRESS = re.compile(r"(tcp|tls|ws|wss|inproc)://\S+")
_FILE = "scheduler-file:"


@dataclass(frozen=True)
class ClusterSpec:
    """Name a cluster: ``local``, a scheduler's address, or ``scheduler-file:PATH``.

    Parameters
    ----------
    kind : {"local", "address", "scheduler-file"}
        Which launcher.
    target : str
        Address or path; empty for a local cluster.
    workers : int, optional
        Worker processes of a local cluster; by default one per core. No launcher that finds its
        workers running takes it.

    Raises
    ------
    ClusterError
        If the parts do not go together.

    Examples
    --------
    >>> ClusterSpec.parse("tcp://10.0.0.1:8786").kind
    'address'
    """

    kind: str
    target: str = ""
    workers: int | None = None

    def __post_init__(self) -> None:
        if self.workers is not None and self.workers < 1:
            raise ClusterError(f"workers is {self.workers}; it must be at least 1")
        if self.workers is not None and self.kind != "local":
            raise ClusterError(
                f"workers is {self.workers}, but {self.target} has its own workers; leave it out"
            )

    @classmethod
    def parse(cls, text: str, workers: int | None = None) -> ClusterSpec:
        """Read a spec.

        Raises
        ------
        ClusterError
            If the text is none of the known forms.
        """
        if text == "local":
            return cls("local", workers=workers)
        if _ADDRESS.fullmatch(text):
            return cls("address", text, workers)
        if text.startswith(_FILE) and len(text) > len(_FILE):
            return cls("scheduler-file", text[len(_FILE) :], workers)
        raise ClusterError(
            f"cluster {text!r} is unknown; known: local, tls://HOST:PORT, tcp://HOST:PORT, "
            "scheduler-file:PATH"
        )
