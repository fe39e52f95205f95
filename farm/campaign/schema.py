"""JSON Schema of a campaign's file, for editors that complete and check TOML."""

from __future__ import annotations

import inspect
import re
from dataclasses import MISSING
from typing import Any, get_type_hints

import msgspec

from schedfarm.farm.campaign.campaign import CLUSTER, Campaign
from schedfarm.farm.campaign.plain import keys
from schedfarm.farm.campaign.precision import Precision
from schedfarm.farm.campaign.sources import SOURCES
from schedfarm.farm.campaign.trace import Trace

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_REFERENCES = "#/$defs/{name}"

_PARAMETER = re.compile(r"^(\w+) : .*\n((?:    .*\n|\n)+)", re.MULTILINE)
"""An entry of a numpydoc section, and its indented description."""


def campaign_schema() -> dict[str, Any]:
    """Return the JSON Schema of a campaign's file: keys, types, ranges and meanings.

    The schema checks the types and ranges of the keys, and that each trace has one source.
    `Campaign` alone checks names of logs, models and policies, and other keys that exclude each
    other.

    Examples
    --------
    >>> schema = campaign_schema()
    >>> schema["required"], schema["properties"]["seed"]["minimum"]
    (['name', 'traces', 'policies'], 0)
    """
    requests = _reference(Precision)
    number = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 100}
    written = {
        "traces": {"type": "array", "items": _reference(Trace), "minItems": 1},
        "loads": {"type": "array", "items": {"anyOf": [{"type": "string"}, number]}, "minItems": 1},
        "precision": {"anyOf": [requests, {"type": "array", "items": requests}]},
    }
    schema = _table(Campaign, written)
    schema["properties"][CLUSTER] = {
        "type": "object",
        "description": "Default cluster: on = a launcher of farm clusters, workers, and its "
        "options. It has no effect on results.",
    }
    tables = {kind.__name__: _table(kind) for kind in (Trace, Precision)}
    tables[Trace.__name__]["oneOf"] = [{"required": [key]} for key in SOURCES]
    return {"$schema": DIALECT, "title": "schedfarm campaign", **schema, "$defs": tables}


def _reference(kind: type) -> dict[str, Any]:
    return {"$ref": _REFERENCES.format(name=kind.__name__)}


def _table(kind: type, written: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the schema of a declared class as a table of its keys.

    written: schemas of keys whose values in a file have other types than in the class.
    """
    hints, meanings, written = (
        get_type_hints(kind, include_extras=True),
        _meanings(kind),
        written or {},
    )
    properties: dict[str, Any] = {}
    for one in keys(kind):
        found = written.get(one.name) or msgspec.json.schema(hints[one.name])
        text = meanings.get(one.name)
        properties[one.name] = {**found, **({"description": text} if text else {})}
    needed = [
        one.name for one in keys(kind) if one.default is MISSING and one.default_factory is MISSING
    ]
    table = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**table, **({"required": needed} if needed else {})}


def _meanings(kind: type) -> dict[str, str]:
    """Return the description of each key, from the section Parameters of the docstring."""
    section = inspect.getdoc(kind) or ""
    section = section.partition("Parameters\n----------\n")[2]
    return {
        name: " ".join(text.split()).replace("``", "`")
        for name, text in _PARAMETER.findall(section.partition("\nRaises\n")[0] + "\n")
    }
