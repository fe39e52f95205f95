"""Policies: a queue order, a backfilling rule and options, as one value with a short name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

from schedfarm.core.durations import seconds_of
from schedfarm.core.errors import InputError
from schedfarm.core.names import aliased, choices, split_outside
from schedfarm.core.policy import rules
from schedfarm.core.policy.options import COMMON, OPTIONS, TIMES
from schedfarm.core.policy.orders import ALIASES, ORDERS, Order, find_order, spelt
from schedfarm.core.policy.rules import RULES, Rule, depth_of, find_rule


@dataclass(frozen=True, repr=False)
class Policy:
    """Hold a scheduling policy: a queue order x a backfilling rule x options.

    Parameters
    ----------
    order : str
        A name from `farm policies`, an expression in parentheses such as ``(estimate * procs)``, a
        plug-in ``module:function``, or an entry point of the group ``schedfarm.orders``.
    rule : str
        A name from `farm policies`, with a number in place of K, a plug-in ``module:name``, or an
        entry point of the group ``schedfarm.rules``.
    threshold : str, optional
        Starvation threshold: a job that has waited longer precedes all others. Its form is a
        duration such as ``3d``, ``12h`` or ``90s``, or ``3x`` for three times the largest estimate
        that the platform allows (Carastan-Santos et al. 2019, section III-C).
    backfill : str, optional
        Order in which jobs are considered for backfilling; by default the queue order.
    events : {"instant", "per-event"}
        Clock: one pass after all events of an instant, or one pass after each event (as in pyss).
    predict : str, optional
        Predictor of run times: ``last2``, ``mean(K)``, ``soft``, ``perfect`` or ``module:name``.
        The rule and the orders use predictions instead of estimates; jobs are still killed at their
        estimates.
    correct : {"steps", "double", "estimate"}
        Correction of predictions that turn out too short.
    walk : {"start", "arrival", "queue"}
        Order in which `planned` compresses reservations: by start (Klusacek and Rudova), by arrival
        (as in pyss), or in the queue order at the instant.
    refresh, halflife : str, optional
        Interval between updates of users' history, and half-life of its entries, both as durations.
    limits : str, optional
        Limits of associations and QOS, such as ``(qos.high.MaxJobsPerUser=8)``.
    sched_interval, default_queue_depth : str
        Interval and depth of the main scheduler of `slurm`; see `farm policies`.
    bf_interval, bf_max_job_test, bf_max_job_user, bf_window, bf_resolution : str
        Cycles of the backfill scheduler of `slurm`; see `farm policies`.
    bf_rate, bf_max_time : str, optional
        Tests per second in these cycles, and their largest duration.
    every, iterations, tenure, seed, weights, jobs, users, fairness, search : str
        Search parameters of `tabu`; see `farm policies`.
    shelf, resets, utc, worth, budget : str
        Shelf parameters of `demt`; see `farm policies`.
    to, links, queue : str
        Placement of jobs and use of links under `ics` and `icsb`, and the queue of `ics`; see `farm
        policies`.

    Raises
    ------
    InputError
        If a part is unknown, cannot be loaded, or cannot be combined with the other parts.

    Examples
    --------
    >>> p = Policy.parse("SJF+easy,threshold=72h")
    >>> p.name, p.order
    ('spf+easy,threshold=3d', 'spf')
    >>> Policy.parse(p.name) == p
    True
    >>> Policy.parse("(-(now-submit)/max(estimate,1))+easy").order
    '(-(now - submit) / max(estimate, 1))'
    """

    order: str
    rule: str
    threshold: str | None = None
    backfill: str | None = None
    events: str = "instant"
    predict: str | None = None
    correct: str = "steps"
    walk: str = "start"
    refresh: str | None = None
    halflife: str | None = None
    limits: str | None = None
    sched_interval: str = "1m"
    default_queue_depth: str = "100"
    bf_interval: str = "30s"
    bf_max_job_test: str = "500"
    bf_max_job_user: str = "0"
    bf_window: str = "1d"
    bf_resolution: str = "1m"
    bf_rate: str | None = None
    bf_max_time: str | None = None
    every: str = "5m"
    iterations: str = "2x"
    tenure: str = "10"
    seed: str = "0"
    weights: str = "1:1:1:1"
    jobs: str = "plan"
    users: str = "all"
    fairness: str = "plain"
    search: str = "tabu"
    shelf: str = "15m"
    resets: str = "8h:13h"
    utc: str = "0s"
    worth: str = "jobs"
    budget: str = "20000"
    to: str = "most"
    links: str = "kept"
    queue: str = "local"

    def __post_init__(self) -> None:
        find_order(self.order)
        for name, row in OPTIONS.items():
            value = getattr(self, name)
            # A default is already canonical, and most options have their default values.
            if value != row.default:
                object.__setattr__(self, name, row.canonical(name, value))
        depth_of(self.rule)
        self._check_together()

    @cached_property
    def name(self) -> str:
        """Canonical name, from which `parse` makes the same policy."""
        options = "".join(f",{option}={value}" for option, value in self.given.items())
        return f"{self.order}+{self.rule}{options}"

    @property
    def given(self) -> dict[str, str]:
        """Options that differ from their defaults, in the order of the name."""
        values = {name: getattr(self, name) for name in OPTIONS}
        return {name: v for name, v in values.items() if v != OPTIONS[name].default}

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"Policy({self.name!r})"

    @property
    def row(self) -> Rule:
        """Definition of the rule."""
        return find_rule(self.rule)

    @property
    def compiles_fair_starts(self) -> bool:
        """Whether kernels compute fair starts.

        Kernels do not compute fair starts in three cases: with predictions, which depend on the
        past; with limits; and if an expression that uses ``now`` is combined with an order by
        users' usage.
        """
        orders = self.orders
        by_usage = any(order.shares or order.weighs for order in orders)
        evaluated = any(order.expression and order.moves for order in orders)
        return (
            self.row.fair_start is not None
            and self.predict is None
            and self.limits is None
            and all(order.is_compiled for order in orders)
            and not (by_usage and evaluated)
        )

    @property
    def depth(self) -> int:
        """Number of waiting jobs with reservations: 0 for none, -1 for all."""
        return depth_of(self.rule)

    def without_leaving(self, platform: str) -> str | None:
        """Return the part of the policy that does not support jobs that leave the queue.

        Return None if jobs may leave the queue before they start, on a kind of platform.

        Examples
        --------
        >>> Policy.parse("fcfs+easy").without_leaving("pool")
        >>> Policy.parse("fcfs+easy,events=per-event").without_leaving("pool")
        'events=per-event'
        """
        if platform not in self.row.leaving:
            return f"rule {self.rule!r} on a platform of kind {platform!r}"
        known = ("predict", "events")
        return next((f"{name}={self.given[name]}" for name in known if name in self.given), None)

    @property
    def orders(self) -> list[Order]:
        """Definitions of the queue order and, if it differs, of the backfill order."""
        return [find_order(name) for name in (self.order, self.backfill) if name is not None]

    @property
    def known_options(self) -> tuple[str, ...]:
        """Names of the options of the rule or an order, in the order of `OPTIONS`."""
        known = {*COMMON, *self.row.options, *(name for row in self.orders for name in row.options)}
        return tuple(name for name in OPTIONS if name in known)

    def threshold_seconds(self, max_estimate: int) -> int | None:
        """Return the starvation threshold, s, given the platform's largest estimate, s.

        Examples
        --------
        >>> Policy.parse("saf+easy,threshold=3x").threshold_seconds(3600)
        10800
        """
        if self.threshold is None:
            return None
        times = TIMES.fullmatch(self.threshold)
        return int(times[1]) * max_estimate if times else seconds_of(self.threshold)

    @classmethod
    def parse(cls, text: str) -> Policy:
        """Parse a policy from ``ORDER+RULE[,option=value ...]``.

        Raises
        ------
        InputError
            If the text does not have this form, or contains an unknown name.

        Examples
        --------
        >>> Policy.parse("saf+easy,threshold=3x")
        Policy('saf+easy,threshold=3x')
        """
        # The meaning of names in a user's modules depends on the current `own.sources`.
        return _parsed.__wrapped__(text) if ":" in text else _parsed(text)

    def _check_together(self) -> None:
        row, given = self.row, self.given
        why = row.check(self.order, given) if row.check else None
        if why is not None:
            raise InputError(why)
        known = self.known_options if given else ()
        for option, value in given.items():
            if option not in known:
                raise InputError(f"{option}={value} is an option of {_who_knows(option)} only")


@lru_cache(maxsize=2**16)
def _parsed(text: str) -> Policy:
    head, *options = split_outside(text.strip(), ",")
    order, *rest = split_outside(head, "+")
    if not rest and not order.startswith("("):
        raise InputError(
            f"policy {text!r} is not of the form ORDER+RULE[,option=value]; for example saf+easy"
        )
    try:
        name, values = spelt(order), _options(options)
        if not rest:
            raise InputError(f"a rule is missing; write {name}+easy, for example")
        rule = aliased("+".join(rest).strip(), rules.ALIASES)
        return Policy(name, rule, **values)
    except InputError as error:
        raise InputError(f"policy {text!r}: {error}") from error


def whole_name(text: str) -> str:
    """Return the full name of a policy: a rule alone implies fcfs.

    Examples
    --------
    >>> whole_name("easy,events=per-event"), whole_name("saf+easy"), whole_name("saf")
    ('fcfs+easy,events=per-event', 'saf+easy', 'saf')
    """
    head = split_outside(text.strip(), ",")[0]
    parts = split_outside(head, "+")
    alone = len(parts) == 1 and head.lower() not in {*ORDERS, *ALIASES} and head[:1] != "("
    return f"fcfs+{text.strip()}" if alone else text


def _who_knows(option: str) -> str:
    """Return a clause with the rules or orders that have an option."""
    known: list[str] = [name for name, row in RULES.items() if option in row.options]
    what = "rule" if known else "order"
    known = known or [name for name, order in ORDERS.items() if option in order.options]
    return f"{what}{'s' if len(known) > 1 else ''} {', '.join(map(repr, known))}"


def _options(given: list[str]) -> dict[str, str]:
    values: dict[str, str] = {}
    for option in given:
        key, equals, value = option.partition("=")
        if key not in OPTIONS:
            raise InputError(f"option {option!r} is unknown; {choices(key, OPTIONS)}")
        if not equals:
            raise InputError(f"option {option!r} is incomplete; give {option}=...")
        if key in values:
            raise InputError(f"option {option!r} is given twice; give it once")
        values[key] = value
    return values
