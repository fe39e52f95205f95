"""TOML files that ship with the package, and how a name on the command line finds its file."""

from __future__ import annotations

from pathlib import Path


def names(folder: Path) -> list[str]:
    """Return the names of the files that ship in a folder."""
    return sorted(path.stem for path in folder.glob("*.toml"))


def located(name: str, folder: Path, kind: str) -> Path:
    """Return a path that is given, or that of the file of a kind that ships under a name.

    InputError if there is neither.
    """
    from schedfarm.core.errors import InputError
    from schedfarm.core.names import choices

    path = Path(name)
    if path.suffix == ".toml" or path.exists():
        return path
    known = names(folder)
    if name not in known:
        raise InputError(
            f"{kind} {name!r} is neither a file nor one that ships; {choices(name, known)}"
        )
    return folder / f"{name}.toml"
