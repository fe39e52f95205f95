"""Schedules: what follows from the starts, what does not, and the job that never started."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from schedfarm.core import InputError, Schedule, Workload
from schedfarm.core.logs.schedules import LoggedSchedule
from schedfarm.core.schedule import Segments, State

START = np.array([0, 6, 4])
NONE = np.zeros(3, np.bool_)


def three() -> Workload:
    return Workload.from_columns(
        submit=[0, 1, 2],
        run=[6, 4, 9],
        estimate=[6, 4, 9],
        procs=[2, 3, 1],
        job=[11, 12, 13],
        killed=[False, True, False],
        processors=3,
        name="three",
    )


def test_what_follows_from_the_starts() -> None:
    """Ends by the run times, kills by the workload, and one place for all."""
    s = Schedule(three(), "by hand", START, NONE)
    assert s.end.tolist() == [6, 10, 13]
    assert s.wait.tolist() == [0, 5, 2]
    assert s.state.tolist() == [State.DONE, State.KILLED, State.DONE]
    assert s.killed.tolist() == [False, True, False]
    assert s.place.tolist() == [0, 0, 0]
    assert s.segments is None
    assert (s.end.dtype, s.state.dtype, s.place.dtype) == (np.int64, np.int8, np.int64)
    assert s.end is s.end


def test_what_is_given_stands() -> None:
    """A failure cuts a job, a link stretches one, another runs in two places."""
    segments = Segments(np.array([2, 2]), np.array([0, 1]), np.array([1, 2]))
    s = Schedule(
        three(),
        "by hand",
        START,
        NONE,
        end=np.array([3, 10, 20]),
        state=np.array([State.LOST, State.DONE, State.DONE], np.int8),
        place=np.array([1, 0, 0]),
        segments=segments,
    )
    assert s.end.tolist() == [3, 10, 20]
    assert [State(code).name for code in s.state] == ["LOST", "DONE", "DONE"]
    assert not s.killed.any()
    assert s.place.tolist() == [1, 0, 0]
    assert s.segments is segments


def test_other_starts_have_other_ends() -> None:
    """What followed from the old starts does not outlive them; what was given does."""
    s = Schedule(three(), "by hand", START, NONE, place=np.array([2, 2, 2]))
    assert s.end.tolist() == [6, 10, 13]
    moved = replace(s, start=START + 1)
    assert moved.end.tolist() == [7, 11, 14]
    assert moved.place.tolist() == [2, 2, 2]
    assert replace(s, end=START).end.tolist() == START.tolist()


def test_a_job_that_did_not_start_is_refused() -> None:
    """No simulation may ever return one, unless it says that it refused the job."""
    start = np.array([0, -1, 4])
    with pytest.raises(InputError, match=r"'by hand': job 12 of workload 'three' has the start -1"):
        Schedule(three(), "by hand", start, NONE)
    lost = np.array([State.DONE, State.LOST, State.DONE], np.int8)
    with pytest.raises(InputError, match="job 12"):
        Schedule(three(), "by hand", start, NONE, state=lost)
    refused = np.array([State.DONE, State.REFUSED, State.DONE], np.int8)
    assert Schedule(three(), "by hand", start, NONE, state=refused).start[1] == -1
    with pytest.raises(InputError, match="job 12 .* has the start 6; a refused job has .* -1"):
        Schedule(three(), "by hand", START, NONE, state=refused)


def test_a_refused_job_took_nothing() -> None:
    """It neither waited nor held a processor, and its end follows from that too."""
    refused = np.array([State.DONE, State.REFUSED, State.LOST], np.int8)
    s = Schedule(three(), "by hand", np.array([0, -1, 4]), NONE, state=refused)
    assert s.end.tolist() == [6, -1, 13]
    assert s.wait.tolist() == [0, 0, 2]
    assert s.held.tolist() == [6, 0, 9]
    assert s.taken.tolist() == [2, 0, 1]
    assert (s.refused.tolist(), s.lost.tolist()) == ([False, True, False], [False, False, True])


def test_jobs_held_what_their_parts_held() -> None:
    """A moldable job takes other processors than it asked for, one that never ran none."""
    parts = Segments(np.array([0, 0, 2]), np.array([0, 2, 1]), np.array([2, 2, 1]))
    assert Schedule(three(), "by hand", START, NONE, segments=parts).taken.tolist() == [4, 0, 1]
    assert Schedule(three(), "by hand", START, NONE).taken.tolist() == [2, 3, 1]


def test_what_was_counted_is_told() -> None:
    """By default nothing; counts go along with a schedule that is changed."""
    s = Schedule(three(), "by hand", START, NONE, counts={"selections": 4, "given_up": 1})
    assert s.counts["given_up"] == 1
    assert replace(s, start=START + 1).counts == s.counts
    assert dict(Schedule(three(), "by hand", START, NONE).counts) == {}


def test_no_job_is_no_fault() -> None:
    """A schedule may be empty."""
    empty = three().take(slice(0, 0))
    s = Schedule(empty, "by hand", np.empty(0, np.int64), np.empty(0, np.bool_))
    assert (s.end.size, s.state.size, s.place.size) == (0, 0, 0)


def test_a_log_may_tell_of_starts_before_the_clock() -> None:
    """It is for an audit to blame them."""
    early = LoggedSchedule(three(), "", START - 5, NONE, overrun=np.zeros(3, np.int64))
    assert early.start[0] == -5
    moved = replace(early, start=START)
    assert (moved.end.tolist(), moved.overrun.tolist()) == ([6, 10, 13], [0, 0, 0])


def test_a_schedule_is_shown_on_one_line() -> None:
    """Policy, jobs, machine and span; a job that never started is not in the span."""
    lasts = "from the first submission to the last end>"
    shown = repr(Schedule(three(), "by hand", START, NONE))
    assert shown == f"<Schedule 'by hand': 3 jobs of 'three' on 3 processors, 13 s {lasts}"
    state = np.array([State.REFUSED, State.DONE, State.DONE], np.int8)
    start = np.array([-1, 6, 4])
    assert repr(Schedule(three(), "by hand", start, NONE, state=state)).endswith(f", 12 s {lasts}")
    one = Segments(np.array([1, 1]), np.array([0, 1]), np.array([1, 2]))
    assert repr(one) == "<Segments: 2 parts of 1 job>"
