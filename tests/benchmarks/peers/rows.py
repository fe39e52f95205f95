"""The peers, one row each: where a program comes from, and how it is started here."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

DRIVERS = Path(__file__).parent


class Peer(NamedTuple):
    """Declare a program that simulates a log.

    Parameters
    ----------
    name, licence : str
        Its name with its version, and its licence.
    driver : Path
        Script that runs in its environment: log and processors in, JSON out.
    package : str
        What pip installs into an environment of its own; empty if nothing is to be installed.
    source, commit : str
        Address and commit of its source, for programs without a package; empty otherwise.
    options : sequence of str
        Further arguments of the driver.
    """

    name: str
    licence: str
    driver: Path
    package: str = ""
    source: str = ""
    commit: str = ""
    options: Sequence[str] = ()


PEERS = {
    "accasim": Peer(
        "AccaSim 1.1.3",
        "MIT",
        DRIVERS.parent / "published_accasim.py",
        package="accasim==1.1.3",
        options=("EASY",),
    ),
    "hpcsim": Peer("HPCSim 0.3.1", "MIT", DRIVERS / "hpcsim.py", package="hpcsim==0.3.1"),
    "cqsim": Peer(
        "CQSim d8bdbb0",
        "MIT",
        DRIVERS / "cqsim.py",
        source="https://github.com/SPEAR-UIC/CQSim",
        commit="d8bdbb00ad0775591b04fe631a99991700cff45e",
    ),
    "schedgym": Peer("SchedGym's loop", "ours", DRIVERS / "schedgym.py"),
}
"""Programs that are run; the last one is a loop of ours with the steps of another program."""

ELSEWHERE = {
    "Batsim": "a build with SimGrid, and a scheduler such as batsched's easy_bf; "
    "its jobs.csv has the columns job_id and starting_time",
    "Alea": "Java and GridSim; write its starts as job_id,starting_time",
    "pyss, predictsim": "Python 2, and a licence, which their repositories do not state; "
    "judge their starts by --policy fcfs+easy,events=per-event",
    "RAPS": "Python 3.12 or newer, and a description of its machine's nodes",
}
"""Programs that are not installed here, with what is needed: --starts judges their schedules."""

OURS = sys.executable
"""Python for drivers that need no package."""
