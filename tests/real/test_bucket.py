"""Stores in a bucket of a real S3 server: killed, resumed, grown, altered, refused, held."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from schedfarm import analysis, farm
from schedfarm.core import InputError
from schedfarm.core.format.names import LOCK
from schedfarm.core.format.record import Record
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.cli import main
from schedfarm.farm.execution.run import begin
from schedfarm.farm.execution.worker import run_task
from schedfarm.farm.planning import block_shape
from schedfarm.farm.store.bucket import Bucket
from schedfarm.farm.store.files import StaleRun
from schedfarm.farm.store.place import place_of
from schedfarm.farm.store.records import record_names
from schedfarm.farm.store.store import Store
from schedfarm.farm.verify import Again, repair, verify
from tests.crash.test_killed_build import kill_build
from tests.crash.test_sleepers import FIVE, THREE
from tests.support.growing import GROWN, SMALL, assert_same_by_label, counts, tree
from tests.support.harness import (
    FARM,
    Command,
    arrays,
    counts as printed_counts,
    two_machines,
    wait_for,
)
from tests.support.precise import PRECISE, values_of
from tests.support.refusals import sentence
from tests.support.seaweed import BUCKET, Seaweed, use

BUSY = two_machines("busy", 7, 4, [0.7, 0.8, 0.9], ["fcfs+easy", "saf+easy", "fcfs+conservative"])


def fetched(url: str, folder: Path) -> Path:
    """Copy a store out of its bucket."""
    place = place_of(url)
    names = place.names("")
    for name, data in zip(names, place.read_each(names), strict=True):
        assert data is not None
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def assert_same_arrays(mine: Path, other: Path) -> None:
    found, expected = arrays(mine), arrays(other)
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        assert values.tobytes() == found[name].tobytes(), name
        assert values.dtype == found[name].dtype


def recorded(store: Path) -> dict[str, dict[str, Any]]:
    """Return what the records of a store say, without when and where it was computed."""
    found = {}
    place = place_of(store)
    for name in record_names(place):
        record = Record.from_bytes(place.read(name))
        columns = [record.payload.figures, record.payload.crc]
        found[name] = {
            "head": record.header,
            "jobs": record.payload.jobs.tobytes(),
            "errors": {k: (v["type"], v["message"]) for k, v in record.payload.errors.items()},
            "columns": [{k: v.tobytes() for k, v in one.items()} for one in columns],
        }
    return found


def test_killed_in_mid_run__resumed_sound_and_equal(
    bucket: str, seaweed: Seaweed, tmp_path: Path
) -> None:
    """SIGKILL takes the coordinator alone; arrays and records come out as on a disk."""
    (tmp_path / "busy.toml").write_text(BUSY)
    farm.run(Campaign.from_toml(tmp_path / "busy.toml"), tmp_path / "local")
    url = f"{bucket}/busy.farm"
    first = Command(tmp_path, "run", "busy.toml", "--store", url, "--workers", "2")
    place = place_of(url)
    wait_for(lambda: first.process.poll() is not None or len(record_names(place)) > 2, "records")
    os.kill(first.process.pid, signal.SIGKILL)
    first.finish()
    before = len(record_names(place))
    assert before < len(recorded(tmp_path / "local"))
    again = Command(tmp_path, "run", "busy.toml", "--store", url, "--workers", "2")
    assert again.finish() == 0, again.err
    found = printed_counts(again.out)
    assert found["before"] > 0
    assert found["before"] + found["done"] == found["cells"]
    assert found["failed"] == 0
    assert "figure: busy.output/figures/bands.png" in again.out
    assert (tmp_path / "busy.output" / "figures" / "bands.png").stat().st_size
    checked = Command(tmp_path, "verify", url)
    assert checked.finish() == 0, checked.out
    assert f"{url} is sound" in checked.out
    copy = fetched(url, tmp_path / "copy")
    assert_same_arrays(copy, tmp_path / "local")
    assert recorded(copy) == recorded(tmp_path / "local")
    said = (first.out, first.err, again.out, again.err, checked.out, checked.err)
    assert not any(seaweed.secret in text for text in said)
    for path in copy.rglob("*"):
        if path.is_file():
            assert seaweed.secret.encode() not in path.read_bytes(), path
            assert seaweed.key.encode() not in path.read_bytes(), path


def test_precision_killed_between_rounds__as_on_a_disk(bucket: str, tmp_path: Path) -> None:
    """The same rounds and bytes; the request, not the kill, ends the sampling."""
    (tmp_path / "c.toml").write_text(PRECISE.to_toml())
    farm.run(PRECISE, tmp_path / "local")
    url = f"{bucket}/precise.farm"
    words = ("run", "c.toml", "--json", "--store", url, "--workers", "1")
    first = Command(tmp_path, *words)
    wait_for(lambda: first.process.poll() is not None or "round 1, " in first.err, "a round")
    os.kill(first.process.pid, signal.SIGKILL)
    first.finish()
    again = Command(tmp_path, *words)
    assert again.finish() == 0, again.err
    assert 40 <= printed_counts(again.out)["before"] < printed_counts(again.out)["cells"]
    copy = fetched(url, tmp_path / "copy")
    assert_same_by_label(copy, tmp_path / "local")
    assert tree(copy).attrs["precision"] == tree(tmp_path / "local").attrs["precision"]
    assert values_of(copy) == values_of(tmp_path / "local")


@pytest.fixture
def finished(bucket: str) -> str:
    """A small campaign, done."""
    url = f"{bucket}/grow.farm"
    assert counts(farm.run(SMALL, url)) == (12, 0, 12, 0)
    return url


def answer(capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch, *words: str) -> str:
    """Run `farm` in this process to a good end, and return what it printed."""
    patch.setattr("sys.argv", ["farm", *words])
    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        main()
    printed = capsys.readouterr()
    assert end.value.code in (None, 0), printed
    return printed.out + printed.err


def test_commands_and_functions_take_the_address(
    finished: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each says of the bucket what it says of a folder."""
    farm.run(SMALL, tmp_path / "local")
    monkeypatch.chdir(tmp_path)
    Path("grow.toml").write_text(SMALL.to_toml())
    for words in (
        ("bands", "--metric", "wait"), ("compare", "--json"), ("who", "--top", "2"),
        ("bands", "--weekly"), ("status", "--failed"), ("verify", "--seed", "1"),
    ):  # fmt: skip
        command, *options = words
        mine = answer(capsys, monkeypatch, command, finished, *options)
        other = answer(capsys, monkeypatch, command, "local", *options)
        if command == "status":
            assert mine.splitlines()[1] == other.splitlines()[1]
        else:
            assert mine.replace(finished, "local") == other
    assert "12/12 cells" in answer(capsys, monkeypatch, "watch", finished)
    planned = answer(capsys, monkeypatch, "plan", "grow.toml", "--store", finished, "--no-probe")
    assert "cells to simulate  0" in planned
    cell: Any = {"trace": "m", "policy": "saf+easy", "resample": 1, "load": 0.9}
    assert farm.job_table(finished, **cell).equals(farm.job_table(tmp_path / "local", **cell))
    assert farm.open(finished)["wait"].equals(farm.open(tmp_path / "local")["wait"])
    assert analysis.open_tree(finished).equals(analysis.open_tree(tmp_path / "local"))
    assert farm.status(finished).done == 12


@pytest.mark.parametrize("which", ["policy", "trace", "all"])
def test_grown__as_if_made_at_once(bucket: str, tmp_path: Path, which: str) -> None:
    url, campaign = f"{bucket}/grow.farm", GROWN[which]
    farm.run(SMALL, url)
    assert farm.run(campaign, url).failed == 0
    assert list(verify(url, Again(0))) == []
    farm.run(campaign, tmp_path / "at-once")
    assert_same_by_label(fetched(url, tmp_path / "copy"), tmp_path / "at-once")


@pytest.mark.parametrize(
    "what", ["wait/c/", "records/", "zarr.json", "store.json", "backfilled/c/"]
)
def test_altered_object__found_and_mended(finished: str, what: str) -> None:
    place = place_of(finished)
    name = next(one for one in place.names("") if what in one)
    data = bytearray(place.read(name))
    data[len(data) // 2] ^= 1
    place.write(name, bytes(data))
    faults = list(verify(finished, Again(0)))
    assert faults
    with place.locked():
        repair(finished, faults)
        repair(finished, list(verify(finished, Again(0))))
    assert farm.run(SMALL, finished).failed == 0
    assert list(verify(finished, Again(0))) == []


def test_object_that_is_gone__found_and_mended(finished: str) -> None:
    place = place_of(finished)
    for part in ("/wait/c/", "/submit/c/", "/policy/"):
        place.remove(next(one for one in place.names("results.zarr/m") if part in one))
    faults = list(verify(finished, Again(0)))
    assert faults
    with place.locked():
        repair(finished, faults)
        repair(finished, list(verify(finished, Again(0))))
    farm.run(SMALL, finished)
    assert list(verify(finished, Again(0))) == []


REFUSED = (
    ("run", "grow.toml", "--store"), ("plan", "grow.toml", "--no-probe", "--store"),
    ("status",), ("bands",), ("compare",), ("who",), ("verify",), ("watch",),
)  # fmt: skip


def refused(capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch, *words: str) -> str:
    patch.setattr("sys.argv", ["farm", *words])
    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        main()
    printed = capsys.readouterr()
    assert end.value.code == 2, printed
    assert printed.out == ""
    return sentence(printed.err)


@pytest.mark.parametrize("words", REFUSED, ids=" ".join)
def test_what_a_server_refuses__one_sentence(
    bucket: str,
    words: tuple[str, ...],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A wrong secret, a bucket that is not there, no server, no store: and no key is printed."""
    monkeypatch.chdir(tmp_path)
    Path("grow.toml").write_text(SMALL.to_toml())
    url = f"{bucket}/grow.farm"
    if words[0] not in ("run", "plan", "verify"):
        text = refused(capsys, monkeypatch, *words, url)
        assert "store.json" in text
        assert url in text
    text = refused(capsys, monkeypatch, *words, "s3://no-such-bucket/grow.farm")
    assert "there is no bucket no-such-bucket" in text
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "never-told")
    text = refused(capsys, monkeypatch, *words, url)
    # Some requests are answered without a word.
    assert f"store {url}: access is refused" in text.replace(" (SignatureDoesNotMatch)", "")
    assert "; check AWS_ACCESS_KEY_ID" in text
    assert "never-told" not in text
    assert os.environ["AWS_ACCESS_KEY_ID"] not in text
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    assert "no answer from 127.0.0.1:1; check the endpoint" in refused(
        capsys, monkeypatch, *words, url
    )
    monkeypatch.delenv("AWS_ALLOW_HTTP")
    assert "AWS_ALLOW_HTTP=true allows" in refused(capsys, monkeypatch, *words, url)


def test_prefix_of_somebody_else__is_refused(bucket: str) -> None:
    place_of(f"{bucket}/theirs").write("data.csv", b"1,2")
    with pytest.raises(InputError, match=r"theirs is not a store: it has no store\.json"):
        farm.run(SMALL, f"{bucket}/theirs")
    assert place_of(f"{bucket}/theirs").names("") == ["data.csv"]


HOLD = """
import sys
from schedfarm.farm.store.place import place_of
with place_of(sys.argv[1]).locked() as run:
    print(run, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(bucket: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    url = f"{bucket}/grow.farm"
    words = [sys.executable, "-c", HOLD, url]
    with subprocess.Popen(words, stdin=-1, stdout=-1, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip()
        yield url, process
        process.kill()


def test_two_runs_at_once__the_second_is_refused(
    holder: tuple[str, subprocess.Popen[str]], tmp_path: Path
) -> None:
    """It names the first, and takes nothing; once that has died here it goes on at once."""
    url, process = holder
    (tmp_path / "grow.toml").write_text(SMALL.to_toml())
    words = [FARM, "run", "grow.toml", "--json", "--store", url]
    second = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert second.returncode == 2
    assert f"store {url} is in use by process {process.pid} on " in sentence(second.stderr)
    assert place_of(url).names("") == [LOCK]
    process.kill()
    process.wait()
    assert counts(farm.run(SMALL, url)) == (12, 0, 12, 0)


@pytest.mark.parametrize("where", ["first shard", "second look", "record"])
def test_sleeper__wakes_when_the_store_has_grown(
    bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """What it puts then, after its last look at the turn, replaces nothing that is acknowledged.

    In blocks of two cells the third is alone in its shard, which the growth to five then fills. The
    block before it is stored by then, unless it is that one's record that is slept over.
    """
    monkeypatch.setattr(block_shape, "SHARD_BYTES", 8 * block_shape.JOB_STEP * 2)
    url, put, slept = f"{bucket}/s", Bucket.put_if_match, []
    with begin(THREE, url) as prepared:
        (task,) = prepared.tasks
        if where == "second look":
            # What a worker has left that was killed before it wrote a record.
            place_of(url).write("results.zarr/m/wait/c/0/0/1/0", b"left")

    def late(self: Bucket, name: str, data: Any, etag: Any) -> Any:
        mine = "/wait/c/0/0/1/" in name if where != "record" else name.startswith("records/m/cel")
        if mine and not slept and (etag is not None or where != "second look"):
            slept.append(name)
            monkeypatch.setattr(Bucket, "put_if_match", put)
            assert farm.run(FIVE, url).done == (5 if where == "record" else 3)
        return put(self, name, data, etag)

    # Its turn was looked at before, while its run held the store.
    check = Bucket.check_fence
    monkeypatch.setattr(
        Bucket, "check_fence", lambda self, run: check(self, run) if slept else None
    )
    monkeypatch.setattr(Bucket, "put_if_match", late)
    with pytest.raises(StaleRun):
        run_task(task)
    assert slept
    assert list(verify(url, Again(0))) == []
    farm.run(FIVE, tmp_path / "at-once")
    assert_same_by_label(fetched(url, tmp_path / "copy"), tmp_path / "at-once")


@pytest.mark.parametrize("step", ["planning.design.install", "store.bucket.Bucket.publish"])
@pytest.mark.parametrize("grown", [False, True], ids=["first build", "growth"])
def test_killed_build__is_begun_again(
    bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, grown: bool
) -> None:
    """What is there of it holds nobody up, and nothing done is lost."""
    url, campaign = f"{bucket}/s", GROWN["all"]
    before = farm.run(SMALL, url).done if grown else 0
    kill_build(monkeypatch, step, campaign, url)
    assert counts(farm.run(campaign, url)) == (campaign.cells, before, campaign.cells - before, 0)
    assert list(verify(url, Again(0))) == []
    farm.run(campaign, tmp_path / "whole")
    assert_same_by_label(fetched(url, tmp_path / "copy"), tmp_path / "whole")


def test_server_that_goes_away_in_mid_run__one_sentence_and_resume(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a full disk: what was acknowledged is there when it is back."""
    server = Seaweed(tmp_path / "server")
    server.start()
    try:
        use(server, monkeypatch)
        (tmp_path / "busy.toml").write_text(BUSY)
        url = f"s3://{BUCKET}/busy.farm"
        run = Command(tmp_path, "run", "busy.toml", "--json", "--store", url, "--workers", "2")
        wait_for(lambda: len(record_names(place_of(url))) > 2, "records")
        server.kill()
        assert run.finish() == 2, run.err
        told = [line for line in run.err.splitlines() if line.startswith("farm: ")]
        assert len(told) == 1
        assert f"store {url}" in told[0]
        assert "no answer from 127.0.0.1" in told[0]
        assert "Traceback" not in run.err
        server.start()
        before = len(record_names(place_of(url)))
        assert before > 2
        again = Command(tmp_path, "run", "busy.toml", "--json", "--store", url, "--workers", "2")
        assert again.finish() == 0, again.err
        assert printed_counts(again.out)["before"] > 0
        assert list(verify(url, Again(0))) == []
        assert len(record_names(Store.open(url).place)) > before
    finally:
        server.kill()
