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
@click.option(
    "--archive", help="File for the kernels, which --install reads; - is standard output."
)
@click.option(
    "--install",
    help="File of kernels that --archive wrote. They are added to the kernels of this host; the "
    "command then compiles only kernels that the file lacks.",
)
@QUIET
def warm(policies: Sequence[str], archive: str | None, install: str | None, quiet: bool) -> None:
    """Compile the kernels of each POLICY on this host; by default those of all policies.

    Once per container image or type of node is enough: later processes load the compiled kernels
    from the disk until schedfarm or numba changes. Existing kernels are skipped, so an interrupted
    command resumes.

    An archive is for hosts with the same processor and the same versions of schedfarm, Python and
    numba. It contains machine code, and is refused if another user could have written it. Name the
    same policies with --install as with --archive, so that no other kernels are compiled.

    The kernels cover simulations, fair start times, promised starts and metrics, on every machine
    that the policy's rule supports.
    """
    from schedfarm.core.errors import InputError
    from schedfarm.core.numerals import counted, lasting
    from schedfarm.farm.execution.precompile import cache_folder, every_policy, precompile
    from schedfarm.farm.output import output

    if (folder := cache_folder()) is None:
        raise InputError(
            "compiled kernels cannot be kept among the caches of this user; set NUMBA_CACHE_DIR to "
            "a folder that this user can write to and others cannot"
        )
    target = None if archive is None else output("--archive", archive, filter(None, [install]))
    if install is not None:
        from pathlib import Path

        from schedfarm.core.engine.archive import unpack

        added = counted(unpack(Path(install), folder), "kernel")
        click.echo(f"{added} of {install} added to {folder}", err=True)
    begun = time.monotonic()
    with ExitStack() as brought:
        wanted = [brought.enter_context(brought_policy(name, quiet=True)) for name in policies]
        total = 0
        for one in precompile(wanted or every_policy()):
            total += one.compiled
            said = counted(one.compiled, "function") + " compiled" if one.compiled else "at hand"
            if not quiet:
                click.echo(f"{one.policy} on {one.machine}: {said}", err=True)
    if target is not None:
        from schedfarm.core.engine.archive import pack

        target.write(pack())
    took = lasting(time.monotonic() - begun)
    standard = target is not None and target.standard
    click.echo(f"{counted(total, 'function')} compiled in {took}; kept in {folder}", err=standard)
