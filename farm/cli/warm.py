"""`farm warm`: compile all kernels now, and not when the first simulation needs them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack

import click

from schedfarm.farm.cli import words
from schedfarm.farm.cli.command import QUIET, command
from schedfarm.farm.cli.own import brought_policy


@command()
@click.argument("policies", metavar="[POLICY]...", nargs=-1, shell_complete=words.policies)
@QUIET
def warm(policies: Sequence[str], quiet: bool) -> None:
    """Compile the kernels of every POLICY on this host, or of all that there are.

    Once is enough, say in the image of a container or on one node of a kind: later processes read
    what it kept on the disk, until the program or its numba is another one. What is there already
    is not compiled again, so that the same command goes on where it was interrupted.

    Simulations, fair start times, starts promised at arrival and metrics are made ready, on every
    kind of machine that a policy's rule knows.
    """
    from schedfarm.core.errors import InputError
    from schedfarm.core.numerals import counted, lasting
    from schedfarm.farm.execution.precompile import cache_folder, every_policy, precompile

    if (folder := cache_folder()) is None:
        raise InputError(
            "compiled kernels cannot be kept among the caches of this user; set NUMBA_CACHE_DIR to "
            "a folder that this user can write to and others cannot"
        )
    begun = time.monotonic()
    with ExitStack() as brought:
        wanted = [brought.enter_context(brought_policy(name, quiet=True)) for name in policies]
        total = 0
        for one in precompile(wanted or every_policy()):
            total += one.compiled
            said = counted(one.compiled, "function") + " compiled" if one.compiled else "at hand"
            if not quiet:
                click.echo(f"{one.policy} on {one.machine}: {said}", err=True)
    took = lasting(time.monotonic() - begun)
    click.echo(f"{counted(total, 'function')} compiled in {took}; kept in {folder}")
