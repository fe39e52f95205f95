"""`farm run --part K/N`: simulate a share of a campaign's blocks in this process, and exit."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING

import click

from schedfarm.farm.cli.cautions import warn
from schedfarm.farm.cli.stopping import INTERRUPTED, SOME_FAILED, ended_after, said_if_none_began
from schedfarm.farm.cli.where import ClusterOptions

if TYPE_CHECKING:
    from schedfarm.farm.campaign.campaign import Campaign
    from schedfarm.farm.execution.run import Outcome, Prepared
    from schedfarm.farm.planning.parts import Part
    from schedfarm.farm.store.place import Place


def refuse_cluster(part: str, cluster: ClusterOptions, others: Mapping[str, bool]) -> None:
    """Refuse options that need a cluster.

    others: by the name of a further option of this kind, whether it was given.
    """
    from schedfarm.core.errors import InputError

    given = [*cluster.words()[:1], *(name for name, is_given in others.items() if is_given)]
    if given:
        raise InputError(
            f"--part {part}: a part is simulated in one process without a cluster; leave "
            f"{given[0]} out"
        )


def run_part(
    campaign: Campaign,
    store: str | None,
    text: str,
    *,
    retry_failed: bool,
    stop_after: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Simulate one part, print its counts, and exit as `farm run` does."""
    from schedfarm.farm.execution.run import begin_part, execute_part
    from schedfarm.farm.planning.parts import Part
    from schedfarm.farm.store.place import place_of
    from schedfarm.farm.watching.progress import Quiet, watcher

    part, target = Part.parse(text), place_of(store or f"{campaign.name}.farm")
    with ExitStack() as stack:
        stack.enter_context(ended_after(stop_after))
        begun = stack.enter_context(said_if_none_began())
        prepared = stack.enter_context(
            begin_part(campaign, target.resolved(), part, retry_failed=retry_failed)
        )
        if not as_json:
            _warn(prepared, part)
        begun.set()
        outcome = execute_part(prepared, Quiet(sys.stderr) if quiet else watcher())
    click.echo(_as_json(outcome, part, target) if as_json else _as_text(outcome, part, target))
    if outcome.interrupted:
        click.echo("interrupted; the same command resumes", err=True)
        sys.exit(INTERRUPTED)
    if outcome.failed:
        click.echo(f"farm status {target} --failed prints why cells failed", err=True)
        sys.exit(SOME_FAILED)


def _warn(prepared: Prepared, part: Part) -> None:
    warn(prepared.store.cautions)
    if not prepared.share:
        count = len(prepared.store.blocks())
        click.echo(
            f"note: part {part} is empty, since the campaign has {count} blocks; use fewer parts, "
            "or a smaller block_seconds in a new store",
            err=True,
        )


def _as_text(outcome: Outcome, part: Part, store: Place) -> str:
    from schedfarm.core.numerals import counted, grouped

    before, done, failed = map(grouped, (outcome.before, outcome.done, outcome.failed))
    counts = f"{before} done before, {done} simulated now, {failed} failed"
    rest = (
        "no block is missing, and the summary is complete"
        if outcome.complete
        else "other blocks are missing or in progress; the last part completes the summary, or "
        "else farm run without --part"
    )
    return f"part {part}: {counted(outcome.cells, 'cell')}: {counts}; store {store}\n{rest}"


def _as_json(outcome: Outcome, part: Part, store: Place) -> str:
    import json

    counts = {key: getattr(outcome, key) for key in ("cells", "before", "done", "failed")}
    said = {"interrupted": outcome.interrupted, "complete": outcome.complete, "store": str(store)}
    cautions = outcome.store.cautions
    return json.dumps({"part": str(part), **counts, **said, "cautions": cautions}, indent=1)
