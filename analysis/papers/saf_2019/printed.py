"""Numbers that Carastan-Santos et al. 2019 print.

Source: D. Carastan-Santos, R. Y. de Camargo, D. Trystram, S. Zrigui, One can only gain by replacing
EASY backfilling: a simple scheduling policies case study, CCGrid 2019. Logs have the labels of the
campaign `saf-2019` as keys, and policies have their names in the paper.
"""

from __future__ import annotations

from typing import NamedTuple

POLICIES = ("FCFS", "SPF", "SQF", "SAF")
"""Queue orders of Table I, the baseline first."""

OBJECTIVES = ("bounded_slowdown", "pp_bounded_slowdown", "wait")
"""The store's names of the metrics of figure 1, in the order of its rows."""


class Log(NamedTuple):
    """Hold a row of Table II: processors, jobs, utilisation in percent, months."""

    processors: int
    jobs: int
    utilisation: float
    months: int


TABLE_2 = {
    "HPC2N": Log(240, 202_871, 60.1, 42),
    "SDSC-BLUE": Log(1152, 243_306, 76.7, 32),
    "SDSC-SP2": Log(128, 59_715, 83.4, 24),
    "CTC-SP2": Log(338, 77_222, 85.2, 11),
    "KTH-SP2": Log(100, 28_476, 70.1, 11),
}
"""Rows of Table II (section IV)."""

TABLE_3 = {"HPC2N": 17.4, "SDSC-BLUE": 30.2, "SDSC-SP2": 16.1, "CTC-SP2": 9.5, "KTH-SP2": 12.4}
"""Percentage of premature jobs (section V-C)."""

TABLE_4 = {
    "FCFS": (17.84, 3.59, 3.94, 5.58, 8.69),
    "SPF": (17.29, 7.17, 4.36, 5.04, 12.09),
    "SQF": (14.02, 2.96, 2.04, 1.67, 9.31),
    "SAF": (17.88, 7.41, 3.79, 2.61, 11.41),
}
"""Mean slowdown of premature jobs divided by that of standard jobs (section V-C), by log."""


class Gain(NamedTuple):
    """Hold a gain over FCFS in percent, the policy with this gain, and the section in the paper."""

    value: float
    policy: str
    where: str


GAINS = {
    "bounded_slowdown": Gain(83.4, "SPF", "V-A; VI says SAF"),
    "wait": Gain(61.4, "SAF", "V-A"),
    "pp_bounded_slowdown": Gain(85.1, "SAF", "V-A"),
}
"""Largest gain in each objective."""

FEWER_BACKFILLED = {"SAF": 78, "SPF": 56}
"""Percentage by which backfilled jobs are fewer than under FCFS, mean of the logs (section V-D)."""

MORE_AT_ONCE = 9
"""Percentage by which jobs at slowdown 1 are more under SAF than under FCFS (section VI)."""

FEWER_WORST = 2.8
"""Factor by which jobs at slowdown 100 and more are fewer under SAF (sections V-C and VI)."""
