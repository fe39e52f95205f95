"""Axes of a campaign: keys of traces and parts of policies that take several values.

Reading a campaign expands its axes: each value of an axis makes separate traces or policies, with
labels of their own. Blocks, records, resuming and growth therefore need no support for axes. The
store records the values of each label, and `analysis.axes` turns them into dimensions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from schedfarm.core.checks import is_number, is_whole, shown
from schedfarm.core.errors import InputError
from schedfarm.core.names import choices
from schedfarm.farm.campaign.plain import LONGEST_NAME, keys
from schedfarm.farm.campaign.sources import SOURCES
from schedfarm.farm.campaign.trace import RESERVED, Trace

Value = int | float | str | bool
"""Coordinate of an axis."""

Axes = Mapping[str, Any]
"""Values by name of the axis: a list of values, or a table that maps labels to values."""

SIZE, RESIZE = "processors", "resize"
"""Axis of the machine's size, and the key that it sets. Samples do not depend on this key."""

IDENTITY = frozenset({"name", *SOURCES, RESIZE})
"""Keys of a trace that cannot be an axis, since another log makes another trace."""

DIMENSIONS = frozenset({"job", "week", "user", "width", "origin", "node", "band", "quantile"})
DIMENSIONS |= {"bound", "ranked", "metric", "jobs"}
"""Names that an axis cannot have: other dimensions and arrays of a result."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z_][A-Za-z0-9_-]*)*")
_LABEL = re.compile(r"[A-Za-z0-9._+-]+")
_NAMED = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True)
class Variant:
    """Hold the origin of an expanded label: the policy as written, and its value on each axis."""

    of: str
    at: Mapping[str, Value]

    def label(self, axes: Axes) -> str:
        """Return the label of a named policy: its name, and its values on axes with several values.

        Examples
        --------
        >>> Variant("site", {"low": 80, "high": 9}).label({"low": [160, 80], "high": [9]})
        'site,low=80'
        """
        several = (f"{axis}={_spelt(at)}" for axis, at in self.at.items() if len(axes[axis]) > 1)
        return ",".join([self.of, *several])

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as in the store."""
        return {"of": self.of, "at": dict(self.at)}


def checked_axes(given: object) -> dict[str, Any]:
    """Return the axes with their values as lists; refuse malformed names and values."""
    if not isinstance(given, Mapping):
        raise InputError(f"axes is {shown(given)}; it must be a table, such as processors = [64]")
    return {name: _checked(name, values) for name, values in given.items()}


def _checked(name: str, values: object) -> Any:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InputError(f"axis {name!r}: begin with a letter; use letters, digits, '_' and '-'")
    if name in RESERVED | DIMENSIONS:
        raise InputError(
            f"axis {name!r} has the name of a dimension or an array of the store, so that it "
            "cannot be a dimension of its own; give an axis of a policy another name"
        )
    whole = dict(values) if isinstance(values, Mapping) else None
    each = values if whole is None else list(whole)
    if not isinstance(each, Sequence) or isinstance(each, str) or not each:
        raise InputError(
            f"axis {name!r} is {shown(values)}; it must be a list of values, such as [1, 8], or a "
            "table with a value for each label"
        )
    for one in each:
        if isinstance(one, Mapping | list | tuple) or not isinstance(one, Value):
            raise InputError(
                f"axis {name!r} has the value {shown(one)}; give a number, a text, or true or "
                f"false, and other values in a table with labels: [axes.{name}]"
            )
    if len({_kind(one) for one in each}) > 1:
        raise InputError(f"axis {name!r} is {shown(list(each))}; give values of one kind")
    for place, one in enumerate(each):
        if one in each[:place]:
            raise InputError(f"axis {name!r} has the value {one!r} twice; give it once")
    return list(each) if whole is None else whole


def _kind(value: Value) -> str:
    return "number" if is_number(value) else type(value).__name__


def expand_policies(
    policies: Sequence[str], axes: Axes, named: Mapping[str, str]
) -> list[tuple[str, Variant | None]]:
    """Return each policy with values in place of each ``{AXIS}``, and its variant.

    named: policies by name. Each named policy has a variant, even without axes.
    """
    found: list[tuple[str, Variant | None]] = []
    for of in policies:
        text = named.get(of, of)
        names = list(dict.fromkeys(_NAMED.findall(text)))
        for name in names:
            if name not in axes:
                known = choices(name, axes) if axes else f"give [axes] {name} = [...]"
                raise InputError(f"policy {text!r} names the axis {{{name}}}; {known}")
            if name in {SIZE, *_keys_of_traces()}:
                raise InputError(
                    f"policy {text!r}: {name!r} is a key of traces; give the axis of the policy "
                    "another name"
                )
        if not names:
            found.append((text, Variant(of, {}) if of in named else None))
            continue
        for place in product(*(_values(axes[name]) for name in names)):
            at = {name: label for name, (label, _) in zip(names, place, strict=True)}
            written = {name: _spelt(value) for name, (_, value) in zip(names, place, strict=True)}
            one = text
            for name, value in written.items():
                one = one.replace(f"{{{name}}}", value)
            found.append((one, Variant(of, at)))
    return found


def expand_traces(traces: Iterable[Trace], policies: Sequence[str], axes: Axes) -> list[Trace]:
    """Return a trace for each combination of the values of axes that are keys of traces.

    Refuses an axis that is neither a key of traces nor named by a policy.
    """
    of_policies = {name for text in policies for name in _NAMED.findall(text)}
    mine = {name: _values(values) for name, values in axes.items() if name not in of_policies}
    for name in mine:
        _check_key(name)
    return [
        _variant(trace, dict(zip(mine, place, strict=True)))
        for trace in traces
        for place in product(*mine.values())
    ]


def _keys_of_traces() -> list[str]:
    return [f.name for f in keys(Trace) if f.name not in IDENTITY]


def _check_key(name: str) -> None:
    known = _keys_of_traces()
    if name.partition(".")[0] not in known:
        raise InputError(
            f"axis {name!r} is neither a key of a trace nor named by a policy, as in "
            f"'fcfs+depth({{{name}}})'; of the keys {choices(name, known)}"
        )


def _variant(trace: Trace, at: Mapping[str, tuple[Value, Any]]) -> Trace:
    """Return a trace with the given values of axes; without axes, the trace itself."""
    if not at:
        return trace
    values: dict[str, Any] = {}
    for axis, (_, value) in at.items():
        key, *inner = axis.split(".")
        if axis == SIZE:
            if not is_whole(value) or value < 1:
                raise InputError(
                    f"axis {SIZE!r} has the value {shown(value)}; it must be a whole number, at "
                    "least 1"
                )
            key = RESIZE
        values[key] = _put(values.get(key, getattr(trace, key)), inner, value)
    labels = {axis: label for axis, (label, _) in at.items()}
    name = ".".join([trace.name, *(f"{axis}-{_part(axis, x)}" for axis, x in labels.items())])
    if len(name) > LONGEST_NAME:
        raise InputError(
            f"axes: the trace {name[:40] + '...'!r} would have {len(name)} characters; use at "
            f"most {LONGEST_NAME}, with shorter names of traces or labels"
        )
    try:
        return replace(trace, **{**values, "name": name, "base": trace, "at": labels})
    except InputError as error:
        raise InputError(f"axes: {error}") from None


def _put(table: Any, inner: Sequence[str], value: Any) -> Any:
    """Return a copy of a table with a value set at a nested key; without a key, the value."""
    if not inner:
        return value
    kept = dict(table) if isinstance(table, Mapping) else {}
    return {**kept, inner[0]: _put(kept.get(inner[0]), inner[1:], value)}


def _part(axis: str, label: Value) -> str:
    """Return the part of a trace's name for a value."""
    text = _spelt(label)
    if not _LABEL.fullmatch(text):
        raise InputError(
            f"axis {axis!r}: {text!r} cannot be part of a trace's name; give it a label of "
            f"letters, digits, '.', '_' and '-' in a table [axes.{axis}]"
        )
    return text.replace("+", "")


def _values(values: Any) -> list[tuple[Value, Any]]:
    """Return the label and the value of each position on an axis."""
    if isinstance(values, Mapping):
        return list(values.items())
    return [(one, one) for one in values]


def _spelt(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def collapsed(traces: Iterable[Trace]) -> list[Trace]:
    """Return the traces as the campaign declares them, without duplicates."""
    found: list[Trace] = []
    for trace in traces:
        one = trace if trace.base is None else trace.base
        if not any(one is other for other in found):
            found.append(one)
    return found


def expanded(trace: Trace) -> Variant | None:
    """Return the variant of a trace; None without axes."""
    return None if trace.base is None else Variant(trace.base.name, trace.at)
