"""A folder and a prefix of a bucket keep files alike, by the same names."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import analysis
from core import InputError
from farm.store.bucket import HEAD_BYTES, Bucket
from farm.store.journal import OBJECT_BYTES, START
from farm.store.lock import Superseded
from farm.store.place import Place, place_of


@pytest.fixture(params=["folder", "bucket"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "folder":
        return place_of(tmp_path / "s")
    return place_of(f"{request.getfixturevalue('bucket')}/s")


def test_what_is_written_is_read__whole_and_by_name(place: Place) -> None:
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


def test_listings__below_a_folder_and_in_it(place: Place) -> None:
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


def test_removal__of_a_file_and_of_all_below(place: Place) -> None:
    place.write_each("r", {f"m/{i}": b"x" for i in range(5)})
    place.remove("r/m/0")
    place.remove("r/m/0")
    assert len(place.names("r")) == 4
    place.remove_below("r/m")
    place.remove_below("r/m")
    assert place.names("r") == []


def test_first_lines__however_long(place: Place) -> None:
    lines = {"1": b"short\nbody", "2": b"x" * (2 * HEAD_BYTES) + b"\nbody\n", "3": b"no end"}
    for name, data in lines.items():
        place.write(f"records/{name}", data)
    found = list(place.first_lines([f"records/{name}" for name in lines]))
    assert found == [b"short\n", b"x" * (2 * HEAD_BYTES) + b"\n", b"no end"]


def test_replaced_only_if_unchanged(place: Place) -> None:
    assert place.look("f") == (None, None)
    assert place.replace("f", b"1", None)
    assert not place.replace("f", b"2", None)
    data, mark = place.look("f")
    assert data == b"1"
    assert mark == place.mark("f") is not None
    place.write("f", b"3")
    assert not place.replace("f", b"4", mark)
    assert place.replace("f", b"5", place.mark("f"))
    assert place.read("f") == b"5"


def test_race_to_create__has_one_winner(bucket: str) -> None:
    """Sixteen threads, each with other bytes: what stands there is the winner's."""
    place = place_of(f"{bucket}/s")

    def create(name: str) -> Callable[[int], bool]:
        return lambda number: place.replace(name, b"%d" % number, None)

    with ThreadPoolExecutor(16) as pool:
        for turn in range(3):
            won = list(pool.map(create(f"lock{turn}"), range(16)))
            assert sum(won) == 1
            assert place.read(f"lock{turn}") == b"%d" % won.index(True)


def test_journal__is_read_from_where_one_left_off(place: Place) -> None:
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
    assert place.read_journal(then)[0] == b"x" * (2 * OBJECT_BYTES) + b"\nthree\n"
    assert place.read_journal()[0].startswith(b"one\ntwo\nx")


def test_lock__second_is_refused_and_first_is_named(place: Place) -> None:
    with place.locked() as run:
        place.check_turn(run)
        with pytest.raises(InputError, match=r"in use by process \d+ on .* since"):
            place.locked().__enter__()
        with place.turn(run):
            place.write("f", b"")
    with pytest.raises(Superseded):
        place.check_turn(run)
    with place.locked() as other:
        assert other != run
        with pytest.raises(Superseded), place.turn(run):
            pass


def test_a_place_travels_by_its_name(place: Place) -> None:
    """To workers, which open it by what is theirs."""
    there = pickle.loads(pickle.dumps(place))
    assert there == place
    assert hash(there) == hash(place)
    assert str(place_of(str(place))) == str(place)


def test_no_secret_travels(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "dont-tell")
    place = place_of(f"{bucket}/s")
    with pytest.raises(OSError, match="access is refused"):
        place.names("")
    assert b"dont-tell" not in pickle.dumps(place)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("s3://", "name a bucket and a store in it"),
        ("s3://waits", "name a bucket and a store in it"),
        ("s3://waits/../x", "name a bucket and a store in it"),
        ("s3://waits/x?versionId=3", "name a bucket and a store in it"),
        ("s3://me:hush@waits/x", "no user and no password in it"),
        ("s3://me@waits/x", "no user and no password in it"),
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
    monkeypatch.setattr("farm.store.bucket.find_spec", lambda _: None)
    with pytest.raises(InputError, match=r"pip install 'schedfarm\[s3\]' brings the package obsto"):
        Bucket("s3://waits/x")


def test_readers_say_the_same(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`analysis` knows a store by its format alone, and opens the address by itself."""
    with pytest.raises(analysis.StoreError, match="no user and no password in it"):
        analysis.open_summary("s3://me:hush@waits/x")
    with pytest.raises(analysis.StoreError, match=r"/none' has no store\.json"):
        analysis.open_tree(f"{bucket}/none")
    monkeypatch.setattr("analysis.place.find_spec", lambda _: None)
    with pytest.raises(analysis.StoreError, match=r"pip install 'schedfarm\[s3\]' brings"):
        analysis.open_summary(f"{bucket}/none")
