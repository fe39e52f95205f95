"""What is written first: a record acknowledges shards that are there."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.execution.run import begin
from schedfarm.farm.execution.worker import run_task
from schedfarm.farm.store.folder import Folder
from tests.support.harness import records

CAMPAIGN = Campaign(
    name="tiny",
    traces=(Trace(name="model", model="lublin", processors=64, jobs=20),),
    policies=("fcfs+easy",),
    resamples=1,
)


def test_no_record_before_its_shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A block whose shards could not be put in place has no record."""

    def refuse(*_: object) -> None:
        raise OSError(errno.EIO, "no shard can be put in place")

    with begin(CAMPAIGN, tmp_path / "store") as prepared:
        with monkeypatch.context() as patch:
            patch.setattr(Folder, "publish", refuse)
            with pytest.raises(OSError, match="no shard can be put in place"):
                run_task(prepared.tasks[0])
        assert records(tmp_path / "store") == {}
        run_task(prepared.tasks[0])
        assert records(tmp_path / "store")
