"""The script of a page is joined once, and kept only where no other user can replace it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from schedfarm.analysis.report.script import script
from schedfarm.core.caches import ENVIRONMENT

TEXT = "window.vegaEmbed = 1;\r\n// é\n"


@pytest.fixture
def joined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Count the scripts that vl-convert joins."""
    made: list[str] = []

    def bundle(snippet: str) -> str:
        made.append(snippet)
        return TEXT

    vl_convert = pytest.importorskip("vl_convert")
    monkeypatch.setattr(vl_convert, "javascript_bundle", bundle)
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path / "caches"))
    yield made
    script.cache_clear()


def again() -> str:
    """Return the script as the next process finds it."""
    script.cache_clear()
    return script()


def test_the_next_process_reads_it(joined: list[str], tmp_path: Path) -> None:
    """From a file in a folder of this user's own."""
    assert [again(), again()] == [TEXT, TEXT]
    assert joined == ["window.vegaEmbed = vegaEmbed;"]
    (file,) = (tmp_path / "caches" / "pages").iterdir()
    assert file.name.startswith("vega-")
    assert [one.stat().st_mode & 0o077 for one in (file, file.parent)] == [0, 0]


@pytest.mark.parametrize("content", [b"", b"0123\nwindow.other = 1;", b"\xff\xfe"])
def test_a_damaged_file_is_written_again(content: bytes, joined: list[str], tmp_path: Path) -> None:
    again()
    (file,) = (tmp_path / "caches" / "pages").iterdir()
    whole = file.read_bytes()
    file.write_bytes(content)
    assert again() == TEXT
    assert (len(joined), file.read_bytes()) == (2, whole)


def test_a_folder_of_others_is_not_used(joined: list[str], tmp_path: Path) -> None:
    """Another user could have written the script there."""
    again()
    (tmp_path / "caches" / "pages").chmod(0o777)
    assert [again(), again()] == [TEXT, TEXT]
    assert len(joined) == 3


@pytest.mark.parametrize("name", ["EMBEDDING", "version"])
def test_another_script_has_another_file(
    name: str, joined: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another version of vl-convert, and other names for the page, make another script."""
    again()
    other = "window.vega = vega;" if name == "EMBEDDING" else lambda package: "99"
    monkeypatch.setattr(f"schedfarm.analysis.report.script.{name}", other)
    again()
    assert len(joined) == 2


def test_without_a_known_version_it_is_joined(
    joined: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def version(package: str) -> str:
        raise PackageNotFoundError(package)

    monkeypatch.setattr("schedfarm.analysis.report.script.version", version)
    assert again() == TEXT
    assert not (tmp_path / "caches").exists()


def test_without_a_cache_it_is_joined_each_time(
    joined: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ENVIRONMENT, "")
    assert [again(), again()] == [TEXT, TEXT]
    assert len(joined) == 2
