"""Parts of a run in processes of their own are together one run, to the byte."""

from __future__ import annotations

import dataclasses
import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from schedfarm import farm
from schedfarm.core import InputError
from schedfarm.core.format.names import LOCK, PARTS
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.precision import Precision
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.execution.run import begin, begin_part, execute_part
from schedfarm.farm.planning.design import build, design
from schedfarm.farm.planning.parts import MOST, Part, shares
from schedfarm.farm.planning.survey import survey
from schedfarm.farm.store import lease, lock
from schedfarm.farm.store.bucket import Bucket
from schedfarm.farm.store.files import ETag, InUse, StaleRun
from schedfarm.farm.watching.events import All
from tests.stores.test_place_contract import in_memory
from tests.support.command_line import run_farm
from tests.support.harness import assert_same_results, records, wait_for
from tests.support.made import MadeStores
from tests.support.refusals import Said

CAMPAIGN = Campaign(
    name="parts",
    traces=(Trace(name="m", model="lublin", processors=64, jobs=50),),
    policies=("fcfs+easy", "saf+easy"),
    loads=("0.8",),
    resamples=4,
    fairness=("resource",),
    block_seconds=1e-9,
)

CELLS = 2 * CAMPAIGN.cells
"""Cells of schedules and of fair start times."""


@pytest.fixture(autouse=True)
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Believe at once that a lock is held."""
    monkeypatch.setattr(lock, "SIGHTINGS", 0)


def test_parts_in_any_order_and_one_twice__are_one_run(
    tmp_path: Path, made_store: MadeStores
) -> None:
    """The last one completes the summary; nothing else of parts is left."""
    ends = [farm.run(CAMPAIGN, tmp_path / "s", part=f"{k}/3") for k in (2, 3, 2, 1, 1)]
    assert [one.complete for one in ends] == [False, False, False, True, True]
    assert sum(one.done for one in ends) == CELLS
    assert [one.before for one in ends] == [0, 0, ends[0].done, 0, ends[3].done]
    assert ends[2].before == ends[2].cells == ends[0].done > 0 == ends[2].done
    whole = made_store(CAMPAIGN)
    assert_same_results(tmp_path / "s", whole)
    assert records(tmp_path / "s").keys() == records(whole).keys()
    assert not {PARTS, LOCK} & {path.name for path in (tmp_path / "s").iterdir()}


def test_parts_that_are_missing__are_left_to_a_run(tmp_path: Path, made_store: MadeStores) -> None:
    farm.run(CAMPAIGN, tmp_path / "s", part="2/3")
    ended = farm.run(CAMPAIGN, tmp_path / "s")
    assert 0 < ended.before < ended.before + ended.done == CELLS
    assert_same_results(tmp_path / "s", made_store(CAMPAIGN))
    assert not (tmp_path / "s" / PARTS).exists()


@contextmanager
def at_work(store: Path, *parts: str) -> Iterator[None]:
    with ExitStack() as stack:
        for part in parts:
            stack.enter_context(begin_part(CAMPAIGN, store, Part.parse(part)))
        yield


def test_parts_at_once__the_last_to_end_completes_the_summary(
    tmp_path: Path, made_store: MadeStores
) -> None:
    with ExitStack() as stack:
        begun = [
            stack.enter_context(begin_part(CAMPAIGN, tmp_path / "s", Part(k, 2))) for k in (1, 2)
        ]
        ends = [execute_part(one, All()) for one in begun]
    assert [one.complete for one in ends] == [False, True]
    assert_same_results(tmp_path / "s", made_store(CAMPAIGN))


def test_a_run_and_parts__exclude_each_other_by_name(tmp_path: Path) -> None:
    store = tmp_path / "s"
    with at_work(store, "1/3", "3/3"):
        with pytest.raises(InUse, match=r"in use by part 1/3 \(process .*\) and 1 other parts"):
            begin(CAMPAIGN, store).__enter__()
        with pytest.raises(InUse, match=r"part 3/3 is in use by process \d+ on"):
            farm.run(CAMPAIGN, store, part="3/3")
        grown = dataclasses.replace(CAMPAIGN, resamples=5)
        with pytest.raises(InUse, match="in use by part 1/3"):
            farm.run(grown, store, part="2/3")
    with begin(CAMPAIGN, store), pytest.raises(InUse, match=r"s is in use by process \d+ on"):
        farm.run(CAMPAIGN, store, part="1/3")


def test_a_part_that_has_ended__writes_nothing_more(tmp_path: Path) -> None:
    with begin_part(CAMPAIGN, tmp_path / "s", Part(1, 2)) as one:
        run, place = one.tasks[0].run, one.store.place
        with place.fenced(run):
            pass
    with pytest.raises(StaleRun):
        place.check_fence(run)


@pytest.mark.parametrize("of", [1, 3, 7, 1000])
def test_each_block_is_in_one_part__and_parts_are_about_equal(tmp_path: Path, of: int) -> None:
    campaign = dataclasses.replace(CAMPAIGN, resamples=40)
    store = build(design(tmp_path / "s", survey(campaign)))
    found = shares(store, campaign, of)
    assert sorted(map(str, store.blocks())) == sorted(str(b) for one in found.values() for b in one)
    assert all(1 <= number <= of for number in found)
    if of < 10:
        sizes = [len(found[number]) for number in range(1, of + 1)]
        assert max(sizes) - min(sizes) <= 6


def test_parts_in_a_bucket__exclude_a_run_and_are_taken_over_when_dead(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A lease that has expired is taken over: its holder can write no more."""
    place = in_memory(monkeypatch)
    with place.shared("1-of-2") as one, place.shared("2-of-2") as other:
        place.check_fence(one)
        place.check_fence(other)
        with pytest.raises(InUse, match=r"part 1/2 is in use by process \d+ on .* of its lease"):
            place.locked().__enter__()
        with pytest.raises(InUse, match=r"part 2/2 is in use by process"):
            place.shared("2-of-2").__enter__()
        assert json.loads(place.read(LOCK)) == {"run": None}
    with place.locked(), pytest.raises(InUse, match=r"s is in use by process"):
        place.shared("1-of-2").__enter__()
    gone = {"run": "1-of-2.theirs", "pid": 1, "host": "node7", "seconds": 2.0}
    place.write("parts/1-of-2.json", json.dumps(gone).encode())
    monkeypatch.setattr("schedfarm.farm.store.lease._remaining", lambda *_: 0.0)
    with place.locked(), pytest.raises(StaleRun):
        place.check_fence("1-of-2.theirs")


def test_parts_that_start_together_in_a_bucket__wait_for_the_one_that_builds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All read a free lease, and one takes it; those that stop waiting find it taken again."""
    place, parts = in_memory(monkeypatch), 12
    monkeypatch.setattr(lease, "BRIEF_POLL", 0.02)
    together, put, built = threading.Barrier(parts), Bucket.put_if_match, threading.Event()

    def put_together(self: Bucket, name: str, data: Any, etag: ETag) -> ETag:
        # Each of them has seen no holder when the first one becomes it.
        if name == LOCK and not built.is_set():
            with suppress(threading.BrokenBarrierError):
                together.wait(5.0)
                together.abort()
        return put(self, name, data, etag)

    monkeypatch.setattr(Bucket, "put_if_match", put_together)

    def start(number: int) -> bool:
        try:
            with place.locked(brief=True):
                time.sleep(0.1)
                built.set()
        except InUse:
            # By parts that are at work.
            if not built.is_set():
                raise
        with place.shared(f"{number}-of-{parts}") as run:
            place.check_fence(run)
        return True

    with ThreadPoolExecutor(parts) as pool:
        assert all(pool.map(start, range(1, parts + 1)))


def test_a_part_that_starts_during_a_fold_in_a_bucket__acquires_its_lease_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The fold removes the leases of all parts, this one's too."""
    place = in_memory(monkeypatch)
    monkeypatch.setattr(lease, "BRIEF_POLL", 0.02)

    def start() -> None:
        with place.shared("1-of-2") as run:
            place.check_fence(run)
            place.write("f", b"")

    with ThreadPoolExecutor(1) as pool:
        with place.locked(brief=True):
            late = pool.submit(start)
            wait_for(lambda: place.names(PARTS), "the part has put its lease")
            place.remove_below(PARTS)
            assert not late.done()
        late.result()
    assert place.has("f")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--part", "0/200"], "--part 0/200: parts are numbered 1 to 200"),
        (["--part", "201/200"], "--part 201/200: parts are numbered 1 to 200"),
        (["--part", "7/0"], f"--part 7/0: there are 1 to {MOST:,} parts"),
        (["--part", "7"], "--part 7: give its number and their count, such as 7/200"),
        (["--part", "1/2", "--on", "slurm"], "without a cluster; leave --on out"),
        (["--part", "1/2", "--workers", "2"], "without a cluster; leave --workers out"),
        (["--part", "1/2", "--dashboard"], "without a cluster; leave --dashboard out"),
    ],
)
def test_parts_that_cannot_be__are_one_sentence(
    said: Said, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], why: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("c.toml").write_text(CAMPAIGN.to_toml())
    assert why in said("run", "c.toml", *words)
    assert not Path("parts.farm").exists()


def test_precision_and_another_campaign__are_refused(tmp_path: Path) -> None:
    farm.run(CAMPAIGN, tmp_path / "s", part="1/2")
    other = dataclasses.replace(CAMPAIGN, name="other")
    with pytest.raises(InputError, match="was made by campaign 'parts', not 'other'"):
        farm.run(other, tmp_path / "s", part="2/2")
    wanted = Precision(metric="wait", policy="saf+easy", relative=0.45)
    rounds = dataclasses.replace(CAMPAIGN, precision=(wanted,))
    with pytest.raises(InputError, match="--part 1/2: campaign 'parts' requests precision"):
        farm.run(rounds, tmp_path / "t", part="1/2")
    assert not (tmp_path / "t").exists()


def test_the_command__prints_its_part_and_what_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("c.toml").write_text(CAMPAIGN.to_toml())
    first = run_farm("run", "c.toml", "--part", "1/2", "--quiet")
    assert first.stdout.startswith("part 1/2: ")
    assert "0 failed; store parts.farm\nother blocks are missing or in progress" in first.stdout
    last = run_farm("run", "c.toml", "--part", "2/2", "--json")
    printed = json.loads(last.stdout)
    assert (printed["part"], printed["complete"], printed["failed"]) == ("2/2", True, 0)
    empty = run_farm("run", "c.toml", "--part", "500/1000")
    assert "note: part 500/1000 is empty" in empty.stderr
    assert "no block is missing, and the summary is complete" in empty.stdout
