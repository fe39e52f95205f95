"""Helpers for tests of bad input: a valid campaign to change, and the form of a refusal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import tomli_w

GOOD: dict[str, Any] = {
    "name": "tiny",
    "seed": 3,
    "resamples": 2,
    "loads": ["original", 0.9],
    "policies": ["fcfs+easy", "saf+easy"],
    "traces": [{"name": "m", "model": "lublin", "processors": 64, "jobs": 40}],
}
"""A campaign that would run."""

ROW = "{} {} -1 10 2 -1 -1 2 20 -1 1 7 -1 -1 -1 -1 -1 -1\n"
LOG = "; MaxProcs: 8\n" + "".join(ROW.format(k, 3600 * k) for k in range(1, 30))
"""A log of 29 jobs, one an hour."""

Said = Callable[..., str]
"""Runs `farm` with these words and returns the sentence that refuses them: fixture `said`."""


def sentence(text: str) -> str:
    """Hold that an error is one line, and return it."""
    lines = text.rstrip("\n").split("\n")
    assert len(lines) == 1, text
    assert lines[0].startswith("farm: "), text
    return lines[0]


def unlike(rows: Iterable[tuple[Any, Sequence[str]]], refusal: Callable[[Any], str]) -> list[str]:
    """Return the rows of a table (input, words) whose refusal lacks a word, each with it."""
    found = [(given, words, refusal(given)) for given, words in rows]
    return [f"{given}: {text}" for given, words, text in found if any(w not in text for w in words)]


def write(campaign: dict[str, Any], path: Path) -> None:
    """Write a campaign's file."""
    path.write_text(tomli_w.dumps(campaign))


def refused(said: Said, **changes: Any) -> str:
    """Return the refusal of a campaign with other values for some keys."""
    write({**GOOD, **changes}, Path("c.toml"))
    return said("run", "c.toml")


def other_trace(**changes: Any) -> list[dict[str, Any]]:
    """Return the good campaign's traces with other values for some keys."""
    return [{**GOOD["traces"][0], **changes}]
