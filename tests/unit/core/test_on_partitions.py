"""Jobs of a log on a machine with partitions: nodes, limits, and what is refused."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from schedfarm.core.errors import InputError
from schedfarm.core.machines.partitions.platform import Partitions
from schedfarm.core.machines.pool.platform import Pool
from schedfarm.core.machines.resources.platform import Resources
from schedfarm.core.workload.on_partitions import OnPartitions, put_on_partitions
from schedfarm.core.workload.workload import Workload

NODES = {"nodes": {"short": "n[01-04]", "long": "n[03-09],fat"}, "cpus": {"n[01-09]": 2, "fat": 9}}


def jobs(**others: Any) -> Workload:
    """Return four jobs of two partitions on 64 processors."""
    columns: dict[str, Any] = {
        "submit": [0, 1, 2, 3],
        "run": [9, 9, 9, 9],
        "estimate": [9, 100, 9, 9],
        "procs": [1, 2, 8, 9],
        "partition": [5, 5, 7, 5],
        "nodes": [1, 2, 4, -1],
        "names": {"partition": {5: "short", 7: "long"}},
    }
    return Workload.from_columns(**{**columns, **others}, processors=64)


def test_nodes_and_regions_say_the_same() -> None:
    """A node in two partitions is a region of its own."""
    how = OnPartitions.from_dict(NODES)
    assert how.sizes == {"long": 19, "long,short": 4, "short": 4}
    assert how.processors == 27
    again = OnPartitions(regions={"short,long": 4, "short": 4, "long": 19})
    assert again.sizes == how.sizes
    assert put_on_partitions(jobs(), how).platform == put_on_partitions(jobs(), again).platform
    assert OnPartitions.from_dict(how.to_dict()) == how


def test_jobs_keep_the_numbers_of_the_log() -> None:
    """The machine knows the names; jobs that are too large are dropped and counted."""
    some = put_on_partitions(jobs(), OnPartitions.from_dict(NODES))
    regions = {"long": 19, "long,short": 4, "short": 4}
    assert some.platform == Partitions(64, {}, regions, {"short": 5, "long": 7})
    assert some.partition.tolist() == [5, 5, 7]
    assert dict(some.dropped) == {"larger than their partition": 1}


def test_other_resources_remain() -> None:
    """A request for more than there is drops a job, too."""
    asked = jobs(gpus=[0, 3, 0, 0])
    some = put_on_partitions(asked, OnPartitions.from_dict(NODES), {"gpus": 2})
    assert some.platform.stocks == (("gpus", "GPUs", 2),)
    assert dict(some.dropped) == {"larger than their partition": 1, "not admitted": 1}


def test_limits_drop_jobs_by_reason() -> None:
    """Unknown nodes exceed no limit."""
    how = OnPartitions.from_dict(
        NODES | {"max_time": {"short": "1m"}, "max_nodes": {"long": 3, "short": 9}}
    )
    some = put_on_partitions(jobs(procs=[1, 2, 8, 3]), how)
    assert some.job.tolist() == [1, 4]
    assert dict(some.dropped) == {
        "above the time limit of their partition": 1,
        "above the node limit of their partition": 1,
    }
    assert how.to_dict()["max_time"] == {"short": "1m"}


def test_a_list_of_partitions_is_their_nodes() -> None:
    """And has the largest of their limits."""
    names = {"partition": {5: "short", 7: "short,long"}}
    how = OnPartitions.from_dict(NODES | {"max_time": {"short": "1s", "long": "1h"}})
    some = put_on_partitions(jobs(names=names, partition=[7, 7, 7, 7], procs=[1, 2, 27, 28]), how)
    assert some.procs.tolist() == [1, 2, 27]
    assert isinstance(some.platform, Partitions)
    assert dict(some.platform.labels) == {"short,long": 7, "long": 8, "short": 9}


def test_partitions_without_jobs_are_left_out() -> None:
    """Their nodes belong to the others only; without any other limit the machine is a pool."""
    how = OnPartitions.from_dict(NODES)
    some = put_on_partitions(jobs(partition=[5] * 4, procs=[1] * 4), how)
    assert some.platform == Partitions(64, {}, {"short": 8}, {"short": 5})
    whole = OnPartitions(regions={"short,long,debug": 64})
    assert put_on_partitions(jobs(), whole).platform == Pool(64)
    assert put_on_partitions(jobs(), whole, {"gpus": 1}).platform == Resources(64, {"gpus": 1})


def test_numbers_are_names_in_a_log_without_names() -> None:
    """As in SWF."""
    some = put_on_partitions(jobs(names={}, procs=[1] * 4), OnPartitions(regions={"5": 8, "7": 9}))
    assert some.platform == Partitions(64, {}, {"5": 8, "7": 9}, {"5": 5, "7": 7})


def window(**amounts: Any) -> dict[str, Any]:
    """Return a window of a minute."""
    return {"from": 0, "until": 60, **amounts}


def test_windows_withhold_nodes_from_all_their_partitions() -> None:
    """By their names, or by processors of their regions."""
    how = OnPartitions.from_dict(NODES | {"windows": [window(nodes="n[02-03],fat", gpus=1)]})
    regions = {"long": 9, "long,short": 2, "short": 2}
    assert how.region_windows == [window(gpus=1, regions=regions)]
    assert OnPartitions.from_dict(how.to_dict()) == how
    some = put_on_partitions(jobs(gpus=[0] * 4), how, {"gpus": 2})
    assert some.platform.to_dict()["configuration"]["windows"] == how.region_windows
    assert isinstance(some.platform, Partitions)
    assert some.platform.names == ("processors", "gpus", "short", "long", "long+short")
    assert some.platform.intervals.amount.tolist() == [[13, 1, 4, 11, 13]]


def test_windows_of_partitions_without_jobs_are_left_out() -> None:
    """Their nodes are those of the others only, and a window of no other node is none."""
    windows = [window(regions={"debug": 3}), window(regions={"debug,short": 2, "short": 1})]
    sizes = {"debug": 8, "debug,short": 8, "short": 9, "long": 39}
    how = OnPartitions.from_dict({"regions": sizes, "windows": windows})
    platform = put_on_partitions(jobs(), how).platform
    assert platform == Partitions(
        64, {}, {"short": 17, "long": 39}, {"short": 5, "long": 7},
        windows=[window(regions={"short": 3})],
    )  # fmt: skip


def test_windows_remain_where_partitions_limit_no_job() -> None:
    """The machine keeps its regions, so that windows change with its size."""
    how = OnPartitions(regions={"short,long": 64}, windows=[window(regions={"long,short": 6})])
    platform = put_on_partitions(jobs(), how).platform
    assert isinstance(platform, Partitions)
    assert (platform.names, platform.intervals.amount.tolist()) == (("processors",), [[6]])
    assert platform.sized(32).intervals.amount.tolist() == [[3]]


@pytest.mark.parametrize(
    ("windows", "expected"),
    [
        # n3 is withheld once from 30 to 60.
        (
            [window(nodes="n[2-3]"), window(nodes="n3") | {"from": 30, "until": 70}],
            [(0, 60, {"a": 8, "a,b": 8}), (60, 70, {"a,b": 8})],
        ),
        # Those that do not overlap stay as they are, however often they are repeated.
        (
            [window(nodes="n2", every=60, times=2), window(nodes="n4")],
            [(0, 60, {"a": 8}), (0, 60, {"b": 8}), (60, 120, {"a": 8})],
        ),
        # The second interval of the first window overlaps the second window.
        (
            [
                window(nodes="n4", every=100, times=2),
                window(nodes="n4") | {"from": 90, "until": 110},
            ],
            [(0, 60, {"b": 8}), (90, 160, {"b": 8})],
        ),
        # The whole machine, with a node that is withheld for longer.
        (
            [window(), window(nodes="n1") | {"from": 30, "until": 90}],
            [(0, 60, {"a": 16, "a,b": 8, "b": 8}), (60, 90, {"a": 8})],
        ),
    ],
)
def test_a_node_is_withheld_once(windows: list[Any], expected: list[Any]) -> None:
    """Windows that name the same nodes at the same time."""
    nodes = {"nodes": {"a": "n[1-3]", "b": "n[3-4]"}, "cpus": 8}
    how = OnPartitions.from_dict({**nodes, "windows": windows})
    machine = Partitions(32, {}, how.sizes, {"a": 1, "b": 2}, windows=how.region_windows)
    assert machine.names == ("processors", "a", "b")
    by_union = [
        (
            begin, end,
            [sum(found.values()), found.get("a", 0) + found.get("a,b", 0),
             found.get("b", 0) + found.get("a,b", 0)],
        )
        for begin, end, found in expected
    ]  # fmt: skip
    rows = zip(*(column.tolist() for column in machine.intervals), strict=True)
    assert sorted(rows) == sorted(by_union)


def test_windows_follow_the_processors_of_nodes() -> None:
    """Options with other processors of each node have the same windows."""
    how = OnPartitions.from_dict(
        {"nodes": {"a": "n[1-2]", "b": "n[2-3]"}, "cpus": 8, "windows": [window(nodes="n2")]}
    )
    again = OnPartitions.from_dict(how.to_dict() | {"cpus": 4})
    assert again.region_windows == [window(regions={"a,b": 4})]


def test_windows_keep_their_part_of_a_larger_machine() -> None:
    """Rounded down, as regions do; one without regions withholds everything."""
    windows = [window(regions={"a": 2, "b": 1}), window() | {"from": 70, "until": 80}]
    machine = Partitions(8, {}, {"a": 4, "b": 4}, {"a": 1, "b": 2}, windows=windows)
    assert machine.sized(12).intervals.amount.tolist() == [[4, 3, 1], [12, 6, 6]]
    assert machine.sized(4).intervals.amount.tolist() == [[1, 1, 0], [4, 2, 2]]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, "give either regions, such as {short = 64"),
        ({"regions": {"a": 1}, "nodes": {"a": "n1"}}, "give either regions"),
        ({"nodes": {"a": "n1"}}, "give cpus, the processors of each node, with nodes only"),
        ({"regions": {"a": 1}, "cpus": 2}, "with nodes only"),
        ({"regions": {"a": 0}}, "partitions: regions: a is 0; give a whole number from 1"),
        ({"regions": [1]}, "partitions: regions is [1]; give a table such as {short = 64"),
        ({"regions": {"a,": 1}}, "regions: 'a,' has an empty name"),
        ({"regions": {"a,b": 1, "b,a": 2}}, "regions lists the same partitions twice"),
        ({"nodes": {"a": "n[2-1]"}, "cpus": 1}, "'2-1' is not a range of numbers"),
        ({"nodes": {"a": 5}, "cpus": 1}, "partitions: nodes: a is 5; give a name"),
        ({"nodes": {"a": "n[1-2]"}, "cpus": {"n1": 1}}, "node 'n2' has no processors in cpus"),
        ({"regions": {"a": 1}, "max_time": {"a": 60}}, "give a duration such as '2h'"),
        ({"regions": {"a": 1}, "max_time": {"b": "2h"}}, "max_time is for 'b'; known: a"),
        ({"regions": {"a": 1}, "max_nodes": {"a": 0}}, "give a whole number from 1"),
        ({"region": {"a": 1}}, "unknown key 'region'; did you mean 'regions'"),
        ({"regions": {"a": 1}, "windows": [window(regions=3)]}, "has regions = 3; give a table"),
        ({"regions": {"a": 1}, "windows": [window(regions={"b": 1})]}, "of 'b'; regions are: 'a'"),
        ({"regions": {"a": 1}, "windows": [window(regions={"a": 2})]}, "at most the machine's 1"),
        (
            {"regions": {"a": 1}, "windows": [window(processors=1)]},
            "windows[0] withholds processors of no region; give a table",
        ),
        (
            {"regions": {"a": 1}, "windows": [window(nodes="n1")]},
            "declared by regions; give regions, a table of",
        ),
        ({"regions": {"a": 1}, "windows": {}}, "windows is {}; give a list of tables"),
        ({"regions": {"a": 1}, "windows": 3}, "windows is 3; give a list of tables"),
        ({"regions": {"a": 1}, "windows": [(1, 2)]}, "windows[0] is (1, 2); give a table"),
        (
            {"regions": {"a": 1}, "windows": [window(regions={"a": "x"})]},
            "'x'; give a whole number",
        ),
        ({"regions": {"a": 1}, "windows": [window(region={"a": 1})]}, "did you mean 'regions'"),
        (NODES | {"windows": [window(nodes="n10")]}, "and no partition has 'n10'"),
        (
            NODES | {"windows": [window(nodes="fat", regions={})]},
            "has nodes and regions; leave one of them out",
        ),
        (
            {"regions": {"a,b": 4}, "windows": [window(regions={"a,b": 1, "b,a": 1})]},
            "windows[0] has region 'a,b' twice; add its processors up",
        ),
    ],
)
def test_wrong_tables_are_refused(given: dict[str, Any], why: str) -> None:
    """In one sentence with the key and the value."""
    with pytest.raises(InputError, match=re.escape(why)):
        OnPartitions.from_dict(given)


@pytest.mark.parametrize(
    ("others", "how", "why"),
    [
        ({"names": {}}, NODES, "3 jobs of 'workload' have the partition '5', which is not declar"),
        ({"partition": [5, 5, 5, -1]}, NODES, "1 job of 'workload' has no partition"),
        ({"nodes": [-1] * 4}, NODES | {"max_nodes": {"long": 3}}, "does not have the nodes of"),
        ({}, {"regions": {"short": 60, "long": 9}}, "regions have 69 processors, and the machine"),
        ({"procs": [9] * 4, "partition": [5] * 4}, NODES, "no job of 'workload' is within"),
        ({}, NODES | {"windows": [window(gpus=1)]}, "gpus = 1, and it is unlimited; give a capac"),
    ],
)
def test_jobs_that_do_not_match_are_refused(
    others: dict[str, Any], how: dict[str, Any], why: str
) -> None:
    """In one sentence."""
    with pytest.raises(InputError, match=re.escape(why)):
        put_on_partitions(jobs(**others), OnPartitions.from_dict(how))


def test_only_a_pool_is_divided() -> None:
    """Other machines have places of their own."""
    some = put_on_partitions(jobs(), OnPartitions.from_dict(NODES))
    with pytest.raises(InputError, match="'partitions' divides a pool"):
        put_on_partitions(some, OnPartitions.from_dict(NODES))
    assert np.array_equal(some.logged_wait, np.full(3, -1))
