"""What Sabin and Sadayappan (JSSPP 2005) print, to be set beside what a store gives.

Logs are keyed by their labels in the campaign `sabin-2005`.
"""

from __future__ import annotations

from schedfarm.analysis.papers.needs import Needs
from schedfarm.analysis.papers.sabin_2005.names import BY_SIZE, KINDS, ORDERS, RULES

LOADS = ["0.8", "0.95"]
"""Medium and high load, which the paper's figures show."""

NEEDS = Needs(
    policies=tuple(f"{order}+{rule}" for order in ORDERS for rule in RULES),
    fairness=tuple(KINDS),
    loads=tuple(LOADS),
    keep="jobs",
)
"""What a store must have: the paper's nine policies, its fairness, and loads of the logs."""

TABLE_1 = {
    "CTC-SP2": (2209, 435, 722, 487, 609, 309, 157, 45, 30),
    "SDSC-BLUE": (3, 0, 0, 2489, 653, 569, 616, 396, 277),
}
"""The paper's Table 1: number of jobs by width."""

TABLE_2 = {
    ("CTC-SP2", "strict"): (0.96, 0.97, 0.93, 0.93, 0.95, 0.94, 0.97, 0.96, 0.98, 0.94),
    ("CTC-SP2", "relaxed"): (0.96, 0.95, 0.87, 0.76, 0.85, 0.83, 0.96, 0.97, 0.91, 0.95),
    ("CTC-SP2", "resource"): (0.96, 0.97, 0.89, 0.88, 0.88, 0.91, 0.98, 0.97, 0.95, 0.96),
    ("SDSC-BLUE", "strict"): (0.95, 0.98, 0.97, 0.97, 0.97, 0.96, 0.97, 0.99, 0.94, 0.85),
    ("SDSC-BLUE", "relaxed"): (0.91, 0.96, 0.96, 0.98, 0.97, 0.95, 0.96, 0.98, 0.88, 0.74),
    ("SDSC-BLUE", "resource"): (0.93, 0.98, 0.96, 0.98, 0.97, 0.98, 0.95, 0.97, 0.93, 0.76),
}
"""The paper's Table 2: Spearman's correlation of ten subsets with the whole."""

TABLE_2 |= {(log, BY_SIZE): TABLE_2[log, "resource"] for log in TABLE_1}
