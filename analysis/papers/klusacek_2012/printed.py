"""Names in Klusacek and Rudova, a paper without tables: algorithms, and the end of its curves.

Source: D. Klusacek and H. Rudova, Performance and fairness for users in parallel job scheduling,
JSSPP 2012, sections 5.1 and 5.2.
"""

from __future__ import annotations

ALGORITHMS = {
    "fcfs+none": "FCFS",
    "fcfs+aggressive": "BF",
    "fcfs+easy": "BF-EASY",
    "fcfs+planned": "BF-CONS",
    "fair-share+aggressive": "BF-FAIR",
    "fcfs+tabu": "TS",
}
"""The paper's algorithms by their policies in a store."""

FCFS, BF, EASY, CONS, FAIR, TABU = ALGORITHMS.values()

BACKFILLING = (BF, EASY, CONS)
"""The paper's "other backfilling algorithms"."""

PROMISING = (CONS, TABU)
"""Algorithms that promise each job a start at its arrival."""

MOST = 10.0
"""End of the CDFs, 1 / processor."""
