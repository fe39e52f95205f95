"""Progress of a loop of known length: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

LINE_SECONDS = 5.0
"""Time between two plain lines of progress."""


@contextmanager
def counting(unit: str, *, quiet: bool = False) -> Iterator[Callable[[int, int], None]]:
    """Yield a function that shows its arguments, number done and total, on standard error."""
    if quiet:
        yield lambda done, total: None
    elif sys.stderr.isatty():
        from tqdm import tqdm

        with tqdm(file=sys.stderr, leave=False, unit=f" {unit}") as bar:

            def draw(done: int, total: int) -> None:
                bar.total = total
                bar.update(done - bar.n)

            yield draw
    else:
        last = time.monotonic()

        def write(done: int, total: int) -> None:
            nonlocal last
            if time.monotonic() - last >= LINE_SECONDS:
                last = time.monotonic()
                click.echo(f"{done}/{total} {unit}", err=True)

        yield write
