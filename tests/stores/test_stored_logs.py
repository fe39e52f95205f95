"""Logs in a store: the file alone gives the log back, under its own name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from schedfarm import farm
from schedfarm.analysis.errors import StoreError
from schedfarm.analysis.logs import log_columns
from schedfarm.analysis.store import open_summary
from schedfarm.core import Pool, Workload, read_swf, write_swf
from schedfarm.core.models.lublin import lublin
from schedfarm.core.workload.columns import COLUMNS, STORED
from schedfarm.farm import Campaign, Trace
from schedfarm.farm.execution.run import begin
from schedfarm.farm.execution.worker import run_task
from schedfarm.farm.store.logs import load_log, log_bytes
from schedfarm.farm.verify import verify
from schedfarm.farm.watching.events import Event, Said, Watcher
from tests.support.strategies import workloads
from tests.support.swf_texts import small


@given(work=workloads())
def test_a_log_comes_back_whole(tmp_path_factory: pytest.TempPathFactory, work: Workload) -> None:
    """Columns, platform and digest; and the same log gives the same bytes again."""
    path = tmp_path_factory.mktemp("store") / "log.npz"
    path.write_bytes(log_bytes(work))
    back = load_log(path.read_bytes())
    assert back.digest() == work.digest()
    assert all(np.array_equal(getattr(back, c), getattr(work, c)) for c in COLUMNS)
    assert log_bytes(back) == path.read_bytes()


def test_name_epoch_and_limit_travel(tmp_path: Path) -> None:
    """So that errors name the log, and local time exists."""
    log = small(name='Zürich "2", node\\', epoch=844_000_000, max_estimate=99)
    (tmp_path / "a1b2.npz").write_bytes(log_bytes(log))
    back = load_log((tmp_path / "a1b2.npz").read_bytes())
    assert (back.name, back.epoch, back.max_estimate) == (log.name, 844_000_000, 99)
    assert back.platform == Pool(4)


def test_nothing_in_the_file_is_pickled(tmp_path: Path) -> None:
    """Any entry can be read without running what it says."""
    (tmp_path / "a.npz").write_bytes(log_bytes(small()))
    with np.load(tmp_path / "a.npz", allow_pickle=False) as file:
        assert {*STORED} < {*file}
        assert all(file[name].dtype.kind in "ibU" for name in file)


def test_a_store_keeps_the_log_of_its_trace(tmp_path: Path) -> None:
    """The log that a run stores is the one that was read, epoch and name included."""
    write_swf(small(epoch=844_000_000), tmp_path / "real.swf")
    trace = Trace(file=str(tmp_path / "real.swf"))
    farm.run(
        Campaign(name="one", traces=(trace,), policies=("fcfs+easy",), resamples=0, log=True),
        tmp_path / "one.farm",
    )
    (path,) = (tmp_path / "one.farm").rglob("*.npz")
    stored, log = load_log(path.read_bytes()), read_swf(tmp_path / "real.swf")
    assert (stored.name, stored.epoch) == ("real", 844_000_000)
    assert stored.digest() == log.digest() == path.stem


def test_a_log_of_another_name_is_not_simulated(tmp_path: Path) -> None:
    """A worker refuses it, whose cells would be those of another log; the next run mends it."""
    traces = []
    for name, seed in (("a", 1), ("b", 2)):
        write_swf(lublin(16, weeks=2, seed=seed, users=3), tmp_path / f"{name}.swf")
        traces.append(Trace(file=str(tmp_path / f"{name}.swf")))
    campaign = Campaign(name="two", traces=tuple(traces), policies=("fcfs+easy",), resamples=1)
    store = tmp_path / "store"
    said: list[str] = []
    with begin(campaign, store) as prepared:
        one, other = sorted((store / "traces").iterdir())
        first, second = one.read_bytes(), other.read_bytes()
        one.write_bytes(second)
        other.write_bytes(first)
        with pytest.raises(OSError, match="does not match the digest in its name"):
            run_task(prepared.tasks[0])
    assert farm.status(store).done == 0

    class Listener(Watcher):
        def see(self, event: Event) -> None:
            if isinstance(event, Said):
                said.append(event.text)

    farm.run(campaign, store, watch=Listener())
    assert said == [
        f"the log of {name} did not match its name and was written again" for name in "ab"
    ]
    assert (one.read_bytes(), other.read_bytes()) == (first, second)
    assert list(verify(store)) == []


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 no archive", None])
def test_a_damaged_log_or_array_is_one_sentence(tmp_path: Path, damage: bytes | None) -> None:
    """Whether it is empty, no archive, or an altered byte makes a checksum wrong."""
    write_swf(lublin(16, weeks=2, seed=1, users=3), tmp_path / "a.swf")
    trace = Trace(file=str(tmp_path / "a.swf"))
    campaign = Campaign(name="a", traces=(trace,), policies=("fcfs+easy",), resamples=1)
    farm.run(campaign, tmp_path / "store")
    (log,) = (tmp_path / "store" / "traces").iterdir()
    with np.load(log) as columns:
        names = columns.files
    array = tmp_path / "store" / "results.zarr" / "wait" / "c" / "0" / "0" / "0" / "0"
    for path in (log, array):
        altered = bytearray(path.read_bytes())
        altered[len(altered) // 2] ^= 0x40
        path.write_bytes(altered if damage is None else damage)
    with pytest.raises(StoreError, match=f"traces/{log.name}, the log of a, is damaged"):
        log_columns(tmp_path / "store", "a", *names)
    with pytest.raises(StoreError, match="cannot be read .*'farm verify' names the fault"):
        _ = open_summary(tmp_path / "store")["wait"].values
