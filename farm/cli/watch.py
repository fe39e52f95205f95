"""`farm watch`: follow a run from another shell."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from schedfarm.farm.cli.command import JSON, STORE, command

if TYPE_CHECKING:
    from schedfarm.farm.watching.events import Event


@command()
@STORE
@click.option("--once", is_flag=True, help="Print the current progress and exit.")
@JSON
def watch(store: str, once: bool, as_json: bool) -> None:
    """Follow the run on STORE until it ends, or has logged no event for three minutes.

    With --json each event of the run's event log is printed as an object on a line of its own.
    """
    from schedfarm.farm.store.store import Store
    from schedfarm.farm.watching.events import Begin, End, now, read_events
    from schedfarm.farm.watching.progress import watcher
    from schedfarm.farm.watching.status import SILENT_SECONDS

    place = Store.open(store).place
    events, since = read_events(place)
    begun = max((i for i, e in enumerate(events) if isinstance(e, Begin)), default=None)
    if begun is None:
        click.echo("no run has begun yet", err=as_json)
        return
    teller = _Events() if as_json else watcher()
    last, events = events[-1], events[begun:]
    while True:
        for event in events:
            teller.see(event)
        last = events[-1] if events else last
        # A killed run logs no further event.
        if once or isinstance(last, End) or now() - last.time > SILENT_SECONDS:
            break
        time.sleep(place.poll_seconds)
        events, since = read_events(place, since)
    if not isinstance(last, End):
        # The state at the time of the last event: the run may have been killed long ago.
        teller.leave(last.time)


class _Events:
    """Print each event in the form of the event log."""

    def see(self, event: Event) -> None:
        """Print an event."""
        import msgspec

        click.echo(msgspec.json.encode(event).decode())

    def leave(self, when: float) -> None:
        """Print nothing, since the end of watching is not an event."""
