"""`farm completion`: print a shell completion script."""

from __future__ import annotations

import click

from schedfarm.farm.cli.command import command

SHELLS = ("bash", "zsh", "fish")
"""Shells for which click has a script."""

VARIABLE = "_FARM_COMPLETE"
"""Environment variable by which the script requests completions from `farm`."""


@command()
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print a script that lets SHELL complete policies, metrics, campaigns, logs and labels.

    Install it once, by the commands for your shell:

    \b
    farm completion bash > ~/.farm-complete
    echo '. ~/.farm-complete' >> ~/.bashrc

    \b
    farm completion zsh > ~/.farm-complete
    echo '. ~/.farm-complete' >> ~/.zshrc

    \b
    farm completion fish > ~/.config/fish/completions/farm.fish
    """  # noqa: D301  \b makes click keep the line breaks.
    from click.shell_completion import get_completion_class

    root = click.get_current_context().find_root()
    form = get_completion_class(shell)
    assert form is not None
    click.echo(form(root.command, {}, root.info_name or "farm", VARIABLE).source())
