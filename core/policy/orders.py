"""Queue orders: the precedence of waiting jobs, one row each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from schedfarm.core import own
from schedfarm.core.arrays import Float64, Int64
from schedfarm.core.errors import InputError
from schedfarm.core.names import aliased, choices
from schedfarm.core.policy.cost import CALLED, FREE, Cost, Rate
from schedfarm.core.policy.expression import Expression
from schedfarm.core.policy.functions import (
    COLUMNS as INPUTS,
    SERIAL_LOG2,
    OrderFunction,
    expression_of,
    f1,
    f2,
    f3,
    f4,
    own_function,
    unicef,
    wfp3,
)
from schedfarm.core.policy.multifactor import (
    NAME,
    Multifactor,
    is_multifactor,
    read_multifactor,
)
from schedfarm.core.workload.columns import ASKED, COLUMNS, NEVER
from schedfarm.core.workload.workload import Workload

OUTSIDE_DIGESTS = frozenset(name for name in INPUTS if COLUMNS[name].digest in (ASKED, NEVER))
"""Columns that orders may read and digests omit; logs with equal digests may have different
values."""

LOOKED_THROUGH = Cost(Rate(0.1, 0.085), Rate(0.5, 0.2))
"""Additional cost of an order without a sorted queue, which is scanned at each pass.

Measured: 0.05 to 0.24 us per job. Each waiting job adds 0.04 to 0.15 us; under reservations for all
jobs it adds nothing; and without backfilling, where each scan of a long queue starts one job, it
adds 0.28 us (6.8 us for a fair start).
"""

FOLLOWED = Cost(Rate(0.35, 0.14), Rate(1.6, 0.5))
"""Additional cost of an order by the usage of users.

Measured per job: 0.3 to 0.6 us at load 0.7 on the KTH and SDSC SP2 logs; on KTH 1.9 to 2.5 us at
load 0.9, and 2.7 to 4.9 us at load 1.1. A fair start costs 1.7 us under easy at load 0.7, and 9 us
under aggressive at load 0.9. Rules without backfilling are not included: some users starve, and a
job costs 0.5 to 57 us at load 0.7.
"""


@dataclass(frozen=True)
class Order:
    """Declare a queue order.

    Parameters
    ----------
    name : str
        Name of the order in a policy.
    meaning : str
        The jobs that come first, in one line.
    fixed : callable, optional
        Function from a workload to the keys of its jobs, if the keys are known at submission. It
        returns a new array, int64[n]; the smallest key comes first.
    function : OrderFunction, optional
        Function of the keys in other cases, called once, or at each pass for the waiting jobs.
    aliases : tuple of str
        Other names in the literature.
    code : str, optional
        ``module:name`` of the code by which kernels evaluate the order at each pass.
    options : tuple of str
        Options of a policy that the order supports.
    shares : str, optional
        ``module:name`` of the code by which kernels rank users by their usage.
    weighs : Multifactor, optional
        Arguments of Slurm's priority, by which kernels weigh jobs.
    predicted : str, optional
        ``module:name`` of the code by which kernels make the key of a fixed order from the
        prediction of a job, if the key depends on the estimate.
    width : callable, optional
        Function from a workload to the widths in the formula of `code`, float64[n]; by default the
        processors.
    cost : Cost
        Costs that are added to the rates of a rule.
    share : float
        Number of waiting jobs under reservations for all, relative to first come, first served: few
        if short jobs come first, many if large jobs come first. It is invalid with a starvation
        threshold.
    revision : int
        Number of the order's definition, from 1. It is raised if a change of the definition changes
        schedules, so that a store does not mix both definitions.
    formerly : tuple of str
        Former names, which policies can no longer use.
    """

    name: str
    meaning: str
    fixed: Callable[[Workload], Int64] | None = None
    function: OrderFunction | None = None
    aliases: tuple[str, ...] = ()
    code: str | None = None
    options: tuple[str, ...] = ()
    shares: str | None = None
    weighs: Multifactor | None = None
    predicted: str | None = None
    width: Callable[[Workload], Float64] | None = None
    cost: Cost = FREE
    share: float = 1.0
    revision: int = 1
    formerly: tuple[str, ...] = ()

    @property
    def moves(self) -> bool:
        """Whether the order may change with time."""
        return self.fixed is None and (self.function is None or self.function.moves)

    @property
    def remembers(self) -> bool:
        """Whether the order depends on completed jobs."""
        asks = self.function is not None and self.function.asks_history
        return self.shares is not None or self.weighs is not None or asks

    @property
    def reads(self) -> frozenset[str]:
        """The columns in `OUTSIDE_DIGESTS` that the order reads."""
        if self.weighs is not None:
            return OUTSIDE_DIGESTS
        return OUTSIDE_DIGESTS.intersection(self.function.asks if self.function else ())

    @property
    def is_compiled(self) -> bool:
        """Whether kernels evaluate the order, as compiled fair starts require."""
        known = (self.code, self.shares, self.weighs, self.expression)
        return not self.moves or any(one is not None for one in known)

    @property
    def expression(self) -> Expression | None:
        """The expression that kernels evaluate at each pass; None without one, or with history."""
        function = self.function
        if function is None or not function.moves or function.asks_history:
            return None
        return function.call if isinstance(function.call, Expression) else None

    def fixed_key(self, workload: Workload) -> Int64 | None:
        """Return the keys of a fixed order in a new array; None if the order changes with time.

        Examples
        --------
        >>> w = Workload.from_columns(submit=[0, 5], run=[10, 3], estimate=[20, 3], procs=[2, 4],
        ...                           processors=4)
        >>> ORDERS["saf"].fixed_key(w).tolist(), ORDERS["lxf"].fixed_key(w)
        ([40, 12], None)
        """
        if self.fixed is not None:
            return self.fixed(workload)
        if self.function is None or self.moves:
            return None
        return self.function.key(workload, slice(None))


def _log2_procs(workload: Workload) -> Float64:
    return np.maximum(np.log2(workload.procs), SERIAL_LOG2)


_KERNEL = "schedfarm.core.engine.ranking:"

_SHARES = "schedfarm.core.engine.usage:"

_PREDICTED = "schedfarm.core.engine.predicting:"

_LOOKED_AT = ("refresh", "halflife")

_CARASTAN = "(Carastan-Santos and de Camargo 2017)"

_ROWS = (
    Order("fcfs", "first come, first served: smallest submit", lambda w: np.arange(len(w))),
    Order("lcfs", "last come, first served: largest submit", lambda w: -w.submit, share=0.15),
    Order(
        "spf",
        "shortest processing time first: smallest estimate (also sjf)",
        lambda w: w.estimate.copy(),
        predicted=_PREDICTED + "SHORTEST",
        aliases=("sjf",),
        share=0.15,
    ),
    Order(
        "lpf",
        "longest processing time first: largest estimate",
        lambda w: -w.estimate,
        predicted=_PREDICTED + "LONGEST",
    ),
    Order(
        "sqf",
        "smallest resource requirement first: fewest procs",
        lambda w: w.procs.copy(),
        share=0.15,
    ),
    Order("lqf", "largest resource requirement first: most procs", lambda w: -w.procs, share=3.0),
    Order(
        "saf",
        "smallest area first: smallest estimate x procs",
        lambda w: w.estimate * w.procs,
        predicted=_PREDICTED + "SMALLEST",
        share=0.15,
    ),
    Order(
        "laf",
        "largest area first: largest estimate x procs",
        lambda w: -(w.estimate * w.procs),
        predicted=_PREDICTED + "LARGEST",
        share=3.0,
    ),
    Order(
        "lxf",
        "largest expansion factor (wait + estimate) / estimate first, at each pass",
        code=_KERNEL + "LARGEST_RATIO",
        cost=LOOKED_THROUGH,
    ),
    Order(
        "sxf",
        "smallest expansion factor (wait + estimate) / estimate first, at each pass",
        code=_KERNEL + "SMALLEST_RATIO",
        cost=LOOKED_THROUGH,
    ),
    Order(
        "wfp3",
        "largest (wait / estimate)^3 x procs first (Tang et al. 2009)",
        function=OrderFunction("wfp3", wfp3),
        code=_KERNEL + "LARGEST_CUBE",
        cost=LOOKED_THROUGH,
    ),
    Order(
        "unicef",
        "largest wait / (log2(procs) x estimate) first (Tang et al. 2009)",
        function=OrderFunction("unicef", unicef),
        code=_KERNEL + "LARGEST_SHARE",
        width=_log2_procs,
        cost=LOOKED_THROUGH,
    ),
    Order(
        "fair-share",
        "users with the most wait of completed jobs / run x procs first (Klusacek 2012)",
        options=_LOOKED_AT,
        shares=_SHARES + "MOST_WAITED",
        cost=FOLLOWED,
        revision=2,
        formerly=("fair-wait",),
    ),
    Order(
        "fair-usage",
        "users with the least run x procs of completed jobs first",
        options=_LOOKED_AT,
        shares=_SHARES + "LEAST_WORKED",
        cost=FOLLOWED,
    ),
    Order(
        NAME,
        "largest priority of Slurm first, from weighted factors: multifactor(age=1000, ...)",
        weighs=Multifactor(),
        cost=FOLLOWED,
    ),
    Order(
        "f1",
        f"log10(estimate) procs + 870 log10(submit) {_CARASTAN}",
        function=OrderFunction("f1", f1),
        share=0.15,
    ),
    Order(
        "f2",
        f"sqrt(estimate) procs + 25600 log10(submit) {_CARASTAN}",
        function=OrderFunction("f2", f2),
        share=0.15,
    ),
    Order(
        "f3",
        f"estimate procs + 6860000 log10(submit) {_CARASTAN}",
        function=OrderFunction("f3", f3),
        share=0.15,
    ),
    Order(
        "f4",
        f"estimate sqrt(procs) + 530000 log10(submit) {_CARASTAN}",
        function=OrderFunction("f4", f4),
        share=0.15,
    ),
)

ORDERS: dict[str, Order] = {row.name: row for row in _ROWS}
"""The built-in orders, by name."""

ALIASES: dict[str, str] = {alias: row.name for row in _ROWS for alias in row.aliases}
"""Name of the order for each alias."""

FORMER: dict[str, str] = {name: row.name for row in _ROWS for name in row.formerly}
"""Name of the order for each former name."""


def find_order(name: str) -> Order:
    """Return the row of an order: a built-in order, an expression, or a plug-in.

    Examples
    --------
    >>> find_order("lxf").moves, find_order("schedfarm.core.policy.functions:f1").moves
    (True, False)
    >>> find_order("(estimate*procs)").name
    '(estimate * procs)'
    """
    if name in ORDERS:
        return ORDERS[name]
    if name.lstrip().startswith("("):
        return _written(name)
    if is_multifactor(name):
        weighs = read_multifactor(name)
        return replace(ORDERS[NAME], name=weighs.name, weighs=weighs)
    if name in FORMER:
        raise InputError(f"order {name!r} is called {FORMER[name]!r} now; write {FORMER[name]!r}")
    if ":" not in name and own.entry_point(own.ORDERS, name) is None:
        known = choices(
            name,
            [*ORDERS, *own.entered(own.ORDERS)],
            "module:function, or a formula in parentheses such as (estimate * procs)",
            aliases=ALIASES,
        )
        raise InputError(f"unknown order {name!r}; {known}")
    function = own_function(name)
    meaning = (getattr(function.call, "__doc__", None) or name).strip().partition("\n")[0]
    return Order(name, meaning, function=function, cost=CALLED if function.moves else FREE)


@lru_cache(maxsize=256)
def _written(text: str) -> Order:
    """Return the row of an expression, with its canonical text as its name."""
    expression = expression_of(text)
    name = f"({expression.text})"
    function = OrderFunction(name, expression)
    row = Order(name, f"smallest {expression.text}", function=function)
    if not row.moves:
        return row
    return replace(row, cost=LOOKED_THROUGH if row.is_compiled else CALLED)


def spelt(name: str) -> str:
    """Return the canonical spelling of an order, from an alias, capitals, or an expression.

    Examples
    --------
    >>> spelt("SJF"), spelt("(2*procs)")
    ('spf', '(2 * procs)')
    """
    found = aliased(name, ALIASES)
    written = found.lstrip().startswith("(") or is_multifactor(found)
    return find_order(name).name if written else found


def revised_orders(policies: Iterable[str]) -> dict[str, int]:
    """Return the revisions above 1 of orders in canonical policies, by name.

    Examples
    --------
    >>> revised_orders(["fcfs+easy,backfill=fair-share", "saf+easy"])
    {'fair-share': 2}
    """
    names = {part for policy in policies for part in re.split(r"[+,=]", policy)}
    rows = (ORDERS[name] for name in sorted(names & ORDERS.keys()))
    return {row.name: row.revision for row in rows if row.revision > 1}


def order_function(name: str) -> Callable[..., npt.ArrayLike]:
    """Return the Python function of an order; raise InputError if there is none.

    Examples
    --------
    >>> order_function("wfp3") is wfp3
    True
    """
    row = find_order(name)
    if row.function is not None:
        return row.function.call
    if row.fixed is None:
        raise InputError(f"order {name!r} has no function of its own")
    return _as_function(row.fixed)


def _as_function(fixed: Callable[[Workload], Int64]) -> Callable[..., npt.ArrayLike]:
    """Return a function from columns to the keys of a fixed order."""

    def key(submit: Int64, estimate: Int64, procs: Int64, user: Int64) -> Int64:
        return fixed(
            Workload.from_columns(
                submit=submit,
                run=estimate,
                estimate=estimate,
                procs=procs,
                user=user,
                processors=int(procs.max(initial=1)),
            )
        )

    key.static = True  # type: ignore[attr-defined]
    return key
