"""Folders that tests read: the tree, its pages, and data that stand beside the tests."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]

ROOT = TESTS.parent
"""The tree that the tests belong to; it comes before an installed version."""

DOCS = ROOT / "docs"

DATA = TESTS / "data"
