"""Output files for jobs that SWF cannot hold: a table, and the machine in a sidecar file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schedfarm.core.logs.formats import Sidecar
    from schedfarm.core.machines.platform import Platform
    from schedfarm.core.schedule import Schedule
    from schedfarm.core.workload.workload import Workload
    from schedfarm.farm.output import Output


def table_files(
    out: str, read: Iterable[str | os.PathLike[str]], platform: Platform
) -> tuple[Output, Output]:
    """Return the outputs for the table and its machine; refuse to overwrite other files.

    Refuse machines without a sidecar, too: a log without requests would be read as jobs on a pool.
    """
    from schedfarm.core.errors import InputError
    from schedfarm.core.logs.formats import sidecar_of
    from schedfarm.core.logs.machine import machine_file
    from schedfarm.farm.output import output

    if sidecar_of(platform.name) is None:
        raise InputError(
            f"--out {out}: logs cannot hold the requests of jobs on a platform of kind "
            f"{platform.name!r}; run a campaign, and write its jobs with farm export as csv or "
            "parquet"
        )
    if not out.lower().endswith((".csv", ".csv.gz")):
        raise InputError(
            f"--out {out}: jobs on {platform.part}s are written as CSV, next to a TOML file "
            "of the machine; give NAME.csv"
        )
    there = [path for path in read if os.fspath(path) not in ("", ".")]
    there += [machine_file(path) for path in there]
    beside = machine_file(out)
    table, machine = (output("--out", os.fspath(name), there) for name in (out, beside))
    if beside.exists():
        try:
            _form(platform).read(beside)
        except InputError:
            raise InputError(
                f"--out {out}: the machine would replace {beside}, another file; give another name"
            ) from None
    return table, machine


def write_table(
    files: tuple[Output, Output],
    jobs: Workload,
    schedule: Schedule | None = None,
    notes: Mapping[str, str] | None = None,
) -> None:
    """Write jobs, and optionally their schedule, as a table and its machine."""
    import gzip

    table, machine = _form(jobs.platform).write(jobs, schedule, notes)
    files[1].write(machine)
    packed = files[0].name.lower().endswith(".gz")
    files[0].write(gzip.compress(table, mtime=0) if packed else table)


def _form(platform: Platform) -> Sidecar:
    from schedfarm.core.logs.formats import sidecar_of

    form = sidecar_of(platform.name)
    assert form is not None, f"jobs on {platform.part}s have their own form"
    return form
