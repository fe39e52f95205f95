"""Open a store by its documented format alone (docs/store-format.md)."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
import xarray as xr

from schedfarm.analysis.errors import NoSamplesError, StoreError
from schedfarm.analysis.place import StoreName, has_file, hierarchy, is_there, read_file
from schedfarm.analysis.reading import opened_once
from schedfarm.analysis.starts import with_starts
from schedfarm.analysis.verified import Records, verified_summary, verified_trace
from schedfarm.core.errors import InputError
from schedfarm.core.format.geometry import AXES, ORIGIN
from schedfarm.core.format.names import ARRAYS, COPY, MANIFEST
from schedfarm.core.format.retention import RETENTION
from schedfarm.core.format.version import CHECKED_SINCE, FORMAT, SEAL, VERSION, seal
from schedfarm.core.labels import find_label

Store: TypeAlias = str | os.PathLike[str] | xr.DataTree
"""A store's folder or address, or a tree from `open_tree`."""

Labels: TypeAlias = float | str | Sequence[str] | None
"""Labels of an axis to which a query is restricted: one, several, or None for all."""

Data = TypeVar("Data", xr.Dataset, xr.DataArray)

LOG = 0
"""Number of the resample that is the log itself; samples count from 1."""


@opened_once
def open_summary(store: Store) -> xr.Dataset:
    """Open the summary metrics of a store.

    Parameters
    ----------
    store : path or DataTree
        The store's folder, or an open tree.

    Returns
    -------
    Dataset
        The summary on (trace, resample, load, policy); some metrics have a further dimension.
        Values are read lazily. They are NaN if a cell failed or was not simulated.

    Raises
    ------
    StoreError
        If the path is not a store, or its version is newer. When values are read, also if they do
        not match the store's records.

    Examples
    --------
    >>> root = xr.Dataset({"wait": ("trace", [60.0])}, {"trace": ["KTH"]})
    >>> float(open_summary(xr.DataTree(root))["wait"][0])
    60.0
    """
    if isinstance(store, xr.DataTree):
        return store.to_dataset()
    _check(store)
    # The order matters, since a run may add variables in the meantime.
    described = _figures(store)
    data = _open(store, None)
    _check_figures(store, data, described)
    return _with_names(verified_summary(data, store, _records(store)), _head(store))


@opened_once
def open_trace(store: Store, trace: str) -> xr.Dataset:
    """Open the per-job and per-week arrays of one trace of a store.

    Parameters
    ----------
    store : path or DataTree
        The store's folder, or an open tree.
    trace : str
        A label of the store's trace axis.

    Returns
    -------
    Dataset
        Values per job on (resample, load, policy, job), and values per week on (resample, load,
        policy, week). Other arrays have their own dimension. All values are read lazily. A value of
        -1 along ``job`` is padding. ``start`` is computed as submit + wait.

    Raises
    ------
    StoreError
        For the reasons of `open_summary`, or if the store has no such trace.

    Examples
    --------
    >>> root = xr.Dataset(coords={"trace": ["KTH"]})
    >>> group = xr.Dataset({"week_jobs": ("week", [5, 7])})
    >>> tree = xr.DataTree.from_dict({"/": root, "/KTH": group})
    >>> open_trace(tree, "KTH")["week_jobs"].values.tolist()
    [5, 7]
    """
    check_known(trace, "trace", open_summary(store)["trace"].values.tolist())
    if not isinstance(store, xr.DataTree):
        data, records = _open(store, trace), _records(store)
        _check_axes(store, data, trace)
        if trace in records:
            _check_arrays(store, data, records[trace])
        data = verified_trace(data, records[trace]) if trace in records else data
        return _with_names(with_starts(data), _head(store))
    data = store[trace].to_dataset()
    # Every group of a tree inherits the coordinates of the root.
    own = {name for values in data.values() for name in values.dims}
    return with_starts(data.drop_dims(set(data.dims) - own))


@opened_once
def open_metric(store: Store, metric: str) -> xr.Dataset:
    """Open the summary of a store, and add a metric that has a value for each participant.

    Parameters
    ----------
    store : path or DataTree
        The store's folder, or an open tree.
    metric : str
        A metric of the summary, or of the arrays on ``origin`` of some traces.

    Returns
    -------
    Dataset
        The summary. A metric on ``origin`` is added on (trace, resample, load, origin, policy), NaN
        if a trace has no such participant. An unknown metric is not added.

    Raises
    ------
    StoreError
        For the reasons of `open_summary`.

    Examples
    --------
    >>> root = xr.Dataset(coords={"trace": ["sites"], "policy": ["fcfs+ics"]})
    >>> waits = xr.DataArray([[4.0, 7.0]], {"policy": ["fcfs+ics"], "origin": ["a", "b"]})
    >>> tree = xr.DataTree.from_dict({"/": root, "/sites": xr.Dataset({"origin_wait": waits})})
    >>> open_metric(tree, "origin_wait")["origin_wait"].sel(trace="sites", origin="b").item()
    7.0
    """
    summary = open_summary(store)
    if metric in summary or "trace" not in summary.coords:
        return summary
    parts = {}
    for trace in map(str, summary["trace"].values):
        values = open_trace(store, trace).get(metric)
        if values is not None and ORIGIN in values.dims:
            parts[trace] = values.astype(np.float64).reset_coords(drop=True)
    if not parts:
        return summary
    labels = dict.fromkeys(who for one in parts.values() for who in one[ORIGIN].values.tolist())
    each = [one.reindex({ORIGIN: list(labels)}) for one in parts.values()]
    joined = xr.concat(each, xr.Variable("trace", list(parts)), combine_attrs="override")
    joined = joined.assign_coords(trace=list(parts)).reindex(trace=summary["trace"].values)
    order = [str(name) for name in joined.dims if name not in (ORIGIN, "policy")]
    return summary.assign({metric: joined.transpose(*order, ORIGIN, "policy")})


def open_tree(store: StoreName) -> xr.DataTree:
    """Open a whole store: the summary at the root, and a child for each trace.

    Parameters
    ----------
    store : path
        The store's folder.

    Returns
    -------
    DataTree
        The tree is read lazily; values are checked as in `open_summary` and `open_trace`.

    Raises
    ------
    StoreError
        If the path is not a store, or its version is newer.

    Examples
    --------
    >>> open_tree("no/such/folder")
    Traceback (most recent call last):
    ...
    schedfarm.analysis.errors.StoreError: store 'no/such/folder' is not a folder; name one that farm
    run wrote
    """
    _check(store)
    described = _figures(store)
    try:
        tree = xr.open_datatree(hierarchy(store, ARRAYS), engine="zarr", consolidated=False)
    except (OSError, ValueError, KeyError) as error:
        raise _unreadable(store, "", error) from error
    _check_figures(store, tree.to_dataset(), described)
    records, head = _records(store), _head(store)
    parts = {"/": _with_names(verified_summary(tree.to_dataset(), store, records), head)}
    for trace, child in tree.children.items():
        data = child.to_dataset(inherit=False)
        if trace in records:
            _check_arrays(store, data, records[trace])
        data = verified_trace(data, records[trace]) if trace in records else data
        parts[trace] = _with_names(with_starts(data), head)
    return xr.DataTree.from_dict(parts)


def origins_by_label(head: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the origins of traces and policies in store.json; named policies have their names."""
    return {
        dim: {one.get("name", label): one for label, one in origins.items()}
        for dim, origins in head.get("labels", {}).items()
    }


def _with_names(data: xr.Dataset, head: Mapping[str, Any]) -> xr.Dataset:
    """Return a dataset of a store in which named policies have their names as labels."""
    origins = head.get("labels", {}).get("policy", {})
    names = {label: one["name"] for label, one in origins.items() if "name" in one}
    if not names or "policy" not in data.coords:
        return data
    policies = [names.get(str(label), str(label)) for label in data["policy"].values]
    found = data.assign_coords(policy=data["policy"].copy(data=policies))
    if "labels" in found.attrs:
        found.attrs["labels"] = json.dumps(origins_by_label(head))
    if "precision" in found.attrs:
        rounds = json.loads(found.attrs["precision"])
        for one in rounds["requests"]:
            one |= {key: names.get(one[key], one[key]) for key in ("policy", "over")}
        found.attrs["precision"] = json.dumps(rounds)
    return found


def named_policies(store: StoreName) -> dict[str, str]:
    """Return the policies that the campaign has named, by name."""
    origins = _head(store).get("labels", {}).get("policy", {})
    return {one["name"]: label for label, one in origins.items() if "name" in one}


def of_log(data: Data) -> Data:
    """Return the log itself in a store's dataset or array, without the dimension `resample`.

    Raises
    ------
    StoreError
        If the store lacks the log itself.

    Examples
    --------
    >>> int(of_log(xr.DataArray([8, 5, 3], {"resample": [0, 1, 2]})))
    8
    """
    if LOG not in data["resample"].values:
        raise StoreError(
            "the store lacks the log itself (resample 0); run the campaign with log = true"
        )
    return data.sel(resample=LOG, drop=True)


def of_samples(data: Data) -> Data:
    """Return the samples in a store's dataset or array: all resamples but the log itself.

    Raises
    ------
    StoreError
        A `NoSamplesError`, if the store has no samples.

    Examples
    --------
    >>> of_samples(xr.DataArray([8, 5, 3], {"resample": [0, 1, 2]})).values.tolist()
    [5, 3]
    """
    places = np.flatnonzero(data["resample"].values > LOG)
    if not places.size:
        raise NoSamplesError(
            "the store has no samples, only the log itself (resample 0); "
            "run the campaign with resamples"
        )
    return data.isel(resample=places)


def holds_log(data: xr.Dataset | xr.DataTree) -> bool:
    """Return whether a store's dataset, or its open tree, has the logs themselves.

    Examples
    --------
    >>> holds_log(xr.Dataset(coords={"resample": [1, 2]}))
    False
    """
    return LOG in np.asarray(data.coords["resample"])


def holds_samples(data: xr.Dataset | xr.DataTree) -> bool:
    """Return whether a store's dataset, or its open tree, has samples.

    Examples
    --------
    >>> holds_samples(xr.Dataset(coords={"resample": [0, 1]}))
    True
    """
    return bool(np.any(np.asarray(data.coords["resample"]) > LOG))


def has_log(store: Store, trace: str) -> bool:
    """Return whether a trace has resample 0 and is a log; resample 0 of a model is one more draw.

    Examples
    --------
    >>> root = xr.Dataset(coords={"trace": ["KTH"], "resample": [0, 1]})
    >>> has_log(xr.DataTree(root), "KTH")
    True
    """
    axes = {} if isinstance(store, xr.DataTree) else _head(store).get("axes", {})
    # Opening the summary took most of the time of the bands of 25 traces, so it stays closed.
    labels = axes["resample"] if "resample" in axes else open_summary(store).get("resample", [])
    if LOG not in np.asarray(labels):
        return False
    return isinstance(store, xr.DataTree) or "model" not in source_of(store, trace)


def read_manifest(store: StoreName) -> dict[str, Any]:
    """Return the contents of store.json, if this version can read the store.

    Raises
    ------
    StoreError
        For the reasons of `open_summary`.
    """
    _check(store)
    head: dict[str, Any] = _head(store)
    return head


def campaign_traces(store: StoreName) -> dict[str, dict[str, Any]]:
    """Return the keys of each trace in the campaign of a store's last run, by the trace's name.

    Raises
    ------
    StoreError
        If the path is not a store.
    """
    traces: list[dict[str, Any]] = tomllib.loads(_head(store)["text"])["traces"]
    return {trace["name"]: trace for trace in traces}


def at_labels(data: Data, **wanted: Labels) -> Data:
    """Return a store's dataset or array at some labels, with all dimensions.

    wanted: one or several labels by dimension, as for `known_label`; None selects all labels.

    Examples
    --------
    >>> waits = xr.DataArray([8, 5], {"policy": ["fcfs+easy", "spf+easy"]})
    >>> at_labels(waits, policy="SJF+easy").values.tolist()
    [5]
    """
    for axis, given in wanted.items():
        if given is not None:
            check_known(axis, "dimension", [str(name) for name in data.dims])
            data = data.sel({axis: known_labels(axis, given, data[axis].values.tolist())})
    return data


def known_labels(axis: str, given: Labels, labels: list[str]) -> list[str]:
    """Return the labels of an axis that the given spellings name (`known_label`); for None, all."""
    if given is None:
        return labels
    each = [given] if isinstance(given, str | int | float) else given
    return list(dict.fromkeys(known_label(axis, one, labels) for one in each))


def known_label(axis: str, given: float | str, labels: list[str]) -> str:
    """Return the label of an axis, given any spelling such as 0.95 or ``sjf+easy``.

    Raises
    ------
    StoreError
        If no label matches; the error lists the known labels.

    Examples
    --------
    >>> known_label("load", 0.95, ["original", "0.95"])
    '0.95'
    """
    try:
        return str(find_label(axis, given, labels))
    except InputError as error:
        raise StoreError(str(error)) from None


def check_known(name: str, what: str, names: list[str]) -> None:
    """Refuse an unknown name; the error lists the known names.

    Raises
    ------
    StoreError
        If the name is unknown.

    Examples
    --------
    >>> check_known("wiat", "metric", ["wait", "response"])
    Traceback (most recent call last):
    ...
    schedfarm.analysis.errors.StoreError: unknown metric 'wiat'; did you mean 'wait'? known: wait,
    response
    """
    known_label(what, name, names)


def check_held(group: xr.Dataset, *names: str) -> None:
    """Refuse a trace's group that lacks arrays of a query.

    Raises
    ------
    StoreError
        If an array is missing; the error has the retention of the store, if it is recorded.

    Examples
    --------
    >>> check_held(xr.Dataset(attrs={"keep": "summary"}), "wait")
    Traceback (most recent call last):
    ...
    schedfarm.analysis.errors.StoreError: the store has no wait: its campaign has keep = 'summary'
    """
    gone = [name for name in names if name not in group]
    if not gone:
        return
    keep = group.attrs.get("keep")
    if keep in RETENTION and RETENTION[keep].has(("job",)):
        raise StoreError(
            f"the store has no {gone[0]}, though its campaign has keep = {keep!r}; 'farm verify' "
            "with the store's name lists its faults, and --repair repairs them"
        )
    why = f": its campaign has keep = {keep!r}" if keep else ""
    raise StoreError(f"the store has no {gone[0]}{why}")


def named_values(attributes: Mapping[Any, Any], key: str) -> dict[str, Any]:
    """Return an attribute of a trace's group that maps names to values; empty if it is missing.

    The attribute is JSON, since netCDF has no attributes that are mappings. Before version 5 it was
    a mapping.

    Examples
    --------
    >>> named_values({"dropped": '{"no processors": 1}'}, "dropped")
    {'no processors': 1}
    """
    said = attributes.get(key, {})
    return dict(json.loads(said) if isinstance(said, str) else said)


@opened_once
def _check(store: StoreName) -> None:
    """Refuse anything except a store of a known version."""
    text = os.fspath(store)
    if not is_there(store):
        raise StoreError(f"store {text!r} is not a folder; name one that farm run wrote")
    head, file = _head(store), f"{text}/{MANIFEST}"
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise StoreError(f"{file!r} lacks 'format': {FORMAT!r}")
    version = head.get("version")
    if not isinstance(version, int) or version < 1:
        raise StoreError(f"{file!r} has version {version!r}; a version is a whole number from 1")
    if version > VERSION:
        raise StoreError(
            f"store {text!r} has format version {version}; this schedfarm reads up to "
            f"{VERSION}, so read it with a newer one"
        )
    if version == VERSION and SEAL in head and head[SEAL] != seal(head):
        raise StoreError(
            f"{file!r} has been altered; 'farm verify {text} --repair' restores it from its copy"
        )
    if not is_there(store, ARRAYS):
        raise StoreError(
            f"store {text!r} has no {ARRAYS}; run its campaign first, or 'farm verify {text} "
            "--repair' if it has been lost"
        )


def _check_axes(store: StoreName, data: xr.Dataset, group: str = "") -> None:
    """Refuse a part of a store that lacks the labels of an axis, which would then count from 0."""
    for axis in data.dims:
        if axis in AXES and axis not in data.coords:
            where = "/".join(filter(None, (ARRAYS, group, str(axis))))
            raise StoreError(
                f"store {os.fspath(store)!r}: {where}, the labels of an axis, is missing; 'farm "
                f"verify {os.fspath(store)} --repair' repairs it"
            )


def _check_arrays(store: StoreName, data: xr.Dataset, records: Records) -> None:
    """Refuse a trace's group without an array that the records describe and the store keeps."""
    head = _head(store)
    keep = RETENTION.get(head.get("keep", ""))
    arrays = [one for kind in head["holds"].values() for one in kind["arrays"]]
    for name in [one["name"] for one in arrays if keep is not None and keep.has(one["dims"])]:
        # Traces on other machines have other arrays.
        if name not in data and records.describes(name):
            raise StoreError(
                f"{records.described(name)} is missing; 'farm verify {os.fspath(store)} --repair' "
                "repairs it"
            )


def _figures(store: StoreName) -> list[str]:
    """Return the variables of the summary that store.json describes."""
    kinds = _head(store).get("holds", {}).values()
    return [one["name"] for kind in kinds for one in kind["figures"]]


def _check_figures(store: StoreName, data: xr.Dataset, described: Sequence[str]) -> None:
    """Refuse a summary without a described variable."""
    _check_axes(store, data)
    gone = [name for name in described if name not in data]
    if gone:
        raise StoreError(
            f"store {os.fspath(store)!r}: {ARRAYS}/{gone[0]}, a variable of the summary, is "
            f"missing; 'farm verify {os.fspath(store)} --repair' repairs it"
        )


@opened_once
def _records(store: StoreName) -> dict[str, Records]:
    """Return the records of each trace; empty for a version with unknown records."""
    head = _head(store)
    if head["version"] < CHECKED_SINCE or "layouts" not in head:
        return {}
    return {trace: Records(store, head, trace) for trace in head["axes"]["trace"]}


@opened_once
def failed_cells(store: StoreName) -> xr.DataArray:
    """Return, from the records, which cells have failed: bool on the axes of the summary."""
    records = _records(store)
    axes = _head(store)["axes"]
    none = np.zeros([len(axes[axis]) for axis in AXES[1:]], bool)
    failed = [records[trace].failed() if trace in records else none for trace in axes["trace"]]
    return xr.DataArray(np.array(failed), {axis: axes[axis] for axis in AXES})


def source_of(store: StoreName, trace: str) -> dict[str, Any]:
    """Return the source of a trace in store.json; empty if it is missing.

    Raises
    ------
    StoreError
        If store.json cannot be read.
    """
    found = _head(store).get("sources", {}).get(trace, {})
    return found if isinstance(found, dict) else {}


@opened_once
def _head(store: StoreName) -> Any:
    text = os.fspath(store)
    try:
        return json.loads(read_file(store, MANIFEST))
    except FileNotFoundError:
        repair = f"'farm verify {text} --repair' restores it from its copy"
        advice = repair if has_file(store, COPY) else "name a folder that farm run wrote"
        raise StoreError(f"store {text!r} has no store.json; {advice}") from None
    except StoreError:
        raise
    except OSError as error:
        why = error.strerror or error
        raise StoreError(f"'{text}/store.json' cannot be read: {why}") from error
    except ValueError as error:
        raise StoreError(
            f"'{text}/store.json' cannot be read as JSON ({error}); 'farm verify {text} --repair' "
            "restores it from its copy"
        ) from error


def _open(store: StoreName, group: str | None) -> xr.Dataset:
    _check(store)
    # Consolidated metadata is not used, since that of a grown store may be outdated.
    try:
        data: xr.Dataset = xr.open_zarr(
            hierarchy(store, ARRAYS), group=group, consolidated=False, chunks=None
        )
    except (OSError, ValueError, KeyError) as error:
        raise _unreadable(store, group or "", error) from error
    return data


def _unreadable(store: StoreName, group: str, error: Exception) -> StoreError:
    if isinstance(error, StoreError):
        return error
    where = "/".join(filter(None, (os.fspath(store), ARRAYS, group)))
    return StoreError(
        f"the arrays {where!r} cannot be read ({error}); 'farm verify {os.fspath(store)} --repair' "
        "repairs them"
    )
