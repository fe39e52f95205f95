"""`farm verify`: prove that a store holds what its records say."""

from __future__ import annotations

import secrets
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
    default=1,
    show_default=True,
    help="Cells of each policy to simulate again, and of each kind of fairness under it.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    help="Draws these cells; by default another number each time, which is said.",
)
@click.option(
    "--repair",
    is_flag=True,
    help="Mend what the rest determines; have bad cells run again with the next `farm run`.",
)
def verify(store: Path, sample: int, seed: int | None, repair: bool) -> None:
    """Check every byte of STORE's arrays and records, and simulate random cells again.

    Exit status: 0 sound, 1 faults found (also when they were repaired), 2 not a store.
    """
    from farm.store.lock import locked
    from farm.verify import Again
    from farm.verify import repair as mend
    from farm.verify import verify as check

    again = Again(sample, secrets.randbelow(10**6) if seed is None else seed)
    faults = _told(check(store, again))
    if again.cells:
        click.echo(
            f"simulated {again.done} of {again.cells} cells again (--seed {again.seed} draws the "
            "same)"
        )
    if not faults:
        click.echo(f"{store} is sound")
        return
    if not repair:
        click.echo(f"{len(faults)} faults; --repair mends them", err=True)
        sys.exit(FAULTY)
    mended = set()
    with locked(store):
        mended.update(mend(store, faults))
        # Altered metadata hides what is behind it until it is mended.
        mended.update(mend(store, _told(check(store, Again(sample, again.seed)))))
    click.echo(f"repaired; the next run does {len(mended)} blocks again")
    sys.exit(FAULTY)


def _told(faults: Iterable[Fault]) -> list[Fault]:
    told = []
    for fault in faults:
        told.append(fault)
        click.echo(f"{fault.path}: {fault.why}")
    return told
