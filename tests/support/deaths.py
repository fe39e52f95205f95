"""Death of the process during the construction of a store, at a chosen step."""

from __future__ import annotations

from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest

from schedfarm import farm
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.store.place import Where


class Killed(BaseException):
    """Simulate the end of the process: no code after it runs."""


def kill_build(
    monkeypatch: pytest.MonkeyPatch, step: str, campaign: Campaign, store: Where, file: str = ""
) -> None:
    """Run a campaign that dies at a step of building its store.

    Parameters
    ----------
    monkeypatch : pytest.MonkeyPatch
        Restores the step.
    step : str
        Function of the farm that dies, by the module that calls it.
    campaign, store
        The campaign and its place.
    file : str
        Name of the file at which it dies, where its first argument is a path; by default any.
    """
    real = resolve_name(f"schedfarm.farm.{step}")

    def die(*arguments: Any, **keys: Any) -> Any:
        if file and Path(arguments[0]).name != file:
            return real(*arguments, **keys)
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(f"schedfarm.farm.{step}", die)
        with pytest.raises(Killed):
            farm.run(campaign, store)
