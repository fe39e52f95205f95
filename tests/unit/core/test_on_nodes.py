"""Jobs of a pool on nodes: what they ask for, who has a set, a start in advance or molding."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from schedfarm.core import InputError, Workload
from schedfarm.core.models.lublin import lublin
from schedfarm.core.workload.on_nodes import OnNodes, put_on_nodes
from schedfarm.core.workload.select import select_jobs
from tests.support.paths import DOCS
from tests.support.strategies import workloads

MACHINES = st.builds(
    OnNodes,
    nodes=st.integers(1, 12),
    capacity=st.integers(1, 4),
    whole=st.sampled_from((0.0, 0.4, 1.0)),
    reservations=st.sampled_from((0.0, 0.5)),
    moldable=st.sampled_from((0.0, 0.5)),
    seed=st.integers(0, 3),
)

COLUMN = {"properties": "properties", "reservations": "reserved", "moldable": "serial"}
"""Where it is told whether a job is in a share."""


@pytest.fixture(scope="module")
def jobs() -> Workload:
    """Two thousand jobs of some users on a machine of another size."""
    return lublin(128, jobs=2000, seed=3, index=0)


def marked(jobs: Workload, share: str, part: float, **others: Any) -> set[int]:
    """Return the numbers of the jobs in a share."""
    placed = put_on_nodes(jobs, OnNodes(**{share: part, **others}))
    return set(placed.job[getattr(placed, COLUMN[share]) >= 0].tolist())


@given(workloads(), MACHINES)
def test_jobs_keep_their_part_of_the_machine(jobs: Workload, how: OnNodes) -> None:
    """Nodes, or processors, are the exact part rounded half up, and no job is too wide."""
    placed = put_on_nodes(jobs, how)
    assert placed.platform == how.platform
    for name in ("submit", "run", "estimate", "user", "job", "killed"):
        assert np.array_equal(getattr(placed, name), getattr(jobs, name)), name
    assert placed.max_estimate == jobs.max_estimate
    for procs, got, weight in zip(
        jobs.procs.tolist(), placed.procs.tolist(), placed.weight.tolist(), strict=True
    ):
        part, whole = procs * how.nodes, jobs.processors
        if weight == how.capacity and got == weight * max(1, (2 * part + whole) // (2 * whole)):
            continue
        exact = max(1, (2 * part * how.capacity + whole) // (2 * whole))
        assert weight == -(-exact // how.nodes)
        assert exact <= got < exact + weight


@given(workloads(), MACHINES)
def test_only_whole_changes_what_is_asked_of_each_node(jobs: Workload, how: OnNodes) -> None:
    """Shares of sets, reservations and molding leave nodes and weights as they are."""
    plain = put_on_nodes(jobs, replace(how, reservations=0, moldable=0))
    placed = put_on_nodes(jobs, replace(how, reservations=1, moldable=1, lead=["1s", "5s"]))
    assert np.array_equal(plain.procs, placed.procs)
    assert np.array_equal(plain.weight, placed.weight)
    assert placed.reserved.min(initial=1) >= 1
    assert placed.reserved.max(initial=1) <= 5
    assert placed.serial.min(initial=0) >= 0
    assert placed.serial.max(initial=0) <= 250_000


@pytest.mark.parametrize("share", COLUMN)
def test_a_larger_share_adds_jobs(jobs: Workload, share: str) -> None:
    """And is reached: sets within half the jobs of one user, the others as draws go.

    Jobs that are wider than their user's set are in no share of sets.
    """
    parts = (0.0, 0.1, 0.2, 0.5, 1.0)
    nested = [marked(jobs, share, part) for part in parts]
    assert not nested[0]
    for part, fewer, more in zip(parts[1:], nested, nested[1:], strict=False):
        assert fewer < more
        assert abs(len(more) / len(jobs) - min(part, len(nested[-1]) / len(jobs))) < 0.05
    if share != "properties":
        assert len(nested[-1]) == len(jobs)
    assert marked(jobs, share, 0.2, seed=1) != nested[2]


@pytest.mark.parametrize("share", ["reservations", "moldable"])
def test_draws_are_of_a_job_whoever_else_is_there(jobs: Workload, share: str) -> None:
    """The first jobs of a log draw what they draw in all of it."""
    some = select_jobs(jobs, 300)
    assert marked(some, share, 0.3) == marked(jobs, share, 0.3) & set(some.job.tolist())


def test_a_job_that_takes_whole_nodes_does_so_under_a_larger_share(jobs: Workload) -> None:
    """The weight never falls where the share grows."""
    weights = [put_on_nodes(jobs, OnNodes(whole=part)).weight for part in (0.0, 0.3, 0.6, 1.0)]
    for fewer, more in zip(weights, weights[1:], strict=False):
        assert (fewer <= more).all()
    assert (weights[-1] == 2).all()


def test_users_keep_to_their_set(jobs: Workload) -> None:
    """All jobs of a user that fit it, and no other, whatever the share."""
    how = OnNodes(properties=0.5, sets=[40, 20, 10], overlap=5)
    placed, all_of_them = (put_on_nodes(jobs, replace(how, properties=p)) for p in (0.5, 1.0))
    count = placed.procs // placed.weight
    sizes = np.array(how.sets)
    assert len(set(placed.properties.tolist())) == 4
    for user in set(jobs.user.tolist()):
        own = placed.properties[jobs.user == user]
        named = set(own[own >= 0].tolist())
        assert len(named) <= 1
        for number in named:
            fits = count[jobs.user == user] <= sizes[number]
            assert np.array_equal(own >= 0, fits)
            whole = all_of_them.properties[jobs.user == user]
            assert np.array_equal(own, whole)


def test_sets_lie_in_a_row() -> None:
    """Each shares so many nodes with the next one, and none where nobody has properties."""
    members = OnNodes(nodes=7, sets=[4, 3], overlap=2, properties=0.1).platform.members
    assert members.astype(int).tolist() == [[1, 1, 1, 1, 0, 0, 0], [0, 0, 1, 1, 1, 0, 0]]
    assert OnNodes(nodes=7, sets=[4, 3]).platform.set_names == ()


def test_the_clock_of_the_machine() -> None:
    """Instant 0 is told by the local clock, where it is known at all."""
    one = {"submit": [0], "run": [1], "estimate": [1], "procs": [1], "processors": 1}
    known = Workload.from_columns(**one, epoch=10_000_000)  # type: ignore[arg-type]
    assert put_on_nodes(known, OnNodes(utc="-8h")).epoch == 10_000_000 - 8 * 3600
    assert put_on_nodes(known, OnNodes(utc="1h")).epoch == 10_003_600
    early = Workload.from_columns(**one, epoch=3600)  # type: ignore[arg-type]
    assert put_on_nodes(early, OnNodes(utc="-8h")).epoch == 17 * 3600
    unknown = Workload.from_columns(**one)  # type: ignore[arg-type]
    assert put_on_nodes(unknown, OnNodes(utc="1h")).epoch == -1


def test_plain_values_and_back() -> None:
    """All options are told, in canonical form."""
    how = OnNodes(sets=[5, 3], lead=["60m", "48h"], utc="-28800s", properties=0.25)
    plain = how.to_dict()
    assert plain["lead"] == ["1h", "2d"]
    assert plain["utc"] == "-8h"
    assert plain["sets"] == [5, 3]
    assert OnNodes.from_dict(plain) == how
    assert plain.keys() == OnNodes().to_dict().keys()


def test_every_option_is_documented() -> None:
    """docs/logs.md has a row for each, with its default as it stands in a campaign."""
    text = (DOCS / "logs.md").read_text(encoding="utf-8")
    part = text.partition("### On nodes")[2].partition("\n### ")[0]
    rows = [line.split("|") for line in part.splitlines() if line.startswith("| `")]
    said = {row[1].strip(" `"): json.loads(row[3].strip(" `")) for row in rows}
    assert said == OnNodes().to_dict()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"nodes": 0}, "nodes: nodes=0: give a whole number, at least 1"),
        ({"capacity": 1.5}, "nodes: capacity=1.5: give a whole number"),
        ({"whole": 1.5}, "nodes: whole is 1.5; give a part, from 0 to 1"),
        ({"properties": "all"}, "nodes: properties is 'all'; give a part"),
        ({"sets": 5}, "nodes: sets is 5; give the nodes of each"),
        ({"sets": [], "properties": 0.5}, "nodes: properties=0.5 need sets"),
        ({"sets": [4, 2], "overlap": 2}, "nodes: overlap=2: give fewer than the nodes of each"),
        ({"sets": [104, 1], "properties": 0.1}, r"take 105 consecutive nodes, but there are 104"),
        ({"lead": ["2d", "1h"]}, r"nodes: lead is \['2d', '1h'\]; give the shorter time first"),
        ({"lead": ["soon", "1h"]}, "nodes: lead has 'soon'; give a time"),
        ({"lead": "1h"}, "nodes: lead is '1h'; give the least and the largest"),
        ({"serial": [0.5, 0.1]}, "nodes: serial is .*; give the smaller part first"),
        ({"utc": 3600}, "nodes: utc is 3600; give the offset ahead of UTC"),
        ({"utc": "-25h"}, "nodes: utc is '-25h'"),
        ({"seed": -1}, "nodes: seed=-1: give a whole number, at least 0"),
        ({"weight": 2}, "nodes: unknown key 'weight'"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], sentence: str) -> None:
    """One sentence with the option, its value and what would be right."""
    with pytest.raises(InputError, match=sentence):
        OnNodes.from_dict(options)
