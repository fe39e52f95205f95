"""Simulate a log with CQSim, in a checkout of its source.

    python cqsim.py LOG.swf PROCESSORS CHECKOUT

prints one JSON object: `seconds` of CPU, reading included, and `starts` by the job's number, s.

Its command line passes the list of algorithms where the level of its debugging messages belongs,
and fails; its main function is called with the same keys instead. Messages are off.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

EASY = 1
"""Its number of EASY backfilling."""


def settings(folder: Path) -> dict[str, object]:
    """Return what its command line and its two files of settings give its main function."""
    return {
        "path_in": f"{folder}/",
        "path_out": f"{folder}/out/",
        "path_fmt": f"{folder}/formatted/",
        "path_debug": f"{folder}/debug/",
        "job_trace": "log.swf",
        "node_struc": "log.swf",
        "job_save": "jobs",
        "node_save": "nodes",
        "output": "found",
        "debug": "messages",
        "ext_fmt_j": ".csv",
        "ext_fmt_n": ".csv",
        "ext_fmt_j_c": ".con",
        "ext_fmt_n_c": ".con",
        "ext_jr": ".rst",
        "ext_si": ".ult",
        "ext_ai": ".adp",
        "ext_debug": ".log",
        "debug_lvl": 0,
        "log_freq": 1000,
        "read_input_freq": 1000,
        "start": 0.0,
        "read_num": -1,
        "anchor": 0,
        "cluster_fraction": 1.0,
        "backfill": EASY,
        "bf_para": [],
        "win": 0,
        "win_para": ["1", "0", "0"],
        "ad_win_para": [],
        "alg": ["w"],
        "alg_sign": [0],
        "ad_alg_para": [],
        "monitor": 0,
    }


def simulated(log: Path, processors: int, checkout: Path, folder: Path) -> dict[str, object]:
    """Return the CPU time of a simulation, and the starts of its jobs."""
    rows = [line for line in log.read_text(encoding="utf-8").splitlines() if line[:1] != ";"]
    machine = f"; MaxNodes: {processors}\n; MaxProcs: {processors}\n"
    (folder / "log.swf").write_text(machine + "\n".join(rows) + "\n", encoding="utf-8")
    # It counts from the first submission.
    first = int(rows[0].split()[1])
    os.chdir(checkout / "src")
    sys.path[0] = str(checkout / "src")
    import cqsim_main  # type: ignore[import-not-found]

    begin = time.process_time()
    cqsim_main.cqsim_main(settings(folder))
    spent = time.process_time() - begin
    starts = {}
    for line in (folder / "out" / "found.rst").read_text(encoding="utf-8").splitlines():
        number, *_, start, _ = line.split(";")
        starts[number] = int(float(start)) + first
    return {"seconds": spent, "starts": starts}


if __name__ == "__main__":
    path, size, source = sys.argv[1:]
    with TemporaryDirectory() as scratch, contextlib.redirect_stdout(sys.stderr):
        found = simulated(Path(path).resolve(), int(size), Path(source).resolve(), Path(scratch))
    sys.stdout.write(json.dumps(found))
