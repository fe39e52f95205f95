"""Cautions on standard error."""

from __future__ import annotations

from collections.abc import Mapping

import click


def warn(found: Mapping[str, Mapping[str, str]]) -> None:
    """Print the cautions of every trace on standard error, one line each."""
    for trace, said in found.items():
        for sentence in said.values():
            click.echo(f"caution: {trace}: {sentence}", err=True)
