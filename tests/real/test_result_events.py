"""What a task has done is told; where word of it is lost, it is fetched."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from schedfarm import farm
from schedfarm.cluster.local import local_cluster
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.execution.messages import ResultEvents
from tests.support.harness import assert_same_results, two_machines

CAMPAIGN = two_machines("telling", 2, 2, (0.7,), ("fcfs+easy",))


def test_nothing_is_fetched_unless_word_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run whose coordinator is deaf fetches its results, and is the same."""
    (tmp_path / "telling.toml").write_text(CAMPAIGN)
    campaign = Campaign.from_toml(tmp_path / "telling.toml")
    with local_cluster(1) as client:
        fetched: list[int] = []
        gather = client._gather

        async def counted(futures: Any, *args: Any, **options: Any) -> Any:
            fetched.append(len(futures))
            return await gather(futures, *args, **options)

        monkeypatch.setattr(client, "_gather", counted)
        told = farm.run(campaign, tmp_path / "told", client)
        assert fetched == []
        monkeypatch.setattr(ResultEvents, "_receive", lambda self, event: None)
        deaf = farm.run(campaign, tmp_path / "deaf", client)
        assert fetched
    assert told.done == deaf.done == told.cells
    assert_same_results(tmp_path / "told", tmp_path / "deaf")
