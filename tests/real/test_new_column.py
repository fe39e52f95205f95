"""A column added to workloads, in a copy of the program."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from schedfarm.core import Workload
from tests.support.paths import PACKAGE

UNCOMPILED = shutil.ignore_patterns("__pycache__")

MORE = """
    weight: Int64 = column("1", "weight", default=lambda n: np.ones(n, np.int64))
    reserved: Int64 = column(
        "1", "reserved", default=lambda n: np.full(n, -1, np.int64), travels=False
    )
"""

USES = """
import json, sys
from pathlib import Path
import numpy as np
from schedfarm.core import Workload, resample_weekly, scale_load, select
from schedfarm.farm.store.logs import load_log, log_bytes

given = dict(submit=[0, 5, 700_000], run=[4, 3, 7], estimate=[4, 3, 8], procs=[2, 4, 1])
plain = Workload.from_columns(**given, processors=4)
odd = Workload.from_columns(**given, processors=4, weight=[3, 2, 9], reserved=[8, -1, -1])
Path("log.npz").write_bytes(log_bytes(odd))
back, drawn = load_log(Path("log.npz").read_bytes()), resample_weekly(odd, seed=1, index=1, weeks=9)
rest = select(scale_load(odd, 0.5), widths=(2, 4))
print(json.dumps({
    "plain": plain.digest(), "weights": plain.weight.tolist(), "odd": odd.digest(),
    "back": back.digest(), "kept": back.weight.tolist(), "reserved": back.reserved.tolist(),
    "drawn": bool((drawn.weight == np.array([3, 2, 9])[drawn.job - 1]).all()) and len(drawn) > 0,
    "home": set(drawn.reserved.tolist()) == {-1}, "rest": rest.weight.tolist(),
}))
"""


def test_a_column_more_is_one_field_more(tmp_path: Path) -> None:
    """Digest, stored log, resampling, scaling and selection all learn of it from its field."""
    shutil.copytree(PACKAGE, tmp_path / "schedfarm", ignore=UNCOMPILED)
    source = tmp_path / "schedfarm" / "core" / "workload" / "columns.py"
    text, mark = source.read_text(), "    def __post_init__(self) -> None:\n        n = np.size"
    assert text.count(mark) == 1
    source.write_text(text.replace(mark, f"{MORE}\n{mark}"))
    run = subprocess.run(
        [sys.executable, "-c", USES], cwd=tmp_path, check=False, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    today = Workload.from_columns(
        submit=[0, 5, 700_000], run=[4, 3, 7], estimate=[4, 3, 8], procs=[2, 4, 1], processors=4
    )
    assert found["plain"] == today.digest()
    assert found["odd"] == found["back"] != found["plain"]
    assert (found["weights"], found["kept"]) == ([1, 1, 1], [3, 2, 9])
    assert (found["reserved"], found["rest"]) == ([8, -1, -1], [3, 2])
    assert found["drawn"]
    assert found["home"]
