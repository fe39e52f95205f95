"""Names in Jones and Ligon, a paper without tables: schedulers, groups, lines and figures.

Source: W. M. Jones and W. B. Ligon, Ensuring fairness among participating clusters during
multi-site parallel job scheduling, 2005, sections 4 and 5.
"""

from __future__ import annotations

from typing import NamedTuple

ALONE, ICS, FAIR = "fcfs+isolated(10)", "fcfs+ics", "fcfs+icsb(10)"
"""Policies of No Share, ICS and ICS+B (section 4); 10 is the paper's backfill depth."""

FIXED, OTHERS, GRID = "FC", "OC", "G"
"""Groups of jobs by the place of submission: the fixed cluster, which is the last one; the other
clusters; and all clusters."""


class Curve(NamedTuple):
    """Hold a line of figures 4 to 6: the jobs of a group under a policy."""

    policy: str
    group: str


CURVES = {
    "No share on FC": Curve(ALONE, FIXED),
    "ICS on G": Curve(ICS, GRID),
    "ICS+B on FC": Curve(FAIR, FIXED),
    "ICS+B on OC": Curve(FAIR, OTHERS),
    "ICS+B on G": Curve(FAIR, GRID),
}
"""The lines of figures 4 to 6."""


class Difference(NamedTuple):
    """Hold a row of `DIFFERENCES`: mean turnaround under one policy minus that under another."""

    policy: str
    base: str
    group: str


DIFFERENCES = {
    "ICS+B less no share, on FC": Difference(FAIR, ALONE, FIXED),
    "ICS less no share, on FC": Difference(ICS, ALONE, FIXED),
    "ICS+B less ICS, on FC": Difference(FAIR, ICS, FIXED),
    "ICS+B less ICS, on OC": Difference(FAIR, ICS, OTHERS),
    "ICS+B less ICS, on G": Difference(FAIR, ICS, GRID),
}
"""Differences that section 5 discusses."""

FIGURES = {
    (100, 100, 100, 100): "figure-4",
    (100, 100, 100, 50): "figure-5",
    (200, 100, 100, 50): "figure-6",
}
"""The paper's figures, by the sizes of the clusters."""
