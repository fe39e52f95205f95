"""The generated pages describe every command and every public name."""

from __future__ import annotations

import html
import re
from pathlib import Path

import click
import pytest

import schedfarm
from tests.support.paths import ROOT

pytest.importorskip("mkdocs")
pytest.importorskip("mkdocstrings")
pytest.importorskip("mkdocs_click")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the pages."""
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    folder = tmp_path_factory.mktemp("site")
    build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder)))
    return folder


def heads(page: Path) -> list[str]:
    text = page.read_text(encoding="utf-8")
    found = re.findall(r'<h[1-6] id="([^"]+)"', text)
    return [html.unescape(name) for name in found]


SUBPACKAGES = {"analysis", "cluster", "core", "farm"}


def test_every_public_name_is_described(site: Path) -> None:
    """A function whose module has the same name is described under the name of the module."""
    shown = {head.rpartition(".")[2] for head in heads(site / "python" / "index.html")}
    assert sorted(set(schedfarm.__all__) - SUBPACKAGES - shown) == []


def commands(group: click.Group) -> list[str]:
    named = []
    for name, command in group.commands.items():
        named.append(name)
        if isinstance(command, click.Group):
            named += commands(command)
    return named


def test_every_command_is_described(site: Path) -> None:
    from schedfarm.farm.cli import cli

    shown = set(heads(site / "command-line" / "index.html"))
    assert sorted(set(commands(cli)) - shown) == []
