"""The published vectors are those of the programs, and their checker finds what was altered."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.oracles import vectors
from tests.support.paths import DOCS

CHECKER = vectors.FOLDER / "check.py"
SCHEMA = DOCS / "vectors.schema.json"


@pytest.fixture(scope="module")
def generated() -> dict[str, Any]:
    """Return the contents of all files, made again."""
    return dict(vectors.files())


def check(answers: str, folder: Path, *words: str) -> tuple[int, str, str]:
    """Run the checker without this project's packages; return its status and both streams."""
    (folder / "answers.json").write_text(answers, encoding="utf-8")
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


def test_the_files_are_valid_by_their_schema() -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    for file in vectors.FOLDER.glob("*.json"):
        Draft202012Validator(schema).validate(json.loads(file.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("clock", "per-instant"),
        ("machine", {"name": "pool", "configuration": {"processors": 0}}),
        ("machine", {"name": "pool", "configuration": {"clusters": [4]}}),
        ("starts", [0.5]),
        ("starts", []),
        ("jobs", {"submit": [0], "run": [1], "estimate": [1]}),
        ("jobs", {"submit": [0], "run": [1], "estimate": [1], "procs": [1], "cores": [1]}),
        ("sha256", "0"),
        ("proven", ["by eye"]),
    ],
)
def test_the_schema_refuses_another_vector(key: str, value: object) -> None:
    content = json.loads(vectors.path_of("resources").read_text(encoding="utf-8"))
    content["vectors"][0][key] = value
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    places = [list(error.path)[:3] for error in Draft202012Validator(schema).iter_errors(content)]
    assert places == [["vectors", 0, key]]


def test_the_schema_and_the_page_have_the_same_keys() -> None:
    vector = json.loads(SCHEMA.read_text(encoding="utf-8"))["properties"]["vectors"]["items"]
    page = (DOCS / "vectors.md").read_text(encoding="utf-8")
    _, keys, machines, columns = re.split(r"^\| (?:key|machine|column) \|.*\n", page, flags=re.M)
    assert names_of(keys) == list(vector["properties"]) == vector["required"]
    assert names_of(columns) == list(vector["properties"]["jobs"]["properties"])
    described = [one["properties"] for one in vector["properties"]["machine"]["oneOf"]]
    assert names_of(machines) == [one["name"]["const"] for one in described]


def names_of(text: str) -> list[str]:
    """Return the names in the first cells of a table's rows."""
    rows = re.findall(r"^\| (`[^|]+) \|", text.partition("\n\n")[0], re.M)
    return [name for row in rows for name in re.findall(r"`(\w+)`", row)]


def test_our_schedules_are_accepted(generated: dict[str, Any], tmp_path: Path) -> None:
    all_of_them = [one for content in generated.values() for one in content["vectors"]]
    answers = {one["id"]: one["starts"] for one in all_of_them}
    expected = f"{len(all_of_them)} right, 0 wrong, 0 not tried\n"
    assert check(json.dumps(answers), tmp_path) == (0, expected, "")


def test_each_source_is_a_section(generated: dict[str, Any]) -> None:
    page = (DOCS / "semantics.md").read_text(encoding="utf-8")
    sections = {f"docs/semantics.md, {title}" for title in re.findall(r"^#+ (.+)", page, re.M)}
    sources = {one["source"] for content in generated.values() for one in content["vectors"]}
    assert sources - sections == {"docs/semantics.md"}


def test_altered_schedules_are_named(generated: dict[str, Any], tmp_path: Path) -> None:
    """One start each is a second later, in vectors of every file."""
    altered = {}
    for content in generated.values():
        for one in content["vectors"][:2]:
            starts = list(one["starts"])
            starts[-1] += 1
            altered[one["id"]] = starts
    status, out, _ = check(json.dumps(altered), tmp_path)
    *lines, last = out.splitlines()
    untried = len(_ids(generated)) - len(altered)
    assert (status, last) == (1, f"0 right, {len(altered)} wrong, {untried} not tried")
    assert [line.partition(":")[0] for line in lines] == list(altered)
    assert all(f" instead of {altered[line.partition(':')[0]][-1] - 1} s" in line for line in lines)


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ("[]", "answers.json is not an object of ids and starts"),
        ("{}", "answers.json has no answers; map ids of vectors to starts"),
        ('{"pool-0": []}', "answers.json: no vector is called 'pool-0'"),
        ('{"pool-0": [], "pool-0": [0]}', "answers.json is not readable as JSON: 'pool-0'"),
        (
            '{"pool-0"',
            "answers.json is not readable as JSON: Expecting ':' delimiter: line 1 column 10",
        ),
    ],
)
def test_bad_answers_are_refused(answers: str, words: str, tmp_path: Path) -> None:
    assert_refused(check(answers, tmp_path), words)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"procs": [', '"procs": [1, ', "does not have its digest, so it was altered"),
        ('"processors": ', '"processors": 1', "does not have its digest, so it was altered"),
        ('"starts": [', '"starts": [1, ', "does not have its digest, so it was altered"),
        ("vectors 2", "vectors 1", "is not a file of vectors of format 2"),
        ('"vectors": [', '"vectors": {', "resources.json is not readable as JSON"),
        ('"vectors": [', '"vectors": [1, ', "'vectors' is not a list of vectors"),
    ],
)
def test_altered_files_are_refused(old: str, new: str, words: str, tmp_path: Path) -> None:
    text = vectors.path_of("resources").read_text(encoding="utf-8")
    (tmp_path / "resources.json").write_text(text.replace(old, new, 1), encoding="utf-8")
    assert_refused(check("{}", tmp_path, "--file", "resources.json"), words)


@pytest.mark.parametrize("key", ["id", "policy", "jobs", "starts"])
def test_a_vector_of_other_content_is_refused(key: str, tmp_path: Path) -> None:
    """With the digest of that content."""
    content = json.loads(vectors.path_of("resources").read_text(encoding="utf-8"))
    one = content["vectors"][0]
    one[key] = ["a"] if key == "id" else None
    rest = {name: value for name, value in one.items() if name != "sha256"}
    one["sha256"] = hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()
    (tmp_path / "resources.json").write_text(json.dumps(content), encoding="utf-8")
    said = check("{}", tmp_path, "--file", "resources.json")
    assert_refused(said, f"{key!r} of vector {one['id']!r} must be a")


def test_a_vector_that_is_given_twice_is_refused(tmp_path: Path) -> None:
    twice = ["--file", str(vectors.path_of("resources"))] * 2
    assert_refused(check("{}", tmp_path, *twice), "stands in the files twice")


def test_an_absent_file_is_refused(tmp_path: Path) -> None:
    words = "absent.json: No such file or directory"
    assert_refused(check("{}", tmp_path, "--file", "absent.json"), words)


def assert_refused(said: tuple[int, str, str], words: str) -> None:
    """Refused is an input by one sentence with these words."""
    status, out, err = said
    assert (status, out) == (2, "")
    assert re.fullmatch(r"check\.py: [^\n]+\n", err)
    assert words in err


def _ids(generated: dict[str, Any]) -> set[str]:
    return {one["id"] for content in generated.values() for one in content["vectors"]}
