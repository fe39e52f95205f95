"""`farm plot`: every kind of figure, of stores and logs, and what it refuses."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from schedfarm.analysis.cells import cell_jobs, cell_schedule
from schedfarm.analysis.drawing import COLUMN_WIDTHS
from schedfarm.analysis.plots.kinds import JOBS, KINDS, STORE, plot
from schedfarm.core import Schedule, simulate, write_swf
from schedfarm.core.models import poisson
from schedfarm.farm import Campaign, run
from tests.support.command_line import Farm
from tests.support.refusals import Said, unlike

CAMPAIGN = """
name = "{name}"
policies = ["fcfs+conservative", "spf+conservative"]
{keys}

[[traces]]
name = "A"
file = "log.swf"
"""

MODELS = """
[[traces]]
name = "M"
model = "lublin"
processors = 64
jobs = 100

[[traces]]
name = "G"
model = "lublin"
jobs = 60
platform = { name = "grid", configuration = { clusters = [64, 64] } }

[[traces]]
name = "N"
model = "lublin"
processors = 64
jobs = 60
nodes = { nodes = 32, capacity = 2 }
"""

KEYS = {
    "both": "resamples = 2\nlog = true\nloads = [0.8, 0.9]",
    "alone": "resamples = 0",
    "light": 'resamples = 1\nkeep = "summary"',
    "sizes": "resamples = 2\n[axes]\nprocessors = [64, 80]",
}

SIGNATURES = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plotted")
    log = poisson(64, jobs=200, seed=3, per_week=40, users=8)
    write_swf(log, folder / "log.swf", simulate(log, "fcfs+easy"))
    for name, keys in KEYS.items():
        file = folder / f"{name}.toml"
        text = CAMPAIGN.format(name=name, keys=keys)
        file.write_text(text + MODELS * (name == "both"), encoding="utf-8")
        run(Campaign.from_toml(file), folder / f"{name}.farm")
    return folder


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("kind", list(KINDS))
def test_every_kind_draws_a_store(farm: Farm, stores: Path, kind: str) -> None:
    """In both widths, as every kind of file; a kind of axes draws a store that has one."""
    store = stores / ("sizes.farm" if "axis" in KINDS[kind].takes else "both.farm")
    for width, inches in COLUMN_WIDTHS.items():
        file = Path(f"{kind}-{width}.svg")
        said = farm("plot", kind, store, "--out", file, "--width", width)
        assert said.output == f"figure: {file}\n"
        (points,) = re.findall(r'<svg[^>]* width="([\d.]+)pt"', file.read_text())
        assert float(points) == pytest.approx(72 * inches, abs=0.01)


@pytest.mark.parametrize("kind", [row.name for row in KINDS.values() if row.needs != STORE])
def test_kinds_draw_a_log(farm: Farm, stores: Path, kind: str) -> None:
    """Its own starts, or those under policies."""
    farm("plot", kind, stores / "log.swf", "--out", "own.svg")
    text = Path("own.svg").read_text()
    assert ("as logged" in text) == (KINDS[kind].needs != JOBS)
    if KINDS[kind].needs != JOBS:
        policies = ("--policy", "fcfs+easy", "--policy", "sjf+easy")
        farm("plot", kind, stores / "log.swf", *policies, "--out", "new.svg", "--quiet")
        assert {"fcfs+easy", "spf+easy"} <= set(
            re.findall(r"\w+\+\w+", Path("new.svg").read_text())
        )


@pytest.mark.parametrize("suffix", list(SIGNATURES))
def test_kinds_of_files(farm: Farm, stores: Path, suffix: str) -> None:
    """The same input gives the same bytes."""
    found = []
    for name in ("a", "b"):
        farm("plot", "queue", stores / "log.swf", "--out", f"{name}{suffix}")
        found.append(Path(f"{name}{suffix}").read_bytes())
    assert found[0] == found[1]
    assert found[0].startswith(SIGNATURES[suffix])


def test_a_figure_on_standard_output(farm: Farm, stores: Path) -> None:
    done = farm("plot", "users", stores / "log.swf", "--out", "-")
    assert done.stdout_bytes.startswith(SIGNATURES[".png"])
    assert done.stderr == "figure: -\n"


@pytest.mark.parametrize("trace", ["A", "M", "G", "N"])
def test_a_cell_is_the_simulated_schedule(stores: Path, trace: str) -> None:
    """On a pool, clusters and nodes; also for the sums of processors and for the log itself."""
    store = str(stores / "both.farm")
    for sample in (0, 2):
        jobs = cell_jobs(store, trace, "0.8", sample)
        for policy in ("fcfs+conservative", "spf+conservative"):
            stored = cell_schedule(store, trace, "0.8", sample, policy)
            again = simulate(jobs, policy)
            for name in ("start", "end", "state", "backfilled", "taken", "wait", "place"):
                assert np.array_equal(getattr(stored, name), getattr(again, name)), name


def test_the_cell_is_chosen_by_its_labels(farm: Farm, stores: Path) -> None:
    where = ("--trace", "M", "--load", "0.9", "--sample", 2, "--policy", "sjf+conservative")
    farm("plot", "gantt", stores / "both.farm", *where, "--out", "cell.svg")
    assert "M, load 0.9, sample 2, spf+conservative" in Path("cell.svg").read_text()
    farm("plot", "queue", stores / "alone.farm", "--out", "first.svg")
    assert "A, load original, the log itself" in Path("first.svg").read_text()


def test_loads_and_heat_maps_of_few_samples(farm: Farm, stores: Path) -> None:
    """Without bands the values of the only sample are drawn, and the figure says so."""
    store = stores / "light.farm"
    farm("plot", "heatmap", store, "--metric", "wait", "--out", "heat.svg")
    text = Path("heat.svg").read_text()
    assert "1 sample: too few for a band." in text
    assert "Mean wait (s)" in text


def test_a_chart_of_many_jobs_states_what_it_merges(stores: Path) -> None:
    """And what it shows of a faulty log: more processors in use than there are."""
    jobs = poisson(64, jobs=30_000, seed=1)
    schedule = simulate(jobs, "fcfs+easy")
    text = words(schedule, "gantt", length=None)
    assert re.search(r"[\d ]+ of [\d ]+ rectangles \([\d ]+ jobs\) are too small to be drawn", text)
    assert "merged" not in words(schedule, "gantt", length=20_000)
    many = jobs.take(slice(0, 400), logged_wait=np.zeros(400, np.int64), submit=np.zeros(400, int))
    assert "where the machine has 64." in words(simulate(many, "fcfs+logged"), "gantt")


def words(schedule: Schedule, kind: str, **window: int | None) -> str:
    """Return the sentences below a figure."""
    figure = plot(kind, schedule, **window)
    return " ".join(figure._supxlabel.get_text().split())


def test_what_is_refused(said: Said, stores: Path) -> None:
    log, store = stores / "log.swf", stores / "both.farm"
    rows = [
        (("gant", log), ["unknown kind of figure 'gant'", "did you mean 'gantt'? known: gantt, "]),
        (("loads", log), ["loads is drawn from a store, not from jobs without starts"]),
        (("loads", stores / "light.farm"), ["the store has one load, original", "at least two"]),
        (("queue", stores / "light.farm"), ["the store has no", "keep = 'summary'"]),
        (("queue", log, "--metric", "wait"), ["--metric does nothing with queue", "cdf, users"]),
        (("heatmap", store, "--begin", "1d"), ["--begin does nothing with heatmap", "gantt"]),
        (("heatmap", store, "--metric", "wiat"), ["'wiat'", "did you mean 'wait'?"]),
        (("cdf", log, "--metric", "wiat"), ["'wiat'", "did you mean 'wait'?"]),
        (("heatmap", store, "--sample", "1"), ["heatmap is drawn from all samples"]),
        (("gantt", store, "--load", "0.7"), ["unknown load '0.7'", "0.8, 0.9"]),
        (("gantt", store, "--sample", "9"), ["has no resample 9", "0 to 2"]),
        (("gantt", store, "--policy", "fcfs+esay"), ["unknown policy 'fcfs+esay'", "known:"]),
        (("gantt", log, "--begin", "900w"), ["the window from 900w", "is empty", "lasts"]),
        (("users", log, "--begin", "1d", "--length", "0s"), ["from 1d to 1d", "is empty"]),
        (("gantt", log, "--begin", "soon"), ["'soon' is not a duration, such as 2w"]),
        (("gantt", log, "--width", "tow"), ["unknown width 'tow'; known: one, two"]),
        (("gantt", log, "--trace", "A"), ["--trace does nothing with log"]),
        (("gantt", store, "--processors", "4"), ["--processors does nothing with store"]),
        (("arrivals", log, "--policy", "fcfs+easy"), ["--policy does nothing with arrivals"]),
        (("gantt", "none.swf"), ["none.swf: cannot read the log"]),
        (("loads", "none.farm"), ["store 'none.farm' is not a folder; name one that farm run"]),
        (("gantt", "."), ["has no store.json"]),
    ]
    given = [((*words, "--out", "x.png"), parts) for words, parts in rows]
    given.append((("gantt", log, "--out", "x.gif"), ["a figure's name ends in .png, .pdf or .svg"]))
    assert unlike(given, lambda words: said("plot", *words)) == []
    assert not Path("x.png").exists()


def test_a_log_without_waits_needs_a_policy(said: Said, farm: Farm) -> None:
    write_swf(poisson(64, jobs=30, seed=3), "bare.swf")
    sentence = said("plot", "queue", "bare.swf", "--out", "x.png")
    assert "lacks the waits of many jobs" in sentence
    assert "give --policy" in sentence
    farm("plot", "arrivals", "bare.swf", "--out", "x.png")


def test_the_help_lists_every_kind(farm: Farm) -> None:
    text = " ".join(farm("plot", "--help").stdout.split())
    assert [row.name for row in KINDS.values() if f"{row.name} {row.meaning}" not in text] == []


def test_python_takes_jobs_schedules_and_stores(stores: Path) -> None:
    jobs = poisson(64, jobs=50, seed=3)
    schedules = {one: simulate(jobs, one) for one in ("fcfs+easy", "saf+easy")}
    store = stores / "both.farm"
    for kind, of in (("arrivals", jobs), ("cdf", schedules), ("loads", store)):
        assert plot(kind, of, width="one").get_figwidth() == COLUMN_WIDTHS["one"]


def test_panels_of_many_traces_stand_in_rows(stores: Path) -> None:
    """Four traces make two rows, and the figure is higher."""
    for kind in ("loads", "heatmap"):
        one = plot(kind, stores / "both.farm", trace="A")
        four = plot(kind, stores / "both.farm")
        assert four.get_figheight() == pytest.approx(1.75 * one.get_figheight())
        assert len({round(axes.get_position().y0, 2) for axes in four.axes[:4]}) == 2
