"""The script that draws the figures of a page, without a network.

vl-convert takes 1 to 3 s to join Vega, Vega-Lite and their embedding. Since a version of vl-convert
always makes the same script, the script is kept in the user's cache.
"""

from __future__ import annotations

import contextlib
import hashlib
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from schedfarm.analysis.errors import StoreError
from schedfarm.core.caches import exposed, folder_of
from schedfarm.core.files import write_cached

EMBEDDING = "window.vegaEmbed = vegaEmbed;"
"""The script's only name that is used by pages."""


def check_script() -> None:
    """Refuse to begin a page whose figures cannot be drawn."""
    if find_spec("vl_convert") is None:
        raise StoreError(
            "the page's figures need vl-convert-python; "
            "install it with pip install 'schedfarm[report]'"
        )


@cache
def script() -> str:
    """Return Vega, Vega-Lite and their embedding."""
    file = _place()
    return (file and _kept(file)) or _joined(file)


def _place() -> Path | None:
    """Return the file of a script; None without a cache or without a known version."""
    folder = folder_of("pages")
    try:
        made_by = version("vl-convert-python")
    except PackageNotFoundError:
        return None
    name = f"vega-{made_by}-{_digest(EMBEDDING)[:12]}.js"
    return None if folder is None else folder / name


def _kept(file: Path) -> str | None:
    """Return a script from a file that only this user can write; None if the file is damaged."""
    with contextlib.suppress(OSError, ValueError):
        if exposed(file) is None:
            # The file is not read as text, because Python would change its line ends.
            digest, _, text = file.read_bytes().decode().partition("\n")
            if digest == _digest(text):
                return text
    return None


def _joined(file: Path | None) -> str:
    """Have vl-convert make a script; keep it in a file, if a file is given."""
    import vl_convert

    text = str(vl_convert.javascript_bundle(EMBEDDING))
    if file is not None:
        write_cached(file, f"{_digest(text)}\n{text}".encode())
    return text


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
