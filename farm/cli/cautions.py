"""Cautions on standard error."""

from __future__ import annotations

from collections.abc import Mapping

import click


def warn(found: Mapping[str, Mapping[str, str]]) -> None:
    """Print each caution on standard error, in one line with the names of its traces."""
    traces: dict[str, list[str]] = {}
    for trace, said in found.items():
        for sentence in said.values():
            traces.setdefault(sentence, []).append(trace)
    for sentence, names in traces.items():
        click.echo(f"caution: {', '.join(names)}: {sentence}", err=True)
