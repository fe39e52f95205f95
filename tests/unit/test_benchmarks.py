"""What the benchmarks do beside measuring: tasks, comparisons and the tables they print."""

from __future__ import annotations

import os
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

from schedfarm.core import Workload, lublin, read_swf, simulate, write_swf
from tests.benchmarks import against, published, table
from tests.benchmarks.fields import Field, between, differing, laid_out, noise, swapped
from tests.benchmarks.floor import chained, passed
from tests.benchmarks.peers.__main__ import Line, laid_out as audited, read_starts
from tests.benchmarks.peers.schedgym import Job, Loop
from tests.benchmarks.roofline import Counted, binding, read_counts
from tests.benchmarks.stand import measured
from tests.benchmarks.whole import REPORT, Looks, Spent, stages


def answered(before: list[float], after: list[float], starts: int = 7) -> Field:
    """A field of 6 million jobs with these times."""
    found = Field("easy", "KTH", {})
    found.before += [{"jobs": 6_000_000, "seconds": s, "starts": 7} for s in before]
    found.after += [{"jobs": 6_000_000, "seconds": s, "starts": starts} for s in after]
    return found


def test_a_field_compares_the_best_rounds() -> None:
    found = answered([4.0, 3.0], [2.5, 1.5])
    assert found.speed() == "2.00 to 4.00 (2.00)"
    assert laid_out("M jobs", [found], Field.speed).splitlines() == [
        "| M jobs | KTH |",
        "|---|---:|",
        "| easy | 2.00 to 4.00 (2.00) |",
    ]


def test_noise_is_that_of_rounds_beside_the_best_of_their_checkout() -> None:
    said = noise([answered([1.0, 1.5, 1.0], [1.0, 1.0, 2.0])])
    assert said == ("Rounds were slower than the best one by 0 % in the median, 100 % at most.")


def test_other_starts_are_told() -> None:
    same, other = answered([1.0], [1.0]), answered([1.0], [1.0], starts=8)
    assert differing([same]) == "Starts are the same in all 1 fields."
    assert differing([same, other]) == "Starts differ in 1 of 2 fields: easy on KTH."


def test_every_other_round_begins_with_the_second_checkout() -> None:
    assert [list(swapped([0, 1], turn)) for turn in range(3)] == [[0, 1], [1, 0], [0, 1]]


def test_a_ratio_above_one_is_faster_speed() -> None:
    assert between(0.5, 2.0) == "0.500 to 2.00 (4.00)"


def test_the_sum_of_starts_is_that_of_the_simulation(tmp_path: Path) -> None:
    log = tmp_path / "few.swf"
    write_swf(lublin(16, jobs=30, seed=2), log)
    starts = simulate(read_swf(log), "lxf+easy").start
    answer = measured(against.asked("simulate", log, "lxf+easy"))
    assert answer["starts"] == zlib.crc32(starts.tobytes())


def test_stages_end_at_the_last_of_their_events() -> None:
    events = [
        {"event": "begin", "time": 102.0},
        {"event": "block", "time": 103.0},
        {"event": "running", "time": 104.0},
        {"event": "block", "time": 107.0},
        {"event": "end", "time": 107.5},
    ]
    looks = Looks([100.0, 102.0, 107.0, 112.0], [0.0, 1.0, 9.0, 14.0])
    found = stages(events, 100.0, Spent(12.0, 14.0), looks.when)
    assert found == {
        "start, plan": Spent(2.0, 1.0),
        "cells": Spent(5.0, 8.0),
        "summary": Spent(0.5, 0.5),
        REPORT: Spent(4.5, 4.5),
    }


def test_the_time_of_a_process_that_has_ended_is_kept() -> None:
    looks = Looks()
    looks(os.getpid())
    first = looks.cpu[0]
    assert first > 0
    looks.at[0] -= 60
    looks(2**22 + 1)  # no process has this number: the largest one is 2^22
    assert looks.cpu == [first, first]


def test_stages_of_both_checkouts_are_compared_by_their_best() -> None:
    slow, quick = {"cells": Spent(4.0, 8.0)}, {"cells": Spent(2.0, 9.0)}
    assert against.by_stages("saf", [slow, quick], [quick]).splitlines()[2:] == [
        "| cells | 2.00 to 2.00 (1.00) | 8.00 to 9.00 (1.12) |"
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere"], "is no checkout with an environment: there is no"),
        ([".", "all"], "unknown part 'all'; known: speed, fair, overload, starts, runs"),
        ([".", "--rounds", "0"], "--rounds 0: it takes at least 1"),
    ],
)
def test_bad_words_are_said_in_a_sentence(
    words: list[str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["against", *words])
    with pytest.raises(SystemExit, match="2"):
        against.main()
    assert said in capsys.readouterr().err


def test_the_chain_is_xorshift() -> None:
    x, mask = 88172645463325252, 2**64 - 1
    for _ in range(5):
        x ^= x << 13 & mask
        x ^= x >> 7
        x ^= x << 17 & mask
    assert int(chained(5)) == x


def test_a_pass_reads_every_column_and_writes_both() -> None:
    submit, run, estimate, procs = (np.array(c) for c in ([1, 2], [3, 4], [5, 1], [2, 2]))
    start, backfilled = np.zeros(2, np.int64), np.zeros(2, np.bool_)
    passed(submit, run, estimate, procs, start, backfilled)
    assert start.tolist() == [4, 6]
    assert backfilled.tolist() == [True, False]


def test_speeds_have_cycles_beside_them_and_the_floor_below() -> None:
    runs = [
        {"table": "policies", "policy": "fcfs+easy", "log": "KTH", "jobs": 1000, "best": 1e-4},
        {"table": "clock", "hertz": 3e9, "best": 1.0},
        {"table": "pass", "policy": "a pass", "log": "KTH", "jobs": 1000, "each": 5e-10},
    ]
    assert table.speeds(runs).splitlines() == [
        "| k jobs/s: cycles a job | KTH |",
        "|---|---:|",
        "| fcfs+easy | 10,000: 300 |",
        "| a pass | 2,000,000: 1.50 |",
        "",
        "The clock was one of 3.00 GHz.",
    ]


def test_only_what_is_between_the_marks_is_written_anew(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{table.BEGIN}\nold\n{table.END}\nafter\n")
    table.write(page, "new")
    assert page.read_text() == f"before\n{table.BEGIN}\n\nnew\n\n{table.END}\nafter\n"


def test_a_line_of_the_published_simulator() -> None:
    line = published.Line("FIFO", "fcfs+none", 2000, 1999, [0.5, 0.4], [0.001, 0.002], 0.0001)
    assert str(line) == (
        "| FIFO | `fcfs+none` | 2,000 | 1,999 | 4.00 to 5.00 | 1,000 to 2,000 | 20,000 | 400 |"
    )


def test_jobs_without_a_run_time_are_not_compared() -> None:
    jobs = Workload.from_columns(
        submit=[1, 2, 3], run=[4, 0, 5], estimate=[4, 9, 9], procs=[1, 2, 2], processors=2
    )
    kept = published.comparable(jobs)
    assert kept.submit.tolist() == [1, 3]
    assert kept.run.tolist() == [4, 5]


def test_the_loop_of_schedgym_has_one_shadow_time_and_no_extra_processors() -> None:
    """Job 3 would start at 2 under EASY: by its estimate it ends after the shadow time, 10 s, but
    needs only the processor that job 2 leaves free."""
    jobs = [
        Job(1, 0, 10, 2, 10),
        Job(2, 1, 5, 3, 5),
        Job(3, 2, 20, 1, 20),
        Job(4, 2, 7, 1, 7),
    ]
    assert Loop(jobs, 4).simulate() == {1: 0, 4: 2, 2: 10, 3: 10}


def test_a_peer_s_line_names_its_first_violation(tmp_path: Path) -> None:
    jobs = Workload.from_columns(
        submit=[0, 1, 2], run=[10, 5, 20], estimate=[10, 5, 20], procs=[2, 3, 1], processors=4
    )
    file = tmp_path / "jobs.csv"
    file.write_text("job_id,starting_time\nw0!1,0\nw0!3,10.0\nw0!2,10.0\n")
    right = Line("schedfarm", simulate(jobs, "fcfs+easy").start, [0.5, 0.25])
    lines = [right, Line("theirs", read_starts(file, jobs)), Line("cut", np.array([0, -1, 2]))]
    assert list(audited(jobs, lines, "fcfs+easy")) == [
        "| program | jobs/s of CPU | same start | mean wait, s | audit |",
        "|:--|--:|--:|--:|:--|",
        "| schedfarm | 6.00 to 12.0 | 3 | 3 | sound |",
        "| theirs | ran elsewhere | 2 | 6 | refuted |",
        "| cut | ran elsewhere | 2 | 0 | refuted |",
        "",
        "First violation of `fcfs+easy`:",
        "",
        "- theirs: fcfs+easy: at 2 s job 3 (1 processors) was left waiting, but it needs 1 "
        "processors and 2 are free",
        "- cut: job 2 does not start",
    ]


def test_counts_of_callgrind_are_read_by_the_name_of_their_event(tmp_path: Path) -> None:
    (tmp_path / "callgrind.out.7.1").write_text(
        "desc: Trigger: Client Request: fcfs+easy\n"
        "events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw Bc Bcm Bi Bim\n"
        "fn=(1) name\n"
        "totals: 100 30 12 9 5 2 9 1 1 20 3 4 1\n"
    )
    (tmp_path / "callgrind.out.7").write_text("desc: Trigger: Program termination\ntotals: 0\n")
    assert read_counts(tmp_path) == {"fcfs+easy": Counted(100, 42, 24, 4, 7, 2)}


def test_a_kernel_is_bound_by_the_causes_of_large_shares_of_its_cycles() -> None:
    counts = Counted(1_600, 0, 0, 30, 10, 0)
    assert binding(800, counts) == "branches 60%, issue 50%"
    assert binding(8_000, counts) == "latency of dependent operations (branches 6%)"
