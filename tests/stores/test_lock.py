"""One coordinator at a time, named; a lock left behind by a killed one is free."""

from __future__ import annotations

import fcntl
import os
import platform
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from schedfarm import farm
from schedfarm.core import InputError
from schedfarm.core.format.names import LOCK
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.cli import cli
from schedfarm.farm.store import lock
from schedfarm.farm.store.lock import FENCE, check_fence, fenced, locked
from tests.support.harness import snapshot
from tests.support.refusals import GOOD

NOBODY = 65534


def test_second_coordinator_is_told_who_holds_the_lock(tmp_path: Path) -> None:
    """The refusal names process and host, and nothing is taken from the holder."""
    with locked(tmp_path) as run:
        with (
            pytest.raises(InputError, match=f"in use by process {os.getpid()} on "),
            locked(tmp_path),
        ):
            pass
        assert (tmp_path / LOCK).exists()
        check_fence(tmp_path, run)
    assert not (tmp_path / LOCK).exists()


def test_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    """A path below a file is one sentence."""
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be written"), locked(tmp_path / "file" / "store"):
        pass


def test_lock_of_another_run_outlives_the_first(tmp_path: Path) -> None:
    """A run whose file was deleted leaves that of the next run alone."""
    with ExitStack() as stack:
        with locked(tmp_path):
            (tmp_path / LOCK).unlink()
            other = stack.enter_context(locked(tmp_path))
        check_fence(tmp_path, other)
        with pytest.raises(InputError, match=f"in use by process {os.getpid()}"), locked(tmp_path):
            pass
    assert not (tmp_path / LOCK).exists()


@contextmanager
def another_user() -> Iterator[None]:
    """Be somebody else for the operating system."""
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
@pytest.mark.parametrize("locked_away", [(), (LOCK,), (FENCE,)], ids=lambda names: "".join(names))
def test_a_store_of_another_user__is_one_sentence(
    tmp_path: Path, locked_away: tuple[str, ...]
) -> None:
    """Reading it goes on; whoever may not write a folder, or one of its files, is told so."""
    for folder in (tmp_path, *list(tmp_path.parents)[:-2]):
        folder.chmod(0o755)
    store, campaign = tmp_path / "s", Campaign.from_dict(GOOD, tmp_path)
    farm.run(campaign, store)
    # What is imported later may be where nobody else may look.
    farm.job_table(store, trace="m", policy="saf+easy", resample=1)
    for name in locked_away:
        store.chmod(0o777)
        (store / name).touch()
        (store / name).chmod(0o644)
    before = snapshot(store)
    with another_user():
        with pytest.raises(InputError) as refused:
            farm.run(campaign, store)
        assert farm.status(store).done == farm.status(store).cells
        assert len(farm.job_table(store, trace="m", policy="saf+easy", resample=1)) == 40
    assert str(refused.value) == f"store {store} cannot be written: Permission denied"
    assert snapshot(store) == before


def test_readers_of_a_lock_do_not_take_it(tmp_path: Path) -> None:
    """Neither who looks how far a run is, nor who prints the file, nor who would share its lock."""
    store = tmp_path / "s"
    farm.run(Campaign.from_dict(GOOD, tmp_path), store)
    with locked(store) as run:
        text = (store / LOCK).read_bytes()
        for words in (["status"], ["watch", "--once"], ["bands", "--metric", "wait"]):
            done = CliRunner().invoke(cli, [words[0], str(store), *words[1:]])
            assert done.exit_code == 0, done.output
        with (store / LOCK).open("rb") as reader:
            assert reader.read() == text
            with pytest.raises(BlockingIOError):
                fcntl.flock(reader, fcntl.LOCK_SH | fcntl.LOCK_NB)
            check_fence(store, run)
            with fenced(store, run):
                pass
        with pytest.raises(InputError, match="in use by process"), locked(store):
            pass
        assert (store / LOCK).read_bytes() == text
    assert not (store / LOCK).exists()
    CliRunner().invoke(cli, ["status", str(store)])
    assert not (store / LOCK).exists()


def test_the_process_that_holds_off_a_run_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever has 200 workers cannot end the one that is stopped otherwise."""
    monkeypatch.setattr(lock, "PATIENCE", 0.0)
    refusal = r"or suspended \({}\); let it continue, or end it"
    here = f"process {os.getpid()} on {platform.node()}"
    with locked(tmp_path):
        (tmp_path / LOCK).rename(tmp_path / "of the first")
        handle = os.open(tmp_path / FENCE, os.O_RDWR)
        fcntl.flock(handle, fcntl.LOCK_SH)
        with pytest.raises(InputError, match=refusal.format(here)), locked(tmp_path):
            pass
        monkeypatch.setattr(lock, "LOCKS", tmp_path / "none")
        elsewhere = refusal.format("a process of another host")
        with pytest.raises(InputError, match=elsewhere), locked(tmp_path):
            pass
        os.close(handle)
