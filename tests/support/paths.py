"""Folders that tests read: the tree, its pages, and data next to the tests."""

from __future__ import annotations

import os
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]

ROOT = TESTS.parent
"""The tree that the tests belong to; it comes before an installed version."""

PACKAGE = ROOT / "src" / "schedfarm"
"""What is imported: links to the packages, and the public names."""

IMPORTED = os.pathsep.join([str(PACKAGE.parent), str(ROOT)])
"""PYTHONPATH of processes that import the tree's own program and tests."""

DOCS = ROOT / "docs"

DATA = TESTS / "data"
