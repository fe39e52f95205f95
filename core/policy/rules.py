"""Backfilling rules, which decide which jobs may start before others; one row each.

The row of a rule contains all information about the rule; no other code tests for a rule's name. A
new rule consists of its functions and a row of `RULES`. Rows name functions and classes without
importing them, so that reading a policy compiles no kernel.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from schedfarm.core import own
from schedfarm.core.errors import InputError
from schedfarm.core.names import choices
from schedfarm.core.policy.cost import CALLED, Cost, Rate
from schedfarm.core.policy.custom_rule import is_called_at_passes, keeps_state
from schedfarm.core.policy.options import OFF, OPTIONS
from schedfarm.core.policy.orders import find_order

ALL = -1
"""Value of `holds` if every waiting job holds a reservation."""

GIVEN = -2
"""Value of `holds` if the rule's name contains the number of reservations."""

Reference = str | Callable[..., Any]
"""A function or class, or its ``module:name``, which is loaded at its first use."""

Check = Callable[[str, Mapping[str, str]], str | None]
"""Function that returns the reason why a rule excludes an order and options, as a sentence, or
None."""


@dataclass(frozen=True)
class Rule:
    """Declare a backfilling rule.

    Parameters
    ----------
    name : str
        Name of the rule in a policy; a number from 1 takes the place of a final ``(K)``.
    meaning : str
        Effect of the rule, in one line.
    simulate : Reference
        Function (workload, policy) that returns a `Schedule`, or only the starts, int64[n], s.
    holds : int
        Number of waiting jobs that hold reservations, `ALL` or `GIVEN`.
    overtakes : bool
        Whether a job may start while an earlier job of the queue waits.
    options : tuple of str
        Options of a policy that the rule supports, in addition to the options of every rule.
    check : callable, optional
        Check of the combination with an order and options.
    promise : Reference, optional
        Function (workload, policy) that returns the start reserved for each job at its arrival,
        int64[n], s; by default there are no promises.
    keeps_plan : bool
        Whether reservations persist from pass to pass. The reference then computes fair starts,
        unless the fair order is that of arrival.
    fair_start : Reference, optional
        Function (workload, policy, fair) that returns fair start times, int64[n], s, for compiled
        orders on the kinds in `fair_platforms`. By default each fair start takes a simulation, or
        the reference.
    refer : Reference, optional
        Class of the reference simulation, or a class for each kind of platform. Without a class,
        fair start times are strict and by arrival only. Audits on nodes and networks replay
        schedules with this class.
    audit : Reference, optional
        Class in `core.audit` that checks the rule's passes on a pool or a grid. Without an auditor
        (or reference) for a platform, audits check only starts, kills, places and capacity.
    counts : tuple of (str, str)
        Counters of the rule's schedules (`core.schedule.Schedule.counts`): name and meaning of
        each.
    forgets : bool
        Whether, on a pool or a grid, the running jobs alone determine the future if no job waits. A
        simulation can then restart from the running jobs.
    apart : bool
        Whether jobs of different participants of a network never compete.
    of_log : bool
        Whether the rule replays the log's own schedule, which samples, models and other loads lack.
    leaving : tuple of str
        Kinds of platform on which jobs may be withdrawn from the queue, under estimates and the
        clock by instants.
    platforms : tuple of str
        Supported kinds of platform; the kind replaces ``{platform}`` in a reference.
    fair_platforms : tuple of str
        Kinds of platform that `fair_start` supports.
    aliases : tuple of str
        Other names in the literature.
    plain : Reference, optional
        Function (policy) that returns the reason why a plug-in rule runs in plain Python; None if
        the rule is compiled.
    cost : Cost
        CPU time with sorted queues; for `GIVEN`, at depth 4.
    """

    name: str
    meaning: str
    simulate: Reference
    holds: int = 0
    overtakes: bool = True
    options: tuple[str, ...] = ()
    check: Check | None = None
    promise: Reference | None = None
    keeps_plan: bool = False
    fair_start: Reference | None = None
    refer: Reference | Mapping[str, Reference] | None = None
    audit: Reference | None = None
    counts: tuple[tuple[str, str], ...] = ()
    forgets: bool = False
    apart: bool = False
    of_log: bool = False
    leaving: tuple[str, ...] = ()
    platforms: tuple[str, ...] = ("pool",)
    fair_platforms: tuple[str, ...] = ("pool",)
    aliases: tuple[str, ...] = ()
    plain: Reference | None = None
    cost: Cost = CALLED

    def find(self, part: str, platform: str = "pool") -> Callable[..., Any]:
        """Return the function or class of a part of the row for a kind of platform.

        Raise InputError if the rule does not support the platform, has no such part, or if the part
        cannot be loaded.

        Examples
        --------
        >>> RULES["planned"].find("simulate").__name__
        'planned'
        """
        reference: Reference | Mapping[str, Reference] | None = getattr(self, part)
        if platform not in self.platforms:
            raise InputError(
                f"rule {self.name!r} does not support platforms of kind {platform!r}; "
                f"it supports {', '.join(self.platforms)}"
            )
        if reference is None:
            raise InputError(f"rule {self.name!r} has {_MISSING[part]}; its row names none")
        if isinstance(reference, Mapping):
            reference = reference[platform]
        if not callable(reference):
            reference = cast(Callable[..., Any], own.load(reference.format(platform=platform)))
        if RULES.get(self.name) is self or part not in _CALLED:
            return reference
        return own.guarded(f"rule {self.name!r}", reference)


_CALLED = ("simulate", "promise", "fair_start", "plain")
"""Parts of a row that are functions; the other parts are classes."""

_MISSING = {
    "simulate": "no simulation",
    "promise": "no promised starts",
    "fair_start": "no kernel for fair start times",
    "refer": "no reference simulation",
    "audit": "no auditor",
}


_PREDICTED = ("predict", "correct")
"""Options of rules that can plan with predictions."""

_LIMITED = ("limits",)
"""Options of rules with limits on jobs."""


def _fixed_while_predicted(order: str, options: Mapping[str, str]) -> str | None:
    if "predict" not in options:
        correct = options.get("correct")
        return correct and f"correct={correct} corrects predictions; add predict=, such as last2"
    if "events" in options:
        return f"predictions need events=instant; leave out events={options['events']}"
    return _moving(order, "predictions need") or _moving(
        options.get("backfill", order), "predictions need"
    )


def _at_instants(order: str, options: Mapping[str, str]) -> str | None:
    if not any(name in options for name in _LIMITED):
        return None
    if "predict" in options:
        return f"limits need estimates; leave out predict={options['predict']}"
    if "events" in options:
        return f"limits need events=instant; leave out events={options['events']}"
    return None


def _by_schedulers(order: str, options: Mapping[str, str]) -> str | None:
    if "events" in options:
        return f"rule 'slurm' needs events=instant; leave out events={options['events']}"
    if options.get("sched_interval") == options.get("bf_interval") == OFF:
        return "with sched_interval=off and bf_interval=off no job starts; leave one of them out"
    if "bf_max_time" in options and "bf_rate" not in options:
        return (
            f"bf_max_time={options['bf_max_time']} limits cycles that take time; add bf_rate=, "
            "tests per second, such as 500"
        )
    cycles = [name for name in options if name.startswith("bf_") and name != "bf_interval"]
    if cycles and options.get("bf_interval") == OFF:
        return f"with bf_interval=off there are no cycles; leave out {cycles[0]}="
    most = int(options.get("bf_max_job_test", OPTIONS["bf_max_job_test"].default or 0))
    if int(options.get("bf_max_job_user", 0)) > most:
        return (
            f"bf_max_job_user={options['bf_max_job_user']} is above bf_max_job_test={most}; give "
            "at most as many"
        )
    return None


def _with_estimates(order: str, options: Mapping[str, str]) -> str | None:
    return _at_instants(order, options) or _fixed_while_predicted(order, options)


def _nobody_left(order: str, options: Mapping[str, str]) -> str | None:
    if "backfill" not in options:
        return _with_estimates(order, options)
    return (
        "under rule 'conservative' every waiting job holds a reservation and none is left "
        "to backfill; leave out backfill="
    )


def _by_arrival(order: str, options: Mapping[str, str]) -> str | None:
    if options.get("walk") == "queue" or (order == "fcfs" and "threshold" not in options):
        return None
    return (
        "rule 'planned' keeps reservations in order of arrival: another order than fcfs, or a "
        "threshold, matters with walk=queue only"
    )


def _by_plan(order: str, options: Mapping[str, str]) -> str | None:
    for option in ("threshold", "events"):
        if option in options:
            return f"rule 'tabu' keeps a plan in which no job takes precedence; leave out {option}="
    if order == "fcfs":
        return None
    return "rule 'tabu' takes jobs into its plan in order of arrival; it needs fcfs"


def _in_shelves(order: str, options: Mapping[str, str]) -> str | None:
    for option in ("threshold", "events"):
        if option in options:
            return f"under rule 'demt' shelves determine the order; leave out {option}="
    return _moving(order, "shelves need")


def _on_links(order: str, options: Mapping[str, str]) -> str | None:
    for option in ("threshold", "events"):
        if option in options:
            return f"on a network only the queue order determines the order; leave out {option}="
    return _moving(order, "queues on a network need")


def _moving(order: str, who: str) -> str | None:
    if not find_order(order).moves:
        return None
    return (
        f"order {order!r} changes while jobs wait; {who} one that does not change, such as fcfs, "
        "spf or saf"
    )


def _as_it_was(order: str, options: Mapping[str, str]) -> str | None:
    if order == "fcfs" and not options:
        return None
    return "rule 'logged' takes the starts of the log; it needs fcfs, without options"


_POOL = "schedfarm.core.machines.{platform}.simulation:"

_NETWORK, _ON_LINKS = (
    "schedfarm.core.machines.network.simulation:",
    "schedfarm.core.machines.network.reference.rules:",
)

_REFERENCE, _AUDIT = "schedfarm.core.reference.rules:", "schedfarm.core.audit.rules:"

_ON_NODES = "schedfarm.core.machines.nodes.reference."

_ON_RESOURCES = "schedfarm.core.machines.resources.reference.rules:"
_ON_PARTITIONS = "schedfarm.core.machines.partitions.reference.rules:"
_ON_HOSTS = "schedfarm.core.machines.hosts.reference.rules:"


def _everywhere(kind: str) -> dict[str, Reference]:
    """Return a reference class for each kind of platform on which jobs have one place."""
    shared = dict.fromkeys(("pool", "grid"), _REFERENCE + kind)
    return {**shared, "resources": _ON_RESOURCES + kind, "partitions": _ON_PARTITIONS + kind}


def _and_on_hosts(kind: str) -> dict[str, Reference]:
    """Return the classes of `_everywhere`, and the class for hosts."""
    return {**_everywhere(kind), "hosts": _ON_HOSTS + kind}


_ROWS = (
    Rule(
        "none",
        "start the head while it fits; stop at the first job that does not",
        simulate=_POOL + "none",
        overtakes=False,
        options=("backfill", *_PREDICTED, *_LIMITED),
        check=_with_estimates,
        fair_start=_POOL + "fair_none",
        refer=_and_on_hosts("Strict"),
        audit=_AUDIT + "Strict",
        forgets=True,
        leaving=("pool", "resources", "partitions", "hosts"),
        platforms=("pool", "grid", "resources", "partitions", "hosts"),
        fair_platforms=("pool", "grid"),
        cost=Cost(Rate(0.18, 0.0005), Rate(0.5, 0.25)),
    ),
    Rule(
        "aggressive",
        "start everything that fits now, in queue order; no reservation (also bf)",
        simulate=_POOL + "aggressive",
        options=("backfill", *_PREDICTED, *_LIMITED),
        check=_with_estimates,
        fair_start=_POOL + "fair_aggressive",
        refer=_and_on_hosts("Aggressive"),
        audit=_AUDIT + "Aggressive",
        forgets=True,
        leaving=("pool", "resources", "partitions", "hosts"),
        platforms=("pool", "grid", "resources", "partitions", "hosts"),
        fair_platforms=("pool", "grid"),
        aliases=("bf",),
        cost=Cost(Rate(0.17, 0.003), Rate(0.7, 0.13)),
    ),
    Rule(
        "easy",
        "one reservation, for the first job that does not fit; others may not delay it",
        simulate=_POOL + "easy",
        holds=1,
        options=("backfill", *_PREDICTED, *_LIMITED),
        check=_with_estimates,
        fair_start=_POOL + "fair_easy",
        refer=_and_on_hosts("Easy"),
        audit=_AUDIT + "Easy",
        forgets=True,
        leaving=("pool", "resources", "partitions", "hosts"),
        platforms=("pool", "grid", "resources", "partitions", "hosts"),
        fair_platforms=("pool", "grid"),
        cost=Cost(Rate(0.19, 0.007), Rate(0.7, 0.55)),
    ),
    Rule(
        "depth(K)",
        "the first K waiting jobs hold reservations",
        simulate=_POOL + "reserving",
        holds=GIVEN,
        options=("backfill", *_PREDICTED, *_LIMITED),
        check=_with_estimates,
        promise=_POOL + "promise_reserving",
        fair_start=_POOL + "fair_reserving",
        refer=_and_on_hosts("Reserving"),
        audit=_AUDIT + "Reserving",
        forgets=True,
        leaving=("pool", "resources", "partitions", "hosts"),
        platforms=("pool", "grid", "resources", "partitions", "hosts"),
        fair_platforms=("pool", "grid"),
        cost=Cost(Rate(0.55, 0.1), Rate(1.5, 4.5), (0.3, 1.4)),
    ),
    Rule(
        "conservative",
        "every waiting job holds a reservation, all made again in queue order each pass",
        simulate=_POOL + "reserving",
        holds=ALL,
        options=(*_PREDICTED, *_LIMITED),
        check=_nobody_left,
        promise=_POOL + "promise_reserving",
        fair_start=_POOL + "fair_reserving",
        refer={**_and_on_hosts("Reserving"), "nodes": _ON_NODES + "rules:Reserving"},
        audit=_AUDIT + "Reserving",
        forgets=True,
        leaving=("pool", "resources", "partitions", "hosts"),
        platforms=("pool", "grid", "nodes", "resources", "partitions", "hosts"),
        fair_platforms=("pool", "grid"),
        cost=Cost(Rate(0.7, 1.0), Rate(1.5, 14.0), (0.3, 1.4)),
    ),
    Rule(
        "slurm",
        "Slurm's main scheduler at events, and its backfill scheduler in cycles",
        simulate=_POOL + "slurm",
        holds=ALL,
        options=(
            "limits",
            "sched_interval",
            "default_queue_depth",
            "bf_interval",
            "bf_max_job_test",
            "bf_max_job_user",
            "bf_window",
            "bf_resolution",
            "bf_rate",
            "bf_max_time",
        ),
        check=_by_schedulers,
        refer={
            "pool": "schedfarm.core.reference.slurm:Slurm",
            "resources": _ON_RESOURCES + "Slurm",
            "partitions": _ON_PARTITIONS + "Slurm",
            "hosts": _ON_HOSTS + "Slurm",
        },
        audit="schedfarm.core.audit.slurm:Slurm",
        leaving=("pool", "resources", "partitions", "hosts"),
        platforms=("pool", "resources", "partitions", "hosts"),
        cost=Cost(Rate(3.0, 0.5)),
    ),
    Rule(
        "planned",
        "classical conservative: a reservation at arrival, kept; compressed on early ends",
        simulate=_POOL + "planned",
        holds=ALL,
        options=("walk",),
        check=_by_arrival,
        promise=_POOL + "promise_planned",
        keeps_plan=True,
        fair_start=_POOL + "fair_plan",
        refer=_and_on_hosts("Planned"),
        audit=_AUDIT + "Planned",
        forgets=True,
        platforms=("pool", "grid", "resources", "partitions", "hosts"),
        cost=Cost(Rate(1.6, 2.2), Rate(1.5, 35.0), (0.3, 2.2)),
    ),
    Rule(
        "tabu",
        "planned, whose plan is searched for a better one at intervals (Klusacek 2012)",
        simulate="schedfarm.core.machines.grid.search:tabu",
        holds=ALL,
        options=(
            "every",
            "iterations",
            "tenure",
            "seed",
            "weights",
            "jobs",
            "users",
            "fairness",
            "search",
        ),
        check=_by_plan,
        promise="schedfarm.core.machines.grid.search:promise_tabu",
        keeps_plan=True,
        refer=_REFERENCE + "Tabu",
        platforms=("pool", "grid"),
        cost=Cost(Rate(10.0, 60.0)),
    ),
    Rule(
        "demt",
        "shelves of doubling length on nodes, filled for the greatest worth (Eyraud 2006)",
        simulate="schedfarm.core.machines.nodes.simulation:demt",
        holds=ALL,
        options=("shelf", "resets", "utc", "worth", "budget"),
        check=_in_shelves,
        promise="schedfarm.core.machines.nodes.simulation:promise_demt",
        refer=_ON_NODES + "shelves:Demt",
        counts=(
            ("selections", "number of selections of jobs for a shelf"),
            ("given_up", "number of selections whose exact search was given up"),
        ),
        platforms=("nodes",),
        fair_platforms=(),
        cost=Cost(Rate(200.0, 700.0)),
    ),
    Rule(
        "isolated(K)",
        "each cluster of a network alone, under depth(K) (Jones and Ligon's no share)",
        simulate=_NETWORK + "isolated",
        holds=GIVEN,
        check=_on_links,
        refer=_ON_LINKS + "Isolated",
        apart=True,
        platforms=("network",),
        fair_platforms=(),
        cost=Cost(Rate(0.7, 0.1)),
    ),
    Rule(
        "ics",
        "each cluster's own jobs, then migration, then parts on several clusters whose links "
        "have room (Jones and Ligon 2005); no reservation",
        simulate=_NETWORK + "sharing",
        options=("to", "links", "queue"),
        check=_on_links,
        refer=_ON_LINKS + "Sharing",
        platforms=("network",),
        fair_platforms=(),
        cost=Cost(Rate(2.0, 0.15)),
    ),
    Rule(
        "icsb(K)",
        "ics that delays no reservation of the first K jobs of each cluster (their ICS+B)",
        simulate=_NETWORK + "sharing",
        holds=GIVEN,
        options=("to", "links"),
        check=_on_links,
        refer=_ON_LINKS + "Sharing",
        platforms=("network",),
        fair_platforms=(),
        cost=Cost(Rate(2.5, 0.1)),
    ),
    Rule(
        "logged",
        "no simulation: each job starts at its start in the log",
        simulate="schedfarm.core.engine.logged:logged",
        check=_as_it_was,
        of_log=True,
        leaving=("pool",),
        cost=Cost(Rate(0.05, 0.0)),
    ),
)

RULES: dict[str, Rule] = {row.name: row for row in _ROWS}
"""The built-in rules, by name."""

COUNTS: dict[str, str] = {name: meaning for row in _ROWS for name, meaning in row.counts}
"""Meanings of the counters of built-in rules, by name."""

ALIASES: dict[str, str] = {alias: row.name for row in _ROWS for alias in row.aliases}
"""Name of the rule for each alias."""

_DEPTH = re.compile(r"[1-9][0-9]{0,17}")
_NUMBERED = re.compile(r"(\w+)\((\d+)\)")


def find_rule(name: str) -> Rule:
    """Return the row of a rule: a built-in rule, an entry point, or a user's ``module:name``.

    An entry point or ``module:name`` is a `Rule`, or a function (workload, policy) that returns the
    starts.

    Examples
    --------
    >>> find_rule("depth(4)").name, find_rule("easy").holds
    ('depth(K)', 1)
    """
    row = RULES.get(name)
    numbered = None if row is not None else _NUMBERED.fullmatch(name)
    row = RULES.get(f"{numbered[1]}(K)") if numbered else row
    if row is not None and (numbered or row.holds != GIVEN):
        return row
    found = own.brought("rule", own.RULES, name)
    if found is None:
        number = f"{name.removesuffix('(k)').removesuffix('(K)')}(4)"
        if _NUMBERED.sub(r"\1(K)", number) in RULES:
            raise InputError(f"rule {name!r} needs a number of reservations; write {number}, say")
        known = choices(name, [*RULES, *own.entered(own.RULES)], "module:name", aliases=ALIASES)
        raise InputError(f"unknown rule {name!r}; {known}")
    return found if isinstance(found, Rule) else _row_of(name, found)


def depth_of(name: str) -> int:
    """Return the number of waiting jobs with reservations under a rule; `ALL` for all.

    Examples
    --------
    >>> depth_of("depth(4)"), depth_of("easy"), depth_of("conservative")
    (4, 1, -1)
    """
    holds, numbered = find_rule(name).holds, _NUMBERED.fullmatch(name)
    if holds != GIVEN or not numbered:
        return holds
    if not _DEPTH.fullmatch(numbered[2]):
        raise InputError(f"rule {name!r}: the depth is a whole number from 1, below 10^18")
    return int(numbered[2])


def _row_of(name: str, function: object) -> Rule:
    try:
        inspect.signature(cast(Callable[..., Any], function)).bind("workload", "policy")
    except (TypeError, ValueError):
        if is_called_at_passes(function):
            if keeps_state(function):
                raise InputError(
                    f"rule {name!r} is an object of class {type(function).__name__}, which would "
                    "keep its state from one simulation to the next; name the class (or a "
                    "function), of which each simulation makes its own"
                ) from None
            return _row_of_passes(name, function)
        raise InputError(
            f"rule {name!r} is neither a function of (state), or a class of such functions, nor a "
            "function of (workload, policy) that returns starts, nor a "
            "schedfarm.core.policy.rules.Rule"
        ) from None
    meaning = _first_line(name, function)
    return Rule(name, meaning, simulate=cast(Callable[..., Any], function), holds=0)


def _first_line(name: str, function: object) -> str:
    return (getattr(function, "__doc__", None) or name).strip().partition("\n")[0]


def _row_of_passes(name: str, function: object) -> Rule:
    """Return the row of a rule that is called at each pass."""
    return Rule(
        name,
        _first_line(name, function),
        simulate=_CUSTOM + "simulate_custom",
        promise=_CUSTOM + "promise_custom",
        check=_once_an_instant,
        plain=_CUSTOM + "why_plain",
        cost=CALLED,
    )


_CUSTOM = "schedfarm.core.machines.pool.custom:"


def _once_an_instant(order: str, options: Mapping[str, str]) -> str | None:
    if "events" not in options:
        return None
    return (
        f"a rule of your own is called once at each instant; leave out events={options['events']}"
    )
