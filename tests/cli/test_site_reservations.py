"""`farm site` and reservations: maintenance as windows of the machine, others as cautions."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from schedfarm.core import read_log
from schedfarm.core.logs.clean import Clean
from schedfarm.core.machines.pool.platform import Pool
from schedfarm.core.reference.loop import simulate_reference
from schedfarm.farm import Campaign
from schedfarm.farm.site.calibration import DAY
from schedfarm.farm.site.model import CLEAN, read_site
from schedfarm.farm.site.parameters import PARAMETERS, Setting, jobs_at
from tests.support.command_line import Farm
from tests.support.slurm_dumps import change, clear, edit, reserve


def test_loose_reservations_are_cautions_with_their_part_of_the_log(dump: Path) -> None:
    """Those whose time floats; scontrol prints current ones alone."""
    records = (
        "ReservationName=course StartTime=2024-01-10T00:00:00 EndTime=2024-01-11T00:00:00\n"
        "   Nodes=n[001-004] NodeCnt=4 CoreCnt=64 Flags=SPEC_NODES,TIME_FLOAT\n   Users=user01\n\n"
        "ReservationName=later StartTime=2034-01-10T00:00:00 EndTime=2034-01-11T00:00:00\n"
    )
    (dump / "reservations.txt").write_text(records)
    site = read_site(dump)
    assert site.jobs.platform == Pool(128)
    days = float(site.jobs.submit[-1] - site.jobs.submit[0]) / DAY
    effect = {note.what: note.effect for note in site.notes}
    part = f"4 nodes for 24 h of the log, {100 * 4 / 8 / days:.1f} % of the time of all nodes"
    assert part in effect["reservation course"]
    assert "reservation later" not in effect
    reserve(dump, "course|2024-01-10T00:00:00|2024-01-11T00:00:00|TIME_FLOAT|n[001-004]")
    assert part in {note.what: note.effect for note in read_site(dump).notes}["reservation course"]


COURSE = "course|2024-01-10T00:00:00|2024-01-11T00:00:00|SPEC_NODES|n[001-004]"


def test_a_reservation_for_users_withholds_its_nodes_from_others(dump: Path, farm: Farm) -> None:
    """Its jobs are left out, in the fit and in the campaign."""
    clear(dump, "2024-01-10T00:00:00", "2024-01-11T00:00:00")
    edit(dump, 7, Reservation="course")
    reserve(dump, COURSE)
    site = read_site(dump)
    assert site.jobs.dropped == {"reserved": 1}
    assert not [note for note in site.notes if "reservation" in note.what]
    (window,) = site.jobs.platform.to_dict()["configuration"]["windows"]
    assert window["regions"] == {"batch,debug": 64}
    farm("site", dump, "--no-fit")
    (trace, _) = Campaign.from_toml(dump / "campaign.toml").traces
    jobs = trace.placed(read_log(site.log, processors=128, clean=Clean.from_dict(trace.clean)))
    assert (len(jobs), jobs.platform) == (len(site.jobs), site.jobs.platform)
    (dump / "reservations.txt").unlink()
    assert len(read_site(dump).jobs) == len(site.jobs) + 1


def test_jobs_in_reservations_that_are_not_listed_stay(dump: Path) -> None:
    """As where scontrol prints only the reservations of today."""
    edit(dump, 7, Reservation="course")
    reserve(dump, "later|2034-01-10T00:00:00|2034-01-11T00:00:00||n[001-004]")
    site = read_site(dump)
    assert site.jobs.dropped == {}
    assert site.jobs.platform == Pool(128)


def test_a_reservation_that_other_jobs_use_is_a_caution(dump: Path) -> None:
    """Then its own jobs are jobs like others."""
    busy(dump, 128, "2024-01-10T00:00:00", "2024-01-11T00:00:00")
    edit(dump, 7, Reservation="course")
    reserve(dump, COURSE)
    site = read_site(dump)
    assert site.jobs.platform == Pool(128)
    assert site.jobs.dropped == {}
    (note,) = [note for note in site.notes if "reservation" in note.what]
    assert "other jobs may use its 4 nodes for 24 h" in note.effect


def test_maintenance_withholds_its_nodes(dump: Path, farm: Farm) -> None:
    """In the fit, the judgement and the campaign; a node of two reservations is withheld once."""
    clear(dump, "2024-01-10T00:00:00", "2024-01-11T12:00:00")
    clear(dump, "2024-01-20T00:00:00", "2024-01-20T06:00:00")
    reserve(
        dump,
        "fix|2024-01-10T00:00:00|2024-01-11T00:00:00|MAINT,SPEC_NODES|n[001-004]",
        "disk|2024-01-10T12:00:00|2024-01-11T12:00:00|MAINT|n[004-005],gone7",
        "all|2024-01-20T00:00:00|2024-01-20T06:00:00|MAINT,ALL_NODES|n[001-008]",
        "other|2024-01-20T00:00:00|2024-01-20T06:00:00|MAINT|m[1-9]",
    )
    farm("site", dump, "--no-fit")
    site = read_site(dump)
    assert not [note for note in site.notes if "reservation" in note.what]
    begin = int(datetime(2024, 1, 10, tzinfo=UTC).timestamp()) - site.jobs.epoch
    half, day = DAY // 2, 10 * DAY
    (trace, _) = Campaign.from_toml(dump / "campaign.toml").traces
    assert trace.partitions is not None
    label = "batch,debug"
    assert [dict(one) for one in trace.partitions["windows"]] == [
        {"from": begin, "until": begin + half, "regions": {label: 64}},
        {"from": begin + half, "until": begin + 2 * half, "regions": {label: 80}},
        {"from": begin + 2 * half, "until": begin + 3 * half, "regions": {label: 32}},
        {"from": begin + day, "until": begin + day + DAY // 4},
    ]
    text = (dump / "campaign.toml").read_text()
    assert "# reservations.txt:2, fix; reservations.txt:3, disk" in text
    # The campaign simulates the machine that the site is judged on.
    found = trace.placed(read_log(site.log, processors=128, clean=CLEAN))
    assert found.platform == site.jobs.platform
    start = simulate_reference(site.jobs, "fcfs+easy").start
    runs = (start < begin + day + DAY // 4) & (start + site.jobs.run > begin + day)
    assert len(site.jobs) > 100
    assert not runs.any()
    # Half of the machine has half of each window.
    half_machine = jobs_at(site, Setting(64, site.order)).platform
    assert half_machine.to_dict()["configuration"]["windows"][0]["regions"] == {label: 32}


def test_reservations_of_one_name_are_one_caution(dump: Path) -> None:
    """Of nodes that are not simulated, none; of no nodes, their effect is unknown."""
    days = [f"2024-01-{day:02}T00:00:00|2024-01-{day:02}T12:00:00" for day in range(10, 14)]
    reserve(
        dump,
        *(f"daily|{day}|DAILY,TIME_FLOAT|n[001-002]" for day in days),
        f"elsewhere|{days[0]}||m1",
        f"licences|{days[0]}||",
    )
    notes = [note for note in read_site(dump).notes if "reservation" in note.what]
    assert [note.what for note in notes] == ["reservation daily", "reservation licences"]
    assert "its 2 nodes for 48 h of the log" in notes[0].effect
    assert "it names no nodes" in notes[1].effect


def test_a_repeated_reservation_of_scontrol_is_a_caution(dump: Path) -> None:
    (dump / "reservations.txt").write_text(
        "ReservationName=fix StartTime=2034-01-10T00:00:00 EndTime=2034-01-11T00:00:00\n"
        "   Nodes=n[001-004] NodeCnt=4 Flags=MAINT,WEEKLY\n"
    )
    (note,) = [note for note in read_site(dump).notes if "reservation" in note.what]
    assert note.what == "past occurrences of reservation fix"


def test_maintenance_withholds_gpus_and_lasts_until_the_last_job(dump: Path, farm: Farm) -> None:
    """Each node has two; an open end is the end of the log."""
    change(dump / "sinfo.txt", "|64000|(null)|", "|64000|gpu:a100:2(S:0-1)|")
    change(dump / "sacct.txt", "|cpu=1,mem=1G|cpu=1,mem=1G|", "|cpu=1,gres/gpu=1|cpu=1|")
    clear(dump, "2024-01-10T00:00:00", "2024-01-11T00:00:00")
    jobs = read_site(dump).jobs
    last = int((jobs.submit + jobs.run).max())
    near = datetime.fromtimestamp(jobs.epoch + last - 60, UTC).isoformat()[:19]
    closed = "fix|2024-01-10T00:00:00|2024-01-11T00:00:00|MAINT|n[001-003]"
    reserve(dump, closed, f"open|{near}|Unknown|MAINT|n008")
    site = read_site(dump)
    first, second = site.jobs.platform.to_dict()["configuration"]["windows"]
    assert (first["gpus"], first["regions"]) == (6, {"batch,debug": 48})
    assert (second["gpus"], second["from"], second["until"]) == (2, last - 60, last)
    farm("site", dump, "--no-fit")
    (trace, _) = Campaign.from_toml(dump / "campaign.toml").traces
    jobs = trace.placed(read_log(site.log, processors=128, clean=CLEAN))
    assert jobs.platform == site.jobs.platform


def test_another_number_of_processors_scales_maintenance(dump: Path, farm: Farm) -> None:
    """Above the nodes of sinfo, too: no job is dropped, and the campaign has the same machine."""
    reserve(dump, "fix|2024-01-10T00:00:00|2024-01-11T00:00:00|MAINT|n001")
    edit(dump, 50, ReqCPUS="150", AllocCPUS="150")
    farm("site", dump, "--no-fit", "--processors", 200)
    site = read_site(dump, processors=200)
    configuration = site.jobs.platform.to_dict()["configuration"]
    assert configuration["regions"] == {"batch,debug": 200}
    assert configuration["windows"][0]["regions"] == {"batch,debug": 25}
    (trace, _) = Campaign.from_toml(dump / "campaign.toml").traces
    jobs = trace.placed(read_log(site.log, processors=200, clean=CLEAN))
    assert (len(jobs), jobs.platform) == (len(site.jobs), site.jobs.platform)


def busy(dump: Path, width: int, begin: str, end: str) -> None:
    """Let one job of the log have a width, and run from and until some instants."""
    hours = (
        int((datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds()) // 3600
    )
    edit(
        dump, 100, ReqCPUS=str(width), AllocCPUS=str(width), Submit=begin, Eligible=begin,
        Start=begin, End=end, Elapsed=f"{hours}:00:00", Timelimit=f"{hours}:00:00",
    )  # fmt: skip


def test_maintenance_that_the_log_contradicts_is_a_caution(dump: Path) -> None:
    """A job of all processors ran in a reservation that ignored it."""
    busy(dump, 128, "2024-01-10T00:00:00", "2024-01-11T00:00:00")
    reserve(dump, "fix|2024-01-10T00:00:00|2024-01-11T00:00:00|MAINT,IGNORE_JOBS|n[001-004]")
    site = read_site(dump)
    assert site.jobs.platform == Pool(128)
    (note,) = [note for note in site.notes if "maintenance" in note.what]
    assert "more processors run jobs in the log" in note.effect


def test_the_capacity_is_searched_where_jobs_fit_next_to_maintenance(dump: Path) -> None:
    """A job of 7 of 8 nodes would not fit next to the eighth of a smaller machine."""
    busy(dump, 112, "2024-01-10T06:00:00", "2024-01-10T12:00:00")
    reserve(dump, "fix|2024-01-10T00:00:00|2024-01-11T00:00:00|MAINT|n008")
    site = read_site(dump)
    least, most = PARAMETERS["processors"].bounds(site)
    assert (least, most) == (127, 128)


def test_more_intervals_than_a_machine_has_are_a_caution(
    dump: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Partitions and their limits remain."""
    monkeypatch.setattr("schedfarm.core.machines.resources.windows.MOST_TIMES", 1)
    change(dump / "slurm.conf", "PartitionName=batch", "PartitionName=batch MaxTime=900:00:00")
    clear(dump, "2024-01-10T00:00:00", "2024-01-12T00:00:00")
    days = ["2024-01-10T00:00:00|2024-01-10T06:00:00", "2024-01-11T00:00:00|2024-01-11T06:00:00"]
    reserve(dump, *(f"fix|{day}|MAINT|n001" for day in days))
    site = read_site(dump)
    (note,) = [note for note in site.notes if "maintenance" in note.what]
    assert note.what == "maintenance in 2 intervals"
    assert "more than 1 intervals" in note.effect
    assert site.divided is not None
    assert [*site.divided.max_time] == ["batch"]
    assert not site.divided.windows


def test_cancelled_jobs_wait_during_maintenance(dump: Path, farm: Farm) -> None:
    """The fit's machine has the window, and the jobs leave the queue at their instants."""
    reserve(dump, "fix|2024-01-10T00:00:00|2024-01-11T00:00:00|MAINT|n[001-004]")
    edit(dump, 200, Start="None", State="CANCELLED", Elapsed="00:00:00")
    site = read_site(dump, cancelled="queue")
    assert site.jobs.has_leaving
    assert [note for note in site.notes if "maintenance" in note.what] == []
    assert site.divided is not None
    assert len(site.divided.windows) == 1
    facts = json.loads(farm("site", dump, "--no-fit", "--cancelled", "queue", "--json").stdout)
    assert facts["cancelled"] == 1
