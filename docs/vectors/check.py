"""Check the starts that a scheduler or simulator gives to the jobs of the vectors.

    python check.py ANSWERS.json [--file pool.json] [--file grid.json]

ANSWERS.json maps the id of a vector to the start of each job, s, in the order of the vector's jobs
(-1 for a refused job), for example

    {"pool-bb4263ac1f": [0, 10, 15, 15, 15]}

Vectors without an answer are counted as not tried. The exit status is 0 if each answer is right,
else 1; 2 for unreadable input.

Needs Python 3.9 or newer and nothing else.
"""

import argparse
import hashlib
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent

KEYS = {"id": str, "claim": str, "policy": str, "clock": str, "jobs": dict, "starts": list}
"""Keys of a vector that are used here, and the types of their values."""


def once(pairs):
    """Return an object of JSON; refuse one with two values for a key."""
    found = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"{key!r} stands there twice")
        found[key] = value
    return found


def read(path):
    """Return what a file of JSON contains."""
    try:
        return json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=once)
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not readable as JSON: {error}") from error


def digest(vector):
    """Return the SHA-256 of a vector without its digest: of its JSON with sorted keys."""
    rest = {key: value for key, value in vector.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def vectors(paths):
    """Return the vectors of some files, by id; refuse a file that is not as it was published."""
    found = {}
    for path in paths:
        content = read(path)
        if not isinstance(content, dict) or content.get("format") != "schedfarm-vectors 2":
            raise ValueError(f"{path} is not a file of vectors of format 2")
        listed = content.get("vectors")
        if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
            raise ValueError(f"{path}: 'vectors' is not a list of vectors")
        for one in listed:
            if "id" not in one or digest(one) != one.get("sha256"):
                name = one.get("id", "a vector without id")
                raise ValueError(f"{path}: {name} does not have its digest, so it was altered")
            lacking = [key for key, kind in KEYS.items() if not isinstance(one.get(key), kind)]
            if lacking:
                kind = {str: "a text", dict: "an object", list: "a list"}[KEYS[lacking[0]]]
                raise ValueError(f"{path}: {lacking[0]!r} of vector {one['id']!r} must be {kind}")
            if one["id"] in found:
                raise ValueError(f"{path}: the id {one['id']} stands in the files twice")
            found[one["id"]] = one
    return found


def fault(vector, starts):
    """Return why starts are wrong, with the first wrong job, or an empty text."""
    expected = vector["starts"]
    whole = isinstance(starts, list) and all(type(start) is int for start in starts)
    if not whole or len(starts) != len(expected):
        return f"expected a list of {len(expected)} whole numbers of seconds"
    wrong = [job for job, start in enumerate(expected) if starts[job] != start]
    if not wrong:
        return ""
    # The scheduler's first wrong decision is at the earliest of all differing starts.
    job = min(wrong, key=lambda j: min((t for t in (starts[j], expected[j]) if t >= 0), default=-1))
    jobs = {name: column[job] for name, column in vector["jobs"].items()}
    return f"job {job} {jobs} starts at {starts[job]} s instead of {expected[job]} s"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("answers", type=Path)
    parser.add_argument("--file", type=Path, action="append", help="by default all files here")
    given = parser.parse_args()
    try:
        known = vectors(given.file or sorted(HERE.glob("*.json")))
        answers = read(given.answers)
        if not isinstance(answers, dict):
            raise ValueError(f"{given.answers} is not an object of ids and starts")
        if not answers:
            raise ValueError(f"{given.answers} has no answers; map ids of vectors to starts")
        unknown = sorted(set(answers) - set(known))
        if unknown:
            raise ValueError(f"{given.answers}: no vector is called {unknown[0]!r}")
    except ValueError as error:
        print(f"check.py: {error}", file=sys.stderr)
        return 2
    wrong = 0
    for name, starts in answers.items():
        why = fault(known[name], starts)
        if why:
            wrong += 1
            print(
                f"{name}: {known[name]['policy']}, {known[name]['clock']} clock, "
                f"{known[name]['claim']}: {why}"
            )
    print(f"{len(answers) - wrong} right, {wrong} wrong, {len(known) - len(answers)} not tried")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
