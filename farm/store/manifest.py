"""Seal the text of store.json, and check it."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from schedfarm.core.errors import InputError
from schedfarm.core.format.names import MANIFEST, is_plain
from schedfarm.core.format.version import FORMAT, VERSION

if TYPE_CHECKING:
    from schedfarm.farm.store.place import Place


def sealed(plain: Mapping[str, Any]) -> bytes:
    """Return the text of a store.json: format and version, what is given, a CRC-32 of all that."""
    whole = {"format": FORMAT, "version": VERSION, **plain}
    return json.dumps({**whole, "crc32": _seal(whole)}, indent=1).encode()


def unsealed(place: Place, data: bytes) -> dict[str, Any]:
    """Read the text of a store.json.

    Parameters
    ----------
    place : Place
        Where the store is.
    data : bytes
        The text.

    Returns
    -------
    dict
        What `sealed` was given.

    Raises
    ------
    InputError
        If it is not one, has been altered, or its format is not this program's.
    """
    try:
        plain: dict[str, Any] = json.loads(data)
        found, version, seal = plain["format"], plain["version"], plain.pop("crc32", None)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError(
            f"{place.at(MANIFEST)} does not describe a store; 'farm verify {place} --repair' "
            "restores it from its copy"
        ) from None
    if found != FORMAT or version != VERSION:
        older = found == FORMAT and isinstance(version, int) and version < VERSION
        remedy = (
            "run its campaign into a new folder; farm bands and xarray read this one as ever"
            if older
            else "use a newer one"
        )
        raise InputError(
            f"store {place} has format {found} version {version}; this schedfarm goes on with "
            f"{FORMAT} version {VERSION}: {remedy}"
        )
    if seal != _seal(plain):
        raise InputError(
            f"{place.at(MANIFEST)} has been altered; 'farm verify {place} --repair' restores it "
            "from its copy"
        )
    _check_places(place, plain)
    return {key: value for key, value in plain.items() if key not in ("format", "version")}


def _check_places(place: Place, plain: Mapping[str, Any]) -> None:
    """Refuse names that would lead out of the store: its files are written and deleted by them."""
    logs = (source.get("columns") for source in plain["sources"].values())
    names = [*plain["axes"]["trace"], *plain["sources"], *(log for log in logs if log is not None)]
    for holding in plain["holds"].values():
        names += [variable["name"] for variable in (*holding["arrays"], *holding["figures"])]
    for name in names:
        if not is_plain(name):
            raise InputError(
                f"{place.at(MANIFEST)} names {name!r}, which is no name of a trace, a log or an "
                "array; this is no store that farm run wrote, so leave it alone"
            )


def _seal(plain: Mapping[str, Any]) -> int:
    return zlib.crc32(json.dumps(plain, sort_keys=True).encode())
