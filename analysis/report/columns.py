"""Tables of a page as columns: labels are indices into lists, and numbers are rounded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

DIGITS = 7
"""Significant digits of a number on the page."""


@dataclass
class Columns:
    """Collect rows; each label is stored once, so that a page with 100,000 rows is small.

    Examples
    --------
    >>> table = Columns(("policy", "wait"))
    >>> table.add("fcfs+easy", 12.34567891)
    >>> table.add("spf+easy", float("nan"))
    >>> table.plain()["columns"]
    {'policy': [0, 1], 'wait': [12.34568, None]}
    """

    names: Sequence[str]
    rows: list[tuple[Any, ...]] = field(default_factory=list)

    def add(self, *row: object) -> None:
        """Add a row."""
        self.rows.append(row)

    def plain(self) -> dict[str, Any]:
        """Return the table as JSON-compatible values for the page's script."""
        labels: dict[str, list[str]] = {}
        columns: dict[str, list[Any]] = {}
        for name, column in zip(self.names, self._by_column(), strict=True):
            if any(isinstance(value, str) for value in column):
                there = dict.fromkeys(str(value) for value in column if value is not None)
                known = {label: i for i, label in enumerate(there)}
                labels[name] = list(known)
                columns[name] = [None if x is None else known[str(x)] for x in column]
            else:
                columns[name] = [rounded(value) for value in column]
        return {"labels": labels, "columns": columns}

    def _by_column(self) -> Iterable[Sequence[Any]]:
        return list(zip(*self.rows, strict=True)) if self.rows else [()] * len(self.names)


def rounded(x: Any) -> int | float | None:
    """Return a number with `DIGITS` significant digits; None if it is not finite.

    Examples
    --------
    >>> rounded(1234567.0), rounded(0.1 + 0.2), rounded(float("inf")), rounded(7)
    (1234567, 0.3, None, 7)
    """
    if isinstance(x, (int, np.integer)):
        return int(x)
    if x is None or not np.isfinite(x):
        return None
    value = float(f"{x:.{DIGITS}g}")
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def labelled(table: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of a plain table, as the page's script computes them."""
    labels, columns = table["labels"], table["columns"]
    shown = {
        name: [None if i is None else labels[name][i] for i in column] if name in labels else column
        for name, column in columns.items()
    }
    return [dict(zip(shown, row, strict=True)) for row in zip(*shown.values(), strict=True)]
