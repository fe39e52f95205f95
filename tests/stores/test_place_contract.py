"""What every place of a store promises: a folder, an object store in memory, a bucket.

tests/real/test_place_in_bucket.py holds a real S3 server to the same.
"""

from __future__ import annotations

import json
import os
import pickle
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from obstore.store import MemoryStore

from schedfarm.core import InputError
from schedfarm.core.format.names import LOCK
from schedfarm.farm.execution.run import begin
from schedfarm.farm.execution.worker import run_task
from schedfarm.farm.store import lease
from schedfarm.farm.store.bucket import HEAD_BYTES, Bucket
from schedfarm.farm.store.files import StaleRun
from schedfarm.farm.store.journal import OBJECT_BYTES, START
from schedfarm.farm.store.place import Place, place_of
from tests.support.growing import SMALL
from tests.support.harness import wait_for


class PlaceContract:
    """Files by their names, a log of events, and one holder at a time; needs a fixture `place`."""

    def test_what_is_written_is_read__whole_and_by_name(self, place: Place) -> None:
        assert not place.has("a/b.json")
        with pytest.raises(FileNotFoundError):
            place.read("a/b.json")
        place.write("a/b.json", b"one")
        place.write("a/b.json", b"another")
        assert place.read("a/b.json") == b"another"
        assert place.has("a/b.json")
        assert place.at("a/b.json") == f"{place}/a/b.json"
        place.write("a/names.json", b"{}", private=True)
        assert place.names("a") == ["a/b.json", "a/names.json"]

    def test_listings__below_a_folder_and_in_it(self, place: Place) -> None:
        """A name that begins as the folder's is none below it; what is not there is empty."""
        files = {"m/zarr.json": b"1", "m/c/0/1": b"2", "zarr.json": b"3", "m2/zarr.json": b"4"}
        assert place.entries() == set()
        place.write_each("r", files)
        place.write("store.json", b"")
        assert place.entries() == {"r", "store.json"}
        assert place.entries("r") == {"m", "m2", "zarr.json"}
        assert place.names("r/m") == ["r/m/c/0/1", "r/m/zarr.json"]
        assert place.names("no") == [] == list(place.entries("no"))
        wanted = ["r/m2/zarr.json", "r/none", "r/zarr.json"]
        assert list(place.read_each(wanted)) == [b"4", None, b"3"]

    def test_removal__of_a_file_and_of_all_below(self, place: Place) -> None:
        place.write_each("r", {f"m/{i}": b"x" for i in range(5)})
        place.remove("r/m/0")
        place.remove("r/m/0")
        assert len(place.names("r")) == 4
        place.remove_below("r/m")
        place.remove_below("r/m")
        assert place.names("r") == []

    def test_first_lines__however_long(self, place: Place) -> None:
        lines = {"1": b"short\nbody", "2": b"x" * (2 * HEAD_BYTES) + b"\nbody\n", "3": b"no end"}
        for name, data in lines.items():
            place.write(f"records/{name}", data)
        found = list(place.first_lines([f"records/{name}" for name in lines]))
        assert found == [b"short\n", b"x" * (2 * HEAD_BYTES) + b"\n", b"no end"]

    def test_replaced_only_if_unchanged(self, place: Place) -> None:
        assert place.read_with_etag("f") == (None, None)
        assert place.write_if_match("f", b"1", None)
        assert not place.write_if_match("f", b"2", None)
        data, etag = place.read_with_etag("f")
        assert data == b"1"
        assert etag == place.etag("f") is not None
        place.write("f", b"3")
        assert not place.write_if_match("f", b"4", etag)
        assert place.write_if_match("f", b"5", place.etag("f"))
        assert place.read("f") == b"5"

    def test_journal__is_read_from_where_one_left_off(self, place: Place) -> None:
        assert place.read_journal() == (b"", START)
        place.write("store.json", b"")
        journal = place.journal()
        journal.add(b"one")
        first, then = place.read_journal()
        assert first == b"one\n"
        journal.add(b"two")
        journal.close()
        more, then = place.read_journal(then)
        assert more == b"two\n"
        later = place.journal()
        later.add(b"x" * (2 * OBJECT_BYTES))
        later.add(b"three")
        later.close()
        assert [len(line) for line in place.read_journal(then)[0].split()] == [2 * OBJECT_BYTES, 5]
        assert place.read_journal()[0].startswith(b"one\ntwo\nx")

    def test_journals__are_read_in_the_order_of_their_beginning(self, place: Place) -> None:
        """Also where a run takes less than a millisecond."""
        place.write("store.json", b"")
        for i in range(20):
            journal = place.journal()
            journal.add(b"%d" % i)
            journal.close()
        assert place.read_journal()[0].split() == [b"%d" % i for i in range(20)]

    def test_lock__second_is_refused_and_first_is_named(self, place: Place) -> None:
        with place.locked() as run:
            place.check_fence(run)
            with pytest.raises(InputError, match=r"in use by process \d+ on .* since"):
                place.locked().__enter__()
            with place.fenced(run):
                place.write("f", b"")
        with pytest.raises(StaleRun):
            place.check_fence(run)
        with place.locked() as other:
            assert other != run
            with pytest.raises(StaleRun), place.fenced(run):
                pass

    def test_a_place_travels_by_its_name(self, place: Place) -> None:
        """To workers, which open it by what is theirs."""
        there = pickle.loads(pickle.dumps(place))
        assert there == place
        assert hash(there) == hash(place)
        assert str(place_of(str(place))) == str(place)


class LeaseContract:
    """A holder that has to renew its lease; needs a fixture `place` that is a bucket."""

    def test_race_to_create__has_one_winner(self, place: Bucket) -> None:
        """Sixteen threads, each with other bytes: what stands there is the winner's."""

        def create(name: str) -> Callable[[int], bool]:
            return lambda number: place.write_if_match(name, b"%d" % number, None)

        with ThreadPoolExecutor(16) as pool:
            for turn in range(3):
                won = list(pool.map(create(f"lock{turn}"), range(16)))
                assert sum(won) == 1
                assert place.read(f"lock{turn}") == b"%d" % won.index(True)

    def test_lease_of_a_holder_elsewhere__is_taken_over_when_it_has_ended(
        self, place: Bucket, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """By the server's clock; until then the refusal says how long that takes."""
        monkeypatch.setenv(lease.VARIABLE, "2")
        held = {"run": "theirs", "pid": 1, "host": "node7", "since": "noon", "seconds": 2.0}
        place.write(LOCK, json.dumps(held).encode())
        with pytest.raises(InputError, match=r"process 1 on node7 since noon; wait .* its lease"):
            place.locked().__enter__()
        assert json.loads(place.read(LOCK)) == held
        until = time.monotonic() + 30
        while True:
            try:
                with place.locked() as run:
                    assert json.loads(place.read(LOCK))["run"] == run
                break
            except InputError:
                assert time.monotonic() < until
                time.sleep(0.2)
        assert json.loads(place.read(LOCK)) == {"run": None}
        assert place.names("") == [LOCK]

    def test_lease_is_renewed__as_long_as_it_is_held(
        self, place: Bucket, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(lease.VARIABLE, "2")
        with place.locked() as run:
            first = place.read(LOCK)
            wait_for(lambda: place.read(LOCK) != first, "a renewal")
            assert json.loads(place.read(LOCK))["run"] == run
            place.write("f", b"")

    def test_holder_that_was_superseded__writes_nothing_more(
        self, place: Bucket, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Such as one that was stopped for longer than its lease; it leaves the other's alone."""
        monkeypatch.setenv(lease.VARIABLE, "2")
        with place.locked() as run:
            place.write("f", b"mine")
            theirs = json.dumps({"run": "theirs"}).encode()
            while not place.write_if_match(LOCK, theirs, place.etag(LOCK)):
                pass
            with pytest.raises(StaleRun):
                place.check_fence(run)
            time.sleep(1.0)
            with pytest.raises(StaleRun):
                place.write("f", b"mine again")
            with pytest.raises(StaleRun):
                place.remove("f")
        assert place.read(LOCK) == theirs
        assert place.read("f") == b"mine"

    @pytest.mark.parametrize("text", ["x", "1", "1e9", "nan"])
    def test_lease_that_is_no_time__is_refused(
        self, place: Bucket, text: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(lease.VARIABLE, text)
        with pytest.raises(InputError, match="SCHEDFARM_LEASE_SECONDS=.*: give seconds from 2 to "):
            place.locked().__enter__()


class StoreContract:
    """Tasks that write to a store in a place; needs a fixture `place`."""

    def test_task_of_an_ended_run__writes_nothing(self, place: Place) -> None:
        with begin(SMALL, place) as prepared:
            old = prepared.tasks[0]
        before = place.names("")
        with pytest.raises(StaleRun):
            run_task(old)
        with place.locked(), pytest.raises(StaleRun):
            run_task(old)
        assert place.names("") == before

    def test_task_done_before__is_not_written_again(self, place: Place) -> None:
        """A second attempt, as of a task whose worker died after its last record."""
        with begin(SMALL, place) as prepared:
            run_task(prepared.tasks[0])
            before = {name: place.etag(name) for name in place.names("results.zarr")}
            assert sum(done.cells for done in run_task(prepared.tasks[0])) == 0
            assert {name: place.etag(name) for name in place.names("results.zarr")} == before


def in_memory(patch: pytest.MonkeyPatch) -> Bucket:
    """Return a prefix of a bucket whose objects obstore keeps in the memory of this process.

    Its one client has no prefix of its own, so that it holds files and no arrays.
    """
    store = MemoryStore()
    patch.setattr("schedfarm.farm.store.bucket._connected", lambda text, environment: store)
    return Bucket("s3://memory/s")


class TestFolder(PlaceContract, StoreContract):
    """Hold a folder to the contract."""

    @pytest.fixture
    def place(self, tmp_path: Path) -> Place:
        return place_of(tmp_path / "s")

    def test_removal__of_a_folder_in_which_a_late_worker_stages(
        self, place: Place, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """What it stages while the folder is removed is removed, too."""
        place.write_each("r", {f"m/{i}": b"x" for i in range(5)})
        late, rmdir = [b"1", b"2"], os.rmdir

        def staging(path: Any, **at: Any) -> None:
            if late and str(path).endswith("m"):
                place.write("r/m/late", late.pop())
            rmdir(path, **at)

        monkeypatch.setattr(os, "rmdir", staging)
        place.remove_below("r")
        assert late == []
        assert place.entries() == set()


class TestMemory(PlaceContract, LeaseContract):
    """Hold objects in memory to the contract."""

    @pytest.fixture
    def place(self, monkeypatch: pytest.MonkeyPatch) -> Place:
        return in_memory(monkeypatch)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("s3://", "name a bucket and a store in it"),
        ("s3://waits", "name a bucket and a store in it"),
        ("s3://waits/../x", "name a bucket and a store in it"),
        ("s3://waits/x?versionId=3", "name a bucket and a store in it"),
        ("s3://me:hush@waits/x", "must not contain a user or a password"),
        ("s3://me@waits/x", "must not contain a user or a password"),
        ("https://waits/x", "https is none of s3, "),
        ("s3://[waits/x", "Invalid IPv6"),
        ("", "give the name of a folder"),
    ],
)
def test_addresses_that_no_store_can_have(text: str, why: str) -> None:
    with pytest.raises(InputError, match=why) as refusal:
        place_of(text)
    assert "hush" not in str(refusal.value)


def test_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schedfarm.farm.store.bucket.find_spec", lambda _: None)
    with pytest.raises(
        InputError, match=r"pip install 'schedfarm\[s3\]' installs the package obsto"
    ):
        Bucket("s3://waits/x")
