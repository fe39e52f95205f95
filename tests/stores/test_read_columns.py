"""Logs that differ only outside of their digest are refused if a policy reads the column."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedfarm.core.errors import InputError
from schedfarm.farm import Campaign, Trace, run

ROW = "{} {} -1 50 2 -1 -1 2 60 -1 1 7 -1 -1 {} -1 -1 -1\n"
BY_QUEUE = "(0 - queue)+none"


def write(path: Path, queue: int) -> str:
    """Write a log whose third job has a queue."""
    rows = (ROW.format(k, k, queue if k == 3 else 1) for k in range(1, 5))
    path.write_text("; MaxProcs: 2\n" + "".join(rows), encoding="utf-8")
    return str(path)


def campaign(file: str, *policies: str, **more: str) -> Campaign:
    names = {"a": file, **more}
    traces = tuple(Trace(name=name, file=path) for name, path in names.items())
    return Campaign(name="c", traces=traces, policies=policies)


def test_another_queue_is_refused_if_a_policy_reads_it(tmp_path: Path) -> None:
    log, store = tmp_path / "log.swf", tmp_path / "s.farm"
    run(campaign(write(log, 1), BY_QUEUE), store)
    write(log, 5)
    with pytest.raises(
        InputError, match="its column 'queue', which a policy reads, differs from that"
    ):
        run(campaign(str(log), BY_QUEUE), store)


def test_it_is_refused_when_such_a_policy_is_added(tmp_path: Path) -> None:
    log, store = tmp_path / "log.swf", tmp_path / "s.farm"
    run(campaign(write(log, 1), "fcfs+easy"), store)
    write(log, 5)
    run(campaign(str(log), "fcfs+easy"), store)
    with pytest.raises(InputError, match="'queue', which a policy reads"):
        run(campaign(str(log), "fcfs+easy", BY_QUEUE), store)


def test_two_traces_of_one_digest_are_refused(tmp_path: Path) -> None:
    """Their file in the store is the same, so that one would be simulated with the other's."""
    first, second = write(tmp_path / "a.swf", 1), write(tmp_path / "b.swf", 5)
    with pytest.raises(InputError, match="trace 'b': its column 'queue'"):
        run(campaign(first, BY_QUEUE, b=second), tmp_path / "s.farm")
    assert not (tmp_path / "s.farm").exists()
