"""`farm verify`: check the data of a store against its records."""

from __future__ import annotations

import json
import secrets
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from schedfarm.farm.cli.command import JSON, STORE, command, patience

if TYPE_CHECKING:
    from schedfarm.farm.verify import Again, Fault

FAULTY = 1


@command()
@STORE
@click.option(
    "--sample",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="Number of cells to simulate again, for each policy and each kind of fairness.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    help="Seed for choosing these cells; by default random, and printed.",
)
@click.option(
    "--repair",
    is_flag=True,
    help="Repair data that follow from other data of the store; the next `farm run` simulates "
    "damaged cells again.",
)
@click.option(
    "--trust",
    is_flag=True,
    help="Run the Python code of the store's own orders, rules and metrics, so that their cells "
    "can be simulated again.",
)
@click.option("--quiet", is_flag=True, help="Print faults only.")
@JSON
def verify(
    store: str,
    sample: int,
    seed: int | None,
    repair: bool,
    trust: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Check every byte of STORE's arrays and records, and simulate random cells again.

    A store may contain Python code: its own orders, rules and metrics. Without --trust this code
    does not run, and no cell of such a store is simulated again.

    Exit status: 0 sound, 1 faults found (even if repaired), 2 not a store.
    """
    from schedfarm.farm.store.place import place_of
    from schedfarm.farm.verify import Again, repair as mend, verify as check

    again = Again(sample, secrets.randbelow(10**6) if seed is None else seed, trust)
    with patience(quiet=quiet):
        faults = _told(check(store, again), store, as_json)
    found = list(faults)
    mended = set()
    if faults and repair:
        with place_of(store).locked():
            mended.update(mend(store, faults))
            # Damaged metadata hides its arrays' data until the metadata is repaired.
            known = {fault.name for fault in found if fault.block is None}
            repeated = check(store, Again(sample, again.seed, trust))
            hidden = _told((fault for fault in repeated if fault.name not in known), store, as_json)
            mended.update(mend(store, hidden))
            found += hidden
    if as_json:
        click.echo(json.dumps(_facts(store, again, found, len(mended), repair), indent=1))
    elif found or not quiet:
        _say(store, again, found, len(mended), repair)
    if found:
        sys.exit(FAULTY)


def _told(faults: Iterable[Fault], store: str, as_json: bool) -> list[Fault]:
    from schedfarm.farm.store.place import place_of

    told, place = [], place_of(store)
    for fault in faults:
        told.append(fault)
        if not as_json:
            click.echo(f"{place.at(fault.name)}: {fault.why}")
    return told


def _say(store: str, again: Again, found: list[Fault], mended: int, repaired: bool) -> None:
    from schedfarm.core.numerals import counted, grouped
    from schedfarm.farm.verify import Remedy

    if again.left_out:
        click.echo(
            "no cell was simulated again, since that would run Python code of the store "
            f"({', '.join(again.left_out)}); allow it with --trust",
            err=True,
        )
    if again.cells:
        click.echo(
            f"simulated {grouped(again.done)} of {counted(again.cells, 'cell')} again "
            f"(--seed {again.seed} chooses the same)"
        )
    if not found:
        click.echo(f"{store} is sound")
    elif repaired:
        lost = len({fault.name for fault in found if fault.remedy is Remedy.READ_AGAIN})
        again_read = f" and stores {counted(lost, 'log')} again" if lost else ""
        click.echo(f"repaired; the next run repeats {counted(mended, 'block')}{again_read}")
    else:
        click.echo(f"{counted(len(found), 'fault')}; repair them with --repair", err=True)


def _facts(
    store: str, again: Again, found: list[Fault], mended: int, repaired: bool
) -> dict[str, Any]:
    from schedfarm.farm.store.place import place_of

    place = place_of(store)
    faults = [
        {"path": place.at(f.name), "why": f.why, "block": str(f.block) if f.block else None}
        for f in found
    ]
    return {
        "store": str(store),
        "sound": not found,
        "faults": faults,
        "repaired": repaired and bool(found),
        "blocks_to_run": mended,
        "simulated_again": again.done,
        "cells": again.cells,
        "seed": again.seed,
        "left_out": list(again.left_out),
    }
