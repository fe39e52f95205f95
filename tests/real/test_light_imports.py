"""Modules that other programs import: what they load, and the state that they leave."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from schedfarm.farm import Campaign, Trace, run


def test_import_is_light() -> None:
    """The door of the package imports neither matplotlib nor scipy nor dask."""
    code = (
        "import sys, schedfarm.analysis; print({'matplotlib', 'scipy', 'dask'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_no_state_is_left_behind(tmp_path: Path) -> None:
    """Drawing imports no pyplot and leaves matplotlib's settings as they were."""
    trace = Trace(name="m", model="lublin", processors=64, jobs=40)
    store = tmp_path / "store"
    run(Campaign(name="c", traces=(trace,), policies=("fcfs+easy",), resamples=2), store)
    code = (
        "import sys, matplotlib; from schedfarm.analysis import weekly_bands_figure; "
        "seen = lambda: [matplotlib.rcParams[x] for x in ('font.size', 'axes.prop_cycle')]; "
        "before = seen(); "
        f"weekly_bands_figure({str(store)!r}, path={str(tmp_path / 'a.png')!r}); "
        "print(seen() == before, 'matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True False\n"
