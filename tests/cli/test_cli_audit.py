"""`farm audit`: schedules written by `farm simulate`, planted faults, and other people's files."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from schedfarm.core.audit import read_schedule
from schedfarm.core.logs.clean import Clean
from tests.support.command_line import run_farm as farm
from tests.support.refusals import ROW, Said, unlike

BURST = "".join(
    f"{job} {job // 3 * 7} -1 {run} {procs} -1 -1 {procs} {run + job % 4} -1 1 1{6 * ' -1'}\n"
    for job, (run, procs) in enumerate(
        [(30, 3), (12, 4), (0, 1), (9, 2), (25, 1), (8, 4), (5, 2), (40, 1), (3, 3), (11, 2)] * 3, 1
    )
)
"""Thirty jobs that come in threes, of run 0 and of the machine's width among them."""


def judged(path: Path, policy: str, *options: object) -> tuple[int, str, int | None, int | None]:
    """Audit a file; return the exit status, the rule, job and instant that it names."""
    done = farm("audit", path, "--policy", policy, "--json", *options, status=None)
    facts = json.loads(done.output)
    assert facts["sound"] == (done.exit_code == 0)
    return done.exit_code, facts["rule"], facts["job"], facts["instant"]


def written(path: Path, rows: list[tuple[int, int, int, int, int]], machine: int = 4) -> Path:
    """Write (submit, start, run, procs, request) as anyone's log."""
    lines = [
        f"{job} {submit} {start - submit} {run} {procs} -1 -1 {procs} {request} -1 1 1{6 * ' -1'}"
        for job, (submit, start, run, procs, request) in enumerate(rows, 1)
    ]
    path.write_text("\n".join([f"; MaxProcs: {machine}", *lines, ""]))
    return path


@pytest.mark.parametrize(
    ("policy", "name"),
    [
        ("fcfs+none", "out.swf"),
        ("saf+aggressive", "out.swf.gz"),
        ("spf+easy,threshold=20s", "out.swf"),
        ("fcfs+easy,backfill=spf,events=per-event", "out.swf.gz"),
        ("lxf+depth(2)", "out.swf"),
        ("saf+conservative", "out.swf.gz"),
        ("fcfs+planned", "out.swf"),
        ("fcfs+planned,walk=arrival", "out.swf.gz"),
    ],
)
def test_what_simulate_writes_is_sound(tmp_path: Path, policy: str, name: str) -> None:
    """Every rule, plain or gzip; a job that starts one second later is named."""
    log, out = tmp_path / "log.swf", tmp_path / name
    log.write_text("; MaxProcs: 4\n" + BURST)
    farm("simulate", log, "--policy", policy, "--out", out)
    assert judged(out, policy) == (0, None, None, None)
    content = out.read_bytes()
    text = (gzip.decompress(content) if name.endswith(".gz") else content).decode()
    job, submit, wait, rest = text.splitlines()[-7].split(maxsplit=3)
    late = tmp_path / "late.swf"
    late.write_text(
        text.replace(f"{job} {submit} {wait} {rest}", f"{job} {submit} {int(wait) + 1} {rest}")
    )
    status, rule, blamed, instant = judged(late, policy)
    assert (status, rule) == (1, policy)
    assert (blamed, instant) == (int(job), int(submit) + int(wait))


EASY = [(0, 0, 10, 3, 10), (1, 10, 5, 4, 5), (2, 2, 8, 1, 8)]
"""The second job waits for the first; the third runs beside it up to the shadow time, 10."""

RESERVED = [(0, 0, 10, 3, 10), (1, 10, 5, 4, 5), (2, 15, 3, 4, 3), (3, 3, 4, 1, 4)]
"""The second and third job hold reservations at 10 and 15; the fourth has 7 s before them."""


FAULTS = {
    "a second early": (EASY, 2, (1, 9, 5, 4, 5), "easy", ("capacity", 2, 9)),
    "before its submission": (EASY, 3, (2, 0, 8, 1, 8), "easy", ("submit", 3, 0)),
    "past the shadow": (EASY, 3, (2, 2, 9, 1, 9), "easy", ("fcfs+easy", 3, 2)),
    "one processor too many": (EASY, 1, (0, 0, 11, 3, 11), "aggressive", ("capacity", 2, 10)),
    "past the shadow by request": (EASY, 3, (2, 2, 12, 1, 10), "easy", ("fcfs+easy", 3, 2)),
    "past its estimate": (EASY, 3, (2, 2, 10, 1, 8), "aggressive", ("kills", 3, 10)),
    "could start earlier": (
        RESERVED,
        4,
        (3, 18, 4, 1, 4),
        "conservative",
        ("fcfs+conservative", 4, 3),
    ),
    "reserved earlier": (RESERVED, 4, (3, 18, 4, 1, 4), "planned", ("fcfs+planned", 4, 3)),
}
"""Schedules, the job whose row is changed, the changed row, a policy, and the verdict."""


def test_planted_faults(tmp_path: Path) -> None:
    """A bare rule means fcfs; one changed row is found, with its rule, job and instant."""
    for name, (good, job, changed, policy, fault) in FAULTS.items():
        sound = written(tmp_path / "good.swf", good)
        assert judged(sound, policy) == (0, None, None, None), name
        rows = [changed if place == job else row for place, row in enumerate(good, 1)]
        assert judged(written(tmp_path / "bad.swf", rows), policy) == (1, *fault), name


def test_the_verdict_in_words(tmp_path: Path) -> None:
    """What was checked and left out, then the verdict; or the first job, when and why."""
    rows = [*EASY, (3, 2, 5, 1, 5)]
    path = written(tmp_path / "a.swf", rows)
    done = farm("audit", path, "--policy", "EASY")
    assert done.output == (
        f"{path}: 3 jobs on 4 processors against fcfs+easy\n"
        "  left out: 1 row, no wait\n"
        "  checked: start, submit, kills, capacity, fcfs+easy\n"
        "  events instant: at one instant completions come before submissions, then one pass\n"
        "sound: every one of the 3 jobs keeps start, submit, kills, capacity and fcfs+easy\n"
    )
    done = farm("audit", path, "--policy", "none", status=1)
    assert done.output == (
        f"{path}: 3 jobs on 4 processors against fcfs+none\n"
        "  left out: 1 row, no wait\n"
        "  checked: start, submit, kills, capacity, fcfs+none\n"
        "  events instant: at one instant completions come before submissions, then one pass\n"
        "refuted: fcfs+none is broken first by job 3\n"
        "  at 2 s job 3 (1 processors) started, but job 2 (4 processors), before it in the queue, "
        "waits\n"
    )


def test_what_is_unaudited_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's own order, for which the auditor has no formula, and a rule without an auditor."""
    (tmp_path / "mine.py").write_text("def widest(procs):\n    return -procs\n")
    monkeypatch.chdir(tmp_path)
    path = written(tmp_path / "a.swf", EASY)
    said = farm("audit", path, "--policy", "mine:widest+easy").output
    assert "\n  unaudited: order mine:widest\n" in said
    assert "mine:widest+easy; no formula of the auditor's own checks order mine:widest\n" in said
    facts = json.loads(farm("audit", path, "--policy", "fcfs+tabu", "--json").stdout)
    assert (facts["unaudited"], facts["sound"]) == (["rule tabu"], True)
    # Passes are judged all the same, by the numbers that the function gives.
    late = [*EASY[:2], (2, 15, 8, 1, 8)]
    assert judged(written(tmp_path / "b.swf", late), "mine:widest+easy")[2:] == (3, 2)


PYSS = [(0, 0, 10, 3, 12), (1, 13, 5, 4, 5), (10, 10, 3, 1, 3)]
"""At 10 the third comes before the first, which nobody expects to end, has ended: it fits."""

AS_PYSS = (
    "as pyss: at one instant submissions come before completions, a pass follows each single "
    "event, and jobs that are predicted to have ended by then count as gone"
)


def test_the_clock_is_named(tmp_path: Path) -> None:
    """A schedule of the pyss family keeps its policy per event."""
    path = written(tmp_path / "a.swf", PYSS)
    done = farm("audit", path, "--policy", "aggressive,events=per-event")
    assert f"\n  events per-event: {AS_PYSS}\nsound: every one" in done.output


def test_another_clock_that_is_kept_is_named(tmp_path: Path) -> None:
    """Whether it is ours or theirs; one that breaks both is not excused."""
    path = written(tmp_path / "a.swf", PYSS)
    done = farm("audit", path, "--policy", "aggressive", status=1)
    assert done.output.endswith(f"\nit conforms to fcfs+aggressive,events=per-event: {AS_PYSS}\n")
    ours = written(tmp_path / "b.swf", [PYSS[0], (1, 10, 5, 4, 5), (10, 15, 3, 1, 3)])
    theirs = "aggressive,events=per-event"
    facts = json.loads(farm("audit", ours, "--policy", theirs, "--json", status=1).stdout)
    assert (facts["sound"], facts["events"], facts["clock"]) == (False, "per-event", AS_PYSS)
    assert facts["keeps"] == "fcfs+aggressive"
    neither = written(tmp_path / "c.swf", [PYSS[0], (1, 14, 5, 4, 5), PYSS[2]])
    assert "it conforms" not in farm("audit", neither, "--policy", "aggressive", status=1).output


def test_the_machine_of_a_foreign_file(tmp_path: Path) -> None:
    """Given by hand it goes before the header's: on 5 processors the second job could start."""
    path = written(tmp_path / "a.swf", [(0, 0, 10, 3, 10), (1, 10, 5, 2, 5)])
    assert judged(path, "easy") == (0, None, None, None)
    assert judged(path, "easy", "--processors", 4) == (0, None, None, None)
    assert judged(path, "easy", "--processors", 5) == (1, "fcfs+easy", 2, 1)


def test_what_a_real_log_did_was_not_easy(traces: Path) -> None:
    """The machine of the KTH log was idle when its fifteenth job waited."""
    path = traces / "KTH-SP2-1996-2.1-cln.swf.gz"
    assert judged(path, "easy") == (1, "fcfs+easy", 15, 599850)


def test_bad_options(said: Said, tmp_path: Path) -> None:
    """A policy or a machine that is none is refused with a sentence."""
    path = written(tmp_path / "a.swf", EASY)
    rows = [
        (("esay",), ["unknown rule 'esay'; did you mean 'easy'? known: none, aggressive"]),
        (("saf",), ["policy 'saf' is not of the form ORDER+RULE"]),
        (("conservative,backfill=spf",), ["leave out backfill="]),
        (("easy", "--processors", "0"), ["'--processors': 0 is not in the range x>=1"]),
        (("easy", "--processors", str(2**70)), ["fewer than 2^62"]),
    ]
    assert unlike(rows, lambda words: said("audit", str(path), "--policy", *words)) == []


def test_bad_files(said: Said, tmp_path: Path) -> None:
    """Missing, empty, torn, without a machine, without starts, with absurd ones."""
    path = tmp_path / "a.swf"
    job = "1 {} 5 2 -1 -1 2 5 -1 1 1 -1 -1 -1 -1 -1 -1\n"
    texts = [
        (None, "cannot read the log"),
        ("", "holds no data row"),
        ("; MaxProcs: 4\n1 0 -1 5 2", "5 fields"),
        (job.format("0 0"), "no number as MaxProcs or MaxNodes"),
        ("; MaxProcs: 4\n" + job.format("0 -1"), "gives wait times"),
        (f"; MaxProcs: 4\n{job.format(f'5 {2**63 - 1}')}", "job 1 waits 9223372036854775807 s"),
    ]

    def with_text(text: str | None) -> str:
        if text is not None:
            path.write_text(text)
        return said("audit", str(path), "--policy", "easy")

    rows = [(text, [f"farm: {path}", sentence]) for text, sentence in texts]
    assert unlike(rows, with_text) == []


def test_a_schedule_is_read_as_its_rows_are_cleaned(tmp_path: Path) -> None:
    """Batsim runs a second more than its log says; a job that is killed here runs on there."""
    rows = "; MaxProcs: 2\n" + "".join(
        ROW.format(k, 0).replace("-1 10", f"{wait} 30", 1) for k, wait in ((1, 0), (2, 31))
    )
    path = tmp_path / "b.swf"
    path.write_text(rows)
    assert judged(path, "easy")[0] == 1
    assert judged(path, "easy", "--clean", "run_plus=1,kill=false")[0] == 0
    schedule = read_schedule(path, clean=Clean(run_plus=1, kill=False))
    assert schedule.workload.run.tolist() == [31, 31]
    assert schedule.overrun.tolist() == [0, 0]
