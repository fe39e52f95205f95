"""Logs of jobs on clusters: CSV with the clusters' TOML beside it, jobs and schedules."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from schedfarm.core import InputError, Pool, Schedule, Workload, read_log
from schedfarm.core.audit import read_schedule
from schedfarm.core.logs.clusters import clusters_bytes, write_clusters
from schedfarm.core.logs.machine import machine_file
from schedfarm.core.logs.read import format_of
from schedfarm.core.machines.network.platform import Network
from schedfarm.core.models.participants import participants
from schedfarm.core.schedule import Segments, State

MACHINE = """
max_estimate = 90000

[[clusters]]
name = "north"
processors = 8
link = 1000

[[clusters]]
name = "south"
processors = 4
link = 2000
"""

JOBS = """job,submit,run,estimate,procs,origin,communication,bandwidth,alltoall,user
1,0,1200,3600,8,north,0.3,100,0.5,ann
2,60,700,600,3,south,,,,bob
4,30,900,,12,south,1,7,1.000,ann
7,90,0,0,1,north,.125,0,0,
"""


def files(folder: Path, jobs: str = JOBS, machine: str | None = MACHINE) -> Path:
    """Write a log and its clusters, and return the log's path."""
    path = folder / "site.csv"
    path.write_text(jobs)
    if machine is not None:
        (folder / "site.toml").write_text(machine)
    return path


def test_what_a_row_becomes(tmp_path: Path) -> None:
    """Sorted by submission; nothing said is nothing asked, and a run time its own estimate."""
    path = files(tmp_path)
    assert format_of(path) == "clusters"
    w = read_log(path)
    assert (w.name, w.max_estimate, w.epoch) == ("site", 90_000, -1)
    assert w.platform == Network([8, 4], ["north", "south"], [1000, 2000])
    assert w.job.tolist() == [1, 4, 2, 7]
    assert w.procs.tolist() == [8, 12, 3, 1]
    assert w.origin.tolist() == [0, 1, 1, 0]
    assert w.estimate.tolist() == [3600, 900, 600, 0]
    assert w.run.tolist() == [1200, 900, 600, 0]
    assert w.killed.tolist() == [False, False, True, False]
    assert w.communication.tolist() == [300, 1000, 0, 125]
    assert w.bandwidth.tolist() == [100, 7, 0, 0]
    assert w.alltoall.tolist() == [500, 1000, 0, 0]
    assert w.user.tolist() == [1, 1, 2, -1]
    assert w.names == {"user": {1: "ann", 2: "bob"}}


def test_few_columns_are_enough(tmp_path: Path) -> None:
    """In any order and case, jobs numbered by their place; links may be left out."""
    text = "Origin, Procs,run,submit\n\na,2,5,9\na,1,5,7\n"
    path = files(tmp_path, text, '[[clusters]]\nname = "a"\nprocessors = 2\n')
    w = read_log(path)
    assert w.job.tolist() == [2, 1]
    assert w.platform == Network([2], ["a"])
    packed = tmp_path / "site.csv.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    assert read_log(packed).digest() == w.digest()


def test_a_network_stands_for_the_one_beside(tmp_path: Path) -> None:
    """Names of clusters are then looked up in it; a pool takes the processors alone."""
    path = files(tmp_path, machine=None)
    other = Network([12, 1], ["south", "north"])
    w = read_log(path, platform=other)
    assert w.platform == other
    assert w.origin.tolist() == [1, 0, 0, 1]
    with pytest.raises(InputError, match="cannot read the machine's clusters"):
        read_log(path, platform=Pool(12))


def test_what_cannot_run_is_dropped_and_counted(tmp_path: Path) -> None:
    """A job that is wider than all clusters together."""
    w = read_log(files(tmp_path, JOBS + "8,99,5,5,13,north,,,,\n"))
    assert dict(w.dropped) == {"too wide": 1}


BAD_JOBS = {
    "8,99,5,5,1,nroth,,,,": "line 6: origin is 'nroth', and there is no such cluster; did you mean "
    "'north'? known: north, south",
    "8,99,5,5,1,,,,,": "line 6: origin is '', and there is no such cluster; known: north, south",
    "8,99,5,5,1,north,1.5,,,": "line 6: communication is '1.5'; give a share from 0 to 1 of at "
    "most 3 decimals, or nothing for none",
    "8,99,5,5,1,north,-0.1,,,": "line 6: communication is '-0.1'; give a share from 0 to 1",
    "8,99,5,5,1,north,0.1234,,,": "line 6: communication is '0.1234'; give a share from 0 to 1",
    "8,99,5,5,1,north,,,2,": "line 6: alltoall is '2'; give a share from 0 to 1",
    "8,99,5,5,1,north,,-1,,": "line 6: bandwidth is '-1'; give a whole number, at least 0",
    "8,99,5,5,0,north,,,,": "line 6: procs is '0'; give a whole number, at least 1",
    "8,99,5,5,1,north,,": "line 6: the row has 8 fields, and the header has 10 columns",
    f"8,99,5,5,12,north,,{2**50},,": "it must be below 2^51 kbit/s / procs^2",
    "8,99,5,4294967296,1,north,,,,": "it must be below 2^32 s on a network",
    "1,0,5,5,1,north,,,,ann": "job 1 of user 1, submitted at 0 s, is in two rows",
}


@pytest.mark.parametrize("row", BAD_JOBS)
def test_a_row_that_is_malformed_is_refused(tmp_path: Path, row: str) -> None:
    """One sentence with the file, the value, and what would be right."""
    with pytest.raises(InputError) as caught:
        read_log(files(tmp_path, JOBS + row + "\n"))
    said = str(caught.value)
    assert BAD_JOBS[row] in said
    assert str(tmp_path / "site.csv") in said
    assert "\n" not in said


CLUSTER = '[[clusters]]\nname = "{}"\nprocessors = {}\n'

BAD_MACHINES = {
    "": "clusters is None; give [[clusters]] with name = 'north'",
    "clusters = 5": "clusters is 5; give [[clusters]]",
    "speed = 5": "the file has the unknown key 'speed'; known: epoch, max_estimate, clusters",
    CLUSTER.format("a b", 5): "[[clusters]] 1: name is 'a b'; give a name without blanks",
    CLUSTER.format("a", 0): "[[clusters]] 1: processors=0: give a whole number, at least 1",
    CLUSTER.format("a", 5) + "link = 0": "[[clusters]] 1: link=0: give a whole number, at least 1",
    CLUSTER.format("a", 5) + "links = 5": "[[clusters]] 1 has the unknown key 'links'; did you",
    CLUSTER.format("a", 5) + "link = 5\n" + CLUSTER.format("b", 5): "[[clusters]] 2 has no link, "
    "and 1 others have one; give all of them one, or none",
    CLUSTER.format("a", 5) + CLUSTER.format("a", 5): "names holds 'a' twice",
    "[[clusters]]\nprocessors = 5": "[[clusters]] 1: name is None",
    "not toml": "not TOML",
}


@pytest.mark.parametrize("machine", BAD_MACHINES)
def test_a_machine_that_is_malformed_is_refused(tmp_path: Path, machine: str) -> None:
    """One sentence with the file."""
    with pytest.raises(InputError) as caught:
        read_log(files(tmp_path, machine=machine))
    said = str(caught.value)
    assert BAD_MACHINES[machine] in said
    assert str(tmp_path / "site.toml") in said
    assert "\n" not in said


def test_what_does_not_go_with_clusters_is_refused(tmp_path: Path) -> None:
    """A size of a pool, and a file that lacks a column."""
    with pytest.raises(InputError, match="processors=5 is the size of a pool, and this log is of"):
        read_log(files(tmp_path), processors=5)
    with pytest.raises(InputError, match="there is no column 'run'; a log of jobs on clusters has"):
        read_log(files(tmp_path, "submit,procs,origin\n0,1,north\n"))
    w = Workload.from_columns(submit=[0], run=[1], estimate=[1], procs=[1], processors=1)
    with pytest.raises(InputError, match="of kind 'pool'; this format is for jobs on a platform"):
        write_clusters(w, tmp_path / "pool.csv")
    with pytest.raises(InputError, match="the name of a cluster is 'a b'"):
        write_clusters(w.take(slice(None), platform=Network([4], ["a b"])), tmp_path / "a.csv")


@pytest.mark.parametrize("links", [(), (5, 6, 7)])
def test_written_and_read_again_is_the_same(tmp_path: Path, links: tuple[int, ...]) -> None:
    """Jobs, clusters and limits of any workload; the same jobs give the same bytes."""
    network = Network([60, 50, 40], ["a", "b", "c"], links)
    w = participants(network, jobs=200, seed=4, computation=[0.7, 0.123, 1], max_estimate=3_600)
    assert w.killed.any()
    path = tmp_path / "drawn.csv"
    write_clusters(w, path, notes={"Source": "a test"})
    again = read_log(path)
    assert again.digest() == w.digest()
    assert again.platform == w.platform
    assert again.killed.tolist() == w.killed.tolist()
    assert clusters_bytes(again) == clusters_bytes(w)
    assert machine_file(path).read_text().startswith("# Source: a test\nmax_estimate = 3600\n")


def scheduled(w: Workload) -> Schedule:
    """Return a made-up schedule in which the second job is co-allocated and slides."""
    n = len(w)
    start = w.submit + 10
    end = start + w.run
    end[1] += 7
    job, place = np.array([0, 1, 1, 2, 3]), np.array([0, 0, 1, 1, 0])
    parts = Segments(job, place, np.array([8, 8, 4, 3, 1]))
    state = np.where(w.killed, State.KILLED, State.DONE).astype(np.int8)
    return Schedule(w, "made", start, np.zeros(n, np.bool_), end=end, state=state, segments=parts)


def test_a_schedule_comes_back(tmp_path: Path) -> None:
    """Starts, ends that slid, and the processors of each job on each cluster."""
    w = read_log(files(tmp_path))
    schedule = scheduled(w)
    path = tmp_path / "done.csv"
    write_clusters(w, path, schedule)
    found = read_schedule(path)
    assert found.workload.digest() == w.digest()
    assert found.segments is not None
    assert schedule.segments is not None
    for name in ("start", "end", "state"):
        assert getattr(found, name).tolist() == getattr(schedule, name).tolist()
    for name in ("job", "place", "procs"):
        assert getattr(found.segments, name).tolist() == getattr(schedule.segments, name).tolist()
    assert "north*8 south*4" in path.read_text()


@pytest.mark.parametrize(
    ("was", "now", "said"),
    [
        ("south*4", "east*4", "names the cluster 'east'; known: north, south"),
        ("south*4", "south*x", "holds 'south*x'; give CLUSTER or CLUSTER*PROCESSORS"),
        ("done", "gone", "state is 'gone'; did you mean 'done'?"),
        (",on\n", ",job\n", "occurs twice"),
    ],
)
def test_a_malformed_schedule_is_refused(tmp_path: Path, was: str, now: str, said: str) -> None:
    """With the line, the value and what would be right."""
    w = read_log(files(tmp_path))
    path = tmp_path / "done.csv"
    write_clusters(w, path, scheduled(w))
    path.write_text(path.read_text().replace(was, now, 1))
    with pytest.raises(InputError) as caught:
        read_schedule(path)
    assert said in str(caught.value)


def test_a_log_is_no_schedule(tmp_path: Path) -> None:
    """What is missing is named."""
    with pytest.raises(InputError, match="has no column 'start'; a schedule on clusters has start"):
        read_schedule(files(tmp_path))
