"""The files of a dump: one row each, with the command that prints it and its reader."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from schedfarm.core.errors import InputError
from schedfarm.core.logs.sacct import ASK
from schedfarm.farm.site.dump.accounting import check_accounting
from schedfarm.farm.site.dump.associations import read_associations
from schedfarm.farm.site.dump.conf import read_conf
from schedfarm.farm.site.dump.qos import read_qos
from schedfarm.farm.site.dump.reservations import read_reservations
from schedfarm.farm.site.dump.sinfo import read_sinfo
from schedfarm.farm.site.dump.tres_table import read_tres

_ASSOC = (
    "Cluster,Account,ParentName,User,Share,GrpJobs,GrpTRES,GrpSubmit,GrpTRESRunMins,GrpTRESMins,"
    "GrpWall,MaxJobs,MaxTRES,MaxTRESMins,MaxWall,MaxSubmit"
)


@dataclass(frozen=True)
class Kind:
    """Declare a file of a dump.

    file: its name. command: command that prints it, in a shell with FROM and TO set. read: function
    from its path to its content. needed: whether a dump without it is refused. meaning: description
    of its content.
    """

    file: str
    command: str
    read: Callable[[Path], Any]
    meaning: str
    needed: bool = True


KINDS: Mapping[str, Kind] = MappingProxyType({
    "accounting": Kind(
        "sacct.txt",
        'sacct --allusers --allocations --parsable2 --starttime "$FROM" --endtime "$TO" \\\n'
        f"  --format=Cluster,{ASK}",
        check_accounting,
        "jobs, their requests, and when they started",
    ),
    "conf": Kind(
        "slurm.conf",
        'cat "${SLURM_CONF:-/etc/slurm/slurm.conf}"',
        read_conf,
        "weights of the priority, half-life, and how often the scheduler runs",
    ),
    "sinfo": Kind(
        "sinfo.txt",
        "{ echo 'NODELIST|PARTITION|CPUS|MEMORY|GRES|STATE'\n"
        "  sinfo --Node --noheader --format='%N|%P|%c|%m|%G|%T'; }",
        read_sinfo,
        "nodes, processors and partitions",
    ),
    "qos": Kind(
        "qos.txt",
        "sacctmgr --parsable2 show qos",
        read_qos,
        "priorities and limits of QOS",
    ),
    "associations": Kind(
        "assoc.txt",
        'sacctmgr --parsable2 show assoc cluster="$CLUSTER" \\\n'
        f"  format={_ASSOC}",
        read_associations,
        "the tree of accounts, shares and limits",
    ),
    "tres": Kind(
        "tres.txt",
        "sacctmgr --parsable2 show tres",
        read_tres,
        "the resources that limits may name",
        needed=False,
    ),
    "reservations": Kind(
        "reservations.txt",
        'sacctmgr --parsable2 show reservation cluster="$CLUSTER" start="$FROM" end="$TO" \\\n'
        "  format=Name,Start,End,Flags,NodeNames",
        read_reservations,
        "nodes withheld from the queue",
        needed=False,
    ),
})  # fmt: skip
"""Files by kind, in the order of reading."""


def script() -> str:
    """Return the shell script that prints the files of a dump into a folder."""
    lines = [
        "#!/bin/sh",
        "# dump.sh FOLDER FROM TO: print what `farm site FOLDER` reads, such as",
        "#   sh dump.sh dump 2024-01-01 2024-07-01",
        'mkdir -p "$1" && cd "$1" || exit 1',
        "FROM=$2 TO=$3",
        "CLUSTER=$(scontrol show config | sed -n 's/^ClusterName *= *//p')",
    ]
    lines += [f"{kind.command} > {kind.file}" for kind in KINDS.values()]
    return "\n".join(lines) + "\n"


def read_dump(folder: Path) -> dict[str, Any]:
    """Read the files of a dump by kind; refuse a folder without the needed files."""
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder; give the folder of a dump")
    found: dict[str, Any] = {}
    for name, kind in KINDS.items():
        path = folder / kind.file
        if path.exists():
            found[name] = kind.read(path)
        elif kind.needed:
            raise InputError(
                f"{folder} has no {kind.file} ({kind.meaning}); the script of `farm site --script` "
                "prints it"
            )
    return found
