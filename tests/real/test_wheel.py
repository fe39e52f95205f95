"""The wheel, among packages of other authors that have the names of our folders."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from schedfarm.core import lublin, write_swf
from tests.support.paths import ROOT

FOLDERS = ("core", "farm", "cluster", "analysis")

SCRIPT = """
import analysis
import core
import schedfarm as sf

assert (analysis.WHOSE, core.WHOSE) == ("mine", "mine")
work = sf.read_log("log.swf")
print(len(sf.simulate(work, "saf+easy").start))
"""
"""A user's script next to a folder `analysis` and a file `core.py` of the same user."""

CAMPAIGN = """
name = "mine"
policies = ["analysis.orders:widest+easy", "fcfs+easy"]

[[traces]]
name = "log"
file = "log.swf"
"""

ORDER = """
def widest(procs):
    return -procs
"""


class Environment:
    """A virtual environment with the dependencies of this one, and none of our packages."""

    def __init__(self, folder: Path) -> None:
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        self.folder, self.bin = folder, folder / "bin"
        [self.packages] = folder.glob("lib/python3*/site-packages")
        # A path in a .pth file is read without the .pth files inside it: without this checkout.
        (self.packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
        for name in FOLDERS:
            (self.packages / name).mkdir()
            (self.packages / name / "__init__.py").write_text('WHOSE = "of others"\n')

    def run(self, *words: str, folder: Path) -> str:
        done = subprocess.run(
            [str(self.bin / words[0]), *words[1:]],
            cwd=folder,
            env={"PATH": str(self.bin), "HOME": str(self.folder)},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def listed(self) -> set[Path]:
        return {path for path in self.packages.rglob("*") if "__pycache__" not in path.parts}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from the archive of the source, as a release is."""
    folder = tmp_path_factory.mktemp("wheel")
    words = ("-m", "hatchling", "build", "-t", "sdist", "-d", str(folder))
    subprocess.run([sys.executable, *words], check=True, capture_output=True, cwd=ROOT)
    [source] = folder.glob("schedfarm-*.tar.gz")
    words = ("-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(folder))
    subprocess.run([sys.executable, *words, str(source)], check=True, capture_output=True)
    [built] = folder.glob("schedfarm-*.whl")
    return built


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Environment]:
    """The wheel installed; uninstalled at the end, which must leave nothing behind."""
    made = Environment(tmp_path_factory.mktemp("environment") / "venv")
    before = made.listed()
    made.run("pip", "install", "-q", "--no-deps", str(wheel), folder=made.folder)
    yield made
    made.run("pip", "uninstall", "-q", "-y", "schedfarm", folder=made.folder)
    assert made.listed() == before
    assert not (made.bin / "farm").exists()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A user's folder with a log, and modules with the names of our folders."""
    write_swf(lublin(16, jobs=60, seed=3), tmp_path / "log.swf")
    (tmp_path / "core.py").write_text('WHOSE = "mine"\n')
    (tmp_path / "analysis").mkdir()
    (tmp_path / "analysis" / "__init__.py").write_text('WHOSE = "mine"\n')
    (tmp_path / "analysis" / "orders.py").write_text(ORDER)
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "mine.toml").write_text(CAMPAIGN)
    return tmp_path


def test_only_one_name_is_installed(environment: Environment) -> None:
    text = "import {0}; print({0}.WHOSE)"
    for name in FOLDERS:
        said = environment.run("python", "-c", text.format(name), folder=environment.folder)
        assert said == "of others\n", name
    said = environment.run("python", "-c", "import schedfarm; print(schedfarm.__file__)",
                           folder=environment.folder)  # fmt: skip
    assert Path(said.strip()).is_relative_to(environment.packages)


def test_a_script_next_to_a_folder_named_analysis(environment: Environment, folder: Path) -> None:
    assert environment.run("python", "script.py", folder=folder) == "60\n"


def test_a_campaign_with_an_order_of_a_package_named_analysis(
    environment: Environment, folder: Path
) -> None:
    """Workers are spawned, and import ours and the user's."""
    environment.run("farm", "run", "mine.toml", "--workers", "2", folder=folder)
    status = environment.run("farm", "status", "mine.farm", folder=folder)
    assert "2 cells, 2 done, 0 failed, 0 missing" in status
