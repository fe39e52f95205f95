"""Platforms: the pool, plain forms there and back, and what a workload asks of one."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from schedfarm.core import InputError, Platform, Pool, Workload
from schedfarm.core.arrays import Bool
from schedfarm.core.machines.platform import PLATFORMS, platform_from_dict
from schedfarm.core.workload.columns import Columns
from schedfarm.core.workload.select import on_platform


@dataclass(frozen=True)
class Pair:
    """Two clusters that share no job."""

    name: ClassVar[str] = "pair"
    keeps: ClassVar[tuple[str, ...]] = ("place",)
    asks: ClassVar[tuple[str, ...]] = ()
    dated: ClassVar[bool] = False
    left: int
    right: int

    @property
    def size(self) -> int:
        return self.left + self.right

    @property
    def places(self) -> tuple[str, ...]:
        return ("left", "right")

    @property
    def participants(self) -> tuple[str, ...]:
        return ()

    @property
    def key(self) -> str:
        return json.dumps(self.to_dict())

    @property
    def limit(self) -> str:
        return "at most those of the larger cluster"

    def admits(self, jobs: Columns) -> Bool:
        fits: Bool = jobs.procs <= max(self.left, self.right)
        return fits

    def check(self, jobs: Columns) -> None:
        pass

    def to_dict(self) -> dict[str, Any]:
        return {"name": "pair", "configuration": {"left": self.left, "right": self.right}}


GIVEN: dict[str, Any] = {"submit": [0, 1], "run": [1, 1], "estimate": [1, 1], "procs": [3, 5]}


def test_a_pool_survives_its_plain_form() -> None:
    """Through JSON too."""
    pool: Platform = Pool(128)
    assert platform_from_dict(json.loads(json.dumps(pool.to_dict()))) == pool
    assert (pool.size, len(pool.places), pool.keeps) == (128, 1, ())
    assert json.dumps(Pool(np.int64(4)).to_dict()["configuration"]) == '{"processors": 4}'


def test_every_kind_stands_under_its_own_name() -> None:
    """The registry says what each is."""
    assert "pool" in PLATFORMS
    for name, kind in PLATFORMS.items():
        assert kind.form.name == name
        assert kind.meaning


@pytest.mark.parametrize(
    ("plain", "sentence"),
    [
        ("pool", "platform='pool': give a table of two keys, name and configuration"),
        ({"name": "pool"}, "give a table of two keys"),
        ({"name": "pool", "configuration": {}, "size": 1}, "give a table of two keys"),
        ({"name": "pond", "configuration": {}}, "platform: unknown name 'pond'; known: pool"),
        ({"name": ["pool"], "configuration": {}}, "unknown name ['pool']"),
        ({"name": "pool", "configuration": 4}, "platform 'pool': configuration=4; give a table"),
        ({"name": "pool", "configuration": {}}, "missing key 'processors'; it has: processors"),
        (
            {"name": "pool", "configuration": {"processors": 1, "cores": 2}},
            "platform 'pool': unknown key 'cores'; it has: processors",
        ),
        ({"name": "pool", "configuration": {"processors": 0}}, "processors is 0; a machine has"),
        ({"name": "pool", "configuration": {"processors": "8"}}, "processors is '8'; a machine"),
        ({"name": "pool", "configuration": {"processors": True}}, "processors is True; a machine"),
    ],
)
def test_bad_plain_forms_are_refused(plain: object, sentence: str) -> None:
    """With one sentence that names the key and the value."""
    with pytest.raises(InputError) as refused:
        platform_from_dict(plain)
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_workload_asks_its_platform_whom_it_admits() -> None:
    """Processors in all do not help a job that no cluster holds; the sentence is the platform's."""
    assert Workload.from_columns(**GIVEN, platform=Pair(4, 5)).processors == 9
    with pytest.raises(InputError, match="procs of job 1 is 5; it must be at most those of the la"):
        Workload.from_columns(**GIVEN, platform=Pair(4, 4))


def test_other_platforms_give_other_digests() -> None:
    """Nine processors in one pool, or in two clusters."""
    digests = {
        Workload.from_columns(**GIVEN, platform=platform).digest()
        for platform in (Pool(9), Pool(10), Pair(4, 5), Pair(5, 4))
    }
    assert len(digests) == 4


def test_jobs_that_a_platform_does_not_admit_are_dropped() -> None:
    """And counted, where a log is put on it; the rest has its columns."""
    work = Workload.from_columns(**GIVEN, platform=Pool(9))
    moved = on_platform(work, Pair(4, 4))
    assert moved.platform == Pair(4, 4)
    assert moved.procs.max() <= 4
    assert len(moved) + moved.dropped["not admitted"] == len(work)
    assert on_platform(work, Pool(9)) is work


@pytest.mark.parametrize(
    ("name", "sizes", "noun"),
    [("grid", "clusters", "cluster"), ("nodes", "capacities", "node"),
     ("network", "clusters", "cluster")],
)  # fmt: skip
def test_names_are_numbers_unless_they_are_given(name: str, sizes: str, noun: str) -> None:
    """A wrong size is told although nobody gave names."""
    made = platform_from_dict({"name": name, "configuration": {sizes: [2, 3]}})
    assert made.places == (f"{noun}1", f"{noun}2")
    assert platform_from_dict(made.to_dict()) == made
    with pytest.raises(InputError, match=f"{sizes} holds 0"):
        platform_from_dict({"name": name, "configuration": {sizes: [0, 3]}})
