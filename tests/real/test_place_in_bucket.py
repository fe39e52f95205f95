"""A bucket of a real S3 server is a place of stores, and no secret leaves the environment."""

from __future__ import annotations

import pickle

import pytest

from schedfarm import analysis
from schedfarm.farm.store.place import Place, place_of
from tests.stores.test_place_contract import LeaseContract, PlaceContract, StoreContract


class TestBucket(PlaceContract, LeaseContract, StoreContract):
    """Hold a prefix of a bucket to the contract."""

    @pytest.fixture
    def place(self, bucket: str) -> Place:
        return place_of(f"{bucket}/s")


def test_no_secret_travels(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "dont-tell")
    place = place_of(f"{bucket}/s")
    with pytest.raises(OSError, match="access is refused"):
        place.names("")
    assert b"dont-tell" not in pickle.dumps(place)


def test_readers_say_the_same(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`analysis` knows a store by its format alone, and opens the address by itself."""
    with pytest.raises(analysis.StoreError, match="must not contain a user or a password"):
        analysis.open_summary("s3://me:hush@waits/x")
    with pytest.raises(analysis.StoreError, match=r"/none' has no store\.json"):
        analysis.open_tree(f"{bucket}/none")
    monkeypatch.setattr("schedfarm.analysis.place.find_spec", lambda _: None)
    with pytest.raises(analysis.StoreError, match=r"pip install 'schedfarm\[s3\]' installs"):
        analysis.open_summary(f"{bucket}/none")
