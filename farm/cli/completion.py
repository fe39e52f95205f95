"""`farm completion`: what makes a shell complete the words of `farm`."""

from __future__ import annotations

import click

from schedfarm.farm.cli.command import command

SHELLS = ("bash", "zsh", "fish")
"""Those that click writes a script for."""

VARIABLE = "_FARM_COMPLETE"
"""By this variable of the environment the script asks `farm` for words."""


@command()
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the script by which SHELL completes policies, metrics, campaigns, logs and labels.

    The commands for each shell, once:

    \b
    farm completion bash > ~/.farm-complete
    echo '. ~/.farm-complete' >> ~/.bashrc

    \b
    farm completion zsh > ~/.farm-complete
    echo '. ~/.farm-complete' >> ~/.zshrc

    \b
    farm completion fish > ~/.config/fish/completions/farm.fish
    """  # noqa: D301  \b is the character by which click keeps lines as they are.
    from click.shell_completion import get_completion_class

    root = click.get_current_context().find_root()
    form = get_completion_class(shell)
    assert form is not None
    click.echo(form(root.command, {}, root.info_name or "farm", VARIABLE).source())
