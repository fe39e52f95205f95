"""Requests for precision: upper limits on the length of a comparison's interval."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from msgspec import Meta

from schedfarm.core.errors import InputError
from schedfarm.farm.campaign.plain import Text, check_keys, check_types, to_plain

Share = Annotated[
    float,
    Meta(gt=0, lt=1, description="a number above 0 and below 1, such as 0.02 for 2 %"),
]
Level = Annotated[
    float, Meta(gt=0, lt=1, description="a number above 0 and below 1, such as 0.9 for 90 %")
]


@dataclass(frozen=True)
class Precision:
    """Request a short interval of the ratio of a metric under two policies.

    The request applies to every trace at every load. relative: upper limit of half of the interval,
    as a share of the ratio. over: the policy in the denominator, by default the campaign's first.
    """

    metric: Text
    policy: Text
    relative: Share
    over: Text = ""
    level: Level = 0.9

    def __post_init__(self) -> None:
        check_types(self)

    @classmethod
    def from_dict(cls, given: object) -> Precision:
        """Build a request from plain values; raises `InputError` if a key or value is wrong."""
        return cls(**check_keys(cls, given))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values from which `from_dict` builds an equal request."""
        return to_plain(self)

    @property
    def toml(self) -> str:
        """The request as an inline table of a campaign's file.

        Examples
        --------
        >>> Precision(metric="wait", policy="spf+easy", relative=0.02).toml
        '{ metric = "wait", policy = "spf+easy", relative = 0.02 }'
        """
        plain = self.to_dict()
        shown = {key: x for key, x in plain.items() if x != getattr(type(self), key, None)}
        ordered = {key: shown[key] for key in ("metric", "policy", "over") if key in shown} | shown
        return f"{{ {', '.join(f'{key} = {json.dumps(x)}' for key, x in ordered.items())} }}"

    def __str__(self) -> str:
        return f"{self.metric} of {self.policy} over {self.over}"


def precisions_of(given: Any) -> tuple[Precision, ...]:
    """Return the requests in a table or a list of tables."""
    listed = [given] if isinstance(given, Mapping | Precision) else given
    if not isinstance(listed, list | tuple):
        raise InputError(
            f"precision is {given!r}; it must be a table or a list of tables, such as "
            '{ metric = "wait", policy = "spf+easy", over = "fcfs+easy", relative = 0.02 }'
        )
    found = []
    for one in listed:
        try:
            found.append(one if isinstance(one, Precision) else Precision.from_dict(one))
        except InputError as error:
            raise InputError(f"precision: {error}") from None
    return tuple(found)
