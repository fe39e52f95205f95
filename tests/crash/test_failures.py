"""Whatever is struck at whatever moment: the last run leaves the store as if nothing had been."""

from __future__ import annotations

from tests.crash.failures import Failure, Kept
from tests.crash.stages import RECORDS, STRUCK, Stage
from tests.support.harness import arrays, campaign_of, partial, recorded_cells, records
from tests.support.made import MadeStores


def test_the_next_run_ends_as_if_nothing_had_happened(failure: Failure, stage: Stage) -> None:
    """No record is lost or written twice, no file or process is left, every byte is the same."""
    assert stage.strike(failure) in (failure.ends or {None})
    kept = None
    if failure.kept is not Kept.ANY:
        kept = recorded_cells(stage.store)
        assert failure.kept.holds(kept, stage.cells)
    if failure.kept is not Kept.ALL:
        found = stage.resume()
        before = found["before"] if kept is None else kept
        assert found == {
            "cells": stage.cells,
            "before": before,
            "done": stage.cells - before,
            "failed": 0,
        }
    assert partial(stage.store) == []
    stage.assert_whole()


def test_the_campaign_has_a_middle(made_store: MadeStores) -> None:
    """There are blocks enough to strike between, and values in every one of them."""
    undisturbed = made_store(campaign_of(STRUCK))
    assert len(records(undisturbed)) == RECORDS
    stored = arrays(undisturbed)
    assert (stored["m64/wait"].max(axis=-1) >= 0).all()
    assert (stored["wait"] > 0).any()
