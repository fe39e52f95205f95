"""Named logs: what is known of them, and that only the right content is ever kept."""

from __future__ import annotations

import gzip
import hashlib
import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from core import InputError
from core.swf import read_log
from farm import registry
from farm.campaign import Campaign
from farm.fetch import fetch, locate
from farm.registry import ENVIRONMENT, NOTE, cache_folder, content_hash, entries, find
from farm.traces import Trace, named, span_weeks

LOG = b"; MaxProcs: 4\n; Acknowledge: Ann  Example\n" + b"".join(
    b"%d %d -1 10 2" % (job, job * 100) + 13 * b" -1" + b"\n" for job in range(1, 40)
)
"""A small log of SWF."""

KTH = "KTH-SP2-1996-2.1-cln"


@dataclass
class Server:
    """A real server on the loopback interface: what it answers, and what it was asked."""

    port: int = 0
    files: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    cut: int = 0

    def put(self, name: str, content: bytes, status: int = 200) -> str:
        """Serve a file, and return its URL."""
        self.files[f"/logs/{name}"] = (status, content)
        return f"http://127.0.0.1:{self.port}/logs/{name}"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.asked.append(self.path)
            status, content = state.files.get(self.path, (404, b"nothing here"))
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: len(content) - state.cut])

        def log_message(self, *_: object) -> None:
            """Keep silent."""

    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as real:
        state.port = real.server_address[1]
        thread = threading.Thread(target=real.serve_forever, args=(0.01,))
        thread.start()
        yield state
        real.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Name a folder for fetched logs, which is not there yet."""
    folder = tmp_path / "cache"
    monkeypatch.setenv(ENVIRONMENT, str(folder))
    return folder


@pytest.fixture
def tiny(server: Server, monkeypatch: pytest.MonkeyPatch) -> str:
    """Have the registry know one more log, which the loopback server keeps; return its name."""
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
    known = (*entries(), one)
    monkeypatch.setattr(registry, "entries", lambda: known)
    return one.name


def listed(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


@pytest.mark.parametrize("entry", entries(), ids=lambda e: e.short)
def test_registry_says_what_the_archive_files_hold(entry: registry.Entry, traces: Path) -> None:
    """Content, rows, machine and weeks of each log are those of the real file."""
    path = traces / entry.file
    assert content_hash(path) == entry.sha256
    log = read_log(path, ("submit",))
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
    """The variable wins; empty or unset means the XDG cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", "/var/xdg")
    monkeypatch.setenv(ENVIRONMENT, "/var/logs")
    assert cache_folder() == Path("/var/logs")
    monkeypatch.setenv(ENVIRONMENT, "")
    assert cache_folder() == Path("/var/xdg/schedfarm/traces")


def test_a_good_file_is_kept_and_not_fetched_again(server: Server, tiny: str, cache: Path) -> None:
    """What was fetched is there whole, alone, and next time the network is left alone."""
    path = fetch("tiny")
    assert path == cache / "Tiny-2024-1.swf.gz"
    assert gzip.decompress(path.read_bytes()) == LOG
    assert listed(cache) == [path.name]
    assert locate(tiny) == fetch(path.name) == path
    assert len(server.asked) == 1


def test_compression_may_differ(server: Server, tiny: str) -> None:
    """What counts is the decompressed content: a plain text under the same name is as good."""
    server.put(f"{tiny}.swf.gz", LOG)
    assert fetch(tiny).read_bytes() == LOG


@pytest.mark.parametrize("at", [0, 60, len(LOG) - 2])
def test_a_wrong_byte_is_refused_and_not_kept(
    server: Server, tiny: str, cache: Path, at: int
) -> None:
    """One other byte of content, and nothing stays in the folder."""
    wrong = bytearray(LOG)
    wrong[at] ^= 1
    server.put(f"{tiny}.swf.gz", gzip.compress(bytes(wrong)))
    with pytest.raises(InputError, match="gives another content than expected and was not kept"):
        fetch(tiny)
    assert listed(cache) == []


@pytest.mark.parametrize(
    "content", [gzip.compress(LOG)[:-1], gzip.compress(LOG)[:-9] + b"12345678"]
)
def test_damaged_compression_is_refused_and_not_kept(
    server: Server, tiny: str, cache: Path, content: bytes
) -> None:
    """A file that does not decompress gives no log."""
    server.put(f"{tiny}.swf.gz", content)
    with pytest.raises(InputError, match="does not give a log; its content: the gzip data is"):
        fetch(tiny)
    assert listed(cache) == []


def test_a_connection_cut_short_leaves_nothing(server: Server, tiny: str, cache: Path) -> None:
    """The server promises more bytes than it sends."""
    server.cut = 7
    with pytest.raises(InputError):
        fetch(tiny)
    assert listed(cache) == []


def by_hand(url: str, cache: Path, why: str) -> str:
    file = url.rpartition("/")[2]
    return (
        f"{file} cannot be fetched from {url} ({why}); get it in another way and put it into "
        f"{cache} under the name {file}, or into a folder that --traces names"
    )


@pytest.mark.parametrize(
    ("status", "why"),
    [(404, "the server says 404 Not Found"), (503, "the server says 503 Service")],
)
def test_a_server_error_says_what_to_do(
    server: Server, tiny: str, cache: Path, status: int, why: str
) -> None:
    """One sentence says where to put the file by hand, and under which name."""
    url = server.put(f"{tiny}.swf.gz", b"sorry", status)
    with pytest.raises(InputError) as refusal:
        fetch(tiny)
    said = str(refusal.value)
    assert why in said
    assert said.startswith(by_hand(url, cache, why)[:60])
    assert said.endswith(by_hand(url, cache, why)[-60:])
    assert listed(cache) == []


def test_no_network_says_what_to_do(server: Server, cache: Path) -> None:
    """A refused connection, as from a port that nothing listens on, is told in one sentence."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{bound.getsockname()[1]}/KTH-SP2-1996-2.1-cln.swf.gz"
        with pytest.raises(InputError) as refusal:
            fetch(url)
    assert str(refusal.value) == by_hand(url, cache, "Connection refused")
    assert listed(cache) == []


def test_what_is_put_by_hand_is_used(tiny: str, cache: Path, server: Server) -> None:
    """The sentence is true: the file is found under its name, compressed or not."""
    cache.mkdir()
    (cache / f"{tiny}.swf").write_bytes(LOG)
    assert locate("Tiny") == cache / f"{tiny}.swf"
    (cache / f"{tiny}.swf").write_bytes(LOG + b"\n")
    with pytest.raises(InputError, match=r"is not the log Tiny-2024-1: its content has SHA-256"):
        locate("Tiny")
    assert server.asked == []


def test_first_fetch_of_a_url_notes_what_came(server: Server, cache: Path) -> None:
    """A log that the registry does not know has to stay what it was when it was first fetched."""
    url = server.put("own.swf.gz", gzip.compress(LOG))
    path = fetch(url)
    assert listed(cache) == ["own.swf.gz", f"own.swf.gz{NOTE}"]
    note = json.loads((cache / f"own.swf.gz{NOTE}").read_text())
    assert note == {"url": url, "sha256": content_hash(path)}
    assert fetch(url) == locate("own") == path
    assert len(server.asked) == 1

    server.put("own.swf.gz", gzip.compress(LOG + b"\n"))
    path.unlink()
    with pytest.raises(InputError, match=r"another content than expected and was not kept.*first"):
        fetch(url)
    assert listed(cache) == [f"own.swf.gz{NOTE}"]

    path.write_bytes(gzip.compress(LOG + b"\n"))
    with pytest.raises(InputError, match="is not the log own: its content has SHA-256"):
        locate("own")


def test_another_url_of_the_same_name_is_refused(server: Server, cache: Path) -> None:
    """Two logs cannot share a file."""
    first = server.put("own.swf", LOG)
    other = server.put("more/own.swf", LOG + b"\n")
    fetch(first)
    with pytest.raises(InputError, match=rf"own.swf is there already, from {first}; move it away"):
        fetch(other)
    assert (cache / "own.swf").read_bytes() == LOG


def test_a_page_instead_of_a_log_is_refused(server: Server, cache: Path) -> None:
    """A login page comes with status 200, and is neither kept nor noted."""
    url = server.put("own.swf.gz", b"<!DOCTYPE html><html>please log in</html>")
    with pytest.raises(InputError, match=r"does not give a log; its content, line 1: the row has"):
        fetch(url)
    assert listed(cache) == []


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


def test_a_mirror_serves_a_known_log(server: Server, traces: Path, cache: Path) -> None:
    """A URL with the name of a registry's log is held to the registry's hash."""
    content = (traces / f"{KTH}.swf.gz").read_bytes()
    url = server.put(f"{KTH}.swf.gz", content)
    assert fetch(url).read_bytes() == content
    assert listed(cache) == [f"{KTH}.swf.gz"]
    (cache / f"{KTH}.swf.gz").unlink()
    server.put(f"{KTH}.swf.gz", gzip.compress(LOG))
    with pytest.raises(InputError, match=r"fba36494c4e4... in the registry"):
        fetch(url)
    assert listed(cache) == []


def test_a_folder_of_ones_own_comes_first_and_is_not_written(
    server: Server, tiny: str, tmp_path: Path, cache: Path
) -> None:
    """Logs one already has are used where they are; what is missing goes to the cache."""
    own = tmp_path / "own"
    own.mkdir()
    assert locate("Tiny", own) == cache / f"{tiny}.swf.gz"
    assert listed(own) == []
    (own / f"{tiny}.swf").write_bytes(LOG)
    assert locate("Tiny", own) == own / f"{tiny}.swf"
    assert listed(own) == [f"{tiny}.swf"]
    with pytest.raises(InputError, match="there is no such folder"):
        locate("Tiny", tmp_path / "none")


def test_unknown_name_is_refused_with_the_known_ones() -> None:
    """A slip of the pen reaches no network."""
    with pytest.raises(InputError, match=r"log 'KHT-SP2' is not known; known: CTC-SP2, HPC2N, KTH"):
        locate("KHT-SP2")


TEXT = """
name = "named"
log = true
policies = ["fcfs+easy"]

[[traces]]
log = "kth-sp2"

[[traces]]
log = "METACENTRUM-2009-2"
name = "meta"
processors = 900
"""


def test_a_campaign_names_logs_without_having_them(tmp_path: Path, server: Server) -> None:
    """Reading, listing and writing a campaign touches no log; the full name is kept."""
    path = tmp_path / "named.toml"
    path.write_text(TEXT)
    campaign = Campaign.from_toml(path)
    assert [(t.name, t.log, t.file) for t in campaign.traces] == [
        ("kth-sp2", KTH, None),
        ("meta", "METACENTRUM-2009-2", None),
    ]
    path.write_text(campaign.to_toml())
    assert Campaign.from_toml(path) == campaign
    assert f'log = "{KTH}"' in campaign.to_toml()


def test_a_located_campaign_reads_the_right_files(tmp_path: Path, traces: Path) -> None:
    """Files are found once; the machine is the registry's unless the campaign gives it."""
    path = tmp_path / "named.toml"
    path.write_text(TEXT)
    campaign = Campaign.from_toml(path)
    located = campaign.located(traces)
    assert [t.file for t in located.traces] == [
        str(traces / f"{KTH}.swf.gz"),
        str(traces / "METACENTRUM-2009-2.swf.gz"),
    ]
    assert located.to_toml() == campaign.to_toml()
    meta = located.traces[1].read()
    assert meta is not None
    assert meta.processors == 900


@pytest.mark.parametrize(
    ("trace", "said"),
    [
        ({"log": "KTH-SP2", "file": "a.swf"}, "give either file = 'a.swf' or log"),
        ({"log": 5, "name": "a"}, "log is 5; it must be a name, such as 'KTH-SP2'"),
        ({"log": "KTH-SP2", "model": "lublin", "processors": 4, "jobs": 5}, "give one of 'file'"),
    ],
)
def test_contradictions_are_refused(trace: dict[str, object], said: str) -> None:
    """A trace has one source."""
    with pytest.raises(InputError, match=said):
        Trace.from_dict(trace, Path())


def test_a_word_means_a_file_before_a_name(
    tmp_path: Path, tiny: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a file of that name is here, it is meant, whatever the registry knows."""
    monkeypatch.chdir(tmp_path)
    assert named("Tiny", name="log").log == tiny
    Path("Tiny").write_bytes(LOG)
    assert (named("Tiny", name="log").file, named("Tiny", name="log").log) == ("Tiny", None)
    assert named("none.swf", name="log").file == "none.swf"


def test_thanks_stay_with_the_results(tmp_path: Path, tiny: str) -> None:
    """A trace's group in the store says whom to thank, by the registry or by the log's header."""
    import xarray as xr

    from farm import run

    (tmp_path / "plain.swf").write_bytes(LOG)
    campaign = Campaign(
        name="thanks",
        traces=(
            Trace(log="Tiny"),
            Trace(file=str(tmp_path / "plain.swf")),
            Trace(name="model", model="lublin", processors=8, jobs=9),
        ),
        policies=("fcfs+easy",),
        log=True,
    )
    assert run(campaign, tmp_path / "store").done == 3
    attributes = {
        t.name: xr.open_zarr(tmp_path / "store" / "results.zarr", group=t.name).attrs
        for t in campaign.traces
    }
    assert attributes["Tiny"]["acknowledge"] == "Ann Example"
    assert attributes["plain"]["acknowledge"] == "Ann Example"
    assert "acknowledge" not in attributes["model"]
