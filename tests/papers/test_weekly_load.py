"""The spread of weekly load that resampling by whole weeks keeps, on five logs of the archive."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from schedfarm.core import Workload, read_swf, resample_weekly
from schedfarm.core.workload.resample_blocks import resample_blocks
from schedfarm.core.workload.resample_weeks import weeks_of
from schedfarm.core.workload.weekly_load import spread, weekly_work

LOGS = {
    "KTH-SP2": "KTH-SP2-1996-2.1-cln",
    "CTC-SP2": "CTC-SP2-1996-3.1-cln",
    "SDSC-SP2": "SDSC-SP2-1998-4.2-cln",
    "HPC2N": "HPC2N-2002-2.2-cln",
    "SDSC-BLUE": "SDSC-BLUE-2000-4.2-cln",
}


@pytest.mark.parametrize("log", LOGS)
def test_weeks_drawn_jointly_keep_the_spread_of_weekly_load(traces: Path, log: str) -> None:
    """On five logs the log's spread lies amid those of 40 resamples, in blocks of 4 weeks too.

    Algorithm 1 draws each user apart: on KTH every one of its resamples spreads more.
    """
    w = read_swf(traces / f"{LOGS[log]}.swf.gz")
    begin, weeks = int(w.submit[0]), weeks_of(w).count.shape[1]

    def swing(one: Workload) -> float:
        return spread(weekly_work(one.submit, one.run, one.procs, begin=begin, weeks=weeks))

    own = swing(w)
    for block in (1, 4):
        found = [swing(resample_blocks(w, seed=1, index=i, block=block)) for i in range(1, 41)]
        low, middle, high = np.quantile(found, [0.1, 0.5, 0.9])
        assert low < own < high
        assert middle == pytest.approx(own, rel=0.12)
    if log == "KTH-SP2":
        apart = [swing(resample_weekly(w, seed=1, index=i)) for i in range(1, 41)]
        assert min(apart) > own
