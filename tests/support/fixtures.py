"""Fixtures that several tests of the farm use."""

from __future__ import annotations

import gzip
import hashlib
import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from schedfarm.farm.logs import registry
from tests.support.command_line import Farm, run_farm
from tests.support.harness import snapshot
from tests.support.logs import LOG, Server, serving
from tests.support.made import MadeStores
from tests.support.refusals import Said, sentence
from tests.support.seaweed import BUCKET, Seaweed, use


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Serve logs on the loopback interface."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving() as state:
        yield state


@pytest.fixture
def traces_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Name a folder for fetched logs, which does not exist yet."""
    folder = tmp_path / "cache"
    monkeypatch.setenv(registry.ENVIRONMENT, str(folder))
    return folder


@pytest.fixture
def tiny(server: Server, monkeypatch: pytest.MonkeyPatch) -> str:
    """Register a log that the loopback server has; return its name."""
    url = server.put("Tiny-2024-1.swf.gz", gzip.compress(LOG))
    one = registry.Entry(
        name="Tiny-2024-1",
        short="Tiny",
        url=url,
        machine="none",
        processors=4,
        rows=39,
        weeks=1,
        sha256=hashlib.sha256(LOG).hexdigest(),
        acknowledge="Ann Example",
    )
    known = (*registry.entries(), one)
    monkeypatch.setattr(registry, "entries", lambda: known)
    return one.name


@pytest.fixture
def farm() -> Farm:
    """Run `farm` in this process, and check its exit status, by default 0."""
    return run_farm


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, farm: Farm) -> Said:
    """Run `farm` in an empty folder; check status 2, one sentence, and unchanged files."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> str:
        before = snapshot(tmp_path)
        folders = sorted(p for p in tmp_path.rglob("*") if p.is_dir())
        refused = farm(*words, status=2)
        assert refused.stdout == ""
        assert snapshot(tmp_path) == before
        assert sorted(p for p in tmp_path.rglob("*") if p.is_dir()) == folders
        return sentence(refused.stderr)

    return run


@pytest.fixture(scope="session")
def made_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MadeStores]:
    """Return the builder that makes the store of a campaign once in the session."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "made"
    folder.mkdir(exist_ok=True)
    stores = MadeStores(folder)
    yield stores
    altered = stores.altered()
    assert not altered, f"tests wrote to stores that all tests share: {altered}"


@pytest.fixture(scope="session")
def seaweed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seaweed]:
    """Start one S3 server for all tests that do not end it."""
    one = Seaweed(tmp_path_factory.mktemp("seaweed"))
    one.start()
    yield one
    one.kill()


@pytest.fixture
def bucket(seaweed: Seaweed, monkeypatch: pytest.MonkeyPatch) -> str:
    """Name an empty prefix of that server's bucket, with access for this process."""
    use(seaweed, monkeypatch)
    return f"s3://{BUCKET}/{uuid.uuid4().hex}"
