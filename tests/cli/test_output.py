"""What a command writes is whole or not there, replaces no input, and lies in no store."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from schedfarm.farm import Campaign, run
from schedfarm.farm.output import output
from tests.support.command_line import Farm
from tests.support.harness import snapshot
from tests.support.refusals import GOOD, LOG, Said, unlike, write


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of a finished campaign."""
    path = tmp_path_factory.mktemp("done") / "tiny.farm"
    run(Campaign.from_dict(GOOD, path.parent), path)
    return path


@pytest.fixture
def here(done: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a log, a link to it, and the store of a finished campaign."""
    monkeypatch.chdir(tmp_path)
    Path("a.swf").write_text(LOG)
    Path("link.swf").symlink_to("a.swf")
    os.link("a.swf", "hard.swf")
    Path("mine.py").write_text("def widest(procs): return -procs\n")
    shutil.copytree(done, "tiny.farm")
    return tmp_path


DESTRUCTIVE = [
    (("simulate", "a.swf", "--policy", "easy", "--out", "a.swf"), "it is an input"),
    (("simulate", "a.swf", "--policy", "easy", "--out", "./link.swf"), "it is an input"),
    (("simulate", "link.swf", "--policy", "easy", "--out", "a.swf"), "it is an input"),
    (("simulate", "a.swf", "--policy", "easy", "--out", "hard.swf"), "it is an input"),
    (("simulate", "a.swf", "--policy", "mine:widest+easy", "--out", "mine.py"), "it is an input"),
    (("simulate", "a.swf", "--policy", "easy", "--out", "tiny.farm/b.swf"), "store"),
    (("simulate", "a.swf", "--policy", "easy", "--out", "tiny.farm"), "is a folder"),
    (("simulate", "a.swf", "--policy", "easy", "--out", ""), "names no file"),
    (("simulate", "a.swf", "--policy", "easy", "--out", "b.JSON.gz"), "not written as JSON"),
    (("simulate", "a.swf", "--policy", "easy", "--out", "no/b.swf"), "there is no folder no"),
    (("simulate", "a.swf", "--policy", "easy", "--out", f"{'b' * 300}.swf"), "too long"),
    (("bands", "tiny.farm", "--csv", "tiny.farm/store.json"), "lies in store"),
    (("bands", "tiny.farm", "--csv", "tiny.farm/results.zarr/b.csv"), "lies in store"),
    (("bands", "tiny.farm", "--csv", "/proc/bands.csv"), "cannot be written"),
    (("bands", "tiny.farm", "--csv", "no/bands.csv"), "there is no folder no"),
    (("bands", "tiny.farm", "--plot", "tiny.farm/figures/b.png"), "tiny.farm"),
    (("bands", "tiny.farm", "--plot", "b.txt"), ".png"),
    (("bands", "tiny.farm", "--plot", "b.png", "--csv", "b.png"), "give two files"),
    (("compare", "tiny.farm", "--csv", "tiny.farm/store.json"), "lies in store"),
]
"""Commands, the last word of which names a file that is not to be written, and the reason."""

REPORTS = [
    (("run", "c.toml", "--performance-report", "c.toml"), "it is an input"),
    (("run", "c.toml", "--performance-report", "tiny.farm/r.html"), "lies in store"),
]
"""The same of Dask's report."""


def refusals(said: Said, rows: list[tuple[tuple[str, ...], str]]) -> list[str]:
    """Return the commands that are not refused for the reason given, with the file's name."""
    write(GOOD, Path("c.toml"))
    return unlike([(words, (why, words[-1])) for words, why in rows], lambda words: said(*words))


def test_nothing_is_destroyed(here: Path, said: Said) -> None:
    """Inputs, also under another name, stores and devices are refused before any work."""
    assert refusals(said, DESTRUCTIVE) == []


def test_a_report_destroys_nothing(here: Path, said: Said) -> None:
    """It is a file like others."""
    pytest.importorskip("bokeh")
    assert refusals(said, REPORTS) == []


def test_a_store_is_a_folder_or_in_a_bucket(said: Said) -> None:
    """Another address is not taken for a folder of that name, nor nothing for the current one."""
    write(GOOD, Path("c.toml"))
    for store in ("ftp://bucket/x", "https://bucket/x", "file:///x", ""):
        shown = store or repr(store)
        commands = [(command, "c.toml", "--store", store) for command in ("run", "plan")]
        commands += [(name, store) for name in ("status", "verify", "watch", "bands", "compare")]
        rows = [(words, (shown, "folder")) for words in commands]
        assert unlike(rows, lambda words: said(*words)) == []
        with pytest.raises(ValueError, match="folder"):
            run(Campaign.from_dict(GOOD, Path()), store)


def test_dash_is_standard_output(here: Path, farm: Farm) -> None:
    """Only the file goes there, and all else to standard error."""
    plain = farm("simulate", "a.swf", "--policy", "easy", "--out", "b.swf")
    piped = farm("simulate", "a.swf", "--policy", "easy", "--out", "-")
    assert piped.stdout == Path("b.swf").read_text()
    assert piped.stderr == plain.stdout
    table = farm("bands", "tiny.farm", "--csv", "-")
    assert table.stdout.startswith("trace,")
    farm("bands", "tiny.farm", "--csv", "b.csv")
    assert table.stdout == Path("b.csv").read_text()


def test_whole_or_not_at_all(tmp_path: Path) -> None:
    """Work that fails leaves what was there before, and nothing beside it."""
    file = tmp_path / "table.csv"
    file.write_text("before")
    target = output("--csv", file)

    def fail() -> None:
        with target.made() as part:
            part.write_text("half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert snapshot(tmp_path).keys() == {"table.csv"}
    assert file.read_text() == "before"
    target.write(b"after")
    assert (file.read_text(), list(tmp_path.iterdir())) == ("after", [file])


def test_a_link_is_kept_and_its_file_replaced(tmp_path: Path) -> None:
    """The new content is where it was meant to be, under both names."""
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "table.csv").write_text("before")
    (tmp_path / "near.csv").symlink_to("far/table.csv")
    output("--csv", tmp_path / "near.csv").write(b"after")
    assert (tmp_path / "near.csv").is_symlink()
    assert (tmp_path / "far" / "table.csv").read_text() == "after"


def test_what_is_no_file_is_not_replaced_by_one(tmp_path: Path) -> None:
    """A device stays one; one that is full is said to be."""
    output("--csv", os.devnull).write(b"x")
    assert Path(os.devnull).is_char_device()
    with pytest.raises(ValueError, match=r"--csv /dev/full: cannot be written \(No space left"):
        output("--csv", "/dev/full").write(b"x")
