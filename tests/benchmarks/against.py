"""Measure this checkout against another one, such as the version before, in one run.

    python -m tests.benchmarks.against PATH [PART ...] [--rounds N] [--traces FOLDER]

PATH is a folder with the project and its environment in `.venv`, made by

    git worktree add PATH VERSION && python3 -m venv PATH/.venv && PATH/.venv/bin/pip install PATH

Parts are `speed` (simulations), `fair` (fair start times), `overload` (long queues), `starts`
(whole processes that compile all they need, and that find it) and `runs` (two campaigns by stage);
by default the first two, a minute a round. With nothing beside them the last two take 5 and 15
minutes.

Each checkout runs in processes of its own. The two take turns, field by field, the first one
changing with the round, and the best of all rounds counts. Fields say "from the other to this
(ratio)"; below a table is by what other rounds were worse, and whether all starts were the same.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from schedfarm.farm.logs.registry import here
from tests.benchmarks.checkout import HERE, Checkout
from tests.benchmarks.fields import (
    Field,
    between,
    differing,
    fill,
    laid_out,
    noise,
    swapped,
)
from tests.benchmarks.floor import clock, one_pass
from tests.benchmarks.rates import CUT, SHARED, tell
from tests.benchmarks.stand import workload
from tests.benchmarks.table import grid, rounded
from tests.benchmarks.whole import STARTS, Spent, by_stage, run

ROUNDS = 5

COLUMNS = {
    "KTH": ("KTH-SP2", None),
    "SDSC-SP2": ("SDSC-SP2", None),
    "CTC": ("CTC-SP2", None),
    "HPC2N": ("HPC2N", None),
    "SDSC BLUE": ("SDSC-BLUE", None),
    "CTC at load 0.9": ("CTC-SP2", 0.9),
}
"""Logs and the offered loads that they are brought to."""

POLICIES = (
    "fcfs+conservative",
    "spf+conservative",
    "lxf+conservative",
    "lxf+none",
    "lxf+easy",
    "fcfs+depth(4)",
    "fcfs+planned",
    "fcfs+easy",
    # Nothing is reserved, sorted or searched: what its events alone cost a simulation.
    "fcfs+none",
)

OVERLOADED = ("fcfs+conservative", "lxf+conservative", "spf+conservative", "saf+conservative")

OVERLOADS = {"KTH-SP2": (0.9, 1.0, 1.1), "SDSC-SP2": (1.0,), "CTC-SP2": (1.0,)}
"""Logs, and the offered loads that they are brought to one after the other."""

FAIR = ("fcfs+easy", "lxf+easy", "fcfs+conservative", "spf+conservative", "lxf+conservative")

COLD, WARM = 1, 3
"""How often whole processes start without and with what the ones before have compiled."""

AGAIN = 2
"""How often a campaign runs with what its first run has compiled."""

CAMPAIGNS = ("saf-2019", "sabin-2005")


class Setting(NamedTuple):
    """Say what is measured.

    Parameters
    ----------
    other, this : Checkout
        The two.
    traces : Path
        Folder of logs.
    rounds : int
        How often each field is measured.
    """

    other: Checkout
    this: Checkout
    traces: Path
    rounds: int

    def sides(self, turn: int) -> Iterator[tuple[Checkout, int]]:
        """Give both checkouts, numbered 0 and 1, in the order of a round."""
        return swapped([(self.other, 0), (self.this, 1)], turn)


def speed(setting: Setting) -> Iterator[str]:
    """Measure every policy on every log that is here."""
    found = [
        Field(policy, column, asked("simulate", path, policy, load=load))
        for policy in POLICIES
        for column, (log, load) in COLUMNS.items()
        if (path := here(log, setting.traces))
    ]
    yield from measured("M jobs a second of CPU", found, setting)


def overload(setting: Setting) -> Iterator[str]:
    """Measure conservative backfilling where hundreds of jobs wait."""
    found = [
        Field(policy, f"{log} at {load}", asked("simulate", path, policy, load=load))
        for policy in OVERLOADED
        for log, loads in OVERLOADS.items()
        for load in loads
        if (path := here(log, setting.traces))
    ]
    yield from measured("M jobs a second of CPU", found, setting)


def fair(setting: Setting) -> Iterator[str]:
    """Measure fair starts of all jobs of Sabin and Sadayappan's cut of the CTC log."""
    path = here("CTC-SP2", setting.traces)
    found = [
        Field(policy, kind, asked(kind, path, policy, rows=CUT))
        for policy in FAIR
        for kind in ("strict", "relaxed")
        if path
    ]
    title = f"M fair starts a second of CPU, CTC, rows {CUT[0]} to {CUT[1] - 1}"
    yield from measured(title, found, setting)


def asked(
    kind: str,
    path: Path,
    policy: str,
    rows: tuple[int, int] | None = None,
    load: float | None = None,
) -> dict[str, Any]:
    """Return a task for `stand.py`."""
    return {"kind": kind, "log": str(path), "policy": policy, "rows": rows, "load": load}


def measured(title: str, found: list[Field], setting: Setting) -> Iterator[str]:
    """Measure fields and give what is to be said of them."""
    if not found:
        yield f"{title}: the logs are neither in {setting.traces} nor fetched."
        return
    hertz = clock()
    fill(found, setting.other, setting.this, setting.rounds)
    yield laid_out(title, found, Field.speed)
    yield cycles(found, hertz)
    yield (
        f"The best of {setting.rounds} rounds in turn; a clock of {hertz / 1e9:.2f} GHz. "
        f"{noise(found)} {differing(found)}"
    )


def cycles(found: list[Field], hertz: float) -> str:
    """Lay out cycles a job of this checkout, and those of a pass over a job's columns."""
    tasks = {one.column: one.task for one in found}
    least = [
        {"row": "one pass over the columns", "column": column, "seconds": floor(task)}
        for column, task in tasks.items()
    ]
    runs = [
        {"row": one.row, "column": one.column, "seconds": one.seconds[1] / one.jobs}
        for one in found
    ]
    return grid(
        "cycles a job, this checkout",
        [*runs, *least],
        "row",
        "column",
        lambda one: rounded(hertz * one["seconds"]),
    )


def floor(task: dict[str, Any]) -> float:
    """Return the CPU time of one pass over the columns of a task's jobs, s a job."""
    return one_pass(workload(task["log"], task["rows"], task["load"]))


def starts(setting: Setting) -> Iterator[str]:
    """Measure whole processes, with an empty and with a filled folder of kernels."""
    path = here("KTH-SP2", setting.traces)
    if path is None:
        yield f"KTH-SP2 is neither in {setting.traces} nor fetched."
        return
    kinds: dict[str, tuple[int, Callable[[int], str]]] = {
        "cold, s of CPU": (COLD, str),
        "warm, s of CPU": (WARM, lambda turn: "0"),
    }
    cells = []
    with TemporaryDirectory() as scratch:
        for row, words in STARTS.items():
            for column, (turns, kept) in kinds.items():
                spent: list[list[float]] = [[], []]
                for turn in range(turns):
                    for checkout, side in setting.sides(turn):
                        kernels = Path(scratch, str(side), row, kept(turn))
                        spent[side].append(
                            run(checkout, (*words, str(path)), Path(scratch), kernels).cpu
                        )
                cells.append({"row": row, "column": column, "cell": between(*map(min, spent))})
    yield grid("first and later processes on KTH", cells, "row", "column", lambda run: run["cell"])


def runs(setting: Setting) -> Iterator[str]:
    """Measure campaigns by stage: the first run on a host, which compiles, and the best after."""
    for campaign in CAMPAIGNS:
        with TemporaryDirectory() as scratch:
            found: list[list[dict[str, Spent]]] = [[], []]
            for turn in range(1 + AGAIN):
                for checkout, side in setting.sides(turn):
                    folder, kernels = Path(scratch, str(side), str(turn)), Path(scratch, f"{side}k")
                    took = by_stage(checkout, campaign, setting.traces, folder, kernels)
                    found[side].append(took)
        for title, part in ((f"{campaign}, the first run", slice(1)), (campaign, slice(1, None))):
            yield by_stages(title, *(turns[part] for turns in found))


def by_stages(title: str, before: list[dict[str, Spent]], after: list[dict[str, Spent]]) -> str:
    """Lay out the least wall and CPU time that each stage took in both checkouts."""
    cells = [
        {"stage": stage, "kind": f"{kind}, s", "cell": between(*least)}
        for stage in before[0]
        for kind in Spent.__annotations__
        for least in [[min(getattr(t[stage], kind) for t in turns) for turns in (before, after)]]
    ]
    return grid(title, cells, "stage", "kind", lambda run: run["cell"])


PARTS: dict[str, Callable[[Setting], Iterator[str]]] = {
    "speed": speed,
    "fair": fair,
    "overload": overload,
    "starts": starts,
    "runs": runs,
}
USUAL = ["speed", "fair"]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("path", type=Path, help="the other checkout")
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"by default {ROUNDS}")
    parser.add_argument("--traces", type=Path, default=SHARED, help="folder of the archive's logs")
    given = parser.parse_args()
    unknown = [part for part in given.parts if part not in PARTS]
    if unknown:
        parser.error(f"unknown part {unknown[0]!r}; known: {', '.join(PARTS)}")
    if given.rounds < 1:
        parser.error(f"--rounds {given.rounds}: it takes at least 1")
    try:
        other, this = Checkout(given.path.resolve()), Checkout(HERE)
    except ValueError as error:
        parser.error(str(error))
    tell(f"From {other.commit} to {this.commit}.\n")
    for part in given.parts or USUAL:
        for piece in PARTS[part](Setting(other, this, given.traces.resolve(), given.rounds)):
            tell(piece + "\n")


if __name__ == "__main__":
    main()
