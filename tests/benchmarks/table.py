"""Run every benchmark and write what was measured into docs/benchmarks.md.

    python -m tests.benchmarks.table [--traces FOLDER]

It takes about four minutes on an idle machine. Words of the page outside the two marks are kept.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "benchmarks.md"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"

Run = dict[str, Any]


def measure(options: Sequence[str]) -> list[Run]:
    """Run the benchmarks; return for each what it notes of itself, and its best time, s."""
    with TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        # Not the folder: of its other modules one needs the environment of another program.
        benches = map(str, sorted(Path(__file__).parent.glob("bench_*.py")))
        command = [sys.executable, "-m", "pytest", "-q", *benches]
        command += ["-o", "python_files=bench_*.py", "-o", "python_functions=bench_*"]
        command += ["--benchmark-disable-gc", "--benchmark-quiet", f"--benchmark-json={report}"]
        subprocess.run([*command, *options], cwd=ROOT, check=True)
        found = json.loads(report.read_text())["benchmarks"]
    return [{**one["extra_info"], "best": one["stats"]["min"]} for one in found]


def rounded(value: float) -> str:
    """Write a number with three figures, without an exponent."""
    places = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 3
    return f"{value:,.{places}f}"


def thousands(run: Run) -> str:
    """Write the speed of a simulation, thousands of jobs a second."""
    return rounded(run["jobs"] / run["best"] / 1000)


def speeds(runs: Sequence[Run]) -> str:
    """Lay out speeds with the cycles of a job beside them, and below them the least of any."""
    policies, passes = of(runs, "policies"), of(runs, "pass")
    if not policies:
        return ""
    (hertz,) = (run["hertz"] for run in of(runs, "clock"))
    least = [{**run, "best": run["each"] * run["jobs"]} for run in passes]
    cells = grid(
        "k jobs/s: cycles a job",
        [*policies, *least],
        "policy",
        "log",
        lambda run: f"{thousands(run)}: {rounded(hertz * run['best'] / run['jobs'])}",
    )
    return f"{cells}\n\nThe clock was one of {hertz / 1e9:.2f} GHz."


def grid(title: str, runs: Iterable[Run], row: str, column: str, cell: Callable[[Run], str]) -> str:
    """Lay runs out in a table by two of their facts, in the order in which they were made."""
    cells = {(run[row], run[column]): cell(run) for run in runs}
    if not cells:
        return ""
    rows = list(dict.fromkeys(key[0] for key in cells))
    columns = list(dict.fromkeys(key[1] for key in cells))
    lines = [f"| {title} | " + " | ".join(map(str, columns)) + " |"]
    lines.append("|---|" + "---:|" * len(columns))
    for name in rows:
        words = [cells.get((name, one), "") for one in columns]
        lines.append(f"| {name} | " + " | ".join(words) + " |")
    return "\n".join(lines)


def of(runs: Sequence[Run], table: str) -> list[Run]:
    """Return the runs that a table is made of."""
    return [run for run in runs if run["table"] == table]


def growth(runs: Sequence[Run]) -> str:
    """List what a job costs beside how many jobs wait, by policy, from short to long queues."""
    used = of(runs, "loads") + of(runs, "queues")
    policies = {run["policy"] for run in of(runs, "queues")} | {"fcfs+conservative"}
    cells = [{**run, "load": f"load {run['load']}"} for run in used if run["policy"] in policies]
    return grid(
        "waiting on average: us per job",
        cells,
        "policy",
        "load",
        lambda run: f"{rounded(run['queue'])}: {rounded(1e6 * run['best'] / run['jobs'])}",
    )


def page(runs: Sequence[Run]) -> str:
    """Write the measured part of the page."""
    kinds = [{**run, "kind": "warm" if run["warm"] else "cold"} for run in of(runs, "starts")]
    kept = [
        {**run, "kind": "from the cache, ms" if run["kept"] else "first, ms"}
        for run in of(runs, "reading")
    ]
    memory = [
        {**run, "kind": kind, "value": run[key]}
        for run in of(runs, "memory")
        for kind, key in (("drawn, MiB", "before"), ("simulated, MiB", "peak"))
    ]
    parts = {
        "Thousands of jobs per second of CPU, logs as they are": speeds(runs),
        "Thousands of jobs per second of CPU, KTH-SP2 by offered load": grid(
            "policy", of(runs, "loads"), "policy", "load", thousands
        ),
        "Cost by length of the queue, KTH-SP2": growth(runs),
        "First and later processes on KTH-SP2, s of CPU": grid(
            "process", kinds, "process", "kind", lambda run: rounded(run["best"])
        ),
        "Reading a log, gzip": grid(
            "log", kept, "log", "kind", lambda run: rounded(1000 * run["best"])
        ),
        "Peak memory of a process with a million model jobs, load 0.9": grid(
            "policy", memory, "policy", "kind", lambda run: f"{run['value']:,}"
        ),
    }
    return "\n\n".join(f"### {title}\n\n{text}" for title, text in parts.items() if text)


def write(path: Path, text: str) -> None:
    """Put the measured part between the marks of a page."""
    before, _, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    path.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write what is measured to docs/benchmarks.md.")
    parser.add_argument("--traces", metavar="FOLDER", help="where the archive's logs are")
    given = parser.parse_args().traces
    write(PAGE, page(measure(["--traces", given] if given else [])))
