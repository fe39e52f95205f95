"""What Jones and Ligon call schedulers and groups of jobs, and what a report of theirs needs.

W. M. Jones and W. B. Ligon, Ensuring fairness among participating clusters during multi-site
parallel job scheduling, 2005.
"""

from __future__ import annotations

from typing import NamedTuple

from schedfarm.analysis.papers.needs import Needs

ALONE, ICS, FAIR = "fcfs+isolated(10)", "fcfs+ics", "fcfs+icsb(10)"
"""No Share, ICS and ICS+B (section 4), as policies; 10 is the paper's backfill depth."""

NEEDS = Needs(policies=(ALONE, ICS, FAIR), samples=4, keep="weeks")
"""What a store must have."""

FIXED, OTHERS, GRID = "FC", "OC", "G"
"""Groups of jobs by where they were submitted: to the fixed cluster, which is the last, to the
other clusters, and to any."""


class Curve(NamedTuple):
    """A row of `CURVES`: the jobs of a group under a policy, and their colour."""

    policy: str
    group: str
    color: str


CURVES = {
    "No share on FC": Curve(ALONE, FIXED, "#000000"),
    "ICS on G": Curve(ICS, GRID, "#D55E00"),
    "ICS+B on FC": Curve(FAIR, FIXED, "#0072B2"),
    "ICS+B on OC": Curve(FAIR, OTHERS, "#E69F00"),
    "ICS+B on G": Curve(FAIR, GRID, "#009E73"),
}
"""The lines of figures 4 to 6, with colours of the palette of Okabe and Ito (2008)."""


CONTROL = {"ICS on G, links ignored": Curve(ICS + ",links=ignored", GRID, "#CC79A7")}
"""A line beside these where a store has it: what links that are asked for too much come to."""


class Difference(NamedTuple):
    """A row of `DIFFERENCES`: the mean turnaround of one policy less that of another."""

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
"""What section 5 speaks of."""

FIGURES = {
    (100, 100, 100, 100): "figure-4",
    (100, 100, 100, 50): "figure-5",
    (200, 100, 100, 50): "figure-6",
}
"""The paper's figures, by the sizes of the clusters."""
