"""Cautions on a terminal: once each, before what they are of."""

from __future__ import annotations

from collections.abc import Mapping

import click


def warn(found: Mapping[str, Mapping[str, str]]) -> None:
    """Say every trace's cautions on standard error, a line each.

    Parameters
    ----------
    found : mapping of str to mapping of str to str
        By trace and key, the sentences of `farm.campaign.warnings.warnings_of`.
    """
    for trace, said in found.items():
        for sentence in said.values():
            click.echo(f"caution: {trace}: {sentence}", err=True)
