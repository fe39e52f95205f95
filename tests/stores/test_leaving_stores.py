"""Stores of logs with jobs that leave the queue."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from schedfarm import farm
from schedfarm.core import Clean, InputError, read_log, simulate
from schedfarm.core.metrics.summary import summarise
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.store.reading import schedule_of
from schedfarm.farm.verify import verify


def test_jobs_leave_in_a_campaign(tmp_path: Path) -> None:
    """The store has the metrics of a simulation; what it cannot do is refused before a cell."""
    log = tmp_path / "a.swf"
    row = "{0} {1} {2} {3} 4 -1 -1 4 900 -1 {4} 7 -1 -1 -1 -1 -1 -1\n"
    ended = [(-1, 5) if k % 3 else (800, 1) for k in range(90)]
    rows = [row.format(k, 300 * k, 200 * (k % 5), *ended[k]) for k in range(90)]
    log.write_text("; MaxProcs: 4\n" + "".join(rows))
    trace = Trace(file=str(log), clean={"cancelled": "queue"})
    campaign = Campaign(name="a", traces=(trace,), policies=("fcfs+easy",), log=True)
    with pytest.raises(InputError, match="60 jobs of the log left .* rule 'planned'"):
        farm.run(replace(campaign, policies=("fcfs+planned",)), tmp_path / "s")
    with pytest.raises(InputError, match="60 jobs of the log left .* fairness 'strict'"):
        farm.run(replace(campaign, fairness=("strict",)), tmp_path / "s")
    farm.run(campaign, tmp_path / "s")
    told = summarise(simulate(read_log(log, clean=Clean(cancelled="queue")), "fcfs+easy"))
    assert 0 < told["withdrawn"] < 60
    with farm.open(tmp_path / "s") as tree:
        for name in ("withdrawn", "counted", "wait", "utilisation"):
            assert tree["/"][name].item() == told[name]
    assert not list(verify(tmp_path / "s"))
    with pytest.raises(InputError, match="left the queue before a start, and stores lack"):
        schedule_of(tmp_path / "s", trace="a", policy="fcfs+easy", resample=0)
