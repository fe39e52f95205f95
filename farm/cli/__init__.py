"""The command line: `farm COMMAND`. The one place where campaigns, clusters and analysis meet."""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from schedfarm.farm.cli.audit import audit
from schedfarm.farm.cli.cancel import cancel
from schedfarm.farm.cli.certificates import certificates
from schedfarm.farm.cli.clusters import clusters
from schedfarm.farm.cli.command import Sections
from schedfarm.farm.cli.compare import compare
from schedfarm.farm.cli.completion import completion
from schedfarm.farm.cli.init import init
from schedfarm.farm.cli.lists import campaigns, metrics, policies
from schedfarm.farm.cli.offline import offline
from schedfarm.farm.cli.plan import plan
from schedfarm.farm.cli.results import bands, gains, status
from schedfarm.farm.cli.run import run
from schedfarm.farm.cli.simulate import simulate
from schedfarm.farm.cli.submit import submit
from schedfarm.farm.cli.traces import traces
from schedfarm.farm.cli.verify import verify
from schedfarm.farm.cli.warm import warm
from schedfarm.farm.cli.watch import watch
from schedfarm.farm.cli.who import who

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

BAD_INPUT = 2
INTERRUPTED = 130

AGAIN_SECONDS = 0.01
"""After which a dropped interrupt is repeated."""


@click.group(cls=Sections, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="schedfarm", prog_name="farm")
def cli() -> None:
    """Answer what users would have felt under policy P instead of Q, and how sure that is."""


cli.add_section(
    "Look at one log",
    {
        traces: "Fetch logs, and say what one holds.",
        simulate: "Simulate a log under one policy, and print its metrics.",
        audit: "Prove that a schedule keeps a policy, or name who breaks it.",
        offline: "Schedule moldable jobs that are all there at once.",
    },
)
cli.add_section(
    "Run a campaign",
    {
        init: "Write a campaign for logs, every line with its meaning.",
        plan: "Say what a campaign costs, without running it.",
        run: "Simulate every cell of a campaign that is not done.",
        status: "Say how far a store is, and what failed.",
        watch: "Follow a run from another shell, until it ends.",
        verify: "Check every byte of a store, and simulate cells again.",
    },
)
cli.add_section(
    "Read the answer",
    {
        compare: "Compare policies: how much better, for whom, how surely.",
        bands: "Print bands of a metric over the resamples, and draw them.",
        gains: "Print how much each policy gains over a baseline.",
        who: "Print who loses under a policy, and by how much.",
    },
)
cli.add_section(
    "Use a cluster",
    {
        clusters: "List the kinds of clusters, and print files to start from.",
        submit: "Run a campaign from within a job of a batch system.",
        cancel: "End the jobs that work on a store.",
        certificates: "Make the certificates that encrypt a cluster.",
    },
)
cli.add_section(
    "Look things up, set things up",
    {
        policies: "List queue orders, backfilling rules and their options.",
        metrics: "List the metrics that stores have.",
        campaigns: "List the campaigns that ship with the package.",
        warm: "Compile kernels before they are needed.",
        completion: "Print the script by which a shell completes words.",
    },
)


def main() -> None:
    """Run a command; bad input, or an interrupt, is one sentence and exit status 2, or 130."""
    sys.unraisablehook = _interrupt_again
    try:
        sys.exit(cli(standalone_mode=False))
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt) as error:
        # Click makes an Abort of an interrupt, which may say how far it was.
        why = str(error.__cause__ or error)
        click.echo(f"farm: interrupted{f'; {why}' if why else ''}", err=True)
        with suppress(OSError):
            sys.stdout.flush()
        # Every context has been left by now. What is not is Zarr's event loop, in the middle of
        # what was broken off: wound up by the interpreter, it may print 500 lines of tracebacks.
        os._exit(INTERRUPTED)
    except ValueError as error:
        if not _is_bad_input(error):
            raise
        from schedfarm.core.checks import printable

        # Names of files, and what a text is quoted with, may be anything.
        click.echo(f"farm: {printable(str(error))}", err=True)
        sys.exit(BAD_INPUT)


def _interrupt_again(dropped: UnraisableHookArgs) -> None:
    """Repeat an interrupt that met a destructor or a weak reference's callback.

    Python prints a traceback there and goes on, so that the interrupt would be lost.
    """
    if issubclass(dropped.exc_type, KeyboardInterrupt):
        # At once, it would be raised, and dropped, in this function.
        main_thread = threading.main_thread().ident
        again = threading.Timer(AGAIN_SECONDS, signal.pthread_kill, (main_thread, signal.SIGINT))
        again.daemon = True
        again.start()
    else:
        sys.__unraisablehook__(dropped)


def _is_bad_input(error: ValueError) -> bool:
    from schedfarm.cluster.errors import ClusterError
    from schedfarm.core.errors import InputError

    return isinstance(error, InputError | ClusterError)
