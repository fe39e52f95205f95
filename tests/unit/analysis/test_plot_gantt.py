"""Gantt charts: the area of the drawn rectangles is the processor time of the metrics."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from matplotlib.collections import PolyCollection

from schedfarm.analysis.plots.axes import time_unit
from schedfarm.analysis.plots.kinds import plot
from schedfarm.analysis.plots.steps import busy_steps
from schedfarm.core import Network, Nodes, Workload, simulate, summarise
from schedfarm.core.metrics.window import window_of
from schedfarm.core.schedule import Schedule

LINKS = [100, 100, 100]
"""Capacities of the clusters' links, kbit/s."""


def pool() -> Schedule:
    return simulate(jobs(16), "spf+easy")


def network() -> Schedule:
    """Three clusters whose jobs are split over them, and slow each other down on the links."""
    clusters = Network([4, 8, 6], ["north", "south", "west"], LINKS)
    origin = np.arange(40) % 3
    talk = {"communication": [500] * 40, "bandwidth": [30] * 40, "alltoall": [1000] * 40}
    schedule = simulate(
        jobs(10, platform=clusters, origin=origin, **talk), "fcfs+ics,links=ignored"
    )
    parts = schedule.segments
    assert parts is not None
    assert np.unique(parts.job).size < parts.job.size, "no job is split"
    assert (schedule.held > schedule.workload.run).any(), "no job is slowed down"
    return schedule


def nodes() -> Schedule:
    """Nodes of an OAR site: a job takes parts of several, and some are of other sizes."""
    site = Nodes([4, 4, 2, 8], ["n1", "n2", "n3", "n4"])
    weight = np.where(np.arange(40) % 3, 1, 2)
    found = jobs(3, factor=weight, platform=site, weight=weight)
    return simulate(found, "fcfs+conservative")


def jobs(widest: int, factor: int | np.ndarray = 1, **given: object) -> Workload:
    random = np.random.default_rng(4)
    run = random.integers(600, 4000, 40)
    machine = {} if "platform" in given else {"processors": 16}
    return Workload.from_columns(
        submit=np.sort(random.integers(0, 20_000, 40)), run=run, estimate=run + 60,
        procs=random.integers(1, widest + 1, 40) * factor, **machine, **given,
    )  # fmt: skip


def drawn(schedule: Schedule) -> list[tuple[int, int, int, int]]:
    """Return the rectangles of a chart: begin and end, s, lowest row, and the row above."""
    figure = plot("gantt", schedule)
    (axes,) = figure.axes
    assert not axes.images, "no rectangle is merged into pixels"
    seconds = time_unit(int(schedule.end.max() - schedule.workload.submit[0]))[0]
    found = []
    for one in axes.collections:
        assert isinstance(one, PolyCollection)
        for path in one.get_paths():
            x, y = path.vertices.min(axis=0), path.vertices.max(axis=0)
            exact = np.array([x[0] * seconds, y[0] * seconds, x[1], y[1]])
            # A chart has floating-point positions of whole seconds and processors.
            assert exact == pytest.approx(exact.round(), abs=1e-6)
            found.append(tuple(exact.round().astype(int).tolist()))
    return found


@pytest.mark.parametrize("machine", [pool, network, nodes])
def test_the_area_is_the_processor_time(machine: Callable[[], Schedule]) -> None:
    schedule = machine()
    boxes = drawn(schedule)
    area = sum((end - begin) * (top - low) for begin, end, low, top in boxes)
    assert area == busy_steps(schedule).integral() > 0
    window = window_of(schedule)
    capacity = schedule.workload.processors * (window.end - window.begin)
    assert summarise(schedule)["utilisation"] == float(Fraction(area, capacity))


@pytest.mark.parametrize("machine", [network, nodes])
def test_the_area_of_each_place_is_its_processor_time(machine: Callable[[], Schedule]) -> None:
    """Rectangles lie within the rows of one place, and none overlaps another."""
    schedule = machine()
    sizes = np.array(schedule.workload.platform.sizes)
    edges = np.concatenate(([0], np.cumsum(sizes)))
    area = np.zeros(sizes.size, np.int64)
    taken = np.zeros((int(schedule.end.max()), edges[-1]), np.int8)
    for begin, end, low, top in drawn(schedule):
        place = int(np.searchsorted(edges, low, side="right")) - 1
        assert top <= edges[place + 1]
        area[place] += (end - begin) * (top - low)
        taken[begin:end, low:top] += 1
    assert taken.max() == 1
    parts = schedule.segments
    job, place, procs = (
        (np.arange(len(schedule.workload)), schedule.place, schedule.taken)
        if parts is None
        else (parts.job, parts.place, parts.procs)
    )
    expected = np.bincount(place, procs * schedule.held[job], minlength=sizes.size)
    assert area.tolist() == expected.tolist()
    assert np.count_nonzero(area) == sizes.size
