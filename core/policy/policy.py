"""A policy: a queue order, a backfilling rule and options, as one value with one short name."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields

from core.durations import duration, seconds_of
from core.errors import InputError
from core.names import choices
from core.policy import orders, rules
from core.policy.orders import find_order
from core.policy.rules import RULES, Rule, depth_of, find_rule

OPTIONS = {
    "threshold=3d": "a job that waited longer goes first; w d h m s, or 3x the largest estimate",
    "backfill=ORDER": "order in which jobs behind the reservations are looked at",
    "events=per-event": "submissions before completions, and a pass after each (as pyss)",
    "walk=queue": "planned: compress reservations in queue order; or in order of arrival",
}
"""What each option of a policy's name does, by an example."""

CHOICES = {"events": ("instant", "per-event"), "walk": ("start", "arrival", "queue")}
"""Values of the options that have few, the default first."""

COMMON = ("threshold", "events")
"""Options that every rule knows."""

_TIMES = re.compile(r"(\d{1,100})x")


@dataclass(frozen=True)
class Policy:
    """Name what a scheduler does: a queue order x a backfilling rule x options.

    Parameters
    ----------
    order : str
        A key of `core.policy.orders.ORDERS`, or a user's own: ``module:function``, or an entry
        point of the group ``schedfarm.orders``.
    rule : str
        A key of `core.policy.rules.RULES`, with a number in place of K, or a user's own:
        ``module:name``, or an entry point of the group ``schedfarm.rules``.
    threshold : str, optional
        Starvation threshold: a job that waited longer goes before all others. A duration such
        as ``3d``, ``12h`` or ``90s``, or ``3x`` for three times the largest estimate that the
        platform allows (Carastan-Santos et al. 2019, section III-C).
    backfill : str, optional
        Order in which the rule looks for jobs to backfill; by default the queue order.
    events : {"instant", "per-event"}
        Clock: all events of an instant, then a pass; or a pass after each event (as pyss).
    walk : {"start", "arrival", "queue"}
        Order in which `planned` compresses reservations: by start (Klusacek and Rudova), by
        arrival (as pyss), or by the queue at that instant, through which the order matters.

    Raises
    ------
    InputError
        If a part is unknown, cannot be loaded, or does not go with the others.

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
        depth_of(self.rule)
        if self.threshold is not None:
            object.__setattr__(self, "threshold", _canonical_threshold(self.threshold))
        for option, values in CHOICES.items():
            _check_choice(option, getattr(self, option), values)
        self._check_together()

    @property
    def name(self) -> str:
        """The canonical name, from which `parse` gives the same policy again."""
        options = "".join(f",{option}={value}" for option, value in self.given.items())
        return f"{self.order}+{self.rule}{options}"

    @property
    def given(self) -> dict[str, str]:
        """The options that are not as by default, in the order in which the name has them."""
        values = {f.name: getattr(self, f.name) for f in fields(self)[2:]}
        return {f.name: values[f.name] for f in fields(self)[2:] if values[f.name] != f.default}

    def __str__(self) -> str:
        return self.name

    @property
    def row(self) -> Rule:
        """What is known of the rule."""
        return find_rule(self.rule)

    @property
    def depth(self) -> int:
        """How many waiting jobs hold a reservation: 0 for none, -1 for all."""
        return depth_of(self.rule)

    def threshold_seconds(self, max_estimate: int) -> int | None:
        """Return the starvation threshold, s, on a platform with this largest estimate, s.

        Examples
        --------
        >>> Policy.parse("saf+easy,threshold=3x").threshold_seconds(3600)
        10800
        """
        if self.threshold is None:
            return None
        times = _TIMES.fullmatch(self.threshold)
        return int(times[1]) * max_estimate if times else seconds_of(self.threshold)

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
        try:
            values = _options(options, [f.name for f in fields(cls)[2:]])
            order, rule = _canonical(order, orders.ALIASES), _canonical(rule, rules.ALIASES)
            return cls(order, rule, **values)
        except InputError as error:
            raise InputError(f"policy {text!r}: {error}") from None

    def _check_together(self) -> None:
        why = self.row.check(self.order, self.given) if self.row.check else None
        if why is not None:
            raise InputError(why)
        for option, value in self.given.items():
            if option not in (*COMMON, *self.row.options):
                known = [name for name, row in RULES.items() if option in row.options]
                what = "rule" if len(known) == 1 else "rules"
                raise InputError(
                    f"{option}={value} is an option of {what} {', '.join(map(repr, known))} only"
                )


def _options(given: list[str], known: list[str]) -> dict[str, str]:
    values: dict[str, str] = {}
    for option in given:
        key, equals, value = option.partition("=")
        if key not in known:
            raise InputError(f"option {option!r} is unknown; {choices(key, known)}")
        if not equals:
            raise InputError(f"option {option!r} is incomplete; give {option}=...")
        if key in values:
            raise InputError(f"option {option!r} is given twice; once is enough")
        values[key] = _canonical(value, orders.ALIASES) if key == "backfill" else value
    return values


def _canonical(part: str, aliases: dict[str, str]) -> str:
    lower = part if ":" in part else part.lower()
    return aliases.get(lower, lower)


def _check_order(what: str, order: str) -> None:
    try:
        find_order(order)
    except InputError as error:
        raise InputError(str(error).replace("order", what, 1)) from error.__cause__


def _check_choice(what: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise InputError(f"{what}={value!r} is unknown; {choices(value, known)}")


def _canonical_threshold(text: str) -> str:
    if times := _TIMES.fullmatch(text):
        return f"{int(times[1])}x"
    seconds = seconds_of(text)
    if seconds is None:
        raise InputError(
            f"threshold {text!r} is not a duration; give a whole number and a unit, such as 3d, "
            "12h, 90s, or 3x for three times the largest estimate"
        )
    return duration(seconds)
