"""What Carastan-Santos et al. 2019 print, to be set beside what a store gives.

D. Carastan-Santos, R. Y. de Camargo, D. Trystram, S. Zrigui, One can only gain by replacing EASY
backfilling: a simple scheduling policies case study, CCGrid 2019. Logs are keyed by their labels
in the campaign `saf-2019`, policies by their names in the paper.
"""

from __future__ import annotations

from typing import NamedTuple

POLICIES = ("FCFS", "SPF", "SQF", "SAF")
"""Table I: the queue orders, the baseline first."""

OBJECTIVES = ("bounded_slowdown", "pp_bounded_slowdown", "wait")
"""Figure 1: the store's names of the metrics, in the order of its rows."""


class Log(NamedTuple):
    """A row of Table II: processors, jobs, utilisation in percent, months."""

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
"""Section IV."""

TABLE_3 = {"HPC2N": 17.4, "SDSC-BLUE": 30.2, "SDSC-SP2": 16.1, "CTC-SP2": 9.5, "KTH-SP2": 12.4}
"""Section V-C: percentage of premature jobs."""

TABLE_4 = {
    "FCFS": (17.84, 3.59, 3.94, 5.58, 8.69),
    "SPF": (17.29, 7.17, 4.36, 5.04, 12.09),
    "SQF": (14.02, 2.96, 2.04, 1.67, 9.31),
    "SAF": (17.88, 7.41, 3.79, 2.61, 11.41),
}
"""Section V-C: mean slowdown of premature over that of standard jobs, logs as in `TABLE_2`."""


class Claim(NamedTuple):
    """A number of the running text: what it is, its value, of which policy, and where it stands."""

    what: str
    value: float
    policy: str
    where: str


GAINS = {
    "bounded_slowdown": Claim("slowdown", 83.4, "SPF", "V-A; VI says SAF"),
    "wait": Claim("wait", 61.4, "SAF", "V-A"),
    "pp_bounded_slowdown": Claim("pp-slowdown", 85.1, "SAF", "V-A"),
}
"""Largest gain over FCFS in each metric, in percent."""

FEWER_BACKFILLED = {"SAF": 78, "SPF": 56}
"""Section V-D: percent fewer backfilled jobs than under FCFS, mean of the logs."""

PAIRED = "paired by sample"
"""The mean of each sample's own gain."""

UNPAIRED = "unpaired"
"""The gain of the means over the samples, as the paper has it."""

CLAIMS = {
    **{
        f"gain_{metric}{suffix}": gain._replace(
            what=f"largest gain over FCFS in {gain.what}, %, {how}"
        )
        for metric, gain in GAINS.items()
        for suffix, how in (("", PAIRED), ("_unpaired", UNPAIRED))
    },
    **{
        f"fewer_backfilled_{policy}{suffix}": Claim(
            f"fewer backfilled jobs, mean of the logs, %, {how}", value, policy, "V-D"
        )
        for policy, value in FEWER_BACKFILLED.items()
        for suffix, how in (("", PAIRED), ("_unpaired", UNPAIRED))
    },
    "most_backfilled_SQF": Claim("most backfilled jobs of any sample", 0, "SQF", "V-D, figure 4"),
    "more_at_once": Claim("more jobs at slowdown 1, all logs together, %", 9, "SAF", "VI"),
    "more_at_once_points": Claim("the same in percentage points", 9, "SAF", "VI"),
    "more_at_once_of_a_log": Claim("the same in points, most of any log", 9, "SAF", "VI"),
    "fewer_worst": Claim(
        "fewer jobs at slowdown 100+, all logs together, times", 2.8, "SAF", "V-C, VI"
    ),
    "fewer_worst_of_a_log": Claim("the same, most of any log", 2.8, "SAF", "V-C, VI"),
    "table_4_factor": Claim(
        "typical factor off Table IV, geometric mean of its numbers", 1, "all", "V-C"
    ),
}
"""The numbers that sections V and VI print outside of tables."""
