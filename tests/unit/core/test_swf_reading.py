"""Rules of reading the Standard Workload Format (SEMANTICS: time and jobs)."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from schedfarm.core import InputError, read_swf
from schedfarm.core.logs.swf import read_fields
from tests.support.swf_texts import HEADER, read, row

pytestmark = pytest.mark.usefixtures("swf_cache")

LOGS = {
    # file: machine, kept jobs, dropped, killed, run 0; counted in TRACES.md
    "CTC-SP2-1996-3.1-cln": (338, 77_222, {}, 7_174, 17),
    "HPC2N-2002-2.2-cln": (240, 202_871, {}, 14_817, 0),
    "KTH-SP2-1996-2.1-cln": (100, 28_475, {"no procs": 1}, 475, 8),
    "METACENTRUM-2009-2": (806, 103_656, {}, 0, 3_712),
    "OSC-Clust-2000-3.1-cln": (178, 36_097, {}, 0, 505),
    "SDSC-BLUE-2000-4.2-cln": (1_152, 243_306 - 10_744, {"no run": 10_744}, 23_434, 26),
    "SDSC-SP2-1998-4.2-cln": (128, 59_715 - 5_671, {"no run": 5_671}, 4_134, 10),
}


@pytest.mark.parametrize("name", LOGS)
def test_real_logs_have_the_counts_of_the_archive(traces: Path, name: str) -> None:
    """Machine, kept rows, rows dropped by reason, kills and run times of 0 are as counted."""
    machine, kept, dropped, killed, run0 = LOGS[name]
    given = 806 if name.startswith("METACENTRUM") else None
    w = read_swf(traces / f"{name}.swf.gz", processors=given)
    assert (w.name, w.processors, len(w), dict(w.dropped)) == (name, machine, kept, dropped)
    assert int(w.killed.sum()) == killed
    assert int(np.count_nonzero(w.run == 0)) == run0


def test_columns_equal_the_independent_parser(traces: Path, golden: Path) -> None:
    """Submit, run, estimate and procs have the hashes of the independent program."""
    for entry in json.loads((golden / "schedules.json").read_text())["traces"].values():
        w = read_swf(traces / entry["file"])
        columns = {"submit": w.submit, "run": w.run, "est": w.estimate, "procs": w.procs}
        for name, column in columns.items():
            digest = hashlib.sha256(column.astype("<i8").tobytes()).hexdigest()
            assert digest == entry[f"sha256_{name}"], (entry["file"], name)


@pytest.mark.parametrize(
    ("header", "machine"),
    [
        ("; MaxProcs: 64\n", 64),
        ("   ;MaxProcs:64\n", 64),
        (";MaxProcs: 1664 (72, of 12 or 24)\n", 1664),
        ("; MaxNodes: 16\n; Note: of four\n", 16),
        ("; MaxNodes: 16\n; MaxProcs: 64\n", 64),
        ("; MaxProcs: -1\n; MaxNodes: 16\n", 16),
        ("; MaxProcs: 64\n; MaxProcs: 64\n", 64),
        ("\n; maxprocs : 64\r\n\n", 64),
        ("\ufeff; MaxProcs: 64\n", 64),
        ("; Installation: H\xf6gskolan\n; MaxProcs: 64\n", 64),
    ],
)
def test_header_gives_the_machine(tmp_path: Path, header: str, machine: int) -> None:
    """MaxProcs gives the machine, else MaxNodes, however the line is set."""
    assert read(tmp_path, row(), header=header).processors == machine


def test_processors_given_override_the_header(tmp_path: Path) -> None:
    """The caller's machine is the machine: a wider job is dropped."""
    w = read(tmp_path, row(1, procs=4), row(2, procs=5), processors=4)
    assert (w.processors, w.job.tolist(), dict(w.dropped)) == (4, [1], {"too wide": 1})
    assert read(tmp_path, row(), header="", processors=3).processors == 3


def test_requested_values_win_over_measured_ones(tmp_path: Path) -> None:
    """Procs and estimate are the requested ones if > 0, else the allocated ones and the run."""
    w = read(
        tmp_path,
        row(1, procs=2, requested=4, time=30),
        row(2, procs=2, requested=-1, time=-1),
        row(3, procs=2, requested=0, time=0),
    )
    assert w.procs.tolist() == [4, 2, 2]
    assert w.estimate.tolist() == [30, 10, 10]


def test_a_job_is_killed_at_its_estimate(tmp_path: Path) -> None:
    """Run = min(run, estimate), and killed says that the log's run time was longer."""
    w = read(tmp_path, row(1, run=10, time=9), row(2, run=10, time=10), row(3, run=10, time=11))
    assert w.run.tolist() == [9, 10, 10]
    assert w.killed.tolist() == [True, False, False]


def test_decimals_are_truncated(tmp_path: Path) -> None:
    """Times with decimals lose them, never rounded."""
    w = read(tmp_path, row(submit=3.99, run="7.5", time="8.", procs="2.0"))
    assert (w.submit[0], w.run[0], w.estimate[0], w.procs[0]) == (3, 7, 8, 2)


def test_estimates_need_64_bits(tmp_path: Path) -> None:
    """An estimate beyond 32 bits, and beyond the whole numbers of a float64, is kept."""
    assert read(tmp_path, row(time=2**53 + 1)).estimate.tolist() == [2**53 + 1]


def test_rows_need_not_be_sorted(tmp_path: Path) -> None:
    """Jobs are in (submit, position) order, and job and user are fields 1 and 12."""
    w = read(tmp_path, row(1, 5, user=1), row(2, 0, user=2), row(3, 5, user=3), row(4, 0, user=-1))
    assert w.job.tolist() == [2, 4, 1, 3]
    assert w.user.tolist() == [2, -1, 1, 3]


def test_rows_select_before_any_filter(tmp_path: Path) -> None:
    """Rows count the file's data rows from 0, the dropped ones too; the second is left out."""
    lines = [row(1, 9), row(2, run=-1), row(3, 8), row(4, 0)]
    w = read(tmp_path, *lines, rows=(1, 3))
    assert (w.job.tolist(), dict(w.dropped)) == ([3], {"no run": 1})


def test_jobs_are_the_first_that_survive(tmp_path: Path) -> None:
    """Jobs = k keeps the first k by (submit, position); fewer survivors are all kept."""
    lines = [row(1, 9), row(2, run=-1), row(3, 8), row(4, 0)]
    assert read(tmp_path, *lines, jobs=2).job.tolist() == [4, 3]
    assert read(tmp_path, *lines, jobs=99).job.tolist() == [4, 3, 1]
    assert read(tmp_path, *lines, rows=(0, 3), jobs=1).job.tolist() == [3]


def test_dropped_rows_count_once_by_reason(tmp_path: Path) -> None:
    """Each row that cannot be simulated counts under the first reason that holds."""
    w = read(
        tmp_path,
        row(1),
        row(2, procs=0, requested=0, run=-1),
        row(3, procs=9),
        row(4, run=-1, submit=-1),
        row(5, submit=-1),
        row(6, run=-1),
    )
    assert dict(w.dropped) == {"no procs": 1, "too wide": 1, "no run": 2, "no submit": 1}


def test_run_time_0_stays(tmp_path: Path) -> None:
    """A job of run time 0 is kept, with an estimate of 0 if none was requested."""
    w = read(tmp_path, row(1, run=0), row(2, run=0, time=5))
    assert (w.run.tolist(), w.estimate.tolist()) == ([0, 0], [0, 5])


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a.swf", "a"),
        ("a-2.1-cln.swf.gz", "a-2.1-cln"),
        ("a.b", "a.b"),
        ("A.SWF.GZ", "A"),
        (".swf", ".swf"),
    ],
)
def test_name_is_the_file_without_suffixes(tmp_path: Path, name: str, shown: str) -> None:
    """Only .swf and .gz are suffixes: the archive's names hold dots."""
    (tmp_path / name).write_text(HEADER + row())
    assert read_swf(tmp_path / name).name == shown


def test_gzip_is_known_by_its_first_bytes(tmp_path: Path) -> None:
    """Gzip without .gz, plain text with .gz, and gzip of several members are all read."""
    first, second = (HEADER + row() + "\n").encode(), row(2, submit=3).encode()
    (tmp_path / "zipped.swf").write_bytes(gzip.compress(first) + gzip.compress(second))
    (tmp_path / "plain.swf.gz").write_bytes(first + second)
    for name in ("zipped.swf", "plain.swf.gz"):
        assert read_swf(tmp_path / name).submit.tolist() == [0, 3]


def test_comments_and_blank_lines_between_rows_are_skipped(tmp_path: Path) -> None:
    """A comment may stand anywhere; rows count without it."""
    w = read(tmp_path, row(1), "", " ; a note", row(2), "   ", rows=(1, 2))
    assert w.job.tolist() == [2]


def test_read_fields_gives_fields_as_they_stand(tmp_path: Path) -> None:
    """Other fields than a workload's are there for readers of schedules and of partitions."""
    path = tmp_path / "log.swf"
    path.write_text(HEADER + "1 0 44 -1 2 -1 -1 -1 -1 -1 5 9 -1 -1 -1 14 -1 -1\n")
    log = read_fields(path)
    assert (log.columns["wait"].tolist(), log.columns["partition"].tolist()) == ([44], [14])
    assert log.columns["run"].tolist() == [-1]


def test_a_missing_size_is_suggested_from_known_waits(tmp_path: Path) -> None:
    """From the starts of the log: 2 processors from 5 to 15 s, and 3 from 9 s on."""
    rows = row(1, wait=5, procs=2), row(2, submit=9, wait=0, procs=3)
    said = "its widest job takes 3, and by its own times up to 5 are in use at once"
    with pytest.raises(InputError, match=said):
        read(tmp_path, *rows, header="")
