"""Logs of jobs on nodes: CSV with the machine's TOML beside it, jobs and schedules."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path
from string import digits

import numpy as np
import pytest
from hypothesis import given, strategies as st

from schedfarm.core import Clean, InputError, Schedule, Workload, read_log
from schedfarm.core.audit import read_schedule
from schedfarm.core.folded import folded, unfolded
from schedfarm.core.logs.machine import machine_file
from schedfarm.core.logs.oar import REASONS, oar_bytes, write_oar
from schedfarm.core.machines.nodes.platform import Nodes
from schedfarm.core.schedule import Segments, State
from schedfarm.core.workload.load import scale_arrivals, scale_load
from schedfarm.core.workload.resample_blocks import resample_blocks
from schedfarm.core.workload.resample_users import resample_users
from schedfarm.core.workload.resample_weeks import resample_weekly

MACHINE = """
epoch = 1130000000
max_walltime = 90000

[[nodes]]
names = "ita[01-06]"
capacity = 2

[[nodes]]
names = ["fat1", "fat2"]
capacity = 8

[sets]
fast = ["ita[01-02]", "fat1"]
fat = "fat[1-2]"

[[down]]
names = "ita[03-04]"
from = 600
until = 900
"""

JOBS = """job,submit,nodes,weight,walltime,run,properties,reserved,serial,user
1,0,2,2,3600,1200,,,,ann
2,60,3,1,600,700,fast,,,bob
4,30,1,8,900,900,fat,5000,,ann
7,90,2,2,600,100,,,0.05,
"""


def files(folder: Path, jobs: str = JOBS, machine: str | None = MACHINE) -> Path:
    """Write a log and its machine, and return the log's path."""
    path = folder / "site.csv"
    path.write_text(jobs)
    if machine is not None:
        (folder / "site.toml").write_text(machine)
    return path


def test_what_a_row_becomes(tmp_path: Path) -> None:
    """Sorted by submission; nothing said is what nobody asks for."""
    w = read_log(files(tmp_path))
    assert (w.name, w.epoch, w.max_estimate) == ("site", 1_130_000_000, 90_000)
    assert w.job.tolist() == [1, 4, 2, 7]
    assert w.procs.tolist() == [4, 8, 3, 4]
    assert w.weight.tolist() == [2, 8, 1, 2]
    assert w.nodes.tolist() == [2, 1, 3, 2]
    assert w.estimate.tolist() == [3600, 900, 600, 600]
    assert (w.run.tolist(), w.killed.tolist()) == (
        [1200, 900, 600, 100],
        [False, False, True, False],
    )
    assert w.properties.tolist() == [-1, 1, 0, -1]
    assert w.reserved.tolist() == [-1, 4970, -1, -1]
    assert w.serial.tolist() == [-1, -1, -1, 50_000]
    assert w.user.tolist() == [1, 1, 2, -1]
    assert w.names == {"user": {1: "ann", 2: "bob"}}
    assert w.platform == Nodes(
        [2] * 6 + [8] * 2,
        [*(f"ita0{k}" for k in range(1, 7)), "fat1", "fat2"],
        {"fast": ["ita01", "ita02", "fat1"], "fat": ["fat1", "fat2"]},
        [["ita03", 600, 900], ["ita04", 600, 900]],
    )


def test_few_columns_are_enough(tmp_path: Path) -> None:
    """In any order, any case; blank lines are passed over, and the file may be packed."""
    text = "Run, walltime,nodes,job,submit\n\n5,9,2,1,0\n"
    w = read_log(files(tmp_path, text, '[[nodes]]\nnames = "n[1-2]"\ncapacity = 1\n'))
    assert (w.run.tolist(), w.procs.tolist(), w.user.tolist()) == ([5], [2], [-1])
    packed = tmp_path / "site.csv.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    assert read_log(packed).digest() == w.digest()


def test_what_cannot_run_is_dropped_and_counted(tmp_path: Path) -> None:
    """On the idle machine, by the first of its reasons."""
    more = "8,99,3,2,9,9,fat,,,\n9,99,1,9,9,9,,,,\n10,99,1,3,9,9,fast,,,\n11,99,9,1,9,9,,,,\n"
    w = read_log(files(tmp_path, JOBS + more))
    assert dict(w.dropped) == {"too heavy": 1, "too few nodes": 2}
    assert set(w.dropped) == set(REASONS)
    assert w.job.tolist() == [1, 4, 2, 7, 10]
    with pytest.raises(InputError, match="no job is left to simulate; rows dropped: 1 too heavy"):
        read_log(files(tmp_path, JOBS.splitlines()[0] + "\n9,99,1,9,9,9,,,,\n"))


BAD_JOBS = {
    "7,90,2,2,600,100,,,0.05": "line 5: the row has 9 fields, and the header has 10 columns",
    "7,90,2,2,600,100,fst,,,": "line 5: properties is 'fst', and the machine has no such set; did "
    "you mean 'fast'? known: fast, fat, nothing for any node",
    "7,90,2,2,600,100,,80,,": "line 5: reserved is 80, before the submit 90; give an instant from",
    "7,90,-2,2,600,100,,,,": "line 5: nodes is '-2'; give a whole number, at least 1",
    "7,90,2,0,600,100,,,,": "line 5: weight is '0'; give a whole number, at least 1",
    "7,90,2,2.5,600,100,,,,": "line 5: weight is '2.5'; give a whole number",
    "7,90,2,2,0,100,,,,": "line 5: walltime is '0'; give a whole number, at least 1",
    "7,90,2,2,600,-1,,,,": "line 5: run is '-1'; give a whole number, at least 0",
    "7,,2,2,600,1,,,,": "line 5: submit is ''; give a whole number, at least 0",
    f"7,90,{10**12},2,600,1,,,,": "nodes is '1000000000000'; give a whole number, at least 1 and",
    f"7,{10**30},2,2,600,1,,,,": "line 5: submit is '1000000000000000000000000000000'; give",
    f"7,{10**18 - 1},2,2,{10**18 - 1},1,,,,": "check the units of its times",
    "7,90,2,2,600,100,,soon,,": "line 5: reserved is 'soon'; give a whole number, at least 0 and",
    "7,90,2,2,600,100,,,1.5,": "line 5: serial is '1.5'; give a share from 0 to 1",
    "1,0,2,2,600,100,,,,ann": "job 1 of user 1, submitted at 0 s, is in two rows",
}


@pytest.mark.parametrize("row", BAD_JOBS)
def test_a_row_that_is_malformed_is_refused(tmp_path: Path, row: str) -> None:
    """One sentence with the file, the line, the column, its value, and what would be right."""
    text = "".join(JOBS.splitlines(keepends=True)[:4]) + row + "\n"
    with pytest.raises(InputError) as caught:
        read_log(files(tmp_path, text))
    said = str(caught.value)
    assert BAD_JOBS[row] in said
    assert str(tmp_path / "site.csv") in said
    assert "\n" not in said


BAD_HEADERS = {
    "job,submit,nodes,walltime\n": "there is no column 'run'; a log of jobs on nodes has job, ",
    "job,submit,nodes,walltime,run,wieght\n": "unknown column 'wieght'; did you mean 'weight'?",
    "job,submit,nodes,walltime,run,run\n": "column 'run' occurs twice; give it once",
}


@pytest.mark.parametrize("header", BAD_HEADERS)
def test_a_header_that_is_wrong_is_refused(tmp_path: Path, header: str) -> None:
    """Each of its faults in one sentence."""
    with pytest.raises(InputError) as caught:
        read_log(files(tmp_path, header + "1,2,3,4,5,6\n"))
    assert f"site.csv, line 1: {BAD_HEADERS[header]}" in str(caught.value)
    with pytest.raises(InputError, match="site.csv holds no job; a log has a header and a row"):
        read_log(files(tmp_path, header))


NODES = '[[nodes]]\nnames = "n[1-3]"\ncapacity = 2\n'

BAD_MACHINES = {
    "names = [": "not TOML (",
    "": "nodes is None; give [[nodes]] with names = 'ita[001-104]' and capacity = 2",
    "[[nodes]]\nnames = 'n[3-1]'\ncapacity = 2": "'3-1' is not a range of numbers, such as 001-104",
    "[[nodes]]\nnames = 'n[1-999999999]'\ncapacity = 2": "'1-999999999' is not a range of numbers",
    "[[nodes]]\nnames = 'a b'\ncapacity = 2": "[[nodes]] 1: names is 'a b'; give a name without",
    "[[nodes]]\nnames = 'n1'\ncapacity = 0": "[[nodes]] 1: capacity=0: give a whole number, at",
    "[[nodes]]\nnames = 'n1'\ncapacity = 3000000000": "capacities holds 3000000000; a node has at",
    "[[nodes]]\nname = 'n1'\ncapacity = 2": "[[nodes]] 1 has the unknown key 'name'; did you mean "
    "'names'?",
    "nodes = 3": "nodes is 3; give [[nodes]]",
    f"{NODES}[[nodes]]\nnames = 'n2'\ncapacity = 2": "names holds 'n2' twice; node names must",
    f"{NODES}[sets]\nfast = ['n4']": "set 'fast' names the node 'n4'; known: n1, n2",
    f"{NODES}[sets]\nfast = []": "set 'fast' is []; give names such as 'ita[001-104]', or a list",
    f"{NODES}[set]\nfast = ['n1']": "the file has the unknown key 'set'; did you mean 'sets'?",
    f"{NODES}[[down]]\nnames = 'n9'\nfrom = 1\nuntil = 2": "down names the node 'n9'",
    f"{NODES}[[down]]\nnames = 'n1'\nfrom = 5\nuntil = 2": "down has node 'n1' from 5 until 2",
    f"{NODES}[[down]]\nnames = 'n1'\nfrom = 5": "[[down]] 1: until=None: give a whole number",
    f"{NODES}[[down]]\nnames = 'n1'\nfrom = 1\nuntil = 9\n[[down]]\nnames = 'n[1-2]'\nfrom = 8\n"
    "until = 10": "down has node 'n1' from 8, but it is down until 9; give times that do not",
    f"epoch = -3\n{NODES}": "epoch=-3: give a whole number, at least 0",
}


@pytest.mark.parametrize("machine", BAD_MACHINES)
def test_a_machine_that_is_wrong_is_refused(tmp_path: Path, machine: str) -> None:
    """One sentence with the file, the key, its value, and what would be right."""
    with pytest.raises(InputError) as caught:
        read_log(files(tmp_path, machine=machine))
    said = str(caught.value)
    assert said.startswith(f"{tmp_path / 'site.toml'}: ")
    assert BAD_MACHINES[machine] in said
    assert "\n" not in said


def test_the_machine_is_beside_the_log_or_given(tmp_path: Path) -> None:
    """Without either there is none, and a size is none."""
    path = files(tmp_path, machine=None)
    with pytest.raises(InputError, match=r"site.toml: cannot read the machine's nodes \(No such"):
        read_log(path)
    with pytest.raises(InputError, match="processors=64 is the size of a pool, and this log is of"):
        read_log(path, processors=64)
    # Sets go by their names.
    given = Nodes([8, 8, 8], ["a", "b", "c"], {"fat": ["c"], "fast": ["a", "b", "c"]})
    w = read_log(path, platform=given)
    assert w.platform == given
    assert w.properties.tolist() == [-1, 0, 1, -1]


def test_rows_jobs_and_cleaning_are_those_of_every_log(tmp_path: Path) -> None:
    """As of SWF."""
    path = files(tmp_path)
    assert read_log(path, rows=(1, 3)).job.tolist() == [4, 2]
    assert read_log(path, jobs=2).job.tolist() == [1, 4]
    assert read_log(path, clean=Clean(kill=False)).run.tolist() == [1200, 900, 700, 100]


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    """An equal workload, by equal bytes."""
    w = read_log(files(tmp_path))
    write_oar(w, tmp_path / "again.csv", notes={"Source": "a\ntest"})
    again = read_log(tmp_path / "again.csv")
    assert again.digest() == w.digest()
    assert (again.platform, again.epoch, again.names) == (w.platform, w.epoch, w.names)
    assert oar_bytes(again) == oar_bytes(w)
    assert machine_file(tmp_path / "again.csv").read_text().startswith("# Source: a test\nepoch =")
    with pytest.raises(InputError, match="of kind 'pool'; this format is for jobs on a platform"):
        write_oar(three_in_a_pool(), tmp_path / "pool.csv")
    with pytest.raises(InputError, match=r"cannot write the log \(No such file or directory\)"):
        write_oar(w, tmp_path / "nowhere" / "again.csv")
    with pytest.raises(InputError, match="the name of a node is 'a node'; give a name without"):
        write_oar(w.take(slice(0, 0), platform=Nodes([1], ["a node"])), tmp_path / "x.csv")


def three_in_a_pool() -> Workload:
    """Jobs that ask for no nodes."""
    return Workload.from_columns(submit=[0], run=[1], estimate=[1], procs=[1], processors=1)


letters = st.text("abc", max_size=2)
names_of_nodes = st.lists(
    st.builds(
        "{}{}{}".format, letters, st.text(digits, max_size=2), st.text("abc", max_size=1)
    ).filter(bool),
    unique=True,
    max_size=30,
)


@given(names_of_nodes)
def test_folded_names_stand_for_themselves(names: list[str]) -> None:
    """In their order, whatever zeros they have."""
    texts = folded(names)
    assert [name for text in texts for name in unfolded(text, "names")] == names
    assert len(texts) <= len(names)


def test_many_names_are_one() -> None:
    """As clusters write them."""
    assert folded([f"ita{k:03d}" for k in range(1, 105)]) == ["ita[001-104]"]


def a_schedule(w: Workload) -> Schedule:
    """One done, one refused, one killed, one cut off when its node went down."""
    return Schedule(
        w,
        "fcfs+conservative",
        np.array([0, -1, 100, 500]),
        np.zeros(4, np.bool_),
        end=np.array([1200, -1, 700, 600]),
        state=np.array([State.DONE, State.REFUSED, State.KILLED, State.LOST], np.int8),
        segments=Segments(
            np.array([0, 0, 2, 2, 2, 3, 3]),
            np.array([0, 1, 0, 1, 6, 2, 3]),
            np.array([2, 2, 1, 1, 1, 2, 2]),
        ),
    )


def test_a_schedule_is_written_and_read_again(tmp_path: Path) -> None:
    """With its ends and states, and the nodes of each job."""
    w = read_log(files(tmp_path))
    s = a_schedule(w)
    write_oar(w, tmp_path / "s.csv", s)
    found = read_schedule(tmp_path / "s.csv")
    assert found.workload.digest() == w.digest()
    assert found.start.tolist() == s.start.tolist()
    assert found.end.tolist() == s.end.tolist()
    assert found.state.tolist() == s.state.tolist()
    assert found.overrun.tolist() == [0, 0, 0, 0]
    assert found.segments is not None
    assert s.segments is not None
    for name in ("job", "place", "procs"):
        assert getattr(found.segments, name).tolist() == getattr(s.segments, name).tolist()
    # The log in it says what the jobs waited.
    assert read_log(tmp_path / "s.csv").logged_wait.tolist() == [0, -1, 40, 410]
    other = replace(s, workload=w.take(slice(None), run=w.run // 2, killed=np.zeros(4, np.bool_)))
    with pytest.raises(InputError, match="the schedule is of other jobs"):
        write_oar(w, tmp_path / "s.csv", other)


BAD_SCHEDULES = {
    ("done", "finished"): "line 2: state is 'finished'; known: done, killed, refused, lost",
    (",0,1200,done", ",0,,done"): "line 2: a job that is done has a start and an end; give both",
    ("ita01*2", "ita1*2"): "line 2: on names the node 'ita1'; did you mean",
    ("ita01*2", "ita01*x"): "line 2: on holds 'ita01*x'; give NODE or NODE*PROCESSORS",
    (",state,", ",stete,"): "line 1: unknown column 'stete'; did you mean 'state'?",
}


@pytest.mark.parametrize("change", BAD_SCHEDULES)
def test_a_schedule_that_is_malformed_is_refused(tmp_path: Path, change: tuple[str, str]) -> None:
    """One sentence with the file, the line, and what would be right."""
    w = read_log(files(tmp_path))
    path = tmp_path / "s.csv"
    write_oar(w, path, a_schedule(w))
    path.write_text(path.read_text().replace(*change, 1))
    with pytest.raises(InputError) as caught:
        read_schedule(path)
    assert f"{path}, {BAD_SCHEDULES[change]}" in str(caught.value)


def test_a_log_is_no_schedule(tmp_path: Path) -> None:
    """It has no column of starts."""
    with pytest.raises(InputError, match="has no column 'start'; a schedule on nodes has start, "):
        read_schedule(files(tmp_path))


def test_nodes_may_be_folded_and_weights_left_out(tmp_path: Path) -> None:
    """Anyone's schedule, as it is easily written."""
    w = read_log(files(tmp_path))
    path = tmp_path / "s.csv"
    write_oar(w, path, a_schedule(w))
    path.write_text(path.read_text().replace("ita01*2 ita02*2", "ita[01-02]"))
    found = read_schedule(path).segments
    assert found is not None
    assert found.place.tolist()[:2] == [0, 1]
    assert found.procs.tolist()[:2] == [2, 2]


def weeks_of_jobs() -> Workload:
    """Six weeks of jobs of three users, each with its own number of what it asks for."""
    rng = np.random.default_rng(3)
    n = 300
    nodes = rng.integers(1, 5, n)
    run = rng.integers(1, 5000, n)
    return Workload.from_columns(
        submit=np.sort(rng.integers(0, 6 * 604_800, n)),
        run=run,
        estimate=run * 2,
        procs=nodes * 2,
        weight=np.full(n, 2),
        properties=rng.integers(-1, 1, n),
        reserved=np.where(rng.random(n) < 0.2, rng.integers(0, 9000, n), -1),
        serial=np.where(rng.random(n) < 0.2, 50_000, -1),
        user=rng.integers(1, 4, n),
        platform=Nodes([2] * 8, [f"n{k}" for k in range(8)], {"half": [f"n{k}" for k in range(4)]}),
    )


@pytest.mark.parametrize("drawn", [resample_weekly, resample_users, resample_blocks])
def test_what_jobs_ask_for_travels_with_them(drawn: object) -> None:
    """Into every sample, and to another load: a reservation is relative to its submission."""
    log = weeks_of_jobs()
    sample: Workload = drawn(log, seed=1, index=1)  # type: ignore[operator]
    assert len(sample) > 50
    for w in (sample, scale_load(sample, 0.9), scale_arrivals(sample, 0.9)):
        assert w.platform == log.platform
        origin = w.job - 1
        for name in ("weight", "properties", "reserved", "serial", "procs"):
            assert getattr(w, name).tolist() == getattr(log, name)[origin].tolist()
