"""Fixtures that several tests of the core use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from schedfarm.core.caches import ENVIRONMENT


@pytest.fixture(scope="module")
def swf_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Have the logs that one module reads cached in a folder of its own."""
    with pytest.MonkeyPatch.context() as patch:
        place = tmp_path_factory.mktemp("cache")
        patch.setenv(ENVIRONMENT, str(place))
        yield place / "swf"
