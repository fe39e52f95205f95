"""Bad input is refused with one sentence and exit status 2, and nothing is written."""

from __future__ import annotations

import gzip
import importlib
import json
import re
import socket
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import farm
from farm.campaign import Campaign
from farm.cli import main
from tests.farm.harness import farm as farm_process
from tests.farm.harness import snapshot

GOOD: dict[str, Any] = {
    "name": "tiny",
    "seed": 3,
    "resamples": 2,
    "loads": ["original", 0.9],
    "policies": ["fcfs+easy", "saf+easy"],
    "traces": [{"name": "m", "model": "lublin", "processors": 64, "jobs": 40}],
}

ROW = "{} {} -1 10 2 -1 -1 2 20 -1 1 7 -1 -1 -1 -1 -1 -1\n"
LOG = "; MaxProcs: 8\n" + "".join(ROW.format(k, 3600 * k) for k in range(1, 30))

Said = Callable[..., str]


@pytest.fixture
def said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Said:
    """Run `farm` in this process; hold status 2, one sentence, and that no file has changed."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> str:
        before = snapshot(tmp_path)
        folders = sorted(p for p in tmp_path.rglob("*") if p.is_dir())
        monkeypatch.setattr("sys.argv", ["farm", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        printed = capsys.readouterr()
        assert end.value.code == 2, printed
        assert printed.out == ""
        assert snapshot(tmp_path) == before
        assert sorted(p for p in tmp_path.rglob("*") if p.is_dir()) == folders
        return sentence(printed.err)

    return run


def sentence(text: str) -> str:
    """Hold that an error is one line, or click's usage with one, and return that line."""
    *usage, last = text.rstrip("\n").split("\n")
    assert not usage or usage[0].startswith("Usage: "), text
    assert "Traceback" not in text
    assert last.startswith(("farm: ", "Error: ")), text
    return last


def write(campaign: dict[str, Any], path: Path) -> None:
    import tomli_w

    path.write_text(tomli_w.dumps(campaign))


def refused(said: Said, **changes: Any) -> str:
    """Return what a campaign with other values for some keys is refused with."""
    write({**GOOD, **changes}, Path("c.toml"))
    return said("run", "c.toml")


def other_trace(**changes: Any) -> list[dict[str, Any]]:
    return [{**GOOD["traces"][0], **changes}]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"polices": ["x"]}, ("c.toml", "unknown key 'polices'", "policies")),
        ({"traces": other_trace(procesors=4)}, ("c.toml", "unknown key 'procesors'", "processors")),
        ({"policies": ["saf+esay"]}, ("c.toml", "'saf+esay'", "'esay'", "easy, depth(K)")),
        ({"policies": ["safe+easy"]}, ("c.toml", "'safe'", "fcfs, lcfs, spf")),
        ({"policies": ["saf"]}, ("c.toml", "'saf'", "ORDER+RULE")),
        ({"policies": "saf+easy"}, ("c.toml", "'policies'", "'saf+easy'", "list")),
        ({"policies": [1]}, ("c.toml", "'policies'", "1", "names")),
        ({"policies": []}, ("c.toml", "'policies'", "at least one")),
        ({"policies": ["spf+easy", "SJF+easy"]}, ("c.toml", "'policies'", "'spf+easy' twice")),
        ({"loads": [0.9, "0.90"]}, ("c.toml", "'loads'", "'0.9' twice")),
        ({"loads": [0]}, ("c.toml", "load 0 ", "0.9")),
        ({"loads": [-0.5]}, ("c.toml", "load -0.5 ", "0.9")),
        ({"loads": ["high"]}, ("c.toml", "load 'high'", "'original'", "0.9")),
        ({"loads": ["nan"]}, ("c.toml", "load 'nan'", "0.9")),
        ({"loads": [True]}, ("c.toml", "load True", "0.9")),
        ({"loads": [10**400]}, ("c.toml", "load 1000", "0.9")),
        ({"resamples": 0}, ("c.toml", "resamples is 0", "log = true")),
        ({"resamples": -1}, ("c.toml", "resamples is -1", "at least 1")),
        ({"resamples": "ten"}, ("c.toml", "'resamples'", "'ten'", "int")),
        ({"tau": 0}, ("c.toml", "tau is 0", "at least 1")),
        ({"seed": -1}, ("c.toml", "seed is -1", "0 to 2^63")),
        ({"seed": 2**63}, ("c.toml", "seed is 9223372036854775808", "0 to 2^63")),
        ({"draw": "some"}, ("c.toml", "'some'", "replace, permute")),
        ({"name": "a/b"}, ("c.toml", "'a/b'", "letters")),
        ({"traces": []}, ("c.toml", "'traces'", "[[traces]]")),
        ({"traces": 2 * other_trace()}, ("c.toml", "'traces'", "'m' twice")),
        ({"traces": other_trace(name="a/b")}, ("c.toml", "'a/b'", "letters")),
        ({"traces": other_trace(name="..")}, ("c.toml", "'..'", "letters")),
        ({"traces": other_trace(name="wait")}, ("c.toml", "'wait'", "another")),
        ({"traces": other_trace(name="policy")}, ("c.toml", "'policy'", "another")),
        ({"traces": other_trace(name="jobs")}, ("c.toml", "'jobs'", "another")),
        ({"traces": other_trace(name="zarr.json")}, ("c.toml", "'zarr.json'", "another")),
        ({"traces": [{"name": "m"}]}, ("c.toml", "'m'", "'file'", "'model'")),
        ({"traces": [{"name": "m", "model": "lublin", "jobs": 5}]}, ("'m'", "'processors'")),
        ({"traces": other_trace(model="lubin")}, ("c.toml", "'m'", "'lubin'", "lublin")),
        ({"traces": other_trace(processors=0)}, ("c.toml", "'m'", "processors is 0", "at least 1")),
        ({"traces": other_trace(jobs="40")}, ("c.toml", "'m'", "jobs is '40'", "at least 1")),
        ({"traces": other_trace(weeks=3)}, ("c.toml", "'m'", "'jobs' or 'weeks'")),
        ({"traces": other_trace(parameters={"user": 3})}, ("'m'", "'user'", "users")),
        ({"traces": other_trace(parameters={"users": 0})}, ("'m'", "users=0", "at least 1")),
        ({"traces": other_trace(parameters={"classes": [1]})}, ("'m'", "classes=[1]")),
        ({"traces": other_trace(parameters=5)}, ("c.toml", "'m'", "parameters", "5", "table")),
    ],
    ids=lambda value: re.sub(r"[^\w+.-]+", " ", str(value))[:40].strip(),
)
def test_campaign(said: Said, changes: dict[str, Any], words: tuple[str, ...]) -> None:
    """A wrong key or value is named, with what would be right."""
    text = refused(said, **changes)
    for word in words:
        assert word in text


def test_campaign__missing_key(said: Said) -> None:
    """A key without a default is asked for by name."""
    write({k: v for k, v in GOOD.items() if k != "traces"}, Path("c.toml"))
    assert "c.toml: campaign: key 'traces' is missing" in said("run", "c.toml")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"name = 'x'\nseed = = 3\n", ("c.toml", "line 2")),
        (b"name = '\xff'\n", ("c.toml", "utf-8")),
        (b"\x1f\x8b\x08\x00", ("c.toml",)),
        (b"", ("c.toml", "'name' is missing")),
    ],
)
def test_campaign__not_toml(said: Said, content: bytes, words: tuple[str, ...]) -> None:
    """A file that is not a campaign at all is named."""
    Path("c.toml").write_bytes(content)
    text = said("run", "c.toml")
    for word in words:
        assert word in text


def test_campaign__missing(said: Said) -> None:
    """A file that is not there is named; a name that nothing ships under lists those that do."""
    assert "none.toml" in said("run", "none.toml")
    assert "quickstart" in said("run", "none")
    Path("folder").mkdir()
    assert "folder" in said("run", "folder")


def on_log(said: Said, content: bytes | None, name: str = "a.swf", **keys: Any) -> str:
    """Return what a campaign on a log of this content is refused with."""
    if content is not None:
        Path(name).write_bytes(content)
    return refused(said, traces=[{"file": name, **keys}])


def test_log__missing(said: Said) -> None:
    """A missing log is named by its path."""
    assert str(Path("none.swf").resolve()) in on_log(said, None, "none.swf")


def test_log__no_processors(said: Said) -> None:
    """A header that does not say the machine's size needs the campaign's `processors`."""
    text = on_log(said, LOG.replace("; MaxProcs: 8\n", "").encode())
    assert "a.swf" in text
    assert "processors" in text


def test_log__short_row(said: Said) -> None:
    """A row of 17 fields is named by its line."""
    rows = LOG.splitlines(keepends=True)
    rows[6] = rows[6].replace(" -1\n", "\n")
    text = on_log(said, "".join(rows).encode())
    assert "a.swf, line 7" in text
    assert "17 fields" in text
    assert "18" in text


def test_log__truncated_gzip(said: Said) -> None:
    """Half a download is not half a log."""
    text = on_log(said, gzip.compress(LOG.encode())[:-20], "a.swf.gz")
    assert "a.swf.gz" in text
    assert "truncated" in text


def test_log__rows_beyond_the_end(said: Said) -> None:
    """`rows` past the log's end are refused with the log's length."""
    text = on_log(said, LOG.encode(), rows=[0, 400])
    assert "rows=(0, 400)" in text
    assert "29" in text


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A finished store of the good campaign."""
    monkeypatch.chdir(tmp_path)
    farm.run(Campaign.from_dict(GOOD, tmp_path), "tiny.farm")
    return tmp_path / "tiny.farm"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": "other"}, ("tiny.farm", "'tiny'", "'other'", "--store")),
        ({"seed": 4}, ("tiny.farm", "seed = 3", "4", "--store")),
        ({"tau": 1}, ("tiny.farm", "tau = 10", "1", "--store")),
        ({"draw": "permute"}, ("tiny.farm", "draw", "'permute'", "--store")),
        ({"resamples": 1}, ("tiny.farm", "resample 2", "grow, not shrink")),
        ({"loads": ["original"]}, ("tiny.farm", "load '0.9'", "grow, not shrink")),
        ({"policies": ["saf+easy"]}, ("tiny.farm", "policy 'fcfs+easy'", "grow, not shrink")),
        ({"traces": other_trace(name="n")}, ("tiny.farm", "trace 'm'", "grow, not shrink")),
        ({"traces": other_trace(jobs=41)}, ("tiny.farm", "trace 'm'", "--store")),
    ],
    ids=lambda value: re.sub(r"\W+", " ", str(value))[:40].strip(),
)
def test_store__of_another_campaign(
    store: Path, said: Said, changes: dict[str, Any], words: tuple[str, ...]
) -> None:
    """A store is not used for what it was not made for, nor made smaller."""
    write({**GOOD, **changes}, Path("c.toml"))
    text = said("run", "c.toml", "--store", "tiny.farm")
    for word in words:
        assert word in text


def alter(store: Path, **changes: Any) -> None:
    """Write other values into store.json under a right seal, as another program would."""
    plain = {**json.loads((store / "store.json").read_bytes()), **changes}
    plain.pop("crc32", None)
    plain["crc32"] = zlib.crc32(json.dumps(plain, sort_keys=True).encode())
    (store / "store.json").write_text(json.dumps(plain))


@pytest.mark.parametrize("command", ["run", "status", "bands"])
def test_store__newer_version(store: Path, said: Said, command: str) -> None:
    """A store of a newer format is for a newer program."""
    alter(store, version=2)
    write(GOOD, Path("c.toml"))
    arguments = ("run", "c.toml") if command == "run" else (command, "tiny.farm")
    text = said(*arguments)
    assert "version 2" in text
    assert "newer" in text


@pytest.mark.parametrize("content", [b"{}", b"[]", b"junk", b"", b"\xff\xfe", b"null"])
@pytest.mark.parametrize("command", ["run", "status"])
def test_store__description_is_rubbish(
    store: Path, said: Said, command: str, content: bytes
) -> None:
    """A store.json that describes no store is named."""
    (store / "store.json").write_bytes(content)
    write(GOOD, Path("c.toml"))
    assert "store.json" in said(
        *(("run", "c.toml") if command == "run" else (command, "tiny.farm"))
    )


@pytest.mark.parametrize("content", [b"", b"junk", b"{}", b"[]\n[]\n[]\n", b"\xff\n\n\n"])
@pytest.mark.parametrize("command", ["run", "status"])
def test_store__record_is_rubbish(store: Path, said: Said, command: str, content: bytes) -> None:
    """A record that is none is named, with the remedy."""
    path = store / "records" / "m" / "original" / "saf+easy" / "00000.json"
    assert path.is_file()
    path.write_bytes(content)
    write(GOOD, Path("c.toml"))
    text = said(*(("run", "c.toml") if command == "run" else (command, "tiny.farm")))
    assert str(path.relative_to(Path.cwd())) in text
    assert "delete it" in text


def test_store__is_a_file(said: Said) -> None:
    """A file is not made into a folder."""
    Path("file").write_text("precious")
    write(GOOD, Path("c.toml"))
    assert "file is a file" in said("run", "c.toml", "--store", "file")
    assert "file/below" in said("run", "c.toml", "--store", "file/below")


def test_store__folder_of_something_else(said: Said) -> None:
    """A folder that holds other things is not a place for a store."""
    Path("folder").mkdir()
    Path("folder/thesis.tex").write_text("precious")
    write(GOOD, Path("c.toml"))
    assert "folder is not a store" in said("run", "c.toml", "--store", "folder")
    write(GOOD, Path("folder/campaign.toml"))
    assert "folder is not a store" in said("run", "c.toml", "--store", "folder")


@pytest.mark.parametrize("command", ["status", "bands"])
@pytest.mark.parametrize("place", ["none", "file", "folder"])
def test_reading__no_store(said: Said, command: str, place: str) -> None:
    """What is not a store is named as such."""
    Path("file").write_text("x")
    Path("folder").mkdir()
    text = said(command, place)
    assert place in text
    assert "stor" in text


def test_bands__unknown_metric(store: Path, said: Said) -> None:
    """An unknown metric lists the known ones."""
    text = said("bands", "tiny.farm", "--metric", "wiat")
    assert "'wiat'" in text
    assert "bounded_slowdown" in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--workers", "0"), ("workers is 0", "at least 1")),
        (("--workers", "two"), ("--workers", "'two'")),
        (("--on", "nonsense"), ("'nonsense'", "local, tcp://HOST:PORT")),
        (("--on", "tcp://127.0.0.1:8786", "--workers", "2"), ("workers is 2", "leave it out")),
        (("--on", "scheduler-file:none.json"), ("none.json", "dask scheduler")),
        (("--scheduler-file", "none.json"), ("none.json", "dask scheduler")),
        (("--scheduler-file", "c.toml"), ("c.toml", "scheduler")),
        (("--scheduler-file", "empty.json"), ("empty.json", "scheduler")),
        (("--scheduler-file", "empty.json", "--workers", "2"), ("workers is 2", "empty.json")),
        (
            ("--scheduler-file", "none.json", "--on", "tcp://127.0.0.1:8786"),
            ("--scheduler-file none.json", "--on tcp://127.0.0.1:8786"),
        ),
        (
            ("--on", "local", "--scheduler-file", "none.json"),
            ("--on local", "--scheduler-file none.json"),
        ),
        (("--on", "tcp://127.0.0.1:nine"), ("tcp://127.0.0.1:nine",)),
        (("--on", "tls://127.0.0.1:9"), ("tls://127.0.0.1:9",)),
        (("--frobnicate",), ("--frobnicate",)),
    ],
)
def test_run__nowhere(said: Said, arguments: tuple[str, ...], words: tuple[str, ...]) -> None:
    """Without a cluster nothing is begun, and no store is made."""
    write(GOOD, Path("c.toml"))
    Path("empty.json").write_text("{}")
    text = said("run", "c.toml", *arguments)
    for word in words:
        assert word in text


def test_run__nobody_listens(said: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    """An address where no scheduler answers is named."""
    # The package's function hides the module of the same name from a dotted path.
    module = importlib.import_module("cluster.connect")
    monkeypatch.setattr(module, "CONNECT_TIMEOUT", "1s")
    write(GOOD, Path("c.toml"))
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{unused.getsockname()[1]}"
        assert f"no scheduler answers at {address}" in said("run", "c.toml", "--on", address)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("none.swf", "--policy", "saf+easy"), ("none.swf",)),
        (("a.swf", "--policy", "saf+esay"), ("'esay'", "easy")),
        (("a.swf",), ("--policy",)),
        (("a.swf", "--policy", "saf+easy", "--rows", "5"), ("'5'", "0:5000")),
        (("a.swf", "--policy", "saf+easy", "--rows", "5:3"), ("'5:3'", "A < B")),
        (("a.swf", "--policy", "saf+easy", "--rows", "0:400"), ("400", "29")),
        (("a.swf", "--policy", "saf+easy", "--jobs", "0"), ("jobs", "0", "at least 1")),
        (("a.swf", "--policy", "saf+easy", "--load", "0"), ("load '0'", "0.9")),
        (("a.swf", "--policy", "saf+easy", "--load", "much"), ("load 'much'", "0.9")),
        (("a.swf", "--policy", "saf+easy", "--processors", "0"), ("processors", "0", "at least 1")),
        (("a.swf", "--policy", "saf+easy", "--processors", "1"), ("no job is left",)),
        (("a.swf", "--policy", "saf+easy", "--tau", "0"), ("tau", "0")),
        (("a.swf", "--policy", "saf+easy", "--out", "no/such/b.swf"), ("no/such/b.swf",)),
        (("a.swf", "--policy", "saf+easy", "--resample", "1", "--draw", "x"), ("'x'", "replace")),
        (("a.swf", "--policy", "saf+easy", "--draw", "x"), ("'x'", "permute", "users")),
        (("a.swf", "--policy", "saf+easy", "--resample", "-1"), ("-1",)),
        (("a.swf", "--policy", "no.such.module:f+easy"), ("no.such.module",)),
    ],
    ids=" ".join,
)
def test_simulate(said: Said, arguments: tuple[str, ...], words: tuple[str, ...]) -> None:
    """A wrong option or log is named, with what would be right."""
    Path("a.swf").write_text(LOG)
    text = said("simulate", *arguments)
    for word in words:
        assert word in text


def test_processes__exit_status_and_streams(tmp_path: Path) -> None:
    """The installed command itself: status 2, one line on standard error, nothing on output."""
    write({**GOOD, "policies": ["saf+esay"]}, tmp_path / "policy.toml")
    write({**GOOD, "frob": 1}, tmp_path / "key.toml")
    write({**GOOD, "traces": [{"file": "none.swf"}]}, tmp_path / "trace.toml")
    write(GOOD, tmp_path / "good.toml")
    before = snapshot(tmp_path)
    for arguments, word in (
        (("run", "policy.toml"), "'esay'"),
        (("run", "key.toml"), "'frob'"),
        (("run", "trace.toml"), "none.swf"),
        (("run", "good.toml", "--workers", "0"), "workers is 0"),
        (("run", "good.toml", "--scheduler-file", "none.json"), "none.json"),
        (("status", "."), "is not a store"),
    ):
        ended = farm_process(tmp_path, *arguments)
        assert (ended.returncode, ended.stdout) == (2, ""), ended
        assert word in sentence(ended.stderr)
    assert snapshot(tmp_path) == before
    assert not (tmp_path / "tiny.farm").exists()
