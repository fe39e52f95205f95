"""The SAF paper's figures and tables: from literal summaries, and from a store that farm made."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from matplotlib.figure import Figure

from schedfarm import farm
from schedfarm.analysis import StoreError, open_tree, weekly_bands
from schedfarm.analysis.bands import weekly_log
from schedfarm.analysis.papers import make_report
from schedfarm.analysis.papers.report import Numbers
from schedfarm.analysis.papers.saf_2019 import printed
from schedfarm.analysis.papers.saf_2019.claims import claims, headline
from schedfarm.analysis.papers.saf_2019.delayed import ALL, delayed_jobs
from schedfarm.analysis.papers.saf_2019.numbers import (
    ALL_LOGS,
    Study,
    backfilled_jobs,
    relative_gains,
    slowdown_classes,
    studies,
    table_2,
    table_3,
    table_4,
)
from schedfarm.analysis.papers.saf_2019.paper import FIGURES, OF_LOGS, TABLES, draw
from schedfarm.analysis.place import StoreName
from tests.support.command_line import run_farm
from tests.support.refusals import Said

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


ALL_TABLES = [*FIGURES, *OF_LOGS, *TABLES]

MIDDLE_TWO = {"first": 2, "last": 3, "samples": 4, "coverage": 0.2}
"""Which of four samples a band spans, and what these can be expected to hold."""

HELD = "samples 2 to 3 of 4, which hold 20.0 % of all such samples in expectation"
"""The same in words."""


def study(store: StoreName | xr.DataTree) -> Study:
    """The first study of a store."""
    return studies(Numbers.of(store))[0]


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
    """Percent: 30 of 200 in the log, 80 of 400 in the samples, of which 10, 10, 20, 40 each."""
    assert table_3(study(tree)).loc["KTH-SP2"].to_dict() == {
        "low": 10.0,
        "premature_resamples": 20.0,
        "high": 20.0,
        "log": 15.0,
        **MIDDLE_TWO,
        "premature_printed": 12.4,
    }


def test_table_4_weights_samples_by_jobs(tree: xr.DataTree) -> None:
    """240 / 80 premature and 600 / 320 standard; single ratios 4, 2, 1, 2 without the extremes."""
    row = table_4(study(tree)).loc["SAF", "KTH-SP2"]
    assert row.to_dict() == {
        "low": 2.0,
        "ratio": (80 + 40 + 40 + 80) / 80 / ((180 + 180 + 160 + 60) / 320),
        "high": 2.0,
        "log": 3.0,
        **MIDDLE_TWO,
        "printed": 11.41,
    }


def test_gains_are_relative_to_fcfs(tree: xr.DataTree) -> None:
    """In percent of FCFS in the same sample, which has none over itself."""
    frame = relative_gains(study(tree))
    one = frame.loc["bounded_slowdown"]
    assert one.index.tolist() == [("KTH-SP2", x) for x in ("SPF", "SQF", "SAF")]
    for column in ("mean", "median", "low", "high", "unpaired"):
        wide = frame[column].unstack("metric")[["bounded_slowdown", "pp_bounded_slowdown", "wait"]]
        assert wide.loc["KTH-SP2", "SPF"].round(9).tolist() == [60.0, 60.0, 50.0]
        assert wide.loc["KTH-SP2", "SAF"].round(9).tolist() == [50.0, 80.0, 60.0]
    assert (frame["better"] == 4).all()
    assert (frame["samples"] == 4).all()


def test_gains_are_paired_by_sample_and_the_papers_are_not(tree: xr.DataTree) -> None:
    """FCFS waits 100, 10, 50, 40 s and SAF 90, 9, 10, 60: gains 10, 10, 80, -50 %.

    Means of the middle two: 45 s under FCFS (50, 40), 35 s under SAF (10, 60).
    """
    root = tree.to_dataset()
    wait = root["wait"].values.copy()
    wait[0, 1:, 0, 0], wait[0, 1:, 0, 3] = [100, 10, 50, 40], [90, 9, 10, 60]
    tree["wait"] = root["wait"].copy(data=wait)
    row = relative_gains(study(tree)).loc["wait", "KTH-SP2", "SAF"].round(9)
    assert row.to_dict() == {
        "mean": 12.5,
        "median": 10.0,
        "low": 10.0,
        "high": 10.0,
        "better": 3,
        "unpaired": round(100 * (1 - 35 / 45), 9),
        "log": 60.0,
        **MIDDLE_TWO,
    }


def test_numbers_of_samples_have_the_logs_own_beside_them(tree: xr.DataTree) -> None:
    """The log's classes and backfilled jobs, not resampled; empty where the store lacks it."""
    root = tree.to_dataset()
    for name, value in (("slowdown_1", 80.0), ("backfilled", 7.0)):
        counts = root[name].values.copy()
        counts[0, 0] = value
        tree[name] = root[name].copy(data=counts)
    of = study(tree)
    classes, backfilled = slowdown_classes(of), backfilled_jobs(of)
    assert classes.loc[(ALL_LOGS, "SAF", "1")].to_dict() == {
        **dict.fromkeys(("low", "percent", "high"), 70.0),
        "log": 40.0,
        **MIDDLE_TWO,
    }
    assert backfilled.loc["KTH-SP2", "SAF"].to_dict("list") == {
        "backfilled": [20.0] * 4,
        "counted": [100.0] * 4,
        "log": [7.0] * 4,
    }
    samples = study(tree.isel(resample=slice(1, None)))
    assert slowdown_classes(samples)["log"].isna().all()
    assert backfilled_jobs(samples)["log"].isna().all()
    assert relative_gains(samples)["log"].isna().all()


def test_the_headline_says_of_which_samples(tree: xr.DataTree) -> None:
    """The paper's own gains are means of the samples in the band, all else is of all samples."""
    said = headline(study(tree))["of_samples"]
    unpaired = [f"gain_{x}_unpaired" for x in ("bounded_slowdown", "wait", "pp_bounded_slowdown")]
    assert (said[unpaired] == "2 to 3 of 4").all()
    assert (said.drop(unpaired) == "1 to 4 of 4").all()


def test_claims_are_counted_by_log_and_sample(tree: xr.DataTree) -> None:
    """In the literal store SPF has the smallest slowdown and SAF the rest; one log, 4 samples."""
    root = tree.to_dataset()
    slow = root["pp_bounded_slowdown"].values.copy()
    # In the log itself and in one sample SAF is not the best.
    slow[0, :2, 0, 3] = 3.0
    tree["pp_bounded_slowdown"] = root["pp_bounded_slowdown"].copy(data=slow)
    frame = claims(study(tree))
    found = frame[["logs", "but", "itself", "but_itself", "KTH-SP2", "samples"]].T.to_dict("list")
    no, yes = [0, "KTH-SP2", 0, "KTH-SP2", 0, 4], [1, "", 1, "", 4, 4]
    assert found["pp-slowdown: SAF the smallest"] == [1, "", 0, "KTH-SP2", 3, 4]
    assert found["slowdown: SPF and SAF each below FCFS and SQF"] == yes
    assert found["slowdown: SAF within 10 % of the smallest"] == no
    assert found["wait: SAF within 10 % of the smallest"] == yes
    assert found["slowdown 1-10: fewer jobs under SPF than FCFS"] == no
    assert found["slowdown 1-10: fewer jobs under SQF than FCFS"] == no
    assert found["slowdown 1-10: fewer jobs under SAF than FCFS"] == yes
    assert found["slowdown 1: more jobs under SQF than FCFS"] == yes
    assert found["slowdown 100+: less than half as many jobs under SAF as under FCFS"] == yes
    assert found["premature over standard jobs: SAF above FCFS"] == no
    assert found["backfilled: none under SQF"] == yes
    wait = root["wait"].values.copy()
    wait[0, 3, 0, 1] = np.nan
    tree["wait"] = root["wait"].copy(data=wait)
    failed = claims(study(tree))["KTH-SP2"]
    assert failed["wait: SAF within 10 % of the smallest"] == 3
    assert failed["wait: SAF below FCFS"] == 4
    tree["wait"] = root["wait"]
    samples = claims(study(tree.isel(resample=slice(1, None))))
    assert samples["itself"].isna().all()
    assert samples["KTH-SP2"].tolist() == frame["KTH-SP2"].tolist()


def test_headline_names_the_best_and_the_printed(tree: xr.DataTree) -> None:
    """Each claim of the running text with ours, whose it is, and the paper's number."""
    frame = headline(study(tree))
    ratios = table_4(study(tree))
    off = (ratios["ratio"] / ratios["printed"]).tolist()
    factor = math.prod(max(x, 1 / x) for x in off) ** (1 / 4)
    assert {key: (round(row["ours"], 9), row["of"]) for key, row in frame.iterrows()} == {
        "gain_bounded_slowdown": (60.0, "SPF, KTH-SP2"),
        "gain_bounded_slowdown_unpaired": (60.0, "SPF, KTH-SP2"),
        "gain_wait": (60.0, "SAF, KTH-SP2"),
        "gain_wait_unpaired": (60.0, "SAF, KTH-SP2"),
        "gain_pp_bounded_slowdown": (80.0, "SAF, KTH-SP2"),
        "gain_pp_bounded_slowdown_unpaired": (80.0, "SAF, KTH-SP2"),
        "fewer_backfilled_SAF": (75.0, "SAF"),
        "fewer_backfilled_SAF_unpaired": (75.0, "SAF"),
        "fewer_backfilled_SPF": (50.0, "SPF"),
        "fewer_backfilled_SPF_unpaired": (50.0, "SPF"),
        "most_backfilled_SQF": (0.0, "SQF, KTH-SP2"),
        "more_at_once": (40.0, "SAF, all logs"),
        "more_at_once_points": (20.0, "SAF, all logs"),
        "more_at_once_of_a_log": (20.0, "SAF, KTH-SP2"),
        "fewer_worst": (4.0, "SAF, all logs"),
        "fewer_worst_of_a_log": (4.0, "SAF, KTH-SP2"),
        "table_4_factor": (round(factor, 9), "4 numbers"),
    }
    printed_gains = [83.4, 83.4, 61.4, 61.4, 85.1, 85.1]
    others = [78, 78, 56, 56, 0, 9, 9, 9, 2.8, 2.8, 1]
    assert frame["printed"].tolist() == printed_gains + others


def test_policies_without_threshold_are_a_study_of_their_own(tree: xr.DataTree) -> None:
    """Where a store has both, in whatever order; the paper's are those with a threshold."""
    assert [of.threshold for of in studies(Numbers.of(tree))] == [True]
    plain = tree.to_dataset().assign_coords(policy=["x", "spf+easy", "sqf+easy", "saf+easy"])
    parts = [plain.isel(policy=slice(1, None)) * 2, tree.to_dataset()]
    both = xr.concat(parts, "policy", data_vars="minimal", coords="minimal", compat="override")
    of, without = studies(Numbers.of(xr.DataTree(both)))
    assert list(of.policies.values()) == LABELS
    assert list(without.policies.values()) == [LABELS[0], "spf+easy", "sqf+easy", "saf+easy"]
    assert (of.threshold, without.threshold) == (True, False)
    slow = [x.samples["bounded_slowdown"].sel(policy="SAF").values.ravel() for x in (of, without)]
    assert [x.tolist() for x in slow] == [[5.0] * 4, [10.0] * 4]
    plain = both.sel(policy=[LABELS[0], "spf+easy", "sqf+easy", "saf+easy"])
    alone = studies(Numbers.of(xr.DataTree(plain)))
    assert [x.threshold for x in alone] == [False]


def test_a_table_that_others_take_from_is_made_once_for_each_study(tree: xr.DataTree) -> None:
    """Its tables are those of this study alone, though another is of the same store."""
    made: list[Study] = []

    def count(of: Study) -> pd.DataFrame:
        made.append(of)
        return pd.DataFrame({"traces": of.traces})

    one, other = study(tree), study(tree)
    assert one.once(count) is one.once(count)
    assert made == [one]
    assert other.once(count) is not one.once(count)
    assert made == [one, other]


def test_a_report_of_both_has_the_names_of_both(tmp_path: Path) -> None:
    """Tables of the logs once, all else twice; the titles say which."""
    extra = ("spf+easy", "sqf+easy", "saf+easy")
    both = dataclasses.replace(CAMPAIGN, policies=CAMPAIGN.policies + extra)
    assert farm.run(both, tmp_path / "both.farm").failed == 0
    names = {
        path.name
        for path in make_report("saf-2019", tmp_path / "both.farm").write(tmp_path / "both.farm")
    }
    of_logs = {"table-2.csv", "table-3.csv"}
    once = {f"{name}.png" for name in FIGURES} | {f"{name}.csv" for name in ALL_TABLES}
    twice = {name.replace(".", "-without-threshold.") for name in once - of_logs}
    assert names == once | twice
    counts = pd.read_csv(tmp_path / "both.farm" / "tables" / "figure-4-without-threshold.csv")
    assert (counts.loc[counts["policy"] == "SQF", "backfilled"] == 0).all()
    of, without = studies(Numbers.of(tmp_path / "both.farm"))
    row = FIGURES["figure-4"]
    said = [draw(row, x).get_suptitle() for x in (of, without)]
    assert said[1] == said[0] + "\nNo policy has a threshold"


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
        others = [jobs_of(made, "KTH-SP2", r, label) for r in (1, 2, 3, 4)]
        together = pd.concat([jobs, *others])
        np.testing.assert_allclose(
            classes.loc[ALL_LOGS, name].loc["1", "percent"], 100 * (together["slow"] == 1).mean()
        )
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
    own = jobs_of(made, "KTH-SP2", 0, LABELS[0])
    its_worst = own.sort_values("slow", ascending=False, kind="stable").head(100)
    assert row["log"] == its_worst["procs"].median()
    assert frame.loc["KTH-SP2", ALL]["log"] == own["procs"].median()
    assert (frame["samples"] == 4).all()


def drawn(name: str, store: Path) -> Figure:
    return draw(FIGURES[name], study(store))


def legend(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


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
    assert legend(figure) == [*printed.POLICIES, "the log itself"]
    title = figure.get_suptitle().splitlines()
    assert title[1] == "Line: mean of the samples in the band, chosen by their mean over all jobs"
    assert title[2] == f"Band: {HELD}"


def test_figures_draw_the_log_beside_its_samples(made: Path) -> None:
    """A dotted line by week, a mark beside boxes, bars and dots, each in the legend and the CSV."""
    tree = study(open_tree(made))
    numbers = {name: row.numbers(tree) for name, row in FIGURES.items()}
    figures = {name: draw(row, tree) for name, row in FIGURES.items()}
    assert {name: legend(figure)[-1] for name, figure in figures.items()} == dict.fromkeys(
        FIGURES, "the log itself"
    )
    cell = ("wait", "ANL", "SAF")
    weekly = numbers["figure-1"]["log"].xs(cell, level=("metric", "trace", "policy"))
    dotted = [line for line in figures["figure-1"].axes[5].get_lines() if line.get_ls() == ":"]
    np.testing.assert_array_equal(np.asarray(dotted[3].get_ydata()), weekly)
    own = weekly_log(open_tree(made), "ANL", "wait", "original")["log"].sel(policy=LABELS[3])
    np.testing.assert_array_equal(weekly, own.values / 3600)
    expected = {
        "figure-2": numbers["figure-2"].loc["KTH-SP2", "log"],
        "figure-3": numbers["figure-3"].loc[ALL_LOGS, "log"],
        "figure-4": numbers["figure-4"].loc["KTH-SP2", "log"].groupby("policy").first() / 1000,
    }
    for name, log in expected.items():
        marks = [x for x in figures[name].axes[0].get_lines() if x.get_marker() == "D"]
        shown = np.concatenate([np.asarray(x.get_ydata(), np.float64) for x in marks])
        np.testing.assert_allclose(np.sort(shown), np.sort(log))


def test_titles_say_what_samples_are_shown(made: Path) -> None:
    """Which of how many, and what these can be expected to hold of all that could be drawn."""
    said = {name: drawn(name, made).get_suptitle().splitlines()[1:] for name in FIGURES}
    assert said["figure-3"] == ["Bars: jobs of all 4 samples together", f"Lines: {HELD}"]
    assert said["figure-4"] == [
        "Dots: samples 1 to 4 of 4, which hold 60.0 % of all such samples in expectation"
    ]
    assert said["figure-2"][0].endswith("of these jobs of all 4 samples together")
    assert said["figure-2"][1].startswith("Whiskers: 5 to 95 % of them")


def test_figures_2_to_4_have_a_panel_for_each_log_or_class(made: Path) -> None:
    """Boxes of four policies and all jobs; bars of all jobs; dots of four samples."""
    assert titles(drawn("figure-2", made)) == ["KTH-SP2", "ANL"]
    assert len(drawn("figure-2", made).axes[0].patches) == 5
    bars = drawn("figure-3", made).axes[0]
    heights = [bar.get_height() for bar in bars.patches]  # type: ignore[attr-defined]
    np.testing.assert_allclose(np.reshape(heights, (4, 4)).sum(axis=1), 100)
    pooled = slowdown_classes(study(made)).loc[ALL_LOGS, "SAF"]["percent"]
    np.testing.assert_allclose(heights[12:], pooled)
    dots = drawn("figure-4", made)
    assert titles(dots) == ["KTH-SP2", "ANL"]
    shown = np.asarray(dots.axes[0].get_lines()[0].get_ydata()) * 1000
    np.testing.assert_allclose(
        shown, backfilled_jobs(study(made)).loc["KTH-SP2", "FCFS"]["backfilled"]
    )


def test_run_ends_with_the_report(made: Path, tmp_path: Path) -> None:
    """`farm run` of a campaign with a report writes all of it, and the same bytes again."""
    (tmp_path / "small.toml").write_text(CAMPAIGN.to_toml(), encoding="utf-8")
    result = run_farm("run", tmp_path / "small.toml", "--store", made)
    assert "printed" in result.output
    written = {p.name: p.read_bytes() for f in ("figures", "tables") for p in (made / f).iterdir()}
    names = {f"{name}.png" for name in FIGURES} | {f"{name}.csv" for name in ALL_TABLES}
    assert set(written) == names
    again = make_report("saf-2019", made)
    assert again.text in result.output
    again.write(made)
    assert {name: path.read_bytes() for name in names for path in made.rglob(name)} == written
    weeks = pd.read_csv(made / "tables" / "figure-1.csv")
    numbers = ["low", "trimmed_mean", "high", "log", "first", "last", "samples", "coverage"]
    assert weeks.columns.tolist() == ["metric", "trace", "policy", "week", *numbers]
    assert weeks.groupby("trace")["week"].max().to_dict() == {"KTH-SP2": 2, "ANL": 3}


def test_an_unknown_report_is_refused_before_anything_runs(said: Said) -> None:
    """The known reports are listed, and no store is made."""
    text = CAMPAIGN.to_toml().replace('"saf-2019"', '"fig1"')
    Path("small.toml").write_text(text, encoding="utf-8")
    known = "saf-2019, sabin-2005, klusacek-2012, eyraud-2006, jones-2005, tsafrir-2007"
    refused = said("run", "small.toml", "--store", "s")
    assert refused == f"farm: report 'fig1' is unknown; known: {known}"


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
    for make in (OF_LOGS | TABLES).values():
        pd.testing.assert_frame_equal(make(tree), make(folder))
