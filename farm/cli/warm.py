"""`farm warm`: precompile kernels."""

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
    """Compile the kernels of every POLICY on this host, by default of all policies.

    Once per container image or type of node is enough: later processes load the compiled kernels
    from the disk until schedfarm or numba changes. Compiled kernels are skipped, so an interrupted
    command resumes.

    Covers simulations, fair start times, promised starts and metrics, on every machine that the
    policy's rule supports.
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
