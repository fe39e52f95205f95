"""Mapping of the jobs of a pool to a machine with further limited resources."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from schedfarm.core.arrays import HORIZON
from schedfarm.core.checks import is_whole, shown
from schedfarm.core.errors import InputError
from schedfarm.core.machines.resources.platform import PROCESSORS, UNITS, Resources
from schedfarm.core.machines.resources.windows import plain, rows_of
from schedfarm.core.workload.dated_windows import (
    as_unix_times,
    at_epoch,
    dates_as_text,
    is_dated,
)
from schedfarm.core.workload.options import Check, Options, option
from schedfarm.core.workload.select import on_platform
from schedfarm.core.workload.workload import Workload

_BYTES = {"B": 1} | {
    f"{letter}{kind}B": base**power
    for power, letter in enumerate("KMGTP", 1)
    for kind, base in (("", 1000), ("i", 1024))
}

SUFFIXES: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {
        "gpus": {},
        "memory": MappingProxyType(_BYTES),
        "licences": {},
        "watts": {"W": 1, "kW": 1000, "MW": 10**6},
    }
)
"""Units of each resource in texts, as multiples of the base unit."""

_AMOUNT = re.compile(r"\s*(\d+)(?:\.(\d+))?\s*([A-Za-z]*)\s*")


def amount_of(what: str, resource: str, given: object) -> int:
    """Return an amount of a resource: a whole number, or a text with a unit such as ``2 TiB``.

    Examples
    --------
    >>> amount_of("memory", "memory", "1.5 KiB"), amount_of("watts", "watts", "2 MW")
    (1536, 2000000)
    >>> amount_of("gpus", "gpus", "64")
    64
    """
    suffixes = SUFFIXES[resource]
    amount = given if is_whole(given) else None
    found = _AMOUNT.fullmatch(given) if isinstance(given, str) else None
    if found and (not found[3] or found[3] in suffixes):
        digits, decimals = found[1], found[2] or ""
        unit = suffixes[found[3]] if found[3] else 1
        whole, rest = divmod(int(digits + decimals) * unit, 10 ** len(decimals))
        amount = None if rest else whole
    if amount is None or not 0 <= amount < HORIZON:  # type: ignore[operator]
        with_unit = f", or a text in {', '.join(suffixes)}" if suffixes else ""
        raise InputError(
            f"{what} is {shown(given)}; give a whole number of {UNITS[resource]} from 0, "
            f"below 2^62{with_unit}"
        )
    return int(amount)  # type: ignore[call-overload, no-any-return]


def _amount(resource: str) -> Check:
    def check(what: str, given: object) -> int | None:
        return None if given is None else amount_of(what, resource, given)

    return check


def windows_in_units(what: str, given: object) -> tuple[dict[str, Any], ...]:
    """Return windows with amounts as numbers and dates as text.

    The amounts are checked later, against the amounts of the machine.
    """
    if isinstance(given, Mapping | str) or not isinstance(given, Sequence):
        raise InputError(f"{what} is {given!r}; give a list of tables")
    return tuple(
        {
            key: amount_of(f"{what}[{k}]: {key}", key, value) if key in UNITS else value
            for key, value in dates_as_text(f"{what}[{k}]", one).items()
        }
        if isinstance(one, Mapping)
        else one
        for k, one in enumerate(given)
    )


@dataclass(frozen=True)
class OnResources(Options):
    """Declare the resources of a machine in addition to the log's processors; None is unlimited.

    In windows, jobs cannot use some resources, as in `core.machines.resources.windows`.

    Examples
    --------
    >>> OnResources.from_dict({"gpus": 64, "memory": "2 TiB"}).to_dict()
    {'gpus': 64, 'memory': 2199023255552}
    >>> OnResources.from_dict({"windows": [{"from": "1d", "until": "2d"}]}).to_dict()
    {'windows': [{'from': 86400, 'until': 172800}]}
    """

    within = "resources"

    gpus: int | None = option(None, _amount("gpus"))
    memory: int | None = option(None, _amount("memory"))
    licences: int | None = option(None, _amount("licences"))
    watts: int | None = option(None, _amount("watts"))

    windows: Sequence[Mapping[str, Any]] = option((), windows_in_units)

    def _check_together(self) -> None:
        if not self.to_dict():
            raise InputError(
                "resources is an empty table; give the amount of each resource, such as "
                "{gpus = 64}, or leave it out"
            )
        # The log gives the number of processors later.
        stocks = {PROCESSORS: HORIZON - 1, **self.capacities}
        rows_of(as_unix_times(self.windows), stocks, "resources: ")
        dated = [one for one in self.windows if is_dated(one)]
        rows = rows_of([one for one in self.windows if not is_dated(one)], stocks)
        object.__setattr__(self, "windows", (*plain(rows), *dated))

    @property
    def capacities(self) -> dict[str, int]:
        """The limited resources, and their amounts."""
        found = {name: getattr(self, name) for name in UNITS}
        return {name: amount for name, amount in found.items() if amount is not None}

    def to_dict(self) -> dict[str, Any]:
        """Return the limited resources and windows, from which `from_dict` makes equal options."""
        windows = {"windows": [dict(one) for one in self.windows]} if self.windows else {}
        return {**self.capacities, **windows}


def put_on_resources(workload: Workload, how: OnResources) -> Workload:
    """Put jobs of a pool on a machine with further resources; drop jobs that request too much.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 0], run=[9, 9], estimate=[9, 9], procs=[1, 1],
    ...                           gpus=[2, 8], processors=4)
    >>> some = put_on_resources(w, OnResources(gpus=4))
    >>> some.gpus.tolist(), some.platform, dict(some.dropped)
    ([2], Resources(processors=4, capacities=(('gpus', 4),), windows=()), {'not admitted': 1})
    """
    if workload.platform.name != "pool":
        raise InputError(
            "'resources' limits requests of jobs on a pool, and these jobs are on "
            f"{workload.machine}; leave it out"
        )
    windows = at_epoch("resources: ", how.windows, workload.epoch)
    if not windows and not how.capacities:  # all windows are before the log
        return workload
    try:
        machine = Resources(workload.processors, how.capacities, windows=windows)
    except InputError as error:
        raise InputError(f"resources: {error}") from None
    return on_platform(workload, machine)
