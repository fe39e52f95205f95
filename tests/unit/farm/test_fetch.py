"""Fetching a log keeps the right content alone, and a refusal says what to do instead."""

from __future__ import annotations

import gzip
import json
import socket
from pathlib import Path

import pytest

from schedfarm.core import InputError
from schedfarm.farm.logs.fetch import fetch, locate
from schedfarm.farm.logs.registry import NOTE, acknowledgement, content_hash
from tests.support.logs import KTH, LOG, Server, listed

pytestmark = pytest.mark.usefixtures("traces_cache")


def test_a_good_file_is_kept_and_not_fetched_again(
    server: Server, tiny: str, traces_cache: Path
) -> None:
    """What was fetched is there whole, alone, and next time the network is left alone."""
    path = fetch("tiny")
    assert path == traces_cache / "Tiny-2024-1.swf.gz"
    assert gzip.decompress(path.read_bytes()) == LOG
    assert listed(traces_cache) == [path.name]
    assert locate(tiny) == fetch(path.name) == path
    assert len(server.asked) == 1


def test_compression_may_differ(server: Server, tiny: str) -> None:
    """What counts is the decompressed content: a plain text under the same name is as good."""
    server.put(f"{tiny}.swf.gz", LOG)
    assert fetch(tiny).read_bytes() == LOG


@pytest.mark.parametrize("at", [0, 60, len(LOG) - 2])
def test_a_wrong_byte_is_refused_and_not_kept(
    server: Server, tiny: str, traces_cache: Path, at: int
) -> None:
    """One other byte of content, and nothing stays in the folder."""
    wrong = bytearray(LOG)
    wrong[at] ^= 1
    server.put(f"{tiny}.swf.gz", gzip.compress(bytes(wrong)))
    with pytest.raises(InputError, match="has other content than expected, and was not kept"):
        fetch(tiny)
    assert listed(traces_cache) == []


@pytest.mark.parametrize(
    "content", [gzip.compress(LOG)[:-1], gzip.compress(LOG)[:-9] + b"12345678"]
)
def test_damaged_compression_is_refused_and_not_kept(
    server: Server, tiny: str, traces_cache: Path, content: bytes
) -> None:
    """A file that does not decompress gives no log."""
    server.put(f"{tiny}.swf.gz", content)
    with pytest.raises(InputError, match="does not give a log; its content: the gzip data is"):
        fetch(tiny)
    assert listed(traces_cache) == []


def test_a_connection_cut_short_leaves_nothing(
    server: Server, tiny: str, traces_cache: Path
) -> None:
    """The server promises more bytes than it sends."""
    server.cut = 7
    with pytest.raises(InputError):
        fetch(tiny)
    assert listed(traces_cache) == []


def by_hand(url: str, traces_cache: Path, why: str) -> str:
    file = url.rpartition("/")[2]
    return (
        f"{file} cannot be fetched from {url} ({why}); get it in another way and put it into "
        f"{traces_cache} under the name {file}, or into a folder that --traces names"
    )


@pytest.mark.parametrize(
    ("status", "why"),
    [(404, "the server answers 404 Not Found"), (503, "the server answers 503 Service")],
)
def test_a_server_error_says_what_to_do(
    server: Server, tiny: str, traces_cache: Path, status: int, why: str
) -> None:
    """One sentence says where to put the file by hand, and under which name."""
    url = server.put(f"{tiny}.swf.gz", b"sorry", status)
    with pytest.raises(InputError) as refusal:
        fetch(tiny)
    said = str(refusal.value)
    assert why in said
    assert said.startswith(by_hand(url, traces_cache, why)[:60])
    assert said.endswith(by_hand(url, traces_cache, why)[-60:])
    assert listed(traces_cache) == []


def test_no_network_says_what_to_do(server: Server, traces_cache: Path) -> None:
    """A refused connection, as from a port that nothing listens on, is told in one sentence."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{bound.getsockname()[1]}/KTH-SP2-1996-2.1-cln.swf.gz"
        with pytest.raises(InputError) as refusal:
            fetch(url)
    assert str(refusal.value) == by_hand(url, traces_cache, "Connection refused")
    assert listed(traces_cache) == []


def test_what_is_put_by_hand_is_used(tiny: str, traces_cache: Path, server: Server) -> None:
    """The sentence is true: the file is found under its name, compressed or not."""
    traces_cache.mkdir()
    (traces_cache / f"{tiny}.swf").write_bytes(LOG)
    assert locate("Tiny") == traces_cache / f"{tiny}.swf"
    (traces_cache / f"{tiny}.swf").write_bytes(LOG + b"\n")
    with pytest.raises(InputError, match=r"is not the log Tiny-2024-1: its content has SHA-256"):
        locate("Tiny")
    assert server.asked == []


def test_first_fetch_of_a_url_notes_what_came(server: Server, traces_cache: Path) -> None:
    """A log that the registry does not know has to stay what it was when it was first fetched."""
    url = server.put("own.swf.gz", gzip.compress(LOG))
    path = fetch(url)
    assert listed(traces_cache) == ["own.swf.gz", f"own.swf.gz{NOTE}"]
    note = json.loads((traces_cache / f"own.swf.gz{NOTE}").read_text())
    assert note == {"url": url, "sha256": content_hash(path)}
    assert fetch(url) == locate("own") == path
    assert len(server.asked) == 1

    server.put("own.swf.gz", gzip.compress(LOG + b"\n"))
    path.unlink()
    with pytest.raises(InputError, match=r"other content than expected, and was not kept.*first"):
        fetch(url)
    assert listed(traces_cache) == [f"own.swf.gz{NOTE}"]

    path.write_bytes(gzip.compress(LOG + b"\n"))
    with pytest.raises(InputError, match="is not the log own: its content has SHA-256"):
        locate("own")


def test_another_url_of_the_same_name_is_refused(server: Server, traces_cache: Path) -> None:
    """Two logs cannot share a file."""
    first = server.put("own.swf", LOG)
    other = server.put("more/own.swf", LOG + b"\n")
    fetch(first)
    with pytest.raises(InputError, match=rf"own.swf exists already, from {first}; move it away"):
        fetch(other)
    assert (traces_cache / "own.swf").read_bytes() == LOG


def test_a_page_instead_of_a_log_is_refused(server: Server, traces_cache: Path) -> None:
    """A login page comes with status 200, and is neither kept nor noted."""
    url = server.put("own.swf.gz", b"<!DOCTYPE html><html>please log in</html>")
    with pytest.raises(InputError, match=r"does not give a log; its content, line 1: the row has"):
        fetch(url)
    assert listed(traces_cache) == []


@pytest.mark.parametrize(
    "url",
    [
        "ftp://host/a.swf",
        "file:///etc/a.swf",
        "http://host/a.zip",
        "http://host/",
        "http://host/..%2F..%2Fa.swf",
        "http://host/.swf",
    ],
)
def test_what_is_no_url_of_a_log_is_refused(url: str) -> None:
    """Only http, and only names of logs, which never leave the folder."""
    with pytest.raises(InputError, match="is not the URL of a log; it must begin with http"):
        fetch(url)


def test_a_mirror_serves_a_known_log(server: Server, traces: Path, traces_cache: Path) -> None:
    """A URL with the name of a registry's log is held to the registry's hash."""
    content = (traces / f"{KTH}.swf.gz").read_bytes()
    url = server.put(f"{KTH}.swf.gz", content)
    assert fetch(url).read_bytes() == content
    assert listed(traces_cache) == [f"{KTH}.swf.gz"]
    (traces_cache / f"{KTH}.swf.gz").unlink()
    server.put(f"{KTH}.swf.gz", gzip.compress(LOG))
    with pytest.raises(InputError, match=r"fba36494c4e4... in the registry"):
        fetch(url)
    assert listed(traces_cache) == []


def test_a_folder_of_ones_own_comes_first_and_is_not_written(
    server: Server, tiny: str, tmp_path: Path, traces_cache: Path
) -> None:
    """Logs one already has are used where they are; what is missing goes to the cache."""
    own = tmp_path / "own"
    own.mkdir()
    assert locate("Tiny", own) == traces_cache / f"{tiny}.swf.gz"
    assert listed(own) == []
    (own / f"{tiny}.swf").write_bytes(LOG)
    assert locate("Tiny", own) == own / f"{tiny}.swf"
    assert listed(own) == [f"{tiny}.swf"]
    with pytest.raises(InputError, match="there is no such folder"):
        locate("Tiny", tmp_path / "none")


def test_unknown_name_is_refused_with_the_known_ones() -> None:
    """A slip of the pen reaches no network."""
    with pytest.raises(InputError, match="did you mean 'KTH-SP2'. known: CTC-SP2, HPC2N, KTH"):
        locate("KHT-SP2")


def test_a_download_that_does_not_end_is_given_up(
    server: Server, traces_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the server answers of its length; nothing is kept."""
    monkeypatch.setattr("schedfarm.farm.logs.fetch.LARGEST", 2**17)
    url = server.put("long.swf", LOG + b";" * 2**20)
    with pytest.raises(InputError, match="it has more than 131,072 bytes"):
        fetch(url)
    assert listed(traces_cache) == []


def test_a_password_is_neither_kept_nor_shown(server: Server, traces_cache: Path) -> None:
    """The note beside a log, and the sentence that refuses, would show it."""
    url = server.put("own.swf", LOG).replace("//", "//ann:secret@")
    with pytest.raises(InputError, match="at 127.0.0.1 names a user or a password") as refusal:
        fetch(url)
    assert "secret" not in str(refusal.value)
    assert listed(traces_cache) == []
    assert server.asked == []


def test_a_header_cannot_command_a_terminal(tmp_path: Path) -> None:
    """What it holds of control characters is shown as ?."""
    path = tmp_path / "a.swf"
    path.write_bytes(b"; Acknowledge: Ann \x1b[2J\x07Example\n" + LOG)
    assert acknowledgement(path).startswith("Ann ?[2J?Example")


def test_a_folder_that_was_made_for_nothing_is_removed(
    server: Server, tiny: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the folders above it that were made for it; one that was there stays."""
    server.put(f"{tiny}.swf.gz", b"sorry", 404)
    folder = tmp_path / "cache" / "logs"
    for there in (False, True):
        if there:
            folder.mkdir(parents=True)
        monkeypatch.setenv("SCHEDFARM_TRACES", str(folder))
        with pytest.raises(InputError, match="404"):
            fetch(tiny)
        assert (tmp_path / "cache").exists() is there
    assert folder.is_dir()
