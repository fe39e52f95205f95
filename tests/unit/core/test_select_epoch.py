"""Rules of a log's start: read from the header, kept by transforms, written, and cut by dates."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedfarm.core import Workload, read_swf, resample_weekly, scale_load, write_swf
from schedfarm.core.workload.load import scale_arrivals
from schedfarm.core.workload.resample_users import resample_users
from schedfarm.core.workload.select import select_dates

ROWS = "".join(f"{j} {j * 40_000} -1 10 2 -1 -1 2 20 -1 1 7 -1 -1 -1 -1 -1 -1\n" for j in range(9))


def log(folder: Path, header: str) -> Workload:
    path = folder / "t.swf"
    path.write_text(f"; MaxProcs: 4\n{header}\n{ROWS}")
    return read_swf(path)


@pytest.mark.parametrize(
    ("header", "epoch"),
    [
        ("; UnixStartTime: 843480031", 843_480_031),
        (";unixstarttime:12", 12),
        ("; UnixStartTime: 0", -1),
        ("; UnixStartTime: -7", -1),
        ("; StartTime: Wed Sep 25 1996", -1),
    ],
)
def test_the_header_says_when_a_log_starts(tmp_path: Path, header: str, epoch: int) -> None:
    """UnixStartTime is the Unix time of instant 0; without it, or 0, the start is unknown."""
    assert log(tmp_path, header).epoch == epoch


def test_transforms_and_files_keep_the_start(tmp_path: Path) -> None:
    """Scaled, resampled, written and read again, a workload starts when its log did."""
    w = log(tmp_path, "; UnixStartTime: 843480031")
    write_swf(w, tmp_path / "again.swf")
    others = [
        scale_load(w, 0.5),
        scale_arrivals(w, 0.5),
        resample_weekly(w, seed=1, index=1),
        resample_users(w, seed=1, index=1),
        read_swf(tmp_path / "again.swf"),
    ]
    assert [other.epoch for other in others] == [843_480_031] * 5


def test_the_start_is_no_part_of_the_digest(tmp_path: Path) -> None:
    """A simulation cannot see it."""
    known, unknown = log(tmp_path, "; UnixStartTime: 7"), log(tmp_path, ";")
    assert known.digest() == unknown.digest()


def test_kth_starts_on_its_date(traces: Path) -> None:
    """KTH's header gives 1996-09-23 12:00:31 UTC, read anew and from the cache alike."""
    path = traces / "KTH-SP2-1996-2.1-cln.swf.gz"
    for _ in range(2):
        w = read_swf(path)
        assert w.epoch == 843_480_031
        autumn = select_dates(w, "1996-09-25", "1996-12-31")
        assert len(autumn) + autumn.dropped["outside dates"] == len(w)
        assert (autumn.submit + w.epoch >= 843_609_600).all()
        assert (autumn.submit + w.epoch < 852_076_800).all()
