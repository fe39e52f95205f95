"""Named logs: what is known of them, and how they are found by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedfarm.core import InputError
from schedfarm.core.logs.swf import read_fields
from schedfarm.core.workload.resample_weeks import span_weeks
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.logs import registry
from schedfarm.farm.logs.registry import ENVIRONMENT, cache_folder, content_hash, entries, find

pytestmark = pytest.mark.usefixtures("traces_cache")


@pytest.mark.parametrize("entry", entries(), ids=lambda e: e.short)
def test_registry_says_what_the_archive_files_hold(entry: registry.Entry, traces: Path) -> None:
    """Content, rows, machine and weeks of each log are those of the real file."""
    path = traces / entry.file
    assert content_hash(path) == entry.sha256
    log = read_fields(path, ("submit",))
    assert log.columns["submit"].size == entry.rows
    assert log.processors == (0 if entry.short == "METACENTRUM" else entry.processors)
    workload = Trace(log=entry.name).located(traces).read()
    assert workload is not None
    assert (workload.processors, span_weeks(workload)) == (entry.processors, entry.weeks)


def test_names_are_found_however_they_are_written() -> None:
    """Short name, full name and file name mean the same log; no two logs share one."""
    for entry in entries():
        for name in (entry.name, entry.short, entry.file, entry.short.lower(), entry.name + ".swf"):
            assert find(name) is entry
        assert entry.url.startswith("https://www.cs.huji.ac.il/labs/parallel/workload/l_")
    assert find("KTH") is None
    assert find("") is None


def test_cache_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable wins; empty or unset means the user's cache, XDG's or the one at home."""
    monkeypatch.setenv("XDG_CACHE_HOME", "/var/xdg")
    monkeypatch.setenv(ENVIRONMENT, "/var/logs")
    assert cache_folder() == Path("/var/logs")
    monkeypatch.setenv(ENVIRONMENT, "")
    assert cache_folder() == Path("/var/xdg/schedfarm/traces")
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", "/home/ann")
    assert cache_folder() == Path("/home/ann/.cache/schedfarm/traces")


def test_cache_folder_of_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user without a home folder is told what to set; nothing is kept in a folder named ~."""
    import pwd

    def nobody(uid: int) -> None:
        raise KeyError(uid)

    for name in ("HOME", "XDG_CACHE_HOME", ENVIRONMENT):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", nobody)
    with pytest.raises(InputError, match="no home folder; set SCHEDFARM_TRACES"):
        cache_folder()
