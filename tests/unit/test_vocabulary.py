"""Docstrings use the field's terms: jobs, threads and files are not persons."""

from __future__ import annotations

import ast
import re

from tests.support.paths import ROOT

EDITED = (
    "analysis/explanation_figure.py", "core/explanation",
    "analysis/cells.py", "analysis/groups.py", "analysis/logs.py", "analysis/notes.py",
    "analysis/plain.py", "analysis/plots", "analysis/report", "analysis/validation.py",
    "analysis/workloads.py", "cluster", "core/audit", "core/checks.py",
    "core/errors.py", "core/files.py", "core/format", "core/labels.py", "core/metrics",
    "core/names.py", "core/numerals.py", "core/own.py", "core/philox.py", "core/placement.py",
    "core/policy", "core/schedule.py", "core/workload", "farm/campaign", "farm/cli",
    "farm/execution", "farm/export", "farm/output.py", "farm/planning", "farm/store",
    "farm/watching",
)  # fmt: skip
"""Packages and modules whose prose has been edited; the others follow as they are touched."""

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
