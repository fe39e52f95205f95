"""Every altered byte of a store's arrays and records is found, and mended or run again."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
import zarr
from click.testing import CliRunner

from schedfarm import farm
from schedfarm.analysis import StoreError
from schedfarm.analysis.store import open_summary
from schedfarm.core.errors import InputError
from schedfarm.core.format.geometry import Block
from schedfarm.core.format.names import record_name
from schedfarm.core.logs.swf import write_swf
from schedfarm.core.metrics.declared import METRICS
from schedfarm.core.models.lublin import lublin
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.cli import cli
from schedfarm.farm.execution.cell import Simulations
from schedfarm.farm.execution.run import begin
from schedfarm.farm.execution.worker import run_task
from schedfarm.farm.store.arrays import open_results
from schedfarm.farm.store.block import OpenBlock, commit
from schedfarm.farm.store.files import ETag
from schedfarm.farm.store.folder import Folder
from schedfarm.farm.store.records import iterate_records
from schedfarm.farm.store.store import Store
from schedfarm.farm.verify import Again, _drawn, repair, verify
from schedfarm.farm.watching.events import Event, Said, Watcher
from tests.support.made import MadeStores
from tests.support.refusals import GOOD

NO_RESULT = {"events.jsonl", "turn.lock"}
"""The first says what runs did, and nothing depends on it; the other is empty."""


def logged(made_store: MadeStores) -> Campaign:
    """Return a campaign of a small log and one sample."""
    drawn = lublin(32, weeks=2, seed=3, users=5)
    log = made_store.once("log-to-verify.swf", lambda path: write_swf(drawn, path))
    return Campaign(
        name="verify",
        traces=(Trace(name="log", file=str(log)),),
        policies=("fcfs+easy",),
        resamples=1,
        log=True,
    )


@pytest.fixture(scope="module")
def campaign(made_store: MadeStores) -> Campaign:
    return logged(made_store)


@pytest.fixture(scope="module")
def sound(campaign: Campaign, made_store: MadeStores) -> Path:
    return made_store(campaign)


@pytest.fixture
def store(campaign: Campaign, made_store: MadeStores, tmp_path: Path) -> Path:
    return made_store.copy(campaign, tmp_path / "store")


def contents(store: Path) -> dict[str, bytes]:
    """Bytes of every array file."""
    root = store / "results.zarr"
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def test_sound_store_has_no_fault(sound: Path) -> None:
    """Nothing is found where nothing is wrong, with every block simulated again."""
    assert list(verify(sound, Again(100))) == []


def test_altered_bytes_are_found(store: Path) -> None:
    """A bit turned in every second file is found, be it at its beginning, its end or between."""
    try_altered_bytes(store, 0)


def try_altered_bytes(store: Path, first: int) -> None:
    """Turn a bit in every second file, from the first or the second one on."""
    files = [p for p in sorted(store.rglob("*")) if p.is_file() and p.name not in NO_RESULT]
    assert len(files) > 60
    places = itertools.cycle(range(5))
    for file in files[first::2]:
        whole = file.read_bytes()
        at = next(places) * (len(whole) - 1) // 4
        altered = bytearray(whole)
        altered[at] ^= 1
        file.write_bytes(altered)
        assert next(verify(store, Again(0)), None), f"{file} byte {at} of {len(whole)}"
        file.write_bytes(whole)
    assert list(verify(store, Again(0))) == []


def test_missing_file_is_found(store: Path) -> None:
    """A file that is gone is found, though Zarr reads a missing chunk as fill."""
    for file in sorted((store / "results.zarr" / "log").rglob("*")):
        if file.is_file():
            moved = file.rename(store / "elsewhere")
            assert next(verify(store, Again(0)), None), file
            moved.rename(file)


@pytest.mark.parametrize(
    "pattern",
    [
        "results.zarr/log/wait/c/**/*",
        "results.zarr/log/submit/c/**/*",
        "results.zarr/zarr.json",
        "results.zarr/wait/c/**/*",
        "results.zarr/log/policy/c/*",
        "records/log/**/*.json",
        "traces/*.npz",
        "store.json",
        "store.copy.json",
        "campaign.toml",
    ],
)
def test_repair_and_run_restore_the_store(
    campaign: Campaign, sound: Path, store: Path, pattern: str
) -> None:
    """After `--repair` and the next run, every array file has its old bytes again."""
    file = next(p for p in sorted(store.glob(pattern)) if p.is_file())
    altered = bytearray(file.read_bytes())
    altered[len(altered) // 2] ^= 4
    file.write_bytes(altered)
    result = CliRunner().invoke(cli, ["verify", str(store), "--repair"])
    assert result.exit_code == 1, result.output
    assert str(file.relative_to(store)).split("/c/")[0] in result.stdout
    farm.run(campaign, store)
    assert list(verify(store)) == []
    assert contents(store) == contents(sound)


def fill(draft: OpenBlock, late: int = 0) -> None:
    """Add the cells that a block lacks as the store's arrays have them, their jobs later."""
    block, group = draft.block, open_results(draft.store.place)[draft.block.trace]
    names = [v.name for v in draft.store.arrays_of(block.trace, block.kind)]
    for cell in draft.missing:
        jobs = int(group["jobs"][cell, 0])
        lengths = draft.store.lengths_of(block, draft.cells[cell], jobs)
        rows = {name: np.asarray(group[name][cell, 0, 0])[: lengths[name]] for name in names}
        rows["wait"] = rows["wait"] + late
        draft.add(cell, jobs, rows, {}, 0.0)


def test_wrong_simulation_is_found_by_simulating_again(store: Path) -> None:
    """Values that agree with their record but not with the program are found by the sample."""
    block = Block("log", "cells", 0, 0, 0)
    (store / record_name(block)).unlink()
    draft = OpenBlock(farm.Store.open(store), block)
    fill(draft, late=1)
    commit([draft])
    faults = [f for f in verify(store, Again(100)) if f.block == block]
    assert faults
    assert "simulated again" in faults[0].why
    assert repair(store, faults) == [block]


def test_a_record_that_became_unreadable_acknowledges_nothing(store: Path) -> None:
    """A disk that loses a record after the run has read it: the block is simulated again."""
    block, opened = Block("log", "cells", 0, 0, 0), farm.Store.open(store)
    assert OpenBlock(opened, block).missing == []
    (store / record_name(block)).write_bytes(b"junk")
    draft = OpenBlock(opened, block)
    assert draft.missing == [*range(len(draft.cells))]


@pytest.mark.parametrize("other", ["junk", "sound"])
def test_a_block_replaces_a_record_that_does_not_acknowledge_it(
    store: Path, monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    """Another attempt writes the record last of all: it stays if it is about the block."""
    block, opened = Block("log", "cells", 0, 0, 0), farm.Store.open(store)
    record = store / record_name(block)
    found = record.read_bytes() if other == "sound" else b"junk"
    record.unlink()
    draft = OpenBlock(opened, block)
    fill(draft)
    real, late = Folder.write_if_match, iter([found])

    def write_if_match(place: Folder, name: str, data: bytes, etag: ETag) -> bool:
        for content in late:
            record.write_bytes(content)
        return real(place, name, data, etag)

    monkeypatch.setattr(Folder, "write_if_match", write_if_match)
    commit([draft])
    assert (record.read_bytes() == found) == (other == "sound")
    assert OpenBlock(opened, block).missing == []


def test_command_says_sound_and_exits_0(sound: Path) -> None:
    """`farm verify` on a sound store says so."""
    result = CliRunner().invoke(cli, ["verify", str(sound), "--seed", "7"])
    assert (result.exit_code, result.stdout) == (
        0,
        f"simulated 1 of 2 cells again (--seed 7 chooses the same)\n{sound} is sound\n",
    )


def test_tree_opens_by_its_door(sound: Path) -> None:
    """`farm.open` gives the tree, and labels select."""
    tree = farm.open(sound)
    assert isinstance(tree, xr.DataTree)
    cell = tree["log"].to_dataset().sel(policy="fcfs+easy", load="original", resample=0)
    table = farm.job_table(sound, trace="log", policy="fcfs+easy", resample=0)
    assert len(table) == int(cell.jobs)
    assert (table.start - table.submit == table.wait).all()
    assert table.backfilled.dtype == bool


OWN = """
def even(procs): return procs
def odd(procs): return -procs
"""


@pytest.fixture
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store of two policies of which the second is its user's, whose order has changed since.

    The order comes from an installed package, so that no campaign holds its text.
    """
    monkeypatch.syspath_prepend(tmp_path / "site")
    package = tmp_path / "site" / "brought.py"
    package.parent.mkdir()
    package.write_text(OWN)
    entry = tmp_path / "site" / "brought-1.0.dist-info"
    entry.mkdir()
    (entry / "METADATA").write_text("Metadata-Version: 2.1\nName: brought\nVersion: 1.0\n")
    (entry / "entry_points.txt").write_text("[schedfarm.orders]\nevenly = brought:even\n")
    campaign = Campaign(
        name="own",
        traces=(Trace(name="m", model="lublin", processors=32, jobs=60),),
        policies=("fcfs+easy", "evenly+easy"),
        loads=("1.2",),
        resamples=3,
    )
    assert farm.run(campaign, tmp_path / "store").failed == 0
    assert list(verify(tmp_path / "store", Again(100))) == []
    package.write_text(OWN.replace("return procs", "return -procs"))
    return tmp_path / "store"


def test_a_policy_that_has_changed_since_is_found(own_store: Path) -> None:
    """The text of an own order is part of what its cells are."""
    faults = list(verify(own_store, Again(0)))
    assert faults
    assert "evenly+easy" in faults[0].why
    assert "changed since" in faults[0].why
    campaign = Campaign.from_toml(own_store / "campaign.toml")
    with pytest.raises(InputError, match=r"evenly\+easy has changed since .*--repair"):
        farm.run(campaign, own_store)
    assert repair(own_store, faults)
    assert farm.run(campaign, own_store).done == 6


def test_cells_of_an_order_that_was_revised_since_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store whose records know no revision of fair-share was written before it was revised."""
    campaign = Campaign(
        name="revised",
        traces=(Trace(name="m", model="lublin", processors=32, jobs=60),),
        policies=("fcfs+easy", "fcfs+easy,backfill=fair-share"),
        loads=("1.2",),
        resamples=2,
        block_seconds=1e-9,
    )
    store = tmp_path / "store"
    with monkeypatch.context() as before:
        before.setattr("schedfarm.farm.store.store.revised_orders", lambda policies: {})
        assert farm.run(campaign, store).failed == 0
    for wanted in (replace(campaign, resamples=3), campaign):
        with pytest.raises(
            InputError,
            match=r"an order or a rule of .*fair-share has changed since .*--repair'.* --store",
        ):
            farm.run(wanted, store)
    with pytest.raises(StoreError, match=r"the definition of order 'fair-share' has changed since"):
        open_summary(store)["wait"].load()
    faults = list(verify(store, Again(0)))
    assert faults
    assert all("fair-share was simulated by orders or rules that have changed" in fault.why
               for fault in faults)  # fmt: skip
    assert repair(store, faults)
    assert farm.run(campaign, store).done == len(faults)
    assert open_summary(store)["wait"].notnull().all()
    assert list(verify(store, Again(100))) == []


def test_a_store_may_grow_by_another_own_order(tmp_path: Path) -> None:
    """Cells of other policies stay what they are."""
    (tmp_path / "mine.py").write_text(OWN)
    campaign = Campaign(
        name="own",
        traces=(Trace(name="m", model="lublin", processors=32, jobs=60),),
        policies=("fcfs+easy", "mine:even+easy"),
        resamples=2,
        folder=tmp_path,
    )
    farm.run(campaign, tmp_path / "store")
    (tmp_path / "yours.py").write_text(OWN)
    wider = (*campaign.policies, "yours:odd+easy")
    grown = replace(campaign, policies=wider, folder=tmp_path)
    outcome = farm.run(grown, tmp_path / "store")
    assert (outcome.before, outcome.done) == (4, 2)
    assert list(verify(tmp_path / "store", Again(100))) == []


def test_cells_of_every_policy_are_drawn(sound: Path, tmp_path: Path) -> None:
    """Not the first one of each block: over the seeds all of them, and each time so many."""
    path = tmp_path / "store"
    campaign = Campaign(
        name="drawn",
        traces=(Trace(name="m", model="lublin", processors=32, jobs=40),),
        policies=("fcfs+easy", "saf+easy", "spf+none"),
        resamples=4,
        fairness=("promise",),
    )
    farm.run(campaign, path)
    records = list(iterate_records(farm.Store.open(path)))
    met = set()
    for seed in range(40):
        again = Again(2, seed)
        drawn = _drawn(records, again)
        assert again.cells == 24
        cells = [(r.header.block.kind, r.header.span.cells[place]) for r, place in drawn]
        assert len(set(cells)) == len(cells)
        each = Counter((kind, cell[2]) for kind, cell in cells)
        assert set(each.values()) == {2}
        assert {policy for _, policy in each} == {*campaign.policies, "all"}
        assert drawn == _drawn(records, Again(2, seed))
        met |= set(cells)
    assert len(met) == 24 + 4
    again = Again(2, 3)
    assert list(verify(path, again)) == []
    assert (again.done, again.cells) == (12, 24)


def test_a_column_more_is_no_fault(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that has learnt a column simulates again what the record has."""
    make = Simulations.values

    def more(*arguments: object) -> object:
        count, rows, figures = make(*arguments)  # type: ignore[arg-type]
        return count, {**rows, "memory": np.arange(3)}, figures

    monkeypatch.setattr(Simulations, "values", more)
    assert list(verify(store, Again(100))) == []


def test_a_stale_summary_is_one_fault(campaign: Campaign, store: Path, tmp_path: Path) -> None:
    """Of a run that goes on, or was killed: cells are done that the summary does not have yet."""
    larger = replace(campaign, policies=("fcfs+easy", "saf+easy"))
    with begin(larger, store) as prepared:
        for task in prepared.tasks:
            run_task(task)
        (fault,) = verify(store, Again(0))
    assert "the summary is stale" in fault.why
    assert fault.block is None
    farm.run(larger, store)
    assert list(verify(store, Again(0))) == []


def test_numbers_of_another_program_are_found(
    campaign: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its schedules are right and its records whole; simulated again, a metric is another."""
    right = METRICS["queue_length"]
    wrong = replace(right, of=lambda counted: 1 + right.of(counted))
    with monkeypatch.context() as other:
        other.setitem(METRICS, "queue_length", wrong)
        farm.run(campaign, tmp_path / "s")
    assert list(verify(tmp_path / "s", Again(0))) == []
    faults = list(verify(tmp_path / "s", Again(100)))
    assert len(faults) == 2
    assert all("simulated again, queue_length of" in fault.why for fault in faults)
    repair(tmp_path / "s", faults)
    assert farm.run(campaign, tmp_path / "s").done == 2
    assert list(verify(tmp_path / "s", Again(100))) == []


def test_what_does_not_belong_is_found(store: Path) -> None:
    """An array or a group that is none of the store's, at the root and in a trace."""
    root = zarr.open_group(store / "results.zarr", mode="r+", use_consolidated=False)
    root.create_array("mine", shape=(3,), dtype="f8")
    root["log"].create_array("mine", shape=(3,), dtype="f8")  # type: ignore[union-attr]
    root.create_group("other")
    faults = list(verify(store))
    names = {f.name.removeprefix("results.zarr/") for f in faults}
    assert names == {"mine", "log/mine", "other"}
    assert all("does not belong to the store" in fault.why for fault in faults)
    repair(store, faults)
    assert (store / "results.zarr" / "mine").is_dir()


def test_metadata_that_can_be_made_again_is(campaign: Campaign, sound: Path, store: Path) -> None:
    """By the next run itself, with one line: coordinates and the summary, of which none is lost."""
    said: list[str] = []

    class Listener(Watcher):
        def see(self, event: Event) -> None:
            if isinstance(event, Said):
                said.append(event.text)

    results = store / "results.zarr"
    (results / "wait" / "zarr.json").write_bytes(b"")
    (results / "log" / "policy" / "zarr.json").unlink()
    (results / "zarr.json").write_text("{")
    farm.run(campaign, store, watch=Listener())
    assert said == ["metadata that was missing or damaged has been made again: ., wait, log/policy"]
    assert list(verify(store)) == []
    assert contents(store) == contents(sound)


def test_a_store_with_high_loads_is_verified(tmp_path: Path) -> None:
    """It was made with them, whatever its campaign says of overload since."""
    campaign = Campaign.from_dict({**GOOD, "loads": [2.5], "overload": True}, tmp_path)
    farm.run(campaign, tmp_path / "s")
    store = Store.open(tmp_path / "s")
    text = store.text.replace("overload = true", "overload = false")
    assert text != store.text
    replace(store, text=text).save()
    assert list(verify(tmp_path / "s", Again(2))) == []
