"""Rules of writing the Standard Workload Format: the same jobs come back."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from schedfarm.core import InputError, Schedule, Workload, read_swf, write_swf
from tests.support.swf_texts import small

pytestmark = pytest.mark.usefixtures("swf_cache")


def test_written_log_is_the_literal(tmp_path: Path) -> None:
    """18 columns, a header, waits from the schedule, and a killed job 1 s beyond its request."""
    w = small()
    s = Schedule(w, "fcfs+none", np.array([0, 12, 30]), np.zeros(3, bool))
    write_swf(w, tmp_path / "out.swf", s)
    assert (tmp_path / "out.swf").read_text() == (
        "; Version: 2.2\n"
        "; Computer: small\n"
        "; MaxJobs: 3\n"
        "; MaxProcs: 4\n"
        "; MaxEstimate: 60\n"
        "; Note: written by schedfarm; times in s; a killed job runs 1 s beyond its request\n"
        "7 0 0 10 2 -1 -1 2 60 -1 1 3 -1 -1 -1 -1 -1 -1\n"
        "7 5 7 0 4 -1 -1 4 0 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
        "9 5 25 21 1 -1 -1 1 20 -1 5 3 -1 -1 -1 -1 -1 -1\n"
    )


def test_groups_queues_and_partitions_are_written(tmp_path: Path) -> None:
    """Orders read them, so that an audit of the file needs them; -1 stays."""
    w = small(group=[5, -1, 6], queue=[1, 2, -1], partition=[-1, 8, 9])
    write_swf(w, tmp_path / "a.swf")
    back = read_swf(tmp_path / "a.swf")
    for name in ("group", "queue", "partition"):
        assert getattr(back, name).tolist() == getattr(w, name).tolist(), name


@st.composite
def workloads(draw: st.DrawFn) -> Workload:
    times = st.integers(0, 2**40)
    jobs = draw(st.lists(st.tuples(times, times, times, st.integers(1, 9)), min_size=1))
    submit, one, two, procs = zip(*jobs, strict=True)
    run, estimate = np.minimum(one, two), np.maximum(one, two)
    whole = len(jobs)
    return Workload.from_columns(
        submit=submit,
        run=run,
        estimate=estimate,
        procs=procs,
        processors=9,
        user=draw(st.lists(st.integers(-1, 2**40), min_size=whole, max_size=whole)),
        job=draw(st.lists(st.integers(0, 2**40), min_size=whole, max_size=whole)),
        killed=(run == estimate) & (run > 0) & draw(st.booleans()),
        max_estimate=int(estimate.max()) + draw(st.integers(0, 5)),
    )


def is_once(workload: Workload) -> bool:
    """Return whether no two jobs are one by number, instant and user: such a log is refused."""
    jobs = zip(workload.job, workload.submit, workload.user, strict=True)
    return len({*jobs}) == len(workload)


@settings(deadline=None)
@given(workload=workloads().filter(is_once), suffix=st.sampled_from([".swf", ".swf.gz"]))
def test_what_is_written_reads_back_equal(workload: Workload, suffix: str) -> None:
    """Reading back gives the same jobs, machine, kills and largest estimate."""
    with TemporaryDirectory() as place:
        write_swf(workload, f"{place}/back{suffix}")
        assert read_swf(f"{place}/back{suffix}").digest() == workload.digest()


def test_real_log_writes_and_reads_back_equal(traces: Path, tmp_path: Path) -> None:
    """A whole log with killed jobs survives the round trip."""
    w = read_swf(traces / "KTH-SP2-1996-2.1-cln.swf.gz")
    write_swf(w, tmp_path / "kth.swf")
    assert read_swf(tmp_path / "kth.swf").digest() == w.digest()


def test_same_jobs_give_the_same_bytes(tmp_path: Path) -> None:
    """Neither the time nor the name of the file is in it, and nothing is left next to it."""
    write_swf(small(), tmp_path / "one.swf.gz")
    write_swf(small(), tmp_path / "two.SWF.GZ")
    one = (tmp_path / "one.swf.gz").read_bytes()
    assert one == (tmp_path / "two.SWF.GZ").read_bytes()
    assert one[4:8] == bytes(4)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["one.swf.gz", "two.SWF.GZ"]


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    """A folder that is missing, or a file in its place, is refused; no temporary stays."""
    with pytest.raises(InputError, match=r"none/a\.swf: cannot write the log \(No such file"):
        write_swf(small(), tmp_path / "none" / "a.swf")
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot write the log"):
        write_swf(small(), tmp_path / "file" / "a.swf")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="cannot write the log"):
        write_swf(small(), tmp_path / "folder")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "folder"]


def test_what_a_log_cannot_say_is_refused(tmp_path: Path) -> None:
    """A killed job that ran less than its estimate, or a schedule of other jobs."""
    with pytest.raises(InputError, match="job 7 is marked as killed"):
        write_swf(small(killed=[True, False, False]), tmp_path / "a.swf")
    with pytest.raises(InputError, match="job 7 is marked as killed"):
        write_swf(small(killed=[False, True, False]), tmp_path / "a.swf")
    other = Schedule(small(), "x", np.zeros(3, np.int64), np.zeros(3, bool))
    with pytest.raises(InputError, match="the schedule is of other jobs"):
        write_swf(small(processors=5), tmp_path / "a.swf", other)
    assert not list(tmp_path.iterdir())


def test_a_name_of_several_lines_stays_in_its_line(tmp_path: Path) -> None:
    """A workload's name cannot smuggle a header line in."""
    write_swf(small(name="a\n; MaxProcs: 1"), tmp_path / "a.swf")
    assert read_swf(tmp_path / "a.swf").processors == 4
