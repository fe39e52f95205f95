"""Exported cells of a store, and the kinds of tables of cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from schedfarm.core.errors import InputError
from schedfarm.core.format.geometry import CELL, KINDS, ORIGIN
from schedfarm.core.labels import find_label
from schedfarm.core.numerals import counted
from schedfarm.core.own import sources
from schedfarm.farm.store.records import read_headers
from schedfarm.farm.store.store import Store

if TYPE_CHECKING:
    import xarray as xr

    from schedfarm.core.schedule import Schedule

Cell = tuple[int, str, str]
"""Resample, load and policy."""

WHAT = {
    "summary": "",
    "jobs": "job",
    "weeks": "week",
    "users": "user",
    "widths": "width",
    "origins": ORIGIN,
}
"""Dimension along which a cell has rows, by the kind of table; the summary has one row per cell."""


@dataclass(frozen=True)
class Selection:
    """Hold cells of a store, and the functions that read them.

    labels: the selected labels by axis, in the store's order. done: the cells with values, by
    trace. summary, trace: functions that open the verified arrays of the store. schedule: function
    that reads the schedule of a cell from trace, policy, resample and load.
    """

    store: Store
    what: str
    labels: Mapping[str, tuple[Any, ...]]
    done: Mapping[str, frozenset[Cell]]
    summary: Callable[[], xr.Dataset]
    trace: Callable[[str], xr.Dataset]
    schedule: Callable[..., Schedule]

    @property
    def cells(self) -> int:
        """Number of selected cells with values."""
        return sum(map(len, self.done.values()))

    @property
    def missing(self) -> int:
        """Number of selected cells without values."""
        total = 1
        for labels in self.labels.values():
            total *= len(labels)
        return total - self.cells

    def places(self, axis: str) -> list[int]:
        """Return the indices of the selected labels along an axis of the store."""
        index = {label: i for i, label in enumerate(self.store.axes[axis])}
        return [index[label] for label in self.labels[axis]]

    def only(self, name: str) -> tuple[str, Cell]:
        """Return trace and labels of the only cell; refuse several, since the format holds one."""
        found = [(trace, cell) for trace, cells in self.done.items() for cell in cells]
        if len(found) == 1:
            return found[0]
        wide = [axis for axis, labels in self.labels.items() if len(labels) > 1]
        options = [f"--{OPTIONS[axis]}" for axis in wide]
        raise InputError(
            f"a file of format {name} holds one cell, and {counted(len(found), 'cell')} are "
            f"selected; select one with {' and '.join(options)}"
        )


OPTIONS = {"trace": "trace", "resample": "sample", "load": "load", "policy": "policy"}
"""Option that selects labels of an axis, by the axis."""


def select(
    store: Store,
    what: str,
    given: Mapping[str, Sequence[Any]],
    **reads: Any,
) -> Selection:
    """Return the selected cells of a store; an axis without given labels is selected as a whole.

    `given` has labels by axis, in any spelling; `reads` has the functions of the selection.
    """
    labels = {axis: _known(store, axis, given.get(axis, ())) for axis in ("trace", *CELL)}
    done = _done(store, labels)
    found = Selection(store, what, labels, done, **reads)
    if not found.cells:
        raise InputError(
            f"store {store.place}: none of the {counted(found.missing, 'selected cell')} is done; "
            f"'farm status {store.place}' counts those that are missing and those that failed"
        )
    return found


def _known(store: Store, axis: str, given: Sequence[Any]) -> tuple[Any, ...]:
    known, names = store.axes[axis], store.policy_names if axis == "policy" else None
    try:
        with sources(store.own):
            wanted = {find_label(OPTIONS[axis], one, known, names) for one in given}
    except InputError as error:
        raise InputError(f"store {store.place}: {error}") from None
    return tuple(label for label in known if not wanted or label in wanted)


def _done(store: Store, labels: Mapping[str, Iterable[Any]]) -> dict[str, frozenset[Cell]]:
    """Return the simulated cells among the labels, by trace."""
    wanted = {axis: frozenset(values) for axis, values in labels.items()}
    done: dict[str, set[Cell]] = {trace: set() for trace in labels["trace"]}
    for block, header in read_headers(store).items():
        if block.trace in done and KINDS[block.kind].simulates:
            done[block.trace] |= {
                cell
                for cell in header.succeeded
                if all(one in wanted[axis] for axis, one in zip(CELL, cell, strict=True))
            }
    return {trace: frozenset(cells) for trace, cells in done.items()}
