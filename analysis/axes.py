"""Axes of a campaign as dimensions: traces and policies that `[axes]` has made, by axis value."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import xarray as xr

from schedfarm.analysis.errors import StoreError
from schedfarm.analysis.store import (
    LOG,
    Data,
    Labels,
    Store,
    at_labels,
    check_known,
    has_log,
    known_labels,
    open_summary,
    origins_by_label,
    read_manifest,
)
from schedfarm.core.checks import is_number
from schedfarm.core.names import choices

EXPANDED = ("trace", "policy")
"""Dimensions of the store whose labels contain the values of axes."""

Origins: TypeAlias = dict[str, dict[str, Any]]
"""For each label: ``of``, the trace or policy as written, and ``at``, its value on each axis."""


def origins_of(store: Store) -> dict[str, Origins]:
    """Return the origins of the traces and policies that axes have made; empty without axes."""
    # This reads one file of a store; opening the summary would read the metadata of each array.
    found: dict[str, Origins] = (
        json.loads(store.attrs.get("labels", "{}"))
        if isinstance(store, xr.DataTree)
        else origins_by_label(read_manifest(store))
    )
    return found


def by_origin(store: Store, traces: Sequence[str]) -> dict[str, list[str]]:
    """Return labels of traces by the trace as written; traces of one origin share samples."""
    origins, found = origins_of(store).get("trace", {}), dict[str, list[str]]()
    for trace in traces:
        found.setdefault(origins[trace]["of"] if trace in origins else trace, []).append(trace)
    return found


def axes_of(store: Store) -> dict[str, list[Any]]:
    """Return the values of each axis of a store; numbers are in ascending order.

    Examples
    --------
    >>> axes_of(xr.DataTree(xr.Dataset()))
    {}
    """
    found: dict[str, list[Any]] = {}
    for origins in origins_of(store).values():
        for name, values in _values(origins).items():
            found[name] = values
    return found


def _values(origins: Origins) -> dict[str, list[Any]]:
    """Return the values of the axes of one dimension."""
    found: dict[str, dict[Any, None]] = {}
    for one in origins.values():
        for name, value in one["at"].items():
            found.setdefault(name, {})[value] = None
    return {name: _ordered(list(values)) for name, values in found.items()}


def _ordered(values: list[Any]) -> list[Any]:
    """Return numbers in ascending order, and texts in their given order."""
    return sorted(values) if all(map(is_number, values)) else values


def unfold(store: Store, data: Data | None = None) -> Any:
    """Return values of a store with a dimension for each axis of its campaign.

    A store has the values of ``[axes]`` as parts of the labels of traces and policies, such as
    ``KTH.processors-120`` and ``fcfs+depth(8)``. This function makes each axis a dimension.

    Parameters
    ----------
    store : path or DataTree
        The store's folder or address, or an open tree.
    data : Dataset or DataArray, optional
        Values by trace or policy: a part of the store, or a result of `bands`, `weekly_bands` or
        `compare`; by default the summary.

    Returns
    -------
    Dataset or DataArray
        The names in ``trace`` and ``policy`` are those in the campaign. Each axis is a further
        dimension, after the dimension whose labels contained it. The coordinates of the dimension
        are the axis's values, with numbers in ascending order. A policy that does not depend on an
        axis has the same values everywhere along the axis. Missing combinations are NaN. Without
        axes the data are unchanged.

    Raises
    ------
    StoreError
        If the store cannot be read, or the data have a variable with the name of an axis.

    Examples
    --------
    >>> labels = {"trace": {"m.processors-64": {"of": "m", "at": {"processors": 64}},
    ...                     "m.processors-80": {"of": "m", "at": {"processors": 80}}}}
    >>> root = xr.Dataset({"wait": ("trace", [60.0, 20.0])}, {"trace": list(labels["trace"])},
    ...                   attrs={"labels": json.dumps(labels)})
    >>> float(unfold(xr.DataTree(root))["wait"].sel(trace="m", processors=80))
    20.0
    """
    found: Any = open_summary(store) if data is None else data
    for dim, origins in origins_of(store).items():
        if dim in found.dims:
            found = _unfolded(found, dim, origins)
    return found


def _unfolded(data: Any, dim: str, origins: Origins) -> Any:
    """Return data in which the axes of one dimension follow it as further dimensions."""
    labels = [str(label) for label in data[dim].values]
    known = {label: origins[label] for label in labels if label in origins}
    values = _values(known)
    for name in values:
        if name in getattr(data, "data_vars", ()) or name in data.dims:
            raise StoreError(
                f"axis {name!r} cannot be a dimension here, since the data have an array or a "
                "dimension of that name; select by labels instead"
            )
    names = list(dict.fromkeys(known[one]["of"] if one in known else one for one in labels))
    place = np.full((len(names), *map(len, values.values())), -1)
    for number, label in enumerate(labels):
        one = known.get(label, {"of": label, "at": {}})
        at = (
            values[axis].index(one["at"][axis]) if axis in one["at"] else slice(None)
            for axis in values
        )
        place[(names.index(one["of"]), *at)] = number
    where = xr.DataArray(place, dims=(dim, *values))
    found = data.drop_vars(dim).isel({dim: where.clip(0)})
    if (place < 0).any():
        there = where >= 0
        found = (
            found.map(lambda one: one.where(there) if dim in one.dims else one, keep_attrs=True)
            if isinstance(found, xr.Dataset)
            else found.where(there)
        )
    return found.assign_coords({dim: names, **values})


def narrowed(
    store: Store, at: Mapping[str, Any], trace: str | None = None, policy: str | None = None
) -> dict[str, Labels]:
    """Return the labels of traces and policies at values of axes, as restrictions of a query.

    trace, policy: labels of the store, or names as written in the campaign. A name stands for all
    labels that were expanded from it. A policy that does not depend on an axis counts at all values
    of the axis.
    """
    origins, known = origins_of(store), axes_of(store)
    for axis, value in at.items():
        if axis not in known:
            more = choices(axis, known) if known else "its campaign has no [axes]"
            raise StoreError(f"the store has no axis {axis!r}; {more}")
        known_value(axis, value, known[axis])
    found: dict[str, Labels] = {}
    for dim, given in zip(EXPANDED, (trace, policy), strict=True):
        mine = origins.get(dim, {})
        wanted = {axis: value for axis, value in at.items() if axis in _values(mine)}
        if given is None and not wanted:
            found[dim] = None
            continue
        labels = [str(label) for label in open_summary(store)[dim].values]
        written = [label for label in labels if label in mine and mine[label]["of"] == given]
        chosen = written or known_labels(dim, given, labels)
        found[dim] = [
            label
            for label in chosen
            if all(
                axis not in mine.get(label, {"at": {}})["at"]
                or _means(value, mine[label]["at"][axis])
                for axis, value in wanted.items()
            )
        ]
        if not found[dim]:
            said = ", ".join(f"{axis} = {value}" for axis, value in wanted.items())
            raise StoreError(f"{dim} {given!r} is not at {said}; leave one of them out")
    return found


def _means(given: Any, value: Any) -> bool:
    """Return whether a user means a value, by its text or another spelling of its number."""
    if isinstance(value, bool | str):
        return str(given).lower() == str(value).lower()
    try:
        return bool(float(given) == value)
    except (TypeError, ValueError):
        return False


def axis_named(store: Store, axis: str | None) -> str:
    """Return an axis of a store; by default the only axis of the store."""
    known = list(axes_of(store))
    if not known:
        raise StoreError("the store has no axis; give its campaign a table [axes]")
    if axis is None:
        if len(known) > 1:
            raise StoreError(f"the store has the axes {', '.join(known)}; name one")
        return known[0]
    check_known(axis, "axis", known)
    return axis


Cells: TypeAlias = dict[str, dict[str, tuple[str, str]]]
"""The store's labels of trace and policy, by trace as written and by label of an axis value."""


def across(
    store: Store, axis: str, where: Mapping[str, Labels]
) -> tuple[xr.DataTree, list[Any], Cells]:
    """Return a summary with one policy per value of an axis, these values, and their cells.

    where: labels that select one policy, and one value of each other axis. Resample 0 of a log is
    the log itself; resample 0 of a model is one more sample. If any trace is a model, the summary
    therefore omits resample 0.
    """
    summary, origins = open_summary(store), origins_of(store)
    summary = at_labels(summary, **where)
    of_policies = origins.get("policy", {})
    if axis in _values(of_policies):
        labels = [str(label) for label in summary["policy"].values]
        mine = [one for one in labels if axis in of_policies.get(one, {"at": {}})["at"]]
        summary = summary.sel(policy=mine)
    found = unfold(store, summary)
    for other in axes_of(store):
        if other != axis and other in found.dims:
            if found.sizes[other] > 1:
                raise StoreError(
                    f"axis {other!r} has several values; give one to compare {axis!r} at: "
                    f"{', '.join(map(str, found[other].values))}"
                )
            found = found.isel({other: 0}, drop=True)
    policies = [str(one) for one in found["policy"].values]
    if len(policies) != 1:
        known = f"one of {', '.join(policies)}" if policies else "one that the axis concerns"
        raise StoreError(f"the values of axis {axis!r} are compared under one policy; give {known}")
    values = found[axis].values.tolist()
    found = found.isel(policy=0, drop=True).rename({axis: "policy"})
    found = found.assign_coords(policy=[value_label(axis, value) for value in values])
    if not all(has_log(store, str(trace)) for trace in summary["trace"].values):
        found = found.sel(resample=found["resample"] > LOG)
    found.attrs = {key: one for key, one in found.attrs.items() if key not in NOT_ACROSS}
    cells: Cells = {}
    for trace, one in product(summary["trace"].values.tolist(), summary["policy"].values.tolist()):
        of_trace = origins.get("trace", {}).get(trace, {"of": trace, "at": {}})
        of_policy = of_policies.get(one, {"of": one, "at": {}})
        value = (of_trace["at"] | of_policy["at"])[axis]
        cells.setdefault(of_trace["of"], {})[value_label(axis, value)] = (trace, one)
    return xr.DataTree(found), values, cells


def lines_along(
    store: Store, axis: str, data: xr.Dataset
) -> tuple[list[Any], dict[tuple[str, str], xr.Dataset]]:
    """Return the values of an axis by trace and policy in the data, and the data along the axis.

    The returned data are by trace and policy; names of policies contain the values of all other
    axes. Policies that do not depend on the axis have the same values everywhere along the axis.
    """
    origins = origins_of(store)
    (dim,) = (one for one in EXPANDED if axis in _values(origins.get(one, {})))
    known = {str(one): origins[dim].get(str(one)) for one in data[dim].values}
    values = _values({label: one for label, one in known.items() if one})[axis]
    labels: dict[str, dict[Any, str]] = {}
    for label, one in known.items():
        at = one["at"] if one else {}
        others = (f"{name}={value}" for name, value in at.items() if name != axis)
        name = ", ".join((one["of"] if one else label, *others))
        every = [at[axis]] if axis in at else values
        labels.setdefault(name, {}).update(dict.fromkeys(every, label))
    lines: dict[tuple[str, str], xr.Dataset] = {}
    for name, mine in labels.items():
        there = xr.DataArray([mine.get(value) or "" for value in values], dims="value")
        line = data.reindex({dim: sorted({*known, ""})}).sel({dim: there}).drop_vars(dim)
        (other,) = (one for one in EXPANDED if one != dim)
        for label in data[other].values.tolist():
            lines[(name, label) if dim == "trace" else (label, name)] = line.sel({other: label})
    return values, lines


NOT_ACROSS = ("labels", "precision")
"""Attributes of a summary that concern its policies, and are dropped along an axis."""


def value_label(axis: str, value: Any) -> str:
    """Return the label of a value in a comparison of values, where labels stand for policies."""
    return f"{axis}={value}"


def known_value(axis: str, given: Any, values: list[Any]) -> Any:
    """Return the value of an axis that a user means; `StoreError` lists all values."""
    for value in values:
        if _means(given, value):
            return value
    listed = ", ".join(map(str, values))
    raise StoreError(f"axis {axis!r} has no value {given!r}; known: {listed}")
