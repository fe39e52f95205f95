"""The published vectors are those of the programs, and their checker finds each altered start."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.oracles import vectors
from tests.support.paths import DOCS

CHECKER = vectors.FOLDER / "check.py"


@pytest.fixture(scope="module")
def generated() -> dict[str, Any]:
    """Return the contents of all files, made again."""
    return dict(vectors.files())


def check(answers: object, folder: Path, *words: str) -> tuple[int, str, str]:
    """Run the checker without this project's packages; return its status and both streams."""
    (folder / "answers.json").write_text(json.dumps(answers), encoding="utf-8")
    command = [sys.executable, "-I", "-S", str(CHECKER), "answers.json", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def test_the_files_are_those_of_the_programs(generated: dict[str, Any]) -> None:
    differing = [
        name
        for name, content in generated.items()
        if vectors.path_of(name).read_text(encoding="utf-8") != vectors.text_of(content)
    ]
    assert differing == []
    assert {path.stem for path in vectors.FOLDER.glob("*.json")} == set(generated)


def test_the_page_lists_the_files(generated: dict[str, Any]) -> None:
    listed = re.findall(
        r"^\| `(\w+)\.json`", (DOCS / "vectors.md").read_text(encoding="utf-8"), re.M
    )
    assert sorted(listed) == sorted(generated)


def test_our_schedules_are_accepted(generated: dict[str, Any], tmp_path: Path) -> None:
    all_of_them = [one for content in generated.values() for one in content["vectors"]]
    answers = {one["id"]: one["starts"] for one in all_of_them}
    expected = f"{len(all_of_them)} right, 0 wrong, 0 not tried\n"
    assert check(answers, tmp_path) == (0, expected, "")


def test_ten_altered_schedules_are_named(generated: dict[str, Any], tmp_path: Path) -> None:
    """One start each is a second later, in vectors of every file."""
    altered = {}
    for content in generated.values():
        for one in content["vectors"][:2]:
            starts = list(one["starts"])
            starts[-1] += 1
            altered[one["id"]] = starts
    status, out, _ = check(altered, tmp_path)
    *lines, last = out.splitlines()
    assert (status, last) == (1, f"0 right, 10 wrong, {len(_ids(generated)) - 10} not tried")
    assert [line.partition(":")[0] for line in lines] == list(altered)
    assert all(f" instead of {altered[line.partition(':')[0]][-1] - 1} s" in line for line in lines)


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ([], "is not an object of ids and starts"),
        ({"pool-0": []}, "no vector is called 'pool-0'"),
    ],
)
def test_bad_answers_are_refused(answers: object, words: str, tmp_path: Path) -> None:
    status, out, err = check(answers, tmp_path)
    assert (status, out) == (2, "")
    assert words in err
    assert "Traceback" not in err


def _ids(generated: dict[str, Any]) -> set[str]:
    return {one["id"] for content in generated.values() for one in content["vectors"]}
