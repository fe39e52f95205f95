"""`farm verify`: prove that a store holds what its records say."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from farm.cli.command import STORE, command

if TYPE_CHECKING:
    from farm.verify import Fault

FAULTY = 1


@command()
@STORE
@click.option(
    "--sample",
    type=click.IntRange(min=0),
    default=3,
    show_default=True,
    help="Blocks to simulate again.",
)
@click.option(
    "--repair",
    is_flag=True,
    help="Mend what the rest determines; have bad cells run again with the next `farm run`.",
)
def verify(store: Path, sample: int, repair: bool) -> None:
    """Check every byte of STORE's arrays and records, and simulate a sample again.

    Exit status: 0 sound, 1 faults found (also when they were repaired), 2 not a store.
    """
    from farm.store.lock import locked
    from farm.verify import repair as mend
    from farm.verify import verify as check

    faults = _told(check(store, sample=sample))
    if not faults:
        click.echo(f"{store} is sound")
        return
    if not repair:
        click.echo(f"{len(faults)} faults; --repair mends them", err=True)
        sys.exit(FAULTY)
    again = set()
    with locked(store):
        again.update(mend(store, faults))
        # Altered metadata hides what is behind it until it is mended.
        again.update(mend(store, _told(check(store, sample=sample))))
    click.echo(f"repaired; the next run does {len(again)} blocks again")
    sys.exit(FAULTY)


def _told(faults: Iterable[Fault]) -> list[Fault]:
    told = []
    for fault in faults:
        told.append(fault)
        click.echo(f"{fault.path}: {fault.why}")
    return told
