"""Campaigns that ship with the package, one TOML file each, and how a name finds its file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

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
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def find(name: str) -> Campaign:
    """Return the campaign of a TOML file, or the one that ships under a name.

    Raises
    ------
    InputError
        If there is neither, or the file does not describe a campaign.

    Examples
    --------
    >>> find("quickstart").cells
    160
    """
    from schedfarm.core.errors import InputError
    from schedfarm.core.names import choices
    from schedfarm.farm.campaign.campaign import Campaign

    path = Path(name)
    if path.suffix == ".toml" or path.exists():
        return Campaign.from_toml(path)
    if name not in shipped():
        raise InputError(
            f"campaign {name!r} is neither a file nor one that ships; {choices(name, shipped())}"
        )
    return Campaign.from_toml(FOLDER / f"{name}.toml")
