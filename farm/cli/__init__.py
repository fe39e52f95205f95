"""The command line: `farm COMMAND`. The one place where campaigns, clusters and analysis meet."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

import click

from farm.cli.audit import audit
from farm.cli.cancel import cancel
from farm.cli.certificates import certificates
from farm.cli.clusters import clusters
from farm.cli.completion import completion
from farm.cli.init import init
from farm.cli.lists import campaigns, metrics, policies
from farm.cli.offline import offline
from farm.cli.plan import plan
from farm.cli.results import bands, gains, status
from farm.cli.run import run
from farm.cli.simulate import simulate
from farm.cli.submit import submit
from farm.cli.traces import traces
from farm.cli.verify import verify
from farm.cli.warm import warm
from farm.cli.watch import watch
from farm.cli.who import who

BAD_INPUT = 2
INTERRUPTED = 130


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="schedfarm", prog_name="farm")
def cli() -> None:
    """Answer what users would have felt under policy P instead of Q, and how sure that is."""


for command in (
    run, submit, cancel, plan, status, watch, verify, bands, gains, who,
    simulate, audit, offline, init, policies, metrics, campaigns, clusters, certificates,
    traces, warm, completion,
):  # fmt: skip
    cli.add_command(command)


def main() -> None:
    """Run a command; bad input, or an interrupt, is one sentence and exit status 2, or 130."""
    try:
        sys.exit(cli(standalone_mode=False))
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("farm: interrupted", err=True)
        with suppress(OSError):
            sys.stdout.flush()
        # Every context has been left by now. What is not is Zarr's event loop, in the middle of
        # what was broken off: wound up by the interpreter, it may print 500 lines of tracebacks.
        os._exit(INTERRUPTED)
    except ValueError as error:
        if not _is_bad_input(error):
            raise
        from core.checks import printable

        # Names of files, and what a text is quoted with, may be anything.
        click.echo(f"farm: {printable(str(error))}", err=True)
        sys.exit(BAD_INPUT)


def _is_bad_input(error: ValueError) -> bool:
    from cluster.errors import ClusterError
    from core.errors import InputError

    return isinstance(error, InputError | ClusterError)
