"""The table of reservations that a real Slurm prints is read as `farm site` needs it."""

from __future__ import annotations

import subprocess
import time
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from schedfarm.farm.site.dump.reservations import read_reservations
from tests.support.judge import SITE
from tests.support.judged import PROGRAMS, Accounted
from tests.support.slurm import missing, slurm, wait

WHY = missing(*PROGRAMS)

pytestmark = pytest.mark.skipif(bool(WHY), reason=WHY or "Slurm and a database are here")

PARTITION = "PartitionName=batch Nodes=ALL Default=YES State=UP\n"

RESERVED = (
    "ReservationName=fix StartTime=now Duration=9 Flags=MAINT Nodes=n[1-2] Users=root",
    "ReservationName=all StartTime=now+60 Duration=9 Flags=MAINT Nodes=ALL Users=root",
    "ReservationName=course StartTime=now+900 Duration=9 Nodes=n2 Users=daemon",
)


def test_past_and_future_reservations(tmp_path: Path) -> None:
    """One that is deleted early ends then, which `scontrol show reservations` no longer says."""
    table = tmp_path / "reservations.txt"
    with TemporaryDirectory() as folder:
        one = Accounted(Path(folder), ["CPUs=1 RealMemory=8000"] * 3, PARTITION, SITE)
        with slurm(one):
            for words in RESERVED:
                subprocess.run(["scontrol", "create", "reservation", *words.split()], check=True)
            time.sleep(2)
            subprocess.run(["scontrol", "delete", "ReservationName=fix"], check=True)
            ended = datetime.now()

            def is_complete() -> bool:
                table.write_text(one.reservations())
                return len(table.read_text().splitlines()) == 1 + len(RESERVED)

            wait(is_complete, "the reservations in the database")
    fix, everything, course = sorted(read_reservations(table), key=lambda found: found.start)
    assert [sorted(found.hosts) for found in (fix, everything, course)] == [
        ["n1", "n2"],
        ["n1", "n2", "n3"],
        ["n2"],
    ]
    assert [found.maintenance for found in (fix, everything, course)] == [True, True, False]
    assert everything.end - everything.start == 540
    # Slurm's times are local.
    assert abs(fix.end - int(ended.timestamp()) - int(_offset(ended))) <= 2
    assert everything.start - fix.start >= 58


def _offset(local: datetime) -> float:
    """Return the difference of local time from UTC, s."""
    found = local.astimezone().utcoffset()
    assert found is not None
    return found.total_seconds()
