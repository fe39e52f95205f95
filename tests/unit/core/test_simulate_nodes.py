"""Rules on nodes: cases by hand, what always holds, and nodes of one processor as a pool."""

from __future__ import annotations

import pytest

from schedfarm.core.engine.cancel import Underway
from schedfarm.core.engine.simulate import simulate
from schedfarm.core.errors import InputError, Left
from schedfarm.core.machines.nodes.platform import Nodes
from schedfarm.core.workload.workload import Workload

Job = dict[str, int]

TWO = Nodes([2, 2], ["a", "b"])


def job(submit: int, estimate: int, nodes: int = 1, **others: int) -> Job:
    """Describe a job by its nodes; `run` is the estimate unless it is given."""
    return {"submit": submit, "estimate": estimate, "run": estimate, "nodes": nodes, **others}


def hand(platform: Nodes, *jobs: Job, epoch: int = -1) -> Workload:
    """Build a workload of jobs."""
    usual = {"weight": 1, "properties": -1, "reserved": -1, "serial": -1}
    rows = [{**usual, **one} for one in jobs]
    columns = {name: [row[name] for row in rows] for name in rows[0] if name != "nodes"}
    procs = [row["nodes"] * row["weight"] for row in rows]
    return Workload.from_columns(**columns, procs=procs, platform=platform, epoch=epoch)


def test_shelves__want_an_order_that_stays() -> None:
    """Orders that change while jobs wait are refused, and so is what is for pools."""
    work = hand(TWO, job(0, 9))
    with pytest.raises(InputError, match=r"order 'lxf' changes while jobs wait"):
        simulate(work, "lxf+demt")
    with pytest.raises(InputError, match=r"events=per-event is for one pool"):
        simulate(work, "fcfs+conservative,events=per-event")
    with pytest.raises(InputError, match=r"order 'fair-share' depends on users' usage"):
        simulate(work, "fair-share+conservative")


def test_simulation__is_left_when_asked() -> None:
    """Between two instants, as any other."""
    under = Underway()
    under.leave()
    with under, pytest.raises(Left):
        simulate(hand(TWO, job(0, 9)), "fcfs+conservative")
    with Underway() as under:
        simulate(hand(TWO, job(0, 9)), "fcfs+demt")
    assert under.share == 1.0
