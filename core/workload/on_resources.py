"""Jobs of a log for a pool, on a machine with other limited resources."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from schedfarm.core.arrays import HORIZON
from schedfarm.core.checks import is_whole, shown
from schedfarm.core.errors import InputError
from schedfarm.core.machines.resources.platform import UNITS, Resources
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
"""Units of each resource in texts, as multiples of its base unit."""

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


@dataclass(frozen=True)
class OnResources(Options):
    """Declare the resources of a machine in addition to the log's processors; None is unlimited.

    Examples
    --------
    >>> OnResources.from_dict({"gpus": 64, "memory": "2 TiB"}).to_dict()
    {'gpus': 64, 'memory': 2199023255552}
    """

    within = "resources"

    gpus: int | None = option(None, _amount("gpus"))
    memory: int | None = option(None, _amount("memory"))
    licences: int | None = option(None, _amount("licences"))
    watts: int | None = option(None, _amount("watts"))

    def _check_together(self) -> None:
        if not self.to_dict():
            raise InputError(
                "resources is an empty table; give the amount of each resource, such as "
                "{gpus = 64}, or leave it out"
            )

    def to_dict(self) -> dict[str, Any]:
        """Return the limited resources, from which `from_dict` gives equal options."""
        return {name: amount for name, amount in super().to_dict().items() if amount is not None}


def put_on_resources(workload: Workload, how: OnResources) -> Workload:
    """Put jobs of a pool on a machine with further resources; drop those that request too much.

    Examples
    --------
    >>> w = Workload.from_columns(submit=[0, 0], run=[9, 9], estimate=[9, 9], procs=[1, 1],
    ...                           gpus=[2, 8], processors=4)
    >>> some = put_on_resources(w, OnResources(gpus=4))
    >>> some.gpus.tolist(), some.platform, dict(some.dropped)
    ([2], Resources(processors=4, capacities=(('gpus', 4),)), {'not admitted': 1})
    """
    if workload.platform.name != "pool":
        raise InputError(
            "'resources' limits what jobs of a pool request, and these are on "
            f"{workload.machine}; leave it out"
        )
    return on_platform(workload, Resources(workload.processors, how.to_dict()))
