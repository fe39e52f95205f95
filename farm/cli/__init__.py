"""The command line, `farm COMMAND`: the only part that imports campaigns, clusters and analysis."""

from __future__ import annotations

import errno
import os
import re
import signal
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

import click

from schedfarm.farm.cli.audit import audit
from schedfarm.farm.cli.cancel import cancel
from schedfarm.farm.cli.certificates import certificates
from schedfarm.farm.cli.clusters import clusters
from schedfarm.farm.cli.command import Sections, leave_pipe
from schedfarm.farm.cli.compare import compare
from schedfarm.farm.cli.completion import completion
from schedfarm.farm.cli.explain import explain
from schedfarm.farm.cli.export import export
from schedfarm.farm.cli.init import init
from schedfarm.farm.cli.lists import campaigns, metrics, policies
from schedfarm.farm.cli.offline import offline
from schedfarm.farm.cli.plan import plan
from schedfarm.farm.cli.plot import plot
from schedfarm.farm.cli.report import report
from schedfarm.farm.cli.results import bands, status
from schedfarm.farm.cli.run import run
from schedfarm.farm.cli.search import search
from schedfarm.farm.cli.simulate import simulate
from schedfarm.farm.cli.site import site
from schedfarm.farm.cli.submit import submit
from schedfarm.farm.cli.traces import traces
from schedfarm.farm.cli.validate import validate
from schedfarm.farm.cli.verify import verify
from schedfarm.farm.cli.warm import warm
from schedfarm.farm.cli.watch import watch
from schedfarm.farm.cli.what_if import what_if
from schedfarm.farm.cli.who import who

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

BAD_INPUT = 2
INTERRUPTED = 130

FAILURES = {
    errno.EACCES: "check its permissions, or give another path",
    errno.EPERM: "check its permissions, or give another path",
    errno.EROFS: "its file system is read-only; give another path",
    errno.ENOSPC: "make room, and run the command again",
    errno.EDQUOT: "make room, and run the command again",
    errno.EIO: "check the device, and run the command again",
    errno.ENAMETOOLONG: "give a shorter path",
}
"""Advice on errors of the operating system that are no faults of the program, by error number."""

CLICKS = ("Got ", "Invalid ", "Missing ", "No ", "Option ")
"""Beginnings of click's own messages."""

AGAIN_SECONDS = 0.01
"""Delay before a dropped interrupt is raised again."""


@click.group(cls=Sections, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="schedfarm", prog_name="farm")
def cli() -> None:
    """Simulate job scheduling policies on logs and models, and compare them with uncertainty."""


cli.add_section(
    "Single logs",
    {
        traces: "List, fetch and describe logs.",
        simulate: "Simulate a log under one policy, and print its metrics.",
        audit: "Check a schedule against a policy.",
        offline: "Schedule moldable jobs without arrivals.",
        site: "Calibrate the simulation of a Slurm site.",
    },
)
cli.add_section(
    "Campaigns",
    {
        what_if: "Compare policies on a log, in one command.",
        init: "Write a commented campaign file for logs.",
        plan: "Estimate the cost of a campaign.",
        run: "Simulate the missing cells of a campaign.",
        search: "Optimise an order, and judge it on held-out weeks.",
        status: "Print the progress and failures of a store.",
        watch: "Follow a run from another shell.",
        verify: "Check all data of a store, and re-simulate cells.",
    },
)
cli.add_section(
    "Results",
    {
        compare: "Compare policies: verdicts, intervals, and who gains.",
        plot: "Draw Gantt charts, queues, distributions, load curves.",
        report: "Write the results as one HTML page.",
        bands: "Print and plot a metric's bands over resamples.",
        validate: "Compare simulated waits with those of the log.",
        who: "Print the users or jobs that lose under a policy.",
        explain: "Explain why a job started when it did.",
        export: "Write jobs or summaries as Parquet, netCDF, CSV or SWF.",
    },
)
cli.add_section(
    "Clusters",
    {
        clusters: "List launchers and print template files.",
        submit: "Run a campaign as a job of a batch system.",
        cancel: "Cancel the jobs of a store.",
        certificates: "Create TLS certificates for a cluster.",
    },
)
cli.add_section(
    "Reference and setup",
    {
        policies: "List queue orders, backfilling rules and their options.",
        metrics: "List the metrics of stores.",
        campaigns: "List the built-in campaigns.",
        warm: "Precompile kernels.",
        completion: "Print a shell completion script.",
    },
)


def main() -> None:
    """Run a command; report bad input or an interrupt in one sentence and by the exit status."""
    sys.unraisablehook = _interrupt_again
    try:
        status = cli(standalone_mode=False, prog_name="farm")
        _flush()
        sys.exit(status)
    except click.ClickException as error:
        if isinstance(error, click.exceptions.NoArgsIsHelpError):
            error.show()
        else:
            click.echo(f"farm: {_sentence(error)}", err=True)
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt) as error:
        # Click turns an interrupt into an Abort, whose cause may contain the progress of the
        # command.
        why = str(error.__cause__ or error)
        click.echo(f"farm: interrupted{f'; {why}' if why else ''}", err=True)
        with suppress(OSError):
            sys.stdout.flush()
        # All contexts are closed. Only Zarr's event loop still runs interrupted requests; a normal
        # exit of the interpreter would print up to 500 lines of tracebacks for them.
        os._exit(INTERRUPTED)
    except ValueError as error:
        if not _is_bad_input(error):
            raise
        from schedfarm.core.checks import printable

        # File names and quoted values may contain control characters.
        # Indented lines after the sentence point at a character of an expression.
        lines = "\n  ".join(map(printable, str(error).split("\n  ")))
        click.echo(f"farm: {lines}", err=True)
        sys.exit(BAD_INPUT)
    except BrokenPipeError:
        leave_pipe()
    except OSError as error:
        if error.errno not in FAILURES:
            raise
        _fail(error, FAILURES[error.errno])


def _flush() -> None:
    """Write buffered output now, so that the command still reports a failed write."""
    if sys.stdout is not None:
        sys.stdout.flush()


def _fail(error: OSError, advice: str) -> NoReturn:
    """Report an error of the system in one sentence, and exit."""
    from schedfarm.core.checks import printable

    named = error.filename is not None
    what = printable(str(error.filename)) if named else "standard output or a file"
    click.echo(f"farm: {what}: {error.strerror}; {advice}", err=True)
    if named:
        sys.exit(BAD_INPUT)
    # The interpreter would try again to write output that does not fit.
    os._exit(BAD_INPUT)


def _sentence(error: click.ClickException) -> str:
    """Return click's message in one line, with the command that prints the help."""
    from schedfarm.core.checks import printable

    said = printable(" ".join(error.format_message().split())).removesuffix(".")
    said = re.sub(r"\. \(?Did you mean (.*?)\)?$", r"; did you mean \1", said)
    if said.startswith(CLICKS):
        said = said[0].lower() + said[1:]
    context = getattr(error, "ctx", None)
    if context is None or "; " in said:  # our own messages end in advice
        return said
    return f"{said}; '{context.command_path} --help' lists what it takes"


def _interrupt_again(dropped: UnraisableHookArgs) -> None:
    """Raise again an interrupt that was dropped in a destructor or a weak reference's callback.

    Python prints a traceback for such an exception and continues, so the interrupt would be lost.
    """
    if issubclass(dropped.exc_type, KeyboardInterrupt):
        # An interrupt that is raised at once would be dropped in this function.
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
