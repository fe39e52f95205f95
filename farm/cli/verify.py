"""`farm verify`: prove that a store holds what its records say."""

from __future__ import annotations

import sys
from pathlib import Path

import click

FAULTY = 1


@click.command()
@click.argument("store", type=click.Path(path_type=Path))
@click.option("--sample", default=3, show_default=True, help="Blocks to simulate again.")
@click.option(
    "--repair",
    is_flag=True,
    help="Mend what the rest determines; have bad cells run again with the next `farm run`.",
)
def verify(store: Path, sample: int, repair: bool) -> None:
    """Check every byte of STORE's arrays and records, and simulate a sample again.

    Exit status: 0 sound, 1 faults found (also when they were repaired), 2 not a store.
    """
    from farm.lock import locked
    from farm.verify import repair as mend
    from farm.verify import verify as check

    faults = []
    for fault in check(store, sample=sample):
        faults.append(fault)
        click.echo(f"{fault.path}: {fault.why}")
    if not faults:
        click.echo(f"{store} is sound")
        return
    if repair:
        with locked(store):
            blocks = mend(store, faults)
        click.echo(f"{len(faults)} faults repaired; the next run does {len(blocks)} blocks again")
    else:
        click.echo(f"{len(faults)} faults; --repair mends them", err=True)
    sys.exit(FAULTY)
