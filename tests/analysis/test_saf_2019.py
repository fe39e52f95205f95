"""The SAF paper's figures and tables: from literal summaries, and from a store that farm made."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from click.testing import CliRunner
from matplotlib.figure import Figure

import farm
from analysis import StoreError, open_tree, weekly_bands
from analysis.papers import report_text
from analysis.papers.saf_2019 import printed
from analysis.papers.saf_2019.counts import backfilled_jobs, slowdown_classes
from analysis.papers.saf_2019.delayed import ALL, delayed_jobs
from analysis.papers.saf_2019.figures import FIGURES, draw
from analysis.papers.saf_2019.headline import headline, relative_gains
from analysis.papers.saf_2019.report import TABLES
from analysis.papers.saf_2019.study import Study, study
from analysis.papers.saf_2019.tables import table_2, table_3, table_4
from farm.cli import cli

LABELS = ["fcfs+easy", *(f"{x}+easy,threshold=3x" for x in ("spf", "sqf", "saf"))]

CAMPAIGN = farm.Campaign(
    name="small",
    traces=(
        farm.Trace(name="KTH-SP2", model="lublin", processors=64, weeks=2),
        farm.Trace(name="ANL", model="lublin", processors=128, weeks=3),
    ),
    policies=tuple(LABELS),
    resamples=4,
    log=True,
    seed=3,
    report="saf-2019",
)


def by_sample(values: list[float]) -> list[list[float]]:
    """Values of five resamples, the log first, on (resample, load, policy), alike by policy."""
    return [[[v] * len(LABELS)] for v in values]


def by_policy(values: list[float]) -> list[list[list[float]]]:
    """Values of four policies on (resample, load, policy), alike in every resample."""
    return [[values] for _ in range(5)]


@pytest.fixture
def tree() -> xr.DataTree:
    """A summary of one log, KTH-SP2, with literal numbers."""
    dims = ("trace", "resample", "load", "policy")
    values = {
        "bounded_slowdown": by_policy([10.0, 4.0, 8.0, 5.0]),
        "pp_bounded_slowdown": by_policy([5.0, 2.0, 4.0, 1.0]),
        "wait": by_policy([600.0, 300.0, 540.0, 240.0]),
        "counted": by_sample([200, 100, 100, 100, 100]),
        "premature": by_sample([30, 10, 10, 20, 40]),
        "bounded_slowdown_premature": by_sample([9.0, 8.0, 4.0, 2.0, 2.0]),
        "bounded_slowdown_standard": by_sample([3.0, 2.0, 2.0, 2.0, 1.0]),
        "slowdown_1": by_policy([50, 60, 65, 70]),
        "slowdown_1_10": by_policy([20, 25, 20, 18]),
        "slowdown_10_100": by_policy([10, 9, 5, 7]),
        "slowdown_100": by_policy([20, 6, 10, 5]),
        "backfilled": by_policy([80, 40, 0, 20]),
    }
    root = xr.Dataset({name: (dims, np.array([v], float)) for name, v in values.items()})
    coords = {"resample": range(5), "load": ["original"], "policy": LABELS}
    root = root.assign_coords(trace=["KTH-SP2"], **coords)
    root["offered_load"] = (dims[:3], np.full((1, 5, 1), 0.7))
    root["jobs"] = (dims[:3], np.full((1, 5, 1), 3))
    submit = np.broadcast_to([100, 200, 100 + 2_629_800, -1], (5, 1, 4))
    group = xr.Dataset({"submit": (("resample", "load", "job"), submit)}, coords)
    group.attrs["dropped"] = {"no processors": 1, "negative run time": 4}
    return xr.DataTree.from_dict({"/": root, "/KTH-SP2": group})


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of two model machines that farm filled, not in the order of the alphabet."""
    store = tmp_path_factory.mktemp("saf") / "small.farm"
    assert farm.run(CAMPAIGN, store).failed == 0
    return store


def jobs_of(store: Path, trace: str, resample: int, policy: str) -> pd.DataFrame:
    """The jobs of one cell as the store holds them, with their bounded slowdowns."""
    group = xr.open_zarr(store / "results.zarr", group=trace, chunks=None)
    cell = group.sel(resample=resample, load="original")
    columns = {name: cell[name].values for name in ("submit", "run", "estimate", "procs")}
    chosen = cell.sel(policy=policy)
    frame = pd.DataFrame(
        {**columns, "wait": chosen["wait"].values, "backfilled": chosen["backfilled"].values}
    )[: int(cell["jobs"])]
    slow = (frame["wait"] + frame["run"]) / frame["run"].clip(lower=10)
    return frame.assign(slow=slow.clip(lower=1))


def test_table_2_sets_ours_beside_print(tree: xr.DataTree) -> None:
    """Rows are jobs and dropped ones; a month is a twelfth of 365.25 days."""
    assert table_2(study(tree)).loc["KTH-SP2"].to_dict() == {
        "rows": 8,
        "jobs": 3,
        "jobs_printed": 28_476,
        "utilisation": 70.0,
        "utilisation_printed": 70.1,
        "months": 1.0,
        "months_printed": 11,
    }


def test_table_3_is_of_the_log_and_of_the_samples(tree: xr.DataTree) -> None:
    """Premature jobs in percent: 30 of 200 in the log, 20 of 100 in the mean sample."""
    assert table_3(study(tree)).loc["KTH-SP2"].tolist() == [15.0, 20.0, 12.4]


def test_table_4_weights_samples_by_jobs(tree: xr.DataTree) -> None:
    """240 / 80 premature and 600 / 320 standard; single ratios 4, 2, 1, 2 without the extremes."""
    row = table_4(study(tree)).loc["SAF", "KTH-SP2"]
    assert row.to_dict() == {
        "low": 2.0,
        "ratio": (80 + 40 + 40 + 80) / 80 / ((180 + 180 + 160 + 60) / 320),
        "high": 2.0,
        "log": 3.0,
        "printed": 11.41,
    }


def test_gains_are_relative_to_fcfs(tree: xr.DataTree) -> None:
    """In percent of the mean under FCFS, which has none over itself."""
    frame = relative_gains(study(tree))
    assert frame.index.tolist() == [("KTH-SP2", x) for x in ("SPF", "SQF", "SAF")]
    assert frame.loc["KTH-SP2", "SPF"].round(9).tolist() == [60.0, 60.0, 50.0]
    assert frame.loc["KTH-SP2", "SAF"].round(9).tolist() == [50.0, 80.0, 60.0]


def test_headline_names_the_best_and_the_printed(tree: xr.DataTree) -> None:
    """Each claim of the running text with ours, whose it is, and the paper's number."""
    frame = headline(study(tree))
    assert {key: (round(row["ours"], 9), row["of"]) for key, row in frame.iterrows()} == {
        "gain_bounded_slowdown": (60.0, "SPF, KTH-SP2"),
        "gain_wait": (60.0, "SAF, KTH-SP2"),
        "gain_pp_bounded_slowdown": (80.0, "SAF, KTH-SP2"),
        "fewer_backfilled_SAF": (75.0, "SAF"),
        "fewer_backfilled_SPF": (50.0, "SPF"),
        "most_backfilled_SQF": (0.0, "SQF, KTH-SP2"),
        "more_at_once": (40.0, "SAF, KTH-SP2"),
        "more_at_once_points": (20.0, "SAF, KTH-SP2"),
        "fewer_worst": (4.0, "SAF, KTH-SP2"),
    }
    assert frame["printed"].tolist() == [83.4, 61.4, 85.1, 78, 56, 0, 9, 9, 2.8]


def test_tables_of_the_paper_are_about_the_same_logs() -> None:
    """Tables II, III and IV name five logs, and IV the four policies of Table I."""
    assert len(printed.TABLE_2) == 5
    assert list(printed.TABLE_3) == list(printed.TABLE_2)
    assert list(printed.TABLE_4) == list(printed.POLICIES)
    assert {len(row) for row in printed.TABLE_4.values()} == {5}


def test_classes_and_ratios_are_those_of_the_jobs(made: Path) -> None:
    """From the jobs that the store holds: figure 3, Tables III and IV, figure 4."""
    of = study(made)
    classes, ratios, counts = slowdown_classes(of), table_4(of), backfilled_jobs(of)
    for name, label in zip(printed.POLICIES, LABELS, strict=True):
        samples = {r: jobs_of(made, "ANL", r, label) for r in (1, 2, 3, 4)}
        jobs = pd.concat(samples.values())
        edges = pd.cut(jobs["slow"], [0, 1, 10 - 1e-9, 100 - 1e-9, math.inf]).value_counts()
        expected = 100 * edges.sort_index().to_numpy() / len(jobs)
        row = classes.loc["ANL", name]
        np.testing.assert_allclose(row["percent"], expected)
        assert row.index.tolist() == ["1", "1-10", "10-100", "100+"]
        early = (jobs["estimate"] >= 100 * jobs["run"]) & (jobs["estimate"] > 0)
        ratio = jobs["slow"][early].mean() / jobs["slow"][~early].mean()
        np.testing.assert_allclose(ratios.loc[name, "ANL"]["ratio"], ratio)
        backfilled = [sample["backfilled"].sum() for sample in samples.values()]
        assert counts.loc["ANL", name]["backfilled"].tolist() == backfilled


def test_delayed_jobs_are_the_hundred_with_the_highest_slowdowns(made: Path) -> None:
    """Of every sample; jobs of equal slowdown in order of submission."""
    frame = delayed_jobs(study(made))
    worst = [
        jobs_of(made, "KTH-SP2", r, LABELS[0])
        .sort_values("slow", ascending=False, kind="stable")
        .head(100)
        for r in (1, 2, 3, 4)
    ]
    procs = pd.concat(worst)["procs"]
    row = frame.loc["KTH-SP2", "FCFS"]
    assert row["jobs"] == 400
    assert row["mean"] == procs.mean()
    assert [row["q0.05"], row["q0.5"], row["q0.95"]] == procs.quantile([0.05, 0.5, 0.95]).tolist()
    everyone = pd.concat([jobs_of(made, "KTH-SP2", r, LABELS[0]) for r in (1, 2, 3, 4)])
    assert frame.loc["KTH-SP2", ALL]["jobs"] == len(everyone)
    assert frame.loc["KTH-SP2", ALL]["q0.5"] == everyone["procs"].median()


def drawn(name: str, store: Path) -> Figure:
    of, row = study(store), FIGURES[name]
    return draw(row, of, row.numbers(of))


def titles(figure: Figure) -> list[str]:
    return [axes.get_title(loc="left") for axes in figure.axes]


def test_figure_1_draws_the_weekly_bands(made: Path) -> None:
    """A row an objective, a column a log; waits in hours; the same lines as `weekly_bands`."""
    figure = drawn("figure-1", made)
    assert titles(figure) == ["KTH-SP2", "ANL", "", "", "", ""]
    assert [axes.get_ylabel() for axes in figure.axes[::2]] == [
        "Slowdown",
        "pp-slowdown",
        "Wait (h)",
    ]
    trimmed = weekly_bands(made, "ANL", "wait", "original", "trimmed")
    band = trimmed.sel(policy=LABELS[3], band="trimmed_mean")
    line = np.asarray(figure.axes[5].get_lines()[11].get_ydata())
    np.testing.assert_allclose(line, band["wait"].values / 3600)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [*printed.POLICIES]


def test_figures_2_to_4_have_a_panel_for_each_log_or_class(made: Path) -> None:
    """Boxes of four policies and all jobs; bars of four classes; dots of four samples."""
    assert titles(drawn("figure-2", made)) == ["KTH-SP2", "ANL"]
    assert len(drawn("figure-2", made).axes[0].patches) == 5
    bars = drawn("figure-3", made)
    assert titles(bars) == [f"Slowdown {x}" for x in ("1", "1-10", "10-100", "100+")]
    heights = [[bar.get_height() for bar in axes.patches] for axes in bars.axes]  # type: ignore[attr-defined]
    np.testing.assert_allclose(np.sum(heights, axis=0), 100)
    dots = drawn("figure-4", made)
    assert titles(dots) == ["KTH-SP2", "ANL"]
    shown = np.asarray(dots.axes[0].get_lines()[0].get_ydata()) * 1000
    np.testing.assert_allclose(
        shown, backfilled_jobs(study(made)).loc["KTH-SP2", "FCFS"]["backfilled"]
    )


def test_run_ends_with_the_report(made: Path, tmp_path: Path) -> None:
    """`farm run` of a campaign with a report writes all of it, and the same bytes again."""
    (tmp_path / "small.toml").write_text(CAMPAIGN.to_toml(), encoding="utf-8")
    command = ["run", str(tmp_path / "small.toml"), "--store", str(made)]
    result = CliRunner().invoke(cli, command)
    assert result.exit_code == 0, result.output
    assert "printed" in result.output
    written = {p.name: p.read_bytes() for f in ("figures", "tables") for p in (made / f).iterdir()}
    names = {f"{name}.png" for name in FIGURES} | {f"{name}.csv" for name in FIGURES | TABLES}
    assert set(written) == names
    assert report_text("saf-2019", made) in result.output
    assert CliRunner().invoke(cli, command).exit_code == 0
    assert {name: path.read_bytes() for name in names for path in made.rglob(name)} == written
    weeks = pd.read_csv(made / "tables" / "figure-1.csv")
    numbers = ["low", "trimmed_mean", "high"]
    assert weeks.columns.tolist() == ["metric", "trace", "policy", "week", *numbers]
    assert weeks.groupby("trace")["week"].max().to_dict() == {"KTH-SP2": 2, "ANL": 3}


def test_an_unknown_report_is_refused_before_anything_runs(tmp_path: Path) -> None:
    """The known reports are listed, and no store is made."""
    text = CAMPAIGN.to_toml().replace('"saf-2019"', '"fig1"')
    (tmp_path / "small.toml").write_text(text, encoding="utf-8")
    command = ["run", str(tmp_path / "small.toml"), "--store", str(tmp_path / "s")]
    result = CliRunner().invoke(cli, command)
    assert isinstance(result.exception, ValueError)
    assert str(result.exception) == "report 'fig1' is unknown; known: saf-2019, sabin-2005"
    assert not (tmp_path / "s").exists()


@pytest.mark.parametrize("make", [table_2, table_3])
def test_a_store_without_the_log_has_no_tables_of_it(
    tree: xr.DataTree, make: Callable[[Study], pd.DataFrame]
) -> None:
    """Tables II and III are of the log itself; the others do without."""
    samples = study(tree.isel(resample=slice(1, None)))
    with pytest.raises(StoreError, match="run the campaign with log = true"):
        make(samples)
    assert math.isnan(table_4(samples).loc["SAF", "KTH-SP2"]["log"])


def test_a_store_of_other_policies_is_refused(tree: xr.DataTree) -> None:
    """All four policies are needed; the one that lacks is named."""
    with pytest.raises(StoreError, match="no policy of order 'sqf', which the paper compares"):
        study(tree.isel(policy=[0, 1, 3]))


def test_an_open_tree_does_as_well_as_a_path(made: Path) -> None:
    """Every table is the same from a store's folder and from the tree opened once."""
    tree, folder = study(open_tree(made)), study(made)
    for make in TABLES.values():
        pd.testing.assert_frame_equal(make(tree), make(folder))
