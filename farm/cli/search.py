"""`farm search`: optimise an order on training weeks, and judge it on held-out weeks and logs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from schedfarm.farm.cli import words
from schedfarm.farm.cli.cautions import warn
from schedfarm.farm.cli.command import QUIET, command
from schedfarm.farm.cli.stopping import INTERRUPTED, SOME_FAILED
from schedfarm.farm.cli.traces import TRACES
from schedfarm.farm.cli.where import ClusterOptions, where

if TYPE_CHECKING:
    from distributed import Client

    from schedfarm.cluster import ClusterSpec
    from schedfarm.farm.search.run import Found
    from schedfarm.farm.search.spec import Spec

RESUMES = "the same command resumes"

STORE = "held-out.farm"
"""Store of the verdict in the folder of a search."""

ANSWER, POLICY = "result.json", "policy.txt"
"""Files of the answer in the folder of a search."""


@command()
@click.argument("spec", shell_complete=words.searches)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for the state, the answer and the store of the verdict; by default NAME.search "
    "in the current folder. A stopped search in this folder is resumed.",
)
@TRACES
@where
@click.option("--json", "as_json", is_flag=True, help="Print only the answer, as JSON.")
@QUIET
def search(
    spec: str,
    out: Path | None,
    folder: Path | None,
    cluster: ClusterOptions,
    as_json: bool,
    quiet: bool,
) -> None:
    """Search for a queue order as SPEC (a TOML file, or carastan-2017) specifies, and judge it.

    Candidates are simulated on samples of the first weeks of each log. The best candidate is
    compared with the baseline on samples of the weeks that the search did not use, and of held-out
    logs. With --workers 1 everything runs in this process. The same command resumes a stopped or
    killed search, and gives the same answer.
    """
    import json

    from schedfarm import analysis
    from schedfarm.farm.search.cells import here, on_cluster
    from schedfarm.farm.search.run import search as run_search
    from schedfarm.farm.search.spec import find
    from schedfarm.farm.store.lock import locked

    wanted = find(spec)
    chosen = cluster.spec({})
    target = _target(out or Path(f"{wanted.name}.search"))
    wanted = wanted.located(folder)
    quiet = quiet or as_json

    def say(text: str) -> None:
        if not quiet:
            click.echo(text, err=True)

    try:
        with ExitStack() as stack:
            stack.enter_context(locked(target))
            client = stack.enter_context(_opened(chosen, target, wanted.name))
            found = run_search(wanted, target, here if client is None else on_cluster(client), say)
            _judge(found, target / STORE, client, quiet=quiet)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(RESUMES) from None
    store = str(target / STORE)
    comparisons = [
        analysis.compare(store, baseline, others, metrics=[wanted.metric])
        for baseline, others in _pairs(wanted, found)
    ]
    facts = {
        "name": wanted.name,
        "policy": found.policies[0],
        "policies": list(found.policies),
        "training_change": list(found.change),
        "notes": list(found.notes),
        "comparisons": [analysis.comparison_facts(one) for one in comparisons],
    }
    _write(target, facts)
    if as_json:
        click.echo(json.dumps(facts, indent=1))
        return
    for policy, note in zip_longest(found.policies, found.notes, fillvalue=""):
        click.echo(f"found: {policy}{note and ': '}{note}")
    for change in found.change:
        click.echo(f"in training: {wanted.metric} {100 * change:+.1f} % against {wanted.baseline}")
    for one in comparisons:
        for sentence in analysis.verdicts(one):
            click.echo(f"held out: {sentence}")
    click.echo(f"store of the verdict: {store}; farm compare {store} prints each trace")


def _target(folder: Path) -> Path:
    """Return the folder of a search; refuse a store."""
    from schedfarm.core.errors import InputError
    from schedfarm.core.format.names import MANIFEST

    if (folder / MANIFEST).exists():
        raise InputError(f"--out {folder} is a store; give another folder, such as {folder}.search")
    return folder


@contextmanager
def _opened(spec: ClusterSpec, target: Path, name: str) -> Iterator[Client | None]:
    """Yield a client of the cluster, or None for a single local worker: this process."""
    from schedfarm.cluster import Opening, connect
    from schedfarm.farm.execution import WORKER_IMPORTS

    if spec.kind == "local" and spec.workers == 1:
        yield None
        return

    def say(text: str) -> None:
        click.echo(f"note: {text}", err=True)

    opening = Opening(folder=target / "jobs", title=f"farm-{name}", say=say, imports=WORKER_IMPORTS)
    with connect(spec, None if spec.launcher.found else opening) as client:
        yield client


def _judge(found: Found, store: Path, client: Client | None, *, quiet: bool) -> None:
    """Simulate the campaign on held-out weeks and logs; exit after an interrupt or if a cell fails.

    A cell that an interrupted search has simulated is not simulated again.
    """
    from schedfarm.farm.execution.run import begin, execute
    from schedfarm.farm.store.place import place_of
    from schedfarm.farm.watching.progress import Quiet, watcher

    with begin(found.verdict, place_of(str(store))) as prepared:
        if not quiet:
            warn(prepared.store.cautions)
        outcome = execute(prepared, client, Quiet(sys.stderr) if quiet else watcher())
    if outcome.interrupted:
        click.echo(f"interrupted; {RESUMES}", err=True)
        sys.exit(INTERRUPTED)
    if outcome.failed:
        click.echo(f"farm status {store} --failed prints why cells failed", err=True)
        sys.exit(SOME_FAILED)


def _pairs(spec: Spec, found: Found) -> Iterator[tuple[str, list[str]]]:
    """Yield each baseline, and the policies to compare with it."""
    for place, baseline in enumerate(known := list(dict.fromkeys((spec.baseline, *spec.against)))):
        others = [*(known[1:] if place == 0 else ()), *found.policies]
        if others := [one for one in dict.fromkeys(others) if one != baseline]:
            yield baseline, others


def _write(target: Path, facts: dict[str, Any]) -> None:
    """Write the answer, and the policies in a form that other commands accept."""
    import json

    from schedfarm.core.files import write_whole

    write_whole(target / ANSWER, json.dumps(facts, indent=1).encode() + b"\n")
    lines = "".join(f"{policy}\n" for policy in facts["policies"])
    write_whole(target / POLICY, lines.encode())
