"""TOML files that ship with the package, found by name on the command line."""

from __future__ import annotations

from pathlib import Path


def names(folder: Path) -> list[str]:
    """Return the names of the shipped files in a folder."""
    return sorted(path.stem for path in folder.glob("*.toml"))


def located(name: str, folder: Path, kind: str) -> Path:
    """Return the given path, or the path of the shipped file of a kind with this name.

    Raises `InputError` if neither exists.
    """
    from schedfarm.core.errors import InputError
    from schedfarm.core.names import choices

    path = Path(name)
    if path.suffix == ".toml" or path.exists():
        return path
    known = names(folder)
    if name not in known:
        raise InputError(f"{kind} {name!r} is neither a file nor built in; {choices(name, known)}")
    return folder / f"{name}.toml"
