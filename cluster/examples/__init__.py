"""Template files, one for each launcher, with the meaning of every line."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent


def examples() -> dict[str, Path]:
    """Return the files by launcher, or else by name.

    Examples
    --------
    >>> examples()["slurm"].name
    'slurm.toml'
    """
    return {path.stem: path for path in sorted(FOLDER.iterdir()) if not path.name.startswith("__")}
