"""What users bring: stand-in."""

from __future__ import annotations

import importlib
from typing import Any

METRIC_GROUP = "schedfarm.metrics"


def load(name: str, group: str = "") -> Any:
    """Stand in."""
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)
