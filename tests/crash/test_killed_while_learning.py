"""A process that is killed while its store learns a metric loses nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from schedfarm.farm.verify import Again, verify
from tests.support.growing import counts
from tests.support.harness import assert_same_results
from tests.support.learning import BEHAVIOUR, CELLS, grown, learner, learnt
from tests.support.made import MadeStores
from tests.support.paths import IMPORTED


def test_a_process_killed_while_it_learns__loses_nothing(
    made_store: MadeStores, tmp_path: Path
) -> None:
    """SIGKILL comes in the middle of a block; the same campaign then ends with the same values."""
    campaign, store = learner(made_store), tmp_path / "s"
    larger = grown(campaign, tmp_path, "mine:longest")
    made_store.copy(campaign, store)
    (tmp_path / "larger.toml").write_text(larger.to_toml())
    text = "from schedfarm import farm; farm.run(farm.Campaign.from_toml('larger.toml'), 's')"
    environment = {**os.environ, "PYTHONPATH": IMPORTED, BEHAVIOUR: "kill"}
    ended = subprocess.run([sys.executable, "-c", text], cwd=tmp_path, env=environment)
    assert ended.returncode == -signal.SIGKILL
    # The summary of what was learnt was not folded.
    assert all("the summary is stale" in fault.why for fault in verify(store))
    assert counts(learnt(larger, store)) == (CELLS, CELLS, 0, 0)
    assert_same_results(store, made_store(larger))
    assert list(verify(store, Again(100))) == []
