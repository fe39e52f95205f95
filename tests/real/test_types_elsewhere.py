"""Type checkers find the types of the installed packages, an editable install's included."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.support.paths import ROOT

PROGRAM = """
import schedfarm as sf

reveal_type(sf.Campaign)
reveal_type(sf.simulate)
"""


def test_types_are_found_from_another_folder(tmp_path: Path) -> None:
    """As in a user's own project, where the packages are not in the working folder."""
    (tmp_path / "study.py").write_text(PROGRAM)
    done = subprocess.run(
        # Its configuration omits numba's and dask's own modules, half of the time.
        [sys.executable, "-m", "mypy", "--config-file", ROOT / "pyproject.toml", "study.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "-> schedfarm.farm.campaign.campaign.Campaign" in done.stdout
    assert "-> schedfarm.core.schedule.Schedule" in done.stdout
