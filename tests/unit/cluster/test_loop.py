"""Dask's event loop, where its first start takes longer than Dask waits."""

from __future__ import annotations

import gc
import threading

import pytest
from distributed.utils import LoopRunner

from schedfarm.cluster import ClusterError, connect
from schedfarm.cluster.opening import ATTEMPTS, check_loop


def test_a_slow_first_start_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """As Dask raises it, without a message."""
    begun, start = [], LoopRunner.start

    def slow(runner: LoopRunner) -> None:
        begun.append(runner)
        if len(begun) < ATTEMPTS:
            raise AssertionError
        start(runner)

    monkeypatch.setattr(LoopRunner, "start", slow)
    check_loop()
    assert len(begun) == ATTEMPTS
    assert not begun[-1].is_started()


def test_a_loop_that_never_starts_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before any cluster is put up."""

    def never(runner: LoopRunner) -> None:
        raise AssertionError

    monkeypatch.setattr(LoopRunner, "start", never)
    with pytest.raises(ClusterError, match="did not start in 60 s"), connect("local"):
        pass


def test_no_loop_is_left_where_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the garbage collector, which waits for the lock of a loop that is being started."""
    monkeypatch.setattr("schedfarm.cluster.existing.CONNECT_TIMEOUT", 0.2)
    before = {*threading.enumerate()}
    gc.disable()
    try:
        said = "no scheduler answers at tcp://127.0.0.1:9"
        with pytest.raises(ClusterError, match=said), connect("tcp://127.0.0.1:9"):
            pass
        left = {one.name for one in threading.enumerate() if one not in before}
    finally:
        gc.enable()
    assert "IO loop" not in left
