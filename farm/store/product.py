"""Declarations of a store's arrays: a row for each kind of block.

The store, the planner, the workers, `farm verify` and the summary read these rows; none of them
tests the name of a kind. The function that computes a kind is in a row of `farm.execution.cell`,
and its cost in a row of `farm.planning.cost`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from schedfarm.core.errors import InputError
from schedfarm.core.format.geometry import AXES, CELL, KINDS, ORIGIN, SAMPLE, Kind
from schedfarm.core.format.retention import ALL, RETENTION, Retention
from schedfarm.core.machines.platform import PLATFORMS, Platform
from schedfarm.core.metrics.declared import METRICS, find_metric
from schedfarm.core.metrics.metric import CELL as ONE, LARGER, SMALLER, Metric
from schedfarm.core.policy.rules import COUNTS
from schedfarm.core.workload.columns import COLUMNS, STORED, Column

PAD = -1
"""Fill value of per-job arrays after the last job, and of unfinished cells."""

TARGET_LOAD = "target_load"
"""Coordinate with the loads as numbers, for axes of plots."""

COORDINATES = {
    "trace": "trace",
    "resample": "resample; 0 is the log itself",
    "load": "requested offered load",
    TARGET_LOAD: "requested offered load, as a number; missing for unscaled jobs",
    "policy": "scheduling policy",
    "week": "week since the first submit; a cell's last entry holds all later ends",
    "user": "user number of the log or model",
    "width": "processors of a job",
    "node": "node of the machine",
    ORIGIN: "participant: the cluster to which jobs are submitted",
}
"""Long name of each coordinate."""

REWORDED = {
    "offered load asked for": COORDINATES["load"],
    "offered load asked for, as a number; missing of jobs as they are": COORDINATES[TARGET_LOAD],
}
"""Present long name of a coordinate, by each long name in earlier versions."""


@dataclass(frozen=True)
class Variable:
    """Declare one array.

    Parameters
    ----------
    name : str
        Name of the array in the store.
    dims : tuple of str
        Dimensions: `SAMPLE` or `CELL`, then at most one of job, week, user, width and origin; node
        may follow job. Arrays of the summary have those of `AXES`.
    dtype, units, long_name : str
        Type of the values, their unit (1 for a pure number), and one line of meaning.
    better : {"smaller", "larger", ""}
        Direction of better values; empty without one.
    of : str
        Name of the metric for `core.metrics.declared.find_metric`; empty for columns.
    among : bool
        Whether the array needs participants, although it has no dimension for them.
    """

    name: str
    dims: tuple[str, ...]
    dtype: str
    units: str
    long_name: str
    better: str = ""
    of: str = ""
    among: bool = False

    @property
    def fill(self) -> float | int:
        """Value of entries that were not written."""
        if self.dtype == "float64":
            return float("nan")
        return PAD if "job" in self.dims else 0

    @property
    def inner(self) -> tuple[str, ...]:
        """Dimensions of one cell's values."""
        return tuple(d for d in self.dims if d not in AXES)

    @property
    def attributes(self) -> dict[str, Any]:
        """Attributes of the array."""
        return {"units": self.units, "long_name": self.long_name, "better": self.better}


WEEKS = Variable("weeks", SAMPLE, "int64", "1", "weeks of submissions; one entry more follows them")
"""Array that follows from the campaign and is written with the coordinates."""

NO_COUNTS: Mapping[str, str] = MappingProxyType({})

ASKED = tuple(dict.fromkeys(name for row in PLATFORMS.values() for name in row.form.asks))
"""Columns of jobs that only traces on some platforms have."""


@dataclass(frozen=True)
class Holding:
    """List the arrays of one product in a store.

    Parameters
    ----------
    arrays : tuple of Variable
        Arrays of a trace's group.
    figures : tuple of Variable
        Arrays of the summary.
    """

    arrays: tuple[Variable, ...]
    figures: tuple[Variable, ...]

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Holding:
        """Return the holding that `to_dict` encoded."""
        kinds = ([_from_plain(one) for one in plain[key]] for key in ("arrays", "figures"))
        return cls(*map(tuple, kinds))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {key: [_to_plain(v) for v in getattr(self, key)] for key in ("arrays", "figures")}

    def joined(self, other: Holding) -> Holding:
        """Return the union of two holdings, in the order of this one."""
        arrays = {v.name: v for v in (*self.arrays, *other.arrays)}
        figures = {v.name: v for v in (*self.figures, *other.figures)}
        return Holding(tuple(arrays.values()), tuple(figures.values()))


@dataclass(frozen=True, kw_only=True)
class Product(Kind):
    """Declare the content of one kind of block.

    Parameters
    ----------
    arrays : tuple of Variable
        Arrays with the jobs of a cell, or with one value per cell.
    kept : tuple of (str, Variable)
        Arrays that only some platforms have, by name in `keeps` or `asks` of
        `core.machines.platform.Platform`. Since they follow from the platform, the digest of a
        record's arrays leaves them out.
    optional : bool
        Whether the product is computed only on a campaign's request.
    among : bool
        Whether the product compares participants, which every trace then needs.
    sums : tuple of (str, Variable)
        Figures in `means`, by the name of their sums in the records.
    """

    arrays: tuple[Variable, ...]
    kept: tuple[tuple[str, Variable], ...] = ()
    optional: bool = False
    among: bool = False
    sums: tuple[tuple[str, Variable], ...] = ()

    def holding(
        self,
        own: Iterable[str] = (),
        platforms: Iterable[Platform] = (),
        counts: Mapping[str, str] = NO_COUNTS,
        keep: Retention = RETENTION[ALL],
    ) -> Holding:
        """Return the product's arrays in a new store, including those of plug-in metrics.

        `counts` are the counts of the policies' rules, as in `core.policy.rules.Rule.counts`.
        Raises `InputError` for an unknown metric, and for a metric that none of the platforms has.
        """
        platforms = tuple(platforms)
        wanted = {variable for platform in platforms for variable in self.columns(platform)}
        arrays = [*self.arrays, *(variable for _, variable in self.kept if variable in wanted)]
        figures = [variable for _, variable in self.sums]
        if self.simulates:
            figures += [Variable(name, AXES, "int64", "1", said) for name, said in counts.items()]
        for of, metric in self._metrics(own, platforms):
            if metric.over == ONE:
                figures.append(_variable(of, metric, ("trace", *self.dims)))
            else:
                arrays.append(_variable(of, metric, (*self.dims, metric.over)))
        return Holding(tuple(v for v in arrays if keep.has(v.dims)), tuple(figures))

    def columns(self, platform: Platform) -> tuple[Variable, ...]:
        """Return the product's arrays on a platform, without metrics."""
        wanted = {*platform.keeps, *platform.asks}
        return (*self.arrays, *(variable for name, variable in self.kept if name in wanted))

    def _metrics(
        self, own: Iterable[str], platforms: Iterable[Platform]
    ) -> Iterator[tuple[str, Metric]]:
        if self.simulates or not self.policies:
            for name, metric in METRICS.items():
                if metric.shared != self.policies and _is_somewhere(metric, platforms):
                    yield name, metric
        for name in own if self.simulates else ():
            metric = find_metric(name)
            if not _is_somewhere(metric, platforms):
                raise InputError(
                    f"metric {name!r} is one of participants, and no trace of the campaign is on "
                    "a platform of kind 'network'; leave it out"
                )
            yield name, metric


def is_had(variable: Variable, platform: Platform) -> bool:
    """Return whether a trace on a platform has an array or figure of its store."""
    # Readers use the declaration in the store, since a call of the metric would run plug-in code.
    return bool(platform.participants) or not (variable.among or ORIGIN in variable.dims)


def _is_somewhere(metric: Metric, platforms: Iterable[Platform]) -> bool:
    return metric.there_is(None) or any(map(metric.there_is, platforms))


def _of_column(column: Column) -> Variable:
    return Variable(
        column.stored,
        (*SAMPLE, "job"),
        "int8" if column.dtype == np.bool_ else "int64",
        column.unit,
        column.meaning,
    )


def _of_sample(name: str, units: str, long_name: str) -> Variable:
    return Variable(name, SAMPLE, "int64", units, long_name)


def _of_job(name: str, dtype: str, units: str, long_name: str) -> Variable:
    return Variable(name, (*CELL, "job"), dtype, units, long_name)


def _of_origin(name: str, units: str, long_name: str, better: str) -> Variable:
    return Variable(name, (*CELL, ORIGIN), "float64", units, long_name, better)


def _product(name: str, *arrays: Variable, **more: Any) -> Product:
    """Declare the arrays of one row of `KINDS`."""
    return Product(**vars(KINDS[name]), arrays=arrays, **more)


def _fairness(name: str, array: Variable, *more: Variable, among: bool = False) -> Product:
    """Declare a fairness measure, which compares each job with a fair value."""
    said = (array.units, "mean lateness over all jobs"), ("1", "share of jobs that are late")
    sums = tuple(
        (sum_, Variable(figure, AXES, "float64", units, f"{what} ({array.long_name})", SMALLER))
        for (sum_, figure), (units, what) in zip(KINDS[name].means, said, strict=True)
    )
    return _product(name, array, *more, optional=True, among=among, sums=sums)


_ROWS = (
    _product(
        "workload",
        _of_sample("jobs", "1", "number of jobs"),
        _of_sample("max_estimate", "s", "largest estimate that the platform allows"),
        *map(_of_column, STORED.values()),
        kept=tuple((name, _of_column(COLUMNS[name])) for name in ASKED),
    ),
    _product(
        "cells",
        _of_job("wait", "int64", "s", "wait"),
        _of_job("backfilled", "int8", "1", "job was backfilled"),
        kept=(
            (
                "place",
                _of_job("place", "int64", "1", "where the job ran, counted from 0 in `places`"),
            ),
            ("end", _of_job("end", "int64", "s", "completion instant; -1 of a refused job")),
            (
                "state",
                _of_job(
                    "state", "int8", "1",
                    "how the job ended: 0 done, 1 killed at its estimate, 2 refused, 3 cut off",
                ),
            ),
            (
                "segments",
                Variable(
                    "on", (*CELL, "job", "node"), "int32", "1",
                    "processors that the job had on the node",
                ),
            ),
        ),
    ),
    _fairness("strict", _of_job("fst_strict", "int64", "s", "strict fair start time")),
    _fairness("relaxed", _of_job("fst_relaxed", "int64", "s", "relaxed fair start time")),
    _fairness(
        "resource",
        _of_job(
            "resource_share", "float64", "processor s",
            "processor-seconds that equal sharing would have given",
        ),
    ),
    _fairness(
        "promise",
        _of_job("promised", "int64", "s", "start promised at arrival; -1 where none was"),
    ),
    _fairness(
        "isolation",
        _of_job(
            "fst_isolation", "int64", "s",
            "start if the job's cluster were alone; -1 of a job wider than that",
        ),
        _of_origin(
            "origin_lateness_isolation", "s",
            "mean lateness of the cluster's jobs against their starts if it were alone", SMALLER,
        ),
        _of_origin(
            "origin_gain_isolation", "s",
            "mean time by which the cluster's jobs start earlier than if it were alone", LARGER,
        ),
        among=True,
    ),
)  # fmt: skip

PRODUCTS: dict[str, Product] = {row.name: row for row in _ROWS}
"""Every kind of block, by name, in the order of computation."""

OPTIONAL = tuple(name for name, row in PRODUCTS.items() if row.optional)
"""Kinds of blocks that are computed only on a campaign's request."""

KEPT = frozenset(v.name for row in _ROWS for _, v in row.kept)
"""Names of arrays that only traces on some platforms have."""

DERIVED = "start"
"""Name of the starts, which readers derive from submissions and waits (`analysis.starts`)."""

TAKEN = frozenset(
    {DERIVED, *METRICS, *COORDINATES, WEEKS.name, "zarr.json", *KEPT, *COUNTS}
    | {v.name for row in _ROWS for v in (*row.arrays, *(figure for _, figure in row.sums))}
)
"""Names that every store has, or may get from a later program."""


def holdings(
    asked: Iterable[str],
    own: Iterable[str],
    platforms: Iterable[Platform],
    counts: Mapping[str, str] = NO_COUNTS,
    keep: Retention = RETENTION[ALL],
) -> dict[str, Holding]:
    """Return the holdings of a campaign's store, with its requested optional products."""
    wanted, own, platforms = set(asked), tuple(own), tuple(platforms)
    return {
        name: row.holding(own, platforms, counts, keep)
        for name, row in PRODUCTS.items()
        if not row.optional or name in wanted
    }


def _variable(of: str, metric: Metric, dims: tuple[str, ...]) -> Variable:
    said = metric.dtype, metric.unit, metric.meaning, metric.better
    return Variable(metric.name, dims, *said, of, metric.among)


def _to_plain(variable: Variable) -> dict[str, Any]:
    """Return a declaration as plain values; `among` is left out if False, as in most stores."""
    # `asdict` would copy each value, which takes 40 us for each of some hundred variables.
    return {key: value for key, value in vars(variable).items() if key != "among" or value}


def _from_plain(plain: Mapping[str, Any]) -> Variable:
    return Variable(**{**plain, "dims": tuple(plain["dims"])})
