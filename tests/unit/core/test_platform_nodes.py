"""Nodes as a platform: what makes one, what does not, and whom it admits."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from schedfarm.core.errors import InputError
from schedfarm.core.machines.nodes.platform import ANY, Nodes
from schedfarm.core.machines.platform import platform_from_dict
from schedfarm.core.workload.select import on_platform
from schedfarm.core.workload.workload import Workload

CAPACITIES, NAMES = [2, 2, 4], ["a", "b", "big"]
SETS = {"large": ["big"], "pair": ["b", "a"]}
DOWN = [["b", 50, 60], ["a", 10, 20]]
NODES = Nodes(CAPACITIES, NAMES, SETS, DOWN)


def test_the_plain_form_gives_the_same_nodes() -> None:
    """Through JSON and back, and through `replace`; a value can be hashed."""
    assert platform_from_dict(json.loads(json.dumps(NODES.to_dict()))) == NODES
    assert replace(NODES) == NODES
    assert len({NODES, replace(NODES), Nodes(CAPACITIES, NAMES)}) == 2
    assert platform_from_dict({"name": "nodes", "configuration": {**PLAIN}}) == Nodes(**PLAIN)


def test_what_it_tells_kernels() -> None:
    """Members follow the declared order; outages go by the instant."""
    assert NODES.members.tolist() == [[False, False, True], [True, True, False]]
    assert NODES.outages.tolist() == [[0, 10, 20], [1, 50, 60]]
    assert NODES.candidates(ANY, 3).tolist() == [False, False, True]
    assert NODES.candidates(1, 2).tolist() == [True, True, False]


def test_names_change_no_digest_and_all_else_does() -> None:
    """What a schedule depends on is in the key."""
    assert Nodes(CAPACITIES, ["x", "y", "z"]).key == Nodes(CAPACITIES, NAMES).key
    others = (
        Nodes(CAPACITIES, NAMES),
        Nodes([2, 4, 2], NAMES),
        Nodes(CAPACITIES, NAMES, {"large": ["big"]}),
        Nodes(CAPACITIES, NAMES, {"large": ["b"]}),
        Nodes(CAPACITIES, NAMES, (), [["a", 1, 2]]),
        Nodes(CAPACITIES, NAMES, (), [["b", 1, 2]]),
        NODES,
    )
    assert len({one.key for one in others}) == len(others)


def test_jobs_that_could_never_run_are_dropped() -> None:
    """Too many nodes of a set, too heavy for any, a weight that does not divide, no such set."""
    jobs = Workload.from_columns(
        submit=[0] * 8,
        run=[1] * 8,
        estimate=[1] * 8,
        procs=[3, 4, 2, 8, 5, 3, 4, 2],
        weight=[1, 1, 1, 4, 5, 2, 4, 2],
        properties=[ANY, ANY, 0, ANY, ANY, ANY, 0, 1],
        processors=8,
    )
    kept = on_platform(jobs, NODES)
    assert kept.job.tolist() == [1, 7, 8]
    assert dict(kept.dropped) == {"not admitted": 5}
    assert NODES.admits(jobs.take(jobs.job == 1, properties=[2])).tolist() == [False]


def test_a_start_in_advance_is_within_the_clock() -> None:
    """One past it names the column."""
    one: dict[str, Any] = {"submit": [0], "run": [1], "estimate": [1], "procs": [1]}
    with pytest.raises(InputError, match=r"reserved goes to 4611686018427387904 s after"):
        Workload.from_columns(**one, reserved=[2**62], platform=NODES)


PLAIN: dict[str, Any] = {"capacities": [1, 1], "names": ["a", "b"]}


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"capacities": []}, r"capacities is \[\]; give the processors of each node"),
        ({"capacities": [1, 0]}, r"capacities holds 0; a node has at least 1"),
        ({"names": ["a"]}, r"names holds 1 names; give 2"),
        ({"names": ["a", "a"]}, r"names holds 'a' twice"),
        ({"sets": ["x"]}, r"sets is \['x'\]; give a table"),
        ({"sets": 5}, r"sets is 5; give a table"),
        ({"sets": {"x": "a"}}, r"set 'x' is 'a'; give the names of its nodes"),
        ({"sets": {"x": []}}, r"set 'x' is \[\]; give the names"),
        ({"sets": {"x": ["c"]}}, r"set 'x' names the node 'c'; known: a, b"),
        ({"sets": {"": ["a"]}}, r"sets holds the name ''"),
        ({"down": [["c", 1, 2]]}, r"down names the node 'c'; known: a, b"),
        ({"down": [["a", 2, 2]]}, r"down has node 'a' from 2 until 2"),
        ({"down": [["a", 1, 5], ["a", 4, 9]]}, r"node 'a' from 4, but it is down until 5"),
        ({"down": [["a", 1]]}, r"down holds \['a', 1\]; give node, from and until"),
        ({"down": "a"}, r"down is 'a'; give rows"),
    ],
)
def test_what_makes_no_nodes_is_refused(given: dict[str, Any], sentence: str) -> None:
    """In one sentence that says what would be right."""
    with pytest.raises(InputError, match=sentence):
        platform_from_dict({"name": "nodes", "configuration": {**PLAIN, **given}})
