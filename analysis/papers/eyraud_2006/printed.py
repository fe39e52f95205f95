"""Numbers that Eyraud 2006 prints.

Source: L. Eyraud, A pragmatic analysis of scheduling environments on new computing platforms, 2006,
section 5.2.
"""

from __future__ import annotations

from typing import NamedTuple

FCFS, DEMT = "fcfs+conservative", "fcfs+demt"
"""Policies of the paper's schedulers: OAR's, and the shelves."""

MACHINE = "Icluster2"
"""Machine of the paper's trace: 104 nodes of 2 processors."""


class Instance(NamedTuple):
    """Hold a row of table 1: numbers of jobs, and differences of start times in hours."""

    jobs: int
    identical: int
    total: float
    mean: float
    sd: float


TABLE_1 = {
    "2(a)": Instance(1391, 362, 113133.0, 109.945, 117.073),
    "2(b)": Instance(1074, 749, 1824.79, 5.61475, 23.1384),
    "2(c)": Instance(575, 221, 121.904, 0.344362, 10.6313),
    "2(d)": Instance(429, 364, -94.8261, -1.45886, 25.825),
    "2(e)": Instance(1292, 757, -757.596, -1.41607, 11.7721),
    "2(f)": Instance(239, 198, -93.0825, -2.2703, 16.1927),
}
"""Rows of table 1; a positive difference means that the job started earlier under the shelves."""
