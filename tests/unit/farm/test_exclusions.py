"""Keys of a trace that exclude each other, and values that exclude nothing."""

from __future__ import annotations

import pytest

from schedfarm.core.errors import InputError
from schedfarm.farm.campaign import machine, sources
from schedfarm.farm.campaign.plain import Exclusion, keys
from schedfarm.farm.campaign.trace import Trace

ROWS = [*sources.EXCLUSIONS, *machine.EXCLUSIONS]
KEYS = {one.name for one in keys(Trace)}

GIVEN = {
    "file": "a.swf",
    "log": "KTH-SP2",
    "model": "participants",
    "join": ["a.swf", "b.swf"],
    "processors": 8,
    "platform": {"name": "network", "configuration": {"clusters": [8, 4], "names": ["a", "b"]}},
    "nodes": {"nodes": 8},
    "resources": {"gpus": 4},
    "partitions": {"regions": {"1": 8}},
    "hosts": {"groups": [{"count": 2, "processors": 4}]},
    "network": {},
    "rows": [0, 5],
    "select": {"widths": [1, 2]},
    "map": "pm100",
    "clean": {"kill": False},
    "names": True,
    "parameters": {"users": 3},
    "resize": 8,
}
"""A valid value of each key that excludes another, or is excluded."""


def source_for(*given: str) -> dict[str, str]:
    """Return the key of a log, unless a source is given."""
    return {} if sources.SOURCES.keys() & given else {"file": "a.swf"}


def test_rows_have_keys_of_a_trace() -> None:
    assert {name for row in ROWS for name in (row.key, *row.others)} <= KEYS


@pytest.mark.parametrize(
    ("row", "other"),
    [(row, other) for row in ROWS for other in row.others],
    ids=lambda one: one if isinstance(one, str) else one.key,
)
def test_each_row_refuses_its_keys(row: Exclusion, other: str) -> None:
    """In a sentence that begins with the key and has the reason of the row."""
    given = {key: GIVEN[key] for key in (row.key, other)}
    with pytest.raises(InputError) as refused:
        Trace(name="t", **given, **source_for(row.key, other))  # type: ignore[arg-type]
    reason = row.reason.format(value=GIVEN[row.key])
    assert f"trace 't': '{row.key}' {reason}" in str(refused.value)
    assert "{" not in str(refused.value)


def test_defaults_exclude_nothing() -> None:
    """Empty tables, options at their defaults, and a pool in either form."""
    plain = {"name": "m", "model": "lublin", "jobs": 9}
    pool = {"name": "pool", "configuration": {"processors": 8}}
    model = Trace(**plain, processors=8)  # type: ignore[arg-type]
    assert model == Trace(**plain, platform=pool, select={}, clean={"kill": True}, names=False)  # type: ignore[arg-type]
    assert Trace(file="a.swf", platform=pool, nodes={"nodes": 8}).processors == 8


def test_an_unknown_model_is_named_before_its_size() -> None:
    with pytest.raises(InputError, match="unknown model 'lubin'; did you mean 'lublin'"):
        Trace(name="m", model="lubin", processors=8, jobs=9, resize=4)
