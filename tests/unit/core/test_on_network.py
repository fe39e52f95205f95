"""Logs on a network: joined, one a cluster, or one whose jobs say where they come from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from schedfarm.core import InputError, Workload, offered_load, resample_weekly, scale_load
from schedfarm.core.machines.network.platform import Network
from schedfarm.core.machines.nodes.platform import Nodes
from schedfarm.core.models.poisson import poisson
from schedfarm.core.workload.columns import COLUMNS
from schedfarm.core.workload.join import aligned, join
from schedfarm.core.workload.on_network import OnNetwork, join_logs, put_on_network
from schedfarm.core.workload.resample_users import resample_users
from schedfarm.core.workload.resample_weeks import WEEK, whole_weeks

SIZES = (64, 32, 48)
WEEKS = (5, 3, 4)
NAMES = ("north", "south", "west")


def log(place: int) -> Workload:
    """Jobs of eight users and three groups, some unknown, from an instant of its own on."""
    w = poisson(SIZES[place], weeks=WEEKS[place], seed=place, per_week=200, users=8, most=20)
    return w.take(
        slice(None),
        submit=w.submit + 1_000 * place,
        user=np.where(w.user == 8, -1, w.user),
        group=w.user % 4 - 1,
        dropped={"no run": place},
        unasked=(place, len(w)),
        epoch=7,
        names={"user": {1: f"ann{place}"}},
    )


LOGS = [log(place) for place in range(3)]
JOINED = join_logs(LOGS, NAMES, OnNetwork(links=9_000, computation=[0.7, 0.4, 1]))


def test_each_log_is_a_cluster() -> None:
    """Sizes, names and links; the k-th job of a cluster is that of its log, but for numbers."""
    assert JOINED.platform == Network(SIZES, NAMES, [9_000] * 3)
    assert JOINED.name == "north+south+west"
    assert JOINED.max_estimate == max(w.max_estimate for w in LOGS)
    assert JOINED.epoch == -1
    changed = {"submit", "user", "group", "job", "origin", "communication", "bandwidth", "alltoall"}
    for place, whole in enumerate(LOGS):
        own = JOINED.take(JOINED.origin == place)
        first = whole.take(slice(0, len(own)))
        assert np.array_equal(own.submit, first.submit - first.submit[0])
        for name in COLUMNS.keys() - changed:
            assert np.array_equal(getattr(own, name), getattr(first, name)), name
        assert np.array_equal(own.job, first.job * 3 + place)
        for name in ("user", "group"):
            values = getattr(first, name)
            there = np.where(values < 0, -1, values * 3 + place)
            assert np.array_equal(getattr(own, name), there)
    keys = list(zip(JOINED.submit.tolist(), JOINED.origin.tolist(), strict=True))
    assert keys == sorted(keys)


def test_users_are_their_logs_own() -> None:
    """No number is that of two logs, and names say which log they are of."""
    known = [set(JOINED.user[(JOINED.origin == c) & (JOINED.user >= 0)].tolist()) for c in range(3)]
    assert all(known)
    assert len(known[0] | known[1] | known[2]) == sum(map(len, known))
    assert JOINED.names == {"user": {3: "north/ann0", 4: "south/ann1", 5: "west/ann2"}}


def test_all_are_cut_to_the_whole_weeks_of_the_shortest() -> None:
    """Three weeks: what comes later is counted, and with what is left adds up to the logs."""
    assert [whole_weeks(w.submit) for w in LOGS] == list(WEEKS)
    assert whole_weeks(JOINED.submit) == 3
    assert JOINED.submit[-1] < 3 * WEEK
    assert [part.submit[0] for part in aligned(LOGS)] == [0, 0, 0]
    late = sum(np.count_nonzero(w.submit - w.submit[0] >= 3 * WEEK) for w in LOGS)
    assert JOINED.dropped == {"no run": 3, "outside weeks": late}
    assert len(JOINED) + late == sum(map(len, LOGS))
    assert JOINED.unasked == (3, sum(map(len, LOGS)))


def test_jobs_ask_what_their_cluster_says() -> None:
    """K by cluster, the rest by default."""
    for place, communication in enumerate((300, 600, 0)):
        own = JOINED.take(JOINED.origin == place)
        assert set(own.communication.tolist()) == {communication}
        assert set(own.bandwidth.tolist()) == {50_000}
        assert set(own.alltoall.tolist()) == {500}


@pytest.mark.parametrize("draw", ["replace", "permute", "users"])
def test_drawn_jobs_stay_with_their_cluster(draw: str) -> None:
    """A resample keeps origin and communication of each job, and the span."""
    if draw == "users":
        some = resample_users(JOINED, seed=1, index=1)
    else:
        some = resample_weekly(JOINED, seed=1, index=1, draw=draw)
    assert some.platform == JOINED.platform
    assert np.array_equal(some.job % 3, some.origin)
    origin = dict(zip(JOINED.job.tolist(), JOINED.communication.tolist(), strict=True))
    assert [origin[job] for job in some.job.tolist()] == some.communication.tolist()
    assert set(some.origin.tolist()) == {0, 1, 2}
    if draw == "permute":
        assert np.array_equal(np.sort(some.job), JOINED.job[np.argsort(JOINED.job)])


def test_a_load_scales_all_clusters_alike() -> None:
    """The load is that of all processors; each run time by the same factor."""
    at = scale_load(JOINED, 2 * offered_load(JOINED))
    assert np.abs(at.run - 2 * JOINED.run).max() <= 1
    assert np.array_equal(at.origin, JOINED.origin)


def test_one_log_is_a_network_of_one() -> None:
    """Numbers stay as they are."""
    one = join_logs(LOGS[:1], ["north"], OnNetwork())
    assert np.array_equal(one.job, LOGS[0].job)
    assert np.array_equal(one.user, LOGS[0].user)
    assert one.platform == Network([64], ["north"])


def test_joining_is_exact_about_numbers() -> None:
    """Numbers too large to be told apart are refused, not wrapped."""
    parts = [LOGS[0].take(slice(0, 1), user=np.array([2**61])), LOGS[1].take(slice(0, 1))]
    with pytest.raises(InputError, match="user 2305843009213693952 is too large to be"):
        join(parts, Network([64, 32], ["a", "b"]), "big")
    with pytest.raises(InputError, match="2 workloads for 1 clusters; give one for each"):
        join(parts, Network([64], ["a"]), "big")


def partitioned(**given: Any) -> Workload:
    return Workload.from_columns(
        submit=[0, 1, 2, 3],
        run=[5] * 4,
        estimate=[5] * 4,
        procs=[1, 2, 3, 90],
        partition=[1, 2, 1, 7],
        names={"partition": {1: "cpu", 2: "gpu"}},
        platform=Network([64, 32], ["gpu", "cpu"], [5, 5]),
        **given,
    )


def test_partitions_are_clusters() -> None:
    """By name, else by number; jobs of others are dropped and counted."""
    w = put_on_network(partitioned(dropped={"no run": 1}), OnNetwork(origin="partition"))
    assert w.origin.tolist() == [1, 0, 1]
    assert w.dropped == {"no run": 1, "of no cluster": 1}
    seven = partitioned().take(slice(None), platform=Network([64, 32], ["7", "gpu"]))
    w = put_on_network(seven, OnNetwork(origin="partition", bandwidth=[1, 2]))
    assert w.origin.tolist() == [1, 0]
    assert w.bandwidth.tolist() == [2, 1]
    everything = put_on_network(partitioned(), OnNetwork(computation=1))
    assert everything.origin.tolist() == [0] * 4
    assert everything.communication.tolist() == [0] * 4


def test_partitions_that_are_no_clusters_are_refused() -> None:
    """With those of the log and of the network."""
    with pytest.raises(InputError) as error:
        put_on_network(partitioned(), OnNetwork(origin="queue"))
    assert "has a queue that is a cluster; its jobs have -1, and the clusters are gpu, cpu" in str(
        error.value
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"computation": 1.2}, "network: computation is 1.2; give a part, from 0 to 1"),
        ({"computation": [0.7, -1]}, "network: computation is -1; give a part, from 0 to 1"),
        ({"alltoall": "all"}, "network: alltoall is 'all'; give a part, from 0 to 1"),
        ({"bandwidth": 0.5}, "network: bandwidth=0.5: give a whole number, at least 0"),
        ({"origin": "site"}, "network: origin is 'site'; known: partition, queue, group"),
        ({"origin": 0}, "network: origin is 0; known: partition, queue, group"),
        ({"origin": False}, "network: origin is False; known: partition, queue, group"),
        ({"origin": []}, "network: origin is []; known: partition, queue, group"),
        ({"bandwith": 5}, "network: unknown key 'bandwith'; did you mean 'bandwidth'?"),
    ],
)
def test_bad_options_are_refused(given: dict[str, Any], said: str) -> None:
    """Before any log is read."""
    with pytest.raises(InputError) as error:
        OnNetwork.from_dict(given)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"links": 0}, "network: links holds 0; a link has at least 1 kbit/s; leave out unlimited"),
        ({"links": [5, 5]}, "network: links holds 2; give 3, one per cluster"),
        ({"links": "fast"}, "network: links is 'fast'"),
        ({"links": 1.5}, "network: links holds 1.5; a link has at least 1 kbit/s"),
        ({"origin": "partition"}, "network: each log is a cluster; leave 'origin' out"),
        ({"bandwidth": [1, 2]}, "network: bandwidth=[1, 2]: give one number, or 3, one for each"),
    ],
)
def test_what_does_not_fit_the_clusters_is_refused(given: dict[str, Any], said: str) -> None:
    """Links of no capacity, and lists of another length."""
    with pytest.raises(InputError) as error:
        join_logs(LOGS, NAMES, OnNetwork(**given))
    assert str(error.value).startswith(said)


@pytest.mark.parametrize(
    ("own", "origin"),
    [("communication", ""), ("bandwidth", ""), ("alltoall", ""), ("origin", "partition")],
)
def test_what_jobs_say_themselves_is_not_replaced(own: str, origin: str) -> None:
    """A column that anybody filled is not lost to one number for all."""
    w = partitioned().take(slice(None), **{own: np.array([0, 0, 1, 0])})
    said = rf"the jobs of log 'workload' have their own {own}; leave 'network' out"
    with pytest.raises(InputError, match=said):
        put_on_network(w, OnNetwork(origin=origin))


def test_jobs_may_have_come_from_somewhere_already() -> None:
    """Where nothing is to say it, it stays."""
    w = partitioned().take(slice(None), origin=np.array([0, 1, 1, 0]))
    assert put_on_network(w, OnNetwork()).origin.tolist() == [0, 1, 1, 0]


def test_logs_of_nodes_are_not_joined() -> None:
    """What they ask for would be lost."""
    nodes = Workload.from_columns(
        submit=[0], run=[1], estimate=[1], procs=[1], platform=Nodes([2], ["n1"])
    )
    with pytest.raises(InputError, match="is of a machine of nodes; logs of pools can be joined"):
        join_logs([nodes], ["n"], OnNetwork())


def test_options_come_back_from_plain_values() -> None:
    """All of them, lists as lists."""
    how = OnNetwork(links=[1, 2], computation=0.5, bandwidth=(3, 4), origin="group")
    assert OnNetwork.from_dict(how.to_dict()) == how
    assert how.to_dict()["bandwidth"] == [3, 4]
