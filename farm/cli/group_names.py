"""Names of users, groups, queues and partitions, as far as a store has them."""

from __future__ import annotations

from collections.abc import Mapping

from schedfarm.analysis.reading import opened_once
from schedfarm.core.errors import InputError
from schedfarm.farm.cli.cautions import warn
from schedfarm.farm.store.names import NoNamesError, names_of


def group_names(store: str, trace: str, by: str) -> Mapping[int, str]:
    """Return the names of the groups of a kind by their numbers; none without a file of names."""
    return _names(store, trace).get(by, {})


@opened_once
def _names(store: str, trace: str) -> Mapping[str, Mapping[int, str]]:
    """Return the names of a trace; print a caution once if its file cannot be read."""
    try:
        return names_of(store, trace)
    except NoNamesError:
        return {}
    except InputError as error:
        warn({trace: {"names": f"numbers instead of names: {error}"}})
        return {}
