"""Files and stores that are made once in a session, for all of its tests and xdist workers."""

from __future__ import annotations

import fcntl
import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from schedfarm import farm
from schedfarm.farm.campaign.campaign import Campaign
from tests.support.harness import snapshot


class MadeStores:
    """Build the store of each campaign once.

    Several workers use one folder; a campaign's trace files must be the same for all of them to
    have one store.

    Parameters
    ----------
    folder : Path
        Shared by the workers of the session.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._handed_out: dict[Path, dict[str, str]] = {}

    def __call__(self, campaign: Campaign) -> Path:
        """Return the finished store of a campaign, for reading only.

        Request it before patching the program, since all tests share the store.
        """
        said = json.dumps([campaign.to_toml(), campaign.own])
        digest = hashlib.sha256(said.encode()).hexdigest()[:16]
        path = self.once(f"{campaign.name}-{digest}", lambda store: _build(campaign, store))
        if path not in self._handed_out:
            self._handed_out[path] = dict(snapshot(path))
        return path

    def copy(self, campaign: Campaign, path: Path) -> Path:
        """Copy the finished store of a campaign to a path, for a test that writes to it."""
        return Path(shutil.copytree(self(campaign), path))

    def once(self, name: str, make: Callable[[Path], object]) -> Path:
        """Return a file or folder that only the first caller in the session makes."""
        path = self._folder / name
        with _alone(self._folder / f"{name}.lock"):
            if not path.exists():
                unfinished = self._folder / f"{name}.unfinished"
                make(unfinished)
                unfinished.rename(path)
        return path

    def altered(self) -> list[str]:
        """Return the stores that tests have changed."""
        return [p.name for p, before in self._handed_out.items() if snapshot(p) != before]


def _build(campaign: Campaign, store: Path) -> None:
    assert farm.run(campaign, store).failed == 0


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    with lock.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield
