"""Parts shared by all commands: option parsing, common options and arguments."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from schedfarm.farm.cli import words

COUNT = click.IntRange(min=1)
"""Type of options that count jobs, processors or weeks."""

SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)
"""Type of options that are a share above 0 and below 1, such as a confidence level."""

READER_GONE = 141
"""Exit status after a closed output pipe: 128 + SIGPIPE."""


class Command(click.Command):
    """Refuse an option that is given twice; exit quietly when the output pipe is closed.

    Click would silently take the last of two values, and report a closed pipe as a failure.
    """

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            leave_pipe()

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments of a command line."""
        if not ctx.resilient_parsing:
            for word in args:
                if not is_text(word):
                    raise click.UsageError(
                        f"'{word.encode(errors='backslashreplace').decode()}' is not UTF-8; rename "
                        "the file, or link to it by another name",
                        ctx,
                    )
            for option, values in self._given(ctx, args).items():
                if len(values) > 1:
                    raise click.UsageError(
                        f"{option} is given {len(values)} times, as {' and as '.join(values)}; "
                        "give it once",
                        ctx,
                    )
        return super().parse_args(ctx, args)

    def _given(self, ctx: click.Context, args: list[str]) -> dict[str, list[str]]:
        """Return all values given for each single-valued option."""
        parser: Any = self.make_parser(ctx)
        single = {p.name: p.opts[0] for p in self.params if _takes_one(p)}
        for option in (*parser._long_opt.values(), *parser._short_opt.values()):
            if option.dest in single:
                option.action = "append"
        given = parser.parse_args(list(args))[0]
        return {shown: given.get(name, []) for name, shown in single.items()}


def is_text(word: str) -> bool:
    """Return whether a word of the command line is UTF-8, as stores and reports require."""
    return not any("\ud800" <= letter <= "\udfff" for letter in word)


def leave_pipe() -> NoReturn:
    """Exit after the output pipe was closed, without writing the buffered output."""
    with suppress(OSError):
        # Buffered output would be written at exit and raise again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(READER_GONE)


def _takes_one(param: click.Parameter) -> bool:
    """Return whether the parameter is an option that takes one value, once."""
    if not isinstance(param, click.Option) or param.is_flag or param.count:
        return False
    return param.nargs == 1 and not param.multiple


class ReadingCommand(Command):
    """Open each part of a store once."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        from schedfarm.analysis.reading import reading

        with reading():
            return super().invoke(ctx)


def command(*, reads: bool = False) -> Callable[[Callable[..., Any]], Command]:
    """Declare a command, like `click.command`; with `reads`, the command changes no store."""
    return click.command(cls=ReadingCommand if reads else Command)


class Sections(click.Group):
    """List commands under titles, with summaries that are never cut."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self._sections: dict[str, list[str]] = {}

    def add_section(self, title: str, rows: Mapping[click.Command, str]) -> None:
        """Add a section of commands with their summaries, in order."""
        self._sections[title] = [str(command.name) for command in rows]
        for command, summary in rows.items():
            command.short_help = summary
            self.add_command(command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections into the help text."""
        wide = max(map(len, self.commands))
        for title, names in self._sections.items():
            with formatter.section(title):
                rows = [(f"{name:<{wide}}", self.commands[name].short_help or "") for name in names]
                formatter.write_dl(rows)


class StoreName(click.ParamType[str]):
    """Parse the folder or address of a store."""

    name = "store"

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        """Return the folder or address, or raise InputError."""
        from schedfarm.farm.store.place import place_of

        return str(place_of(value))

    def shell_complete(self, ctx: Any, param: Any, incomplete: str) -> list[CompletionItem]:
        """Let the shell complete folders."""
        return [CompletionItem(incomplete, type="dir")]


CAMPAIGN = click.argument("campaign", shell_complete=words.campaigns)

JSON = click.option("--json", "as_json", is_flag=True, help="Print as JSON.")


class Real(click.FloatRange):
    """Parse a number within bounds, and refuse NaN, which no bound excludes."""

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        """Return the number, or fail."""
        found = float(super().convert(value, param, ctx))
        if math.isnan(found):
            self.fail(f"{value!r} is not a number", param, ctx)
        return found


QUIET = click.option(
    "--quiet", is_flag=True, help="Suppress progress messages and hints; print results only."
)

STORE = click.argument("store", type=StoreName())

STORE_OPTION = click.option(
    "--store",
    type=StoreName(),
    help="Store: a folder, or an address such as s3://BUCKET/NAME; by default NAME.farm in the "
    "current folder. An existing store is resumed or extended.",
)


COMPILE_TIME = "some seconds"
"""Compilation time as printed: 3 to 10 s of CPU per rule, up to 25 s with fair start times."""


@contextmanager
def patience(of: str = "", *, quiet: bool = False) -> Iterator[None]:
    """Print a note on a terminal, once, if kernels are compiled inside this context."""
    from schedfarm.core.engine.compiling import compiling

    def say() -> None:
        if sys.stderr.isatty() and not quiet:
            from schedfarm.core.checks import printable

            kernels = f"the kernels of {printable(of)}" if of else "kernels"
            click.echo(f"compiling {kernels} for this host, once: {COMPILE_TIME}", err=True)

    with compiling(say):
        yield


def needs(name: str, *others: str) -> None:
    """Refuse options that depend on the option `name`, if that option is missing."""
    if not _given(name):
        _refuse(others, "without", name, "give both")


def excludes(name: str, *others: str) -> None:
    """Refuse options and arguments that have no effect with the option `name`, if it is given."""
    if _given(name):
        _refuse(others, "with", name, "leave one out")


def _given(name: str) -> bool:
    """Return whether the running command's option or argument is on the command line."""
    source = click.get_current_context().get_parameter_source(name)
    return source is not ParameterSource.DEFAULT


def _refuse(others: Iterable[str], with_or_without: str, name: str, advice: str) -> None:
    """Refuse each of the other options that is on the command line."""
    ctx = click.get_current_context()
    shown = {
        param.name: param.opts[0] if isinstance(param, click.Option) else param.human_readable_name
        for param in ctx.command.params
    }
    for other in filter(_given, others):
        given = ctx.params[other]
        value = "" if isinstance(given, (bool, tuple)) else f" {given}"
        raise click.UsageError(
            f"{shown[other]}{value} does nothing {with_or_without} {shown[name]}; {advice}"
        )
