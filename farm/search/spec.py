"""Specification of a search: one TOML file, with tables of traces as in a campaign."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from schedfarm.core.checks import is_number
from schedfarm.core.errors import InputError
from schedfarm.core.metrics.declared import METRICS
from schedfarm.core.metrics.metric import CELL, SMALLER
from schedfarm.core.names import choices
from schedfarm.core.policy.expression import FUNCTIONS, OPERATIONS, Expression
from schedfarm.core.policy.functions import ARGUMENTS
from schedfarm.core.policy.policy import Policy
from schedfarm.farm.campaign.campaign import load_label
from schedfarm.farm.campaign.plain import (
    Seconds,
    Table,
    Text,
    check_keys,
    check_name,
    check_types,
    put,
    to_plain,
)
from schedfarm.farm.campaign.resampling import METHODS, find_method
from schedfarm.farm.campaign.scaling import LOAD_BY, ORIGINAL
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.shipped import located, names

FOLDER = Path(__file__).parent / "shipped"
"""Searches that ship with the package, one TOML file each."""

FEWEST = 4
"""Fewest candidates of a generation, and fewest samples of an interval."""

MOST_CHARACTERS = 2**20
"""Least length of a file that is refused."""

Times = Annotated[int, Meta(ge=1, le=10_000, description="a whole number from 1 to 10000")]
Crowd = Annotated[
    int, Meta(ge=FEWEST, le=1000, description=f"a whole number from {FEWEST} to 1000")
]
Share = Annotated[float, Meta(gt=0, lt=1, description="a number above 0 and below 1, such as 0.5")]
Seed = Annotated[int, Meta(ge=0, lt=2**32, description="a whole number from 0 and below 2^32")]
Names = Annotated[tuple[str, ...], Meta(description="a list of names")]
Policies = Annotated[tuple[str, ...], Meta(description="a list of policies, such as ['f1+easy']")]
Number = Annotated[float, Meta(description="a number")]
Flag = Annotated[bool, Meta(description="true or false")]
Traces = Annotated[tuple[Trace, ...], Meta(description="one or more [[traces]]")]


@dataclass(frozen=True)
class Parameter:
    """Declare a coefficient of an order: its range, its scale, and the start of the search."""

    low: Number
    high: Number
    log: Flag = False
    start: Number | None = None

    def __post_init__(self) -> None:
        check_types(self)
        least, most = self.low, self.high
        if not least < most:
            raise InputError(f"low is {least:g} and high {most:g}; low must be below high")
        if self.log and least <= 0:
            raise InputError(f"low is {least:g}; with log = true it must be above 0")
        if self.start is not None and not least <= self.start <= most:
            raise InputError(f"start is {self.start:g}; it must be from {least:g} to {most:g}")

    @classmethod
    def from_plain(cls, name: str, given: object) -> Parameter:
        """Build a parameter from a table, or from its range as a pair of numbers."""
        if isinstance(given, list | tuple) and len(given) == 2 and all(map(is_number, given)):
            given = {"low": given[0], "high": given[1]}
        try:
            return cls(**check_keys(cls, given))
        except InputError as error:
            raise InputError(f"parameter {name!r}: {error}") from None


@dataclass(frozen=True)
class Grow:
    """Declare a search of expressions: their inputs, operations, and largest size."""

    inputs: Names = ("submit", "estimate", "procs")
    operations: Names = ("+", "-", "*", "/", "max", "sqrt", "log10")
    size: Annotated[int, Meta(ge=3, le=100, description="a whole number from 3 to 100")] = 15
    start: Names = ()

    def __post_init__(self) -> None:
        check_types(self)
        for name in self.inputs:
            _check_known("inputs", name, ARGUMENTS)
        numeric = [name for name in OPERATIONS if name in FUNCTIONS or name in "+-*/"]
        for name in self.operations:
            _check_known("operations", name, numeric)
        if not self.inputs or not any(len(OPERATIONS[n].takes) == 2 for n in self.operations):
            raise InputError(
                "give at least one of 'inputs', and an operation of two values, such as '+'"
            )
        for text in self.start:
            Expression.parse(text, ARGUMENTS)


@dataclass(frozen=True)
class Regression:
    """Declare a regression of orders on scores of first choices, over random permutations.

    tuples: number of windows of consecutive jobs. running: number of jobs of a window that start
    first. queued: number of jobs of a window that are permuted. trials: number of permutations of
    each window. keep: number of functions to judge.
    """

    tuples: Times = 60
    trials: Annotated[int, Meta(ge=2, le=10**6, description="a whole number from 2")] = 4096
    running: Annotated[int, Meta(ge=0, le=1000, description="a whole number up to 1000")] = 16
    queued: Annotated[int, Meta(ge=2, le=1000, description="a whole number from 2 to 1000")] = 32
    keep: Annotated[int, Meta(ge=1, le=20, description="a whole number from 1 to 20")] = 4

    def __post_init__(self) -> None:
        check_types(self)


@dataclass(frozen=True)
class Spec:
    """Describe a search.

    Exactly one of `order` (with `parameters`), `grow` and `regression` is given. The search uses
    the first weeks of the traces, up to the share `training`. The verdict uses the other weeks, and
    all weeks of the `held_out` traces.
    """

    name: Text
    traces: Traces
    order: Text = ""
    parameters: Table = field(default_factory=dict)
    grow: Table | None = None
    regression: Table | None = None
    held_out: Traces = ()
    rule: Text = "easy"
    baseline: Text = "fcfs+easy"
    against: Policies = ("f1+easy",)
    metric: Text = "bounded_slowdown"
    tau: Seconds = 10
    seed: Seed = 0
    draw: Text = next(iter(METHODS))
    load: Text = ORIGINAL
    training: Share = 0.5
    weeks: Annotated[int, Meta(ge=1, le=10_000, description="a whole number of weeks")] = 4
    generations: Times = 20
    candidates: Crowd = 16
    samples: Crowd = 8
    finalists: Times = 8
    held_out_samples: Annotated[
        int, Meta(ge=2, le=100_000, description="a whole number, at least 2")
    ] = 50

    def __post_init__(self) -> None:
        put(self, load=load_label(self.load))
        check_types(self)
        check_name("name", self.name)
        baseline, *against = (Policy.parse(p).name for p in (self.baseline, *self.against))
        put(self, draw=find_method(self.draw).name, baseline=baseline, against=tuple(against))
        if ":" in self.rule:
            raise InputError(f"rule {self.rule!r} is a plug-in; a search takes a built-in rule")
        self.policy("(submit)")
        self._check_metric()
        self._check_traces()
        self._check_method()

    def _check_metric(self) -> None:
        known = [
            name
            for name, row in METRICS.items()
            if row.over == CELL and row.better == SMALLER and not (row.shared or row.among)
        ]
        _check_known("metric", self.metric, known)

    def _check_traces(self) -> None:
        for key in ("traces", "held_out"):
            for one in getattr(self, key):
                if not isinstance(one, Trace):
                    raise InputError(f"{key} holds {one!r}; it must be a schedfarm.Trace")
        if not self.traces:
            raise InputError("traces is empty; give one or more [[traces]] to search on")
        names = [one.name for one in (*self.traces, *self.held_out)]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"two traces have the name {name!r}; rename one")
        for one in self.traces:
            taken = {"weeks", "dates", "jobs"} & set(one.select) | ({"jobs"} if one.jobs else set())
            if one.model is None and taken:
                raise InputError(
                    f"trace {one.name!r}: the search itself divides the weeks; give rows = "
                    f"[first, last) instead of {', '.join(sorted(taken))}"
                )

    def _check_method(self) -> None:
        given = [key for key in ("order", "grow", "regression") if getattr(self, key)]
        given += ["grow"] * (self.grow == {}) + ["regression"] * (self.regression == {})
        if len(given) != 1:
            raise InputError(
                "give one of 'order' with [parameters], [grow] and [regression]; "
                f"found {' and '.join(given) or 'none'}"
            )
        if bool(self.order) != bool(self.parameters):
            raise InputError(
                "'order' is an expression whose coefficients are named in [parameters]; give both, "
                "such as order = 'estimate * procs**a' and a = [0, 2]"
            )
        for key, kind in (("grow", Grow), ("regression", Regression)):
            if (table := getattr(self, key)) is not None:
                try:
                    put(self, **{key: to_plain(kind(**check_keys(kind, table)))})
                except InputError as error:
                    raise InputError(f"{key}: {error}") from None
        if self.order:
            self._check_order()

    def _check_order(self) -> None:
        for name in self.parameters:
            if name in ARGUMENTS or name in OPERATIONS or not name.isidentifier():
                raise InputError(
                    f"parameter {name!r} has the name of an input, or one that orders cannot use; "
                    "give it another, such as a"
                )
        unused = set(self.coefficients) - self.template.tree.names
        if unused:
            raise InputError(f"order has no {', '.join(sorted(unused))}; leave such parameters out")

    @property
    def template(self) -> Expression:
        """The order with its coefficients as inputs of the expression."""
        return Expression.parse(self.order, (*ARGUMENTS, *self.parameters))

    @property
    def coefficients(self) -> dict[str, Parameter]:
        """The parameters of the order, by name."""
        return {n: Parameter.from_plain(n, one) for n, one in self.parameters.items()}

    @property
    def settings(self) -> dict[str, Any]:
        """Settings of the samples, as in a campaign."""
        return {"seed": self.seed, "draw": self.draw, "load_by": next(iter(LOAD_BY))}

    def policy(self, order: str) -> str:
        """Return the policy that consists of an order in parentheses and the rule of the search."""
        return Policy.parse(f"{order}+{self.rule}").name

    @classmethod
    def from_dict(cls, given: object, folder: Path) -> Spec:
        """Build a specification from plain values; paths are relative to `folder`."""
        values = dict(check_keys(cls, given))
        for key in ("traces", "held_out"):
            tables = values.get(key, [])
            if not isinstance(tables, list):
                raise InputError(f"{key} is {tables!r}; give it as tables [[{key}]]")
            values[key] = tuple(Trace.from_dict(one, folder) for one in tables)
        return cls(**values)

    @classmethod
    def from_toml(cls, path: Path) -> Spec:
        """Read a specification; an InputError names the file."""
        try:
            with path.open(encoding="utf-8-sig") as file:
                text = file.read(MOST_CHARACTERS)
            given = tomllib.loads(text)
        except (OSError, ValueError, RecursionError) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise InputError(f"search {path}: {why}") from None
        try:
            return cls.from_dict(given, path.parent)
        except InputError as error:
            raise InputError(f"search {path}: {error}") from None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values from which `from_dict` builds an equal specification."""
        plain = to_plain(self)
        return {
            **{key: one for key, one in plain.items() if one is not None},
            "traces": [one.to_dict() for one in self.traces],
            "held_out": [one.to_dict() for one in self.held_out],
        }

    def located(self, folder: Path | None) -> Spec:
        """Return the specification with the files of named logs, fetched if necessary."""
        return replace(
            self,
            traces=tuple(one.located(folder) for one in self.traces),
            held_out=tuple(one.located(folder) for one in self.held_out),
        )

    @property
    def files(self) -> list[str]:
        """Paths of the logs of the search, if known."""
        return [file for one in (*self.traces, *self.held_out) for file in one.files]


def shipped() -> list[str]:
    """Return the names of the searches that ship.

    Examples
    --------
    >>> shipped()
    ['carastan-2017']
    """
    return names(FOLDER)


def find(name: str) -> Spec:
    """Return the search of a TOML file, or the built-in search of this name."""
    return Spec.from_toml(located(name, FOLDER, "search"))


def _check_known(key: str, name: str, known: Any) -> None:
    if name not in known:
        raise InputError(f"{key}: {name!r} is unknown; {choices(name, known)}")
