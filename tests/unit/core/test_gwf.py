"""Rules of reading the Grid Workloads Format, and of telling formats apart."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from schedfarm.core import InputError, read_log
from schedfarm.core.logs.gwf import FIELDS
from schedfarm.core.logs.read import format_of

HEADER = "# Format: Grid Workloads Format\n#\tJobID\tSubmitTime\n"


def row(
    job: object,
    submit: object,
    run: object,
    *,
    nprocs: object = -1,
    requested: object = -1,
    request_time: object = -1,
    user: object = -1,
) -> str:
    """Return one row, tab-separated as the archive's."""
    known = [job, submit, 3, run, nprocs, 0.5, -1, requested, request_time, -1, 1, user]
    rest = ["-1"] * 6 + ["UNITARY"] + ["-1"] * 10
    words = [*map(str, known), *rest]
    assert len(words) == len(FIELDS) == 29
    return "\t".join(words) + "\n"


def written(folder: Path, *rows: str, name: str = "grid.gwf") -> Path:
    path = folder / name
    path.write_text(HEADER + "".join(rows))
    return path


def test_rows_become_jobs_by_the_rules_of_swf(tmp_path: Path) -> None:
    """Requested wins over used; the estimate is the request, else the run time, and kills."""
    path = written(
        tmp_path,
        row(1, 1_100_000_050, 60.9, nprocs=2, requested=4, request_time=90),
        row(2, 1_100_000_010, 100, nprocs=2, request_time=90),
        row(3, 1_100_000_020, 0, nprocs=1),
    )
    w = read_log(path, processors=8)
    assert w.name == "grid"
    assert w.job.tolist() == [2, 3, 1]
    assert w.submit.tolist() == [1_100_000_010, 1_100_000_020, 1_100_000_050]
    assert w.run.tolist() == [90, 0, 60]
    assert w.estimate.tolist() == [90, 0, 90]
    assert w.procs.tolist() == [2, 1, 4]
    assert w.killed.tolist() == [True, False, False]


def test_rows_that_cannot_run_are_counted_by_reason(tmp_path: Path) -> None:
    """A row counts under the first of its reasons."""
    path = written(
        tmp_path,
        row(1, 0, 5, nprocs=-1),
        row(2, 0, 5, nprocs=9),
        row(3, 0, -1, nprocs=1),
        row(4, -1, 5, nprocs=1),
        row(5, -1, -1, nprocs=0),
        row(6, 7, 5, nprocs=8),
    )
    w = read_log(path, processors=8)
    assert w.job.tolist() == [6]
    assert dict(w.dropped) == {"no procs": 2, "too wide": 1, "no run": 1, "no submit": 1}


@pytest.mark.parametrize(
    ("users", "numbers"),
    [
        (["user12", "user3", "user12", "-1"], [1, 2, 1, -1]),
        (["12", "3", "12", "-1"], [12, 3, 12, -1]),
        (["12", "eve", "12", "-1"], [1, 2, 1, -1]),
    ],
)
def test_users_become_numbers(tmp_path: Path, users: list[str], numbers: list[int]) -> None:
    """Numbers stay; where one user has a name, all are numbered as they appear."""
    path = written(tmp_path, *(row(i, i, 1, nprocs=1, user=u) for i, u in enumerate(users)))
    assert read_log(path, processors=1).user.tolist() == numbers


def test_users_keep_their_numbers_whatever_rows_are_chosen(tmp_path: Path) -> None:
    """Numbers are given over the whole file, so that a part of it speaks of the same users."""
    path = written(
        tmp_path, *(row(i, i, 1, nprocs=1, user=u) for i, u in enumerate(["a", "b", "c"]))
    )
    w = read_log(path, processors=1, rows=(1, 3))
    assert (w.job.tolist(), w.user.tolist()) == ([1, 2], [2, 3])
    assert read_log(path, processors=1, rows=(1, 3), jobs=1).job.tolist() == [1]


def test_empty_fields_between_tabs_keep_their_place(tmp_path: Path) -> None:
    """Where tabs part the fields, one of them may be empty."""
    words = row(7, 5, 6, nprocs=2, user="user1").rstrip("\n").split("\t")
    words[19], words[23] = "", "Scientific Linux"
    w = read_log(written(tmp_path, "\t".join(words) + "\t\n"), processors=2)
    assert (w.job.tolist(), w.procs.tolist(), w.user.tolist()) == ([7], [2], [1])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (row(1, 0, 5, nprocs=1) + "1 2 3\n", "grid.gwf, line 4: the row has 3 fields; a row of "),
        (row(1, "soon", 5, nprocs=1), "grid.gwf, line 3: 'soon' is not a number"),
        (row(1, 10**30, 5, nprocs=1), "grid.gwf, line 3: 1000000000000000000000000000000 does "),
        (row("j1", 0, 5, nprocs=1), "grid.gwf, line 3: 'j1' is not a number"),
        ("", "grid.gwf holds no data row; a log has one row of 29 fields"),
        (row(1, 0, 5, nprocs=9), "no job is left to simulate; rows dropped: 1 too wide"),
        ("\0", "is neither text nor gzip; it holds binary data"),
    ],
)
def test_a_bad_log_is_refused_by_file_and_line(tmp_path: Path, text: str, said: str) -> None:
    """Every refusal is one sentence that says where."""
    with pytest.raises(InputError) as refusal:
        read_log(written(tmp_path, text), processors=8)
    assert said in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_the_machine_must_be_given(tmp_path: Path) -> None:
    """The format does not say how large the machine is."""
    with pytest.raises(InputError, match="does not give the machine's size; give it as processors"):
        read_log(written(tmp_path, row(1, 0, 5, nprocs=1)))


@pytest.mark.parametrize(
    "options", [{"processors": 0}, {"jobs": 0}, {"rows": (0, 9)}, {"rows": (1, 1)}]
)
def test_bad_choices_are_refused(tmp_path: Path, options: dict[str, object]) -> None:
    """As for SWF."""
    path = written(tmp_path, row(1, 0, 5, nprocs=1))
    with pytest.raises(InputError, match=next(iter(options))):
        read_log(path, **{"processors": 8, **options})  # type: ignore[arg-type]


SWF = "1 0 -1 10 2" + 13 * " -1" + "\n"
SACCT = "User|JobID|Submit\n"


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("a", "; MaxProcs: 4\n" + SWF, "swf"),
        ("a.gwf", "; MaxProcs: 4\n" + SWF, "swf"),
        ("a.swf", HEADER, "gwf"),
        ("a.swf", "\n" + SACCT, "sacct"),
        ("a", row(1, 0, 5), "gwf"),
        ("a", SWF, "swf"),
        ("a.SWF.gz", row(1, 0, 5), "swf"),
        ("a.gwf", SWF, "gwf"),
        ("a.sacct", "JobName", "sacct"),
        ("a", "", "swf"),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_format_is_known_by_content_then_name(
    tmp_path: Path, name: str, text: str, kind: str, packed: bool
) -> None:
    """A first line that is clear decides, then the name's end, then the number of fields."""
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    assert format_of(path) == kind


def test_one_door_reads_every_format(tmp_path: Path) -> None:
    """The same job in three formats is the same workload."""
    swf, gwf, sacct = (tmp_path / f"log.{kind}" for kind in ("swf.gz", "gwf", "sacct"))
    swf.write_bytes(gzip.compress(b"7 0 -1 10 2 -1 -1 2 30 -1 1 1" + 6 * b" -1"))
    gwf.write_text(row(7, 0, 10, nprocs=2, request_time=30, user="ann"))
    sacct.write_text(
        "JobID|User|Submit|Elapsed|Timelimit|AllocCPUS\n7|ann|2024-01-01T00:00:00|00:10|00:30|2\n"
    )
    assert len({read_log(path, processors=4).digest() for path in (swf, gwf, sacct)}) == 1


def test_missing_and_damaged_files_are_refused(tmp_path: Path) -> None:
    """The refusal names the file."""
    with pytest.raises(InputError, match="none.gwf: cannot read the log"):
        read_log(tmp_path / "none.gwf")
    damaged = tmp_path / "cut.gwf.gz"
    damaged.write_bytes(gzip.compress((HEADER + row(1, 0, 5, nprocs=1)).encode())[:-9])
    with pytest.raises(InputError, match=r"cut.gwf.gz: the gzip data is truncated or damaged"):
        read_log(damaged, processors=1)


def test_what_is_wrong_with_a_row_is_said_before_a_missing_size(tmp_path: Path) -> None:
    """The size is suggested from the rows."""
    with pytest.raises(InputError, match="line 3: the row has 3 fields"):
        read_log(written(tmp_path, "1 2 3\n"))


def test_what_a_row_says_beside(tmp_path: Path) -> None:
    """The wait, and groups, queues and partitions by number or by name."""
    words = [row(i, i, 1, nprocs=1).split("\t") for i in range(2)]
    for place, (group, queue) in enumerate([("g7", "3"), ("g9", "-1")]):
        words[place][FIELDS.index("GroupID")] = group
        words[place][FIELDS.index("QueueID")] = queue
    w = read_log(written(tmp_path, *("\t".join(each) for each in words)), processors=1)
    assert w.logged_wait.tolist() == [3, 3]
    assert (w.group.tolist(), w.queue.tolist(), w.partition.tolist()) == ([1, 2], [3, -1], [-1, -1])
    assert w.names == {"group": {1: "g7", 2: "g9"}}
