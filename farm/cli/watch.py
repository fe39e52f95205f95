"""`farm watch`: follow a run from another shell."""

from __future__ import annotations

import time
from pathlib import Path

import click

from farm.cli.command import STORE, command

POLL_SECONDS = 0.5
"""How often the log of events is looked at."""


@command()
@STORE
@click.option("--once", is_flag=True, help="Say how far the run is, and end.")
def watch(store: Path, once: bool) -> None:
    """Follow the run on STORE through its log of events, until it ends."""
    from farm.store.store import Store
    from farm.watching.events import Begin, End, read_events
    from farm.watching.progress import watcher

    Store.open(store)
    events, offset = read_events(store)
    begun = max((i for i, e in enumerate(events) if isinstance(e, Begin)), default=None)
    if begun is None:
        click.echo("no run has begun yet")
        return
    teller, last, events = watcher(), events[-1], events[begun:]
    while True:
        for event in events:
            teller.see(event)
        last = events[-1] if events else last
        if once or isinstance(last, End):
            break
        time.sleep(POLL_SECONDS)
        events, offset = read_events(store, offset)
    if not isinstance(last, End):
        # As far as it was when something happened last: it may have been killed long ago.
        teller.leave(last.time)
