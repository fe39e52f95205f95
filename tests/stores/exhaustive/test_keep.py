"""How much a store keeps of each cell: what each answer has, checks, learns and refuses."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from schedfarm import analysis, farm
from schedfarm.analysis.errors import StoreError
from schedfarm.analysis.papers import make_report
from schedfarm.core.errors import InputError
from schedfarm.core.format.retention import RETENTION
from schedfarm.farm.campaign.campaign import Campaign
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.cli.paper_report import check_report
from schedfarm.farm.execution import cell
from schedfarm.farm.planning.design import design
from schedfarm.farm.planning.survey import survey
from schedfarm.farm.store.reading import job_table, schedule_of
from schedfarm.farm.verify import Again, repair, verify
from tests.support.made import MadeStores

CAMPAIGN = Campaign(
    name="kept",
    traces=(Trace(name="m", model="lublin", processors=64, jobs=120),),
    policies=("fcfs+easy", "spf+conservative"),
    loads=("0.8", "0.9"),
    resamples=3,
    fairness=("strict",),
)

LESS = [name for name, row in RETENTION.items() if row.without]


@pytest.fixture
def stores(made_store: MadeStores) -> dict[str, Path]:
    """Return one store for each answer."""
    return {name: made_store(replace(CAMPAIGN, keep=name)) for name in RETENTION}


def dims_of(store: Path) -> set[str]:
    """Dimensions of what blocks have written of the trace."""
    with xr.open_zarr(store / "results.zarr", group="m", chunks=None) as data:
        return {str(dim) for values in data.data_vars.values() for dim in values.dims}


def test_each_answer_has_less(stores: dict[str, Path]) -> None:
    """The dimensions that it names are gone, and with them files and bytes."""
    sizes = {}
    for name, store in stores.items():
        assert dims_of(store).isdisjoint(RETENTION[name].without)
        sizes[name] = sum(p.stat().st_size for p in store.rglob("*") if p.is_file())
    assert dims_of(stores["jobs"]) >= {"job", "week", "width", "user"}
    assert dims_of(stores["weeks"]) >= {"week", "width", "user"}
    assert dims_of(stores["summary"]) == {"resample", "load"}
    assert sizes["jobs"] > sizes["weeks"] > sizes["summary"]


@pytest.mark.parametrize("name", LESS)
def test_what_is_kept_is_the_same(stores: dict[str, Path], name: str) -> None:
    """To the bit, whatever else is kept: the summary, and all series that are there."""
    whole, part = (analysis.open_summary(stores[key]).load() for key in ("jobs", name))
    xr.testing.assert_identical(part.drop_attrs(), whole.drop_attrs())
    whole, part = (analysis.open_trace(stores[key], "m").load() for key in ("jobs", name))
    for array in part.data_vars:
        xr.testing.assert_identical(part[array], whole[array])


@pytest.mark.parametrize("name", LESS)
def test_every_job_is_verified_by_simulating_again(
    stores: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Though no job is there: its checksum is, of waits, fair starts and columns alike."""
    store = Path(shutil.copytree(stores[name], tmp_path / "store"))
    again = Again(100)
    assert list(verify(store, again)) == []
    assert again.done == again.cells == 24

    true = cell.encode_schedule
    monkeypatch.setattr(
        cell,
        "encode_schedule",
        lambda schedule: {
            **true(schedule),
            "wait": true(schedule)["wait"] + (np.arange(len(schedule.workload)) == 7),
        },
    )
    faults = list(verify(store, Again(100)))
    assert len(faults) == 12
    assert all("simulated again, wait of " in fault.why for fault in faults)
    monkeypatch.undo()
    assert repair(store, faults)
    farm.run(replace(CAMPAIGN, keep=name), store)
    assert list(verify(store, Again(100))) == []


@pytest.mark.parametrize("name", list(RETENTION))
def test_a_store_that_grows_is_one_made_at_once(
    stores: dict[str, Path], tmp_path: Path, name: str
) -> None:
    """Also where blocks are opened again of which nothing but figures is stored."""
    farm.run(replace(CAMPAIGN, keep=name, resamples=1, loads=("0.8",)), tmp_path / "grown")
    farm.run(replace(CAMPAIGN, keep=name), tmp_path / "grown")
    assert list(verify(tmp_path / "grown", Again(100))) == []
    found, whole = (
        analysis.open_summary(store).load() for store in (tmp_path / "grown", stores[name])
    )
    xr.testing.assert_identical(found, whole)


MINE = '''
def ninth(counted):
    """The ninth job's wait."""
    return float(counted.wait[8])


ninth.unit = "s"
'''


@pytest.mark.parametrize(("name", "simulated"), [("jobs", 0), ("weeks", 12), ("summary", 12)])
def test_a_later_metric(
    stores: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    simulated: int,
) -> None:
    """Follows from the jobs where they are, and else by simulating every cell again."""
    (tmp_path / "mine.py").write_text(MINE)
    store = Path(shutil.copytree(stores[name], tmp_path / "store"))
    more = replace(CAMPAIGN, keep=name, metrics=("mine:ninth",), folder=tmp_path)
    asked: list[str] = []
    real: Callable[..., object] = cell.simulate
    monkeypatch.setattr(cell, "simulate", lambda *a: (asked.append(a[1]), real(*a))[1])
    farm.run(more, store)
    assert len(asked) == simulated
    waits = analysis.open_trace(stores["jobs"], "m")["wait"].isel(job=8)
    ninth = analysis.open_summary(store)["ninth"].sel(trace="m", drop=True)
    np.testing.assert_array_equal(ninth, waits)
    assert list(verify(store, Again(100))) == []


def test_a_simulation_that_comes_out_differently_changes_nothing(
    stores: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A later metric would be of other jobs than the rest of the cell: the run says so."""
    (tmp_path / "mine.py").write_text(MINE)
    store = Path(shutil.copytree(stores["summary"], tmp_path / "store"))
    more = replace(CAMPAIGN, keep="summary", metrics=("mine:ninth",), folder=tmp_path)
    true = cell.encode_schedule
    monkeypatch.setattr(
        cell,
        "encode_schedule",
        lambda schedule: {**true(schedule), "backfilled": ~schedule.backfilled},
    )
    before = {p.name: p.read_bytes() for p in (store / "records/m/cells").iterdir()}
    outcome = farm.run(more, store)
    assert outcome.failed
    assert {p.name: p.read_bytes() for p in (store / "records/m/cells").iterdir()} == before


def test_blocks_are_longer_where_no_jobs_are_kept(tmp_path: Path) -> None:
    """Arrays of jobs bound a shard by its bytes; without them a block takes the time it should."""
    trace = Trace(name="m", model="lublin", processors=64, jobs=100_000)
    easy: dict[str, Any] = {"policies": ("fcfs+easy",), "loads": ("0.8",), "fairness": ()}
    many = replace(CAMPAIGN, traces=(trace,), resamples=20_000, **easy)
    counts = {
        name: len(design(tmp_path / name, survey(replace(many, keep=name))).store.blocks())
        for name in RETENTION
    }
    assert counts["jobs"] > 2 * counts["weeks"]
    assert counts["weeks"] == counts["summary"]


@pytest.mark.parametrize("name", LESS)
@pytest.mark.parametrize("ask", [job_table, schedule_of])
def test_jobs_that_are_not_kept_are_refused(
    stores: dict[str, Path], name: str, ask: Callable[..., object]
) -> None:
    """With the key that would keep them."""
    with pytest.raises(InputError, match=f"made with keep = '{name}' and has no jobs of its cells"):
        ask(stores[name], trace="m", resample=1, load=0.9, policy="fcfs+easy")


def test_questions_about_what_is_not_kept_are_refused(stores: dict[str, Path]) -> None:
    """In a sentence that names the key; those about the rest are answered."""
    for name in LESS:
        with pytest.raises(StoreError, match=f"no wait: .*keep = '{name}'"):
            analysis.changes(stores[name], "m", "spf+conservative", "fcfs+easy", load=0.9)
        with pytest.raises(StoreError, match=f"report 'saf-2019' needs keep = 'jobs'.*'{name}'"):
            make_report("saf-2019", stores[name])
        assert analysis.compare(stores[name], "fcfs+easy", metrics=["wait"])
    with pytest.raises(StoreError, match=r"no week_jobs: .*keep = 'summary'"):
        analysis.weekly_bands(stores["summary"], "m", "wait", 0.9, trim=0)
    assert analysis.weekly_bands(stores["weeks"], "m", "wait", 0.9, trim=0)


@pytest.mark.parametrize("name", LESS)
def test_another_answer_needs_another_store(stores: dict[str, Path], name: str) -> None:
    """Less would lose what is there; more would make shards larger than memory is for."""
    sentence = f"made with keep = '{name}', but the campaign has 'jobs'; set keep = '{name}'"
    with pytest.raises(InputError, match=sentence):
        farm.run(CAMPAIGN, stores[name])
    with pytest.raises(InputError, match=r"made with keep = 'jobs', but the campaign has"):
        farm.run(replace(CAMPAIGN, keep=name), stores["jobs"])


def test_a_campaigns_file_says_it() -> None:
    """A wrong word is refused with the right ones, and a report that needs more before it runs."""
    plain = CAMPAIGN.to_dict()
    assert Campaign.from_dict({**plain, "keep": "weeks"}, Path()).keep == "weeks"
    with pytest.raises(InputError, match=r"keep 'week' is unknown; did you mean 'weeks'\?"):
        Campaign.from_dict({**plain, "keep": "week"}, Path())
    few = Campaign.from_dict({**plain, "keep": "summary", "report": "jones-2005"}, Path())
    with pytest.raises(InputError, match="keep = 'weeks', not 'summary'"):
        check_report(few)
