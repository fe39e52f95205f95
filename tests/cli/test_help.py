"""Output of `--help`: titles, summaries that are not cut, lines that can be copied."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest

from schedfarm.farm.cli import cli
from tests.support.command_line import Farm

WIDTH = 80


def groups(group: click.Group, *words: str) -> Iterator[tuple[tuple[str, ...], click.Group]]:
    yield words, group
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from groups(command, *words, name)


@pytest.mark.parametrize(("words", "group"), [*groups(cli)], ids=str)
def test_every_summary_is_whole(farm: Farm, words: tuple[str, ...], group: click.Group) -> None:
    """Each command has one line, which is not cut."""
    lines = farm(*words, "--help").stdout.splitlines()
    assert max(map(len, lines)) <= WIDTH
    for name in group.commands:
        (line,) = [one for one in lines if one.startswith(f"  {name} ")]
        assert line.endswith("."), line
        assert not line.endswith("..."), line


def test_commands_stand_under_titles(farm: Farm) -> None:
    """The titles name the subject of the commands."""
    text = farm("--help").stdout
    titles = [line for line in text.splitlines() if line.endswith(":") and line[0] != " "]
    assert titles[1:] == [
        "Single logs:",
        "Campaigns:",
        "Results:",
        "Clusters:",
        "Reference and setup:",
    ]
    answer = text.partition("Results:")[2].partition("Clusters:")[0]
    commands = [line.split()[0] for line in answer.split("\n") if line]
    assert commands == [
        "compare",
        "plot",
        "report",
        "bands",
        "validate",
        "who",
        "explain",
        "export",
    ]


def test_what_sets_completion_up_can_be_copied(farm: Farm) -> None:
    """Each command stands on a line of its own."""
    lines = [line.strip() for line in farm("completion", "--help").stdout.splitlines()]
    assert "farm completion bash > ~/.farm-complete" in lines
    assert "echo '. ~/.farm-complete' >> ~/.bashrc" in lines
    assert "farm completion fish > ~/.config/fish/completions/farm.fish" in lines


@pytest.mark.parametrize("command", ["run", "simulate"])
def test_quiet_is_explained_in_the_same_words(farm: Farm, command: str) -> None:
    assert "--quiet" in (text := farm(command, "--help").stdout)
    assert "Suppress progress messages and hints; print results only." in " ".join(text.split())


@pytest.mark.parametrize("words", [(), ("traces",)])
def test_a_group_without_a_command__prints_its_help(farm: Farm, words: tuple[str, ...]) -> None:
    """As it is with --help, with the status of a missing argument."""
    assert farm(*words, status=2).stderr == farm(*words, "--help").stdout
