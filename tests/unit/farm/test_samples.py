"""Rules of a cell's jobs: selection, resample, load and model, and how many there can be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from schedfarm.analysis.store import named_values
from schedfarm.core import InputError, Workload, offered_load, scale_load, write_swf
from schedfarm.core.machines.network.platform import Network
from schedfarm.core.machines.pool.platform import Pool
from schedfarm.core.models import MODELS, poisson
from schedfarm.core.workload.load import scale_arrivals
from schedfarm.core.workload.resample_blocks import resample_blocks
from schedfarm.core.workload.resample_users import resample_users, users_for_load
from schedfarm.core.workload.resample_weeks import WEEK, resample_weekly, span_weeks
from schedfarm.farm import Campaign, run
from schedfarm.farm.campaign.samples import Samples
from schedfarm.farm.campaign.trace import Trace
from schedfarm.farm.planning.design import build, design
from schedfarm.farm.planning.survey import DRAWN, survey, survey_of


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of 20 weeks, 400 jobs and 8 users, some of whom stay for a short time."""
    w = poisson(64, jobs=400, seed=3, per_week=20, users=8)
    path = tmp_path_factory.mktemp("log") / "p.swf"
    write_swf(w, path)
    return path


def campaign(source: Path, **keys: Any) -> Campaign:
    trace = keys.pop("trace", {})
    fixed = {"name": "c", "policies": ("fcfs+easy",), "resamples": 3}
    return Campaign(**(fixed | keys), traces=(Trace(file=str(source), name="p", **trace),))


def cell(c: Campaign, w: Workload | None, resample: int, load: str) -> Workload:
    return Samples(c.traces[0], w, c.settings).at(resample, load)


def test_a_selection_is_part_of_the_trace(log: Path) -> None:
    """Weeks and widths are cut before the first jobs are taken; what goes is counted."""
    trace = Trace(file=str(log), jobs=30, select={"weeks": (1, 5), "widths": [10, 30]})
    w = trace.read()
    assert w is not None
    assert len(w) == 30
    assert w.procs.max() <= 30
    assert len(w) + sum(w.dropped.values()) == 400
    assert list(w.dropped) == ["outside weeks", "outside widths", "past jobs"]
    assert Trace.from_dict(trace.to_dict(), log.parent) == trace


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"select": {"week": [0, 1]}}, "'p': select: 'week' is not a criterion of selection"),
        ({"select": {"weeks": [1, 1]}}, "'p': select: weeks=[1, 1]: the second number"),
        ({"select": 3}, "'p': select is 3; it must be a table"),
    ],
)
def test_bad_selections_are_refused(log: Path, keys: dict[str, Any], said: str) -> None:
    """When the campaign is read, not when it runs."""
    with pytest.raises(InputError) as error:
        Trace(file=str(log), name="p", **keys)
    assert said in str(error.value)


def test_selections_in_a_file_of_a_campaign(tmp_path: Path, log: Path) -> None:
    """A [traces.select] table says the same as the value, dates as TOML's or as text."""
    path = tmp_path / "c.toml"
    path.write_text(
        f'name = "c"\nresamples = 1\npolicies = ["fcfs+easy"]\n[[traces]]\nfile = "{log}"\n'
        "[traces.select]\ndates = [1996-09-25, 1996-12-31]\nflurry = {jobs = 9, seconds = 60}\n"
    )
    c = Campaign.from_toml(path)
    assert c.traces[0].select == {
        "dates": ["1996-09-25", "1996-12-31"],
        "flurry": {"jobs": 9, "seconds": 60},
    }
    path.write_text(c.to_toml())
    assert Campaign.from_toml(path) == c


def test_jobs_of_a_cell(log: Path) -> None:
    """Each way to draw and to load is that of core, under the campaign's seed."""
    c = campaign(log, seed=9)
    w = c.traces[0].read()
    assert w is not None
    weekly = resample_weekly(w, seed=9, index=2)
    assert cell(c, w, 2, "0.5").digest() == scale_load(weekly, 0.5).digest()
    c = campaign(log, seed=9, load_by="interarrival")
    assert cell(c, w, 2, "0.5").digest() == scale_arrivals(weekly, 0.5).digest()
    assert cell(c, w, 0, "0.5").digest() == scale_arrivals(w, 0.5).digest()
    c = campaign(log, seed=9, draw="users")
    users = resample_users(w, seed=9, index=2)
    assert cell(c, w, 2, "original").digest() == users.digest()
    assert cell(c, w, 2, "0.5").digest() == scale_load(users, 0.5).digest()
    c = campaign(log, seed=9, draw="users", load_by="users")
    many = resample_users(w, seed=9, index=2, users=users_for_load(w, 0.5))
    assert cell(c, w, 2, "0.5").digest() == many.digest()
    assert cell(c, w, 2, "original").digest() == users.digest()
    c = campaign(log, seed=9, draw="weeks, block=4")
    assert c.draw == "weeks,block=4"
    blocks = resample_blocks(w, seed=9, index=2, block=4)
    assert cell(c, w, 2, "0.5").digest() == scale_load(blocks, 0.5).digest()
    assert campaign(log, draw="weeks,block=1").draw == "weeks"


@pytest.mark.parametrize(
    "keys",
    [
        {"draw": "replace", "load_by": "runtime", "log": True},
        {"draw": "users", "load_by": "runtime"},
        {"draw": "users", "load_by": "users"},
        {"draw": "users", "load_by": "interarrival", "trace": {"weeks": 3}},
        {"draw": "permute", "load_by": "interarrival", "log": True},
        {"draw": "weeks,block=3", "load_by": "interarrival", "log": True},
        {"draw": "weeks", "trace": {"weeks": 30}},
    ],
)
def test_a_trace_has_room_for_every_cell(log: Path, keys: dict[str, Any]) -> None:
    """As many jobs as the largest cell has, exactly, and weeks enough for every submission."""
    c = campaign(log, loads=("original", 0.2, 0.7), **keys)
    w = c.traces[0].read()
    cells = {(r, load): cell(c, w, r, load) for r in c.resample_axis for load in c.loads}
    found = survey_of(c.traces[0], c)
    assert found.jobs == max(map(len, cells.values()))
    for (r, load), one in cells.items():
        of_log, of_samples = found.weeks[load]
        assert (of_log if r == 0 else of_samples) >= span_weeks(one)


def test_weeks_are_those_of_the_first_samples(log: Path) -> None:
    """At a load that spreads arrivals, of sixteen samples, however many the campaign has."""
    c = campaign(log, load_by="interarrival", loads=("original", 0.02), resamples=1)
    w = c.traces[0].read()
    assert w is not None
    longest = max(span_weeks(cell(c, w, r, "0.02")) for r in range(1, DRAWN + 1))
    assert survey_of(c.traces[0], c).weeks == {
        "original": (span_weeks(w), span_weeks(w)),
        "0.02": (span_weeks(cell(c, w, 0, "0.02")), longest),
    }
    assert longest > span_weeks(cell(c, w, 1, "0.02"))


def test_weeks_without_samples_draw_none(tmp_path: Path) -> None:
    """A log that cannot be resampled, for its weeks and users, can still be simulated itself."""
    row = "{} {} -1 10 2 -1 -1 2 20 -1 1 {} -1 -1 -1 -1 -1 -1\n"
    text = "".join(row.format(k + 1, k * WEEK // 5, k) for k in range(26_000))
    (tmp_path / "p.swf").write_text("; MaxProcs: 64\n" + text)
    c = campaign(tmp_path / "p.swf", load_by="interarrival", resamples=0, log=True)
    w = c.traces[0].read()
    assert w is not None
    with pytest.raises(InputError, match="users"):
        cell(c, w, 1, "original")
    assert survey_of(c.traces[0], c).weeks["original"][0] == span_weeks(w) == 5_200


@pytest.mark.parametrize("model", sorted(MODELS))
def test_every_model_is_a_trace(model: str) -> None:
    """With parameters of its own function, and none of another's."""
    row = MODELS[model]
    machine = Network([40, 24], ["a", "b"]) if row.clusters else Pool(64)
    platform = machine.to_dict()
    trace = Trace(
        name="m", model=model, platform=platform, jobs=40, parameters={"estimates": "tsafrir"}
    )
    c = Campaign(name="c", traces=(trace,), policies=("fcfs+easy",), resamples=2)
    w = cell(c, None, 1, "0.6")
    drawn = row.draw(machine, jobs=40, seed=0, index=1, estimates="tsafrir")
    assert w.digest() == scale_load(drawn, 0.6).digest()
    other = "night" if model != "downey" else "mean_run"
    with pytest.raises(InputError, match=f"unknown parameter '{other}' of model '{model}'"):
        Trace(name="m", model=model, platform=platform, jobs=40, parameters={other: 1.0})
    with pytest.raises(InputError, match="'select' is for logs only"):
        Trace(name="m", model=model, platform=platform, jobs=40, select={"widths": [1, 2]})


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"load_by": "speed"}, "load_by 'speed' is unknown; known: runtime, interarrival, users"),
        ({"load_by": "users"}, 'load_by = "users" needs draw = "users"'),
        ({"draw": "days"}, "draw 'days' is unknown; known: replace, permute, users, weeks"),
        ({"draw": "weeks,size=4"}, "'weeks' has no option 'size'; known: block"),
        ({"draw": "replace,block=4"}, "'replace' has no option 'block'; it has none"),
        ({"draw": "weeks,block=0"}, "block is '0'; it must be a whole number from 1"),
        ({"draw": "weeks,block=2,block=3"}, "gives an option twice; give it once"),
        ({"draw": "weeks", "load_by": "users"}, 'load_by = "users" needs draw = "users"'),
        (
            {"load_by": "users", "draw": "users", "log": True, "loads": (0.5,)},
            "cannot bring the log itself (log = true) to a load",
        ),
    ],
)
def test_combinations_that_mean_nothing_are_refused(
    log: Path, keys: dict[str, Any], said: str
) -> None:
    """Each with a sentence."""
    with pytest.raises(InputError) as error:
        campaign(log, **keys)
    assert said in str(error.value)


def test_users_cannot_load_a_model() -> None:
    """A model has no users to draw, in a campaign and in a single cell."""
    model = Trace(name="m", model="lublin", processors=64, jobs=40)
    keys: dict[str, Any] = {"draw": "users", "load_by": "users", "policies": ("fcfs+easy",)}
    with pytest.raises(InputError, match="cannot bring trace 'm', a model, to a load"):
        Campaign(name="c", traces=(model,), resamples=1, loads=(0.5,), **keys)
    with pytest.raises(
        InputError, match="drawing users can scale only a resample of users to load 0.5"
    ):
        Samples(model, None, {"seed": 0, "draw": "users", "load_by": "users"}).at(1, "0.5")


def test_a_store_keeps_what_was_dropped_and_how_loads_are_reached(
    tmp_path: Path, log: Path
) -> None:
    """Attributes of the trace's group and of the root; another load_by is refused."""
    keys: dict[str, Any] = {"loads": (0.5,), "draw": "users"}
    c = campaign(log, load_by="users", trace={"select": {"weeks": [0, 9]}}, **keys)
    build(design(tmp_path / "s", survey(c)))
    tree = xr.open_datatree(tmp_path / "s" / "results.zarr", engine="zarr")
    w = c.traces[0].read()
    assert w is not None
    assert (
        named_values(tree["p"].attrs, "dropped")
        == dict(w.dropped)
        == {"outside weeks": 400 - len(w)}
    )
    assert tree.attrs["load_by"] == "users"
    other = campaign(log, load_by="interarrival", trace={"select": {"weeks": [0, 9]}}, **keys)
    with pytest.raises(InputError, match="made with load_by = 'users', but the campaign has 'int"):
        design(tmp_path / "s", survey(other))


def test_a_run_loaded_by_gaps_spreads_over_more_weeks(tmp_path: Path, log: Path) -> None:
    """At a quarter of the load the `week` axis is about four times as long, and holds all jobs."""
    c = campaign(log, load_by="interarrival", loads=("original", 0.01), resamples=1)
    run(c, tmp_path / "s")
    tree = xr.open_datatree(tmp_path / "s" / "results.zarr", engine="zarr")
    p = tree["p"].to_dataset()
    w = c.traces[0].read()
    assert w is not None
    scaled = cell(c, w, 1, "0.01")
    assert p.sizes["week"] > span_weeks(scaled) > 2 * span_weeks(w)
    assert (p.week_jobs.sum("week") == len(scaled)).all()
    assert tree.to_dataset().offered_load.values[0, 0, 1] == offered_load(scaled)
    first = p.submit.isel(resample=0, load=1).values[: len(scaled)]
    assert np.array_equal(first, scaled.submit)
    assert first[-1] - first[0] < p.sizes["week"] * WEEK
