"""A policy: a queue order, a backfilling rule and options, as one value with one short name."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from importlib.metadata import entry_points

from core.errors import InputError

ORDERS = {
    "fcfs": "first come, first served: smallest submit",
    "lcfs": "last come, first served: largest submit",
    "spf": "shortest processing time first: smallest estimate (also sjf)",
    "lpf": "longest processing time first: largest estimate",
    "sqf": "smallest resource requirement first: fewest procs",
    "lqf": "largest resource requirement first: most procs",
    "saf": "smallest area first: smallest estimate x procs",
    "laf": "largest area first: largest estimate x procs",
    "lxf": "largest expansion factor (wait + estimate) / estimate first, anew at each pass",
    "sxf": "smallest expansion factor (wait + estimate) / estimate first, anew at each pass",
    "wfp3": "largest (wait / estimate)^3 x procs first (Tang et al. 2009)",
    "unicef": "largest wait / (log2(procs) x estimate) first (Tang et al. 2009)",
    "f1": "log10(estimate) procs + 870 log10(submit) (Carastan-Santos and de Camargo 2017)",
    "f2": "sqrt(estimate) procs + 25600 log10(submit) (Carastan-Santos and de Camargo 2017)",
    "f3": "estimate procs + 6860000 log10(submit) (Carastan-Santos and de Camargo 2017)",
    "f4": "estimate sqrt(procs) + 530000 log10(submit) (Carastan-Santos and de Camargo 2017)",
}
"""Known queue orders and what comes first in each."""

ALIASES = {"sjf": "spf", "bf": "aggressive"}
"""Other names of the field for a known order or rule; parsing turns them into ours."""

ORDER_GROUP = "schedfarm.orders"
"""Entry points of this group are orders, by their (lower-case) names."""

RULES = {
    "none": "start the head while it fits; stop at the first job that does not",
    "aggressive": "start everything that fits now, in queue order; no reservation (also bf)",
    "easy": "one reservation, for the first job that does not fit; others may not delay it",
    "depth(K)": "the first K waiting jobs hold reservations (easy is depth(1))",
    "conservative": "every waiting job holds a reservation, all made anew in queue order each pass",
    "planned": "classical conservative: a reservation at arrival, kept; compressed on early ends",
}
"""Known backfilling rules and what each does."""

UNITS = {"w": 604_800, "d": 86_400, "h": 3_600, "m": 60, "s": 1}
"""Seconds in each unit of a duration, longest first."""

_DURATION = re.compile(r"(\d+)([wdhms]|x)")
_DEPTH = re.compile(r"depth\((\d+)\)")
_FUNCTION = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


@dataclass(frozen=True)
class Policy:
    """Name what a scheduler does: a queue order x a backfilling rule x options.

    Parameters
    ----------
    order : str
        A key of `ORDERS`, or a user's own: ``module:function``, or an entry point of the group
        `ORDER_GROUP`.
    rule : str
        A key of `RULES`, with a number in place of K.
    threshold : str, optional
        Starvation threshold: a job that waited longer goes before all others. A duration such
        as ``3d``, ``12h`` or ``90s``, or ``3x`` for three times the largest estimate that the
        platform allows (Carastan-Santos et al. 2019, section III-C).
    backfill : str, optional
        Order in which the rule looks for jobs to backfill; by default the queue order.
    events : {"instant", "per-event"}
        Clock: all events of an instant, then a pass; or a pass after each event (as pyss).
    walk : {"start", "arrival"}
        Order in which `planned` compresses reservations: by start (Klusacek and Rudova), or by
        arrival (as pyss).

    Raises
    ------
    InputError
        If a part is unknown or does not go with the others.

    Examples
    --------
    >>> p = Policy.parse("SJF+easy,threshold=72h")
    >>> p.name, p.order
    ('spf+easy,threshold=3d', 'spf')
    >>> Policy.parse(p.name) == p
    True
    """

    order: str
    rule: str
    threshold: str | None = None
    backfill: str | None = None
    events: str = "instant"
    walk: str = "start"

    def __post_init__(self) -> None:
        _check_order("order", self.order)
        if self.backfill is not None:
            _check_order("backfill order", self.backfill)
        depth = _DEPTH.fullmatch(self.rule)
        if self.rule == "depth(K)" or (self.rule not in RULES and not depth):
            raise InputError(f"unknown rule {self.rule!r}; known: {', '.join(RULES)}")
        if depth and (int(depth[1]) < 1 or depth[1] != str(int(depth[1]))):
            raise InputError(f"rule {self.rule!r}: the depth is a whole number from 1")
        if self.threshold is not None:
            object.__setattr__(self, "threshold", _canonical_threshold(self.threshold))
        _check_choice("events", self.events, ("instant", "per-event"))
        _check_choice("walk", self.walk, ("start", "arrival"))
        self._check_together()

    @property
    def name(self) -> str:
        """The canonical name, from which `parse` gives the same policy again."""
        options = [
            f",{f.name}={getattr(self, f.name)}"
            for f in fields(self)[2:]
            if getattr(self, f.name) != f.default
        ]
        return f"{self.order}+{self.rule}{''.join(options)}"

    def __str__(self) -> str:
        return self.name

    @property
    def depth(self) -> int:
        """How many waiting jobs hold a reservation: 0 for none, -1 for all."""
        found = _DEPTH.fullmatch(self.rule)
        fixed = {"none": 0, "aggressive": 0, "easy": 1, "conservative": -1, "planned": -1}
        return int(found[1]) if found else fixed[self.rule]

    def threshold_seconds(self, max_estimate: int) -> int | None:
        """Return the starvation threshold, s, on a platform with this largest estimate, s.

        Examples
        --------
        >>> Policy.parse("saf+easy,threshold=3x").threshold_seconds(3600)
        10800
        """
        if self.threshold is None:
            return None
        number, unit = int(self.threshold[:-1]), self.threshold[-1]
        return number * (max_estimate if unit == "x" else UNITS[unit])

    @classmethod
    def parse(cls, text: str) -> Policy:
        """Read a policy from ``ORDER+RULE[,option=value ...]``.

        Raises
        ------
        InputError
            If the text does not have that form, or names something unknown.

        Examples
        --------
        >>> Policy.parse("saf+easy,threshold=3x")
        Policy(order='saf', rule='easy', threshold='3x', backfill=None, events='instant', \
walk='start')
        """
        head, *options = text.strip().split(",")
        order, plus, rule = head.partition("+")
        if not plus:
            raise InputError(
                f"policy {text!r} is not of the form ORDER+RULE[,option=value]; "
                "for example saf+easy"
            )
        known = [f.name for f in fields(cls)[2:]]
        values: dict[str, str] = {}
        for option in options:
            key, equals, value = option.partition("=")
            if not equals or key not in known or key in values:
                raise InputError(
                    f"policy {text!r}: option {option!r} is unknown, incomplete or given twice; "
                    f"known: {', '.join(f'{k}=...' for k in known)}"
                )
            values[key] = _canonical(value) if key == "backfill" else value
        try:
            return cls(_canonical(order), _canonical(rule), **values)
        except InputError as error:
            raise InputError(f"policy {text!r}: {error}") from None

    def _check_together(self) -> None:
        if self.rule == "planned" and (self.order != "fcfs" or self.threshold or self.backfill):
            raise InputError(
                "rule 'planned' keeps reservations in order of arrival: it goes with order fcfs "
                "and without threshold or backfill order"
            )
        if self.backfill and self.depth < 0:
            raise InputError(
                f"under rule {self.rule!r} every waiting job holds a reservation and none is left "
                "to backfill; leave out backfill="
            )
        if self.walk != "start" and self.rule != "planned":
            raise InputError(f"walk={self.walk} is an option of rule 'planned' only")


def _canonical(part: str) -> str:
    lower = part if ":" in part else part.lower()
    return ALIASES.get(lower, lower)


def _check_order(what: str, order: str) -> None:
    known = order in ORDERS or _FUNCTION.fullmatch(order)
    if not known and not entry_points(group=ORDER_GROUP, name=order):
        raise InputError(f"unknown {what} {order!r}; known: {', '.join(ORDERS)}, module:function")


def _check_choice(what: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise InputError(f"{what}={value!r} is unknown; known: {', '.join(choices)}")


def _canonical_threshold(text: str) -> str:
    found = _DURATION.fullmatch(text)
    if not found:
        raise InputError(
            f"threshold {text!r} is not a duration; give a whole number and a unit, such as 3d, "
            "12h, 90s, or 3x for three times the largest estimate"
        )
    number, unit = int(found[1]), found[2]
    if unit == "x":
        return f"{number}x"
    seconds = number * UNITS[unit]
    best = next(u for u, size in UNITS.items() if seconds % size == 0)
    return f"{seconds // UNITS[best]}{best}" if seconds else "0s"
