"""Names and numbers that Sabin and Sadayappan (JSSPP 2005) print.

Source: G. Sabin and P. Sadayappan, Unfairness metrics for space-sharing parallel job schedulers,
JSSPP 2005, section 5. Logs have the labels of the campaign `sabin-2005` as keys.
"""

from __future__ import annotations

ORDERS = {"fcfs": "FCFS", "spf": "SJF", "lxf": "LXF"}
"""Queue orders of a store, with their names in the paper."""

RULES = {
    "aggressive": "no guarantee",
    "easy": "aggressive",
    "planned,walk=queue": "conservative",
}
"""Backfilling rules of a store, with their names in the paper. The paper's conservative backfilling
keeps a reservation once it is made."""

LOADS = ["0.8", "0.95"]
"""Medium and high load of the paper's figures."""

TABLE_1 = {
    "CTC-SP2": (2209, 435, 722, 487, 609, 309, 157, 45, 30),
    "SDSC-BLUE": (3, 0, 0, 2489, 653, 569, 616, 396, 277),
}
"""Number of jobs by width."""

TABLE_2 = {
    ("CTC-SP2", "strict"): (0.96, 0.97, 0.93, 0.93, 0.95, 0.94, 0.97, 0.96, 0.98, 0.94),
    ("CTC-SP2", "relaxed"): (0.96, 0.95, 0.87, 0.76, 0.85, 0.83, 0.96, 0.97, 0.91, 0.95),
    ("CTC-SP2", "resource"): (0.96, 0.97, 0.89, 0.88, 0.88, 0.91, 0.98, 0.97, 0.95, 0.96),
    ("SDSC-BLUE", "strict"): (0.95, 0.98, 0.97, 0.97, 0.97, 0.96, 0.97, 0.99, 0.94, 0.85),
    ("SDSC-BLUE", "relaxed"): (0.91, 0.96, 0.96, 0.98, 0.97, 0.95, 0.96, 0.98, 0.88, 0.74),
    ("SDSC-BLUE", "resource"): (0.93, 0.98, 0.96, 0.98, 0.97, 0.98, 0.95, 0.97, 0.93, 0.76),
}
"""Spearman's correlation of ten subsets with all jobs."""
