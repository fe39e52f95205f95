"""The figure of weekly bands: what it draws, says and writes."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
import xarray as xr
import zarr
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from schedfarm.analysis import (
    StoreError,
    bands,
    figure_notes,
    open_tree,
    weekly_bands,
    weekly_bands_figure,
)
from schedfarm.analysis.drawing import name_panel, save


def array(store: Path, path: str) -> zarr.Array[Any]:
    found = zarr.open_group(store / "results.zarr")[path]
    assert isinstance(found, zarr.Array)
    return found


POLICIES = ["fcfs+easy", "saf+easy", "spf+easy"]


def titles(figure: Figure) -> list[str]:
    return [axes.get_title(loc="left") for axes in figure.axes]


def words(figure: Figure) -> list[str]:
    """What stands below the panels."""
    (legend,) = figure.legends
    return legend.get_title().get_text().splitlines()


def test_panels_are_loads_by_traces(store: Path) -> None:
    """With all loads a row is a load and a column a trace; with one load titles name traces."""
    figure = weekly_bands_figure(store)
    assert titles(figure) == [
        "ALPHA, load original",
        "BETA, load original",
        "ALPHA, load 0.9",
        "BETA, load 0.9",
    ]
    assert [axes.get_subplotspec().get_geometry()[:2] for axes in figure.axes] == [(2, 2)] * 4  # type: ignore[union-attr]
    assert titles(weekly_bands_figure(store, load="0.9")) == ["ALPHA", "BETA"]


def test_a_panel_named_at_once_looks_as_matplotlib_would_place_its_title() -> None:
    """To the pixel, also with letters that reach below the line, and parts of two lines."""
    pixels = []
    for set_title in (lambda axes, name: axes.set_title(name), name_panel):
        figure = Figure(figsize=(3, 2), layout="constrained")
        axes = figure.subplots()
        axes.bar([0, 1], [3, 12_500])
        set_title(axes, "gypsy, load 90 %\n(jq)")
        figure.draw_without_rendering()
        pixels.append(axes.title.get_window_extent().bounds + axes.get_position().bounds)
    assert pixels[0] == pixels[1]


def test_lines_are_the_bands(store: Path) -> None:
    """A policy has two dashed edges and a solid line, the numbers of `weekly_bands`."""
    axes = weekly_bands_figure(store, "wait", "original").axes[1]
    band = weekly_bands(store, "BETA", "wait", "original")["wait"].sel(policy="saf+easy")
    low, high, mean = axes.get_lines()[3:6]
    for line, label in ((low, "low"), (high, "high"), (mean, "trimmed_mean")):
        assert np.asarray(line.get_xdata()).tolist() == [1, 2, 3]
        np.testing.assert_array_equal(np.asarray(line.get_ydata()), band.sel(band=label).values)
    assert [line.get_linestyle() for line in (low, high, mean)] == ["--", "--", "-"]
    assert len(axes.collections) == 3 + 3


def test_the_log_is_drawn_beside_its_samples(store: Path) -> None:
    """A dotted line of the policy's colour, after the bands, and a word in the legend."""
    figure = weekly_bands_figure(store, "wait", "original")
    own = figure.axes[1].get_lines()[9:12]
    assert [line.get_linestyle() for line in own] == [":"] * 3
    assert [line.get_color() for line in own] == ["#000000", "#E69F00", "#0072B2"]
    band = weekly_bands(store, "BETA", "wait", "original")
    for line, policy in zip(own, band["policy"].values, strict=True):
        expected = band["log"].sel(policy=policy).values
        np.testing.assert_array_equal(np.asarray(line.get_ydata()), expected)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()][-1] == "the log itself"
    tree = open_tree(store)
    drawn = {str(path): node.to_dataset() for path, node in tree.subtree_with_keys}
    samples = {path: part.isel(resample=slice(1, None)) for path, part in drawn.items()}
    alone = weekly_bands_figure(xr.DataTree.from_dict(samples), "wait", "original")
    assert [line.get_linestyle() for line in alone.axes[1].get_lines()][9:] == ["None"] * 3
    assert len(alone.legends[0].get_texts()) == 3


def test_a_log_alone_is_drawn(store: Path) -> None:
    """Without samples there is no band, and a figure that says so."""
    tree = open_tree(store)
    drawn = {str(path): node.to_dataset() for path, node in tree.subtree_with_keys}
    log = xr.DataTree.from_dict({p: part.isel(resample=[0]) for p, part in drawn.items()})
    figure = weekly_bands_figure(log, "wait", "original")
    lines = figure.axes[0].get_lines()
    assert [line.get_linestyle() for line in lines] == [*[":"] * 3, *["None"] * 3]
    assert list(figure.axes[0].texts) == []
    assert figure.get_suptitle() == "Cumulative mean wait, load original"
    assert words(figure) == [
        "No band: too few samples",
        "Dotted: the log itself",
        "Lines: jobs that ended by the week. Marks at the right edge: all jobs, as in the table",
    ]
    (legend,) = figure.legends
    drawn = [line for line in legend.findobj(Line2D) if isinstance(line, Line2D)]
    assert [line.get_linestyle() for line in drawn] == [":"] * 3
    assert [line.get_color() for line in drawn] == [line.get_color() for line in lines[:3]]
    assert [text.get_text() for text in legend.get_texts()] == POLICIES
    assert figure.get_supylabel() == "Cumulative mean wait (s)"


def test_a_policy_keeps_its_colour(store: Path) -> None:
    """Colours follow the store's policy axis in every panel, and in the legend."""
    figure = weekly_bands_figure(store)
    expected = ["#000000", "#E69F00", "#0072B2"]
    for axes in figure.axes:
        assert [line.get_color() for line in axes.get_lines()[2:9:3]] == expected
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        *("fcfs+easy", "saf+easy", "spf+easy"),
        "the log itself",
    ]
    lines = legend.findobj(Line2D)
    assert [line.get_color() for line in lines if isinstance(line, Line2D)][:3] == expected


def test_words_say_what_is_drawn(store: Path) -> None:
    """Title: metric, loads, samples and band; axes: units."""
    figure = weekly_bands_figure(store, "wait")
    assert figure.get_suptitle() == "Cumulative mean wait"
    assert words(figure) == [
        "Line: mean of the samples in the band, chosen by their mean over all jobs",
        "Band: samples 2 to 9 of 10, which hold 63.6 % of all such samples in expectation",
        "At the fewest samples 2 to 8 of 9, which hold 60.0 % of all such samples in expectation",
        "Lines: jobs that ended by the week. Marks at the right edge: all jobs, as in the table",
    ]
    assert figure.get_supylabel() == "Cumulative mean wait (s)"
    assert [axes.get_xlabel() for axes in figure.axes] == ["", "", "Week", "Week"]
    quantiles = weekly_bands_figure(store, load="original", kind="quantile")
    assert quantiles.get_suptitle() == "Cumulative mean bounded slowdown, load original"
    assert words(quantiles)[:2] == [
        "Line: median of the samples",
        "Band: samples 1.9 to 9.1 of 10, which hold about 65.5 % of all such samples in "
        "expectation",
    ]
    assert quantiles.get_supylabel().split() == ["Cumulative", "mean", "bounded", "slowdown"]


def test_marks_at_the_right_edge_are_the_tables_numbers(store: Path) -> None:
    """Of all jobs, also of those that end after the last week; a log's mark is hollow."""
    table = bands(store, "wait", load="original", trace="BETA").squeeze(drop=True)
    axes = weekly_bands_figure(store, "wait", "original").axes[1]
    marks = axes.get_lines()[12:]
    assert [line.get_marker() for line in marks] == ["o", "D"] * 3
    values = [float(np.asarray(line.get_ydata())[0]) for line in marks]
    assert values[::2] == table["wait"].isel(band=1).values.tolist()
    assert values[1::2] == table["log"].values.tolist()
    assert all(float(np.asarray(line.get_xdata())[0]) > 3 for line in marks)


def test_lines_that_end_in_another_order_than_the_table_are_told(store: Path) -> None:
    """In the figure, and by the function that the command line prints."""
    assert figure_notes(store, load="original") == []
    assert "another order" not in "".join(words(weekly_bands_figure(store, load="original")))
    slowdown = array(store, "bounded_slowdown")
    slowdown[0, :, 0, 1] = 10 * slowdown[0, :, 0, 1]
    (note,) = figure_notes(store, load="original")
    assert note.startswith("in 1 of 2 panels the lines end in another order than in the table")
    assert note.endswith(
        "ALPHA: fcfs+easy 11.00 and saf+easy 5.50, fcfs+easy 11 and saf+easy 55 in the table"
    )
    said = " ".join(words(weekly_bands_figure(store, load="original")))
    assert note in said
    assert figure_notes(store, load="original", policy="saf+easy") == []


def test_a_log_of_more_weeks_than_its_samples_is_drawn_whole(store: Path) -> None:
    """The table's number for the log is of all its weeks, too."""
    group = zarr.open_group(store / "results.zarr" / "ALPHA", use_consolidated=False)
    weeks = np.full((11, 2), 3)
    weeks[0] = 5
    group.create_array("weeks", data=weeks, dimension_names=["resample", "load"])
    band = weekly_bands(store, "ALPHA", "wait", "original")
    assert band["week"].values.tolist() == [1, 2, 3, 4, 5]
    assert bool(band["log"].notnull().all())
    assert not bool(band["wait"].sel(week=[4, 5]).notnull().any())
    assert bool(band["wait"].sel(week=3).notnull().all())


@pytest.mark.parametrize("size", [None, (7.0, 3.5), (12.0, 4.0)])
def test_words_and_axes_do_not_overlap(store: Path, size: tuple[float, float] | None) -> None:
    figure = weekly_bands_figure(store, load="original", size=size)
    if size is not None:
        assert tuple(figure.get_size_inches()) == size
    (title, label), (legend,) = (figure._suptitle, figure._supylabel), figure.legends  # type: ignore[attr-defined]
    label_box, title_box = label.get_window_extent(), title.get_window_extent()
    assert not label_box.overlaps(title_box)
    assert not legend.get_window_extent().overlaps(label_box)
    for axes in figure.axes:
        assert not axes.get_tightbbox().overlaps(legend.get_window_extent())  # type: ignore[union-attr]
        assert not axes.get_tightbbox().overlaps(label_box)  # type: ignore[union-attr]
        assert not axes.get_tightbbox().overlaps(title_box)  # type: ignore[union-attr]


def test_axes_start_at_zero_unless_logarithmic(store: Path) -> None:
    """A linear axis shows 0, so that heights compare; a logarithmic one is asked for."""
    linear = weekly_bands_figure(store, "wait", "0.9").axes[0]
    assert (linear.get_yscale(), linear.get_ylim()[0]) == ("linear", 0)
    assert linear.get_xlim()[0] == 1
    assert max(linear.get_xticks()) <= 5 < linear.get_xlim()[1]
    assert "50\N{THIN SPACE}000" in [tick.get_text() for tick in linear.get_yticklabels()]
    assert weekly_bands_figure(store, load="0.9", log=True).axes[0].get_yscale() == "log"


def test_a_policy_without_band_is_named(store: Path) -> None:
    """Too few samples of one policy, and of a whole trace, are said in the panel."""
    array(store, "BETA/week_jobs")[4:, 0, 1] = 0
    axes = weekly_bands_figure(store, load="original").axes[1]
    assert [text.get_text() for text in axes.texts] == ["too few samples: saf+easy"]
    assert len(axes.get_lines()) == 6 + 3 + 6
    array(store, "BETA/week_jobs")[...] = 0
    axes = weekly_bands_figure(store, load="original").axes[1]
    assert [text.get_text() for text in axes.texts] == ["too few samples"]
    assert list(axes.get_xticks()) == []
    array(store, "ALPHA/week_jobs")[...] = 0
    with pytest.raises(
        StoreError, match=r"needs at least 2 samples over resample; the store has 0"
    ):
        weekly_bands_figure(store)


def test_one_week_is_a_mark(store: Path) -> None:
    """A line of one point would not be seen."""
    for name in ("week_jobs", "week_wait", "week_bounded_slowdown"):
        array(store, f"BETA/{name}").resize((11, 2, 3, 2))
    array(store, "BETA/week").resize((2,))
    axes = weekly_bands_figure(store, load="original").axes[1]
    assert axes.get_lines()[2].get_marker() == "."


def test_one_week_beside_longer_loads_is_a_mark(store: Path) -> None:
    """So is it where other loads' jobs arrive over more weeks."""
    group = zarr.open_group(store / "results.zarr" / "BETA", use_consolidated=False)
    weeks = np.tile([1, 3], (11, 1))
    group.create_array("weeks", data=weeks, dimension_names=["resample", "load"])
    axes = weekly_bands_figure(store).axes[1]
    assert axes.get_lines()[2].get_marker() == "."


def test_four_traces_make_two_rows(store: Path) -> None:
    """Traces of one load fill a grid of at most three columns evenly."""
    root = zarr.open_group(store / "results.zarr")
    names = ["ALPHA", "BETA", "GAMMA", "DELTA"]
    for name in names[2:]:
        shutil.copytree(store / "results.zarr" / "ALPHA", store / "results.zarr" / name)
    del root["trace"]
    trace = root.create_array("trace", shape=(4,), dtype="str", dimension_names=["trace"])
    trace[...] = np.array(names, dtype=object)
    for name in ("wait", "bounded_slowdown", "jobs"):
        values = array(store, name)
        values.resize((4, *values.shape[1:]))
    figure = weekly_bands_figure(store, load="0.9")
    places = [axes.get_subplotspec().get_geometry() for axes in figure.axes]  # type: ignore[union-attr]
    assert [place[:3] for place in places] == [(2, 2, 0), (2, 2, 1), (2, 2, 2), (2, 2, 3)]


@pytest.mark.parametrize("kind", ["png", "pdf", "svg"])
def test_the_same_store_gives_the_same_bytes(store: Path, tmp_path: Path, kind: str) -> None:
    """No date, program name or random identifier is in a file, and no temporary file stays."""
    files = [tmp_path / f"{i}.{kind}" for i in (1, 2)]
    for file in files:
        weekly_bands_figure(store, load="0.9", path=file)
    first, second = (file.read_bytes() for file in files)
    assert first == second
    assert matplotlib.__version__.encode() not in first
    assert sorted(x.name for x in tmp_path.iterdir()) == [f"1.{kind}", f"2.{kind}", "store"]


def test_size_suits_a_page(store: Path, tmp_path: Path) -> None:
    """A PNG is 1350 pixels wide."""
    weekly_bands_figure(store, path=tmp_path / "bands.png")
    head = (tmp_path / "bands.png").read_bytes()[16:24]
    assert int.from_bytes(head[:4]) == 1350
    assert 600 < int.from_bytes(head[4:]) < 1200


def test_a_failed_write_leaves_what_was_there(store: Path, tmp_path: Path) -> None:
    """If the name cannot be taken, what has it stays and the temporary file goes."""
    taken = tmp_path / "bands.png"
    (taken / "kept").mkdir(parents=True)
    with pytest.raises(OSError, match=r"bands\.png"):
        save(Figure(), taken)
    assert sorted(x.name for x in tmp_path.iterdir()) == ["bands.png", "store"]
    assert (taken / "kept").is_dir()


def test_paths_that_cannot_be_written_are_refused(store: Path, tmp_path: Path) -> None:
    """An unknown kind of file and a missing folder are refused before anything is drawn."""
    with pytest.raises(StoreError, match=r"bands.jpg': a figure's name ends in .png, .pdf or .svg"):
        weekly_bands_figure(store, path=tmp_path / "bands.jpg")
    with pytest.raises(StoreError, match=r"its folder does not exist; make it first"):
        weekly_bands_figure(store, path=tmp_path / "no" / "bands.png")


def test_unknown_names_are_refused(store: Path) -> None:
    """Metric, load and kind are each refused with the known ones."""
    with pytest.raises(StoreError, match=r"^unknown weekly metric 'makespan'; known: bounded_slow"):
        weekly_bands_figure(store, "makespan")
    with pytest.raises(StoreError, match=r"^unknown load '1.0'; known: original, 0.9$"):
        weekly_bands_figure(store, load="1.0")
    with pytest.raises(
        StoreError, match=r"^unknown kind 'mean'; known: auto, trimmed, range, quantile, interval$"
    ):
        weekly_bands_figure(store, kind="mean")


def test_a_weekly_metric_on_more_is_refused(store: Path) -> None:
    """A panel has a line for each policy; with a further dimension it would need more."""
    tree = open_tree(store)
    for trace in ("ALPHA", "BETA"):
        group = tree[trace].to_dataset()
        wait = group["week_wait"].expand_dims(user=[1, 2])
        tree[trace] = xr.DataTree(group.assign(week_wait=wait))
    assert set(weekly_bands(tree, "ALPHA", "wait")["n"].dims) == {"user", "load", "policy"}
    with pytest.raises(StoreError, match=r"'wait' is on user, policy, week; a figure shows one on"):
        weekly_bands_figure(tree, "wait")
