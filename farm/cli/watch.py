"""`farm watch`: follow a run from another shell."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

POLL_SECONDS = 0.5
"""How often the log of events is looked at."""


@click.command()
@click.argument("store", type=click.Path(path_type=Path))
@click.option("--once", is_flag=True, help="Say how far the run is, and end.")
def watch(store: Path, once: bool) -> None:
    """Follow the run on STORE through its log of events, until it ends."""
    from farm.store.store import Store
    from farm.watching.events import read_events
    from farm.watching.progress import watcher

    Store.open(store)
    events, offset = read_events(store)
    begun = max((i for i, e in enumerate(events) if e["event"] == "begin"), default=None)
    if begun is None:
        click.echo("no run has begun yet")
        return
    teller, ended = watcher(), False
    events = events[begun:]
    while not ended:
        for event in events:
            ended = _tell(teller, event) or ended
        if once or ended:
            break
        time.sleep(POLL_SECONDS)
        events, offset = read_events(store, offset)
    if not ended:
        teller.end()


def _tell(teller: Any, event: dict[str, Any]) -> bool:
    from farm.execution.task import Done
    from farm.store.geometry import Block

    facts = {k: v for k, v in event.items() if k not in ("event", "time")}
    match event["event"]:
        case "begin":
            teller.begin(facts["cells"], facts["before"])
        case "block":
            teller.finish(Done(**{**facts, "block": Block(**facts["block"])}))
        case "lost":
            teller.lose(facts["cells"], facts["why"])
        case "say":
            teller.say(facts["text"])
        case "end":
            teller.end()
            return True
    return False
