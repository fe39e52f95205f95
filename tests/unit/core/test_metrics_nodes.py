"""Metrics where jobs are refused, cut off, reserved in advance, or take more than they asked."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from schedfarm.core import InputError, Schedule, Workload, pp_bounded_slowdown, summarise
from schedfarm.core.machines.nodes.platform import Nodes
from schedfarm.core.metrics.capacity import lost_capacity
from schedfarm.core.metrics.counted import Counted
from schedfarm.core.metrics.declared import metrics_over
from schedfarm.core.metrics.fairness import (
    discrimination,
    lateness,
    slips_and_skips,
    summarise_fairness,
    unfair_share,
    unfairness,
)
from schedfarm.core.metrics.metric import WIDTH
from schedfarm.core.metrics.users import user_waits
from schedfarm.core.metrics.weekly import weekly
from schedfarm.core.metrics.window import window_of
from schedfarm.core.schedule import Segments, State

NODES = Nodes([2, 2, 2], ["n1", "n2", "n3"])

DONE, LOST, REFUSED = State.DONE, State.LOST, State.REFUSED


def five() -> Schedule:
    """One as it asked, one cut off at 15, one refused, one on two nodes instead of one, one
    reserved for 30."""
    work = Workload.from_columns(
        submit=[0, 0, 0, 0, 5],
        run=[10, 20, 8, 5, 9],
        estimate=[10, 20, 8, 5, 9],
        procs=[4, 2, 2, 6, 6],
        weight=[2, 1, 2, 2, 2],
        serial=[-1, -1, 0, -1, -1],
        reserved=[-1, -1, -1, 30, 3],
        user=[7, 7, 8, 8, 7],
        platform=NODES,
    )
    return Schedule(
        work,
        "fcfs+demt",
        np.array([0, 10, 20, 30, -1]),
        np.zeros(5, np.bool_),
        end=np.array([10, 15, 24, 35, -1]),
        state=np.array([DONE, LOST, DONE, DONE, REFUSED], np.int8),
        segments=Segments(
            np.array([0, 0, 1, 1, 2, 2, 3, 3, 3]),
            np.array([0, 1, 0, 2, 0, 1, 0, 1, 2]),
            np.array([2, 2, 1, 1, 2, 2, 2, 2, 2]),
        ),
        counts={"selections": 3, "given_up": 1},
    )


def all_refused() -> Schedule:
    """Nothing could hold anybody."""
    some = five()
    nobody = np.empty(0, np.int64)
    return replace(
        some,
        start=np.full(5, -1),
        given={
            "end": np.full(5, -1),
            "state": np.full(5, REFUSED, np.int8),
            "segments": Segments(nobody, nobody, nobody),
        },
    )


def test_refused_jobs_count_in_no_mean() -> None:
    """They are numbered alone; lost ones count with their wait and their end."""
    found = summarise(five(), tau=1)
    assert (found["jobs"], found["counted"]) == (5, 4)
    assert (found["refused"], found["lost"]) == (1, 1)
    assert found["wait"] == (0 + 10 + 20 + 30) / 4
    assert found["response"] == (10 + 15 + 24 + 35) / 4
    assert found["wait_p50"] == 10
    assert found["makespan"] == 35
    assert found["queue_length"] == 60 / 35
    assert found["bounded_slowdown"] == (1 + 1 + 24 / 8 + 35 / 5) / 4


def test_areas_are_those_that_jobs_held() -> None:
    """Neither the processors nor the time that they asked for."""
    found = summarise(five(), tau=1)
    assert found["utilisation"] == (10 * 4 + 5 * 2 + 4 * 4 + 5 * 6) / (6 * 35)
    slow = [1.0, 15 / (2 * 5), 24 / (4 * 4), 35 / (6 * 5)]
    assert pp_bounded_slowdown(five(), tau=1).tolist() == [*slow, 1.0]
    assert found["pp_bounded_slowdown"] == np.mean(slow)
    waits, areas = np.array([0, 10, 20, 30]), np.array([40, 10, 16, 30])
    assert found["area_weighted_wait"] == (waits * areas).sum() / areas.sum()


def test_capacity_is_lost_for_what_waiting_jobs_come_to_take() -> None:
    """Nobody could have used it for the reserved job before its instant, or for the refused."""
    lost = lost_capacity(five(), np.array([0, 10, 15, 20, 35]))
    assert lost.tolist() == [2 * 10, 4 * 5, 4 * 5, 0]
    assert summarise(five())["loss_of_capacity"] == 60 / (6 * 35)


def test_users_and_widths_go_by_what_was_held() -> None:
    """Two users, three of whose jobs ran for one and two for the other."""
    waits = user_waits(five())
    assert (waits.user.tolist(), waits.jobs.tolist()) == ([7, 8], [2, 2])
    assert waits.work.tolist() == [50, 46]
    assert waits.nuwt.tolist() == [10 / 50, 50 / 46]
    counted = Counted(five())
    found = {metric.name: metric.value(counted) for metric in metrics_over(WIDTH)}
    assert found["width_jobs"].tolist() == [0, 1, 2, 1, 0, 0, 0, 0, 0]
    assert found["width_wait"][1:4].tolist() == [10, 10, 30]
    assert weekly(five())["week_jobs"].tolist() == [4]


def test_windows_leave_refused_jobs_out() -> None:
    """A share is one of the others, whose ends alone come first or last."""
    assert window_of(five()).counts.tolist() == [True, True, True, True, False]  # type: ignore[union-attr]
    warm = window_of(five(), 0.25)
    assert (warm.begin, warm.end) == (10, 35)
    assert warm.counts is not None
    assert warm.counts.tolist() == [False, True, True, True, False]
    assert summarise(five(), warmup=0.25)["utilisation"] == 56 / (6 * 25)
    cool = window_of(five(), cooldown=True)
    assert cool.counts is not None
    assert not cool.counts.any()


def test_where_all_are_refused_there_is_no_mean() -> None:
    """No figure fails, and none is told of nobody."""
    found = summarise(all_refused())
    assert (found["refused"], found["counted"], found["makespan"]) == (5, 0, 0)
    assert math.isnan(found["wait"])
    assert math.isnan(found["utilisation"])
    assert weekly(all_refused())["week_jobs"].tolist() == []
    assert weekly(all_refused(), weeks=2)["week_jobs"].tolist() == [0, 0]
    fair = summarise_fairness(all_refused(), np.full(5, -1))
    assert all(math.isnan(value) or value == 0 for value in fair.values())


def test_a_refused_job_is_never_late() -> None:
    """It has no fair start, and is none of those over which a mean is taken."""
    fst = np.array([0, 4, 20, 30, -1])
    assert lateness(five(), fst).tolist() == [0, 6, 0, 0, 0]
    assert (unfairness(five(), fst), unfair_share(five(), fst)) == (6 / 4, 1 / 4)
    with pytest.raises(InputError, match="fst of job 1 is -1: fair start times of all jobs that"):
        lateness(five(), np.array([0, -1, 20, 30, -1]))


def test_refused_jobs_pass_nobody() -> None:
    """The order of the others is that of their numbers."""
    slips, skips = slips_and_skips(five())
    assert (slips.tolist(), skips.tolist()) == ([0] * 5, [0] * 5)
    later = replace(five(), start=np.array([0, 25, 20, 30, -1]))
    slips, skips = slips_and_skips(later)
    assert (slips.tolist(), skips.tolist()) == ([0, 1, 0, 0, 0], [0, 0, 1, 0, 0])


def test_what_is_used_is_shared_among_those_who_held() -> None:
    """What some deserved more than they got, others got more than they deserved."""
    short = discrimination(five())
    assert short.sum() == pytest.approx(0)
    assert short[4] == 0
    assert summarise_fairness(five())["resource_unfairness"] == np.maximum(short, 0).sum() / 4
