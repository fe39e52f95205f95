"""Campaigns that ship with the package, one TOML file each, found by name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from schedfarm.farm.shipped import located, names

if TYPE_CHECKING:
    from schedfarm.farm.campaign.campaign import Campaign

FOLDER = Path(__file__).parent


def shipped() -> list[str]:
    """Return the names of the campaigns that ship.

    Examples
    --------
    >>> "quickstart" in shipped()
    True
    """
    return names(FOLDER)


def find(name: str) -> Campaign:
    """Return the campaign of a TOML file, or the built-in campaign of this name.

    Raises
    ------
    InputError
        If neither exists, or the file does not describe a campaign.

    Examples
    --------
    >>> find("quickstart").cells
    160
    """
    from schedfarm.farm.campaign.campaign import Campaign

    return Campaign.from_toml(located(name, FOLDER, "campaign"))
