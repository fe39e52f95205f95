"""Docstrings use the field's terms: jobs, threads and files are not persons."""

from __future__ import annotations

import ast
import re

from tests.support.paths import ROOT

EDITED = ("analysis", "cluster", "core", "farm", "src/schedfarm/learning")
"""Packages whose prose is held to the list."""

WORDS = re.compile(r"\b(anew|beside|but for|nobody|somebody|told|whoever)\b", re.IGNORECASE)
"""Each has a clearer substitute: again, next to, except, no user, a user, reported, anyone who."""


def test_docstrings_use_the_terms_of_the_field() -> None:
    found = []
    for name in EDITED:
        place = ROOT / name
        for path in [place] if place.suffix else sorted(place.rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                    for word in WORDS.findall(str(node.value.value)):
                        found.append(f"{path.relative_to(ROOT)}:{node.lineno}: {word}")
    assert found == []
