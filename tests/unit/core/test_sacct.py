"""Rules of reading what `sacct --parsable2` prints."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from schedfarm.core import Clean, InputError, read_log

LOG = """\
JobID|JobIDRaw|JobName|User|Submit|Start|End|Elapsed|Timelimit|ReqCPUS|AllocCPUS|State
101|101|a|ann|2024-01-02T03:04:05|2024-01-02T03:04:10|2024-01-02T04:04:10|01:00:00|02:00:00|4|8|COMPLETED
101.batch|101.batch|batch||2024-01-02T03:04:10|2024-01-02T03:04:10|2024-01-02T04:04:10|01:00:00||8|8|COMPLETED
101.0|101.0|x||2024-01-02T03:04:10|2024-01-02T03:04:10|Unknown|01:00:00||8|8|CANCELLED by 0
102_1|102|b|bob|2024-01-01T03:04:05|2024-01-02T03:04:10|2024-01-03T04:04:41|1-01:00:31|1-01:00:00|0|2|TIMEOUT
102_2|103|b|bob|2024-01-01T03:04:05|2024-01-02T03:04:10|2024-01-02T03:05:10|01:00|UNLIMITED||2|FAILED
104|104|c|ann|2024-01-02T03:04:05|None|2024-01-02T04:00:00|00:00:00|Partition_Limit|1|0|CANCELLED by 12
105|105|c|ann|2024-01-02T03:04:05|2024-01-02T04:00:00|2024-01-02T04:00:00|00:00:00|01:00:00|1|0|CANCELLED by 12
106|106|c|ann|2024-01-02T03:04:05|2024-01-02T04:00:00|2024-01-02T04:00:30|00:00:30|01:00:00|1|1|CANCELLED by 12
107|107|c|cat|2024-01-02T03:04:05|2024-01-02T04:00:00|Unknown|00:00:30|01:00:00|1|1|RUNNING
108_[1-9%2]|108|c|cat|2024-01-02T03:04:05|Unknown|Unknown|00:00:00|01:00:00|1|0|PENDING
109+0|109|c||2024-01-02T03:04:05|2024-01-02T04:00:00|2024-01-02T04:00:00|00:00:00|Partition_Limit|1|1|FAILED
110|110|c|dan|Unknown|2024-01-02T04:00:00|2024-01-02T04:00:09|00:00:09|01:00:00|1|1|COMPLETED
111|111|c|dan|2024-01-02T03:04:05|2024-01-02T04:00:00|2024-01-02T04:00:09|00:00:09|01:00:00|64|64|COMPLETED
112|112|c|dan|2024-01-02T03:04:05|2024-01-02T04:00:00|2024-01-02T04:00:09|00:00:09|01:00:00|0|0|NODE_FAIL
"""  # noqa: E501


def written(folder: Path, text: str = LOG) -> Path:
    path = folder / "june.sacct"
    path.write_text(text)
    return path


def test_lines_become_jobs(tmp_path: Path) -> None:
    """Submits count from the earliest; requested processors win; unlimited means the run time."""
    w = read_log(written(tmp_path), processors=32)
    assert w.name == "june"
    assert w.job.tolist() == [102, 103, 101, 106, 109]
    assert w.submit.tolist() == [0, 0, 86_400, 86_400, 86_400]
    assert w.run.tolist() == [90_000, 60, 3_600, 30, 0]
    assert w.estimate.tolist() == [90_000, 60, 7_200, 3_600, 0]
    assert w.killed.tolist() == [True, False, False, False, False]
    assert w.procs.tolist() == [2, 2, 4, 1, 1]
    assert w.user.tolist() == [2, 2, 1, 1, -1]
    assert w.epoch == 1_704_078_245


def test_what_is_not_a_finished_job_is_counted(tmp_path: Path) -> None:
    """Steps, jobs that have not ended, and jobs cancelled before they started are dropped."""
    w = read_log(written(tmp_path), processors=32)
    assert dict(w.dropped) == {
        "step": 2,
        "unfinished": 2,
        "no procs": 1,
        "too wide": 1,
        "cancelled": 2,
        "no submit": 1,
    }


def test_rows_count_steps_too(tmp_path: Path) -> None:
    """Rows are those of the file, before any filter; times and users stay those of the file."""
    w = read_log(written(tmp_path), processors=32, rows=(0, 3))
    assert (w.job.tolist(), w.submit.tolist(), dict(w.dropped)) == ([101], [86_400], {"step": 2})
    assert read_log(written(tmp_path), processors=32, jobs=1).job.tolist() == [102]


def few(columns: str, *rows: str) -> str:
    return "\n".join([columns, *rows]) + "\n"


@pytest.mark.parametrize(
    ("columns", "row", "run", "estimate"),
    [
        ("Start|End|Timelimit", "2024-02-28T23:59:50|2024-02-29T00:00:10|00:00:30", 20, 30),
        ("Elapsed|Timelimit", "00:00:20.250|10:00", 20, 600),
        ("Elapsed|Timelimit", "2-00:00:20|2-00:01:00", 172_820, 172_860),
        ("ElapsedRaw|TimelimitRaw", "20|10", 20, 600),
        ("ElapsedRaw|TimelimitRaw", "20|UNLIMITED", 20, 20),
        ("Elapsed|Timelimit", "00:00:20|", 20, 20),
        ("Elapsed|Start|End|Timelimit", "INVALID|2024-01-01T00:00:00|2024-01-01T00:00:07|", 7, 7),
    ],
)
def test_lengths_of_time(tmp_path: Path, columns: str, row: str, run: int, estimate: int) -> None:
    """Run time is Elapsed, else End - Start; a limit that is none gives the run time."""
    text = few(f"jobid|USER|Submit|{columns}|NCPUS", f"1|ann|2024-01-01T00:00:00|{row}|2")
    w = read_log(written(tmp_path, text), processors=2)
    assert (w.run.tolist(), w.estimate.tolist()) == ([run], [estimate])


def test_trailing_separators_and_gzip_are_read(tmp_path: Path) -> None:
    """`--parsable` ends each line with a separator."""
    lines = "JobID|User|Submit|Elapsed|Timelimit|ReqCPUS|\n5|a|2024-01-01T00:00:00|1:00|1:00|1|\n"
    path = tmp_path / "log.txt.gz"
    path.write_bytes(gzip.compress(lines.encode()))
    assert read_log(path, processors=1).job.tolist() == [5]


COLUMNS = "JobID|User|Submit|Elapsed|Timelimit|ReqCPUS"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "june.sacct is empty; sacct prints a line with the names of the columns"),
        (
            "7|ann|2024-01-01T00:00:00\n",
            "june.sacct: the first line names no column 'jobid'; use sacct --parsable2 --format=",
        ),
        ("JobID|User|Submit|Elapsed|ReqCPUS\n", "the first line names no column 'timelimit'"),
        ("JobID|User|Submit|End|Timelimit|NCPUS\n", "'End' without 'Start' or 'Elapsed'"),
        (COLUMNS + "\n", "june.sacct holds no data row"),
        (
            few(COLUMNS, "1|a|b"),
            "june.sacct, line 2: the row has 3 fields and the first line names 6",
        ),
        (
            few(COLUMNS, "", "1|a|01/02-03:04|1:00|1:00|1"),
            "june.sacct, line 3: '01/02-03:04' is not a time such as 2024-01-02T03:04:05",
        ),
        (few(COLUMNS, "1|a|2024-02-30T00:00:00|1:00|1:00|1"), "line 2: '2024-02-30T00:00:00' is"),
        (
            few(COLUMNS, "1|a|2024-01-01T00:00:00|90|1:00|1"),
            "line 2: '90' is not a time such as 1-",
        ),
        (
            few(COLUMNS, "1|a|2024-01-01T00:00:00|1:00|1h|1"),
            "line 2: '1h' is not a time such as 1-",
        ),
        (few(COLUMNS, "1|a|2024-01-01T00:00:00|1:00|1:00|4K"), "line 2: '4K' is not a number"),
        (few(COLUMNS, "x|a|2024-01-01T00:00:00|1:00|1:00|1"), "line 2: JobID 'x' does not begin"),
        (
            few(COLUMNS, "1.0||||||".strip("|") + "|||||"),
            "no job is left to simulate; rows dropped",
        ),
        (
            few(
                "JobID|User|Submit|ElapsedRaw|Timelimit|NCPUS", "1|a|2024-01-01T00:00:00|1:0|1:00|1"
            ),
            "line 2: '1:0' is not a whole number",
        ),
    ],
)
def test_bad_output_is_refused_by_file_and_line(tmp_path: Path, text: str, said: str) -> None:
    """Every refusal is one sentence that says where."""
    with pytest.raises(InputError) as refusal:
        read_log(written(tmp_path, text), processors=8)
    assert said in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_the_machine_must_be_given(tmp_path: Path) -> None:
    """sacct does not say how large the machine is."""
    with pytest.raises(InputError, match="sacct does not give the machine's size"):
        read_log(written(tmp_path))


def test_tasks_of_an_array_are_jobs_of_one_number(tmp_path: Path) -> None:
    """Also without JobIDRaw; the same task in two rows is refused."""
    head = "JobID|User|Submit|Elapsed|Timelimit|ReqCPUS\n"
    rest = "|ann|2024-06-01T00:00:00|01:00:00|02:00:00|4\n"
    path = tmp_path / "array.sacct"
    path.write_text(head + f"123_1{rest}123_2{rest}")
    assert read_log(path, processors=8).job.tolist() == [123, 123]
    path.write_text(head + f"123_1{rest}123_1{rest}")
    with pytest.raises(InputError, match="job 123 of user 1, submitted at 0 s, is in two rows"):
        read_log(path, processors=8)


SITE = """\
JobIDRaw|User|Account|Partition|QOS|Submit|Eligible|Start|End|Elapsed|Timelimit|ReqCPUS|AllocCPUS|NNodes|State
9001|ann|physics|cpu|normal|2024-03-04T08:00:00|2024-03-04T08:00:00|2024-03-04T08:00:07|2024-03-04T09:00:07|01:00:00|02:00:00|64|64|1|COMPLETED
9001.batch||physics|||2024-03-04T08:00:07|2024-03-04T08:00:07|2024-03-04T08:00:07|2024-03-04T09:00:07|01:00:00||64|64|1|COMPLETED
9002|ann|physics|cpu|normal|2024-03-04T08:00:10|2024-03-04T09:00:07|2024-03-04T09:00:20|2024-03-04T09:30:20|00:30:00|UNLIMITED|64|64|1|COMPLETED
9004|bob|chem|gpu|long|2024-03-04T08:05:00|2024-03-04T08:05:00|2024-03-04T08:06:00|2024-03-04T08:07:00|00:01:00|1-00:00:00|8|8|2|TIMEOUT
9005|bob|chem|gpu|long|2024-03-04T08:05:00|2024-03-04T08:05:00|2024-03-04T10:00:00|2024-03-04T10:01:00|00:01:00|1-00:00:00|8|8|2|FAILED
9006|cat|chem|gpu|long|2024-03-04T08:10:00|2024-03-04T08:10:00|2024-03-04T08:20:00|2024-03-04T08:25:00|00:05:00|06:00:00|4|4|1|NODE_FAIL
9006|cat|chem|gpu|long|2024-03-04T08:10:00|2024-03-04T08:27:00|2024-03-04T08:30:00|2024-03-04T09:30:00|01:00:00|06:00:00|4|4|1|COMPLETED
9007|cat|chem|cpu|normal|2024-03-04T08:11:00|Unknown|None|2024-03-04T08:12:00|00:00:00|06:00:00|4|0|1|CANCELLED by 1000
9008|cat|chem|cpu|normal|2024-03-04T08:11:00|Unknown|2024-03-04T08:11:00|2024-03-04T08:11:30|00:00:30|06:00:00|4|4|1|CANCELLED by 1000
"""  # noqa: E501


def test_a_site_is_read_by_job_numbers_alone(tmp_path: Path) -> None:
    """JobIDRaw without JobID; what a log says beside, with its names; requeued runs are counted."""
    w = read_log(written(tmp_path, SITE), processors=128)
    assert w.job.tolist() == [9001, 9002, 9004, 9005, 9006, 9008]
    assert dict(w.dropped) == {"step": 1, "requeued": 1, "cancelled": 1}
    assert w.logged_wait.tolist() == [7, 3_610, 60, 6_900, 1_200, 0]
    assert w.nodes.tolist() == [1, 1, 2, 2, 1, 1]
    assert w.group.tolist() == [1, 1, 2, 2, 2, 2]
    assert w.partition.tolist() == [1, 1, 2, 2, 2, 1]
    assert w.queue.tolist() == [1, 1, 2, 2, 2, 1]
    assert w.names == {
        "user": {1: "ann", 2: "bob", 3: "cat"},
        "group": {1: "physics", 2: "chem"},
        "partition": {1: "cpu", 2: "gpu"},
        "queue": {1: "normal", 2: "long"},
    }
    assert read_log(tmp_path / "june.sacct", processors=128).digest() == w.digest()


def test_a_job_may_arrive_when_it_is_eligible(tmp_path: Path) -> None:
    """Where that is later; instants and waits follow, and unknown means the submit."""
    path = written(tmp_path, SITE)
    w = read_log(path, processors=128, clean=Clean(submit="eligible"))
    at = dict(zip(w.job.tolist(), w.submit.tolist(), strict=True))
    assert at == {9001: 0, 9002: 3_607, 9004: 300, 9005: 300, 9006: 1_620, 9008: 660}
    waits = dict(zip(w.job.tolist(), w.logged_wait.tolist(), strict=True))
    assert waits == {9001: 7, 9002: 13, 9004: 60, 9005: 6_900, 9006: 180, 9008: 0}
    assert w.epoch == read_log(path, processors=128).epoch
    with pytest.raises(InputError, match="submit = 'eligible' needs a column Eligible"):
        read_log(written(tmp_path), processors=32, clean=Clean(submit="eligible"))


def test_jobs_in_reservations_may_be_left_out(tmp_path: Path) -> None:
    rest = "|ann|2024-06-01T00:00:00|01:00:00|02:00:00|4"
    head = "JobID|Reservation|User|Submit|Elapsed|Timelimit|ReqCPUS"
    path = written(tmp_path, few(head, f"7|course{rest}", f"8|{rest}"))
    assert read_log(path, processors=8).job.tolist() == [7, 8]
    w = read_log(path, processors=8, clean=Clean(reserved="drop"))
    assert (w.job.tolist(), w.dropped) == ([8], {"reserved": 1})
    without = written(tmp_path, few(head.replace("Reservation", "Comment"), f"8|{rest}"))
    with pytest.raises(InputError, match="reserved = 'drop' needs a column Reservation"):
        read_log(without, processors=8, clean=Clean(reserved="drop"))


def test_parts_of_a_heterogeneous_job_are_jobs(tmp_path: Path) -> None:
    """With their own numbers in JobIDRaw, else under one."""
    rest = "|ann|2024-06-01T00:00:00|01:00:00|02:00:00|4"
    head = "User|Submit|Elapsed|Timelimit|ReqCPUS"
    both = few(f"JobID|JobIDRaw|{head}", f"123+0|123{rest}", f"123+1|124{rest}")
    assert read_log(written(tmp_path, both), processors=8).job.tolist() == [123, 124]
    one = few(f"JobID|{head}", f"123+0{rest}", f"123+1{rest}")
    assert read_log(written(tmp_path, one), processors=8).job.tolist() == [123, 123]


def test_a_number_of_none_is_refused_by_the_columns_name(tmp_path: Path) -> None:
    """JobIDRaw may stand alone, so it is what is wrong."""
    text = few("JobIDRaw|User|Submit|Elapsed|Timelimit|ReqCPUS", "x|a|2024-01-01T00:00:00|1:00||1")
    with pytest.raises(InputError, match="line 2: JobIDRaw 'x' does not begin with a number"):
        read_log(written(tmp_path, text), processors=8)


def test_a_missing_size_is_suggested_from_the_jobs(tmp_path: Path) -> None:
    """From times of the log itself: 4 processors from 0 to 60 s beside 6 from 30 to 90 s."""
    text = few(
        "JobID|User|Submit|Start|Elapsed|Timelimit|ReqCPUS",
        "1|ann|2024-01-01T00:00:00|2024-01-01T00:00:00|00:01:00|00:10:00|4",
        "1.batch|ann|2024-01-01T00:00:00|2024-01-01T00:00:00|00:01:00||4",
        "2|bob|2024-01-01T00:00:05|2024-01-01T00:00:30|00:01:00|00:10:00|6",
        "3|bob|2024-01-01T00:00:06|2024-01-01T00:01:30|00:01:00|00:10:00|1",
    )
    said = "its widest job takes 6, and by its own times up to 10 are in use at once"
    with pytest.raises(InputError, match=said):
        read_log(written(tmp_path, text))


def test_names_cannot_command_a_terminal(tmp_path: Path) -> None:
    """What a name holds of control characters is shown as ?."""
    text = few(
        "JobID|User|Submit|Elapsed|Timelimit|ReqCPUS", "1|a\x1b[2Jb|2024-01-01T00:00:00|1:00|1:00|1"
    )
    assert read_log(written(tmp_path, text), processors=8).names["user"] == {1: "a?[2Jb"}


RESOURCES = """\
JobID|JobIDRaw|User|Submit|Start|Elapsed|Timelimit|ReqCPUS|NNodes|ReqTRES|AllocTRES|ReqMem|Priority|Reason|Reservation|Restarts|State
1|1|ann|2024-01-01T00:00:00|2024-01-01T00:00:00|01:00:00|02:00:00|8|2|cpu=8,mem=16G,node=2,gres/gpu=4,gres/gpu:a100=4|cpu=8|16Gn|500|None||0|COMPLETED
2_1|3|ann|2024-01-01T00:00:01|2024-01-01T00:00:02|01:00:00|02:00:00|4|1|cpu=4,gres/gpu:a100=1,gres/gpu:h100=2||1.5Gc|600|QOSMaxJobsPerUserLimit||0|COMPLETED
2_2|4|ann|2024-01-01T00:00:01|2024-01-01T00:00:02|01:00:00|02:00:00|4|2|||4000Mn|600|Priority|maint|1|COMPLETED
5+0|5|bob|2024-01-01T00:00:03|2024-01-01T00:00:04|01:00:00|02:00:00|1|1||cpu=1,mem=512M|0|||(null)||COMPLETED
5+1|6|bob|2024-01-01T00:00:03|2024-01-01T00:00:04|01:00:00|02:00:00|1|1|cpu=1||8G||||0|COMPLETED
2_[3-5]|2|ann|2024-01-01T00:00:01|None|00:00:00|02:00:00|4|1|cpu=4||1Gn|0|JobArrayTaskLimit||0|CANCELLED by 7
2_[6-9%2]|9|ann|2024-01-01T00:00:01|Unknown|00:00:00|02:00:00|4|1|cpu=4||1Gn|0|JobArrayTaskLimit||0|PENDING
"""  # noqa: E501


def test_resources_priorities_and_reasons_are_read(tmp_path: Path) -> None:
    """GPUs are the total, else the sum of types; memory is of the whole job, in bytes."""
    w = read_log(written(tmp_path, RESOURCES), processors=32)
    gib = 2**30
    assert w.job.tolist() == [1, 3, 4, 5, 6]
    assert w.gpus.tolist() == [4, 3, -1, 0, 0]
    assert w.memory.tolist() == [16 * gib, 6 * gib, 8000 * 2**20, gib // 2, 8 * gib]
    assert w.priority.tolist() == [500, 600, 600, -1, -1]
    assert dict(w.dropped) == {"cancelled": 1, "unfinished": 1}
    assert dict(w.ignored) == {
        "of another priority than the most frequent": 3,
        "with GPUs": 2,
        "in a reservation": 1,
        "that were restarted": 1,
        "that waited for a limit": 1,
    }


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("mem=16G", "mem=-16G"), "line 2: '-16G' is not a size of memory"),
        (("16Gn", "sixteen"), "'sixteen' is not a size of memory such as 4000M or 1.5G"),
        (("gres/gpu=4,", "gres/gpu=-4,"), "line 2: -4 GPUs; give at least 0"),
        (("16Gn", "999999999999999T"), "line 2: 999999999999999T of memory is more than 2^62 B"),
        (("mem=16G", "mem=9999999999P"), "line 2: 9999999999P of memory is more than 2^62 B"),
        (
            ("1.5Gc", "2000000000Gc"),
            "line 3: ReqMem per cpu, B, is 2147483648000000000, and 4 times that is more",
        ),
        (
            ("gpu:a100=1,gres/gpu:h100=2", "gpu:a100=9000000000000000000,gres/gpu:h100=9"),
            "line 3: 9000000000000000009 GPUs; give at most 2^62",
        ),
        (("gres/gpu=4,", "gres/gpu=four,"), "line 2: 'four' is not a number"),
    ],
)
def test_bad_resources_are_refused(tmp_path: Path, change: tuple[str, str], said: str) -> None:
    with pytest.raises(InputError) as error:
        read_log(written(tmp_path, RESOURCES.replace(*change)), processors=32)
    assert said in str(error.value)
