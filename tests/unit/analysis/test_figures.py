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

from analysis import StoreError, open_tree, weekly_bands, weekly_bands_figure
from analysis.drawing import name_panel, save


def array(store: Path, path: str) -> zarr.Array[Any]:
    found = zarr.open_group(store / "results.zarr")[path]
    assert isinstance(found, zarr.Array)
    return found


def titles(figure: Figure) -> list[str]:
    return [axes.get_title(loc="left") for axes in figure.axes]


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
    assert len(axes.collections) == 3


def test_the_log_is_drawn_beside_its_samples(store: Path) -> None:
    """A dotted line of the policy's colour, after the bands, and a word in the legend."""
    figure = weekly_bands_figure(store, "wait", "original")
    own = figure.axes[1].get_lines()[9:]
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
    assert len(alone.axes[1].get_lines()) == 9
    assert len(alone.legends[0].get_texts()) == 3


def test_a_log_alone_is_drawn(store: Path) -> None:
    """Without samples there is no band, and a figure that says so."""
    tree = open_tree(store)
    drawn = {str(path): node.to_dataset() for path, node in tree.subtree_with_keys}
    log = xr.DataTree.from_dict({p: part.isel(resample=[0]) for p, part in drawn.items()})
    figure = weekly_bands_figure(log, "wait", "original")
    assert [line.get_linestyle() for line in figure.axes[0].get_lines()] == [":"] * 3
    assert figure.get_suptitle().splitlines()[:2] == [
        "Cumulative mean wait, load original",
        "No band: too few samples",
    ]
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
    assert figure.get_suptitle().splitlines() == [
        "Cumulative mean wait, loads original, 0.9",
        "Line: mean of the samples in the band, chosen by their mean over all jobs",
        "Band: samples 2 to 9 of 10, which hold 63.6 % of all such samples in expectation",
        "At the fewest samples 2 to 8 of 9, which hold 60.0 % of all such samples in expectation",
        "Not drawn: jobs that ended after the week of the last submission",
    ]
    assert figure.get_supylabel() == "Cumulative mean wait (s)"
    assert [axes.get_xlabel() for axes in figure.axes] == ["", "", "Week", "Week"]
    quantiles = weekly_bands_figure(store, load="original", kind="quantile")
    assert quantiles.get_suptitle().splitlines()[:3] == [
        "Cumulative mean bounded slowdown, load original",
        "Line: median of the samples",
        "Band: samples 1.9 to 9.1 of 10, which hold about 65.5 % of all such samples in "
        "expectation",
    ]
    assert quantiles.get_supylabel() == "Cumulative mean bounded slowdown"


def test_axes_start_at_zero_unless_logarithmic(store: Path) -> None:
    """A linear axis shows 0, so that heights compare; a logarithmic one is asked for."""
    linear = weekly_bands_figure(store, "wait", "0.9").axes[0]
    assert (linear.get_yscale(), linear.get_ylim()[0]) == ("linear", 0)
    assert linear.get_xlim() == (1, 5)
    assert "50\N{THIN SPACE}000" in [tick.get_text() for tick in linear.get_yticklabels()]
    assert weekly_bands_figure(store, load="0.9", log=True).axes[0].get_yscale() == "log"


def test_a_policy_without_band_is_named(store: Path) -> None:
    """Too few samples of one policy, and of a whole trace, are said in the panel."""
    array(store, "BETA/week_jobs")[4:, 0, 1] = 0
    axes = weekly_bands_figure(store, load="original").axes[1]
    assert [text.get_text() for text in axes.texts] == ["too few samples: saf+easy"]
    assert len(axes.get_lines()) == 6 + 3
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
