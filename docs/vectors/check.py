"""Check the starts that a scheduler or simulator gives to the jobs of the vectors.

    python check.py ANSWERS.json [--file pool.json ...]

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


def digest(starts):
    """Return the SHA-256 of starts: of their decimals, a line each."""
    return hashlib.sha256("".join(f"{start}\n" for start in starts).encode()).hexdigest()


def vectors(paths):
    """Return the vectors of some files, by id; refuse a file that is not as it was published."""
    found = {}
    for path in paths:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content.get("format") != "schedfarm-vectors 1":
            raise ValueError(f"{path} is not a file of vectors of format 1")
        for one in content["vectors"]:
            if digest(one["starts"]) != one["sha256"]:
                raise ValueError(f"{path}: the starts of {one['id']} do not have their digest")
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
    job = min(wrong, key=lambda j: min(t for t in (starts[j], expected[j]) if t >= 0))
    jobs = {name: column[job] for name, column in vector["jobs"].items()}
    return f"job {job} {jobs} starts at {starts[job]} s instead of {expected[job]} s"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("answers", type=Path)
    parser.add_argument("--file", type=Path, action="append", help="by default all files here")
    given = parser.parse_args()
    try:
        known = vectors(given.file or sorted(HERE.glob("*.json")))
        answers = json.loads(given.answers.read_text(encoding="utf-8"))
        if not isinstance(answers, dict):
            raise ValueError(f"{given.answers} is not an object of ids and starts")
        unknown = sorted(set(answers) - set(known))
        if unknown:
            raise ValueError(f"{given.answers}: no vector is called {unknown[0]!r}")
    except (OSError, ValueError, KeyError, TypeError) as error:
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
